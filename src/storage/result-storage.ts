// Results of statements, kept as pages of frames beside the segments until they are too old.

import { type FileHandle, open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { ServiceError } from '../base/errors.js';
import { failpoint } from '../configuration/failpoint.js';
import type { Frame } from '../model/frame.js';
import { taskFileName } from '../model/task-file-name.js';
import type { DeepStorage } from './contract.js';

/** Run of a task that writes results: one whose worker was taken for gone writes over none of a later one. */
export interface ResultRun {
  readonly taskId: string;
  /** Number of the run, from 1; 0: of before runs were numbered. */
  readonly attempt: number;
}

/** Pages of results by the run that wrote them. */
export interface ResultStorage {
  /** Moves a finished page in, whole or not at all. */
  push(run: ResultRun, page: number, localFile: string): Promise<void>;
  /** The frames of a page; throws `not_found`, and `internal` for a file that is not whole. */
  read(run: ResultRun, page: number): AsyncGenerator<Frame>;
  /** Removes the pages that were written before an instant. */
  removeBefore(instantMs: number): Promise<void>;
}

export function createResultStorage(storage: Pick<DeepStorage, 'type' | 'push' | 'read' | 'list' | 'remove'>): ResultStorage {
  const keyOf = ({ taskId, attempt }: ResultRun, page: number): string =>
    `${taskFileName(taskId)}/${attempt === 0 ? '' : `${attempt}/`}page-${page}`;
  return {
    async push(run, page, localFile) {
      await storage.push([{ localFile, key: keyOf(run, page) }]);
    },
    read: (run, page) => framesOf(storage.read({ type: storage.type, path: keyOf(run, page) })),
    async removeBefore(instantMs) {
      for await (const { path, modifiedMs } of storage.list()) {
        if (modifiedMs >= instantMs) continue;
        await storage.remove({ type: storage.type, path });
        failpoint('results.removed');
      }
    },
  };
}

/*
 * A page: frames one after another, each its bytes as u32 little-endian and then V8's structured clone format; 0 bytes end it, so that
 * a file that was cut off is told from a whole one. Only this service writes and reads them.
 */
const LENGTH_BYTES = 4;

/** A page while it is written to a local file. Whoever opened it closes it, `finish` or not. */
export class ResultPage {
  rowCount = 0;
  bytes = 0;
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(file: string): Promise<ResultPage> {
    return new ResultPage(await open(file, 'w'));
  }

  async add(frame: Frame): Promise<void> {
    await this.#write(serialize(frame));
    this.rowCount += frame.rowCount;
  }

  /** Ends the page: without it, it counts as cut off. */
  async finish(): Promise<void> {
    await this.#write(Buffer.alloc(0));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(payload: Buffer): Promise<void> {
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32LE(payload.length);
    await this.#file.writeFile(head);
    await this.#file.writeFile(payload);
    this.bytes += head.length + payload.length;
  }
}

async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let wanted = LENGTH_BYTES;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const [only, second] = parts;
      const all = only instanceof Buffer && second === undefined ? only : Buffer.concat(parts);
      const length = all.readUInt32LE(0);
      if (length === 0) return;
      wanted = LENGTH_BYTES + length;
      if (size < wanted) {
        parts = [all];
        break;
      }
      yield deserialize(all.subarray(LENGTH_BYTES, wanted)) as Frame;
      parts = [all.subarray(wanted)];
      size -= wanted;
      wanted = LENGTH_BYTES;
    }
  }
  throw new ServiceError('internal', 'a page of results ends in the middle: its file was cut off');
}

// Writes segments on several threads.

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, ServiceError } from '../../base/errors.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import type { SegmentInput } from '../../storage/contract.js';
import { type WrittenSegment, writeSegment } from '../../storage/segment-writer.js';

export type FromWriter =
  | { readonly kind: 'written'; readonly written: WrittenSegment }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

/** Cells below which writing is faster than handing them to a thread. */
const CELLS_WRITTEN_HERE = 500_000;
const THREADS_MAX = 4;

export function cellsOf({ frame }: SegmentInput): number {
  return frame.rowCount * frame.columns.length;
}

/** Sorts, encodes and compresses segments on several threads; the caller makes the next frame meanwhile. */
export class SegmentWriters {
  readonly #idle: Worker[] = [];
  readonly #threads: Worker[] = [];

  /** Segments that are worth having under way at a time. */
  static readonly parallelism = Math.min(THREADS_MAX, availableParallelism());

  /**
   * Writes a segment; at most `parallelism` calls may be under way.
   * @param frames  taken: the arrays of the frame move to the thread, and whoever made it has them no longer
   */
  async write(file: string, input: SegmentInput, frames: 'taken' | 'copied' = 'copied'): Promise<WrittenSegment> {
    if (cellsOf(input) < CELLS_WRITTEN_HERE) return writeSegment(file, input);
    const thread = this.#idle.pop() ?? this.#start();
    const answered = once(thread, 'message');
    thread.postMessage({ file, input }, frames === 'taken' ? buffersOf(input.frame) : []);
    const [answer] = (await answered) as [FromWriter];
    this.#idle.push(thread);
    if (answer.kind === 'failed') throw new ServiceError(answer.code, answer.message);
    return answer.written;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  #start(): Worker {
    const thread = new Worker(new URL('./segment-writer-thread.js', import.meta.url));
    this.#threads.push(thread);
    return thread;
  }
}

function buffersOf({ columns }: SegmentFrame): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (array: ArrayBufferView | null): void => {
    if (array !== null && array.buffer instanceof ArrayBuffer) buffers.add(array.buffer);
  };
  for (const column of columns) {
    if (column.kind === 'long' || column.kind === 'double') {
      add(column.values);
      add(column.nulls);
      continue;
    }
    add(column.ids);
    if (column.kind !== 'string') add(column.offsets);
    if (column.kind !== 'packed') continue;
    add(column.dictionary.bytes);
    add(column.dictionary.ends);
  }
  return [...buffers];
}

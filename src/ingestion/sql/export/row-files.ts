// Writes the rows of INSERT INTO EXTERN as files.

import { type FileHandle, open } from 'node:fs/promises';
import { ServiceError } from '../../../base/errors.js';
import type { Frame } from '../../../model/frame.js';
import type { ExportFormat, OutputColumn } from '../../../model/statement.js';
import { ENCODERS } from './formats.js';
import type { RowsEncoder } from './rows-encoder.js';

export interface RowFiles {
  readonly columns: readonly OutputColumn[];
  readonly format: ExportFormat;
  readonly timeZone: string;
  /** Rows after which a file ends. */
  readonly rowsPerFile: number;
  readonly signal: AbortSignal;
  /** Path of the next file. */
  readonly next: () => string;
}

/** A file of rows that is whole. */
export interface RowFile {
  readonly file: string;
  readonly rowCount: number;
}

/** Writes all rows, in a format of `formats.ts`; gives the files in the order of their rows. */
export async function writeRowFiles(frames: AsyncIterable<Frame>, files: RowFiles): Promise<readonly RowFile[]> {
  const { rowsPerFile, signal, next } = files;
  const written: RowFile[] = [];
  let open: { readonly name: string; readonly rows: RowsFile } | null = null;
  const finish = async ({ name, rows }: NonNullable<typeof open>): Promise<null> => {
    await rows.finish();
    written.push({ file: name, rowCount: rows.rowCount });
    return null;
  };
  try {
    for await (const frame of frames) {
      for (let from = 0; from < frame.rowCount; ) {
        if (signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        if (open === null) {
          const name = next();
          open = { name, rows: await RowsFile.open(name, files) };
        }
        const { rows } = open;
        const until = Math.min(frame.rowCount, from + rowsPerFile - rows.rowCount);
        await rows.add(frame, from, until);
        from = until;
        if (rows.rowCount === rowsPerFile) open = await finish(open);
      }
    }
    if (open !== null) open = await finish(open);
    return written;
  } finally {
    await open?.rows.close();
  }
}

/** A file of rows while it is written. */
class RowsFile {
  rowCount = 0;
  readonly #file: FileHandle;
  readonly #rows: RowsEncoder;

  private constructor(file: FileHandle, rows: RowsEncoder) {
    this.#file = file;
    this.#rows = rows;
  }

  static async open(name: string, { columns, format, timeZone }: RowFiles): Promise<RowsFile> {
    const file = await open(name, 'w');
    try {
      return new RowsFile(file, await ENCODERS[format](columns, async (bytes) => file.writeFile(bytes), timeZone));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Writes rows [from, to) of a frame. */
  async add(frame: Frame, from: number, to: number): Promise<void> {
    await this.#rows.add(frame, from, to);
    this.rowCount += to - from;
  }

  async finish(): Promise<void> {
    await this.#rows.finish();
    await this.#file.close();
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }
}

// Reads the first rows of a file, to infer its format from them.

import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { ServiceError } from '../base/errors.js';
import { ObjectReader, readContextOf } from '../base/json-reader.js';
import type { InputBlock } from '../ingestion/format/input-block.js';
import { parseInputFormat } from '../ingestion/format/input-format.js';
import { filesOf } from '../ingestion/source/archive.js';
import { localEntities } from '../ingestion/source/local.js';
import type { InputEntity } from '../ingestion/source/source-kind.js';

const SAMPLE_ROWS = 200;
/** Limits of the preview; the server enforces its own. */
export const LIMITS = {
  maxColumns: 1_000_000,
  maxRowBytes: 2 ** 29,
  decompression: { maxBytes: 2 ** 50, maxRatio: 1_000_000, maxEntries: 1_000_000 },
};

/** Values of the first rows by column, as strings and numbers; null and absent ones left out. */
export interface Sample {
  readonly columns: ReadonlyMap<string, readonly (string | number)[]>;
  /** Why lines among the first ones cannot be read, and how many. */
  readonly rejected: ReadonlyMap<string, number>;
}

/** @throws ServiceError `input_invalid` for anything but a file */
export async function entityOf(file: string): Promise<InputEntity> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new ServiceError('input_invalid', `there is no file ${file}`);
  if (found.isDirectory())
    throw new ServiceError('input_invalid', `${file} is a folder; name one file at a time, or load it with an inputSource of type local`);
  const [entity] = await localEntities({ baseDir: null, filter: null, files: [file] }, ['/']);
  if (entity === undefined) throw new ServiceError('input_unreadable', `${file} cannot be read`);
  return entity;
}

/** @throws ServiceError `input_unreadable` when the file has no row of this format */
export async function sampleFile(file: string, inputFormat: Readonly<Record<string, unknown>>): Promise<Sample> {
  const columns = new Map<string, (string | number)[]>();
  const rejected = new Map<string, number>();
  let rows = 0;
  const reject = (reason: string): void => {
    rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
  };
  for await (const row of rowsOfFile(file, inputFormat, reject)) {
    for (const [column, value] of row) {
      const values = columns.get(column) ?? [];
      columns.set(column, values);
      if (typeof value === 'string' || typeof value === 'number') values.push(value);
    }
    if (++rows >= SAMPLE_ROWS) break;
  }
  if (rows === 0) {
    const [reason] = rejected.keys();
    throw new ServiceError(
      'input_unreadable',
      `${file} has no row that reads as ${String(inputFormat['type'])}${reason === undefined ? '' : `: ${reason}`}`,
    );
  }
  return { columns, rejected };
}

/** The rows one by one: all columns of the block they came in, null or undefined where they have no value. */
export async function* rowsOfFile(
  file: string,
  inputFormat: Readonly<Record<string, unknown>>,
  reject: (reason: string) => void,
): AsyncGenerator<ReadonlyMap<string, unknown>> {
  const format = parseInputFormat(new ObjectReader(inputFormat, 'inputFormat', readContextOf('input_invalid', 'inputFormat')));
  const reading = { columns: null, workDirectory: tmpdir(), inputLimits: LIMITS, read: () => undefined, reject };
  for await (const { entity } of filesOf(await entityOf(file), reading)) {
    for await (const block of format.read(entity, reading)) {
      for (let row = 0; row < block.rowCount; row++)
        yield new Map(block.columns.map((column, at) => [column, valueAt(block, column, at, row)]));
    }
  }
}

function valueAt(block: InputBlock, column: string, at: number, row: number): unknown {
  if (block.kind === 'values') return block.values(column)[row];
  const end = block.ends[at]?.[row] ?? -1;
  return end < 0 ? null : Buffer.from(block.bytes.subarray(block.starts[at]?.[row] ?? 0, end)).toString('utf8');
}

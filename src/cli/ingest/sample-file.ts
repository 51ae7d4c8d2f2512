// Reads the rows of a file of this machine.

import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { InputBlock } from '../../ingestion/format/input-block.js';
import { parseInputFormat } from '../../ingestion/format/input-format.js';
import { filesOf } from '../../ingestion/source/archive.js';
import { localEntities } from '../../ingestion/source/local.js';
import type { InputEntity } from '../../ingestion/source/source-kind.js';

/** Limits of the preview; the server enforces its own. */
export const LIMITS = {
  maxColumns: 1_000_000,
  maxRowBytes: 2 ** 29,
  decompression: { maxBytes: 2 ** 50, maxRatio: 1_000_000, maxEntries: 1_000_000 },
};

/** @throws ServiceError `input_invalid` for anything but a file */
export async function entityOf(file: string): Promise<InputEntity> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new ServiceError('input_invalid', `there is no file ${file}`);
  const [entity] = await localEntities({ baseDir: null, filter: null, files: [file] }, ['/']);
  if (entity === undefined) throw new ServiceError('input_unreadable', `${file} cannot be read`);
  return entity;
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

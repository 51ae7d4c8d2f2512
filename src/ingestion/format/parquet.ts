// The input format `parquet`.

import { Buffer } from 'node:buffer';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AsyncBuffer, FileMetaData, SchemaTree } from 'hyparquet';
import { DAY_MS } from '../../base/calendar.js';
import { ServiceError } from '../../base/errors.js';
import { contentOf } from '../source/decompress.js';
import type { InputEntity } from '../source/source-kind.js';
import { compileFlatten, type FlattenSpec, type JsonObject, parseFlattenSpec } from './flatten.js';
import { inputFormatKind, type Reading } from './format-kind.js';
import type { ValueBlock } from './input-block.js';
import { jsonBlock } from './json.js';

export interface ParquetFormat {
  /** Bytes without a text annotation are text; else they are read as base64. */
  readonly binaryAsString: boolean;
  readonly flatten: FlattenSpec | null;
}

export const PARQUET = inputFormatKind<ParquetFormat>({
  type: 'parquet',
  files: { extensions: ['parquet', 'pq'], options: {} },
  parse(fields) {
    fields.accept(['flattenSpec', 'binaryAsString']);
    return { binaryAsString: fields.boolean('binaryAsString', false), flatten: parseFlattenSpec(fields) };
  },
  read: readParquet,
});

/** A row group may have millions of rows; they pass on in blocks. */
const BLOCK_ROWS = 16_384;
/** A decimal comes as a double, exact up to so many digits. */
const DECIMAL_DIGITS_MAX = 15;

/** Times as milliseconds, which `millis` and `auto` of a timestampSpec read. */
const PARSERS = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint): number => Math.floor(Number(micros) / 1000),
  timestampFromNanoseconds: (nanos: bigint): number => Number(nanos / 1_000_000n),
  dateFromDays: (days: number): number => days * DAY_MS,
};

/**
 * Parquet row groups to blocks of values; only the columns asked for are decoded. What is not on this machine's disk
 * is brought to the work directory first: the format is read from its end.
 * @throws ServiceError `input_unreadable` for another format, `unsupported` for decimals that do not fit a double
 */
export async function* readParquet(
  format: ParquetFormat,
  entity: InputEntity,
  reading: Pick<Reading, 'columns' | 'workDirectory' | 'read' | 'samples'>,
): AsyncGenerator<ValueBlock> {
  const local = entity.localFile ?? (await fetched(entity, reading));
  const handle = await open(local);
  try {
    const { size, mtimeMs } = await handle.stat();
    // A local file counts as read by the row groups that are through; a fetched one was counted on its way here.
    let counted = 0;
    const advance = (part: number): void => {
      if (entity.localFile === null) return;
      const bytes = Math.floor(size * part);
      reading.read(bytes - counted);
      counted = bytes;
    };
    const file: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new ArrayBuffer(end - start);
        const { bytesRead } = await handle.read(new Uint8Array(bytes), 0, end - start, start);
        if (bytesRead < end - start) throw changed(entity.name);
        return bytes;
      },
    };
    const head = Buffer.from(await file.slice(0, Math.min(4, size))).toString('latin1');
    if (head !== 'PAR1')
      throw new ServiceError(
        'input_unreadable',
        `${entity.name} is not a Parquet file: it begins with ${JSON.stringify(head)}, not "PAR1"`,
      );
    yield* rowGroups(format, entity.name, file, reading, advance);
    const after = await handle.stat();
    if (after.size !== size || after.mtimeMs !== mtimeMs) throw changed(entity.name);
    advance(1);
  } finally {
    await handle.close();
  }
}

function changed(name: string): ServiceError {
  return new ServiceError('input_unreadable', `${name} was changed while it was read`);
}

async function* rowGroups(
  format: ParquetFormat,
  name: string,
  file: AsyncBuffer,
  { columns: wanted, samples }: Pick<Reading, 'columns' | 'samples'>,
  advance: (part: number) => void,
): AsyncGenerator<ValueBlock> {
  const [{ parquetMetadataAsync, parquetReadObjects, parquetSchema }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file);
  } catch (error) {
    throw new ServiceError(
      'input_unreadable',
      `${name} is a damaged Parquet file: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
  const schema = parquetSchema(metadata);
  const columns = schema.children.filter(({ element }) => wanted === null || format.flatten !== null || wanted.has(element.name));
  for (const column of columns) checkDecimal(column, name);
  const flatten = format.flatten === null ? null : compileFlatten(format.flatten);
  const rowCount = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  let start = 0;
  for (const end of piecesOf(metadata, samples === true)) {
    let rows: readonly JsonObject[];
    try {
      rows = await parquetReadObjects({
        file,
        metadata,
        rowStart: start,
        rowEnd: end,
        columns: columns.map(({ element }) => element.name),
        compressors,
        utf8: format.binaryAsString,
        parsers: PARSERS,
      });
    } catch (error) {
      throw new ServiceError(
        'input_unreadable',
        `${name}, rows ${start} to ${end}, cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
    // No column at all is wanted of rows that count all the same.
    if (columns.length === 0) rows = Array.from({ length: end - start }, () => ({}));
    for (let from = 0; from < rows.length; from += BLOCK_ROWS) yield jsonBlock(rows.slice(from, from + BLOCK_ROWS).map(plainRow), flatten);
    start = end;
    advance(end / rowCount);
  }
}

/** Ends of the pieces that are read at once: the row groups; of one that is sampled also its first rows. */
function* piecesOf({ row_groups }: FileMetaData, samples: boolean): Generator<number> {
  let start = 0;
  for (const { num_rows } of row_groups) {
    const end = start + Number(num_rows);
    if (samples && end - start > BLOCK_ROWS) yield start + BLOCK_ROWS;
    yield end;
    start = end;
  }
}

function checkDecimal(column: SchemaTree, name: string): void {
  const { element } = column;
  if (element.converted_type === 'DECIMAL' && (element.precision ?? 0) > DECIMAL_DIGITS_MAX) {
    throw new ServiceError(
      'unsupported',
      `${name}: column "${element.name}" is DECIMAL(${element.precision}, ${element.scale ?? 0}); decimals of more than ${DECIMAL_DIGITS_MAX} digits are not supported`,
    );
  }
  for (const child of column.children) checkDecimal(child, name);
}

/** Dates (of the old INT96 times) become milliseconds, bytes base64, at any depth. */
function plainRow(row: JsonObject): JsonObject {
  for (const value of Object.values(row)) if (typeof value === 'object' && value !== null) return plain(row) as JsonObject;
  return row;
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

async function fetched(entity: InputEntity, { workDirectory, read }: Pick<Reading, 'workDirectory' | 'read'>): Promise<string> {
  const file = path.join(workDirectory, 'input.parquet');
  await pipeline(contentOf(entity, { read }), createWriteStream(file));
  return file;
}

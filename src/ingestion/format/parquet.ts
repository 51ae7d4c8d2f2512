// The input format `parquet`.

import { Buffer } from 'node:buffer';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AsyncBuffer, FileMetaData, RowGroup } from 'hyparquet';
import { ServiceError } from '../../base/errors.js';
import { contentOf } from '../source/decompress.js';
import { checkUnchanged, type FilePart } from '../source/file-part.js';
import type { InputEntity } from '../source/source-kind.js';
import { compileFlatten, type FlattenSpec, parseFlattenSpec } from './flatten.js';
import { inputFormatKind, type PartReading, type Reading } from './format-kind.js';
import type { InputBlock, ValueBlock } from './input-block.js';
import { jsonBlock } from './json-block.js';
import { type ColumnReader, columnBlock, pageReader, type ReadColumn, recordsOf, valueReader } from './parquet-block.js';
import { ColumnPages, flatValues } from './parquet-column.js';
import { annotateDecimals, checkDecimals, PARSERS, plainValues, type Shapes } from './parquet-values.js';

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
  async *readPart(format, entity, reading) {
    const { part, began, ended } = reading;
    began(part.from);
    yield* readParquet(format, entity, reading);
    ended(part.to);
  },
});

/** A row group may have millions of rows; they pass on in blocks. */
const BLOCK_ROWS = 16_384;
/**
 * Parquet row groups to blocks of values; only the columns asked for are decoded. What is not on this machine's disk
 * is brought to the work directory first: the format is read from its end.
 * @throws ServiceError `input_unreadable` for another format, `unsupported` for decimals that do not fit a double
 */
export async function* readParquet(
  format: ParquetFormat,
  entity: InputEntity,
  reading: Pick<Reading, 'columns' | 'workDirectory' | 'inputLimits' | 'read' | 'samples'> & Partial<Pick<PartReading, 'part'>>,
): AsyncGenerator<ValueBlock> {
  const local = entity.localFile ?? (await fetched(entity, reading));
  const handle = await open(local);
  try {
    const { size, mtimeMs } = await handle.stat();
    // A local file counts as read by the row groups that are through; a fetched one was counted on its way here.
    let counted = 0;
    const bytesAsked = reading.part === undefined ? size : reading.part.to - reading.part.from;
    const advance = (share: number): void => {
      if (entity.localFile === null) return;
      const bytes = Math.floor(bytesAsked * share);
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
    if (reading.part !== undefined) await checkUnchanged({ name: entity.name, path: local }, reading.part);
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
  { columns: wanted, samples, part }: Pick<Reading, 'columns' | 'samples'> & Partial<Pick<PartReading, 'part'>>,
  advance: (share: number) => void,
): AsyncGenerator<ValueBlock> {
  const [{ parquetMetadataAsync, parquetScan, parquetSchema }, { parquetHeader }, { decompressPage }, shapes, { compressors }] =
    await Promise.all([
      import('hyparquet'),
      import('hyparquet/src/column.js'),
      import('hyparquet/src/datapage.js'),
      import('hyparquet/src/schema.js'),
      import('hyparquet-compressors'),
    ]);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file);
  } catch (error) {
    throw new ServiceError('input_unreadable', `${name} is a damaged Parquet file: ${messageOf(error)}`, error);
  }
  annotateDecimals(metadata.schema);
  const schema = parquetSchema(metadata);
  const columns = schema.children.filter(({ element }) => wanted === null || format.flatten !== null || wanted.has(element.name));
  for (const column of columns) checkDecimals(column, name);
  const flatten = format.flatten === null ? null : compileFlatten(format.flatten);
  const isAsked = (group: RowGroup): boolean => part === undefined || isIn(group, part);
  const rowCount = metadata.row_groups.filter(isAsked).reduce((sum, group) => sum + Number(group.num_rows), 0);
  const scan = await parquetScan({ file, metadata, compressors, utf8: format.binaryAsString, parsers: PARSERS, useOffsetIndex: false });
  let before = 0;
  let rowsRead = 0;
  for (const group of metadata.row_groups) {
    const groupRows = Number(group.num_rows);
    if (!isAsked(group)) {
      before += groupRows;
      continue;
    }
    let start = 0;
    try {
      const readers = await Promise.all(
        columns.map(async (column): Promise<ColumnReader> => {
          const { element } = column;
          const chunk = group.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === element.name)?.meta_data;
          const values = chunk === undefined ? null : flatValues(element, chunk, format);
          if (chunk === undefined || values === null) {
            const read = (from: number, to: number): Promise<ArrayLike<unknown>> =>
              scan.readColumn({ column: element.name, rowStart: before + from, rowEnd: before + to });
            return valueReader(element.name, groupRows, samples === true, read, plainValues(column, shapes as Shapes));
          }
          const from = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
          const unpacked = (bytes: Uint8Array, size: number): Uint8Array => decompressPage(bytes, size, chunk.codec, compressors);
          return pageReader(
            new ColumnPages(await file.slice(from, from + Number(chunk.total_compressed_size)), element, values, {
              header: parquetHeader,
              unpacked,
            }),
            element.name,
          );
        }),
      );
      for (; start < groupRows; start += BLOCK_ROWS) {
        const count = Math.min(BLOCK_ROWS, groupRows - start);
        const found: ReadColumn[] = [];
        for (const reader of readers) found.push(await reader.read(start, count));
        const block = columnBlock(count, found);
        yield flatten === null ? block : Object.assign(jsonBlock(recordsOf(block), flatten), faultsWithin(block));
        advance((rowsRead + start + count) / rowCount);
      }
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const end = before + Math.min(start + BLOCK_ROWS, groupRows);
      throw new ServiceError('input_unreadable', `${name}, rows ${before + start} to ${end}, cannot be read: ${messageOf(error)}`, error);
    }
    before += groupRows;
    rowsRead += groupRows;
  }
}

/** The faults of a block, for one that is made of its rows. */
function faultsWithin({ faults }: Pick<InputBlock, 'faults'>): Pick<InputBlock, 'faults'> {
  return faults === undefined ? {} : { faults };
}

/** Whether the first byte of a row group lies in a part; of one without columns: whether the part is the first. */
function isIn({ columns: [first] }: RowGroup, { from, to }: FilePart): boolean {
  const chunk = first?.meta_data;
  const at = chunk === undefined ? 0 : Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  return from <= at && at < to;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function fetched(
  entity: InputEntity,
  { workDirectory, inputLimits, read }: Pick<Reading, 'workDirectory' | 'inputLimits' | 'read'>,
): Promise<string> {
  const file = path.join(workDirectory, 'input.parquet');
  await pipeline(contentOf(entity, { read, inputLimits }), createWriteStream(file));
  return file;
}

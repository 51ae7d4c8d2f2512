// The only file that loads apache-arrow: record batches of Arrow files and streams.

import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { DataType, RecordBatch, Schema, Vector } from 'apache-arrow';
import { createByName } from '../../../base/names.js';
import { onFirstUse } from '../../../base/on-first-use.js';
import { decompressFrame } from '../../../storage/codecs/zstd.js';
import { decodeLz4 } from '../../codec/lz4.js';
import { millisOfNanos } from '../../column/timestamp.js';
import { type ColumnData, checkColumn, checkMetadata, checkPlaces, type FileFooter } from './arrow-check.js';
import { isAllText, isTextAt, type TextData } from './arrow-text.js';

/** One record batch. */
export interface ArrowBatch {
  readonly rowCount: number;
  /** In the order of the schema; names may repeat. */
  readonly names: readonly string[];
  /** Plain values of rows of a column, by its position. */
  values(column: number, start: number, end: number): unknown[];
  /** Whether a column, by its position, may have text that is not UTF-8. */
  hasNotText(column: number): boolean;
  /** Rows among [start, end) with text that is not UTF-8, counted from there. */
  notTextRows(column: number, start: number, end: number): readonly number[];
}

/** Largest buffer of a column, decompressed. */
const BUFFER_BYTES_MAX = 1 << 30;
/** A decimal becomes a double, exact up to so many digits. */
const DECIMAL_DIGITS_MAX = 15;

/** The library, for the other file that calls it: the writer of exports. */
export const arrowLibrary = onFirstUse(() => {
  const require = createRequire(import.meta.url);
  checkMetadata(require.resolve('apache-arrow'));
  const arrow = require('apache-arrow') as typeof import('apache-arrow');
  arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, { decode: decompressedZstd });
  arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, { decode: decompressedLz4 });
  return arrow;
});

/**
 * The batches of an Arrow IPC file, which is open, or of a stream.
 * @param binaryAsString  bytes are UTF-8; else they are read as base64
 * @throws Error for what cannot be read, and for types that have no plain values, by the names of their columns
 */
export async function* arrowBatches(source: FileHandle | AsyncIterable<Uint8Array>, binaryAsString: boolean): AsyncGenerator<ArrowBatch> {
  if ('stat' in source) {
    const reader = await arrowLibrary().RecordBatchReader.from(source);
    await reader.open();
    const file = reader as unknown as FileReader;
    await checkPlaces(source, file.footer);
    yield* batchesOf(file.schema, recordBatchesOf(file), binaryAsString);
    return;
  }
  let isFirst = true;
  for await (const reader of arrowLibrary().RecordBatchReader.readAll(source)) {
    if (!isFirst) throw new Error('another stream follows the first one');
    isFirst = false;
    yield* batchesOf(reader.schema, reader as AsyncIterable<RecordBatch>, binaryAsString);
  }
  if (isFirst) throw new Error('it has no schema');
}

/** The library's reader of a file, which has a list of its batches. */
interface FileReader {
  readonly schema: Schema;
  readonly footer: FileFooter & { readonly numRecordBatches: number };
  readRecordBatch(index: number): Promise<RecordBatch | null>;
}

/** The library's own loop over a file goes on for ever where the list leads to another message, and ends where it leads nowhere. */
async function* recordBatchesOf(reader: FileReader): AsyncGenerator<RecordBatch> {
  for (let index = 0; index < reader.footer.numRecordBatches; index++) {
    const batch = await reader.readRecordBatch(index);
    if (batch === null) throw new Error(`its list of batches is damaged: batch ${index} is not there`);
    yield batch;
  }
}

async function* batchesOf(
  schema: Schema | null | undefined,
  batches: AsyncIterable<RecordBatch>,
  binaryAsString: boolean,
): AsyncGenerator<ArrowBatch> {
  if (schema === undefined || schema === null) throw new Error('it has no schema');
  const { fields } = schema;
  const converters = fields.map(({ name, type }) => converter(type, name, binaryAsString));
  const text = { types: arrowLibrary().Type, binaryAsString };
  for await (const batch of batches) {
    for (const [column, { name }] of fields.entries())
      for (const data of batch.getChildAt(column)?.data ?? []) checkColumn(data as unknown as ColumnData, name, arrowLibrary().Type);
    yield {
      rowCount: batch.numRows,
      names: fields.map(({ name }) => name),
      values(column, start, end) {
        const vector = batch.getChildAt(column);
        const convert = converters[column];
        const nanos = nanosOf(fields[column]?.type, vector);
        return Array.from({ length: end - start }, (_, row) => {
          const value: unknown = vector?.get(start + row);
          if (nanos !== null && value !== null) return millisOfNanos(nanos[start + row] ?? 0n);
          if (value === undefined) throw new Error(`column "${fields[column]?.name}" is damaged: row ${start + row} refers to no value`);
          return value === null || convert === undefined ? null : convert(value);
        });
      },
      hasNotText: (column) => textDataOf(batch, column).some((data) => !isAllText(data, text)),
      notTextRows(column, start, end) {
        const [data] = textDataOf(batch, column);
        if (data === undefined) return [];
        return Array.from({ length: end - start }, (_, row) => row).filter((row) => !isTextAt(data, start + row, text));
      },
    };
  }
}

function textDataOf(batch: RecordBatch, column: number): readonly TextData[] {
  return (batch.getChildAt(column)?.data ?? []) as unknown as readonly TextData[];
}

/** Times as they are stored, of a column of nanoseconds; the library makes doubles of them, which round up. */
function nanosOf(type: DataType | undefined, vector: Vector | null): BigInt64Array | null {
  const { Type, TimeUnit } = arrowLibrary();
  if (type?.typeId !== Type.Timestamp || (type as DataType & { readonly unit: number }).unit !== TimeUnit.NANOSECOND) return null;
  const [data] = vector?.data ?? [];
  return (data?.values as BigInt64Array | undefined) ?? null;
}

type Convert = (value: unknown) => unknown;

/** Conversion of the library's values of a type to plain ones. */
function converter(type: DataType, column: string, binaryAsString: boolean): Convert {
  const { Type } = arrowLibrary();
  const of = (part: DataType): Convert => converter(part, column, binaryAsString);
  const children = (type.children ?? []) as readonly { readonly name: string; readonly type: DataType }[];
  const nullable =
    (convert: Convert): Convert =>
    (value) =>
      value === null || value === undefined ? null : convert(value);
  switch (type.typeId) {
    case Type.Null:
    case Type.Bool:
    case Type.Float:
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return (value) => value;
    case Type.Int:
    case Type.Time:
    case Type.Duration:
      return (value) => (typeof value === 'bigint' ? numberOf(value) : value);
    case Type.Date:
    case Type.Timestamp:
      return (value) => Math.floor(Number(value));
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return (value) => Buffer.from(value as Uint8Array).toString(binaryAsString ? 'utf8' : 'base64');
    case Type.Decimal:
      return decimalConverter(type as DataType & { readonly precision: number; readonly scale: number }, column);
    case Type.Dictionary:
      return of((type as DataType & { readonly dictionary: DataType }).dictionary);
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList: {
      const [item] = children;
      const convert = nullable(item === undefined ? (value) => value : of(item.type));
      return (value) => Array.from(value as Vector, convert);
    }
    case Type.Struct: {
      const members = children.map(({ name, type: member }, at) => ({ name, at, convert: nullable(of(member)) }));
      return (value) => {
        const values = [...(value as Iterable<[unknown, unknown]>)].map(([, member]) => member);
        const record = createByName<unknown>();
        for (const { name, at, convert } of members) record[name] = convert(values[at]);
        return record;
      };
    }
    case Type.Map: {
      const member = (children[0]?.type.children as readonly { readonly type: DataType }[] | undefined)?.[1];
      const convert = nullable(member === undefined ? (value) => value : of(member.type));
      return (value) => {
        const record = createByName<unknown>();
        for (const [key, each] of value as Iterable<[unknown, unknown]>) record[String(key)] = convert(each);
        return record;
      };
    }
    default:
      throw new Error(`column "${column}" is of type ${String(type)}, which is not supported`);
  }
}

function decimalConverter({ precision, scale }: { readonly precision: number; readonly scale: number }, column: string): Convert {
  if (precision > DECIMAL_DIGITS_MAX)
    throw new Error(
      `column "${column}" is DECIMAL(${precision}, ${scale}); decimals of more than ${DECIMAL_DIGITS_MAX} digits are not supported`,
    );
  // Printed as a whole number, whatever its scale.
  return (value) => Number(`${String(value)}e${-scale}`);
}

function numberOf(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function decompressedZstd(frame: Uint8Array): Uint8Array {
  const content = decompressFrame(frame, BUFFER_BYTES_MAX);
  if (content === undefined) throw new Error(`a zstd buffer does not say its size, or is larger than ${BUFFER_BYTES_MAX} bytes`);
  return content;
}

function decompressedLz4(frame: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let given: Uint8Array | undefined = frame;
  decodeLz4({
    read() {
      const bytes = given;
      given = undefined;
      return bytes;
    },
    write(bytes) {
      size += bytes.length;
      if (size > BUFFER_BYTES_MAX) throw new Error(`an LZ4 buffer is larger than ${BUFFER_BYTES_MAX} bytes`);
      pieces.push(bytes);
    },
  });
  return Buffer.concat(pieces, size);
}

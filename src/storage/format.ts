// Layout of a segment file.

import { basename } from 'node:path';
import { ServiceError } from '../base/errors.js';
import { parseJsonWithDoubles } from '../base/json.js';
import type { Physical } from '../base/layout.js';
import { extended } from '../base/names.js';
import type { ColumnSchema, NumberType, TextType } from '../model/schema.js';
import { checksum } from './codecs/checksum.js';
import type { FieldUse } from './field-name.js';

/*
 * A segment is one file, version 1. All numbers are little-endian; offsets count from the start of the file.
 *
 *   offset      bytes  header
 *   0           8      "DOLMEN\r\n"
 *   8           4      u32 version
 *   12          4      u32 CRC-32 of bytes 0 to 11
 *
 *   16          …      blocks, back to back without gaps, in the order in which the footer names them: for each
 *                      column, then for each field of a JSON column, its values or ids, null mask, block ranges, offsets, dictionary and bitmap index
 *   F           n      footer: JSON (`Footer`) in one zstd frame
 *
 *   F + n       32     trailer, the last bytes of the file
 *     + 0       8      u64 F
 *     + 8       4      u32 n
 *     + 12      4      u32 bytes of the footer's JSON
 *     + 16      4      u32 CRC-32 of the n footer bytes
 *     + 20      4      u32 CRC-32 of trailer bytes 0 to 19
 *     + 24      8      "\r\nNEMLOD"
 *
 * A block holds up to `blockLength` elements of one array:
 *
 *   0           1      u8 layout: 0 plain, 1 byte planes, 2 packed bits
 *   1           1      u8 width: bytes of one element (plain), planes of one byte (1 to 8), or bits of one element (1 to 32)
 *   2           1      u8 transform: 0 none, 1 delta, 2 decimal
 *   3           1      u8 decimal: power of ten
 *   4           4      u32 elements
 *   8           8      i64 base: added to the first element (delta) or to every element (decimal); else 0
 *   16          …      zstd frames, one after the other
 *
 * Plain: one frame; the elements as they lie in memory.
 * Byte planes: a frame per plane; plane p holds byte p of every element, lowest first, and bytes beyond the last
 * plane are 0. Splitting lets zstd give each byte position its own entropy code.
 * Packed bits: one frame; element i is bits [i * width, (i + 1) * width), lowest bit first; the frame is padded to 4 bytes.
 * Delta: element i is element i - 1 plus the stored one; the first is base plus the stored one.
 * Decimal: doubles (base + element) / 10^power, exactly; decoded by that one division.
 *
 * The footer keeps the CRC-32 of every block. Together the checksums cover every byte of the file.
 */
/** Version that the writer writes; readers of all versions are in `readers.ts`. */
const FORMAT_VERSION = 1;
export const HEADER_BYTES = 16;
export const TRAILER_BYTES = 32;
export const BLOCK_HEADER_BYTES = 16;

export const LAYOUT = { plain: 0, planes: 1, packed: 2 } as const;
export const TRANSFORM = { none: 0, delta: 1, decimal: 2 } as const;

/** Block size of packed strings and other bytes, which have no rows. */
export const TEXT_BLOCK_BYTES = 256 * 1024;

const MAGIC = Buffer.from('DOLMEN\r\n', 'latin1');
const END_MAGIC = Buffer.from('\r\nNEMLOD', 'latin1');

/** Elements in blocks: block i holds elements [i * blockLength, (i + 1) * blockLength) in bytes[i] bytes of the file. */
export interface StoredArray {
  readonly physical: Physical;
  readonly length: number;
  readonly blockLength: number;
  /** Offset of the first block; the others follow. */
  readonly start: number;
  readonly bytes: readonly number[];
  readonly checksums: readonly number[];
}

export interface StoredNumberColumn {
  readonly kind: 'number';
  readonly name: string;
  readonly type: NumberType;
  /** Decimal text: a LONG is base + value. "0" for FLOAT, and for DOUBLE without `power`. */
  readonly base: string;
  /** DOUBLE in U8, U16 or U32: (base + value) / 10^power. Left out: the values are what they are. */
  readonly power?: number;
  /** Minimum of the non-null values, as a decimal string; NaN is ignored. */
  readonly min: string | null;
  readonly max: string | null;
  readonly values: StoredArray;
  /** Null mask, one byte per eight rows. */
  readonly nulls: StoredArray | null;
  /** [min, max] of each block as f64, `NumberColumnView.blockRanges`. */
  readonly ranges: StoredArray;
}

export interface StoredStringColumn {
  readonly kind: 'string';
  readonly name: string;
  /** Type that the strings of the dictionary stand for; default STRING. */
  readonly type?: TextType;
  /** Multi-value rows included: a row is null when it has the null id or no value at all. */
  readonly hasNulls: boolean;
  /** Smallest and largest non-null value. */
  readonly min: string | null;
  readonly max: string | null;
  readonly ids: StoredArray;
  /** U32 [rowCount]: where row i's values end in `ids`. Multi-value only. */
  readonly ends: StoredArray | null;
  readonly dictionary: StoredDictionary;
  readonly index: StoredIndex | null;
}

interface StoredDictionary {
  readonly count: number;
  readonly hasNull: boolean;
  /** U32 [count]: where value i ends in `text`. */
  readonly ends: StoredArray;
  readonly text: StoredArray;
}

/** Bitmaps of the rows of each dictionary id; see `bitmap-index.ts`. */
export interface StoredIndex {
  /** U32 [count]: where the bitmap of id i ends in `bitmaps`. */
  readonly ends: StoredArray;
  readonly bitmaps: StoredArray;
}

export type StoredColumn = StoredNumberColumn | StoredStringColumn;

export interface Footer {
  readonly rowCount: number;
  /** Time range of the rows, both ends inclusive. */
  readonly timeMin: number;
  readonly timeMax: number;
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  /** JSON of `SegmentDescription`. */
  readonly description: string;
  /** `__time` first. */
  readonly columns: readonly StoredColumn[];
  /** Left out: none. */
  readonly fields?: readonly StoredField[];
}

/** The values at one path of the JSON column `of`, beside it; not a column of the table. Its blocks follow all columns. */
export interface StoredField {
  readonly of: string;
  /** JSONPath, as `printJsonPath` writes it. */
  readonly path: string;
  readonly uses: readonly FieldUse[];
  readonly column: StoredColumn;
}

/** All that has blocks in the file, in their order. */
export function storedColumns({ columns, fields = [] }: Footer): readonly StoredColumn[] {
  return [...columns, ...fields.map(({ column }) => column)];
}

/** Description of how a file was made, kept for segmentMetadata. */
export interface SegmentDescription {
  readonly aggregators: readonly unknown[] | null;
  readonly timestampSpec: unknown;
  readonly queryGranularity: unknown;
  readonly rollup: boolean;
}

export interface BlockHeader {
  readonly layout: number;
  readonly width: number;
  readonly transform: number;
  readonly power: number;
  readonly elements: number;
  readonly base: bigint;
}

export interface Trailer {
  readonly footerOffset: number;
  readonly footerBytes: number;
  readonly jsonBytes: number;
  readonly footerChecksum: number;
}

/** Arrays of a column in file order. */
export function arraysOf(column: StoredColumn): StoredArray[] {
  const arrays =
    column.kind === 'number'
      ? [column.values, column.nulls, column.ranges]
      : [column.ids, column.ends, column.dictionary.ends, column.dictionary.text, column.index?.ends, column.index?.bitmaps];
  return arrays.filter((array) => array !== null && array !== undefined);
}

export function schemaOf(column: StoredColumn, rowCount: number): ColumnSchema {
  const { name } = column;
  if (column.kind === 'string') {
    const { count, hasNull } = column.dictionary;
    const distinctCount = count - (hasNull ? 1 : 0);
    return { name, type: column.type ?? 'STRING', multiValue: column.ends !== null, hasNulls: column.hasNulls, distinctCount };
  }
  const { type, min, max } = column;
  // Longs have no more values than lie between the ends; of fractions nothing is known.
  const range = type === 'LONG' && min !== null && max !== null ? BigInt(max) - BigInt(min) + 1n : undefined;
  const schema = { name, type, multiValue: false, hasNulls: column.nulls !== null };
  return range === undefined ? schema : extended(schema, { distinctCount: range < BigInt(rowCount) ? Number(range) : rowCount });
}

/** Bytes a column takes in the file. */
export function storedBytes(column: StoredColumn): number {
  return arraysOf(column).reduce((sum, array) => sum + endOf(array) - array.start, 0);
}

function endOf(array: StoredArray): number {
  return array.bytes.reduce((at, bytes) => at + bytes, array.start);
}

export function encodeHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(FORMAT_VERSION, 8);
  header.writeUInt32LE(checksum(header.subarray(0, 12)), 12);
  return header;
}

/**
 * The version of the format that a file has.
 * @throws ServiceError `segment_corrupt` for a header that is none, or damaged
 */
export function readVersion(file: string, header: Buffer): number {
  if (!header.subarray(0, 8).equals(MAGIC)) throw corrupt(file, 'it does not begin with the segment magic');
  if (header.readUInt32LE(12) !== checksum(header.subarray(0, 12))) throw corrupt(file, 'the header does not match its checksum');
  return header.readUInt32LE(8);
}

export function encodeTrailer(trailer: Trailer): Buffer {
  const bytes = Buffer.alloc(TRAILER_BYTES);
  bytes.writeBigUInt64LE(BigInt(trailer.footerOffset), 0);
  bytes.writeUInt32LE(trailer.footerBytes, 8);
  bytes.writeUInt32LE(trailer.jsonBytes, 12);
  bytes.writeUInt32LE(trailer.footerChecksum, 16);
  bytes.writeUInt32LE(checksum(bytes.subarray(0, 20)), 20);
  END_MAGIC.copy(bytes, 24);
  return bytes;
}

/** @throws ServiceError `segment_corrupt` */
export function decodeTrailer(file: string, bytes: Buffer, fileBytes: number): Trailer {
  if (!bytes.subarray(24).equals(END_MAGIC)) throw corrupt(file, 'it does not end with the segment magic: it is truncated or no segment');
  if (bytes.readUInt32LE(20) !== checksum(bytes.subarray(0, 20))) throw corrupt(file, 'the trailer does not match its checksum');
  const footerOffset = Number(bytes.readBigUInt64LE(0));
  const footerBytes = bytes.readUInt32LE(8);
  if (footerOffset < HEADER_BYTES || footerOffset + footerBytes + TRAILER_BYTES !== fileBytes) {
    throw corrupt(file, `the footer is said to lie at ${footerOffset} to ${footerOffset + footerBytes} of ${fileBytes} bytes`);
  }
  return { footerOffset, footerBytes, jsonBytes: bytes.readUInt32LE(12), footerChecksum: bytes.readUInt32LE(16) };
}

/**
 * The footer's JSON, already checked against its checksum. Beyond that only the geometry is checked: that the blocks
 * fill the file from the header to the footer in order, which also proves that every byte has a checksum.
 * @throws ServiceError `segment_corrupt`
 */
export function parseFooter(file: string, json: string, footerOffset: number): Footer {
  const footer = parseJsonWithDoubles(json) as Footer;
  let at = HEADER_BYTES;
  for (const column of storedColumns(footer)) {
    for (const array of arraysOf(column)) {
      const blocks = Math.ceil(array.length / array.blockLength);
      if (array.start !== at || array.bytes.length !== blocks || array.checksums.length !== blocks) {
        throw corrupt(file, `column ${JSON.stringify(column.name)}: the footer does not describe its blocks`);
      }
      at = endOf(array);
    }
  }
  if (at !== footerOffset) throw corrupt(file, `the blocks end at ${at}, the footer begins at ${footerOffset}`);
  return footer;
}

export function encodeBlockHeader(header: BlockHeader, out: Buffer): void {
  out[0] = header.layout;
  out[1] = header.width;
  out[2] = header.transform;
  out[3] = header.power;
  out.writeUInt32LE(header.elements, 4);
  out.writeBigInt64LE(header.base, 8);
}

export function decodeBlockHeader(block: Buffer): BlockHeader {
  return {
    layout: block[0] ?? 0,
    width: block[1] ?? 0,
    transform: block[2] ?? 0,
    power: block[3] ?? 0,
    elements: block.readUInt32LE(4),
    base: block.readBigInt64LE(8),
  };
}

export function corrupt(file: string, found: string, cause?: unknown): ServiceError {
  return new ServiceError('segment_corrupt', `segment file ${basename(file)}: ${found}`, cause);
}

export function corruptBlock(file: string, column: string, array: string, block: number, found: string, cause?: unknown): ServiceError {
  return corrupt(file, `column ${JSON.stringify(column)}, ${array}, block ${block}: ${found}`, cause);
}

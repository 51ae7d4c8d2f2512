// Checks what the Arrow library takes on trust: lengths in the metadata, and buffers against the number of rows.

import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';

interface MetadataBytes {
  capacity(): number;
  __vector_len(offset: number): number;
}

/** Rows of a column as the library has them. */
export interface ColumnData {
  readonly type: { readonly typeId: number; readonly listSize?: number };
  readonly length: number;
  readonly offset: number;
  readonly stride: number;
  readonly nullCount: number;
  readonly nullBitmap: Lengthy;
  readonly values: Lengthy | null | undefined;
  readonly valueOffsets: Int32Array | BigInt64Array;
  readonly children: readonly ColumnData[];
  readonly dictionary: { readonly data: readonly ColumnData[] } | undefined;
}

interface Lengthy {
  readonly length: number;
}

/** Lists that the metadata of one message may have; damaged tables may refer to each other again and again. */
const LISTS_MAX = 1_000_000;

/**
 * Has the library's reader of metadata refuse a list that is longer than the message that it stands in: it would make as many objects.
 * @param library  path of the library, whose own dependency the reader is
 */
export function checkMetadata(library: string): void {
  const { ByteBuffer } = createRequire(library)('flatbuffers') as { readonly ByteBuffer: { readonly prototype: MetadataBytes } };
  const unchecked = ByteBuffer.prototype.__vector_len;
  const seen = new WeakMap<MetadataBytes, number>();
  Object.defineProperty(ByteBuffer.prototype, '__vector_len', {
    value(this: MetadataBytes, offset: number): number {
      const length = unchecked.call(this, offset);
      const lists = (seen.get(this) ?? 0) + 1;
      seen.set(this, lists);
      if (!(length >= 0 && length <= this.capacity()) || lists > LISTS_MAX) throw new Error('its metadata is damaged');
      return length;
    },
  });
}

/** Names of the library's type numbers that are needed here. */
export interface TypeNumbers {
  readonly Null: number;
  readonly Bool: number;
  readonly Utf8: number;
  readonly LargeUtf8: number;
  readonly Utf8View: number;
  readonly Binary: number;
  readonly LargeBinary: number;
  readonly BinaryView: number;
  readonly List: number;
  readonly LargeList: number;
  readonly Map: number;
  readonly FixedSizeList: number;
  readonly Struct: number;
  readonly Dictionary: number;
}

/** @throws Error where a buffer of the column is shorter than its rows need, or its offsets lead out of it */
export function checkColumn(data: ColumnData, column: string, types: TypeNumbers): void {
  const { length, type, nullCount, nullBitmap } = data;
  if (length === 0) return;
  const damaged = (what: string): Error => new Error(`column "${column}" is damaged: ${what}`);
  const kind = type.typeId;
  if (nullCount > 0 && nullBitmap.length * 8 < length) throw damaged(`marks of nulls for ${nullBitmap.length * 8} of ${length} rows`);
  const need = (elements: number, values: Lengthy | undefined | null): void => {
    if ((values?.length ?? 0) < elements) throw damaged(`${values?.length ?? 0} values, where ${length} rows need ${elements}`);
  };
  const isIn = (...some: readonly number[]): boolean => some.includes(kind);
  const { children } = data;
  if (isIn(types.Null, types.Utf8View, types.BinaryView)) return;
  if (isIn(types.Bool)) return need(Math.ceil((data.offset + length) / 8), data.values);
  if (isIn(types.Struct)) {
    for (const child of children) {
      need(length, child);
      checkColumn(child, column, types);
    }
    return;
  }
  if (isIn(types.FixedSizeList)) {
    const [items] = children;
    need(length * (type.listSize ?? 0), items);
    if (items !== undefined) checkColumn(items, column, types);
    return;
  }
  if (isIn(types.Utf8, types.LargeUtf8, types.Binary, types.LargeBinary, types.List, types.LargeList, types.Map)) {
    const [items] = children;
    checkOffsets(data.valueOffsets, length, (items ?? data.values)?.length ?? 0, damaged);
    if (items !== undefined) checkColumn(items, column, types);
    return;
  }
  need(length * data.stride, data.values);
  if (isIn(types.Dictionary)) for (const part of data.dictionary?.data ?? []) checkColumn(part, column, types);
}

function checkOffsets(offsets: Int32Array | BigInt64Array, length: number, end: number, damaged: (what: string) => Error): void {
  if (offsets.length < length + 1) throw damaged(`${offsets.length} offsets for ${length} rows`);
  let before = 0;
  for (let row = 0; row <= length; row++) {
    const offset = Number(offsets[row]);
    if (offset < before || offset > end) throw damaged(`row ${row} lies at ${offset} of ${end}`);
    before = offset;
  }
}

/** Place of a message in a file. */
interface FileBlock {
  readonly offset: number;
  readonly metaDataLength: number;
  readonly bodyLength: number;
}

export interface FileFooter {
  recordBatches(): Iterable<FileBlock>;
  dictionaryBatches(): Iterable<FileBlock>;
}

/** Bytes before the first message. */
const HEAD_BYTES = 8;
/** Magic and length behind the footer. */
const TAIL_BYTES = 10;
/** A mark of the end between the last message and the footer. */
const MARK_BYTES = 8;

/**
 * Checks that the messages that the list at the end of a file names follow each other without gaps: bytes that are missing, doubled or
 * named by no list are found so, since a file has no checksums.
 */
export async function checkPlaces(file: FileHandle, footer: FileFooter): Promise<void> {
  const numberAt = async (at: number): Promise<number> => {
    const bytes = Buffer.alloc(4);
    await file.read(bytes, 0, 4, at);
    return bytes.readInt32LE(0);
  };
  const { size } = await file.stat();
  const end = size - TAIL_BYTES - (await numberAt(size - TAIL_BYTES));
  const first = await numberAt(HEAD_BYTES);
  // Before version 0.15 a message began with its length.
  let at = first === -1 ? HEAD_BYTES + 8 + (await numberAt(HEAD_BYTES + 4)) : HEAD_BYTES + 4 + first;
  const blocks = [...footer.dictionaryBatches(), ...footer.recordBatches()].sort((a, b) => a.offset - b.offset);
  // Some writers leave out the schema, which the list has too.
  if (blocks.length === 0 || blocks[0]?.offset === HEAD_BYTES) at = HEAD_BYTES;
  for (const { offset, metaDataLength, bodyLength } of blocks) {
    if (offset !== at) throw new Error(`its list of batches is damaged: a message at byte ${offset}, expected at ${at}`);
    at = offset + metaDataLength + bodyLength;
  }
  if (blocks.length > 0 && (at > end || at < end - MARK_BYTES)) throw new Error(`its messages end at byte ${at}, expected at ${end}`);
}

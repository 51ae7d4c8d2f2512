// Tells text of Arrow columns that is not UTF-8, which the library decodes all the same.

import { isAscii, isUtf8 } from 'node:buffer';

/** A column of a record batch, or a part of one, under the names of the library. */
export interface TextData {
  readonly type: { readonly typeId: number; readonly listSize?: number };
  readonly length: number;
  readonly stride: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array;
  /** Bytes of texts, indices into a dictionary, or numbers. */
  readonly values: Uint8Array | { readonly [at: number]: number | bigint } | null | undefined;
  readonly valueOffsets: Int32Array | BigInt64Array | undefined;
  readonly variadicBuffers?: readonly Uint8Array[];
  readonly children: readonly TextData[];
  readonly dictionary: { readonly data: readonly TextData[] } | undefined;
}

/** The library's numbers of types. */
interface TypeNumbers {
  readonly Utf8: number;
  readonly LargeUtf8: number;
  readonly Utf8View: number;
  readonly Binary: number;
  readonly LargeBinary: number;
  readonly BinaryView: number;
  readonly FixedSizeBinary: number;
}

export interface TextTypes {
  readonly types: TypeNumbers;
  /** Bytes are read as text, too. */
  readonly binaryAsString: boolean;
}

/** Bytes of a view that stand in the view itself, and those of the view. */
const INLINE_BYTES = 12;
const VIEW_BYTES = 16;

/** Whether all text of a column is UTF-8. */
export function isAllText(data: TextData, { types, binaryAsString }: TextTypes): boolean {
  const { length, valueOffsets, values } = data;
  const form = formOf(data, { types, binaryAsString });
  if (form === 'offsets' && values instanceof Uint8Array) {
    const start = Number(valueOffsets?.[0] ?? 0);
    const bytes = values.subarray(start, Number(valueOffsets?.[length] ?? 0));
    if (isAscii(bytes)) return true;
    if (!isUtf8(bytes)) return false;
    // Texts of valid bytes are valid themselves where none begins within a character.
    for (let row = 0; row < length; row++) if (((bytes[Number(valueOffsets?.[row]) - start] ?? 0) & 0xc0) === 0x80) return false;
    return true;
  }
  if (form !== null) {
    for (let row = 0; row < length; row++) if (!isTextAt(data, row, { types, binaryAsString })) return false;
    return true;
  }
  return [...data.children, ...(data.dictionary?.data ?? [])].every((part) => isAllText(part, { types, binaryAsString }));
}

/** Whether all text of a row is UTF-8, at any depth. */
export function isTextAt(data: TextData, row: number, options: TextTypes): boolean {
  const { values, valueOffsets, stride, nullCount, nullBitmap, children, dictionary } = data;
  // Bytes of a null are nobody's.
  if (nullCount > 0 && ((nullBitmap[row >> 3] ?? 0) & (1 << (row & 7))) === 0) return true;
  const bytes = values instanceof Uint8Array ? values : new Uint8Array(0);
  switch (formOf(data, options)) {
    case 'offsets':
      return isUtf8(bytes.subarray(Number(valueOffsets?.[row]), Number(valueOffsets?.[row + 1])));
    case 'fixed':
      return isUtf8(bytes.subarray(row * stride, (row + 1) * stride));
    case 'views':
      return isUtf8(viewAt(data, bytes, row));
    default:
  }
  if (dictionary !== undefined) return isEntryText(dictionary.data, Number(values?.[row]), options);
  const [from, to] = itemsOf(data, row);
  return children.every((child) => {
    for (let item = from; item < to; item++) if (!isTextAt(child, item, options)) return false;
    return true;
  });
}

/** The items of a list in a row, or, of a record, the row itself. */
function itemsOf({ type, valueOffsets }: TextData, row: number): readonly [from: number, to: number] {
  const { listSize } = type;
  if (listSize !== undefined) return [row * listSize, (row + 1) * listSize];
  return valueOffsets === undefined ? [row, row + 1] : [Number(valueOffsets[row]), Number(valueOffsets[row + 1])];
}

/** A dictionary may come in several parts. */
function isEntryText(parts: readonly TextData[], entry: number, options: TextTypes): boolean {
  let at = entry;
  for (const part of parts) {
    if (at < part.length) return isTextAt(part, at, options);
    at -= part.length;
  }
  return true;
}

type Form = 'offsets' | 'views' | 'fixed';

function formOf({ type: { typeId } }: TextData, { types, binaryAsString }: TextTypes): Form | null {
  if (typeId === types.Utf8 || typeId === types.LargeUtf8) return 'offsets';
  if (typeId === types.Utf8View) return 'views';
  if (!binaryAsString) return null;
  if (typeId === types.Binary || typeId === types.LargeBinary) return 'offsets';
  if (typeId === types.BinaryView) return 'views';
  return typeId === types.FixedSizeBinary ? 'fixed' : null;
}

/** A view has the length of its text, and the text, or the number of a buffer and the place in it. */
function viewAt({ variadicBuffers = [] }: TextData, values: Uint8Array, row: number): Uint8Array {
  const at = row * VIEW_BYTES;
  const words = new DataView(values.buffer, values.byteOffset + at, VIEW_BYTES);
  const length = words.getInt32(0, true);
  if (length <= INLINE_BYTES) return values.subarray(at + 4, at + 4 + length);
  const start = words.getInt32(12, true);
  return variadicBuffers[words.getInt32(8, true)]?.subarray(start, start + length) ?? new Uint8Array(0);
}

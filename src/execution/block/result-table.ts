// Result rows in columns, before and between post-processing steps.

import { assert, ServiceError } from '../../base/errors.js';
import { textOfValue, type Value, valueOfText } from '../../expression/value.js';
import { type Frame, type FrameColumn, isNullAt } from '../../model/frame.js';
import { type ColumnType, isNumberType, type TextType } from '../../model/schema.js';
import type { PackedColumn, SegmentFrame } from '../../storage/columns/packed-column.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from './checked-loops.js';
import type { PackTexts } from './packed-texts.js';

/** Result rows outside of kernel memory, before and between post-processing steps. Strings stay ids until they are needed. */
export interface ResultTable {
  readonly rowCount: number;
  readonly columns: readonly ResultColumn[];
  /** Names of group keys, which break ties of sorts. */
  readonly keys: readonly string[];
}

/** `type` of texts, where it is left out, is STRING. */
export type ResultColumn = { readonly name: string } & (
  | {
      readonly kind: 'string';
      readonly type?: TextType;
      readonly ids: Uint32Array;
      readonly text: (id: number) => string | null;
      /** The same as bytes, where they lie in kernel memory. Absent once ids have another meaning; columns of one object have ids in common. */
      readonly packed?: NumberedTexts | undefined;
    }
  /** `nulls`: one byte a row, 1 where it is null; null when no row is. */
  | { readonly kind: 'long'; readonly values: BigInt64Array; readonly nulls: Uint8Array | null }
  /** Multi-value: row i is row `rows[i]` of a frame's column. Kept and picked, never computed with. */
  | { readonly kind: 'multi'; readonly rows: Uint32Array; readonly of: MultiColumn }
  | { readonly kind: 'double'; readonly type: 'FLOAT' | 'DOUBLE'; readonly values: Float64Array; readonly nulls: Uint8Array | null }
);

type MultiColumn = Extract<FrameColumn, { kind: 'multi' }>;

/** Texts in kernel memory that ids stand for. */
export interface NumberedTexts {
  readonly pack: PackTexts;
  /** The one id that stands for null. */
  readonly nullId: number;
  /** Whether each text has one id. */
  readonly isDistinct: boolean;
}

export function columnNamed(table: ResultTable, name: string): ResultColumn {
  const column = table.columns.find((each) => each.name === name);
  assert(column !== undefined, `a post-processing step names the unknown column "${name}"`);
  return column;
}

export function typeOfResult(column: ResultColumn): ColumnType {
  if (column.kind === 'string') return column.type ?? 'STRING';
  return column.kind === 'multi' ? 'STRING' : column.kind === 'long' ? 'LONG' : column.type;
}

export function valueAt(column: ResultColumn, row: number): Value {
  if (column.kind === 'string') return valueOfText(column.text(column.ids[row] ?? 0), column.type ?? 'STRING');
  if (column.kind === 'multi') throw refuseMultiple(column);
  if (column.nulls !== null && column.nulls[row] === 1) return null;
  return column.values[row] ?? null;
}

export function refuseMultiple({ name }: ResultColumn): ServiceError {
  return new ServiceError('unsupported', `multi-value column "${name}" cannot be computed with or ordered by`);
}

const PAGE_BITS = 8;

/**
 * Texts by id, each decoded once. Ids come in any order: one array over all of them would become a slow hash table.
 * @param heldMax  texts that are held before all are let go
 */
export function rememberTexts(decode: (id: number) => string | null, heldMax = Infinity): (id: number) => string | null {
  const pages: ((string | null | undefined)[] | undefined)[] = [];
  let held = 0;
  return (id) => {
    if (held >= heldMax) [pages.length, held] = [0, 0];
    const number = id >>> PAGE_BITS;
    while (pages.length <= number) pages.push(undefined);
    let page = pages[number];
    if (page === undefined) {
      page = new Array<string | null | undefined>(1 << PAGE_BITS);
      pages[number] = page;
    }
    const at = id & ((1 << PAGE_BITS) - 1);
    const known = page[at];
    if (known !== undefined) return known;
    const text = decode(id);
    page[at] = text;
    held++;
    return text;
  };
}

export function columnOf(name: string, type: ColumnType, values: readonly Value[]): ResultColumn {
  if (!isNumberType(type))
    return textColumn(
      name,
      type,
      values.map((value) => textOfValue(value, type)),
    );
  const n = values.length;
  const nulls = values.includes(null) ? new Uint8Array(n) : null;
  // Loops, as functions of typed arrays over lists cost ten times as much.
  for (let row = 0; nulls !== null && row < n; row++) nulls[row] = values[row] === null ? 1 : 0;
  if (type === 'LONG') return { kind: 'long', name, values: longsOf(values), nulls };
  const doubles = new Float64Array(n);
  for (let row = 0; row < n; row++) {
    const value = values[row];
    if (typeof value === 'number') doubles[row] = value;
  }
  return { kind: 'double', name, type, values: doubles, nulls };
}

function longsOf(values: readonly Value[]): BigInt64Array {
  const longs = new BigInt64Array(values.length);
  for (let row = 0; row < longs.length; row++) {
    const value = values[row];
    if (typeof value === 'bigint') longs[row] = value;
  }
  return longs;
}

/** A column of texts of `type` as dictionaries keep them, one a row. */
export function textColumn(name: string, type: TextType, texts: readonly (string | null)[]): ResultColumn {
  const ids = new Uint32Array(texts.length);
  for (let row = 0; row < ids.length; row++) ids[row] = row;
  return { kind: 'string', name, ...typed(type), ids, text: (id) => texts[id] ?? null };
}

/** The type of a column of texts, as columns mention it. */
export function typed(type: TextType | undefined): { readonly type?: TextType } {
  return type === undefined || type === 'STRING' ? {} : { type };
}

/** Rows `rows` in that order. */
export function pickRows(table: ResultTable, rows: Uint32Array, check: Check): ResultTable {
  const pickNumbers = (from: Uint32Array): Uint32Array => {
    const picked = new Uint32Array(rows.length);
    checkedLoop(rows.length, check, (start, end) => {
      for (let at = start; at < end; at++) picked[at] = from[rows[at] ?? 0] ?? 0;
    });
    return picked;
  };
  const pickNulls = (nulls: Uint8Array | null): Uint8Array | null => {
    if (nulls === null) return null;
    const picked = new Uint8Array(rows.length);
    checkedLoop(rows.length, check, (start, end) => {
      for (let at = start; at < end; at++) picked[at] = nulls[rows[at] ?? 0] ?? 0;
    });
    return picked;
  };
  const columns = table.columns.map((column): ResultColumn => {
    if (column.kind === 'string') return { ...column, ids: pickNumbers(column.ids) };
    if (column.kind === 'multi') return { ...column, rows: pickNumbers(column.rows) };
    if (column.kind === 'double') {
      const values = new Float64Array(rows.length);
      checkedLoop(rows.length, check, (start, end) => {
        for (let at = start; at < end; at++) values[at] = column.values[rows[at] ?? 0] ?? 0;
      });
      return { ...column, values, nulls: pickNulls(column.nulls) };
    }
    return { ...column, values: pickLongs(column.values, rows, check), nulls: pickNulls(column.nulls) };
  });
  return { ...table, rowCount: rows.length, columns };
}

/** Longs at `places`, copied in halves: they cost no BigInt each. */
export function pickLongs(values: BigInt64Array, places: Uint32Array, check: Check): BigInt64Array<ArrayBuffer> {
  const picked = new BigInt64Array(places.length);
  const into = new Uint32Array(picked.buffer);
  const from = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  checkedLoop(places.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const place = (places[at] ?? 0) * 2;
      into[at * 2] = from[place] ?? 0;
      into[at * 2 + 1] = from[place + 1] ?? 0;
    }
  });
  return picked;
}

/** Rows of one frame; a result is cut into several so that it can be sent while it is being read. */
export const FRAME_ROWS = 65536;

export function* framesOf(table: ResultTable, check: Check, frameRows = FRAME_ROWS): Generator<Frame> {
  for (let start = 0; start < table.rowCount; start += frameRows) {
    const end = Math.min(table.rowCount, start + frameRows);
    yield { rowCount: end - start, columns: table.columns.map((column) => frameColumn(column, start, end, check)) };
  }
}

/** All rows in one frame, strings as bytes where that is how they lie in memory. */
export function packedFramesOf({ rowCount, columns }: ResultTable, check: Check): readonly [SegmentFrame] {
  return [{ rowCount, columns: columns.map((column) => packedColumn(column, check) ?? wholeColumn(column, rowCount, check)) }];
}

/** All rows of a column, whose numbers are not copied. */
function wholeColumn(column: ResultColumn, rowCount: number, check: Check): FrameColumn {
  if (column.kind === 'string' || column.kind === 'multi') return frameColumn(column, 0, rowCount, check);
  return { ...column, nulls: column.nulls === null ? null : nullBits(column.nulls) };
}

function packedColumn(column: ResultColumn, check: Check): PackedColumn | undefined {
  if (column.kind !== 'string' || column.packed === undefined) return undefined;
  const { pack, nullId } = column.packed;
  const entryOf = numberer(column.ids);
  const used: number[] = [];
  // Numbers as they come, but null is the first.
  let nullEntry = -1;
  const ids = new Uint32Array(column.ids.length);
  checkedLoop(ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const id = column.ids[row] ?? 0;
      const entry = entryOf(id);
      if (id === nullId) nullEntry = entry;
      else if (entry === used.length + Number(nullEntry >= 0)) used.push(id);
      ids[row] = id === nullId ? 0 : nullEntry >= 0 && entry > nullEntry ? entry : entry + 1;
    }
  });
  const { name, type = 'STRING' } = column;
  return { kind: 'packed', name, type, ids, offsets: null, dictionary: pack(Uint32Array.from(used), check) };
}

/** The columns of a result without its rows. */
export function emptyFrame({ columns }: ResultTable, check: Check): Frame {
  return { rowCount: 0, columns: columns.map((column) => frameColumn(column, 0, 0, check)) };
}

export function frameColumn(column: ResultColumn, start: number, end: number, check: Check): FrameColumn {
  check();
  const { name } = column;
  if (column.kind === 'string')
    return { kind: 'string', name, ...typed(column.type), ...compactTexts(column.ids.subarray(start, end), column.text, check) };
  if (column.kind === 'multi') return pickMultiple(name, column.of, column.rows.subarray(start, end), check);
  const nulls = column.nulls === null ? null : nullBits(column.nulls.subarray(start, end));
  if (column.kind === 'long') return { kind: 'long', name, values: column.values.slice(start, end), nulls };
  return { kind: 'double', name, type: column.type, values: column.values.slice(start, end), nulls };
}

function pickMultiple(name: string, { offsets, ids, dictionary }: MultiColumn, rows: Uint32Array, check: Check): FrameColumn {
  const picked = new Uint32Array(rows.length + 1);
  const values: number[] = [];
  rows.forEach((row, index) => {
    for (let at = offsets[row] ?? 0; at < (offsets[row + 1] ?? 0); at++) values.push(ids[at] ?? 0);
    picked[index + 1] = values.length;
  });
  return { kind: 'multi', name, offsets: picked, ...compactTexts(Uint32Array.from(values), (id) => dictionary[id] ?? null, check) };
}

/** A frame as a table that post-processing steps can work on. */
export function tableOf(frame: Frame): ResultTable {
  return { rowCount: frame.rowCount, columns: frame.columns.map((column) => resultColumn(column, frame.rowCount)), keys: [] };
}

export function resultColumn(column: FrameColumn, rowCount: number): ResultColumn {
  const { name } = column;
  switch (column.kind) {
    case 'string':
      return { kind: 'string', name, ...typed(column.type), ids: column.ids, text: (id) => column.dictionary[id] ?? null };
    case 'multi':
      return { kind: 'multi', name, rows: Uint32Array.from({ length: rowCount }, (_, row) => row), of: column };
    default: {
      if (column.nulls === null) return { ...column, nulls: null };
      const nulls = new Uint8Array(rowCount);
      for (let row = 0; row < rowCount; row++) nulls[row] = isNullAt(column.nulls, row) ? 1 : 0;
      return { ...column, nulls };
    }
  }
}

/** Reduces a dictionary to the strings that these rows use. */
function compactTexts(
  ids: Uint32Array,
  text: (id: number) => string | null,
  check: Check,
): { ids: Uint32Array; dictionary: (string | null)[] } {
  const dictionary: (string | null)[] = [];
  const compact = new Uint32Array(ids.length);
  const entryOf = numberer(ids);
  for (let row = 0; row < ids.length; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    const id = ids[row] ?? 0;
    const entry = entryOf(id);
    if (entry === dictionary.length) dictionary.push(text(id));
    compact[row] = entry;
  }
  return { ids: compact, dictionary };
}

/** Numbers ids as they come, from 0 on: by an array over their range where it is no larger than a map of them. */
export function numberer(ids: Uint32Array): (id: number) => number {
  let [low, high] = [Infinity, 0];
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row] ?? 0;
    if (id < low) low = id;
    if (id > high) high = id;
  }
  let count = 0;
  if (high - low < ids.length * 8) {
    const entries = new Uint32Array(Math.max(0, high - low) + 1);
    return (id) => {
      const known = entries[id - low] ?? 0;
      if (known !== 0) return known - 1;
      entries[id - low] = ++count;
      return count - 1;
    };
  }
  const entries = new Map<number, number>();
  return (id) => {
    const known = entries.get(id);
    if (known !== undefined) return known;
    entries.set(id, count);
    return count++;
  };
}

export function nullBits(nulls: Uint8Array): Uint32Array | null {
  if (!nulls.includes(1)) return null;
  const bits = new Uint32Array(Math.ceil(nulls.length / 64) * 2);
  for (let row = 0; row < nulls.length; row++) if (nulls[row] === 1) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  return bits;
}

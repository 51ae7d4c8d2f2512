// Divides the rows of a time chunk into segments by the values of their columns.

import { ServiceError } from '../../base/errors.js';
import { compareText } from '../../expression/ordering.js';
import { bucketOfText } from '../../expression/partition-bucket.js';
import { cellAt, type Frame, type FrameColumn } from '../../model/frame.js';
import { PARTITION_FUNCTION, type PartitionKey, type SegmentPart } from '../../model/segment.js';
import type { HashedPartitions, RangePartitions } from '../task-spec/partitions-spec.js';
import { boundsOf, compareKeys } from './range-bounds.js';

/** Rows of one segment, ascending, and what they have in common. */
export interface Part {
  readonly rows: Uint32Array;
  /** Place among the parts of the chunk. */
  readonly at: number;
  readonly part: SegmentPart;
}

/** Frames with the columns that rows of a chunk are divided by: all of its rows, in order. */
export type KeyFrames = () => Iterable<Frame>;

/**
 * Divides the rows of a chunk. A column that is named and not there is null in every row.
 * @param keyBytesMax  memory for the different keys of ranges whose bounds are not known
 * @returns  null: the keys take more memory
 * @throws ServiceError `input_invalid` for rows of several values in a column whose order divides them
 */
export function partsOf(
  spec: HashedPartitions | RangePartitions,
  rowCount: number,
  frames: KeyFrames,
  keyBytesMax = Infinity,
): readonly Part[] | null {
  return spec.kind === 'hashed' ? hashedParts(spec, rowCount, frames()) : rangeParts(spec, rowCount, frames, keyBytesMax);
}

/** Whether the rows can be divided so: rows of several values have no place in an order. */
export function isDividable(spec: HashedPartitions | RangePartitions, frames: KeyFrames): boolean {
  if (spec.kind === 'hashed' || spec.refusesMultiValues) return true;
  for (const { columns } of frames())
    if (columns.some(({ name, kind }) => kind === 'multi' && spec.dimensions.includes(name))) return false;
  return true;
}

/** A frame at a time: what is kept of a row is its bucket. */
function hashedParts(
  { numShards, targetRowsPerSegment, dimensions }: HashedPartitions,
  rowCount: number,
  frames: Iterable<Frame>,
): readonly Part[] {
  const numBuckets = numShards ?? Math.max(1, Math.ceil(rowCount / targetRowsPerSegment));
  const bucketByRow = new Uint32Array(rowCount);
  const known = new Map<string, number>();
  let start = 0;
  for (const frame of frames) {
    const keyAt = rowKeys(frame, dimensions);
    for (let row = 0; row < frame.rowCount; row++) {
      const key = keyAt(row);
      let bucket = known.get(key);
      if (bucket === undefined) {
        bucket = bucketOfText(key, numBuckets);
        if (known.size < KEYS_KEPT) known.set(key, bucket);
      }
      bucketByRow[start + row] = bucket;
    }
    start += frame.rowCount;
  }
  const common = { type: 'hashed', numBuckets, partitionDimensions: dimensions, partitionFunction: PARTITION_FUNCTION } as const;
  return rowsByPart(bucketByRow, numBuckets).flatMap((rows, bucketId) =>
    rows.length === 0 ? [] : [{ rows, at: bucketId, part: { ...common, bucketId } }],
  );
}

/**
 * The text of each row's key. Of all columns where none is named, those that hold a value, by name: tasks that found other columns,
 * or found them in another order, have the same text for the same row.
 */
export function rowKeys({ columns }: Frame, dimensions: readonly string[]): (row: number) => string {
  if (dimensions.length > 0) {
    const texts = dimensions.map((name) => cellTexts(columns.find((column) => column.name === name)));
    return (row) => `[${texts.map((textAt) => textAt(row)).join(',')}]`;
  }
  const named = columns
    .toSorted((a, b) => compareText(a.name, b.name))
    .map((column) => ({ name: `${JSON.stringify(column.name)}:`, textAt: cellTexts(column) }));
  return (row) => {
    let key = '';
    for (const { name, textAt } of named) {
      const cell = textAt(row);
      if (cell !== 'null') key += `${name}${cell},`;
    }
    return key;
  };
}

/** Keys whose bucket is remembered. */
const KEYS_KEPT = 100_000;

/** The JSON text of each cell; of a dictionary, each entry is written once. */
function cellTexts(column: FrameColumn | undefined): (row: number) => string {
  if (column === undefined) return () => 'null';
  if (column.kind === 'string') {
    const entries = column.dictionary.map((entry) => JSON.stringify(entry));
    return (row) => entries[column.ids[row] ?? 0] ?? 'null';
  }
  return (row) => {
    const cell = cellAt(column, row);
    return JSON.stringify(typeof cell === 'bigint' || typeof cell === 'number' ? String(cell) : cell);
  };
}

function rangeParts(
  { dimensions, isSingle, rowsPerSegment, isLimit, bounds }: RangePartitions,
  rowCount: number,
  frames: KeyFrames,
  keyBytesMax: number,
): readonly Part[] | null {
  let starts = bounds ?? null;
  if (starts === null) {
    const keys = new KeyTable(dimensions, keyBytesMax);
    for (const frame of frames()) if (!keys.add(frame)) return null;
    const { sorted, rows } = keys.finish();
    starts = boundsOf(sorted, rows, { rowsPerSegment, isLimit });
  }
  const partByRow = new Uint32Array(rowCount);
  let start = 0;
  for (const frame of frames()) {
    const partAt = partsByRow(frame, dimensions, starts);
    for (let row = 0; row < frame.rowCount; row++) partByRow[start + row] = partAt(row);
    start += frame.rowCount;
  }
  return rowsByPart(partByRow, starts.length + 1).flatMap((rows, at) =>
    rows.length === 0
      ? []
      : [{ rows, at, part: { type: 'range', dimensions, isSingle, start: starts[at - 1] ?? null, end: starts[at] ?? null } }],
  );
}

/** The part of each row: as many of the keys at which parts start as are not above its own. */
export function partsByRow({ columns }: Frame, dimensions: readonly string[], starts: readonly PartitionKey[]): (row: number) => number {
  const partOf = (key: PartitionKey): number => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(starts[middle] ?? [], key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const found = dimensions.map((name) => columns.find((column) => column.name === name));
  const [only] = found;
  if (found.length === 1 && only?.kind === 'string') {
    const parts = new Int32Array(only.dictionary.length).fill(-1);
    return (row) => {
      const id = only.ids[row] ?? 0;
      const known = parts[id] ?? -1;
      if (known >= 0) return known;
      const part = partOf([only.dictionary[id] ?? null]);
      parts[id] = part;
      return part;
    };
  }
  const texts = found.map(keyTexts);
  return (row) => partOf(texts.map((textAt) => textAt(row)));
}

/** Bytes of a key in memory, beside twice its characters: it is kept as it is and as it is looked up. */
const KEY_BYTES = 160;

/** The different keys of rows, and how many rows each has. */
class KeyTable {
  readonly #dimensions: readonly string[];
  readonly #bytesMax: number;
  readonly #numbers = new Map<string, number>();
  readonly #keys: PartitionKey[] = [];
  readonly #rows: number[] = [];
  #bytes = 0;

  constructor(dimensions: readonly string[], bytesMax: number) {
    this.#dimensions = dimensions;
    this.#bytesMax = bytesMax;
  }

  /** False: the keys take too much memory. */
  add({ columns, rowCount }: Frame): boolean {
    const found = this.#dimensions.map((name) => columns.find((column) => column.name === name));
    const [only] = found;
    const isDictionary = found.length === 1 && only?.kind === 'string';
    const numbers = new Int32Array(isDictionary ? only.dictionary.length : 0).fill(-1);
    const texts = found.map(keyTexts);
    for (let row = 0; row < rowCount; row++) {
      const id = isDictionary ? (only.ids[row] ?? 0) : 0;
      let number = numbers[id] ?? -1;
      if (number < 0) {
        number = this.#numberOf(texts.map((textAt) => textAt(row)));
        if (this.#bytes > this.#bytesMax) return false;
        if (isDictionary) numbers[id] = number;
      }
      this.#rows[number] = (this.#rows[number] ?? 0) + 1;
    }
    return true;
  }

  #numberOf(key: PartitionKey): number {
    const name = JSON.stringify(key);
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#keys.push(key) - 1;
    this.#numbers.set(name, number);
    this.#bytes += KEY_BYTES + 2 * name.length;
    return number;
  }

  /** The different keys in order, and the rows of each. */
  finish(): { readonly sorted: readonly PartitionKey[]; readonly rows: Float64Array } {
    const order = Array.from(this.#keys, (_, number) => number).sort((a, b) => compareKeys(this.#keys[a] ?? [], this.#keys[b] ?? []));
    return {
      sorted: order.map((number) => this.#keys[number] ?? []),
      rows: Float64Array.from(order, (number) => this.#rows[number] ?? 0),
    };
  }
}

/** Columns of the texts of dimensions, in their order, as keys compare them. */
export function keyFrame({ columns, rowCount }: Frame, dimensions: readonly string[]): Frame {
  return {
    rowCount,
    columns: dimensions.map((name): FrameColumn => {
      const column = columns.find((each) => each.name === name);
      if (column?.kind === 'string') return { kind: 'string', name, ids: column.ids, dictionary: column.dictionary };
      const textAt = keyTexts(column);
      const dictionary = Array.from({ length: rowCount }, (_, row) => textAt(row));
      return { kind: 'string', name, ids: Uint32Array.from(dictionary, (_, row) => row), dictionary };
    }),
  };
}

/** The text of each cell as a part of a key. */
export function keyTexts(column: FrameColumn | undefined): (row: number) => string | null {
  if (column === undefined) return () => null;
  if (column.kind === 'string') return (row) => column.dictionary[column.ids[row] ?? 0] ?? null;
  return (row) => keyText(column, row);
}

function keyText(column: FrameColumn, row: number): string | null {
  const cell = cellAt(column, row);
  if (cell === null || typeof cell === 'string') return cell;
  if (Array.isArray(cell))
    throw new ServiceError(
      'input_invalid',
      `partitionsSpec: the column "${column.name}" has rows of several values, which no order divides; use hashed partitions`,
    );
  return String(cell);
}

function rowsByPart(partByRow: Uint32Array, count: number): readonly Uint32Array[] {
  const counts = new Uint32Array(count);
  for (const part of partByRow) counts[part] = (counts[part] ?? 0) + 1;
  const rows = Array.from(counts, (length) => new Uint32Array(length));
  const filled = new Uint32Array(count);
  partByRow.forEach((part, row) => {
    const at = filled[part] ?? 0;
    const list = rows[part];
    if (list !== undefined) list[at] = row;
    filled[part] = at + 1;
  });
  return rows;
}

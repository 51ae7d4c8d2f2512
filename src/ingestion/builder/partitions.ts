// Divides the rows of a time chunk into segments by the values of their columns.

import { ServiceError } from '../../base/errors.js';
import { compareText } from '../../expression/ordering.js';
import { bucketOfText } from '../../expression/partition-bucket.js';
import { cellAt, type Frame, type FrameColumn } from '../../model/frame.js';
import { PARTITION_FUNCTION, type PartitionKey, type SegmentPart } from '../../model/segment.js';
import type { HashedPartitions, RangePartitions } from '../task-spec/partitions-spec.js';

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
 * @throws ServiceError `input_invalid` for rows of several values in a column whose order divides them
 */
export function partsOf(spec: HashedPartitions | RangePartitions, rowCount: number, frames: KeyFrames): readonly Part[] {
  return spec.kind === 'hashed' ? hashedParts(spec, rowCount, frames()) : rangeParts(spec, rowCount, frames());
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
  frames: Iterable<Frame>,
): readonly Part[] {
  const keys = new KeyTable(dimensions, rowCount);
  for (const frame of frames) keys.add(frame);
  const { places, sorted } = keys.finish();
  const rowsByPlace = new Float64Array(sorted.length);
  for (const place of places) rowsByPlace[place] = (rowsByPlace[place] ?? 0) + 1;
  const starts = bounds ?? boundsOf(sorted, rowsByPlace, { rowsPerSegment, isLimit });
  const partByPlace = new Uint32Array(sorted.length);
  let part = 0;
  for (const [place, key] of sorted.entries()) {
    for (let next = starts[part]; next !== undefined && compareKeys(key, next) >= 0; next = starts[part]) part++;
    partByPlace[place] = part;
  }
  return rowsByPart(
    places.map((place) => partByPlace[place] ?? 0),
    starts.length + 1,
  ).flatMap((rows, at) =>
    rows.length === 0
      ? []
      : [{ rows, at, part: { type: 'range', dimensions, isSingle, start: starts[at - 1] ?? null, end: starts[at] ?? null } }],
  );
}

/** Keys at which segments begin, the first segment apart. @param sorted  the different keys */
export function boundsOf(
  sorted: readonly PartitionKey[],
  rowsByKey: Float64Array,
  { rowsPerSegment, isLimit }: Pick<RangePartitions, 'rowsPerSegment' | 'isLimit'>,
): readonly PartitionKey[] {
  return cuts(rowsByKey, rowsPerSegment, isLimit)
    .slice(1)
    .map((place) => sorted[place] ?? []);
}

/** Nulls come first. */
export function compareKeys(a: PartitionKey, b: PartitionKey): number {
  for (const [at, left] of a.entries()) {
    const right = b[at] ?? null;
    if (left === right) continue;
    if (left === null) return -1;
    if (right === null) return 1;
    return compareText(left, right);
  }
  return 0;
}

/** Places of keys at which segments begin; the first is 0. */
function cuts(rowsByPlace: Float64Array, rowsPerSegment: number, isLimit: boolean): readonly number[] {
  const total = rowsByPlace.reduce((sum, rows) => sum + rows, 0);
  // Segments of about equal size rather than a small last one.
  const size = isLimit ? rowsPerSegment : total / Math.max(1, Math.round(total / rowsPerSegment));
  const starts = [0];
  let rows = 0;
  rowsByPlace.forEach((added, place) => {
    const isOver = isLimit ? rows + added > size : rows + added / 2 > size;
    if (rows > 0 && isOver) {
      starts.push(place);
      rows = 0;
    }
    rows += added;
  });
  return starts;
}

/** The different keys of rows, and which each row has. */
class KeyTable {
  readonly #dimensions: readonly string[];
  readonly #keyByRow: Uint32Array;
  readonly #numbers = new Map<string, number>();
  readonly #keys: PartitionKey[] = [];
  #rows = 0;

  constructor(dimensions: readonly string[], rowCount: number) {
    this.#dimensions = dimensions;
    this.#keyByRow = new Uint32Array(rowCount);
  }

  add({ columns, rowCount }: Frame): void {
    const found = this.#dimensions.map((name) => columns.find((column) => column.name === name));
    const [only] = found;
    if (found.length === 1 && only?.kind === 'string') {
      const numbers = new Int32Array(only.dictionary.length).fill(-1);
      for (let row = 0; row < rowCount; row++) {
        const id = only.ids[row] ?? 0;
        if (numbers[id] === -1) numbers[id] = this.#numberOf([only.dictionary[id] ?? null]);
        this.#keyByRow[this.#rows++] = numbers[id] ?? 0;
      }
      return;
    }
    const texts = found.map(keyTexts);
    for (let row = 0; row < rowCount; row++) this.#keyByRow[this.#rows++] = this.#numberOf(texts.map((textAt) => textAt(row)));
  }

  #numberOf(key: PartitionKey): number {
    const name = JSON.stringify(key);
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#keys.push(key) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** The different keys in order, and the place among them of each row's. */
  finish(): { readonly places: Uint32Array; readonly sorted: readonly PartitionKey[] } {
    const order = Array.from(this.#keys, (_, number) => number).sort((a, b) => compareKeys(this.#keys[a] ?? [], this.#keys[b] ?? []));
    const placeOf = new Uint32Array(order.length);
    for (const [place, number] of order.entries()) placeOf[number] = place;
    return { places: this.#keyByRow.map((number) => placeOf[number] ?? 0), sorted: order.map((number) => this.#keys[number] ?? []) };
  }
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

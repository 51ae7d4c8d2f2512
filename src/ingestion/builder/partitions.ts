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
  readonly part: SegmentPart;
}

/**
 * Divides the rows of a frame. A column that is named and not there is null in every row.
 * @throws ServiceError `input_invalid` for rows of several values in a column whose order divides them
 */
export function partsOf(spec: HashedPartitions | RangePartitions, frame: Frame): readonly Part[] {
  return spec.kind === 'hashed' ? hashedParts(spec, frame) : rangeParts(spec, frame);
}

/** Whether the rows can be divided so: rows of several values have no place in an order. */
export function isDividable(spec: HashedPartitions | RangePartitions, { columns }: Frame): boolean {
  if (spec.kind === 'hashed' || spec.refusesMultiValues) return true;
  return !columns.some(({ name, kind }) => kind === 'multi' && spec.dimensions.includes(name));
}

function hashedParts({ numShards, targetRowsPerSegment, dimensions }: HashedPartitions, frame: Frame): readonly Part[] {
  const numBuckets = numShards ?? Math.max(1, Math.ceil(frame.rowCount / targetRowsPerSegment));
  const columns = dimensions.length === 0 ? frame.columns : dimensions.map((name) => frame.columns.find((column) => column.name === name));
  const texts = columns.map(cellTexts);
  const bucketByRow = new Uint32Array(frame.rowCount);
  const known = new Map<string, number>();
  for (let row = 0; row < frame.rowCount; row++) {
    const key = `[${texts.map((textAt) => textAt(row)).join(',')}]`;
    let bucket = known.get(key);
    if (bucket === undefined) {
      bucket = bucketOfText(key, numBuckets);
      if (known.size < KEYS_KEPT) known.set(key, bucket);
    }
    bucketByRow[row] = bucket;
  }
  const common = { type: 'hashed', numBuckets, partitionDimensions: dimensions, partitionFunction: PARTITION_FUNCTION } as const;
  return rowsByPart(bucketByRow, numBuckets).flatMap((rows, bucketId) =>
    rows.length === 0 ? [] : [{ rows, part: { ...common, bucketId } }],
  );
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

function rangeParts({ dimensions, isSingle, rowsPerSegment, isLimit }: RangePartitions, frame: Frame): readonly Part[] {
  const { places, firstRows } = keyPlaces(
    dimensions.map((name) => frame.columns.find((column) => column.name === name)),
    frame.rowCount,
  );
  const rowsByPlace = new Uint32Array(firstRows.length);
  for (const place of places) rowsByPlace[place] = (rowsByPlace[place] ?? 0) + 1;
  const starts = cuts(rowsByPlace, rowsPerSegment, isLimit);
  const partByPlace = new Uint32Array(firstRows.length);
  for (let place = 0, part = 0; place < partByPlace.length; place++) {
    if (starts[part + 1] === place) part++;
    partByPlace[place] = part;
  }
  const keyAt = (place: number | undefined): PartitionKey | null =>
    place === undefined
      ? null
      : dimensions.map((name) => {
          const column = frame.columns.find((each) => each.name === name);
          return column === undefined ? null : keyText(column, firstRows[place] ?? 0);
        });
  return rowsByPart(
    places.map((place) => partByPlace[place] ?? 0),
    starts.length,
  ).map((rows, part) => ({
    rows,
    part: { type: 'range', dimensions, isSingle, start: part === 0 ? null : keyAt(starts[part]), end: keyAt(starts[part + 1]) },
  }));
}

/** Places of keys at which segments begin; the first is 0. */
function cuts(rowsByPlace: Uint32Array, rowsPerSegment: number, isLimit: boolean): readonly number[] {
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

/** The place of each row's key among the different keys, in their order, and a row of each. */
function keyPlaces(
  columns: readonly (FrameColumn | undefined)[],
  rowCount: number,
): { readonly places: Uint32Array; readonly firstRows: Uint32Array } {
  let places: Float64Array = new Float64Array(rowCount);
  let firstRows = new Uint32Array(rowCount === 0 ? 0 : 1);
  for (const column of columns) {
    if (column === undefined) continue;
    const { ranks, count } = ranksOf(column, rowCount);
    const keys = places.map((place, row) => place * count + (ranks[row] ?? 0));
    const distinct = keys.toSorted();
    let different = 0;
    for (const key of distinct) if (different === 0 || key !== distinct[different - 1]) distinct[different++] = key;
    places = keys.map((key) => placeOf(key, distinct, different));
    firstRows = new Uint32Array(different);
    for (let row = rowCount - 1; row >= 0; row--) firstRows[places[row] ?? 0] = row;
  }
  return { places: Uint32Array.from(places), firstRows };
}

/** @param sorted  of which the first `count` differ */
function placeOf(key: number, sorted: Float64Array, count: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of each row's text among the different ones of the column; null comes first. */
function ranksOf(column: FrameColumn, rowCount: number): { readonly ranks: Uint32Array; readonly count: number } {
  const texts = Array.from({ length: column.kind === 'string' ? column.dictionary.length : rowCount }, (_, at) =>
    column.kind === 'string' ? (column.dictionary[at] ?? null) : keyText(column, at),
  );
  const sorted = [...new Set(texts)].sort((a, b) => (a === null ? (b === null ? 0 : -1) : b === null ? 1 : compareText(a, b)));
  const rankOf = new Map(sorted.map((text, rank) => [text, rank]));
  const ranks = Uint32Array.from(texts, (text) => rankOf.get(text) ?? 0);
  return {
    ranks: column.kind === 'string' ? column.ids.map((id) => ranks[id] ?? 0) : ranks,
    count: Math.max(1, sorted.length),
  };
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

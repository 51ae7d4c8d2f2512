// Post-processing step that adds a row for each empty time bucket.

import { assert, ServiceError } from '../../base/errors.js';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { convert, textOfValue, type Value } from '../../expression/value.js';
import { bucketBoundaries, type Granularity, nextBucketStart } from '../../model/granularity.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { columnNamed, type ResultColumn, type ResultTable } from '../block/result-table.js';
import type { LeafResult } from './leaf-result.js';

const FILLED_BUCKETS_MAX = 10_000_000;

/** Stands for the row of a bucket that no row fell into. */
const NO_ROW = -1;

/** One row for every bucket that meets the intervals: the table's, or one of empty values, which mostly are null. */
export function fillBuckets(table: ResultTable, bucket: string, granularity: Granularity, leaf: LeafResult): ResultTable {
  const { check } = leaf;
  const buckets = columnNamed(table, bucket);
  assert(buckets.kind === 'long', `bucket column ${bucket} is not LONG`);
  const rowOf = new Map<number, number>();
  buckets.values.forEach((start, row) => {
    if (row % ROWS_PER_CHECK === 0) check();
    rowOf.set(Number(start), row);
  });
  const starts = wantedBuckets(granularity, leaf.intervals, [...rowOf.keys()], check);
  const rows = new Int32Array(starts.length);
  let isAsItWas = starts.length === table.rowCount;
  checkedLoop(starts.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      rows[at] = rowOf.get(starts[at] ?? 0) ?? NO_ROW;
      if (rows[at] !== at) isAsItWas = false;
    }
  });
  if (isAsItWas) return table;
  const columns = table.columns.map((column): ResultColumn => {
    if (column.name !== bucket) return filledColumn(column, rows, leaf.emptyValues.get(column.name) ?? null, check);
    const values = new BigInt64Array(starts.length);
    checkedLoop(starts.length, check, (start, end) => {
      for (let at = start; at < end; at++) values[at] = BigInt(starts[at] ?? 0);
    });
    return { ...column, kind: 'long', values, nulls: null };
  });
  return { ...table, rowCount: starts.length, columns };
}

/** Ascending starts of buckets. An interval that is open at an end is filled only as far as there are rows. */
function wantedBuckets(granularity: Granularity, intervals: readonly Interval[], present: readonly number[], check: Check): Float64Array {
  const found = Float64Array.from(present).sort();
  const [first] = found;
  const last = found.at(-1);
  if (granularity.kind === 'none') return intervals.length === 0 ? new Float64Array(0) : found;
  // Intervals are sorted and disjoint, so starts only ascend; two of them may share a bucket.
  const wanted: number[] = [];
  const want = (start: number): void => {
    if (start === wanted.at(-1)) return;
    if (wanted.length % ROWS_PER_CHECK === 0) check();
    if (wanted.length === FILLED_BUCKETS_MAX)
      throw new ServiceError(
        'resource_limit',
        `the intervals have more than ${FILLED_BUCKETS_MAX} buckets; choose a coarser granularity or skipEmptyBuckets`,
      );
    wanted.push(start);
  };
  for (const interval of intervals) {
    const start = interval.start > ETERNITY.start ? interval.start : first;
    const end =
      interval.end < ETERNITY.end
        ? interval.end
        : last === undefined
          ? undefined
          : Math.min(ETERNITY.end, nextBucketStart(granularity, last));
    if (start === undefined || end === undefined || start >= end) continue;
    if (granularity.kind === 'all') want(interval.start);
    else for (const boundary of bucketBoundaries(granularity, { start, end }, FILLED_BUCKETS_MAX).subarray(0, -1)) want(Number(boundary));
  }
  return Float64Array.from(wanted);
}

/** @param rows  row of the column for each row of the result, or `NO_ROW` */
function filledColumn(column: ResultColumn, rows: Int32Array, empty: Value, check: Check): ResultColumn {
  const { length } = rows;
  const nulls = new Uint8Array(length);
  let anyNull = false;
  const fill = (write: (at: number, row: number) => void, known: Uint8Array | null): void =>
    checkedLoop(length, check, (start, end) => {
      for (let at = start; at < end; at++) {
        const row = rows[at] ?? NO_ROW;
        const isNull = row === NO_ROW ? empty === null : known?.[row] === 1;
        if (isNull) {
          nulls[at] = 1;
          anyNull = true;
        } else if (row !== NO_ROW) write(at, row);
      }
    });
  switch (column.kind) {
    case 'long': {
      const values = new BigInt64Array(length).fill(convert(empty, 'LONG') ?? 0n);
      fill((at, row) => {
        values[at] = column.values[row] ?? 0n;
      }, column.nulls);
      return { ...column, values, nulls: anyNull ? nulls : null };
    }
    case 'double': {
      const values = new Float64Array(length).fill(convert(empty, 'DOUBLE') ?? 0);
      fill((at, row) => {
        values[at] = column.values[row] ?? 0;
      }, column.nulls);
      return { ...column, values, nulls: anyNull ? nulls : null };
    }
    case 'string': {
      // No dictionary has so many entries.
      const none = 0xffffffff;
      const emptyText = textOfValue(empty, column.type ?? 'STRING');
      const ids = new Uint32Array(length).fill(none);
      checkedLoop(length, check, (start, end) => {
        for (let at = start; at < end; at++) {
          const row = rows[at] ?? NO_ROW;
          if (row !== NO_ROW) ids[at] = column.ids[row] ?? none;
        }
      });
      return { ...column, packed: undefined, ids, text: (id) => (id === none ? emptyText : column.text(id)) };
    }
    case 'multi':
      throw new ServiceError('unsupported', `multi-value column "${column.name}" cannot be filled with empty buckets`);
  }
}

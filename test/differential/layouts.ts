import type { Fields, Json } from './case.js';
import { type DifferentialTable, nasty } from './tables.js';

/** The rows of `nasty` as they may lie in segments: every request has the same answer over all of these tables. */

/** Nulls first, numbers by value, strings by their UTF-16. */
function compareValues(left: Json | undefined, right: Json | undefined): number {
  const [a, b] = [left ?? null, right ?? null];
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

function sortedBy(rows: readonly Fields[], keyOf: (row: Fields) => readonly (Json | undefined)[]): Fields[] {
  return rows.toSorted((left, right) => {
    const [a, b] = [keyOf(left), keyOf(right)];
    return a.reduce<number>((order, value, at) => order || compareValues(value, b[at]), 0);
  });
}

/** Pieces of such lengths, again and again. */
function cut(rows: readonly Fields[], ...lengths: readonly number[]): Fields[][] {
  const pieces: Fields[][] = [];
  for (let start = 0; start < rows.length; ) {
    const length = lengths[pieces.length % lengths.length] ?? rows.length;
    pieces.push(rows.slice(start, start + length));
    start += length;
  }
  return pieces;
}

/** Rows alike in something, in the order in which they come. */
function grouped(rows: readonly Fields[], keyOf: (row: Fields) => string): Fields[][] {
  const groups = new Map<string, Fields[]>();
  for (const row of rows) {
    const key = keyOf(row);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

/** Segments of `size` times as many rows as those of 300 rows, but for some that stay as small as they are. */
function segmentsOf(rows: readonly Fields[], size: number) {
  return {
    /** All others are compared with it. */
    whole: [rows],
    /** From one row to fifty. */
    uneven: cut(rows, 1, 2, 50 * size, 3, 1, 20 * size, 7, 40 * size),
    /** One value of `k` each, or two. */
    rising: cut(
      sortedBy(rows, ({ k, n }) => [k, n]),
      19 * size,
      25 * size,
    ),
    /** The largest numbers first, which later segments do not reach. */
    falling: cut(sortedBy(rows, ({ n, x }) => [n, x]).reverse(), 17 * size, 30 * size),
    /** Strings of their own each. */
    spread: cut(sortedBy(rows, ({ s }) => [s]).toReversed(), 23 * size),
    /** Some columns are missing in whole segments. */
    lacking: grouped(rows, (row) => ['k', 'n', 'x', 'mv'].map((name) => Number((row[name] ?? null) === null)).join('')),
    /** Times ascend, and segments do not overlap. */
    backwards: cut(
      sortedBy(rows, ({ t }) => [Date.parse(String(t))]),
      13 * size,
      31 * size,
    ),
    /** Time chunks with one segment each, which are read as one where they are small. */
    chunks: [rows],
    /** Time chunks with two segments. */
    doubled: cut(rows, 150 * size),
  } as const satisfies Readonly<Record<string, readonly (readonly Fields[])[]>>;
}

export type Layout = keyof ReturnType<typeof segmentsOf>;

export const LAYOUTS = Object.keys(segmentsOf([], 1)) as readonly Layout[];

/** The table of a layout, under a name of its own. */
export function laidOut(layout: Layout, { name = `nasty_${layout}`, rowCount = 300 } = {}): DifferentialTable {
  const table = nasty(rowCount);
  const segments = segmentsOf(table.segments.flat(), Math.ceil(rowCount / 300))[layout];
  return { ...table, name, segments, ...(layout === 'chunks' || layout === 'doubled' ? { segmentGranularity: 'YEAR' } : {}) };
}

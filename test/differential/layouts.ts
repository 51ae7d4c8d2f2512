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

const ROWS = nasty().segments.flat();

const SEGMENTS = {
  /** All others are compared with it. */
  whole: [ROWS],
  /** From one row to fifty. */
  uneven: cut(ROWS, 1, 2, 50, 3, 1, 20, 7, 40),
  /** One value of `k` each, or two. */
  rising: cut(
    sortedBy(ROWS, ({ k, n }) => [k, n]),
    19,
    25,
  ),
  /** The largest numbers first, which later segments do not reach. */
  falling: cut(sortedBy(ROWS, ({ n, x }) => [n, x]).reverse(), 17, 30),
  /** One row is the best in all, and another the worst. */
  spread: cut(sortedBy(ROWS, ({ s }) => [s]).toReversed(), 23),
  /** Some columns are missing in whole segments. */
  lacking: grouped(ROWS, (row) => ['k', 'n', 'x', 'mv'].map((name) => Number((row[name] ?? null) === null)).join('')),
  /** Times ascend, and segments do not overlap. */
  backwards: cut(
    sortedBy(ROWS, ({ t }) => [Date.parse(String(t))]),
    13,
    31,
  ),
} as const satisfies Readonly<Record<string, readonly (readonly Fields[])[]>>;

/** Segments of time chunks: where there is one in each, they are read as one. */
const CHUNKS = { chunks: [ROWS], doubled: cut(ROWS, 150) } as const;

export type Layout = keyof typeof SEGMENTS | keyof typeof CHUNKS;

export const LAYOUTS = Object.keys({ ...SEGMENTS, ...CHUNKS }) as readonly Layout[];

/** The table of a layout, under a name of its own. */
export function laidOut(layout: Layout, name = `nasty_${layout}`): DifferentialTable {
  return layout === 'chunks' || layout === 'doubled'
    ? { ...nasty(), name, segments: CHUNKS[layout], segmentGranularity: 'YEAR' }
    : { ...nasty(), name, segments: SEGMENTS[layout] };
}

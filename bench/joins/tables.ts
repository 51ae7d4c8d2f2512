import type { Frame, FrameColumn } from '../../src/model/frame.js';

/**
 * Seeded tables of a star: `fact`, `dim` (10,000 rows, each of the fact's codes and numbers once) and `other`, which has
 * each row number of the fact once, in another order. The same row count gives the same rows in every engine.
 */
export interface JoinTables {
  readonly fact: Frame;
  readonly dim: Frame;
  readonly other: Frame;
}

const DIM_ROWS = 10_000;
const REGIONS = ['north', 'south', 'east', 'west', 'centre', 'islands', 'coast', 'hills', 'plain', 'delta'] as const;

/** A permutation of 0 … n - 1 by an odd factor, for n that it does not divide. */
function shuffled(row: number, n: number): number {
  return Number((BigInt(row) * 7_919n) % BigInt(n));
}

function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function makeTables(rows: number): JoinTables {
  const random = randomOf(42);
  const dims = Uint32Array.from({ length: rows }, () => random(DIM_ROWS));
  const codes = Array.from({ length: DIM_ROWS }, (_, dim) => `code-${dim}`);
  const fact: Frame = {
    rowCount: rows,
    columns: [
      longs('__time', rows, (row) => 1_700_000_000_000 + row),
      longs('id', rows, (row) => row),
      longs('dimId', rows, (row) => (dims[row] ?? 0) + 1_000),
      { kind: 'string', name: 'code', ids: dims, dictionary: codes },
      longs('amount', rows, () => random(1000)),
    ],
  };
  const dim: Frame = {
    rowCount: DIM_ROWS,
    columns: [
      longs('dimId', DIM_ROWS, (row) => row + 1_000),
      { kind: 'string', name: 'code', ids: Uint32Array.from({ length: DIM_ROWS }, (_, row) => row), dictionary: codes },
      { kind: 'string', name: 'region', ids: Uint32Array.from({ length: DIM_ROWS }, (_, row) => row % 10), dictionary: REGIONS },
      longs('weight', DIM_ROWS, (row) => row % 97),
    ],
  };
  const other: Frame = {
    rowCount: rows,
    columns: [longs('id', rows, (row) => shuffled(row, rows)), longs('score', rows, (row) => row % 1_009)],
  };
  return { fact, dim, other };
}

function longs(name: string, rows: number, value: (row: number) => number): FrameColumn {
  return { kind: 'long', name, values: BigInt64Array.from({ length: rows }, (_, row) => BigInt(value(row))), nulls: null };
}

export function sliceRows(frame: Frame, start: number, end: number): Frame {
  return {
    rowCount: end - start,
    columns: frame.columns.map((column) => {
      if (column.kind === 'string') return { ...column, ids: column.ids.slice(start, end) };
      if (column.kind === 'long') return { ...column, values: column.values.slice(start, end) };
      throw new TypeError(`tables have no column of kind ${column.kind}`);
    }),
  };
}

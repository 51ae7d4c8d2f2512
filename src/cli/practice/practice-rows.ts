// Rows of the table that practice reads.

import type { Frame, FrameColumn } from '../../model/frame.js';
import { TIME_COLUMN } from '../../model/schema.js';

/** Name of the table. */
export const TABLE = 'practice';
/** Days that it has rows of, a segment each. */
export const DAYS = 3;
export const FIRST_DAY = Date.UTC(2024, 0, 1);
export const DAY_MS = 86_400_000;
/** Rows of a day: a segment of few rows would be read together with its neighbours. */
const ROWS = 8192;

/** Columns of strings, which are its dimensions. */
export const DIMENSIONS = ['kind', 'place', 'visitor', 'tags'];

/** Different values, how many there are of each column. */
const KINDS = 5;
const PLACES = 200;
const VISITORS = 4000;
const TAGS = 30;
/** One value in so many is null. */
const NULL_EACH = 11;

/** The rows of a day: strings of few and of many values, lists, and numbers of every type, some of them null. */
export function practiceRows(day: number): Frame {
  const from = FIRST_DAY + day * DAY_MS;
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  // Multiplied by primes, so that columns do not follow from one another.
  const drawn = (row: number, prime: number, count: number): number => ((row + day * ROWS + 1) * prime) % count;
  const strings = (name: string, prime: number, count: number): FrameColumn => ({
    kind: 'string',
    name,
    ids: Uint32Array.from(rows, (row) => (drawn(row, prime, NULL_EACH) === 0 ? count : drawn(row, prime, count))),
    dictionary: [...Array.from({ length: count }, (_, at) => `${name} ${at}`), null],
  });
  // No, one and two tags in turn.
  const offsets = Uint32Array.from({ length: ROWS + 1 }, (_, row) => row - (row % 3) + (row % 3 === 2 ? 1 : 0));
  return {
    rowCount: ROWS,
    columns: [
      longs(TIME_COLUMN, rows, (row) => from + Math.floor((row * DAY_MS) / ROWS), null),
      strings('kind', 7919, KINDS),
      strings('place', 104_729, PLACES),
      strings('visitor', 15_485_863, VISITORS),
      {
        kind: 'multi',
        name: 'tags',
        offsets,
        ids: Uint32Array.from({ length: offsets[ROWS] ?? 0 }, (_, at) => drawn(at, 1299, TAGS)),
        dictionary: Array.from({ length: TAGS }, (_, at) => `tag ${at}`),
      },
      longs(
        'amount',
        rows,
        (row) => drawn(row, 7919, 1000) - 300,
        nullsOf(rows, (row) => drawn(row, 31, NULL_EACH) === 0),
      ),
      longs('large', rows, (row) => drawn(row, 6_700_417, 2 ** 40), null),
      {
        kind: 'double',
        name: 'price',
        type: 'DOUBLE',
        values: Float64Array.from(rows, (row) => drawn(row, 104_729, 10_000) / 100),
        nulls: null,
      },
      {
        kind: 'double',
        name: 'ratio',
        type: 'FLOAT',
        values: Float64Array.from(rows, (row) => (drawn(row, 37, NULL_EACH) === 0 ? 0 : Math.fround(drawn(row, 7919, 100) / 100))),
        nulls: nullsOf(rows, (row) => drawn(row, 37, NULL_EACH) === 0),
      },
    ],
  };
}

function longs(name: string, rows: readonly number[], valueOf: (row: number) => number, nulls: Uint32Array | null): FrameColumn {
  const isNull = (row: number): boolean => nulls !== null && ((nulls[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  return { kind: 'long', name, values: BigInt64Array.from(rows, (row) => (isNull(row) ? 0n : BigInt(valueOf(row)))), nulls };
}

function nullsOf(rows: readonly number[], isNull: (row: number) => boolean): Uint32Array {
  const nulls = new Uint32Array(Math.ceil(rows.length / 32));
  for (const row of rows) if (isNull(row)) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  return nulls;
}

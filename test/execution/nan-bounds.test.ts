import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Filter } from '../../src/model/filter.js';
import type { FrameColumn } from '../../src/model/frame.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { engine, memory, never, options, rowsOf, scanOf } from './scanning.js';

const bounds = suite('NaN as a constant beside numbers: above all of them, and equal to itself');

const WITH_NAN = [Number.NaN, 0, -0, 1.5, Infinity, null, -Infinity, Number.NaN, 3];
const DECIMALS = [0.1, 0.2, null, 7.5, 0.1, 2, 2, 9.25, 1];
const WHOLE = [1, 2, null, 3, 4, 5, 6, 7, -8];

function doubles(name: string, type: 'FLOAT' | 'DOUBLE', cells: readonly (number | null)[]): FrameColumn {
  return { kind: 'double', name, type, values: Float64Array.from(cells, (cell) => cell ?? 0), nulls: nullsOf(cells) };
}

function nullsOf(cells: readonly (number | null)[]): Uint32Array {
  const nulls = new Uint32Array(2);
  cells.forEach((cell, row) => {
    if (cell === null) nulls[0] = (nulls[0] ?? 0) | (1 << row);
  });
  return nulls;
}

const COLUMNS = new Map<string, readonly (number | null)[]>([
  ['double', WITH_NAN],
  ['float', WITH_NAN],
  ['decimal', DECIMALS],
  ['long', WHOLE],
]);
const frame = {
  rowCount: WITH_NAN.length,
  columns: [
    doubles('double', 'DOUBLE', WITH_NAN),
    doubles('float', 'FLOAT', WITH_NAN),
    doubles('decimal', 'DOUBLE', DECIMALS),
    { kind: 'long', name: 'long', values: BigInt64Array.from(WHOLE, (cell) => BigInt(cell ?? 0)), nulls: nullsOf(WHOLE) } as const,
  ],
};

/** Order of two numbers, NaN last. */
function order(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const range = {
  kind: 'range',
  type: 'DOUBLE',
  ordering: 'numeric',
  lower: null,
  upper: null,
  lowerStrict: false,
  upperStrict: false,
} as const;
const CASES: readonly (readonly [name: string, filter: (column: string) => Filter, holds: (value: number) => boolean])[] = [
  ['< NaN', (column) => ({ ...range, column, upper: Number.NaN, upperStrict: true }), (value) => !Number.isNaN(value)],
  ['<= NaN', (column) => ({ ...range, column, upper: Number.NaN }), () => true],
  ['> NaN', (column) => ({ ...range, column, lower: Number.NaN, lowerStrict: true }), () => false],
  ['>= NaN', (column) => ({ ...range, column, lower: Number.NaN }), (value) => Number.isNaN(value)],
  ['= NaN', (column) => ({ kind: 'equals', column, type: 'DOUBLE', value: Number.NaN }), (value) => Number.isNaN(value)],
  [
    'IN (NaN, 3, 2)',
    (column) => ({ kind: 'in', column, type: 'DOUBLE', values: [Number.NaN, 3, 2] }),
    (value) => [Number.NaN, 3, 2].includes(value),
  ],
  ['IN (NaN, NaN)', (column) => ({ kind: 'in', column, type: 'DOUBLE', values: [Number.NaN, Number.NaN] }), (value) => Number.isNaN(value)],
  ['from 1 to NaN', (column) => ({ ...range, column, lower: 1, upper: Number.NaN }), (value) => order(value, 1) >= 0],
  ['from 1 to below NaN', (column) => ({ ...range, column, lower: 1, upper: Number.NaN, upperStrict: true }), (value) => value >= 1],
  ['from NaN to 1', (column) => ({ ...range, column, lower: Number.NaN, upper: 1 }), () => false],
  ['from NaN to NaN', (column) => ({ ...range, column, lower: Number.NaN, upper: Number.NaN }), (value) => Number.isNaN(value)],
  ['> infinity', (column) => ({ ...range, column, lower: Infinity, lowerStrict: true }), (value) => Number.isNaN(value)],
  ['above no number', (column) => ({ ...range, column, lower: 'x' }), () => false],
];

for (const [name, filterOf, holds] of CASES) {
  bounds(`${name}, and not`, async () => {
    const { view, release } = uploadFrame(frame, memory);
    try {
      for (const [column, cells] of COLUMNS)
        for (const isNegated of [false, true]) {
          const compared = filterOf(column);
          const filter: Filter = isNegated ? { kind: 'not', filter: compared } : compared;
          const expected = cells.filter((cell) => cell !== null && holds(cell) !== isNegated);
          const found = await rowsOf(engine.runViews(scanOf([column], { filter }), [view], options(), never));
          const numbers = found.map(([cell]) => Number(cell));
          assert.is(numbers.join(), expected.join(), `${isNegated ? 'not ' : ''}${column} ${name}`);
        }
    } finally {
      release();
    }
  });
}

bounds.run();

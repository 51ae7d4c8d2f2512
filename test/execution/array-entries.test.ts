import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { type ArrayElement, arrayText } from '../../src/model/array-text.js';
import { call, type Expression, long, text } from '../../src/model/expression.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { ArrayType, ColumnType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { DAY, openWorkbench, type Workbench } from '../storage/workbench.js';

/** Lengths, places and conditions of stored arrays of numbers, against the arrays themselves. */
const entries = suite<{ bench: Workbench }>('entries that are arrays');

entries.before.each((context) => {
  context.bench = openWorkbench();
});
entries.after.each(({ bench }) => bench.close());

type Numbers = readonly (bigint | number | null)[] | null;
const ROWS = 3000;

/** Arrays of up to four elements, mostly distinct, some null or empty, with nulls in them. */
function arraysOf(element: (drawn: number) => bigint | number): Numbers[] {
  return Array.from({ length: ROWS }, (_, row) => {
    if (row % 41 === 0) return null;
    return Array.from({ length: (row * 7) % 5 }, (_, place) => {
      const drawn = (row * 7919 + place * 104_729) % 1009;
      return drawn % 13 === 0 ? null : element(drawn);
    });
  });
}

const LONGS = arraysOf((drawn) => (drawn === 1 ? -(2n ** 63n) : drawn === 2 ? 2n ** 63n - 1n : BigInt((drawn % 50) - 20)));
const DOUBLES = arraysOf((drawn) => (drawn % 50 === 0 ? -0 : drawn % 50 === 1 ? -1e300 : (drawn % 50) / 4 - 3));

function frameOf(arrays: readonly Numbers[], type: ArrayType): Frame {
  const texts = arrays.map((each) => (each === null ? null : arrayText(each as readonly ArrayElement[], type)));
  const dictionary = [...new Set(texts)];
  return {
    rowCount: arrays.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(arrays, (_, row) => BigInt(DAY.start + row)), nulls: null },
      { kind: 'string', name: 'a', type, ids: Uint32Array.from(texts, (text) => dictionary.indexOf(text)), dictionary },
    ],
  };
}

const A: Expression = { kind: 'column', name: 'a' };

function placeOf(array: Numbers, value: bigint | number, first: number): bigint | null {
  const place = array?.indexOf(value) ?? -1;
  return place < 0 ? null : BigInt(place + first);
}

/** An array as array_to_string writes it; null for an array of one null. */
function joined(array: Numbers): string | null {
  if (array === null || (array.length === 1 && array[0] === null)) return null;
  return array.map((each) => (typeof each === 'number' ? textOfDouble(each) : String(each))).join('; ');
}

function textOfDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return value === -1e300 ? '-1.0E300' : Number.isInteger(value) ? `${value}.0` : String(value);
}

async function valuesOf({ memory }: Workbench, frame: Frame, plan: Partial<ScanPlan>): Promise<unknown[][]> {
  const engine = createEngine({ kernels: 'simd', threads: 0, memory });
  const placed = uploadFrame(frame, memory);
  const scan: ScanPlan = {
    operator: 'scan',
    dataSource: 'test',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    columns: [],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
    ...plan,
  };
  const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'simd', batchRows: null } as const;
  const rows: unknown[][] = [];
  try {
    for await (const found of engine.runViews(scan, [placed.view], options, new AbortController().signal))
      for (let row = 0; row < found.rowCount; row++) rows.push(found.columns.map((column) => cellAt(column, row)));
    return rows;
  } finally {
    placed.release();
    await engine.close();
  }
}

for (const { type, arrays, wanted } of [
  { type: 'ARRAY<LONG>', arrays: LONGS, wanted: [5n, -20n, 2n ** 63n - 1n] },
  { type: 'ARRAY<DOUBLE>', arrays: DOUBLES, wanted: [1.25, -1e300, 0] },
] as const) {
  const element: ColumnType = type === 'ARRAY<LONG>' ? 'LONG' : 'DOUBLE';
  const constant = (value: bigint | number): Expression => ({ kind: 'literal', type: element, value });
  const list: Expression = { kind: 'literal', type, value: arrayText(wanted, type) };

  entries(`${type}: lengths, places and conditions`, async ({ bench }) => {
    const columns: [string, Expression, ColumnType, (array: Numbers) => unknown][] = [
      ['length', call('array_length', A), 'LONG', (array) => (array === null ? null : BigInt(array.length))],
      ['first', call('array_offset', A, long(0)), element, (array) => array?.[0] ?? null],
      ['third', call('array_ordinal', A, long(3)), element, (array) => array?.[2] ?? null],
      ['beyond', call('array_offset', A, long(99)), element, () => null],
      ['doubled', call('*', call('array_length', A), long(2)), 'LONG', (array) => (array === null ? null : BigInt(array.length * 2))],
      ...wanted.map((value, at): [string, Expression, ColumnType, (array: Numbers) => unknown] => [
        `offset of ${at}`,
        call('array_offset_of', A, constant(value)),
        'LONG',
        (array) => placeOf(array, value, 0),
      ]),
      ['ordinal of', call('array_ordinal_of', A, constant(wanted[0])), 'LONG', (array) => placeOf(array, wanted[0], 1)],
      ['joined', call('array_to_string', A, text('; ')), 'STRING', joined],
      ...wanted.map((value, at): [string, Expression, ColumnType, (array: Numbers) => unknown] => [
        `contains ${at}`,
        call('array_contains', A, constant(value)),
        'LONG',
        (array) => (array === null ? null : array.some((each) => each === value) ? 1n : 0n),
      ]),
      [
        'overlap',
        call('array_overlap', A, list),
        'LONG',
        (array) => (array === null ? null : array.some((each) => wanted.some((value) => value === each)) ? 1n : 0n),
      ],
    ];
    const found = await valuesOf(bench, frameOf(arrays, type), {
      virtualColumns: columns.map(([name, expression, outputType]) => ({ name, expression, outputType })),
      columns: columns.map(([name]) => name),
    });
    arrays.forEach((array, row) => {
      columns.forEach(([name, , , expected], at) => {
        // 0 and -0 are one number here.
        const [one, other] = [found[row]?.[at], expected(array)].map((each) => (each === 0 ? 0 : each));
        assert.is(one, other, `${name} of row ${row}`);
      });
    });
  });

  entries(`${type}: elements of rows, one behind the other`, async ({ bench }) => {
    const found = await valuesOf(bench, frameOf(arrays, type), {
      stages: [{ kind: 'unnest', column: { name: 'e', expression: A, outputType: null } }],
      columns: ['__time', 'e'],
    });
    const expected = arrays.flatMap((array, row) => (array ?? []).map((each) => [BigInt(DAY.start + row), each]));
    assert.equal(found, expected);
  });
}

entries.run();

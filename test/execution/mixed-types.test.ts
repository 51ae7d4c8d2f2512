import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { arrayElements, arrayText } from '../../src/model/array-text.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameColumn } from '../../src/model/frame.js';
import type { RowPlan, ScanPlan } from '../../src/model/plan.js';
import { type ArrayType, isArrayType, JSON_TYPE, type TextType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

/** Segments may store one column in different types; over all of them it is of the least type that holds their values. */
const mixed = suite('a column of different types');

const longs = (...values: readonly (bigint | null)[]): FrameColumn => ({
  kind: 'long',
  name: 'v',
  values: BigInt64Array.from(values, (value) => value ?? 0n),
  nulls: Uint32Array.of(values.reduce((bits, value, row) => (value === null ? bits | (1 << row) : bits), 0)),
});
const texts = (type: TextType, ...values: readonly (string | null)[]): FrameColumn => ({
  kind: 'string',
  name: 'v',
  type,
  ids: Uint32Array.from(values, (_, row) => row),
  dictionary: values,
});
const strings = (...values: readonly (string | null)[]): FrameColumn => texts('STRING', ...values);
const arrays = (type: ArrayType, ...values: readonly (readonly (string | bigint | number | null)[] | null)[]): FrameColumn =>
  texts(type, ...values.map((value) => (value === null ? null : arrayText(value, type))));
const lists = (...values: readonly (readonly string[])[]): FrameColumn => ({
  kind: 'multi',
  name: 'v',
  offsets: Uint32Array.from([0, ...values.map((_, row) => values.slice(0, row + 1).flat().length)]),
  ids: Uint32Array.from(values.flat(), (_, at) => at),
  dictionary: values.flat(),
});

function rowCountOf(column: FrameColumn): number {
  return column.kind === 'string' ? column.ids.length : column.kind === 'multi' ? column.offsets.length - 1 : column.values.length;
}

function plain(column: FrameColumn, row: number): unknown {
  const cell = cellAt(column, row);
  if (column.kind !== 'string' || typeof cell !== 'string') return cell;
  return isArrayType(column.type) ? arrayElements(cell, column.type) : column.type === JSON_TYPE ? JSON.parse(cell) : cell;
}

async function run(plan: RowPlan, columns: readonly FrameColumn[]): Promise<unknown[][]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ kernels: 'reference', threads: 0, memory });
  const placed = columns.map((column) => uploadFrame({ rowCount: rowCountOf(column), columns: [column] } satisfies Frame, memory));
  const rows: unknown[][] = [];
  const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'reference', batchRows: null } as const;
  try {
    const views = placed.map(({ view }, at) => ({ ...view, id: `segment ${at}` }));
    for await (const frame of engine.runViews(plan, views, options, new AbortController().signal))
      for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => plain(column, row)));
  } finally {
    for (const { release } of placed) release();
    await engine.close();
  }
  return rows;
}

const leaf = { dataSource: 'test', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] };
const scan = (filter: Filter | null): ScanPlan => ({
  ...leaf,
  operator: 'scan',
  columns: ['v'],
  timeOrder: null,
  offset: 0,
  limit: null,
  filter,
});
const group = (type: TextType | null): RowPlan => ({
  ...leaf,
  operator: 'group',
  keys: [{ kind: 'column', name: 'v', column: 'v', type }],
  aggregators: [{ kind: 'count', name: 'n', filter: null }],
  emptyGroup: false,
  post: [{ step: 'sort', by: [{ column: 'v', descending: false, nulls: 'first', ordering: 'lexicographic' }], offset: 0, limit: null }],
});

interface Case {
  readonly name: string;
  readonly segments: readonly FrameColumn[];
  readonly type: TextType;
  readonly rows: readonly unknown[];
  readonly groups: readonly (readonly [unknown, bigint])[];
  /** An equality, and the rows of it. */
  readonly equals: { readonly type: TextType; readonly value: string; readonly rows: readonly unknown[] };
}

const CASES: readonly Case[] = [
  {
    name: 'numbers and arrays',
    segments: [longs(1n, 2n, null), arrays('ARRAY<LONG>', [1n], [2n, 3n], null)],
    type: 'ARRAY<LONG>',
    rows: [[1n], [2n], null, [1n], [2n, 3n], null],
    groups: [
      [null, 2n],
      [[1n], 2n],
      [[2n], 1n],
      [[2n, 3n], 1n],
    ],
    equals: { type: 'ARRAY<LONG>', value: arrayText([1n], 'ARRAY<LONG>'), rows: [[1n], [1n]] },
  },
  {
    name: 'arrays of both kinds of numbers',
    segments: [arrays('ARRAY<LONG>', [1n, null], []), arrays('ARRAY<DOUBLE>', [1, null], [0.5])],
    type: 'ARRAY<DOUBLE>',
    rows: [[1, null], [], [1, null], [0.5]],
    groups: [
      [[], 1n],
      [[0.5], 1n],
      [[1, null], 2n],
    ],
    equals: {
      type: 'ARRAY<LONG>',
      value: arrayText([1n, null], 'ARRAY<LONG>'),
      rows: [
        [1, null],
        [1, null],
      ],
    },
  },
  {
    name: 'strings of several values and arrays',
    segments: [lists(['a', 'b'], ['x'], []), arrays('ARRAY<STRING>', ['a', 'b'], []), strings(null, 'x')],
    type: 'ARRAY<STRING>',
    rows: [['a', 'b'], ['x'], null, ['a', 'b'], [], null, ['x']],
    groups: [
      [null, 2n],
      [[], 1n],
      [['a', 'b'], 2n],
      [['x'], 2n],
    ],
    equals: { type: 'ARRAY<STRING>', value: arrayText(['x'], 'ARRAY<STRING>'), rows: [['x'], ['x']] },
  },
  {
    name: 'strings, arrays and JSON',
    segments: [strings('a', null), arrays('ARRAY<LONG>', [1n]), texts(JSON_TYPE, '{"k":1}', '"a"', null)],
    type: JSON_TYPE,
    rows: ['a', null, [1], { k: 1 }, 'a', null],
    groups: [
      [null, 2n],
      ['a', 2n],
      [[1], 1n],
      [{ k: 1 }, 1n],
    ],
    equals: { type: JSON_TYPE, value: '"a"', rows: ['a', 'a'] },
  },
  {
    name: 'a segment of nulls alone does not widen the type',
    segments: [arrays('ARRAY<LONG>', [1n]), strings(null, null)],
    type: 'ARRAY<LONG>',
    rows: [[1n], null, null],
    groups: [
      [null, 2n],
      [[1n], 1n],
    ],
    equals: { type: 'ARRAY<LONG>', value: arrayText([1n], 'ARRAY<LONG>'), rows: [[1n]] },
  },
];

for (const { name, segments, type, rows, groups, equals } of CASES) {
  mixed(`${name}: scan`, async () =>
    assert.equal(
      await run(scan(null), segments),
      rows.map((row) => [row]),
    ),
  );
  for (const asked of [type, null]) {
    mixed(`${name}: group${asked === null ? ' in the type they have' : ''}`, async () =>
      assert.equal(await run(group(asked), segments), groups),
    );
  }
  mixed(`${name}: equals`, async () => {
    const filter: Filter = { kind: 'equals', column: 'v', type: equals.type, value: equals.value };
    assert.equal(
      await run(scan(filter), segments),
      equals.rows.map((row) => [row]),
    );
    // Null rows are neither.
    const others = rows.filter((row) => row !== null).length - equals.rows.length;
    assert.is((await run(scan({ kind: 'not', filter }), segments)).length, others);
  });
}

mixed('a range of arrays over numbers and arrays', async () => {
  const [first] = CASES;
  const bound = (...elements: readonly bigint[]): string => arrayText(elements, 'ARRAY<LONG>');
  const filter: Filter = {
    kind: 'range',
    column: 'v',
    type: 'ARRAY<LONG>',
    ordering: 'lexicographic',
    lower: bound(1n),
    upper: bound(2n, 3n),
    lowerStrict: true,
    upperStrict: false,
  };
  assert.equal(await run(scan(filter), first?.segments ?? []), [[[2n]], [[2n, 3n]]]);
});

/** Rows of a scan of segments that are each on a server of its own. */
async function scanApart(plan: ScanPlan, columns: readonly FrameColumn[]): Promise<unknown[]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ kernels: 'reference', threads: 0, memory });
  const placed = columns.map((column) => uploadFrame({ rowCount: rowCountOf(column), columns: [column] } satisfies Frame, memory));
  const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'reference', batchRows: null } as const;
  const { signal } = new AbortController();
  const rows: unknown[] = [];
  try {
    const partials = placed.map(({ view }) => engine.runViews(plan, [view], { ...options, ending: 'partial' }, signal));
    for await (const frame of engine.merge(plan, partials, { ...options, ending: 'final' }, signal))
      for (let row = 0; row < frame.rowCount; row++) rows.push(...frame.columns.map((column) => plain(column, row)));
  } finally {
    for (const { release } of placed) release();
    await engine.close();
  }
  return rows;
}

mixed('a scan of several servers has the type of all segments, and its order', async () => {
  for (const { segments, type, rows, name } of CASES)
    assert.equal(await scanApart({ ...scan(null), types: [{ name: 'v', type }] }, segments), rows, name);
  const numbers = [longs(9n, 10n, null), strings('2', 'x')];
  const types = [{ name: 'v', type: 'STRING' }] as const;
  const by = [{ column: 'v', descending: false, nulls: 'last', ordering: 'lexicographic' }] as const;
  for (const [limit, expected] of [
    [1, ['10']],
    [3, ['10', '2', '9']],
  ] as const)
    assert.equal(await scanApart({ ...scan(null), types, post: [{ step: 'sort', by, offset: 0, limit }] }, numbers), expected);
});

mixed.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import type { Frame } from '../../src/model/frame.js';
import type { PostStep } from '../../src/model/plan.js';
import type { RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, sortedText } from './plain-rows.js';
import { groupOf, runnerOf, scanOf } from './running-sources.js';

/* Unions of groups, whose strings stay bytes in memory, and of rows that kernels gather: against counts that are added up here. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const TYPES = { name: 'STRING', other: 'STRING', number: 'LONG' } as const;
const unions = suite('unions of groups and rows in memory');

unions.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

const TABLE: RowSource = { kind: 'table', name: 'rows' };
const project = (from: string): PostStep => ({
  step: 'project',
  columns: [
    { name: 'x', from },
    { name: 'n', from: 'rows' },
  ],
});
const counts = (column: string): RowSource => ({ kind: 'query', plan: groupOf([column], { post: [project(column)] }), source: TABLE });
const SUM: Aggregator = { kind: 'sum', name: 'total', column: 'n', type: 'LONG', filter: null };

async function answerOf(
  plan: RowsPlan,
  sources: readonly RowSource[],
  segments: readonly Frame[],
  isServedHere: () => boolean,
): Promise<Plain[]> {
  const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
  const held: UploadedFrame[] = [];
  const runner = runnerOf({ engine, memory, framesOf: () => segments, held }, TYPES, isServedHere);
  try {
    return await rowsOf(runner.run(plan, { kind: 'union', sources }));
  } finally {
    for (const { release } of held) release();
    await engine.close();
  }
}

const random = randomSource(5);
const below = (count: number): number => Math.floor(random() * count);
const text = (count: number): string | null => (below(9) === 0 ? null : `${['a', 'ä', '\u{ffff}', '\u{1f600}'][below(4)]}${below(count)}`);
const PARTS = Array.from({ length: 3 }, () =>
  Array.from({ length: 400 }, (_, at): Plain => ({ name: text(40), other: text(200), number: BigInt(at) })),
);

for (const [label, isServed] of [
  ['all in memory', () => true],
  ['the first in memory', (call: number) => call === 0],
  ['some in memory', (call: number) => call % 3 !== 1],
  ['all as frames', () => false],
] as const)
  unions(`sums of groups, and the groups themselves: ${label}`, async () => {
    const segments = PARTS.map((rows) => frameOf(rows, TYPES));
    const columns = ['name', 'other', 'name'] as const;
    const all = columns.flatMap((column) => {
      const found = new Map<Plain[string], bigint>();
      for (const row of PARTS.flat()) found.set(row[column] ?? null, (found.get(row[column] ?? null) ?? 0n) + 1n);
      return [...found].map(([x, n]): Plain => ({ x, n }));
    });
    const totals = new Map<Plain[string], bigint>();
    for (const { x = null, n } of all) totals.set(x, (totals.get(x) ?? 0n) + (n as bigint));
    const sources = columns.map(counts);
    const servedHere = (): (() => boolean) => {
      let calls = 0;
      return () => isServed(calls++);
    };
    const sums = await answerOf(groupOf(['x'], { aggregators: [SUM] }), sources, segments, servedHere());
    assert.equal(sortedText(sums), sortedText([...totals].map(([x, total]): Plain => ({ x, total }))));
    const rows = await answerOf(scanOf(['x', 'n']), sources, segments, servedHere());
    assert.equal(sortedText(rows), sortedText(all));
  });

/** The rows, and whether any came as frames. */
async function rowsAndFrames(plan: RowsPlan, sources: readonly RowSource[], rowsOfTable: () => number | null) {
  const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
  const held: UploadedFrame[] = [];
  let asFrames = false;
  const counting = new Proxy(engine, {
    get(of, name: keyof typeof engine) {
      const value = of[name];
      asFrames ||= name === 'runRows';
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  const segments = PARTS.map((rows) => frameOf(rows, TYPES));
  const runner = runnerOf({ engine: counting, memory, framesOf: () => segments, held }, TYPES, () => true, rowsOfTable);
  try {
    const rows = await rowsOf(runner.run(plan, { kind: 'union', sources }));
    return { rows, asFrames };
  } finally {
    for (const { release } of held) release();
    await engine.close();
  }
}

/** A string beside the eighth row of each segment. */
const computed = (expression: string): RowSource => ({
  kind: 'query',
  plan: scanOf(['v', 'number'], {
    virtualColumns: [{ name: 'v', expression: parseExpression(expression), outputType: 'STRING' }],
    filter: { kind: 'equals', column: 'number', type: 'LONG', value: 7n },
    post: [
      {
        step: 'project',
        columns: [
          { name: 'name', from: 'v' },
          { name: 'number', from: 'number' },
        ],
      },
    ],
  }),
  source: TABLE,
});
const WHOLE: RowSource = { kind: 'query', plan: scanOf(['name', 'number']), source: TABLE };
const FIRST: RowSource = { kind: 'query', plan: scanOf(['name', 'number'], { limit: 5 }), source: TABLE };

for (const { label, sources, rows, asFrames, isWhole } of [
  { label: 'of tables are gathered', sources: [WHOLE, WHOLE], rows: 1200, asFrames: false, isWhole: [true, true] },
  {
    label: 'that are computed strings come as frames, with those before and after them',
    sources: [WHOLE, computed("'b'"), WHOLE],
    rows: 1200,
    asFrames: true,
    isWhole: [true, false, true],
  },
  { label: 'of too large a table come as frames', sources: [WHOLE, WHOLE], rows: 20_000_000, asFrames: true, isWhole: [true, true] },
  { label: 'of tables of unknown size come as frames', sources: [WHOLE, WHOLE], rows: null, asFrames: true, isWhole: [true, true] },
] as const)
  unions(`rows ${label}`, async () => {
    const counted = new Map<Plain[string], bigint>();
    const add = (name: Plain[string]): Map<Plain[string], bigint> => counted.set(name, (counted.get(name) ?? 0n) + 1n);
    for (const whole of isWhole)
      for (const { name = null, number } of PARTS.flat())
        if (whole) add(name);
        else if (number === 7n) add('b');
    const found = await rowsAndFrames(groupOf(['name']), sources, () => rows);
    assert.equal(sortedText(found.rows), sortedText([...counted].map(([name, count]): Plain => ({ name, rows: count }))));
    assert.is(found.asFrames, asFrames);
  });

unions('branches of which the first rows are wanted are not gathered', async () => {
  const found = await rowsAndFrames(groupOf([], { emptyGroup: true }), [FIRST, WHOLE, FIRST], () => 1200);
  assert.equal(found.rows, [{ rows: 1210n }]);
  assert.ok(found.asFrames);
});

unions.run();

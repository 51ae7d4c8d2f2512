import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../../src/execution/engine.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import type { Frame, FrameCell } from '../../../src/model/frame.js';
import { cellAt } from '../../../src/model/frame.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import { placeFrame } from '../../../src/storage/placed-frame.js';

/** 1,000 users: the even ones bought, those divisible by 3 returned; `value` is the number of the user. */
const users = Array.from({ length: 1000 }, (_, user) => user);
const frame: Frame = {
  rowCount: users.length,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from(users, (user) => BigInt(Date.UTC(2024, 0, 1) + user)), nulls: null },
    { kind: 'string', name: 'user', ids: Uint32Array.from(users), dictionary: users.map((user) => `user ${user}`) },
    { kind: 'long', name: 'value', values: BigInt64Array.from(users, BigInt), nulls: null },
    { kind: 'long', name: 'bought', values: BigInt64Array.from(users, (user) => BigInt(user % 2 === 0)), nulls: null },
    { kind: 'long', name: 'returned', values: BigInt64Array.from(users, (user) => BigInt(user % 3 === 0)), nulls: null },
  ],
};

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });

/** The one row of a timeseries over all. */
async function answer(
  aggregations: readonly unknown[],
  postAggregations: readonly unknown[],
  more: object = {},
): Promise<Record<string, FrameCell>[]> {
  const body = {
    queryType: 'timeseries',
    dataSource: 'x',
    intervals: '2024/2025',
    granularity: 'all',
    aggregations,
    postAggregations,
    ...more,
  };
  const [plan] = planNative(body, false, { table: () => undefined }).plans;
  if (plan?.operator !== 'group') throw new Error('no group plan');
  const { view, release } = placeFrame(frame, memory);
  const answers: Record<string, FrameCell>[] = [];
  try {
    const options = { ending: 'final' as const, deadlineMs: Date.now() + 60_000, priority: 0, kernels: null, batchRows: null };
    for await (const { rowCount, columns } of engine.runViews(plan, [view], options, new AbortController().signal))
      for (let row = 0; row < rowCount; row++)
        answers.push(Object.fromEntries(columns.map((column) => [column.name, cellAt(column, row)])));
  } finally {
    release();
  }
  return answers;
}

const field = (fieldName: string) => ({ type: 'fieldAccess', fieldName });
const whether = (dimension: string, aggregator: object) => ({
  type: 'filtered',
  filter: { type: 'equals', column: dimension, matchValueType: 'LONG', matchValue: 1 },
  aggregator,
});

const queries = suite('native queries over sketches');

queries('sets are joined, intersected and subtracted', async () => {
  const [row] = await answer(
    [
      whether('bought', { type: 'thetaSketch', name: 'buyers', fieldName: 'user' }),
      whether('returned', { type: 'thetaSketch', name: 'returners', fieldName: 'user' }),
    ],
    ['UNION', 'INTERSECT', 'NOT'].map((func) => ({
      type: 'thetaSketchEstimate',
      name: func,
      field: { type: 'thetaSketchSetOp', name: 'set', func, fields: [field('buyers'), field('returners')] },
    })),
  );
  assert.equal([row?.['buyers'], row?.['returners']], [500, 334]);
  assert.equal([row?.['UNION'], row?.['INTERSECT'], row?.['NOT']], [667, 167, 333]);
});

queries('quantiles and ranks', async () => {
  const [row] = await answer(
    [
      { type: 'quantilesDoublesSketch', name: 'sketch', fieldName: 'value', k: 1024 },
      { type: 'KllDoublesSketch', name: 'kll', fieldName: 'value', k: 2000 },
    ],
    [
      { type: 'quantilesDoublesSketchToQuantile', name: 'median', fraction: 0.5, field: field('sketch') },
      { type: 'quantilesDoublesSketchToRank', name: 'rank', value: 250, field: field('sketch') },
      { type: 'KllDoublesSketchToQuantile', name: 'first', fraction: 0, field: field('kll') },
      { type: 'KllDoublesSketchToRank', name: 'kllRank', value: 100, field: field('kll') },
    ],
  );
  assert.equal([row?.['sketch'], row?.['kll']], [1000n, 1000n]);
  assert.equal([row?.['median'], row?.['rank'], row?.['first'], row?.['kllRank']], [499, 0.25, 0, 0.1]);
});

queries('estimates and standard deviations', async () => {
  const [row] = await answer(
    [
      { type: 'hyperUnique', name: 'users', fieldName: 'user', round: true },
      { type: 'HLLSketchBuild', name: 'hll', fieldName: 'value', lgK: 16 },
      { type: 'variance', name: 'variance', fieldName: 'bought', estimator: 'population' },
    ],
    [
      { type: 'hyperUniqueCardinality', name: 'again', fieldName: 'users' },
      { type: 'HLLSketchEstimate', name: 'rounded', round: true, field: field('hll') },
      {
        type: 'HLLSketchEstimate',
        name: 'twice',
        round: true,
        field: { type: 'HLLSketchUnion', name: 'union', lgK: 14, fields: [field('hll'), field('hll')] },
      },
      { type: 'stddev', name: 'deviation', fieldName: 'variance', estimator: 'population' },
    ],
  );
  assert.is(row?.['again'], row?.['users']);
  assert.ok(Math.abs(Number(row?.['users']) - 1000) < 100);
  assert.equal([row?.['rounded'], row?.['twice']], [1000n, 1000n]);
  assert.equal([row?.['variance'], row?.['deviation']], [0.25, 0.5]);
});

queries('of no rows count nothing, also in filled buckets', async () => {
  const sketches = [
    { type: 'thetaSketch', name: 'theta', fieldName: 'user' },
    { type: 'cardinality', name: 'cardinality', fields: ['user'] },
    { type: 'quantilesDoublesSketch', name: 'quantiles', fieldName: 'value' },
    { type: 'variance', name: 'variance', fieldName: 'value' },
  ];
  const after = [
    { type: 'thetaSketchEstimate', name: 'estimate', field: field('theta') },
    { type: 'quantilesDoublesSketchToQuantile', name: 'median', fraction: 0.5, field: field('quantiles') },
  ];
  const nothing = await answer(sketches, after, { filter: { type: 'equals', column: 'value', matchValueType: 'LONG', matchValue: -1 } });
  const filled = await answer(sketches, after, { granularity: 'hour', intervals: '2024-01-01T00/2024-01-01T02' });
  for (const row of [nothing[0], filled[1]]) {
    assert.equal([row?.['theta'], row?.['cardinality'], row?.['quantiles'], row?.['estimate']], [0, 0, 0n, 0]);
    assert.is(row?.['variance'], null);
    assert.ok(Number.isNaN(row?.['median']));
  }
});

queries('a topN is ranked by estimates', async () => {
  const topN = { queryType: 'topN', dimension: 'returned', metric: 'users', threshold: 1 };
  assert.equal(await answer([{ type: 'thetaSketch', name: 'users', fieldName: 'user' }], [], topN), [{ returned: '0', users: 666 }]);
});

queries.run();

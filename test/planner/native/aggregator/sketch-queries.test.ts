import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../../../src/model/frame.js';
import { planNative } from '../../../../src/planner/native/plan-native.js';
import { decodeTheta } from '../../../../src/sketch/base64-codec.js';
import { uploadFrame } from '../../../../src/storage/uploaded-frame.js';
import { answersOver } from '../frame-queries.js';

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
  const { view, release } = uploadFrame(frame, memory);
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

/** The rank of `value` among 0 to 999, of which all are kept, is exact. */
queries('arrays of quantiles, ranks and counts', async () => {
  const sketches = [
    { type: 'quantilesDoublesSketch', name: 'quantilesDoublesSketch', fieldName: 'value', k: 1024 },
    { type: 'KllDoublesSketch', name: 'KllDoublesSketch', fieldName: 'value', k: 2000 },
    { type: 'KllFloatsSketch', name: 'KllFloatsSketch', fieldName: 'value', k: 2000 },
  ];
  for (const { type } of sketches) {
    const of = (suffix: string, more: object) => ({ type: `${type}To${suffix}`, name: suffix, field: field(type), ...more });
    const after = [
      of('Quantiles', { fractions: [0, 0.25, 0.5, 1] }),
      of('CDF', { splitPoints: [100, 900] }),
      of('Histogram', { splitPoints: [100, 900] }),
      { ...of('Histogram', { numBins: 4 }), name: 'even' },
      { ...of('Histogram', {}), name: 'ten' },
      of('String', {}),
    ];
    const [row] = await answersOver([frame], { aggregations: sketches, postAggregations: after });
    assert.equal(row?.['Quantiles'], [0, 249, 499, 999], type);
    assert.equal(row?.['CDF'], [0.1, 0.9, 1], type);
    assert.equal(rounded(row?.['Histogram']), [100, 800, 100], type);
    assert.equal(rounded(row?.['even']), [250, 250, 250, 250], type);
    assert.equal(rounded(row?.['ten']), new Array<number>(10).fill(100), type);
    assert.match(String(row?.['String']), /^(Quantiles|KLL) sketch:\n(.+\n)* {2}values: 1000\n(.+\n)* {2}max: 999$/);
    const none = { filter: { type: 'equals', column: 'value', matchValueType: 'LONG', matchValue: -1 } };
    const [nothing] = await answersOver([frame], { aggregations: sketches, postAggregations: after, ...none });
    assert.equal(
      [nothing?.['CDF'], nothing?.['even'], nothing?.['String']],
      [new Array<number>(3).fill(NaN), new Array<number>(4).fill(NaN), null],
    );
  }
});

function rounded(value: unknown): number[] {
  return numbers(value).map(Math.round);
}

function numbers(value: unknown): number[] {
  return value as number[];
}

queries('estimates with bounds, and summaries', async () => {
  const [row] = await answersOver([frame], {
    aggregations: [
      { type: 'HLLSketchBuild', name: 'hll', fieldName: 'user', lgK: 8 },
      { type: 'thetaSketch', name: 'theta', fieldName: 'user', size: 64 },
      { type: 'thetaSketch', name: 'exact', fieldName: 'user' },
    ],
    postAggregations: [
      { type: 'HLLSketchEstimateWithBounds', name: 'one', field: field('hll') },
      { type: 'HLLSketchEstimateWithBounds', name: 'three', numStdDev: 3, field: field('hll') },
      { type: 'thetaSketchEstimate', name: 'bounds', errorBoundsStdDev: 2, field: field('theta') },
      { type: 'thetaSketchEstimate', name: 'exactBounds', errorBoundsStdDev: 1, field: field('exact') },
      { type: 'HLLSketchToString', name: 'hllText', field: field('hll') },
      { type: 'thetaSketchToString', name: 'thetaText', field: field('theta') },
    ],
  });
  const [estimate, low, high] = numbers(row?.['one']);
  // One standard error is 1.04 / sqrt(256).
  assert.is(estimate, row?.['hll']);
  assert.ok(Math.abs(Number(low) - Number(estimate) / 1.065) < 1e-6 && Math.abs(Number(high) - Number(estimate) / 0.935) < 1e-6);
  const [, lower, higher] = numbers(row?.['three']);
  assert.ok(Number(lower) < 1000 && Number(higher) > 1000);
  const bounds = row?.['bounds'] as Record<string, number>;
  assert.equal([bounds['estimate'], bounds['numStdDev']], [row?.['theta'], 2]);
  // 64 of about 1,000 kept: two standard deviations are 2 sqrt(64 (1 - 0.064)) of 64, a quarter.
  const [least = 0, most = 0] = [bounds['lowBound'], bounds['highBound']].map((bound) => Number(bound) / Number(bounds['estimate']));
  assert.ok(least > 0.7 && least < 0.82 && most > 1.2 && most < 1.35, `${least} ${most}`);
  assert.equal(row?.['exactBounds'], { estimate: 1000, highBound: 1000, lowBound: 1000, numStdDev: 1 });
  assert.match(String(row?.['hllText']), /^HLL sketch:\n {2}lgK: 8\n {2}mode: registers\n/);
  assert.match(String(row?.['thetaText']), /^Theta sketch:\n(.+\n)* {2}retained hashes: 64\n/);
});

/** Aggregators of `user` or `value`, and what merges their states. Of so few values every one is exact, or alike however merged. */
const merged: readonly { readonly type: string; readonly from: object; readonly merge: object; readonly post: object }[] = [
  {
    type: 'COMPLEX<HLLSketch>',
    from: { type: 'HLLSketchBuild', fieldName: 'user', lgK: 10 },
    merge: { type: 'HLLSketchMerge', lgK: 10 },
    post: { type: 'HLLSketchEstimate', field: field('x') },
  },
  {
    type: 'COMPLEX<thetaSketch>',
    from: { type: 'thetaSketch', fieldName: 'user', size: 128 },
    merge: { type: 'thetaSketch', size: 128 },
    post: { type: 'thetaSketchEstimate', field: field('x') },
  },
  {
    type: 'COMPLEX<hyperUnique>',
    from: { type: 'hyperUnique', fieldName: 'user' },
    merge: { type: 'hyperUnique' },
    post: { type: 'hyperUniqueCardinality', fieldName: 'x' },
  },
  {
    type: 'COMPLEX<quantilesDoublesSketch>',
    from: { type: 'quantilesDoublesSketch', fieldName: 'value', k: 1024 },
    merge: { type: 'quantilesDoublesSketch', k: 1024 },
    post: { type: 'quantilesDoublesSketchToQuantiles', fractions: [0.1, 0.5, 0.9], field: field('x') },
  },
  {
    type: 'COMPLEX<KllFloatsSketch>',
    from: { type: 'KllFloatsSketch', fieldName: 'value', k: 2000 },
    merge: { type: 'KllFloatsSketch', k: 2000 },
    post: { type: 'KllFloatsSketchToQuantiles', fractions: [0.1, 0.5, 0.9], field: field('x') },
  },
  {
    type: 'COMPLEX<variance>',
    from: { type: 'variance', fieldName: 'bought' },
    merge: { type: 'varianceFold' },
    post: { type: 'stddev', fieldName: 'x' },
  },
];
for (const { type, from, merge, post } of merged)
  queries(`states that a column holds are merged: ${type}`, async () => {
    const whole = await answersOver([frame], { aggregations: [{ ...from, name: 'x' }], postAggregations: [{ ...post, name: 'y' }] });
    const states = await Promise.all(
      [
        { lower: '0', upper: '200' },
        { lower: '201', upper: '998' },
        { lower: '999', upper: '999' },
      ].map(async (bounds) => {
        const [row] = await answersOver([frame], {
          filter: { type: 'bound', dimension: 'value', ordering: 'numeric', ...bounds },
          aggregations: [{ ...from, name: 'x' }],
          postAggregations: [{ type: 'fieldAccess', name: 'state', fieldName: 'x' }],
        });
        return String(row?.['state']);
      }),
    );
    const time = { kind: 'long', name: '__time', values: new BigInt64Array(4), nulls: null } as const;
    // One row has none.
    const texts = { kind: 'string', name: 'stored', ids: Uint32Array.from([2, 0, 3, 1]), dictionary: [...states, null] } as const;
    const query = { aggregations: [{ ...merge, name: 'x', fieldName: 'stored' }], postAggregations: [{ ...post, name: 'y' }] };
    const typed: Frame = { rowCount: 4, columns: [time, { ...texts, type: type as `COMPLEX<${string}>` }] };
    const found = await answersOver([typed], query);
    for (const name of ['x', 'y'])
      if (type === 'COMPLEX<variance>') assert.ok(Math.abs(Number(found[0]?.[name]) / Number(whole[0]?.[name]) - 1) < 1e-12, name);
      else assert.equal(found[0]?.[name], whole[0]?.[name]);
  });

queries('finalize false gives the states, by values that are computed and ordered with', async () => {
  const [row] = await answersOver([frame], {
    aggregations: [
      { type: 'count', name: 'rows' },
      { type: 'doubleMean', name: 'mean', fieldName: 'bought' },
      { type: 'thetaSketch', name: 'users', fieldName: 'user' },
      { type: 'longLast', name: 'last', fieldName: 'value' },
      { type: 'stringAny', name: 'any', fieldName: 'user' },
    ],
    postAggregations: [
      { type: 'finalizingFieldAccess', name: 'finished', fieldName: 'mean' },
      { type: 'thetaSketchEstimate', name: 'estimate', field: field('users') },
    ],
    context: { finalize: false },
  });
  // Count, sum, mean and squared deviations of 500 zeros and 500 ones.
  assert.equal(Object.keys(row ?? {}), ['rows', 'mean', 'users', 'last', 'any', 'finished', 'estimate']);
  const [count, sum, mean, squares] = String(row?.['mean']).split(' ').map(Number);
  assert.equal([row?.['rows'], count, sum, mean?.toFixed(9), squares?.toFixed(6)], [1000n, 1000, 500, '0.500000000', '250.000000']);
  assert.equal([row?.['finished'], row?.['estimate'], decodeTheta(String(row?.['users']), 16384).estimate()], [0.5, 1000, 1000]);
  assert.equal([row?.['last'], row?.['any']], [`${Date.UTC(2024, 0, 1) + 999} v999`, 'user 0']);
  const topN = { queryType: 'topN', dimension: 'returned', metric: 'users', threshold: 1, context: { finalize: false } };
  const [best, ...others] = await answersOver([frame], {
    aggregations: [{ type: 'thetaSketch', name: 'users', fieldName: 'user' }],
    ...topN,
  });
  assert.equal([best?.['returned'], decodeTheta(String(best?.['users']), 16384).estimate(), others.length], ['0', 666, 0]);
});

queries('a text that is no state is refused', async () => {
  const time = { kind: 'long', name: '__time', values: new BigInt64Array(1), nulls: null } as const;
  const texts = { kind: 'string', name: 'stored', ids: new Uint32Array(1), dictionary: ['bm9uZQ=='] } as const;
  try {
    await answersOver([{ rowCount: 1, columns: [time, texts] }], {
      aggregations: [{ type: 'HLLSketchMerge', name: 'x', fieldName: 'stored' }],
    });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /should hold an HLL sketch/);
  }
});

queries('a topN is ranked by estimates', async () => {
  const topN = { queryType: 'topN', dimension: 'returned', metric: 'users', threshold: 1 };
  assert.equal(await answer([{ type: 'thetaSketch', name: 'users', fieldName: 'user' }], [], topN), [{ returned: '0', users: 666 }]);
});

queries.run();

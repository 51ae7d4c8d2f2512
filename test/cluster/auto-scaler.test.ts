import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { AutoScaler, countByCost, countByLag } from '../../src/cluster/overlord/supervisor/auto-scaler.js';
import { type CostScaler, type LagScaler, parseAutoScaler } from '../../src/ingestion/stream/auto-scaler-config.js';

const scalers = suite('autoscalers of supervisors');

const parse = (fields: Readonly<Record<string, unknown>>) =>
  parseAutoScaler(
    new ObjectReader(
      { enableTaskAutoScaler: true, taskCountMin: 1, taskCountMax: 6, ...fields },
      'autoScalerConfig',
      readContextOf('input_invalid', 's'),
    ),
  );

const BOUNDS = {
  scaleOutThreshold: 1000,
  scaleInThreshold: 100,
  triggerScaleOutFractionThreshold: 0.5,
  triggerScaleInFractionThreshold: 0.9,
};
const byLag = parse(BOUNDS) as LagScaler;
const LAGS: readonly {
  readonly name: string;
  readonly lags: readonly number[];
  readonly taskCount: number;
  readonly partitions: number;
  readonly is: number | null;
}[] = [
  { name: 'half of the lags beyond the upper bound: two more', lags: [1000, 0], taskCount: 2, partitions: 8, is: 4 },
  { name: 'fewer of them: as they are', lags: [1000, 500, 500], taskCount: 2, partitions: 8, is: null },
  { name: 'no more than taskCountMax', lags: [5000], taskCount: 5, partitions: 8, is: 6 },
  { name: 'no more than partitions', lags: [5000], taskCount: 2, partitions: 3, is: 3 },
  { name: 'at the most already', lags: [5000], taskCount: 6, partitions: 8, is: null },
  { name: 'nearly all below the lower bound: one fewer', lags: [0, 0, 100], taskCount: 3, partitions: 8, is: 2 },
  { name: 'at the least already', lags: [0], taskCount: 1, partitions: 8, is: null },
  { name: 'outside of the bounds: the nearest', lags: [500], taskCount: 9, partitions: 8, is: 6 },
  { name: 'nothing measured', lags: [], taskCount: 2, partitions: 8, is: null },
];
for (const { name, lags, taskCount, partitions, is } of LAGS)
  scalers(name, () => assert.is(countByLag(byLag, lags, { taskCount, partitionCount: partitions }), is));

const byCost = parse({ autoScalerStrategy: 'costBased', highLagThreshold: 1000 }) as CostScaler;
const lagOf = (sum: number, partitions = 8) => ({ byPartition: new Map(), sum, max: sum, average: sum / partitions });
scalers('by cost: no lag asks for the fewest, lag beyond highLagThreshold for the most', () => {
  assert.is(countByCost(byCost, lagOf(0), { taskCount: 3, partitionCount: 8 }), 1);
  assert.is(countByCost(byCost, lagOf(80_000), { taskCount: 3, partitionCount: 8 }), 6);
  assert.is(countByCost(byCost, null, { taskCount: 3, partitionCount: 8 }), null);
  // Less weight of waiting never asks for fewer tasks.
  const eager = { ...byCost, highLagThreshold: -1, lagWeight: 1, idleWeight: 0 };
  assert.is(countByCost(eager, lagOf(5_000_000), { taskCount: 3, partitionCount: 8 }), 6);
});

scalers('a change waits for the range of lags, and for the shortest time since the one before', async () => {
  let now = 0;
  const scaled: number[] = [];
  const config = parse({
    ...BOUNDS,
    scaleActionStartDelayMillis: 100,
    lagCollectionIntervalMillis: 10,
    lagCollectionRangeMillis: 50,
    scaleActionPeriodMillis: 10,
    minTriggerScaleActionFrequencyMillis: 1000,
  });
  const scaler = new AutoScaler(config, {
    now: () => now,
    lag: () => lagOf(5000),
    taskCount: () => 1 + scaled.length,
    partitionCount: () => 8,
    mayScale: () => true,
    scale: async (count) => void scaled.push(count),
    log: () => undefined,
  });
  for (const [at, count] of [
    [90, 0],
    [140, 0],
    [150, 1],
    [200, 1],
    [1100, 1],
    [1160, 2],
  ] as const) {
    now = at;
    await scaler.look();
    assert.is(scaled.length, count, `at ${at}`);
  }
});

scalers('settings that contradict each other are refused', () => {
  assert.throws(() => parse({ taskCountMax: undefined }), /taskCountMax/);
  assert.throws(() => parse({ taskCountMin: 7 }), /taskCountMax: 6 is below taskCountMin, 7/);
  assert.throws(() => parse({ taskCountStart: 9 }), /taskCountStart/);
  assert.throws(() => parse({ stopTaskCountRatio: 1.5 }), /stopTaskCountRatio/);
  assert.throws(() => parse({ lagWeight: 1 }), /lagWeight/);
});

scalers.run();

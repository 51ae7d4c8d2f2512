import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { type AskedQuery, type Laning, type PriorityThresholds, QueryScheduler } from '../../src/cluster/broker/query-scheduler.js';
import { schedulerOf } from '../../src/cluster/broker/scheduling.js';
import { Configuration } from '../../src/configuration/configuration.js';
import { DAY, segmentOf } from './fakes.js';

const NONE: Laning = { strategy: 'none' };
const SEGMENTS = [segmentOf('ds', 0, 'v'), segmentOf('ds', 0, 'v', 1, 2), segmentOf('ds', 1, 'v')];

const schedulerWith = (capacity: number | null, laning: Laning = NONE, thresholds: PriorityThresholds | null = null) =>
  new QueryScheduler({ capacity, laning, thresholds, now: () => 100 * DAY, segmentsOf: () => SEGMENTS });
const asked = (changes: Partial<AskedQuery> = {}): AskedQuery => ({ priority: 0, lane: null, dataSource: 'ds', intervals: [], ...changes });

/** The property named by the refusal, or that the query was let in. */
function admitted(scheduler: QueryScheduler, query: { readonly priority?: number; readonly lane?: string | null } = {}): string {
  try {
    scheduler.admit({ priority: 0, lane: null, ...query });
    return 'in';
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'capacity_exceeded');
    return /svc\.[\w.]+/.exec(error.message)?.[0] ?? '';
  }
}

const scheduling = suite('query scheduler');

scheduling('runs as many queries as its capacity, and more when one has ended', () => {
  const scheduler = schedulerWith(2);
  const release = scheduler.admit({ priority: 0, lane: null });
  assert.equal(
    [1, 2].map(() => admitted(scheduler)),
    ['in', 'svc.query.scheduler.numThreads'],
  );
  release();
  release();
  assert.equal(
    [1, 2].map(() => admitted(scheduler)),
    ['in', 'svc.query.scheduler.numThreads'],
  );
  const unlimited = schedulerWith(null);
  assert.ok([...Array(1000)].every(() => admitted(unlimited) === 'in'));
});

scheduling('hilo: priorities below 0 have their part, rounded up; others are free to take all', () => {
  const scheduler = schedulerWith(5, { strategy: 'hilo', maxLowPercent: 21 });
  const low = (): string => admitted(scheduler, { priority: -1 });
  assert.equal([low(), low(), low()], ['in', 'in', 'svc.query.scheduler.laning.maxLowPercent']);
  assert.equal(
    [1, 2, 3, 4].map(() => admitted(scheduler)),
    ['in', 'in', 'in', 'svc.query.scheduler.numThreads'],
  );
});

for (const [isLimitPercent, limit] of [
  [false, 2],
  [true, 20],
] as const)
  scheduling(`manual: lanes are named by the context, limits ${isLimitPercent ? 'in percent' : 'in queries'}`, () => {
    const scheduler = schedulerWith(10, { strategy: 'manual', lanes: new Map([['reports', limit]]), isLimitPercent });
    const reports = (): string => admitted(scheduler, { lane: 'reports' });
    assert.equal([reports(), reports(), reports()], ['in', 'in', 'svc.query.scheduler.laning.lanes']);
    assert.equal([admitted(scheduler, { lane: 'other' }), admitted(scheduler)], ['in', 'in']);
  });

scheduling('a query counts until its last item was taken, it fails, or it is left early', async () => {
  const scheduler = schedulerWith(1);
  async function* items(fails: boolean): AsyncGenerator<number> {
    yield 1;
    assert.is(admitted(scheduler), 'svc.query.scheduler.numThreads');
    if (fails) throw new Error('half-way');
    yield 2;
  }
  const read = async (fails: boolean, leavesEarly: boolean): Promise<void> => {
    for await (const _ of scheduler.during(asked(), () => items(fails))) if (leavesEarly) break;
  };
  await read(false, false);
  await read(false, true);
  assert.is(await read(true, false).catch((error: Error) => error.message), 'half-way');
  assert.is(admitted(scheduler), 'in');
});

const OFF: PriorityThresholds = { periodMs: null, durationMs: null, segmentCount: null, segmentRangeMs: null, adjustment: 5 };
const WEEK_BACK = [{ start: 93 * DAY, end: 95 * DAY }];

for (const [name, thresholds, expected] of [
  ['none set', OFF, 3],
  ['period not passed', { ...OFF, periodMs: 7 * DAY }, 3],
  ['period passed', { ...OFF, periodMs: 7 * DAY - 1 }, -2],
  ['duration not passed', { ...OFF, durationMs: 2 * DAY }, 3],
  ['duration passed', { ...OFF, durationMs: 2 * DAY - 1 }, -2],
  ['segments not passed', { ...OFF, segmentCount: 3 }, 3],
  ['segments passed', { ...OFF, segmentCount: 2 }, -2],
  ['range not passed: segments of one day count once', { ...OFF, segmentRangeMs: 2 * DAY }, 3],
  ['range passed', { ...OFF, segmentRangeMs: 2 * DAY - 1 }, -2],
  ['several passed lower it once', { ...OFF, durationMs: 0, segmentCount: 0 }, -2],
] as const)
  scheduling(`thresholds: ${name}`, () => {
    assert.is(schedulerWith(null, NONE, thresholds).priorityOf(asked({ priority: 3, intervals: WEEK_BACK })), expected);
  });

scheduling('the lowered priority decides the lane and is what the query runs with', async () => {
  const scheduler = schedulerWith(1, { strategy: 'hilo', maxLowPercent: 100 }, { ...OFF, durationMs: 0 });
  const seen: number[] = [];
  async function* none(): AsyncGenerator<number> {
    yield* [];
  }
  for await (const _ of scheduler.during(asked({ intervals: WEEK_BACK }), (priority) => {
    seen.push(priority);
    return none();
  }));
  assert.equal(seen, [-5]);
});

const PREFIX = 'svc.query.scheduler.';
for (const [flags, missing] of [
  [['laning.strategy=hilo', 'numThreads=10'], 'laning.maxLowPercent'],
  [['laning.strategy=hilo', 'laning.maxLowPercent=10'], 'numThreads'],
  [['laning.strategy=manual'], 'laning.lanes'],
  [['laning.strategy=manual', 'laning.lanes={"a":1}', 'laning.isLimitPercent=true'], 'numThreads'],
  [['prioritization.strategy=threshold'], 'prioritization.periodThreshold'],
] as const)
  scheduling(`properties that need another are refused: ${flags.join(' ')}`, () => {
    const configuration = Configuration.read({ flags: flags.map((flag) => PREFIX + flag), strict: true });
    assert.throws(
      () => schedulerOf(configuration, { candidates: () => [] }, () => 0),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && error.message.includes(PREFIX + missing),
    );
  });

for (const lanes of ['{"a":0}', '{"a":1.5}', '{"a":"1"}', '[]', 'a=1'])
  scheduling(`limits that are none are refused: ${lanes}`, () => {
    assert.throws(() => Configuration.read({ flags: [`${PREFIX}laning.lanes=${lanes}`] }), 'laning.lanes');
  });

scheduling('properties make the scheduler they describe', () => {
  const flags = ['numThreads=4', 'laning.strategy=manual', 'laning.lanes={"a":25}', 'laning.isLimitPercent=true'];
  const scheduler = schedulerOf(
    Configuration.read({ flags: flags.map((flag) => PREFIX + flag), strict: true }),
    { candidates: () => [] },
    () => 0,
  );
  assert.equal(
    [1, 2].map(() => admitted(scheduler, { lane: 'a' })),
    ['in', 'svc.query.scheduler.laning.lanes'],
  );
});

scheduling.run();

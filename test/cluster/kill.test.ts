import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Period, parsePeriod } from '../../src/base/time.js';
import { DYNAMIC_CONFIG_DEFAULTS, mergeDynamicConfig, parseDynamicConfig } from '../../src/cluster/coordinator/dynamic-config.js';
import { inTurn, KillDuty, type KillSettings, killSlotsOf, umbrellaOf } from '../../src/cluster/coordinator/kill-duty.js';
import { KillRuns } from '../../src/cluster/overlord/kill-runs.js';
import { describeKillTask, parseKillPayload } from '../../src/cluster/overlord/kill-task.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { Database } from '../../src/metadata/database.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { insertSegments, selectSegments } from '../../src/metadata/segments.js';
import { findTask, insertTask, moveTask, noteReport, taskDocuments } from '../../src/metadata/tasks.js';
import { DAY, day, openMetadata, pushed } from '../metadata/fixture.js';

const NOW = 1000 * DAY;
const VERSIONS = ['2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z'];

/** Unused segments of days 0 to 4, two versions a day, those of day n unused since day 900 + n; and one that is used. */
async function withSegments(work: (database: Database) => Promise<void>, dataSources: readonly string[] = ['ds']): Promise<void> {
  const { database, close } = await openMetadata();
  try {
    for (const dataSource of dataSources)
      for (let number = 0; number < 6; number++)
        for (const version of VERSIONS) {
          const { interval, ...file } = pushed(day(number));
          const id = { dataSource, interval, version, partitionNumber: 0 };
          await insertSegments(database, [{ id, shardSpec: { type: 'numbered', partitionNum: 0, partitions: 1 }, ...file }], NOW, 1);
          if (number < 5)
            await database.rows('UPDATE segments SET used = 0, used_changed_ms = ? WHERE data_source = ? AND start_ms = ?', [
              (900 + number) * DAY,
              dataSource,
              interval.start,
            ]);
        }
    await work(database);
  } finally {
    await close();
  }
}

const left = async (database: Database): Promise<readonly string[]> =>
  (await selectSegments(database, {})).map(({ id }) => `${id.interval.start / DAY}v${VERSIONS.indexOf(id.version) + 1}`);

/** Runs a kill task to its end; gives the counts of its report. */
async function kill(database: Database, payload: Readonly<Record<string, unknown>>, earlier: unknown = null): Promise<unknown> {
  const document = JSON.stringify({ type: 'kill', dataSource: 'ds', interval: '1970/1980', ...payload });
  const id = `kill ${document}`.slice(0, 100);
  await insertTask(database, { id, groupId: id, type: 'kill', dataSource: 'ds', priority: 0, payload: document }, NOW);
  await moveTask(database, id, 'WAITING', 'PENDING');
  if (earlier !== null) await noteReport(database, id, JSON.stringify(earlier));
  const { epoch } = await takeLease(database, { role: 'overlord', host: 'o', heldEpoch: null, nowMs: Date.now(), leaseMs: 60_000 });
  const removed: string[] = [];
  const runs = new KillRuns({
    database,
    storage: { remove: async ({ path }) => void removed.push(path) },
    fence: () => ({ role: 'overlord', epoch }),
    wake: () => undefined,
    now: () => NOW,
    log: () => undefined,
  });
  const task = await findTask(database, id);
  runs.start(task === undefined ? [] : [task]);
  await runs.ended();
  const ended = await findTask(database, id);
  assert.equal([ended?.state, ended?.error], ['SUCCESS', null]);
  const report = JSON.parse((await taskDocuments(database, id))?.report ?? '{}') as {
    killed: { type: string; taskId: string; payload: { numSegmentsKilled: number } };
  };
  assert.equal([report.killed.type, report.killed.taskId], ['killed', id]);
  if (earlier === null) assert.is(removed.length, report.killed.payload.numSegmentsKilled, 'a file for each row');
  return report.killed.payload;
}

const USED = ['5v1', '5v2'];
const days = (...numbers: number[]): readonly string[] => numbers.flatMap((number) => [`${number}v1`, `${number}v2`]);

const CASES: readonly (readonly [
  name: string,
  payload: Readonly<Record<string, unknown>>,
  left: readonly string[],
  counts: { readonly numSegmentsKilled: number; readonly numBatchesProcessed: number },
])[] = [
  ['all that is unused', {}, USED, { numSegmentsKilled: 10, numBatchesProcessed: 1 }],
  [
    'whole segments of the interval',
    { interval: '1970-01-02/1970-01-03T12' },
    [...days(0, 2, 3, 4), ...USED],
    { numSegmentsKilled: 2, numBatchesProcessed: 1 },
  ],
  ['in batches', { batchSize: 4 }, USED, { numSegmentsKilled: 10, numBatchesProcessed: 3 }],
  [
    'a limit takes the earliest',
    { limit: 3, batchSize: 2 },
    ['1v2', ...days(2, 3, 4), ...USED],
    { numSegmentsKilled: 3, numBatchesProcessed: 2 },
  ],
  [
    'of one version',
    { versions: [VERSIONS[1]] },
    ['0v1', '1v1', '2v1', '3v1', '4v1', ...USED],
    { numSegmentsKilled: 5, numBatchesProcessed: 1 },
  ],
  ['of no version', { versions: [] }, [...days(0, 1, 2, 3, 4), ...USED], { numSegmentsKilled: 0, numBatchesProcessed: 1 }],
  [
    'unused for long',
    { maxUsedStatusLastUpdatedTime: new Date(902 * DAY).toISOString() },
    [...days(3, 4), ...USED],
    { numSegmentsKilled: 6, numBatchesProcessed: 1 },
  ],
  [
    'unused for long, in milliseconds',
    { maxUsedStatusLastUpdatedTime: 900 * DAY },
    [...days(1, 2, 3, 4), ...USED],
    { numSegmentsKilled: 2, numBatchesProcessed: 1 },
  ],
];

const kills = suite('kill');

for (const [name, payload, expected, counts] of CASES)
  kills(name, () =>
    withSegments(async (database) => {
      assert.equal(await kill(database, payload), counts);
      assert.equal(await left(database), expected);
    }),
  );

kills('a limit holds over a change of leaders', () =>
  withSegments(async (database) => {
    const earlier = { killed: { type: 'killed', taskId: 't', payload: { numSegmentsKilled: 2, numBatchesProcessed: 1 } } };
    assert.equal(await kill(database, { limit: 3 }, earlier), { numSegmentsKilled: 3, numBatchesProcessed: 2 });
    assert.is((await left(database)).length, 11);
  }),
);

for (const [payload, message] of [
  [{}, /interval: expected a string/],
  [{ interval: '1970/1971', dataSource: '' }, /dataSource: expected the name of a datasource/],
  [{ interval: 'x' }, /interval: expected an interval/],
  [{ interval: '1970/1971', batchSize: 0 }, /batchSize: expected an integer of at least 1/],
  [{ interval: '1970/1971', limit: -1 }, /limit: expected an integer of at least 1/],
  [{ interval: '1970/1971', versions: 'v' }, /versions: expected an array/],
  [{ interval: '1970/1971', maxUsedStatusLastUpdatedTime: 'yesterday' }, /maxUsedStatusLastUpdatedTime: expected an instant/],
  [{ interval: '1970/1971', markAsUnused: true }, /markAsUnused: true is not supported/],
  [{ interval: '1970/1971', batchsize: 5 }, /unknown key "batchsize"; did you mean "batchSize"/],
] as const)
  kills(`refused: ${JSON.stringify(payload)}`, () =>
    assert.throws(() => parseKillPayload({ type: 'kill', dataSource: 'ds', ...payload }), message),
  );

kills('the payload is shown with its defaults', () =>
  assert.equal(describeKillTask({ type: 'kill', dataSource: 'ds', interval: '1970/1971', limit: 5 }).spec, {
    interval: '1970/1971',
    versions: null,
    batchSize: 100,
    limit: 5,
    maxUsedStatusLastUpdatedTime: null,
  }),
);

const period = (text: string): Period => parsePeriod(text) ?? { months: 0, days: 0, milliseconds: 0 };
const SETTINGS: KillSettings = {
  periodMs: 1000,
  durationToRetain: period('P990D'),
  ignoreDurationToRetain: false,
  bufferPeriod: period('P90D'),
  maxSegments: 100,
  maxInterval: period('P30D'),
};

/** Runs the duty so many times; each task that it submits removes what it names before the next run. */
async function submitted(
  database: Database,
  settings: Partial<KillSettings>,
  config: Readonly<Record<string, unknown>> = {},
  runs = 1,
): Promise<readonly string[]> {
  const found: string[] = [];
  const status = { enabled: true, capacity: 20 };
  const duty = new KillDuty({
    database,
    peers: {
      all: () => [{ service: { status: async () => status } }],
      leading: () => ({
        submit: async (document: string) => {
          const { id, dataSource, interval, limit, maxUsedStatusLastUpdatedTime } = JSON.parse(document) as Record<string, string>;
          assert.match(id ?? '', /^coordinator-issued_kill_/);
          found.push(`${dataSource} ${interval?.replace(/T00:00:00.000Z/g, '')} ${limit} ${maxUsedStatusLastUpdatedTime?.slice(0, 10)}`);
        },
      }),
    } as unknown as Peers,
    kill: { ...SETTINGS, ...settings },
    dynamicConfig: async () => mergeDynamicConfig(DYNAMIC_CONFIG_DEFAULTS, new Map(Object.entries(config))),
    failed: () => assert.unreachable(),
    now: () => NOW,
    log: () => undefined,
  });
  for (let run = 0; run < runs; run++) await duty.run();
  return found;
}

// 90 days before day 1000 is 1972-06-29: days 0 to 4 were unused since 900 to 904, so 910 holds all of them.
const AUTOMATIC: readonly (readonly [
  name: string,
  settings: Partial<KillSettings>,
  config: Readonly<Record<string, unknown>>,
  runs: number,
  expected: readonly string[],
])[] = [
  ['all that is old enough', {}, {}, 1, ['ds 1970-01-01/1970-01-06 100 1972-06-29']],
  ['no newer than it is to be kept', { durationToRetain: period('P998D') }, {}, 1, ['ds 1970-01-01/1970-01-03 100 1972-06-29']],
  [
    'what is to be kept does not matter',
    { durationToRetain: period('P2000D'), ignoreDurationToRetain: true },
    {},
    1,
    ['ds 1970-01-01/1970-01-06 100 1972-06-29'],
  ],
  ['within the buffer period', { bufferPeriod: period('P101D') }, {}, 1, []],
  ['unused by then', { bufferPeriod: period('P98D') }, {}, 1, ['ds 1970-01-01/1970-01-04 100 1972-06-21']],
  [
    'no more segments than a task may remove; the next task goes on',
    { maxSegments: 4 },
    {},
    2,
    ['ds 1970-01-01/1970-01-03 4 1972-06-29', 'ds 1970-01-03/1970-01-05 4 1972-06-29'],
  ],
  ['no longer than a task may reach', { maxInterval: period('P2D') }, {}, 1, ['ds 1970-01-01/1970-01-03 100 1972-06-29']],
  ['datasources of the list', {}, { killDataSourceWhitelist: 'other, more' }, 1, []],
  ['no slot', {}, { killTaskSlotRatio: 0 }, 1, []],
];
for (const [name, settings, config, runs, expected] of AUTOMATIC)
  kills(`automatic: ${name}`, () =>
    withSegments(async (database) => assert.equal(await submitted(database, settings, config, runs), expected)),
  );

kills('automatic: datasources take turns in the slots there are', () =>
  withSegments(
    async (database) => {
      const found = await submitted(database, {}, { maxKillTaskSlots: 2, killTaskSlotRatio: 1 }, 2);
      assert.equal(
        found.map((each) => each.split(' ')[0]),
        ['a', 'b', 'c'],
      );
    },
    ['b', 'a', 'c'],
  ),
);

kills('automatic: a datasource with a task under way has no second one', () =>
  withSegments(async (database) => {
    const id = 'coordinator-issued_kill_1';
    await insertTask(database, { id, groupId: id, type: 'kill', dataSource: 'ds', priority: 0, payload: '{}' }, NOW);
    assert.equal(await submitted(database, {}, { killTaskSlotRatio: 1 }), []);
  }),
);

kills('turns, intervals and slots', () => {
  assert.equal(inTurn(['c', 'a', 'b', 'a'], 'a'), ['b', 'c', 'a']);
  assert.is(umbrellaOf([], period('P1D')), undefined);
  assert.equal(umbrellaOf([day(0), { start: 0, end: 9 * DAY }, day(5)], period('P2D')), { start: 0, end: 9 * DAY });
  assert.equal(umbrellaOf([day(0), day(50)], period('PT0S')), { start: 0, end: 51 * DAY });
  const slots = (killTaskSlotRatio: number, maxKillTaskSlots: number): number =>
    killSlotsOf({ ...parseDynamicConfig({}), killTaskSlotRatio, maxKillTaskSlots }, 20);
  assert.equal([slots(0.5, 100), slots(0.5, 3), slots(0.01, 100), slots(0, 100), slots(1, 0)], [10, 3, 1, 0, 0]);
});

kills('dynamic configuration', () => {
  const merge = (changes: Readonly<Record<string, unknown>>) =>
    mergeDynamicConfig(DYNAMIC_CONFIG_DEFAULTS, new Map(Object.entries(changes)));
  assert.equal(merge({ killDataSourceWhitelist: ' a, b ,' }).killDataSourceWhitelist, ['a', 'b']);
  assert.is(merge({ killTaskSlotRatio: 0.25 }).killTaskSlotRatio, 0.25);
  assert.throws(() => merge({ killTaskSlotRatio: 1.5 }), /killTaskSlotRatio: found 1.5, expected a number from 0 to 1/);
  assert.throws(() => merge({ maxKillTaskSlots: -1 }), /maxKillTaskSlots: found -1, expected an integer from 0 to 2147483647/);
  // Earlier versions have stored such numbers.
  assert.equal(parseDynamicConfig({ maxSegmentsToMove: -5, replicantLifetime: 1e300, pauseCoordination: true }), {
    ...DYNAMIC_CONFIG_DEFAULTS,
    ...{ maxSegmentsToMove: 0, replicantLifetime: 2 ** 31 - 1, pauseCoordination: true },
  });
  assert.throws(() => merge({ killDataSourceWhitelist: 7 }), /expected an array of strings/);
});

kills.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { Interval } from '../../src/base/instant.js';
import { ResultKeys } from '../../src/cluster/broker/result-cache.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import { FrameCache } from '../../src/cluster/frame-cache.js';
import type { RunPlanRequest } from '../../src/cluster/rpc/services.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, SegmentMetadataPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { brokerOver, EVERYWHERE, ids, NEW, OLD, options, rowsOf } from './broker-over.js';
import { DAY, inventoryOf, scanPlan } from './fakes.js';

const queries = suite('broker queries');

queries('one server finishes the query by itself; several give parts that are merged', async () => {
  const alone = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD) } });
  assert.is(await rowsOf(alone.broker.run(scanPlan('ds'), options())), 3);
  assert.equal(
    alone.asked.map(({ ending }) => ending),
    ['final'],
  );
  const split = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD.slice(0, 1)) }, b: { ids: ids(OLD.slice(1)) } });
  assert.is(await rowsOf(split.broker.run(scanPlan('ds'), options())), 3);
  assert.equal(
    split.asked.map(({ ending }) => ending),
    ['partial', 'partial'],
  );
  await alone.broker.stop();
  await split.broker.stop();
});

const groups: GroupPlan = { ...scanPlan('ds'), operator: 'group', keys: [], aggregators: [], emptyGroup: false };
const analysis: SegmentMetadataPlan = {
  ...scanPlan('ds'),
  operator: 'segmentMetadata',
  analyses: [],
  columns: { kind: 'all' },
  merge: false,
};
const dayOf = (number: number) => ({ start: number * DAY, end: (number + 1) * DAY });
const UNREADABLE: readonly [what: string, segments: readonly SegmentDescriptor[], interval: Interval | null, refused: readonly number[]][] =
  [
    ['a segment beside the others', OLD, dayOf(5), [5]],
    ['a segment among the others', OLD, dayOf(1), [1]],
    ['a segment of an interval that is not known', OLD, null, [0, 1, 2, 5, 9]],
    ['the only segment', [], dayOf(1), [1]],
  ];
for (const [what, segments, interval, refused] of UNREADABLE)
  queries(`${what} cannot be read: what touches it is refused, and nothing else`, async () => {
    const unreadable = [{ id: 'x', dataSource: 'ds', interval }];
    const { broker } = await brokerOver({ revision: 1, segments, unreadable }, { a: { ids: ids(segments) } });
    assert.equal(broker.tables(), ['ds']);
    for (const day of [0, 1, 2, 5, 9]) {
      const intervals = [dayOf(day)];
      const ways: readonly (() => Promise<unknown>)[] = [
        () => rowsOf(broker.run({ ...scanPlan('ds'), intervals }, options())),
        () => rowsOf(broker.run({ ...groups, intervals, withinData: true }, options())),
        async () => {
          for await (const all of broker.bySegment('ds', { intervals }, options()))
            for (const { run } of all) await rowsOf(run({ ...scanPlan('ds'), intervals }));
        },
        () => broker.analyze({ ...analysis, intervals }, options()),
      ];
      const codes = await Promise.all(
        ways.map((way) =>
          way().then(
            () => 'answered',
            (error: ServiceError) => error.code,
          ),
        ),
      );
      const expected = refused.includes(day) ? 'segments_unavailable' : 'answered';
      assert.equal(
        codes,
        ways.map(() => expected),
        `day ${day}`,
      );
    }
    await broker.stop();
  });

queries('a result in the cache is known by its plan, over the same segments and where it may be used', async () => {
  const cache = { frames: new FrameCache(1e6), reads: true, writes: true };
  const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE }, cache);
  const table = { kind: 'table', name: 'ds' } as const;
  const use = { kernels: null };
  assert.is(broker.knownResult(groups, table, use), undefined);
  assert.is(await rowsOf(broker.runOver(groups, table, options())), 3);
  const rowCounts = (...[plan, source, asks]: Parameters<typeof broker.knownResult>) =>
    broker.knownResult(plan, source, asks)?.map(({ rowCount }) => rowCount);
  assert.equal(rowCounts(groups, table, use), [3]);
  const caching = { useCache: true, populateCache: true, useResultLevelCache: false, populateResultLevelCache: true };
  for (const other of [{ kernels: 'scalar' }, { ...use, caching }, { ...use, realtimeSegmentsOnly: true }])
    assert.is(rowCounts(groups, table, other), undefined);
  assert.is(rowCounts(structuredClone(groups), table, use), undefined);
  assert.is(rowCounts(groups, { kind: 'table', name: 'other' }, use), undefined);
  assert.is(rowCounts(groups, { kind: 'query', plan: groups, source: table }, use), undefined);
  // Scans are not kept.
  const scan = scanPlan('ds');
  assert.is(await rowsOf(broker.runOver(scan, table, options())), 3);
  assert.is(rowCounts(scan, table, use), undefined);
  assert.is(asked.length, 2);
  await broker.stop();
});

queries('over other segments a result is not known', async () => {
  const cache = { frames: new FrameCache(1e6), reads: true, writes: true };
  const keys = new ResultKeys();
  const view = new ClusterView();
  await view.updateServers([inventoryOf('a', [...ids(OLD), ...ids(NEW)])]);
  await view.adopt({ revision: 1, segments: OLD });
  const before = view.find('ds');
  assert.ok(before !== undefined);
  await rowsOf(cache.frames.keep('key', streamOf({ rowCount: 1, columns: [] })));
  keys.note(groups, { view: before, kernels: null, key: 'key' });
  assert.is(keys.find(cache, groups, before, { kernels: null })?.length, 1);
  await view.adopt({ revision: 2, segments: NEW });
  const after = view.find('ds');
  assert.ok(after !== undefined);
  assert.is(keys.find(cache, groups, after, { kernels: null }), undefined);
  assert.is(keys.find({ ...cache, reads: false }, groups, before, { kernels: null }), undefined);
});

async function* streamOf(...frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

queries('an unknown datasource is empty', async () => {
  const { broker, asked } = await brokerOver({ revision: 1, segments: [] }, {});
  assert.is(await rowsOf(broker.run(scanPlan('nowhere'), options())), 0);
  assert.is(asked.length, 0);
  await broker.stop();
});

/** A server whose process is gone: before its first rows, or after them. */
const gone = (rowsBefore: number) =>
  async function* (): AsyncIterable<Frame> {
    if (rowsBefore > 0) yield { rowCount: rowsBefore, columns: [] };
    throw new ServiceError('unavailable', 'cannot reach a');
  };
for (const [name, plan, historicals, rows, endings] of [
  ['one that is gone is replaced', scanPlan('ds'), { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) }, b: EVERYWHERE }, 3, ['final']],
  [
    'what it had by several, whose parts are merged',
    scanPlan('ds'),
    { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) }, b: { ids: ids(OLD.slice(0, 1)) }, c: { ids: ids(OLD.slice(1)) } },
    3,
    ['partial'],
  ],
  [
    'partial groups that came before it went are not counted twice',
    groups,
    { a: { ids: ids(OLD.slice(0, 2)), priority: 1, runPlan: gone(2) }, b: EVERYWHERE },
    3,
    ['partial'],
  ],
] as const)
  queries(`a server of a query: ${name}`, async () => {
    const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, historicals);
    const profile = newProfile();
    assert.is(await rowsOf(broker.run(plan, { ...options(), profile })), rows);
    assert.equal([...new Set(asked.map(({ ending }) => ending))], endings);
    assert.ok(profile.segmentsRetried > 0);
    await broker.stop();
  });

for (const [name, historicals, code] of [
  ['nobody else has its segments', { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) } }, 'segments_unavailable'],
  [
    'rows were handed on already',
    { a: { ...EVERYWHERE, priority: 1, runPlan: gone(2) }, b: { ...EVERYWHERE, runPlan: gone(2) } },
    'unavailable',
  ],
  [
    'the second one is gone too',
    { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) }, b: { ...EVERYWHERE, runPlan: gone(0) } },
    'unavailable',
  ],
] as const)
  queries(`a query whose server is gone fails when ${name}`, async () => {
    const { broker } = await brokerOver({ revision: 1, segments: OLD }, historicals);
    assert.is(await rowsOf(broker.run(scanPlan('ds'), options())).catch((error: ServiceError) => error.code), code);
    await broker.stop();
  });

/** A server that tells of what it serves from the second look on. */
const newlyServing = () => {
  let looks = 0;
  return { ...EVERYWHERE, inventoryAfter: async () => inventoryOf('b', looks++ === 0 ? [] : ids(OLD)) };
};

queries('a server that is gone is replaced by one that serves its segments since a moment ago', async () => {
  const { broker } = await brokerOver(
    { revision: 1, segments: OLD },
    { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) }, b: newlyServing() },
  );
  assert.is(await rowsOf(broker.run(scanPlan('ds'), options())), 3);
  await broker.stop();
});

for (const [name, other] of [
  ['already', { ...EVERYWHERE }],
  ['since a moment ago', newlyServing()],
] as const)
  queries(`an analysis of segments whose server is gone is made by one that serves them ${name}`, async () => {
    const refuse = async (): Promise<never> => {
      throw new ServiceError('unavailable', 'cannot reach a');
    };
    const analyzeSegments = async ({ segmentIds }: RunPlanRequest) => segmentIds.map((id) => ({ id }) as SegmentAnalysis);
    const { broker } = await brokerOver(
      { revision: 1, segments: OLD },
      { a: { ...EVERYWHERE, priority: 1, analyzeSegments: refuse }, b: { ...other, analyzeSegments } },
    );
    const found = await broker.analyze(analysis, options());
    assert.equal(found.map(({ id }) => id).sort(), ids(OLD).sort());
    await broker.stop();
  });

queries('each segment of a query is run over by itself, in the part of it that is visible', async () => {
  const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD) } });
  const found: string[] = [];
  const intervals = [{ start: OLD[0]?.id.interval.start ?? 0, end: Infinity }];
  for await (const all of broker.bySegment('ds', { intervals }, options()))
    for (const { id, interval, run } of all) {
      const segment = OLD.find((each) => segmentIdText(each.id) === id);
      assert.equal(interval, segment?.id.interval);
      await rowsOf(run(scanPlan('ds')));
      found.push(id);
    }
  assert.equal(found, ids(OLD));
  assert.equal(
    asked.map(({ segmentIds, ending }) => [segmentIds, ending]),
    ids(OLD).map((id) => [[id], 'final']),
  );
  await broker.stop();
});

queries('a query of named segments reads those only: its rows, results by segment and candidates', async () => {
  const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD) } });
  const part = { start: 2 * DAY, end: 2 * DAY + 5 };
  const named = {
    intervals: [dayOf(0), part],
    segments: [dayOf(0), part].map((interval) => ({ interval, version: 'v1', partitionNumber: 0 })),
  };
  const [first, , last] = ids(OLD);
  await rowsOf(broker.run({ ...scanPlan('ds'), ...named }, options()));
  assert.equal(
    asked.map(({ segmentIds, plan }) => [segmentIds, plan.intervals, plan.segments]),
    [
      [[first], named.intervals, undefined],
      [[last], [part], undefined],
    ],
  );
  const shown: [string, Interval][] = [];
  for await (const all of broker.bySegment('ds', named, options())) for (const { id, interval } of all) shown.push([id, interval]);
  assert.equal(shown, [
    [first, dayOf(0)],
    [last, part],
  ]);
  assert.equal(
    broker.candidates('ds', named).map(({ segment }) => segmentIdText(segment.id)),
    [first, last],
  );
  await broker.stop();
});

queries('without published segments a table has no rows', async () => {
  const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD) } });
  assert.is(await rowsOf(broker.run(scanPlan('ds'), { ...options(), realtimeSegmentsOnly: true })), 0);
  assert.equal(asked, []);
  await broker.stop();
});

queries('gathered rows have a limit', async () => {
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD) } });
  const read = (maxScatterGatherBytes: number) => rowsOf(broker.run(scanPlan('ds'), { ...options(), limits: { maxScatterGatherBytes } }));
  assert.is(await read(100_000), 3);
  const refusal = await read(1).catch((error: ServiceError) => error);
  assert.ok(refusal instanceof ServiceError && refusal.code === 'resource_limit' && refusal.message.includes('maxScatterGatherBytes'));
  await broker.stop();
});

/** Reads until its signal fires. */
async function* untilAborted(_request: RunPlanRequest, signal: AbortSignal): AsyncIterable<Frame> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
}

for (const [name, code, end] of [
  ['cancelling by id ends every query of that id', 'cancelled', 'cancel'],
  ['the deadline ends a query', 'timeout', 'deadline'],
] as const)
  queries(name, async () => {
    const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD), runPlan: untilAborted } });
    const running = [1, 2].map(() =>
      rowsOf(broker.run(scanPlan('ds'), options('same', end === 'deadline' ? 100 : 20_000))).catch((error: ServiceError) => error.code),
    );
    await new Promise((resolve) => setImmediate(resolve));
    if (end === 'cancel') assert.is(broker.cancel('same'), true);
    assert.equal(await Promise.all(running), [code, code]);
    assert.is(broker.cancel('same'), false);
    assert.equal(await broker.revisionsInUse(), { ds: 1 });
    await broker.stop();
  });

queries.run();

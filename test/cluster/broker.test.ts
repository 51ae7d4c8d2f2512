import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { ServiceError } from '../../src/base/errors.js';
import type { Interval } from '../../src/base/instant.js';
import { Broker } from '../../src/cluster/broker/broker.js';
import type { QueryOptions } from '../../src/cluster/broker/contract.js';
import { type ResultCache, ResultKeys } from '../../src/cluster/broker/result-cache.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import { FrameCache } from '../../src/cluster/frame-cache.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type {
  CoordinatorService,
  HistoricalService,
  RunPlanRequest,
  SegmentsSnapshot,
  UsedSegment,
} from '../../src/cluster/rpc/services.js';
import type { Engine } from '../../src/execution/run/engine.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, SegmentMetadataPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { SegmentAnalysis, SegmentDescriptor, SegmentSlice } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, emptyHistorical, inventoryOf, scanPlan, segmentOf } from './fakes.js';

const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));
const _versionsOf = (view: ClusterView, dataSource = 'ds'): readonly string[] =>
  view.find(dataSource)?.chunks.map((chunk) => chunk.version) ?? [];

const OLD = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
const NEW = [0, 1, 2].map((day) => segmentOf('ds', day, 'v2'));

const queries = suite('broker queries');

/** A broker over fake historicals whose frames name the host and the segments that were read. */
async function brokerOver(
  snapshot: SegmentsSnapshot,
  historicals: Readonly<Record<string, Partial<HistoricalService> & { readonly ids: readonly string[]; readonly priority?: number }>>,
  results: ResultCache | null = null,
  { coordinator = {}, starts = true }: { readonly coordinator?: Partial<CoordinatorService>; readonly starts?: boolean } = {},
) {
  const asked: RunPlanRequest[] = [];
  const services = Object.entries(historicals).map(([host, { ids: served, priority = 0, ...methods }]) => ({
    host,
    session: 's',
    service: {
      ...emptyHistorical(),
      inventoryAfter: async () => inventoryOf(host, served, { priority }),
      async *runPlan(request: RunPlanRequest): AsyncIterable<Frame> {
        asked.push(request);
        yield { rowCount: request.segmentIds.length, columns: [] };
      },
      ...methods,
    },
  }));
  const peers = {
    all: (role: string) => (role === 'task' ? [] : services),
    at: (_role: string, host: string) => services.find((each) => each.host === host)?.service,
    leading: () => ({
      snapshotAfter: async () => snapshot,
      lookupsAfter: async () => null,
      usedSegments: async () => [],
      ...coordinator,
    }),
  } as unknown as Peers;
  const engine: Engine = {
    run: () => never(),
    async *runViews() {},
    async *merge(_plan, partials) {
      let rowCount = 0;
      for (const partial of partials) for await (const frame of partial) rowCount += frame.rowCount;
      yield { rowCount, columns: [] };
    },
    runRows: () => never(),
    build: () => never(),
    runUploaded: () => never(),
    reserveUpload: () => never(),
    releaseUpload: () => never(),
    counters: { rowsScanned: 0, rowsMatched: 0, segments: 0 },
    close: async () => undefined,
  };
  const broker = new Broker({
    engine,
    peers,
    retries: 1,
    exactSums: false,
    results,
    gatherBytesMax: null,
    heldBytesMax: Infinity,
    lookups: new LookupStore(lookupSettings()),
    lookupTier: '__default',
    pollMs: 60_000,
    now: Date.now,
    log: () => undefined,
  });
  if (starts) await broker.start();
  return { broker, asked };
}

function never(): never {
  throw new Error('not asked in these tests');
}

const options = (queryId = 'q', timeoutMs = 20_000): QueryOptions => ({
  queryId,
  deadlineMs: Date.now() + timeoutMs,
  priority: 0,
  kernels: null,
  signal: new AbortController().signal,
});

async function rowsOf(frames: AsyncIterable<Frame>): Promise<number> {
  let rows = 0;
  for await (const frame of frames) rows += frame.rowCount;
  return rows;
}

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
          for await (const { run } of broker.bySegment('ds', { intervals }, options())) await rowsOf(run({ ...scanPlan('ds'), intervals }));
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
  view.adopt({ revision: 1, segments: OLD });
  const before = view.find('ds');
  assert.ok(before !== undefined);
  await rowsOf(cache.frames.keep('key', streamOf({ rowCount: 1, columns: [] })));
  keys.note(groups, { view: before, kernels: null, key: 'key' });
  assert.is(keys.find(cache, groups, before, { kernels: null })?.length, 1);
  view.adopt({ revision: 2, segments: NEW });
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
const EVERYWHERE = { ids: ids(OLD) };

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
  ['nobody else has its segments', { a: { ...EVERYWHERE, priority: 1, runPlan: gone(0) } }, 'unavailable'],
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
  for await (const { id, interval, run } of broker.bySegment(
    'ds',
    { intervals: [{ start: OLD[0]?.id.interval.start ?? 0, end: Infinity }] },
    options(),
  )) {
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
  for await (const { id, interval } of broker.bySegment('ds', named, options())) shown.push([id, interval]);
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

const taskQuery = {
  taskId: 't',
  plan: scanPlan('ds'),
  source: { kind: 'table', name: 'ds' },
  pinned: null,
  deadlineMs: Date.now() + 60_000,
} as const;
const UNENDING = new AbortController().signal;
const soon = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 150));

queries('a task waits for a broker that knows no segments yet, and then reads all of them', async () => {
  const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE }, null, { starts: false });
  const rows = rowsOf(broker.runForTask(taskQuery, UNENDING));
  await soon();
  assert.equal([broker.ready, asked.length], [false, 0]);
  await broker.start();
  assert.is(await rows, 3);
  assert.is(broker.ready, true);
  await broker.stop();
});

/** A datasource of three segments, to which one more is published that is not served yet. */
async function withUnserved(rest: Partial<CoordinatorService> = {}) {
  const all = [...OLD, segmentOf('ds', 3, 'v1')];
  let newest: SegmentsSnapshot = { revision: 1, segments: OLD };
  let served = inventoryOf('a', ids(OLD));
  const coordinator = { snapshotAfter: async (revision: number | null) => (revision === newest.revision ? null : newest), ...rest };
  const parts = await brokerOver(newest, { a: { ids: [], inventoryAfter: async () => served } }, null, { coordinator });
  newest = { revision: 2, segments: all };
  const serve = (): void => {
    served = inventoryOf('a', ids(all));
  };
  return { ...parts, serve };
}

queries('a task waits for what was published before it, which other queries do not', async () => {
  const { broker, asked, serve } = await withUnserved();
  const rows = rowsOf(broker.runForTask(taskQuery, UNENDING));
  await soon();
  assert.is(asked.length, 0);
  assert.is(await rowsOf(broker.run(scanPlan('ds'), options())), 3);
  serve();
  assert.is(await rows, 4);
  await broker.stop();
});

queries('a task reads segments that are in use and loaded nowhere, which a server fetches; other queries do not', async () => {
  const segment = segmentOf('ds', 3, 'v1');
  const readWith = async (used: Omit<UsedSegment, 'segment'> & Partial<UsedSegment>) => {
    const coordinator = { usedSegments: async () => [{ segment, ...used }] };
    const { broker, asked } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE }, null, { coordinator });
    const rows = await rowsOf(broker.runForTask(taskQuery, UNENDING));
    assert.is(await rowsOf(broker.run(scanPlan('ds'), options())), 3);
    await broker.stop();
    return [rows, asked[0]?.fetched?.map(({ id }) => segmentIdText(id)), asked[1]?.fetched];
  };
  assert.equal(await readWith({ overshadowed: false, replicationFactor: 0 }), [4, ids([segment]), undefined]);
  assert.equal(await readWith({ overshadowed: false, replicationFactor: 1 }), [3, undefined, undefined]);
  assert.equal(await readWith({ overshadowed: true, replicationFactor: 0 }), [3, undefined, undefined]);
  assert.equal(await readWith({ overshadowed: false, replicationFactor: 0, segment: segmentOf('other', 3, 'v1') }), [
    3,
    undefined,
    undefined,
  ]);
  // A newer one hides what is loaded.
  assert.equal(await readWith({ overshadowed: false, replicationFactor: 0, segment: segmentOf('ds', 1, 'v2') }), [
    3,
    ids([segmentOf('ds', 1, 'v2')]),
    undefined,
  ]);
});

queries('a task reads a datasource that is loaded nowhere, from any server; without servers it is refused', async () => {
  const coordinator = { usedSegments: async () => OLD.map((segment) => ({ segment, overshadowed: false, replicationFactor: 0 })) };
  const some = await brokerOver({ revision: 1, segments: [] }, { a: { ids: [] }, b: { ids: [], priority: 1 } }, null, { coordinator });
  assert.is(await rowsOf(some.broker.runForTask(taskQuery, UNENDING)), 3);
  assert.is(some.asked.length, 1);
  await some.broker.stop();
  const none = await brokerOver({ revision: 1, segments: [] }, {}, null, { coordinator });
  const refused = await rowsOf(none.broker.runForTask(taskQuery, UNENDING)).catch(
    (error: ServiceError) => `${error.code}: ${error.message}`,
  );
  assert.match(String(refused), /segments_unavailable: segment .* is loaded nowhere, and no Historical is there to fetch it/);
  await none.broker.stop();
});

queries('a task that replaces beside appends reads the segments that it was given, or nothing', async () => {
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE });
  const [first, second] = OLD.map(({ id }) => segmentIdText(id));
  const readWith = (ids: readonly (string | undefined)[], dataSource = 'ds', segments?: readonly SegmentSlice[]) => {
    const pinned = { dataSource, intervals: [{ start: -1000 * DAY, end: 1000 * DAY }], ids: ids.map(String) };
    const plan = segments === undefined ? taskQuery.plan : { ...taskQuery.plan, segments };
    return rowsOf(broker.runForTask({ ...taskQuery, plan, pinned }, UNENDING)).catch((error: ServiceError) => error.code);
  };
  assert.is(await readWith([first, second]), 2);
  assert.is(await readWith([]), 0);
  assert.is(await readWith([], 'other'), 3);
  assert.is(await readWith([first, 'gone']), 'segments_unavailable');
  // One of the workers of a statement, which reads its share of them.
  assert.is(await readWith([first, second], 'ds', [{ interval: { start: 0, end: DAY }, version: 'v1', partitionNumber: 0 }]), 1);
  await broker.stop();
});

queries('a task that is ended while it waits reads nothing', async () => {
  const { broker, asked } = await withUnserved();
  const controller = new AbortController();
  const rows = rowsOf(broker.runForTask(taskQuery, controller.signal)).catch((error: ServiceError) => error.code);
  await soon();
  controller.abort();
  assert.is(await rows, 'cancelled');
  assert.is(asked.length, 0);
  await broker.stop();
});

queries('facts learned by a poll are kept when it fails half-way', async () => {
  let fails = 0;
  const { broker, serve } = await withUnserved({
    async lookupsAfter() {
      if (fails-- > 0) throw new ServiceError('unavailable', 'gone for a moment');
      return null;
    },
  });
  serve();
  fails = 1;
  assert.is(await rowsOf(broker.runForTask(taskQuery, UNENDING)), 4);
  await broker.stop();
});

queries.run();

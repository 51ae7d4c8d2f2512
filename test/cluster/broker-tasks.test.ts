import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { CoordinatorService, SegmentsSnapshot, UsedSegment } from '../../src/cluster/rpc/services.js';
import type { SegmentSlice } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { brokerOver, EVERYWHERE, ids, OLD, options, rowsOf } from './broker-over.js';
import { DAY, inventoryOf, scanPlan, segmentOf } from './fakes.js';

/** Queries that tasks ask of a broker. */
const queries = suite('queries of tasks');

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

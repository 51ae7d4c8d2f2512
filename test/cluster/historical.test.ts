import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heldLookups } from '../../bench/lookup-settings.js';
import { ServiceError } from '../../src/base/errors.js';
import { FrameCache } from '../../src/cluster/frame-cache.js';
import { Historical } from '../../src/cluster/historical/historical.js';
import { LocalSegments } from '../../src/cluster/historical/local-segments.js';
import { RunGate } from '../../src/cluster/historical/run-gate.js';
import { SegmentCache } from '../../src/cluster/historical/segment-cache.js';
import { SegmentResults } from '../../src/cluster/historical/segment-results.js';
import type { Engine } from '../../src/execution/run/engine.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { SegmentStore } from '../../src/storage/contract.js';
import { createLocalDeepStorage } from '../../src/storage/deep/local-deep-storage.js';
import { scanPlan, segmentOf } from './fakes.js';

/** Opens files whose content is `good`, fails by itself for those with `unlucky`; the rest is corrupt. */
function fakeStore(): SegmentStore & { readonly opened: Set<string>; readonly pinned: Set<string>; damage(id: string): void } {
  const opened = new Set<string>();
  const pinned = new Set<string>();
  let damaged: (id: string, error: ServiceError) => void = () => undefined;
  return {
    opened,
    pinned,
    damage: (id) => damaged(id, new ServiceError('segment_corrupt', 'a block does not match its checksum')),
    onDamage: (listener) => {
      damaged = listener;
    },
    async open(file, descriptor) {
      const content = await readFile(file, 'utf8');
      if (content === 'unlucky') throw new ServiceError('internal', 'a processing thread ended');
      if (content !== 'good') throw new ServiceError('segment_corrupt', `${file} is damaged`);
      opened.add(segmentIdText(descriptor.id));
    },
    async close(id) {
      while (pinned.has(id)) await new Promise((resolve) => setTimeout(resolve, 2));
      opened.delete(id);
    },
    has: (id) => opened.has(id),
    isPinned: (id) => pinned.has(id),
    schema: () => [],
    span: () => ({ rowCount: 0, timeMin: 0, timeMax: 0 }),
    pin: () => Promise.reject(new Error('not asked')),
    analyze: () => Promise.reject(new Error('not asked')),
    large: async () => [],
    unloaded: () => null,
    findStrings: async () => new Uint32Array(0),
    residentBytes: 0,
  };
}

interface Context {
  folder: string;
  /** @param early  done before what is on disk is verified */
  start(
    dropDelayMs?: number,
    early?: (historical: Historical) => unknown,
  ): Promise<{ historical: Historical; store: ReturnType<typeof fakeStore>; changes: number[] }>;
  publish(segment: SegmentDescriptor, content?: string): void;
}

const historicals = suite<Context>('historical');

historicals.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-historical-'));
  const deep = join(folder, 'deep');
  context.folder = folder;
  context.publish = (segment, content = 'good') => {
    mkdirSync(join(deep, segment.loadSpec.path, '..'), { recursive: true });
    writeFileSync(join(deep, segment.loadSpec.path), content);
  };
  context.start = async (dropDelayMs = 0, early = () => undefined) => {
    const store = fakeStore();
    const changes: number[] = [];
    const historical = new Historical({
      host: 'h:1',
      tier: '_default_tier',
      priority: 0,
      maxSizeBytes: 1000,
      segments: new LocalSegments(new SegmentCache(join(folder, 'cache'), createLocalDeepStorage(deep)), store),
      store,
      engine: { run: () => frames() } as unknown as Engine,
      results: new SegmentResults({ frames: new FrameCache(0), reads: false, writes: false }),
      gate: new RunGate(1, 100),
      lookups: heldLookups(),
      loadsAtATime: 4,
      dropDelayMs,
      session: 's',
      onChange: () => changes.push(1),
      log: () => undefined,
    });
    early(historical);
    await historical.start();
    return { historical, store, changes };
  };
});
historicals.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

async function* frames() {
  yield { rowCount: 1, columns: [] };
}

const A = segmentOf('ds', 0, 'v1');
const B = segmentOf('ds', 1, 'v1');
const idOf = (segment: SegmentDescriptor): string => segmentIdText(segment.id);

async function loaded(historical: Historical): Promise<readonly string[]> {
  while ((await historical.inventory()).loading.length > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  return [...(await historical.inventory()).segmentIds].sort();
}

const request = (segment: SegmentDescriptor) => ({
  queryId: 'q',
  plan: scanPlan('ds'),
  segmentIds: [idOf(segment)],
  ending: 'final' as const,
  deadlineMs: Date.now() + 1000,
  priority: 0,
  kernels: null,
  limits: {},
  useCache: true,
  populateCache: true,
});
const { signal } = new AbortController();

historicals('loads what it is asked to and serves it', async ({ start, publish }) => {
  publish(A);
  publish(B);
  const { historical, changes } = await start();
  const before = (await historical.inventory()).generation;
  await historical.loadSegments([A, B, A]);
  assert.equal(await loaded(historical), [idOf(A), idOf(B)]);
  assert.is((await historical.inventory()).currentSizeBytes, 200);
  assert.is.not((await historical.inventory()).generation, before);
  assert.is(await historical.inventoryAfter((await historical.inventory()).generation), null);
  assert.ok(changes.length >= 2);
  const items = [];
  for await (const item of historical.runPlan(request(A), signal)) items.push('profile' in item ? 'report' : item.rowCount);
  assert.equal(items, [1, 'report']);
  // Groups are through when they come, and the header of the answer is to know of them.
  const group = { ...scanPlan('ds'), operator: 'group', keys: [], aggregators: [], emptyGroup: false } as const;
  const order = [];
  for await (const item of historical.runPlan({ ...request(A), plan: group }, signal))
    order.push('profile' in item ? 'report' : item.rowCount);
  assert.equal(order, ['report', 1]);
});

historicals('after a known generation it tells what has changed since', async ({ start, publish }) => {
  publish(A);
  publish(B);
  const { historical } = await start();
  const began = (await historical.inventory()).generation;
  await historical.loadSegments([A]);
  await loaded(historical);
  const { generation } = await historical.inventory();
  await historical.dropSegments([idOf(A)]);
  await historical.loadSegments([B, segmentOf('ds', 2, 'v1')]);
  const under = await historical.inventoryAfter(generation);
  assert.equal([under?.segmentIds, under?.loading, under?.since], [[], [idOf(B), idOf(segmentOf('ds', 2, 'v1'))], { gone: [idOf(A)] }]);
  await loaded(historical);
  const after = await historical.inventoryAfter(generation);
  assert.equal([after?.segmentIds, after?.loading, after?.since], [[idOf(B)], [], { gone: [idOf(A)] }]);
  assert.equal(Object.keys(after?.failed ?? {}), [idOf(segmentOf('ds', 2, 'v1'))]);
  assert.equal((await historical.inventoryAfter(began))?.since, { gone: [idOf(A)] });
  assert.is((await historical.inventoryAfter('an earlier process-0'))?.since, undefined);
});

historicals('a segment it does not serve is unavailable', async ({ start }) => {
  const { historical } = await start();
  assert.throws(
    () => historical.runPlan(request(A), signal),
    (error: unknown) => error instanceof ServiceError && error.code === 'segments_unavailable',
  );
});

historicals(
  'a damaged or missing file is never served, its reason is told, a later load may succeed',
  async ({ start, publish, folder }) => {
    publish(A, 'damaged');
    const { historical } = await start();
    await historical.loadSegments([A, B]);
    assert.equal(await loaded(historical), []);
    const { failed } = await historical.inventory();
    assert.match(failed[idOf(A)] ?? '', /^segment_corrupt: /);
    assert.match(failed[idOf(B)] ?? '', /^not_found: /);
    assert.equal(readdirSync(join(folder, 'cache', 'segments')), []);
    publish(A);
    await historical.loadSegments([A]);
    assert.equal(await loaded(historical), [idOf(A)]);
    assert.equal(Object.keys((await historical.inventory()).failed), [idOf(B)]);
  },
);

historicals('after a restart it serves the files it has, without deep storage', async ({ start, publish, folder }) => {
  publish(A);
  publish(B);
  const first = await start();
  await first.historical.loadSegments([A, B]);
  await loaded(first.historical);
  first.historical.stop();
  rmSync(join(folder, 'deep'), { recursive: true });
  // A crash may leave a file whose descriptor was not written, a descriptor cut off, or a damaged file.
  const [damaged = ''] = readdirSync(join(folder, 'cache', 'segments')).sort();
  writeFileSync(join(folder, 'cache', 'segments', damaged), 'rotten');
  writeFileSync(join(folder, 'cache', 'segments', 'half.segment'), 'x');
  writeFileSync(join(folder, 'cache', 'info', 'half.json'), '{"id":');
  const { historical } = await start();
  assert.is(historical.ready, true);
  const { segmentIds, failed } = await historical.inventory();
  assert.is(segmentIds.length, 1);
  assert.equal(failed, {});
  assert.equal(await loaded(historical), segmentIds);
  assert.match(
    Object.values((await historical.inventory()).failed).join(),
    /^not_found: [^/]*ds\/\d\/v1\/0 in deep storage does not exist$/,
  );
  assert.equal([readdirSync(join(folder, 'cache', 'segments')).length, readdirSync(join(folder, 'cache', 'info')).length], [1, 1]);
});

historicals('a load that is asked for while files are verified finds them there', async ({ start, publish, folder }) => {
  publish(A);
  const first = await start();
  await first.historical.loadSegments([A]);
  await loaded(first.historical);
  rmSync(join(folder, 'deep'), { recursive: true });
  const second = await start(0, (historical) => historical.loadSegments([A]));
  assert.equal(await loaded(second.historical), [idOf(A)]);
  assert.equal((await second.historical.inventory()).failed, {});
});

historicals('a file that could not be verified, rather than is damaged, stays and is not served', async ({ start, publish, folder }) => {
  publish(A, 'unlucky');
  const { historical } = await start();
  await historical.loadSegments([A]);
  assert.equal(await loaded(historical), []);
  const again = await start();
  assert.equal((await again.historical.inventory()).segmentIds, []);
  assert.match((await again.historical.inventory()).failed[idOf(A)] ?? '', /^internal: /);
  assert.is(readdirSync(join(folder, 'cache', 'segments')).length, 1);
});

historicals('a process that ends while files are verified leaves those that were not begun', async ({ start, publish, folder }) => {
  // Large ones, of which few are begun at a time.
  const segments = Array.from({ length: 6 }, (_, day) => ({ ...segmentOf('ds', day, 'v1'), sizeBytes: 2 ** 30 }));
  for (const segment of segments) publish(segment);
  const { historical } = await start();
  await historical.loadSegments(segments);
  await loaded(historical);
  const { store } = await start(0, (ending) => ending.stop());
  assert.is(store.opened.size, 4);
  assert.is(readdirSync(join(folder, 'cache', 'segments')).length, 6);
});

historicals('a dropped segment leaves the inventory at once and the disk a little later', async ({ start, publish, folder }) => {
  publish(A);
  const { historical, store } = await start(50);
  await historical.loadSegments([A]);
  await loaded(historical);
  await historical.dropSegments([idOf(A), 'unknown']);
  assert.equal((await historical.inventory()).segmentIds, []);
  // A query that was on its way still finds it.
  assert.ok(historical.runPlan(request(A), signal));
  while (store.opened.size > 0 || readdirSync(join(folder, 'cache', 'segments')).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(readdirSync(join(folder, 'cache', 'info')), []);
});

historicals('a file found damaged at the start is fetched again without being asked for', async ({ start, publish, folder }) => {
  publish(A);
  const first = await start();
  await first.historical.loadSegments([A]);
  await loaded(first.historical);
  first.historical.stop();
  for (const name of readdirSync(join(folder, 'cache', 'segments'))) writeFileSync(join(folder, 'cache', 'segments', name), 'rotten');
  const { historical } = await start();
  assert.equal(await loaded(historical), [idOf(A)]);
});

historicals('a file found damaged while it is served leaves the inventory, is fetched again and comes back', async ({ start, publish }) => {
  publish(A);
  publish(B);
  const { historical, store } = await start();
  await historical.loadSegments([A, B]);
  await loaded(historical);
  store.damage(idOf(A));
  store.damage('unknown');
  assert.equal((await historical.inventory()).segmentIds, [idOf(B)]);
  assert.equal(await loaded(historical), [idOf(A), idOf(B)]);
  publish(A, 'damaged');
  store.damage(idOf(A));
  assert.equal(await loaded(historical), [idOf(B)]);
  assert.match((await historical.inventory()).failed[idOf(A)] ?? '', /^segment_corrupt: /);
});

const fetching = (...segments: SegmentDescriptor[]) => ({ ...request(A), segmentIds: segments.map(idOf), fetched: segments });

async function read(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

historicals('a segment that is loaded nowhere is fetched for as long as a run reads it', async ({ start, publish, folder }) => {
  publish(A);
  publish(B);
  const { historical, store } = await start();
  const first = historical.runPlan(fetching(A, B), signal)[Symbol.asyncIterator]();
  await first.next();
  assert.equal([...store.opened].sort(), [idOf(A), idOf(B)]);
  assert.equal((await historical.inventory()).segmentIds, []);
  // Another one reads it at the same time, and needs no file of its own.
  assert.is(await read(historical.runPlan(fetching(A), signal)), 2);
  assert.ok(store.opened.has(idOf(A)));
  await first.return?.();
  assert.is(store.opened.size, 0);
  assert.equal(readdirSync(join(folder, 'cache', 'segments')), []);
});

historicals(
  'a segment that is loaded while a run has it fetched stays, one that is dropped goes with the run',
  async ({ start, publish }) => {
    publish(A);
    const { historical, store } = await start();
    const run = historical.runPlan(fetching(A), signal)[Symbol.asyncIterator]();
    await run.next();
    await historical.loadSegments([A]);
    assert.equal(await loaded(historical), [idOf(A)]);
    await run.return?.();
    assert.ok(store.opened.has(idOf(A)));
    const second = historical.runPlan(fetching(A), signal)[Symbol.asyncIterator]();
    await second.next();
    await historical.dropSegments([idOf(A)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(store.opened.has(idOf(A)));
    await second.return?.();
    assert.is(store.opened.size, 0);
  },
);

historicals(
  'a query that pins what one of its runs had fetched has it fetched again without waiting for its pin',
  async ({ start, publish, folder }) => {
    publish(A);
    const { historical, store } = await start();
    const first = historical.runPlan(fetching(A), signal)[Symbol.asyncIterator]();
    await first.next();
    store.pinned.add(idOf(A));
    await first.return?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is(await read(historical.runPlan(fetching(A), signal)), 2);
    store.pinned.delete(idOf(A));
    while (store.opened.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    while (readdirSync(join(folder, 'cache', 'segments')).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  },
);

historicals('segments that do not fit, or cannot be fetched, leave nothing behind', async ({ start, publish }) => {
  publish(A);
  publish(B, 'damaged');
  const { historical, store } = await start();
  const failureOf = (...segments: SegmentDescriptor[]) =>
    read(historical.runPlan(fetching(...segments), signal)).catch((error: ServiceError) => `${error.code}: ${error.message}`);
  assert.match(
    String(await failureOf(A, { ...B, sizeBytes: 901 })),
    /resource_limit: segment .* has 901 bytes, and 900 are left of svc.server.maxSize/,
  );
  assert.match(String(await failureOf(A, B)), /segment_corrupt/);
  assert.match(String(await failureOf(A, segmentOf('ds', 2, 'v1'))), /not_found/);
  assert.is(store.opened.size, 0);
  assert.is(await read(historical.runPlan(fetching(A), signal)), 2);
  const stop = new AbortController();
  stop.abort(new ServiceError('cancelled', 'the query was cancelled'));
  assert.is(await read(historical.runPlan(fetching(A), stop.signal)).catch((error: ServiceError) => error.code), 'cancelled');
});

historicals('a segment cache that was removed meanwhile is made again', async ({ start, publish, folder }) => {
  publish(A);
  const { historical } = await start();
  rmSync(join(folder, 'cache'), { recursive: true });
  await historical.loadSegments([A]);
  assert.equal(await loaded(historical), [idOf(A)]);
});

historicals('a drop that is taken back in time keeps the file open', async ({ start, publish }) => {
  publish(A);
  const { historical, store } = await start(60_000);
  await historical.loadSegments([A]);
  await loaded(historical);
  await historical.dropSegments([idOf(A)]);
  await historical.loadSegments([A]);
  assert.equal(await loaded(historical), [idOf(A)]);
  assert.is(store.opened.size, 1);
  historical.stop();
});

historicals.run();

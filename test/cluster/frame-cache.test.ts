import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CacheUse, QueryOptions } from '../../src/cluster/broker/contract.js';
import { throughCache } from '../../src/cluster/broker/result-cache.js';
import { cacheKey, FrameCache } from '../../src/cluster/frame-cache.js';
import { resolveTimeline } from '../../src/metadata/timeline.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { RowsPlan } from '../../src/model/row-source.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { DAY, scanPlan, segmentOf } from './fakes.js';

/** A frame whose one column of longs takes `bytes`. */
const frameOf = (bytes: number): Frame => ({
  rowCount: bytes / 8,
  columns: [{ kind: 'long', name: 'x', values: new BigInt64Array(bytes / 8), nulls: null }],
});

async function* streamOf(...frames: Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

const caches = suite('frame cache');

caches('unused entries are evicted, used ones stay', async () => {
  const cache = new FrameCache(10_000);
  for (const key of ['a', 'b', 'c', 'd']) {
    await collect(cache.keep(key, streamOf(frameOf(2_000))));
    cache.find('a');
  }
  assert.ok(cache.bytes <= 10_000);
  await collect(cache.keep('e', streamOf(frameOf(2_000))));
  const isKept = (key: string): boolean => cache.find(key) !== undefined;
  assert.equal(['a', 'b', 'c', 'd', 'e'].map(isKept), [true, false, true, true, true]);
});

caches('an answer larger than a quarter of the budget passes through and is not kept', async () => {
  const cache = new FrameCache(10_000);
  assert.is((await collect(cache.keep('a', streamOf(frameOf(1_600), frameOf(1_600))))).length, 2);
  assert.is(cache.find('a'), undefined);
  assert.is(cache.bytes, 0);
});

caches('an answer that fails or is left early is not kept', async () => {
  const cache = new FrameCache(10_000);
  async function* failing(): AsyncGenerator<Frame> {
    yield frameOf(80);
    throw new Error('half-way');
  }
  assert.is(await collect(cache.keep('a', failing())).catch((error: Error) => error.message), 'half-way');
  for await (const _ of cache.keep('b', streamOf(frameOf(80), frameOf(80)))) break;
  assert.equal([cache.find('a'), cache.find('b')], [undefined, undefined]);
});

caches('keys tell apart what JSON would not', () => {
  const keys = [[1], [1n], ['1'], [null], [undefined], [Number.NaN], [Infinity], [0], [-0], [[]], [{}], [1, 2], [[1, 2]]].map((parts) =>
    cacheKey(...parts),
  );
  assert.is(new Set(keys).size, keys.length);
  assert.is(cacheKey({ a: [1n, 'x'] }), cacheKey({ a: [1n, 'x'] }));
  assert.throws(() => cacheKey(new Set([1])), 'plain data');
});

caches.run();

const results = suite('result cache');

const PLAN: GroupPlan = {
  ...scanPlan('ds', [{ start: 0, end: 3 * DAY }]),
  operator: 'group',
  keys: [],
  aggregators: [],
  emptyGroup: false,
};
const DAYS = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));

/** Asks through a cache and tells whether the plan had to be run. */
function asker({ reads = true, writes = true } = {}) {
  const cache = { frames: new FrameCache(1e6), reads, writes };
  return async (plan: RowsPlan, segments: readonly SegmentDescriptor[], changes: Partial<QueryOptions> = {}): Promise<'made' | 'found'> => {
    let made = false;
    const profile = newProfile();
    const options = { queryId: 'q', deadlineMs: 0, priority: 0, kernels: null, signal: new AbortController().signal, profile, ...changes };
    const frames = throughCache(cache, plan, resolveTimeline(segments), options, () => {
      made = true;
      return streamOf(frameOf(80));
    });
    assert.is((await collect(frames))[0]?.rowCount, 10);
    assert.is(profile.resultCacheHits, made ? 0 : 1);
    return made ? 'made' : 'found';
  };
}

results('the same plan over the same segments is found; anything else is made', async () => {
  const ask = asker();
  assert.is(await ask(PLAN, DAYS), 'made');
  assert.is(await ask(structuredClone(PLAN), structuredClone(DAYS)), 'found');
  assert.is(await ask(PLAN, [...DAYS.slice(0, 2), segmentOf('ds', 2, 'v2')]), 'made');
  assert.is(await ask(PLAN, [...DAYS, segmentOf('ds', 2, 'v1', 1, 2)]), 'made');
  assert.is(await ask(PLAN, DAYS.slice(1)), 'made');
  assert.is(await ask({ ...PLAN, intervals: [{ start: 0, end: 2 * DAY }] }, DAYS), 'made');
  assert.is(await ask({ ...PLAN, aggregators: [{ kind: 'count', name: 'n', filter: null }] }, DAYS), 'made');
  assert.is(await ask(PLAN, DAYS, { kernels: 'scalar' }), 'made');
});

results('segments outside of the intervals make no difference', async () => {
  const ask = asker();
  const plan = { ...PLAN, intervals: [{ start: 0, end: DAY }] };
  assert.is(await ask(plan, DAYS), 'made');
  assert.is(await ask(plan, [...DAYS.slice(0, 2), segmentOf('ds', 2, 'v2')]), 'found');
});

results('scans are never kept', async () => {
  const ask = asker();
  assert.is(await ask(scanPlan('ds'), DAYS), 'made');
  assert.is(await ask(scanPlan('ds'), DAYS), 'made');
});

const ALL_USE: CacheUse = { useCache: true, populateCache: true, useResultLevelCache: true, populateResultLevelCache: true };

results('the context may forbid to read, and to write; properties do so for everyone', async () => {
  const ask = asker();
  assert.is(await ask(PLAN, DAYS, { caching: { ...ALL_USE, populateResultLevelCache: false } }), 'made');
  assert.is(await ask(PLAN, DAYS), 'made');
  assert.is(await ask(PLAN, DAYS, { caching: { ...ALL_USE, useResultLevelCache: false } }), 'made');
  assert.is(await ask(PLAN, DAYS, { caching: ALL_USE }), 'found');
  for (const closed of [{ reads: false }, { writes: false }]) {
    const askClosed = asker(closed);
    assert.is(await askClosed(PLAN, DAYS), 'made');
    assert.is(await askClosed(PLAN, DAYS), 'made');
  }
});

results.run();

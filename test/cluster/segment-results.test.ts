import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FrameCache } from '../../src/cluster/frame-cache.js';
import { SegmentResults } from '../../src/cluster/historical/segment-results.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile, type Profile } from '../../src/model/profile.js';
import { groupRows, printKeys } from '../execution/oracle.js';
import { arbitraryGroupPlan, arbitraryPieces, frameOf } from '../execution/random-data.js';
import { openFrames } from '../execution/segments.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 29 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const { signal } = new AbortController();

const optionsOf = (profile: Profile): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  profile,
});

async function groupsOf(frames: AsyncIterable<Frame>, plan: GroupPlan): Promise<[string, Value[]][]> {
  const groups: [string, Value[]][] = [];
  for await (const { rowCount, columns } of frames) {
    for (let row = 0; row < rowCount; row++) {
      const cells = columns.map((column) => cellAt(column, row) as Value);
      groups.push([printKeys(cells.slice(0, plan.keys.length)), cells.slice(plan.keys.length)]);
    }
  }
  return groups.sort(([a], [b]) => (a < b ? -1 : 1));
}

const results = suite('segment results');

results('answers from the cache, in part or as a whole, are those of the oracle', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, fc.boolean(), async (pieces, plan, onlyFirst) => {
      const kept = pieces.filter((rows) => rows.length > 0);
      const { store, ids, close } = await openFrames(kept.map(frameOf), memory, engine);
      const cached = new SegmentResults({ frames: new FrameCache(1e8), reads: true, writes: true });
      const use = { useCache: true, populateCache: true };
      const expected = [...groupRows(kept.flat(), plan)].sort(([a], [b]) => (a < b ? -1 : 1));
      try {
        if (!cached.serves(plan, use)) return;
        // Results kept for some segments answer for these segments only.
        const first = { engine, store, segmentIds: onlyFirst ? ids.slice(0, 1) : ids, ...use };
        for await (const _ of cached.run(plan, first, optionsOf(newProfile()), signal));
        const profile = newProfile();
        assert.equal(await groupsOf(cached.run(plan, { ...first, segmentIds: ids }, optionsOf(profile), signal), plan), expected);
        assert.is(profile.segmentCacheHits, first.segmentIds.length);
        assert.is(profile.segmentCacheMisses, ids.length - first.segmentIds.length);
        if (!onlyFirst) assert.is(profile.segments, 0);
      } finally {
        await close();
      }
    }),
    { numRuns: 60, includeErrorInReport: true },
  );
});

results('the context may forbid to read and to write', async () => {
  const rows = fc
    .sample(arbitraryPieces, { seed: 1, numRuns: 20 })
    .flat()
    .filter((each) => each.length > 0)
    .slice(0, 3);
  const { store, ids, close } = await openFrames(rows.map(frameOf), memory, engine);
  const plan: GroupPlan = {
    operator: 'group',
    dataSource: 'random',
    intervals: [{ start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) }],
    filter: null,
    virtualColumns: [],
    keys: [],
    aggregators: [{ kind: 'count', name: 'rows', filter: null }],
    emptyGroup: true,
    post: [],
  };
  const cached = new SegmentResults({ frames: new FrameCache(1e6), reads: true, writes: true });
  const hits = async (useCache: boolean, populateCache: boolean, intervals = plan.intervals): Promise<number> => {
    const profile = newProfile();
    const request = { engine, store, segmentIds: ids, useCache, populateCache };
    const [[, [count] = []] = []] = await groupsOf(cached.run({ ...plan, intervals }, request, optionsOf(profile), signal), plan);
    assert.is(count, BigInt(rows.flat().length));
    return profile.segmentCacheHits;
  };
  try {
    assert.is(await hits(true, false), 0);
    assert.is(await hits(true, true), 0);
    assert.is(await hits(false, true), 0);
    assert.is(await hits(true, true), ids.length);
    // A wider window covers the same of each segment.
    assert.is(await hits(true, true, [{ start: Date.UTC(2023, 0, 1), end: Date.UTC(2026, 0, 1) }]), ids.length);
    assert.is(cached.serves(plan, { useCache: false, populateCache: false }), false);
  } finally {
    await close();
  }
});

results.run();

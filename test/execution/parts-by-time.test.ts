import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { partsByTime } from '../../src/execution/run/parts-by-time.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { SegmentSpan } from '../../src/storage/contract.js';
import { frameOf, START } from './random-data.js';
import { engine, memory, never, options, rowOf, rowsOf, scanOf } from './scanning.js';
import { openFrames } from './segments.js';

const parts = suite('parts of a scan in time order');

const PLAN = scanOf(['__time'], { timeOrder: 'ascending' });

/** Segments of ten rows each, by their first and last instants. */
function cut(spans: readonly (readonly [first: number, last: number])[], plan: ScanPlan = PLAN, cellsAtOnce = 30): number[] {
  const known = new Map(spans.map(([timeMin, timeMax], at): [string, SegmentSpan] => [String(at), { rowCount: 10, timeMin, timeMax }]));
  const span = (id: string): SegmentSpan => known.get(id) ?? { rowCount: 0, timeMin: 0, timeMax: 0 };
  return partsByTime(plan, { span }, [...known.keys()], { columns: 1, cellsAtOnce }).map(({ segmentIds }) => segmentIds.length);
}

parts('are as many segments as may be in memory together', () => {
  const days = Array.from({ length: 7 }, (_, day) => [day * 10, day * 10 + 9] as const);
  assert.equal(cut(days), [3, 3, 1]);
  assert.equal(cut(days, PLAN, 5), [1, 1, 1, 1, 1, 1, 1]);
  assert.equal(cut(days, PLAN, 70), []);
});

parts('are not cut where times of both sides mix', () => {
  assert.equal(cut([[0, 9], [5, 25], [10, 12], [20, 21], [30, 31]], PLAN, 10), [4, 1]); // biome-ignore format: one line
  assert.equal(cut([[0, 9], [9, 9], [9, 12]], PLAN, 10), [1, 1, 1]); // biome-ignore format: one line
});

parts('are of scans in time order alone', () => {
  assert.equal(cut([[0, 9], [10, 19]], { ...PLAN, timeOrder: null }, 5), []); // biome-ignore format: one line
});

parts('give the same rows, and are read as far as these go', async () => {
  const small = createEngine({ memory, kernels: 'simd', threads: 0, cellsAtOnce: 20 });
  // Five segments, of which the second and the third share instants; the last row of each is the first instant of the next.
  const starts = [0, 9, 12, 27, 36];
  const frames = starts.map((start, segment) =>
    frameOf(Array.from({ length: 10 }, (_, at) => rowOf({ __time: BigInt(START + start + at), small: BigInt(segment * 10 + at) }))),
  );
  const { store, ids, close } = await openFrames(frames, memory, small);
  const pinned = new Set<string>();
  const watched = new Proxy(store, {
    get: (target, name) => {
      if (name === 'pin')
        return async (request: Parameters<typeof store.pin>[0]) => {
          for (const id of request.segmentIds) pinned.add(id);
          return target.pin(request);
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  try {
    for (const timeOrder of ['ascending', 'descending'] as const)
      for (const offset of [0, 3, 17])
        for (const limit of [null, 0, 1, 5, 30])
          for (const ending of ['final', 'partial'] as const) {
            const plan = scanOf(['small', '__time'], { timeOrder, offset, limit });
            const whole = await rowsOf(engine.run(plan, store, ids, options({ ending }), never));
            assert.equal(await rowsOf(small.run(plan, store, ids, options({ ending }), never)), whole);
          }
    const few = await rowsOf(small.run(scanOf(['small'], { timeOrder: 'descending', limit: 3 }), watched, ids, options(), never));
    assert.equal(few, [[49n], [48n], [47n]]);
    assert.equal([...pinned], ids.slice(-1));
  } finally {
    await close();
  }
});

parts.run();

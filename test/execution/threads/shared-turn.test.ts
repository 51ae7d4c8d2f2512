import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { beginRequest, isTurnShared } from '../../../src/base/loop-turns.js';
import type { RunOptions } from '../../../src/execution/run/engine.js';
import { createEngine, type ProcessingEngine } from '../../../src/execution/run/local-engine.js';
import type { Executor } from '../../../src/execution/threads/executor.js';
import { ThreadPool } from '../../../src/execution/threads/pool.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { cellAt } from '../../../src/model/frame.js';
import type { GroupPlan } from '../../../src/model/plan.js';
import { uploadFrame } from '../../../src/storage/uploaded-frame.js';

/** Counts threads that were found free, and those that were not. */
class CountedPool extends ThreadPool {
  found = 0;
  refused = 0;

  override free(): Executor | undefined {
    const thread = super.free();
    if (thread === undefined) this.refused++;
    else this.found++;
    return thread;
  }
}

const ROWS = 8000;
const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const placed = uploadFrame(
  {
    rowCount: ROWS,
    columns: [
      { kind: 'long', name: 'key', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row % 3)), nulls: null },
      { kind: 'long', name: 'value', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row)), nulls: null },
    ],
  },
  memory,
);
const few = uploadFrame({ rowCount: 1, columns: [{ kind: 'long', name: 'value', values: new BigInt64Array(1), nulls: null }] }, memory);

/** Bytes of the columns above. */
const BYTES = memory.allocatedBytes;

const plan = (keys: GroupPlan['keys']): GroupPlan => ({
  operator: 'group',
  dataSource: 'none',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  post: [],
  keys,
  aggregators: [{ kind: 'sum', name: 'sum', column: 'value', type: 'LONG', filter: null }],
  emptyGroup: true,
});

/** Sums of 0 … 7999 where the rest by three is 0, 1 and 2. */
const SUMS = new Map(
  [0, 1, 2].map((rest) => [rest, Array.from({ length: ROWS }, (_, row) => (row % 3 === rest ? row : 0)).reduce((a, b) => a + b)]),
);

const never = new AbortController().signal;
const options = (): RunOptions => ({ ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null });

async function sums(engine: ProcessingEngine): Promise<Map<unknown, unknown>> {
  const keyed = plan([{ kind: 'column', name: 'key', column: 'key', type: 'LONG' }]);
  const found = new Map<unknown, unknown>();
  for await (const { columns, rowCount } of engine.runViews(keyed, [placed.view], options(), new AbortController().signal))
    for (let row = 0; row < rowCount; row++) {
      const [key, sum] = columns.map((column) => Number(cellAt(column, row)));
      found.set(key, sum);
    }
  return found;
}

function beginMany(): void {
  for (let request = 0; request < 5; request++) beginRequest();
}

/** Whether the coming turns are shared, of which each has one request. */
async function turnsShared(count: number): Promise<readonly boolean[]> {
  const are: boolean[] = [];
  while (are.length < count) {
    await nextTurn();
    beginRequest();
    are.push(isTurnShared());
  }
  await nextTurn();
  return are;
}

const shared = suite<{ pool: CountedPool; engine: ProcessingEngine }>('queries of one turn of the event loop');

shared.before.each(async (context) => {
  // The test before had turns that many shared.
  await turnsShared(10);
  context.pool = new CountedPool({ memory, kernels: 'simd', threads: 1, makeRoom: () => false });
  context.engine = createEngine({ memory, kernels: 'simd', threads: context.pool });
});

shared.after.each(async ({ pool, engine }) => {
  await engine.close();
  await pool.close();
  assert.is(memory.allocatedBytes, BYTES);
});

shared('are handed to a thread', async ({ engine, pool }) => {
  beginMany();
  for (const found of await Promise.all([sums(engine), sums(engine), sums(engine)])) assert.equal(found, SUMS);
  assert.is(pool.found, 3);
});

shared('stay where they are asked for where one request began alone', async ({ engine, pool }) => {
  for (let request = 0; request < 3; request++) {
    beginRequest();
    for (const found of await Promise.all([sums(engine), sums(engine)])) assert.equal(found, SUMS);
    await nextTurn();
  }
  assert.is(pool.found + pool.refused, 0);
});

shared('stay where the threads have enough to do', async ({ engine, pool }) => {
  beginMany();
  for (const found of await Promise.all(Array.from({ length: 100 }, () => sums(engine)))) assert.equal(found, SUMS);
  assert.ok(pool.found > 0 && pool.refused > 0 && pool.found + pool.refused === 100, `${pool.found} and ${pool.refused}`);
});

shared('stay where they read less than a hand-over costs', async ({ engine, pool }) => {
  beginMany();
  const count = async (): Promise<number> => {
    let rows = 0;
    for await (const frame of engine.runViews(plan([]), [few.view], options(), never)) rows += frame.rowCount;
    return rows;
  };
  assert.equal(await Promise.all([count(), count(), count()]), [1, 1, 1]);
  assert.is(pool.found + pool.refused, 0);
});

shared('are many from the fifth request on, and for eight turns of requests more', async () => {
  for (const expected of [false, false, false, false, true]) {
    beginRequest();
    assert.is(isTurnShared(), expected);
  }
  const turns = await turnsShared(10);
  assert.equal(turns, [true, true, true, true, true, true, true, true, false, false]);
});

shared.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import type { EngineOptions } from '../../src/execution/run/engine-options.js';
import { createEngine, type ProcessingEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { openFrames } from './segments.js';

const MEBIBYTE = 1 << 20;
const ROWS = 200_000;
const START = Date.UTC(2024, 0, 1);

/** Each row a value of its own, spread over all of 64 bits, so that columns are not narrow and groups are many. */
const wide = (name: string): Frame['columns'][number] => ({
  kind: 'long',
  name,
  values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt.asIntN(64, BigInt(row) * 0x9e3779b97f4a7c15n)),
  nulls: null,
});
const frame: Frame = {
  rowCount: ROWS,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(START + row)), nulls: null },
    wide('key'),
    ...Array.from({ length: 16 }, (_, number) => wide(`other${number}`)),
  ],
};

const groupBy = (column: string): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals: [{ start: START, end: START + ROWS }],
  filter: null,
  virtualColumns: [],
  emptyGroup: false,
  keys: [{ kind: 'column', name: column, column, type: 'LONG' }],
  aggregators: [{ kind: 'count', name: 'n', filter: null }],
  post: [],
});
const sums = (columns: readonly string[]): GroupPlan => ({
  ...groupBy('key'),
  keys: [],
  aggregators: columns.map((column) => ({ kind: 'sum', name: column, column, type: 'LONG', filter: null })),
});
const others = Array.from({ length: 16 }, (_, number) => `other${number}`);

const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});
const never = new AbortController().signal;

async function countRows(frames: AsyncIterable<Frame>): Promise<number> {
  let rows = 0;
  for await (const { rowCount } of frames) rows += rowCount;
  return rows;
}

async function framesOf(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const each of frames) all.push(each);
  return all;
}

interface Place {
  readonly engine: ProcessingEngine;
  readonly memory: KernelMemory;
  readonly store: Awaited<ReturnType<typeof openFrames>>['store'];
  readonly ids: string[];
}

async function within(bankBytes: number, more: Partial<EngineOptions>, use: (place: Place) => Promise<void>): Promise<void> {
  const memory = KernelMemory.create({ maximumBytes: bankBytes });
  let makeRoom = (_: number): number => 0;
  const engine = createEngine({ memory, kernels: 'simd', threads: 0, rowsRunInline: 0, makeRoom: (bytes) => makeRoom(bytes) > 0, ...more });
  const { store, ids, close } = await openFrames([frame], memory, engine);
  makeRoom = (bytes) => store.makeRoom(bytes);
  try {
    await use({ engine, memory, store, ids });
    await close();
    assert.is(memory.allocatedBytes, 0, 'everything was given back');
  } finally {
    await engine.close();
  }
}

const resources = suite('memory of queries');

for (const threads of [0, 1]) {
  resources(`columns that nobody reads give way to a query's groups, ${threads} threads`, async () => {
    // Sixteen wide columns take 25.6 MB; the groups of 200,000 keys, as tables grow, take more than what is left.
    await within(36 * MEBIBYTE, { threads }, async ({ engine, memory, store, ids }) => {
      assert.is(await countRows(engine.run(sums(others), store, ids, options(), never)), 1);
      const resident = store.residentBytes;
      assert.ok(resident > 24 * MEBIBYTE);
      const free = memory.maximumBytes - memory.allocatedBytes;
      const profile = newProfile();
      assert.is(await countRows(engine.run(groupBy('key'), store, ids, options({ profile }), never)), ROWS);
      assert.ok(profile.peakMemoryBytes > free, `${profile.peakMemoryBytes} of ${free} bytes would have been there`);
      assert.ok(store.residentBytes < resident, 'some columns had to go');
      assert.is(await countRows(engine.run(sums(others), store, ids, options(), never)), 1, 'and come again');
    });
  });

  resources(`a query that needs more than its share is refused by the name of the limit, ${threads} threads`, async () => {
    await within(256 * MEBIBYTE, { threads, queryBytesMax: 4 * MEBIBYTE }, async ({ engine, store, ids, memory }) => {
      const before = memory.allocatedBytes;
      const failure = await countRows(engine.run(groupBy('key'), store, ids, options(), never)).catch((error: unknown) => error);
      assert.instance(failure, ServiceError);
      assert.is(failure instanceof ServiceError && failure.code, 'resource_limit');
      assert.match(String(failure), 'svc.query.maxMemoryBytes');
      assert.is(await countRows(engine.run(sums(['key']), store, ids, options(), never)), 1, 'a smaller one is answered');
      assert.ok(memory.allocatedBytes - before < 4 * MEBIBYTE, 'the columns that were read, and nothing else, are still there');
    });
  });
}

resources('segments that do not fit into memory together are read one part after the other', async () => {
  const memory = KernelMemory.create({ maximumBytes: 48 * MEBIBYTE });
  let makeRoom = (_: number): number => 0;
  const engine = createEngine({ memory, kernels: 'simd', threads: 1, rowsRunInline: 0, makeRoom: (bytes) => makeRoom(bytes) > 0 });
  // Each of them takes 27 MB.
  const { store, ids, close } = await openFrames([frame, frame, frame], memory, engine);
  makeRoom = (bytes) => store.makeRoom(bytes);
  const plan: GroupPlan = {
    ...sums([]),
    aggregators: [
      { kind: 'count', name: 'rows', filter: null },
      ...others.map((column) => ({ kind: 'max', name: column, column, type: 'LONG', filter: null }) as const),
    ],
  };
  const [result] = await framesOf(engine.run(plan, store, ids, options(), never));
  const values = frame.columns.at(-1);
  assert.ok(values?.kind === 'long');
  const max = values.values.slice().sort().at(-1);
  assert.equal(
    result?.columns.map((column) => cellAt(column, 0)),
    [BigInt(3 * ROWS), ...others.map(() => max)],
  );
  const { filter, intervals, virtualColumns, dataSource } = plan;
  const scan: ScanPlan = {
    operator: 'scan',
    dataSource,
    intervals,
    filter,
    virtualColumns,
    columns: others,
    timeOrder: null,
    offset: ROWS - 1,
    limit: 2,
    post: [],
  };
  const rows = await framesOf(engine.run(scan, store, ids, options(), never));
  assert.equal(
    rows.flatMap((each) => Array.from({ length: each.rowCount }, (_, row) => each.columns.map((column) => cellAt(column, row)))),
    [ROWS - 1, 0].map((row) => others.map(() => values.values[row])),
  );
  const first = await framesOf(engine.run({ ...scan, timeOrder: 'ascending', offset: 2, limit: 2 }, store, ids, options(), never));
  assert.equal(
    first.flatMap((each) => Array.from({ length: each.rowCount }, (_, row) => each.columns.map((column) => cellAt(column, row)))),
    [0, 1].map((row) => others.map(() => values.values[row])),
    'the first row of the third segment, and the second of the first one',
  );
  await close();
  assert.is(memory.allocatedBytes, 0);
  await engine.close();
});

resources('segments whose columns fit into memory together, and nothing beside them, are read one part after the other', async () => {
  const [time] = frame.columns;
  const KEYS = 20_000;
  const values = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt.asIntN(64, BigInt(row % KEYS) * 0x9e3779b97f4a7c15n));
  assert.ok(time !== undefined);
  const narrow: Frame = { rowCount: ROWS, columns: [time, { kind: 'long', name: 'key', values, nulls: null }] };
  const read = async (bankBytes: number): Promise<{ readonly residentBytes: number; readonly segments: number }> => {
    const memory = KernelMemory.create({ maximumBytes: bankBytes });
    let makeRoom = (_: number): number => 0;
    const engine = createEngine({ memory, kernels: 'simd', threads: 1, rowsRunInline: 0, makeRoom: (bytes) => makeRoom(bytes) > 0 });
    const { store, ids, close } = await openFrames(
      Array.from({ length: 6 }, () => narrow),
      memory,
      engine,
    );
    makeRoom = (bytes) => store.makeRoom(bytes);
    const profile = newProfile();
    const counts = new Map<unknown, unknown>();
    for (const each of await framesOf(engine.run(groupBy('key'), store, ids, options({ profile }), never)))
      for (let row = 0; row < each.rowCount; row++) {
        const [key, count] = each.columns.map((column) => cellAt(column, row));
        counts.set(key, count);
      }
    assert.equal(counts, new Map([...values.subarray(0, KEYS)].map((key) => [key, BigInt((6 * ROWS) / KEYS)])));
    const residentBytes = memory.allocatedBytes;
    await close();
    assert.is(memory.allocatedBytes, 0);
    await engine.close();
    return { residentBytes, segments: profile.segments };
  };
  const { residentBytes, segments } = await read(64 * MEBIBYTE);
  assert.is(segments, 6);
  assert.ok((await read(residentBytes + 128 * 1024)).segments > 6, 'the first try, over all of them, did not succeed');
});

resources('scratch counts in what a query holds, and is given back', async () => {
  await within(256 * MEBIBYTE, {}, async ({ engine, store, ids }) => {
    const [small, large] = [newProfile(), newProfile()];
    await countRows(engine.run(sums(['key']), store, ids, options({ profile: small }), never));
    await countRows(engine.run(groupBy('key'), store, ids, options({ profile: large }), never));
    // 200,000 groups: a key and a count of 8 bytes each, here and in the segment's own table.
    assert.ok(large.peakMemoryBytes > ROWS * 32, `${large.peakMemoryBytes}`);
    assert.ok(small.peakMemoryBytes > 0 && small.peakMemoryBytes < 2 * MEBIBYTE, `${small.peakMemoryBytes}`);
  });
});

resources('a segment that takes longer than it may is a typed error', async () => {
  await within(256 * MEBIBYTE, {}, async ({ engine, store, ids }) => {
    // Batches of one row make a block of it thousands of calls long.
    const read = (perSegmentTimeout: number) =>
      countRows(engine.run(sums(others), store, ids, options({ batchRows: 1, limits: { perSegmentTimeout } }), never));
    const failure = await read(1).catch((error: unknown) => error);
    assert.ok(failure instanceof ServiceError && failure.code === 'timeout' && failure.message.includes('perSegmentTimeout'));
    assert.is(await read(60_000), 1);
  });
});

resources('a query of higher priority, then a much smaller one, overtakes one that a thread is busy with', async () => {
  await within(256 * MEBIBYTE, { threads: 1 }, async ({ engine, store, ids }) => {
    await countRows(engine.run(sums(['key']), store, ids, options(), never));
    const ended: string[] = [];
    const run = async (name: string, plan: GroupPlan, changes: Partial<RunOptions>): Promise<void> => {
      await countRows(engine.run(plan, store, ids, options(changes), never));
      ended.push(name);
    };
    // Batches of one row make the long one two hundred thousand calls long, which no estimate says.
    await Promise.all([
      run('long', sums(['key']), { batchRows: 1, priority: 0 }),
      run('small', sums(['key']), { priority: 0 }),
      run('urgent', sums(['key']), { priority: 1 }),
    ]);
    assert.equal(ended, ['urgent', 'small', 'long']);
  });
});

resources.run();

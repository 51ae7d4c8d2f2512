import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { Engine, RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import { floorInstant, type Granularity } from '../../src/model/granularity.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { groupRows, printKeys } from './oracle.js';
import { arbitraryGroupPlan, arbitraryPieces, frameOf } from './random-data.js';
import { openFrames } from './segments.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});
const never = new AbortController().signal;

async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

function asGroups(frames: readonly Frame[], keyCount: number): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const frame of frames) {
    for (let row = 0; row < frame.rowCount; row++) {
      const cells = frame.columns.map((column) => cellAt(column, row) as Value);
      const name = printKeys(cells.slice(0, keyCount));
      assert.not(groups.has(name), `group ${name} comes twice`);
      groups.set(name, cells.slice(keyCount));
    }
  }
  return groups;
}

function sameGroups(actual: Map<string, Value[]>, expected: Map<string, Value[]>): void {
  const sorted = (groups: Map<string, Value[]>) => [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.equal(sorted(actual), sorted(expected));
}

const groups = suite('grouped aggregation');

groups('agrees with the oracle over any data, plan, kernel set, batch size and indexLayout', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      arbitraryGroupPlan,
      fc.constantFrom('reference', 'scalar-debug', 'simd-debug'),
      fc.constantFrom(1, 7, 4096, null),
      async (pieces, plan, kernels, batchRows) => {
        const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
        try {
          const frames = await collect(
            engine.runViews(
              plan,
              placed.map(({ view }) => view),
              options({ kernels, batchRows }),
              never,
            ),
          );
          sameGroups(asGroups(frames, plan.keys.length), groupRows(pieces.flat(), plan));
        } finally {
          for (const { release } of placed) release();
        }
        assert.is(memory.allocatedBytes, 0);
      },
    ),
    { numRuns: caseCount(200), includeErrorInReport: true },
  );
});

groups('partial results of several servers merge into the whole', async () => {
  await fc.assert(
    // Partial results are placed in chunks of four batches.
    fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, fc.constantFrom(null, 1, 3), async (pieces, plan, batchRows) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      try {
        const partials = placed.map(({ view }) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
        const frames = await collect(engine.merge(plan, partials, options({ batchRows }), never));
        sameGroups(asGroups(frames, plan.keys.length), groupRows(pieces.flat(), plan));
      } finally {
        for (const { release } of placed) release();
      }
      assert.is(memory.allocatedBytes, 0);
    }),
    { numRuns: caseCount(100), includeErrorInReport: true },
  );
});

groups('no partial result at all still fills the buckets of a series', async () => {
  const hour: Granularity = { kind: 'duration', durationMs: 3_600_000, origin: 0 };
  const plan: GroupPlan = {
    operator: 'group',
    dataSource: 'none',
    intervals: [{ start: 0, end: 7_200_000 }],
    filter: null,
    virtualColumns: [],
    keys: [{ kind: 'time', name: '__time', granularity: hour }],
    aggregators: [{ kind: 'count', name: 'rows', filter: null }],
    emptyGroup: false,
    post: [{ step: 'fillBuckets', bucket: '__time', granularity: hour }],
  };
  const frames = await collect(engine.merge(plan, [], options(), never));
  assert.equal(
    asGroups(frames, 1),
    new Map([
      [printKeys([0n]), [0n]],
      [printKeys([3_600_000n]), [0n]],
    ]),
  );
});

/** Granularities with more buckets over 10,000 years than are listed. */
const SPARSE: readonly Granularity[] = [
  { kind: 'period', period: 'PT1S', timeZone: 'UTC', origin: null },
  { kind: 'period', period: 'P1D', timeZone: 'UTC', origin: null },
  { kind: 'period', period: 'P1D', timeZone: 'America/New_York', origin: null },
  { kind: 'period', period: 'PT1H', timeZone: 'Australia/Lord_Howe', origin: null },
  { kind: 'period', period: 'P1W', timeZone: 'Europe/Berlin', origin: null },
  { kind: 'duration', durationMs: 7_000, origin: 3 },
];
for (const granularity of SPARSE)
  groups(`rows far apart are put into buckets of ${JSON.stringify(granularity)}`, async () => {
    const pieces = [
      ['0001-01-01T00:00:00.500Z', '0001-01-01T00:00:00.900Z', '1969-12-31T23:59:59.999Z', '2015-03-08T07:30:00Z'],
      ['2015-03-08T06:59:59Z', '2015-03-08T07:30:00.250Z', '9999-12-31T23:59:59.000Z', '9999-12-31T23:59:59.999Z'],
    ].map((texts) => texts.map((text) => Date.parse(text)));
    const plan: GroupPlan = {
      operator: 'group',
      dataSource: 'times',
      intervals: [ETERNITY],
      filter: null,
      virtualColumns: [],
      keys: [{ kind: 'time', name: 'bucket', granularity }],
      aggregators: [{ kind: 'count', name: 'rows', filter: null }],
      emptyGroup: false,
      post: [],
    };
    const counts = new Map<string, Value[]>();
    for (const instant of pieces.flat()) {
      const name = printKeys([BigInt(floorInstant(granularity, instant))]);
      counts.set(name, [BigInt(Number(counts.get(name)?.[0] ?? 0n)) + 1n]);
    }
    const placed = pieces.map((instants) =>
      uploadFrame(
        {
          rowCount: instants.length,
          columns: [{ kind: 'long', name: '__time', values: BigInt64Array.from(instants, BigInt), nulls: null }],
        },
        memory,
      ),
    );
    try {
      const views = placed.map(({ view }) => view);
      sameGroups(asGroups(await collect(engine.runViews(plan, views, options(), never)), 1), counts);
      const partials = views.map((view) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
      sameGroups(asGroups(await collect(engine.merge(plan, partials, options(), never)), 1), counts);
    } finally {
      for (const { release } of placed) release();
    }
  });

/** The groups of a plan, left in kernel memory and read from there. */
async function readPlaced(from: Engine, plan: GroupPlan, run: (plan: GroupPlan) => AsyncIterable<Frame>): Promise<Frame[]> {
  const id = from.reserveUpload();
  const names = [...plan.keys, ...plan.aggregators].map(({ name }) => name);
  const columns = names.map((name) => ({ name: `in memory ${name}`, from: name }));
  const side = { keys: [], keysOnly: false, marked: false, bytesMax: 1 << 26, limit: 'the test' };
  try {
    const [first, ...others] = await collect(
      run({ ...plan, upload: { ...side, id, columns, rowsMax: null, orFrames: true, subject: 'rows' } }),
    );
    if (first?.uploaded === undefined) return first === undefined ? [] : [first, ...others];
    const scan = { operator: 'scan', dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
    const reader = { ...scan, columns: columns.map(({ name }) => name), timeOrder: null, offset: 0, limit: null };
    return await collect(from.runUploaded(reader, [first.uploaded.id], options(), never));
  } finally {
    from.releaseUpload(id);
  }
}

groups('are the same where they are left in kernel memory', async () => {
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 64 });
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, async (pieces, drawn) => {
        const plan = { ...drawn, emptyGroup: false };
        const expected = plan.keys.length === 0 ? undefined : groupRows(pieces.flat(), { ...plan, emptyGroup: false });
        const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
        const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, threaded);
        try {
          const views = placed.map(({ view }) => view);
          for (const kernels of ['reference', 'simd-debug']) {
            const frames = await readPlaced(engine, plan, (given) => engine.runViews(given, views, options({ kernels }), never));
            if (expected !== undefined) sameGroups(asGroups(frames, plan.keys.length), expected);
          }
          const frames = await readPlaced(threaded, plan, (given) => threaded.run(given, store, ids, options(), never));
          if (expected !== undefined) sameGroups(asGroups(frames, plan.keys.length), expected);
        } finally {
          for (const { release } of placed) release();
          await close();
        }
        assert.is(memory.allocatedBytes, 0);
      }),
      { numRuns: caseCount(150), includeErrorInReport: true },
    );
  } finally {
    await threaded.close();
  }
});

groups('agrees with the oracle over segments, with threads that share their morsels', async () => {
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 64 });
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, async (pieces, plan) => {
        const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, threaded);
        try {
          const frames = await collect(threaded.run(plan, store, ids, options(), never));
          sameGroups(asGroups(frames, plan.keys.length), groupRows(pieces.flat(), plan));
        } finally {
          await close();
        }
      }),
      { numRuns: 60, includeErrorInReport: true },
    );
  } finally {
    await threaded.close();
  }
  assert.is(memory.allocatedBytes, 0, 'every thread gave its memory back');
});

groups.run();

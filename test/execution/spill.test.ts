import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { Granularity } from '../../src/model/granularity.js';
import type { GroupPlan, PostStep } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { groupRows, printKeys } from './oracle.js';
import { arbitraryGroupPlan, arbitraryPieces, frameOf } from './random-data.js';
import { openFrames } from './segments.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const spillDirectory = mkdtempSync(path.join(tmpdir(), 'dolmen-spill-'));
const plain = createEngine({ memory, kernels: 'simd', threads: 0 });
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

function rowsOf(frames: readonly Frame[]): Value[][] {
  return frames.flatMap((frame) =>
    Array.from({ length: frame.rowCount }, (_, row) => frame.columns.map((column) => cellAt(column, row) as Value)),
  );
}

function asGroups(frames: readonly Frame[], keyCount: number): [string, Value[]][] {
  const groups = rowsOf(frames).map((cells): [string, Value[]] => [printKeys(cells.slice(0, keyCount)), cells.slice(keyCount)]);
  assert.is(new Set(groups.map(([name]) => name)).size, groups.length, 'a group comes once');
  return sorted(groups);
}

const sorted = (groups: Iterable<[string, Value[]]>): [string, Value[]][] => [...groups].sort(([a], [b]) => (a < b ? -1 : 1));

/** So small that every segment spills; that only some do; enough for all. */
const budgets = fc.constantFrom(1, 4_000_000, 1 << 30);

const left = (): string[] => (existsSync(spillDirectory) ? readdirSync(spillDirectory) : []);

function assertTidy(): void {
  assert.equal(left(), [], 'no file is left');
  assert.is(memory.allocatedBytes, 0);
}

async function within<Result>(groupBytesMax: number, use: (engine: typeof plain) => Promise<Result>, more = {}): Promise<Result> {
  const engine = createEngine({ memory, kernels: 'simd', threads: 0, groupBytesMax, spillDirectory, ...more });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

const hundredThousand: Frame = {
  rowCount: 100_000,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from({ length: 100_000 }, (_, row) => BigInt(row)), nulls: null },
    { kind: 'long', name: 'key', values: BigInt64Array.from({ length: 100_000 }, (_, row) => BigInt(row) * 0x1_0000_0001n), nulls: null },
  ],
};
const manyGroups: GroupPlan = {
  operator: 'group',
  dataSource: 'none',
  intervals: [{ start: 0, end: 1_000_000 }],
  filter: null,
  virtualColumns: [],
  keys: [{ kind: 'column', name: 'key', column: 'key', type: 'LONG' }],
  aggregators: [{ kind: 'count', name: 'rows', filter: null }],
  emptyGroup: false,
  post: [],
};

const spilling = suite('groups that spill');

spilling('agree with the oracle whatever the budget, over any data and plan', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, budgets, async (pieces, plan, budget) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      try {
        const views = placed.map(({ view }) => view);
        const frames = await within(budget, (engine) => collect(engine.runViews(plan, views, options(), never)));
        assert.equal(asGroups(frames, plan.keys.length), sorted(groupRows(pieces.flat(), plan)));
      } finally {
        for (const { release } of placed) release();
      }
      assertTidy();
    }),
    { numRuns: caseCount(120), includeErrorInReport: true },
  );
});

spilling('give partial results that merge into the whole, spilling again', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, async (pieces, plan) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      try {
        const frames = await within(1, async (engine) => {
          const halves = [placed.filter((_, at) => at % 2 === 0), placed.filter((_, at) => at % 2 === 1)];
          const partials = halves.map((half) =>
            engine.runViews(
              plan,
              half.map(({ view }) => view),
              options({ ending: 'partial' }),
              never,
            ),
          );
          return collect(engine.merge(plan, partials, options(), never));
        });
        assert.equal(asGroups(frames, plan.keys.length), sorted(groupRows(pieces.flat(), plan)));
      } finally {
        for (const { release } of placed) release();
      }
      assertTidy();
    }),
    { numRuns: caseCount(50), includeErrorInReport: true },
  );
});

spilling('agree with the oracle on several threads over segments', async () => {
  const more = { threads: 2, rowsRunInline: 0, morselRows: 32 };
  const engines = [1, 8_000_000].map((groupBytesMax) => createEngine({ memory, kernels: 'simd', groupBytesMax, spillDirectory, ...more }));
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, fc.constantFrom(...engines), async (pieces, plan, engine) => {
        const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, engine);
        try {
          const frames = await collect(engine.run(plan, store, ids, options(), never));
          assert.equal(asGroups(frames, plan.keys.length), sorted(groupRows(pieces.flat(), plan)));
        } finally {
          await close();
        }
      }),
      { numRuns: caseCount(30), includeErrorInReport: true },
    );
  } finally {
    for (const engine of engines) await engine.close();
  }
  assertTidy();
});

spilling('meet across threads that number computed texts in orders of their own', async () => {
  const texts = Array.from({ length: 500 }, (_, id) => `text ${id}`);
  const pieces = Array.from({ length: 12 }, (_, piece): Frame => {
    const ids = Uint32Array.from({ length: 20_000 }, (_, row) => ((row % 250) + piece * 100) % texts.length);
    const values = BigInt64Array.from(ids, (_, row) => BigInt(Date.UTC(2024, 2, 1) + row));
    return {
      rowCount: ids.length,
      columns: [
        { kind: 'long', name: '__time', values, nulls: null },
        { kind: 'string', name: 'text', ids, dictionary: texts },
      ],
    };
  });
  const plan: GroupPlan = {
    ...manyGroups,
    intervals: [{ start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) }],
    virtualColumns: [
      {
        name: 'upper',
        expression: { kind: 'call', function: 'upper', arguments: [{ kind: 'column', name: 'text' }] },
        outputType: 'STRING',
      },
    ],
    keys: [{ kind: 'column', name: 'key', column: 'upper', type: 'STRING' }],
  };
  // Each piece has 250 of the texts, each 80 times.
  const countOf = (id: number): number =>
    80 * pieces.filter((_, piece) => (id - ((piece * 100) % texts.length) + texts.length) % texts.length < 250).length;
  const expected = sorted(texts.map((text, id): [string, Value[]] => [printKeys([text.toUpperCase()]), [BigInt(countOf(id))]]));
  const engine = createEngine({ memory, kernels: 'simd', groupBytesMax: 1, spillDirectory, threads: 2, rowsRunInline: 0 });
  try {
    const { store, ids, close } = await openFrames(pieces, memory, engine);
    try {
      for (let run = 0; run < 5; run++) assert.equal(asGroups(await collect(engine.run(plan, store, ids, options(), never)), 1), expected);
    } finally {
      await close();
    }
  } finally {
    await engine.close();
  }
  assertTidy();
});

spilling('of strings that are larger than memory take these to disk, and are refused by the name of the limit without', async () => {
  const [rows, shift, pieceCount] = [25_000, 12_500, 4];
  const groupCount = rows + shift * (pieceCount - 1);
  const long = 'x'.repeat(450);
  const plan: GroupPlan = {
    ...manyGroups,
    virtualColumns: [
      {
        name: 'long',
        expression: {
          kind: 'call',
          function: 'concat',
          arguments: [
            { kind: 'literal', type: 'STRING', value: long },
            { kind: 'column', name: 'key' },
          ],
        },
        outputType: 'STRING',
      },
    ],
    keys: [{ kind: 'column', name: 'key', column: 'long', type: 'STRING' }],
  };
  const small = KernelMemory.create({ maximumBytes: 1 << 25 });
  assert.ok(groupCount * long.length > (1 << 25) * 0.8, 'beside tables and rows there is no room for the strings');
  const placed = Array.from({ length: pieceCount }, (_, piece) =>
    uploadFrame(
      {
        rowCount: rows,
        columns: [
          { kind: 'long', name: '__time', values: BigInt64Array.from({ length: rows }, (_, row) => BigInt(row)), nulls: null },
          { kind: 'long', name: 'key', values: BigInt64Array.from({ length: rows }, (_, row) => BigInt(piece * shift + row)), nulls: null },
        ],
      },
      small,
    ),
  );
  const views = placed.map(({ view }, piece) => ({ ...view, id: `piece_${piece}` }));
  const bytes = small.allocatedBytes;
  const engine = createEngine({ memory: small, kernels: 'simd', threads: 0, groupBytesMax: 1 << 23, spillDirectory });
  try {
    const groups = asGroups(await collect(engine.runViews(plan, views, options(), never)), 1);
    assert.is(groups.length, groupCount);
    const counts = new Map(groups.map(([name, [count]]) => [name, count]));
    for (let key = 0; key < groupCount; key++)
      assert.is(counts.get(printKeys([`${long}${key}`])), key < shift || key >= groupCount - shift ? 1n : 2n, `key ${key}`);
    const refused = await collect(engine.runViews(plan, views, options({ limits: { maxOnDiskStorage: 0 } }), never)).catch(
      (error: unknown) => error,
    );
    assert.ok(refused instanceof ServiceError && refused.code === 'resource_limit');
    assert.match(refused.message, 'svc.query.groupBy.maxMemoryBytes');
    assert.is(small.allocatedBytes, bytes);
  } finally {
    await engine.close();
    for (const { release } of placed) release();
  }
  assertTidy();
});

const allKeys = (plan: GroupPlan): PostStep => ({
  step: 'sort',
  by: plan.keys.map(({ name }, at) => ({ column: name, descending: at % 2 === 1, nulls: 'last', ordering: 'lexicographic' })),
  offset: 0,
  limit: null,
});

/** Post-processing steps for any plan, by what they ask for first. */
const endings: Readonly<Record<string, (plan: GroupPlan, name: string) => readonly PostStep[]>> = {
  'the best few': (_, column) => [
    { step: 'sort', by: [{ column, descending: true, nulls: 'last', ordering: 'numeric' }], offset: 1, limit: 3 },
  ],
  'the best of all, filtered': (_, column) => [
    { step: 'filter', filter: { kind: 'not', filter: { kind: 'null', column } } },
    { step: 'sort', by: [{ column, descending: false, nulls: 'first', ordering: 'lexicographic' }], offset: 0, limit: 5 },
    { step: 'project', columns: [{ name: 'only', from: column }] },
  ],
  'everything sorted': (plan) => [allKeys(plan)],
  'a sort that keeps more than memory holds': (_, column) => [
    { step: 'sort', by: [{ column, descending: true, nulls: 'first', ordering: 'lexicographic' }], offset: 2, limit: 10_000_000 },
    { step: 'limit', offset: 1, limit: 7 },
  ],
  'the best per bucket': (plan, column) => [
    {
      step: 'topPerBucket',
      bucket: plan.keys[0]?.name ?? column,
      by: [{ column, descending: true, nulls: 'last', ordering: 'lexicographic' }],
      limit: 1,
    },
  ],
  'some, twice sorted': (plan, column) => [
    { step: 'sort', by: [{ column, descending: false, nulls: 'last', ordering: 'lexicographic' }], offset: 0, limit: 4 },
    allKeys(plan),
  ],
};

for (const [name, ending] of Object.entries(endings)) {
  spilling(`end as those in memory do: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryGroupPlan, async (pieces, bare) => {
        const column = bare.aggregators[0]?.name ?? bare.keys[0]?.name;
        if (column === undefined || bare.keys.length === 0) return;
        const plan = { ...bare, post: ending(bare, column) };
        const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
        try {
          const views = placed.map(({ view }) => view);
          const expected = rowsOf(await collect(plain.runViews(plan, views, options(), never)));
          const actual = rowsOf(await within(1, (engine) => collect(engine.runViews(plan, views, options(), never))));
          assert.equal(actual, expected);
        } finally {
          for (const { release } of placed) release();
        }
        assertTidy();
      }),
      { numRuns: caseCount(20), includeErrorInReport: true },
    );
  });
}

spilling('have their buckets filled in, also where no row is in any', async () => {
  const [start, hour] = [Date.UTC(2024, 2, 1), 3_600_000];
  const granularity: Granularity = { kind: 'duration', durationMs: hour, origin: 0 };
  const pieces = [0, 3].map((first): Frame => {
    const values = BigInt64Array.from({ length: 40 }, (_, row) => BigInt(start + first * hour + row * 60_000));
    return { rowCount: 40, columns: [{ kind: 'long', name: '__time', values, nulls: null }] };
  });
  const counts = [40n, 0n, 0n, 40n, 0n];
  const engine = createEngine({ memory, kernels: 'simd', groupBytesMax: 1, spillDirectory, threads: 2, rowsRunInline: 0, morselRows: 16 });
  try {
    const { store, ids, close } = await openFrames(pieces, memory, engine);
    try {
      for (const isNone of [false, true]) {
        const plan: GroupPlan = {
          ...manyGroups,
          intervals: [{ start, end: start + counts.length * hour }],
          filter: isNone ? { kind: 'equals', column: '__time', type: 'LONG', value: 7n } : null,
          keys: [{ kind: 'time', name: 'bucket', granularity }],
          post: [{ step: 'fillBuckets', bucket: 'bucket', granularity }],
        };
        const expected = counts.map((count, at) => [BigInt(start + at * hour), isNone ? 0n : count]);
        assert.equal(rowsOf(await collect(engine.run(plan, store, ids, options(), never))), expected);
      }
    } finally {
      await close();
    }
  } finally {
    await engine.close();
  }
  assertTidy();
});

spilling('leave nothing behind when the reader stops, the query is cancelled, or its disk space ends', async () => {
  const placed = uploadFrame(hundredThousand, memory);
  try {
    await within(1, async (engine) => {
      for await (const frame of engine.runViews(manyGroups, [placed.view], options(), never)) {
        assert.ok(frame.rowCount > 0);
        assert.ok(left().length > 0, 'it has spilled');
        break;
      }
      assert.equal(left(), []);
      const abort = new AbortController();
      const frames = engine.runViews(manyGroups, [placed.view], options(), abort.signal)[Symbol.asyncIterator]();
      await frames.next();
      abort.abort();
      const failure = await frames.next().then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.is((failure as ServiceError).code, 'cancelled');
      assert.equal(left(), []);
      const limit = await collect(
        engine.runViews(manyGroups, [placed.view], options({ limits: { maxOnDiskStorage: 100_000 } }), never),
      ).catch((error: unknown) => error);
      assert.ok(limit instanceof ServiceError && limit.code === 'resource_limit');
      assert.match(limit.message, 'maxOnDiskStorage');
      assert.equal(left(), []);
    });
  } finally {
    placed.release();
  }
  assertTidy();
});

spilling('are refused where no disk space is allowed', async () => {
  const placed = uploadFrame(hundredThousand, memory);
  try {
    const failure = await within(1 << 20, (engine) =>
      collect(engine.runViews(manyGroups, [placed.view], options({ limits: { maxOnDiskStorage: 0 } }), never)).catch(
        (error: unknown) => error,
      ),
    );
    assert.ok(failure instanceof ServiceError && failure.code === 'resource_limit');
    assert.match(failure.message, 'svc.query.groupBy.maxMemoryBytes');
  } finally {
    placed.release();
  }
  assertTidy();
});

spilling.after(async () => {
  await plain.close();
  rmSync(spillDirectory, { recursive: true, force: true });
});

spilling.run();

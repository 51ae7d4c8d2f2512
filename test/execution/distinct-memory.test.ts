import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { DistinctFold } from '../../src/model/aggregator.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { openFrames } from './segments.js';

const MEBIBYTE = 1 << 20;
const GROUPS = 100;
const VALUES = 4000;
const START = Date.UTC(2024, 0, 1);

const longs = (name: string, valueAt: (row: number) => number): Frame['columns'][number] => ({
  kind: 'long',
  name,
  values: BigInt64Array.from({ length: GROUPS * VALUES }, (_, row) => BigInt(valueAt(row))),
  nulls: null,
});
/** Every value once in every group: a bit each while they are collected, eight bytes each when they are folded. */
const frame: Frame = {
  rowCount: GROUPS * VALUES,
  columns: [
    longs('__time', (row) => START + row),
    longs('group', (row) => row % GROUPS),
    longs('value', (row) => Math.floor(row / GROUPS)),
  ],
};

const plan = (fold?: DistinctFold): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals: [{ start: START, end: START + GROUPS * VALUES }],
  filter: null,
  virtualColumns: [],
  emptyGroup: false,
  keys: [{ kind: 'column', name: 'group', column: 'group', type: 'LONG' }],
  aggregators: [{ kind: 'distinct', name: 'distinct', filter: null, column: 'value', ...(fold === undefined ? {} : { fold }) }],
  post: [],
});

const distincts = suite('memory of distinct values');

distincts('that are added up counts in what the query holds', async () => {
  const memory = KernelMemory.create({ maximumBytes: 256 * MEBIBYTE });
  /** The results of the groups, and the most that the query held; or the code of its failure. */
  const run = async (asked: GroupPlan, queryBytesMax?: number) => {
    const engine = createEngine({ memory, kernels: 'simd', threads: 0, ...(queryBytesMax === undefined ? {} : { queryBytesMax }) });
    const { store, ids, close } = await openFrames([frame], memory, engine);
    const profile = newProfile();
    const options = { ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null, profile } as const;
    const values: unknown[] = [];
    try {
      for await (const { rowCount, columns } of engine.run(asked, store, ids, options, new AbortController().signal))
        for (let row = 0; row < rowCount; row++) values.push(columns[1] === undefined ? undefined : cellAt(columns[1], row));
      return { values, bytes: profile.peakMemoryBytes };
    } catch (error) {
      return error instanceof ServiceError ? error.code : String(error);
    } finally {
      await close();
      await engine.close();
      assert.is(memory.allocatedBytes, 0, 'everything was given back');
    }
  };
  const of = <Result>(result: Result): Result[] => new Array<Result>(GROUPS).fill(result);
  const sum = (VALUES * (VALUES - 1)) / 2;

  const counted = await run(plan());
  assert.ok(typeof counted === 'object');
  assert.equal(counted.values, of(BigInt(VALUES)));
  const bytesMax = counted.bytes + MEBIBYTE;
  assert.ok(GROUPS * VALUES * 8 > bytesMax, 'what is added up takes more than is allowed below');
  const within = await run(plan(), bytesMax);
  assert.equal(typeof within === 'object' && within.values, counted.values);
  for (const [fold, result] of [
    [{ kind: 'sum', type: 'LONG' }, BigInt(sum)],
    [{ kind: 'sum', type: 'DOUBLE' }, sum],
  ] as const) {
    const folded = await run(plan(fold));
    assert.ok(typeof folded === 'object');
    assert.equal(folded.values, of(result));
    assert.is(await run(plan(fold), bytesMax), 'resource_limit');
  }
});

/** Rows of three segments, so many wide numbers of each that their sets go from one place to the next whole. */
const WIDE_ROWS = 50_000;
const wideValue = (segment: number, row: number): bigint => BigInt((row * 7 + segment * 100_000) % 300_000) * 1_000_000_007n;
const wideFrames = [0, 1, 2].map(
  (segment): Frame => ({
    rowCount: WIDE_ROWS,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from({ length: WIDE_ROWS }, (_, row) => BigInt(START + row)), nulls: null },
      { kind: 'long', name: 'group', values: BigInt64Array.from({ length: WIDE_ROWS }, (_, row) => BigInt(row % 2)), nulls: null },
      { kind: 'long', name: 'value', values: BigInt64Array.from({ length: WIDE_ROWS }, (_, row) => wideValue(segment, row)), nulls: null },
    ],
  }),
);

for (const { way, threads, segments, groupBytesMax } of [
  { way: 'of one segment', threads: 0, segments: 1 },
  { way: 'of several segments', threads: 0, segments: 3 },
  { way: 'of several threads', threads: 2, segments: 3 },
  { way: 'of more than may be kept', threads: 0, segments: 3, groupBytesMax: MEBIBYTE },
])
  distincts(`wide numbers ${way} are counted once each`, async () => {
    const memory = KernelMemory.create({ maximumBytes: 256 * MEBIBYTE });
    const limit = groupBytesMax === undefined ? {} : { groupBytesMax };
    const engine = createEngine({ memory, kernels: 'simd', threads, rowsRunInline: 0, morselRows: 16_384, ...limit });
    const { store, ids, close } = await openFrames(wideFrames.slice(0, segments), memory, engine);
    const options = { ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null } as const;
    const [none, two] = [new Set<bigint>(), [new Set<bigint>(), new Set<bigint>()]];
    for (let segment = 0; segment < segments; segment++)
      for (let row = 0; row < WIDE_ROWS; row++) {
        none.add(wideValue(segment, row));
        two[row % 2]?.add(wideValue(segment, row));
      }
    try {
      for (const keys of [[], plan().keys]) {
        const counts: unknown[] = [];
        try {
          for await (const { rowCount, columns } of engine.run({ ...plan(), keys }, store, ids, options, new AbortController().signal))
            for (let row = 0; row < rowCount; row++) {
              const last = columns.at(-1);
              if (last !== undefined) counts.push(cellAt(last, row));
            }
        } catch (error) {
          assert.is(error instanceof ServiceError && error.code, 'resource_limit');
          assert.is.not(groupBytesMax, undefined, String(error));
          continue;
        }
        const expected = (keys.length === 0 ? [none] : two).map(({ size }) => BigInt(size));
        assert.equal(counts.sort(), expected.sort());
      }
    } finally {
      await close();
      await engine.close();
    }
    assert.is(memory.allocatedBytes, 0, 'everything was given back');
  });

distincts.run();

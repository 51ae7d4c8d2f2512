import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { SegmentPin, SegmentStore } from '../../src/storage/contract.js';
import { openFrames } from './segments.js';

/** Three segments of one day each, a row a minute: letters a, b, c in turn, and the number of the minute. */
const DAY = 86_400_000;
const MINUTE = 60_000;
const ROWS = DAY / MINUTE;
const START = Date.UTC(2024, 2, 1);
const LETTERS = ['a', 'b', 'c'];

const frames = [0, 1, 2].map(
  (day): Frame => ({
    rowCount: ROWS,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(timeOf(day, row))), nulls: null },
      { kind: 'string', name: 'letter', ids: Uint32Array.from({ length: ROWS }, (_, row) => row % 3), dictionary: LETTERS },
      { kind: 'long', name: 'minute', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row)), nulls: null },
    ],
  }),
);

function timeOf(day: number, row: number): number {
  return START + day * DAY + row * MINUTE;
}

const byLetter = (intervals: readonly Interval[]): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals,
  filter: null,
  virtualColumns: [],
  post: [],
  emptyGroup: false,
  keys: [{ kind: 'column', name: 'letter', column: 'letter', type: 'STRING' }],
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'minutes', column: 'minute', type: 'LONG', filter: null },
  ],
});

/** [letter, rows, minutes] of the rows in the intervals. */
function expected(intervals: readonly Interval[]): unknown[][] {
  const sums = new Map<string, [bigint, bigint]>();
  for (let day = 0; day < 3; day++)
    for (let row = 0; row < ROWS; row++) {
      const time = timeOf(day, row);
      if (!intervals.some(({ start, end }) => start <= time && time < end)) continue;
      const letter = LETTERS[row % 3] ?? '';
      const [rows, minutes] = sums.get(letter) ?? [0n, 0n];
      sums.set(letter, [rows + 1n, minutes + BigInt(row)]);
    }
  return [...sums].map(([letter, [rows, minutes]]) => [letter, rows, minutes]).sort();
}

const day = (from: number, to: number): Interval => ({ start: START + from * DAY, end: START + to * DAY });
const all = byLetter([day(0, 3)]);

/** `timed`: the days whose segment needs its `__time`. */
const cases: readonly { name: string; plan: GroupPlan; timed: readonly number[] }[] = [
  { name: 'all of it', plan: all, timed: [] },
  { name: 'more than all of it', plan: byLetter([day(-10, 10)]), timed: [] },
  { name: 'up to the last row and no further', plan: byLetter([{ start: START, end: timeOf(2, ROWS - 1) + 1 }]), timed: [] },
  { name: 'but the very last row', plan: byLetter([{ start: START, end: timeOf(2, ROWS - 1) }]), timed: [2] },
  { name: 'but the very first row', plan: byLetter([{ start: START + 1, end: START + 3 * DAY }]), timed: [0] },
  { name: 'half a day, a day, half a day', plan: byLetter([day(0.5, 2.5)]), timed: [0, 2] },
  { name: 'one day', plan: byLetter([day(1, 2)]), timed: [0, 2] },
  { name: 'a day in two parts', plan: byLetter([day(0, 0.5), day(0.5, 1)]), timed: [0, 1, 2] },
  { name: 'no row at all', plan: byLetter([day(7, 8)]), timed: [0, 1, 2] },
];

/** Plans that read it whatever the interval. */
const readers: readonly { name: string; plan: GroupPlan }[] = [
  {
    name: 'a key of buckets',
    plan: { ...all, keys: [{ kind: 'time', name: 't', granularity: { kind: 'duration', durationMs: DAY, origin: 0 } }] },
  },
  { name: 'a key of instants', plan: { ...all, keys: [{ kind: 'column', name: 't', column: '__time', type: 'LONG' }] } },
  {
    name: 'an aggregator',
    plan: { ...all, aggregators: [{ kind: 'max', name: 'last', column: '__time', type: 'LONG', filter: null }] },
  },
  {
    name: 'the filter of an aggregator',
    plan: {
      ...all,
      aggregators: [{ kind: 'count', name: 'some', filter: { kind: 'equals', column: '__time', type: 'LONG', value: BigInt(START) } }],
    },
  },
  { name: 'a filter', plan: { ...all, filter: { kind: 'equals', column: '__time', type: 'LONG', value: BigInt(START) } } },
  {
    name: 'a virtual column',
    plan: {
      ...all,
      virtualColumns: [{ name: 'v', expression: { kind: 'column', name: '__time' }, outputType: 'LONG' }],
      aggregators: [{ kind: 'max', name: 'last', column: 'v', type: 'LONG', filter: null }],
    },
  },
];

const timeLeftOut = suite('time that only cuts');

/** Runs the plan and tells its rows in order, and which segments had their `__time` in memory. */
async function run(plans: readonly GroupPlan[]): Promise<{ rows: unknown[][]; timed: number[] }[]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
  const { store, ids, close } = await openFrames(frames, memory, engine);
  const results: { rows: unknown[][]; timed: number[] }[] = [];
  try {
    for (const plan of plans) {
      const rows: unknown[][] = [];
      const pins: SegmentPin[] = [];
      const watched: SegmentStore = {
        ...store,
        pin: async (request) => {
          const pin = await store.pin(request);
          pins.push(pin);
          return pin;
        },
      };
      const options = { ending: 'final', deadlineMs: Infinity, kernels: null, batchRows: null } as const;
      for await (const frame of engine.run(plan, watched, ids, options, new AbortController().signal))
        for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
      const timed = ids.flatMap((id, at) =>
        pins.some(({ segments }) => segments.some((view) => view.id === id && view.columns['__time'] !== undefined)) ? [at] : [],
      );
      results.push({ rows: rows.sort(), timed });
    }
    await close();
  } finally {
    await engine.close();
  }
  return results;
}

timeLeftOut('is read of the segments that it cuts', async () => {
  // Twice, and in both orders: pins are found again, by what they have.
  const order = [...cases, ...cases.toReversed()];
  const results = await run(order.map(({ plan }) => plan));
  for (const [at, { name, plan, timed }] of order.entries()) {
    assert.equal(results[at]?.rows, expected(plan.intervals), name);
    assert.equal(results[at]?.timed, timed, name);
  }
});

timeLeftOut('is not read for the one bucket of all', async () => {
  const [result] = await run([{ ...all, keys: [{ kind: 'time', name: 't', granularity: { kind: 'all' } }, ...all.keys] }]);
  assert.equal(result, { rows: expected(all.intervals).map((row) => [BigInt(START), ...row]), timed: [] });
});

timeLeftOut('is read where the plan reads it', async () => {
  const results = await run(readers.map(({ plan }) => plan));
  for (const [at, { name }] of readers.entries()) assert.equal(results[at]?.timed, [0, 1, 2], name);
  assert.equal(
    results[2]?.rows.map(([, last]) => last).sort(),
    [2, 1, 0].map((back) => BigInt(timeOf(2, ROWS - 1 - back))),
  );
});

timeLeftOut.run();

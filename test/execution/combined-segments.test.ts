import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { isArrayValue } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { GroupPlan, RowPlan } from '../../src/model/plan.js';
import type { KeptRoom } from '../../src/storage/buffer-pool.js';
import type { Cell, Row } from './oracle.js';
import { arbitraryPieces, COLUMNS, frameOf } from './random-data.js';
import { scanOf } from './scanning.js';
import { openFrames } from './segments.js';

/*
 * Small segments of consecutive hours, and larger ones of consecutive days once they are asked for again, are joined in memory: scans give the same rows in the same order, and groupings the counts that
 * a loop over the rows gives, whichever of them a query reads and whichever come and go.
 */
const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;
const HOUR = 3_600_000;
const START = Date.UTC(2024, 2, 30);

const countsBy = (column: string): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: [{ kind: 'column', name: 'k', column, type: null }],
  aggregators: [{ kind: 'count', name: 'n', filter: null }],
  emptyGroup: false,
  post: [],
});

/** Segments of an hour each, with few rows: the pieces over and over, each with times of its own. */
function hoursOf(pieces: readonly (readonly Row[])[], count: number): Row[][] {
  return Array.from({ length: count }, (_, hour) =>
    (pieces[hour % pieces.length] ?? [])
      .slice(0, 1 + (hour % 7))
      .map((row, at): Row => ({ ...row, __time: BigInt(START + hour * HOUR + at) })),
  );
}

function cellOf(value: Cell | undefined): FrameCell {
  if (!isArrayValue(value ?? null)) return (value ?? null) as FrameCell;
  const values = value as readonly (string | null)[];
  return values.length === 0 ? null : values.length === 1 ? (values[0] ?? null) : values;
}

const test = suite('small segments joined in memory');

test('give the rows of the segments in their order, whichever a query reads', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, fc.integer({ min: 16, max: 90 }), fc.nat(20), async (pieces, count, from) => {
      const hours = hoursOf(pieces, count);
      const { store, ids, close } = await openFrames(hours.map(frameOf), memory, engine, (number) => ({
        start: START + number * HOUR,
        end: START + (number + 1) * HOUR,
      }));
      const rowsOf = async (plan: RowPlan, segmentIds: readonly string[]): Promise<FrameCell[][]> => {
        const found: FrameCell[][] = [];
        const frames: AsyncIterable<Frame> = engine.run(plan, store, segmentIds, options, never);
        for await (const frame of frames)
          for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => cellAt(column, row)));
        return found;
      };
      const scan = scanOf(['__time', ...COLUMNS]);
      const expected = (of: readonly Row[][]): FrameCell[][] =>
        of.flat().map((row) => ['__time', ...COLUMNS].map((name) => cellOf(row[name])));
      try {
        // Rows that are asked for again are read in larger pieces, and found as they were from then on.
        for (let time = 0; time < 3; time++) {
          assert.equal(await rowsOf(scan, ids), expected(hours));
          assert.equal(await rowsOf(scan, ids.slice(from)), expected(hours.slice(from)));
        }
        const named: [string | undefined, FrameCell][] = [];
        for await (const { segmentId, rowCount, columns } of engine.run(
          scanOf(['__time'], { namesSegments: true }),
          store,
          ids,
          options,
          never,
        ))
          for (let row = 0; row < rowCount; row++) named.push([segmentId, columns[0] === undefined ? null : cellAt(columns[0], row)]);
        assert.equal(
          named,
          hours.flatMap((rows, hour) => rows.map((row) => [ids[hour], row['__time']])),
        );
        await store.close(ids[1] ?? '');
        const left = hours.filter((_, hour) => hour !== 1);
        const leftIds = ids.filter((_, hour) => hour !== 1);
        assert.equal(await rowsOf(scan, leftIds), expected(left));
        const counts = new Map<FrameCell, bigint>();
        for (const row of left.flat()) counts.set(row['plain'] as string, (counts.get(row['plain'] as string) ?? 0n) + 1n);
        for (let time = 0; time < 2; time++) {
          const grouped = await rowsOf(countsBy('plain'), leftIds);
          assert.equal(new Map(grouped.map(([key = null, n]) => [key, n as bigint])), counts);
        }
      } finally {
        await close();
      }
      assert.is(store.residentBytes, 0);
    }),
    { numRuns: 25 },
  );
});

/** Rows of a segment that is not small. */
const LARGER = 4200;
const DAY = 24 * HOUR;

/** Segments of a day each: the rows of a piece over and over, each with a time of its own. */
function daysOf(pieces: readonly (readonly Row[])[], count: number): Row[][] {
  return Array.from({ length: count }, (_, day) => {
    const rows = pieces[day % pieces.length] ?? [];
    return Array.from(
      { length: LARGER + day },
      (_each, at): Row => ({ ...rows[at % rows.length], __time: BigInt(START + day * DAY + at) }),
    );
  });
}

test('give the rows of larger segments that are asked for again', async () => {
  let joined = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, fc.integer({ min: 2, max: 4 }), async (pieces, count) => {
      const days = daysOf(pieces, count);
      const { store, ids, close } = await openFrames(days.map(frameOf), memory, engine, (number) => ({
        start: START + number * DAY,
        end: START + (number + 1) * DAY,
      }));
      try {
        const names = ['__time', ...COLUMNS];
        const expected = days.flat().map((row) => names.map((name) => cellOf(row[name])).join());
        for (let time = 0; time < 3; time++) {
          const found: string[] = [];
          for await (const { rowCount, columns } of engine.run(scanOf(names), store, ids, options, never))
            for (let row = 0; row < rowCount; row++) found.push(columns.map((column) => cellAt(column, row)).join());
          assert.equal(found, expected);
        }
        const pin = await store.pin({ segmentIds: ids, columns: COLUMNS, globalDictionaries: [] });
        pin.release();
        if (pin.segments.length < count) joined++;
      } finally {
        await close();
      }
      assert.is(store.residentBytes, 0);
    }),
    { numRuns: 12 },
  );
  assert.ok(joined > 0);
});

test('stay alone where a column has nearly as many strings as rows, or where they would take much of the memory', async () => {
  const days = (texts: number): Row[][] => daysOf([Array.from({ length: texts }, (_, at): Row => ({ plain: `v${at}` }))], 3);
  const dayOf = (number: number) => ({ start: START + number * DAY, end: START + (number + 1) * DAY });
  const viewsOf = async (texts: number, cacheBytes: number): Promise<number> => {
    const { store, ids, close } = await openFrames(days(texts).map(frameOf), memory, engine, dayOf, cacheBytes);
    try {
      let views = 0;
      for (let time = 0; time < 3; time++) {
        const pin = await store.pin({ segmentIds: ids, columns: ['plain'], globalDictionaries: [] });
        pin.release();
        views = pin.segments.length;
      }
      return views;
    } finally {
      await close();
    }
  };
  assert.is(await viewsOf(9, 1 << 28), 1);
  assert.is(await viewsOf(LARGER, 1 << 28), 3);
  // Two columns of 12,600 rows take about 100 kB.
  assert.is(await viewsOf(9, 1 << 19), 3);
});

const oneRowEach = (count: number): Row[][] =>
  Array.from({ length: count }, (_, hour): Row[] => [{ __time: BigInt(START + hour * HOUR), plain: `v${hour % 9}`, small: BigInt(hour) }]);
const hourOf = (number: number) => ({ start: START + number * HOUR, end: START + (number + 1) * HOUR });

test('are few where the segments are many, and fewer when they are asked for again', async () => {
  const { store, ids, close } = await openFrames(oneRowEach(1500).map(frameOf), memory, engine, hourOf);
  try {
    const request = { segmentIds: ids, columns: ['plain', 'small'], globalDictionaries: ['plain'] };
    const pinned = async (of = request) => {
      const pin = await store.pin(of);
      pin.release();
      const rowCount = pin.segments.reduce((sum, each) => sum + each.rowCount, 0);
      return { segments: pin.segments, bytesRead: pin.bytesRead, rowCount };
    };
    const first = await pinned();
    assert.ok(first.segments.length < 20, `${first.segments.length} views`);
    assert.ok(first.segments.length > 2, `${first.segments.length} views`);
    assert.is(first.rowCount, 1500);
    const second = await pinned();
    assert.ok(second.segments.length * 2 < first.segments.length, `${second.segments.length} views of ${first.segments.length}`);
    assert.is(second.rowCount, 1500);
    const third = await pinned();
    assert.is(third.segments, second.segments);
    assert.is(third.bytesRead, 0);
    const few = await pinned({ ...request, segmentIds: ids.slice(0, 5) });
    assert.equal(
      few.segments.map(({ id }) => id),
      ids.slice(0, 5),
    );
  } finally {
    await close();
  }
});

test('are read as they were where there is no room for larger pieces', async () => {
  const { store, ids, close } = await openFrames(oneRowEach(1500).map(frameOf), memory, engine, hourOf, 1 << 22);
  const request = { segmentIds: ids, columns: ['plain', 'small'], globalDictionaries: [] };
  const first = await store.pin(request);
  const kept: KeptRoom[] = [];
  try {
    for (let bytes = 1 << 22; bytes >= 1; bytes >>= 1)
      for (let room = store.keep(bytes, () => undefined); room !== undefined; room = store.keep(bytes, () => undefined)) kept.push(room);
    const second = await store.pin(request);
    second.release();
    assert.equal(second.segments, first.segments);
    for (const room of kept.splice(0)) {
      room.letGo();
      room.giveUp();
    }
    // A second request tries again, where there was no room before.
    const [third, fourth] = [await store.pin(request), await store.pin(request)];
    third.release();
    fourth.release();
    assert.is(third.segments.length, first.segments.length);
    assert.ok(fourth.segments.length < first.segments.length);
  } finally {
    first.release();
    await close();
  }
});

test.run();

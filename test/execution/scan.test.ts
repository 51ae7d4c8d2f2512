import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { StreamedSteps } from '../../src/execution/post/stream.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { collect } from '../../src/execution/run/merged.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame, FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { cell, keptRows, type Row } from './oracle.js';
import { arbitraryFilter, arbitraryPieces, frameOf, START, VIRTUAL_COLUMNS } from './random-data.js';
import { arbitraryPlan, engine, foundRows, memory, never, options, plainCell, rowOf, rowsOf, scanOf } from './scanning.js';

/** Expected rows of the plan: piece after piece, or all rows by time; rows of one instant keep their order. */
function expectedRows(pieces: readonly Row[][], plan: ScanPlan): FrameCell[][] {
  const kept = pieces.flatMap((rows) => keptRows(rows, plan));
  if (plan.timeOrder !== null) kept.sort((a, b) => Number(a['__time']) - Number(b['__time']));
  if (plan.timeOrder === 'descending') kept.reverse();
  const end = plan.limit === null ? undefined : plan.offset + plan.limit;
  return kept.slice(plan.offset, end).map((row) => plan.columns.map((name) => plainCell(cell(row, name, plan))));
}

async function* again(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

const scans = suite('scan');

scans('agrees with the oracle over any data and plan', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, arbitraryPlan, async (pieces, plan) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      try {
        assert.equal(
          await rowsOf(
            engine.runViews(
              plan,
              placed.map(({ view }) => view),
              options(),
              never,
            ),
          ),
          expectedRows(pieces, plan),
        );
      } finally {
        for (const { release } of placed) release();
      }
      assert.is(memory.allocatedBytes, 0);
    }),
    { numRuns: caseCount(150), includeErrorInReport: true },
  );
});

scans('partial scans of several servers merge into the whole', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, arbitraryPlan, async (pieces, plan) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      try {
        const partials = placed.map(({ view }) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
        const merged = await rowsOf(engine.merge(plan, partials, options(), never));
        const expected = expectedRows(pieces, plan);
        // The order of rows of one instant is up to the servers.
        if (plan.timeOrder !== 'descending') assert.equal(merged, expected);
        else assert.is(merged.length, expected.length);
      } finally {
        for (const { release } of placed) release();
      }
      assert.is(memory.allocatedBytes, 0);
    }),
    { numRuns: caseCount(100), includeErrorInReport: true },
  );
});

scans('rows that alternate between servers are merged by time, and sorted on a thread', async () => {
  const rowsOfServer = (server: number): Row[] =>
    Array.from({ length: 3000 }, (_, at) => rowOf({ __time: BigInt(START + at * 3 + server), small: BigInt((at * 7 + server) % 256) }));
  const placed = [0, 1, 2].map((server) => uploadFrame(frameOf(rowsOfServer(server)), memory));
  const threaded = createEngine({ memory, kernels: 'simd', threads: 1, rowsRunInline: 0 });
  const merged = async (plan: ScanPlan): Promise<FrameCell[][]> => {
    const frames = placed.map(({ view }) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
    const held = await Promise.all(frames.map((partial) => collect(partial)));
    const { push } = StreamedSteps.prototype;
    StreamedSteps.prototype.push = () => {
      throw new Error('rows are sorted on the thread that asks');
    };
    try {
      return await rowsOf(threaded.merge(plan, held.map(again), options(), never));
    } finally {
      StreamedSteps.prototype.push = push;
    }
  };
  try {
    const times = Array.from({ length: 9000 }, (_, at) => [BigInt(START + at)]);
    assert.equal(await merged(scanOf(['__time'], { timeOrder: 'ascending' })), times);
    assert.equal(await merged(scanOf(['__time'], { timeOrder: 'descending', offset: 2, limit: 6000 })), times.reverse().slice(2, 6002));
    const by = ['small', '__time'].map((column) => ({ column, descending: true, nulls: 'last', ordering: 'numeric' }) as const);
    const expected = [0, 1, 2].flatMap((server) =>
      rowsOfServer(server).map((row) => [Number(row['small']), Number(row['__time'])] as const),
    );
    expected.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    const found = await merged(scanOf(['small', '__time'], { post: [{ step: 'sort', by, offset: 0, limit: null }] }));
    assert.equal(
      found.map((row) => row.map(Number)),
      expected,
    );
  } finally {
    for (const { release } of placed) release();
    await threaded.close();
  }
  assert.is(memory.allocatedBytes, 0);
});

scans('a reader that stops early frees everything', async () => {
  const rows = Array.from({ length: 50_000 }, (_, index) => rowOf({ __time: BigInt(START + index), small: 1n, large: 1n }));
  const placed = uploadFrame(frameOf(rows), memory);
  const plan = scanOf(['plain'], { timeOrder: 'ascending' });
  for await (const frame of engine.runViews(plan, [placed.view], options(), never)) {
    assert.ok(frame.rowCount < rows.length, 'the result comes in pieces');
    break;
  }
  placed.release();
  assert.is(memory.allocatedBytes, 0);
});

scans('post-processing steps run over scanned rows, and a sort that would hold too many is refused', async () => {
  const rows = Array.from({ length: 3000 }, (_, index) =>
    rowOf({ __time: BigInt(START + index), small: BigInt((index * 7) % 199), large: BigInt(index) }),
  );
  const placed = uploadFrame(frameOf(rows), memory);
  const plan = scanOf(['small', 'large'], {
    post: [
      {
        step: 'compute',
        name: 'sum',
        type: 'LONG',
        expression: {
          kind: 'call',
          function: '+',
          arguments: [
            { kind: 'column', name: 'small' },
            { kind: 'column', name: 'large' },
          ],
        },
      },
      {
        step: 'sort',
        by: [
          { column: 'small', descending: true, nulls: 'last', ordering: 'numeric' },
          { column: 'large', descending: false, nulls: 'last', ordering: 'numeric' },
        ],
        offset: 1,
        limit: 3,
      },
      { step: 'project', columns: [{ name: 'total', from: 'sum' }] },
    ],
  });
  const best = rows
    .map((row) => [row['small'] as bigint, row['large'] as bigint] as const)
    .sort((a, b) => Number(b[0] - a[0]) || Number(a[1] - b[1]));
  assert.equal(
    await rowsOf(engine.runViews(plan, [placed.view], options(), never)),
    best.slice(1, 4).map(([small, large]) => [small + large]),
  );
  const narrow = createEngine({ memory, kernels: 'simd', threads: 0, heldRowsMax: 2999 });
  const asking = (maxRowsQueuedForOrdering: number) => options({ limits: { maxRowsQueuedForOrdering } });
  const refusal = (run: AsyncIterable<Frame>) =>
    rowsOf(run).then(
      () => '',
      (error: unknown) => String(error),
    );
  // The context asks for less than the property allows, never for more.
  for (const run of [
    narrow.runViews(plan, [placed.view], options(), never),
    narrow.runViews(plan, [placed.view], asking(1_000_000), never),
    engine.runViews(plan, [placed.view], asking(2999), never),
    engine.merge(plan, [engine.runViews(plan, [placed.view], options({ ending: 'partial' }), never)], asking(2999), never),
  ])
    assert.match(await refusal(run), / 2999 rows.*svc\.query\.scan\.maxRowsQueuedForOrdering.*context key/);
  assert.is(await refusal(engine.runViews(plan, [placed.view], asking(3000), never)), '');
  placed.release();
  assert.is(memory.allocatedBytes, 0);
});

scans('NaN is above the bounds of filters, as it is in expressions', async () => {
  const doubles = [1.5, Number.NaN, -0, null, Number.POSITIVE_INFINITY, 0.1, Number.NEGATIVE_INFINITY];
  const rows = doubles.map((double, index) => rowOf({ __time: BigInt(START + index), small: BigInt(index), double }));
  const range =
    (lower: number | null, upper: number | null, strict = false) =>
    (column: string): Filter => {
      const bounds = { lower, upper, lowerStrict: strict, upperStrict: strict };
      return { kind: 'range', column, type: 'DOUBLE', ordering: 'numeric', ...bounds };
    };
  const not =
    (inner: (column: string) => Filter) =>
    (column: string): Filter => ({ kind: 'not', filter: inner(column) });
  const truth = (name: string): Filter => ({ kind: 'expression', expression: { kind: 'column', name } });
  for (const column of ['double', 'plus'])
    for (const [filter, expected] of [
      [range(1.5, null), [0, 1, 4]],
      [range(1.5, null, true), [1, 4]],
      [range(Number.POSITIVE_INFINITY, null, true), [1]],
      [range(Number.NEGATIVE_INFINITY, null), [0, 1, 2, 4, 5, 6]],
      [range(0, null, true), [0, 1, 4, 5]],
      [range(0.1, Number.POSITIVE_INFINITY), [0, 4, 5]],
      [range(null, 0.1), [2, 5, 6]],
      [not(range(1.5, null)), [2, 5, 6]],
      [not(range(null, 1.5)), [1, 4]],
      // The truth of a number is whether it is above 0; that of NaN is not.
      [truth, [0, 4, 5]],
    ] as const) {
      const plan = scanOf(['small'], {
        filter: filter(column),
        virtualColumns: [
          {
            name: 'plus',
            expression: {
              kind: 'call',
              function: '+',
              arguments: [
                { kind: 'column', name: 'double' },
                { kind: 'literal', type: 'DOUBLE', value: 0 },
              ],
            },
            outputType: 'DOUBLE',
          },
        ],
      });
      const found = await foundRows([rows], plan);
      assert.equal(
        found.map(([small]) => Number(small)),
        expected,
        `${column} ${String(expected)}`,
      );
    }
});

scans('time boundaries are the first and last instant of matching rows', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, fc.option(arbitraryFilter, { nil: null }), async (pieces, filter) => {
      const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
      const plan = {
        operator: 'timeBoundary',
        dataSource: 'random',
        intervals: [ETERNITY],
        filter,
        virtualColumns: VIRTUAL_COLUMNS,
        post: [],
      } as const;
      try {
        const times = pieces.flatMap((rows) => keptRows(rows, plan)).map((row) => row['__time'] as bigint);
        times.sort((a, b) => Number(a - b));
        const expected = times.length === 0 ? [] : [[times[0], times.at(-1)]];
        assert.equal(
          await rowsOf(
            engine.runViews(
              plan,
              placed.map(({ view }) => view),
              options(),
              never,
            ),
          ),
          expected,
        );
        const partials = placed.map(({ view }) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
        assert.equal(await rowsOf(engine.merge(plan, partials, options(), never)), expected);
      } finally {
        for (const { release } of placed) release();
      }
    }),
    { numRuns: 100, includeErrorInReport: true },
  );
});

scans.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan, SortKey } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { type Cell, cell, keptRows, type Row } from './oracle.js';
import { arbitraryFilter, arbitraryPieces, COLUMNS, frameOf, START, VIRTUAL_COLUMNS } from './random-data.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});
const never = new AbortController().signal;

async function rowsOf(frames: AsyncIterable<Frame>): Promise<FrameCell[][]> {
  const rows: FrameCell[][] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
  return rows;
}

/** Cell in the form of `cellAt`: a list of one value is that value, an empty one null. */
function plainCell(value: Cell): FrameCell {
  if (!Array.isArray(value)) return value as FrameCell;
  const list = value as readonly (string | null)[];
  return list.length === 0 ? null : list.length === 1 ? (list[0] ?? null) : list;
}

/** Expected rows of the plan: piece after piece, or all rows by time; rows of one instant keep their order. */
function expectedRows(pieces: readonly Row[][], plan: ScanPlan): FrameCell[][] {
  const kept = pieces.flatMap((rows) => keptRows(rows, plan));
  if (plan.timeOrder !== null) kept.sort((a, b) => Number(a['__time']) - Number(b['__time']));
  if (plan.timeOrder === 'descending') kept.reverse();
  const end = plan.limit === null ? undefined : plan.offset + plan.limit;
  return kept.slice(plan.offset, end).map((row) => plan.columns.map((name) => plainCell(cell(row, name, plan))));
}

const arbitraryPlan: fc.Arbitrary<ScanPlan> = fc.record({
  operator: fc.constant('scan' as const),
  dataSource: fc.constant('random'),
  intervals: fc.constantFrom([ETERNITY], [{ start: START + 3_600_000, end: START + 30 * 3_600_000 }]),
  filter: fc.option(arbitraryFilter, { nil: null, freq: 2 }),
  virtualColumns: fc.constant(VIRTUAL_COLUMNS),
  post: fc.constant([]),
  columns: fc.uniqueArray(fc.constantFrom('__time', ...COLUMNS, 'upper', 'mixed', 'linear', 'missing'), { minLength: 1, maxLength: 5 }),
  timeOrder: fc.constantFrom(null, 'ascending' as const, 'descending' as const),
  offset: fc.nat({ max: 20 }),
  limit: fc.option(fc.nat({ max: 50 }), { nil: null }),
});

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

scans('a reader that stops early frees everything', async () => {
  const rows = Array.from(
    { length: 50_000 },
    (_, index): Row => ({
      __time: BigInt(START + index),
      plain: 'x',
      text: null,
      many: [],
      small: 1n,
      holes: null,
      large: 1n,
      double: null,
    }),
  );
  const placed = uploadFrame(frameOf(rows), memory);
  const plan: ScanPlan = {
    operator: 'scan',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    post: [],
    columns: ['plain'],
    timeOrder: 'ascending',
    offset: 0,
    limit: null,
  };
  for await (const frame of engine.runViews(plan, [placed.view], options(), never)) {
    assert.ok(frame.rowCount < rows.length, 'the result comes in pieces');
    break;
  }
  placed.release();
  assert.is(memory.allocatedBytes, 0);
});

scans('post-processing steps run over scanned rows, and a sort that would hold too many is refused', async () => {
  const rows = Array.from(
    { length: 3000 },
    (_, index): Row => ({
      __time: BigInt(START + index),
      plain: 'x',
      text: null,
      many: [],
      small: BigInt((index * 7) % 199),
      holes: null,
      large: BigInt(index),
      double: null,
    }),
  );
  const placed = uploadFrame(frameOf(rows), memory);
  const plan: ScanPlan = {
    operator: 'scan',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    columns: ['small', 'large'],
    timeOrder: null,
    offset: 0,
    limit: null,
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
  };
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

const SORTABLE = ['__time', 'text', 'plain', 'small', 'holes', 'large', 'double', 'upper', 'length', 'mixed', 'linear', 'missing'];

const arbitrarySort = fc.record({
  by: fc.uniqueArray(
    fc.record({
      column: fc.constantFrom(...SORTABLE),
      descending: fc.boolean(),
      nulls: fc.constantFrom('first' as const, 'last' as const),
      ordering: fc.constant('lexicographic' as const),
    }),
    { minLength: 1, maxLength: 4, selector: ({ column }) => column },
  ),
  offset: fc.nat({ max: 5 }),
  limit: fc.nat({ max: 12 }),
});

/** Order of two values of one column. */
function compareValues(a: Cell, b: Cell, { descending, nulls }: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (nulls === 'first') ? -1 : 1;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return descending ? -order : order;
}

/** All rows in an order; those that are equal in it stay in theirs. */
function orderedRows(pieces: readonly Row[][], plan: ScanPlan, by: readonly SortKey[]): FrameCell[][] {
  const kept = pieces
    .flatMap((rows) => keptRows(rows, plan))
    .map((row) => ({ row, keys: by.map(({ column }) => cell(row, column, plan)) }));
  kept.sort((a, b) => by.reduce((order, key, at) => order || compareValues(a.keys[at] ?? null, b.keys[at] ?? null, key), 0));
  return kept.map(({ row }) => plan.columns.map((name) => plainCell(cell(row, name, plan))));
}

async function sortedRowsOf(pieces: readonly Row[][], plan: ScanPlan, changes: Partial<RunOptions> = {}): Promise<FrameCell[][]> {
  const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
  try {
    const views = placed.map(({ view }) => view);
    return await rowsOf(engine.runViews(plan, views, options(changes), never));
  } finally {
    for (const { release } of placed) release();
    assert.is(memory.allocatedBytes, 0);
  }
}

for (const kernels of ['simd', 'reference'])
  scans(`the first rows of any order are found (${kernels})`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryPlan, arbitrarySort, async (pieces, plan, sort) => {
        const columns = [...new Set([...plan.columns, ...sort.by.map(({ column }) => column)])];
        const sorted: ScanPlan = { ...plan, columns, timeOrder: null, offset: 0, limit: null, post: [{ step: 'sort', ...sort }] };
        const expected = orderedRows(pieces, sorted, sort.by).slice(sort.offset, sort.offset + sort.limit);
        assert.equal(await sortedRowsOf(pieces, sorted, { kernels }), expected);
      }),
      { numRuns: caseCount(150), includeErrorInReport: true },
    );
  });

scans('a sort key that is the same in all rows of a segment bounds no other key of another segment', async () => {
  const row = (changes: Partial<Row>): Row => ({
    __time: BigInt(START),
    plain: 'x',
    text: null,
    many: [],
    small: 0n,
    holes: null,
    large: null,
    double: null,
    ...changes,
  });
  const key = (column: string, nulls: 'first' | 'last' = 'last') =>
    ({ column, descending: false, nulls, ordering: 'lexicographic' }) as const;
  const numbers = (column: string, values: readonly number[], changes: Partial<Row> = {}): Row[] =>
    values.map((value) => row({ ...changes, [column]: BigInt(value) }));
  const texts = (values: readonly string[]): Row[] => values.map((text) => row({ text }));
  const tables: { pieces: Row[][]; by: SortKey[] }[] = [
    // One of the pieces has no `large`: its rows come last, or first.
    { pieces: [numbers('small', [1, 2, 3]), numbers('large', [0, 10, 20, 30])], by: [key('large'), key('small')] },
    { pieces: [numbers('large', [10, 20, 30, 40]), numbers('small', [0, 50, 60, 70])], by: [key('large', 'first'), key('small')] },
    // One text in all rows, and not the least.
    {
      pieces: [
        ['0', '1', '2'].map((plain) => row({ text: 'true', plain })),
        ['a', 'a_b', 'ab', 'b'].map((text) => row({ text, plain: 'z' })),
      ],
      by: [key('text'), key('plain')],
    },
    { pieces: [texts(['a', 'b', 'moon river']), texts(['10', 'a_b', 'true'])], by: [key('missing'), key('text')] },
  ];
  for (const { pieces, by } of tables) {
    const plan: ScanPlan = {
      operator: 'scan',
      dataSource: 'random',
      intervals: [ETERNITY],
      filter: null,
      virtualColumns: [],
      columns: by.map(({ column }) => column),
      timeOrder: null,
      offset: 0,
      limit: null,
      post: [],
    };
    for (const limit of [1, 2, 3, 5]) {
      const found = await sortedRowsOf(pieces, { ...plan, post: [{ step: 'sort', by, offset: 0, limit }] });
      assert.equal(found, orderedRows(pieces, plan, by).slice(0, limit), `${JSON.stringify(by)} ${limit}`);
    }
  }
});

scans('NaN is the greatest of an order, and -0.0 is 0.0, in the first rows too', async () => {
  const doubles = [1.5, Number.NaN, -0, null, Number.POSITIVE_INFINITY, 0.1, Number.NaN, Number.NEGATIVE_INFINITY, 0, -7.3, 1e300, null];
  const pieces = [doubles, doubles.slice(2, 9), [0.1, 0.2]].map((values, piece) =>
    values.map(
      (double, index): Row => ({
        __time: BigInt(START + index),
        plain: 'x',
        text: null,
        many: [],
        small: BigInt(piece * 100 + index),
        holes: null,
        large: null,
        double,
      }),
    ),
  );
  const placeOf = (value: Cell | undefined, { descending, nulls }: SortKey): number => {
    if (value === null || value === undefined) return nulls === 'first' ? -9 : 9;
    const places = [Number.NEGATIVE_INFINITY, -7.3, 0, 0.1, 0.2, 1.5, 1e300, Number.POSITIVE_INFINITY];
    const place = Number.isNaN(value) ? places.length : places.indexOf(Number(value));
    return descending ? -place : place;
  };
  for (const descending of [false, true])
    for (const nulls of ['first', 'last'] as const) {
      const key: SortKey = { column: 'double', descending, nulls, ordering: 'lexicographic' };
      const plan: ScanPlan = {
        operator: 'scan',
        dataSource: 'random',
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [],
        columns: ['small', 'double'],
        timeOrder: null,
        offset: 0,
        limit: null,
        post: [],
      };
      const ordered = pieces.flat().sort((a, b) => placeOf(a['double'], key) - placeOf(b['double'], key));
      for (let limit = 1; limit <= ordered.length; limit++) {
        const found = await sortedRowsOf(pieces, { ...plan, post: [{ step: 'sort', by: [key], offset: 0, limit }] });
        const expected = ordered.slice(0, limit).map((row) => row['small']);
        assert.equal(
          found.map(([small]) => small),
          expected,
          `${descending} ${nulls} ${limit}`,
        );
      }
    }
});

scans('NaN is above the bounds of filters, as it is in expressions', async () => {
  const doubles = [1.5, Number.NaN, -0, null, Number.POSITIVE_INFINITY, 0.1, Number.NEGATIVE_INFINITY];
  const rows = doubles.map(
    (double, index): Row => ({
      __time: BigInt(START + index),
      plain: 'x',
      text: null,
      many: [],
      small: BigInt(index),
      holes: null,
      large: null,
      double,
    }),
  );
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
      const plan: ScanPlan = {
        operator: 'scan',
        dataSource: 'random',
        intervals: [ETERNITY],
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
        columns: ['small'],
        timeOrder: null,
        offset: 0,
        limit: null,
        post: [],
      };
      const found = await sortedRowsOf([rows], plan);
      assert.equal(
        found.map(([small]) => Number(small)),
        expected,
        `${column} ${String(expected)}`,
      );
    }
});

const PARTITIONS = ['text', 'plain', 'small', 'holes', 'large', 'double', 'upper', 'missing'];

/** Rows with their number or rank among those that are alike in `partition`, up to the place wanted. */
function numberedRows(
  pieces: readonly Row[][],
  plan: ScanPlan,
  { partition, by, rank, most }: { partition: readonly string[]; by: readonly SortKey[]; rank: boolean; most: number },
): FrameCell[][] {
  const like = partition.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
  const columns = [...plan.columns, ...partition, ...by.map(({ column }) => column)];
  const ordered = orderedRows(pieces, { ...plan, columns }, [...like, ...by]);
  let [start, first] = [0, 0];
  return ordered.flatMap((row, index) => {
    const isAlike = (other: number, count: number): boolean =>
      row.slice(plan.columns.length, plan.columns.length + count).every((each, at) => each === ordered[other]?.[plan.columns.length + at]);
    if (!isAlike(start, partition.length)) start = index;
    if (first < start || !isAlike(first, partition.length + by.length)) first = index;
    const place = (rank ? first : index) - start + 1;
    return place <= most ? [[...row.slice(0, plan.columns.length), BigInt(place)]] : [];
  });
}

function numbering(
  plan: ScanPlan,
  { partition, by, rank, most }: { partition: readonly string[]; by: readonly SortKey[]; rank: boolean; most: number },
): ScanPlan {
  const frame = { unit: 'rows', start: 'unbounded', end: 0, exclude: null } as const;
  const call = { kind: rank ? ('rank' as const) : ('rowNumber' as const) };
  const upper = { lower: null, upper: BigInt(most), lowerStrict: false, upperStrict: false };
  return {
    ...plan,
    columns: [...new Set([...plan.columns, ...partition, ...by.map(({ column }) => column)])],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [
      { step: 'window', partition, order: by, functions: [{ name: 'place', type: 'LONG', call, columns: [], filter: null, frame }] },
      { step: 'filter', filter: { kind: 'range', column: 'place', type: 'LONG', ordering: 'numeric', ...upper } },
    ],
  };
}

for (const kernels of ['simd', 'reference'])
  scans(`the first rows of each partition are found (${kernels})`, async () => {
    const partitions = fc.uniqueArray(fc.constantFrom(...PARTITIONS), { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(
        arbitraryPieces,
        arbitraryPlan,
        arbitrarySort,
        partitions,
        fc.boolean(),
        fc.integer({ min: 0, max: 4 }),
        async (pieces, plan, { by }, partition, rank, most) => {
          const numbered = numbering(plan, { partition, by, rank, most });
          const expected = numberedRows(pieces, numbered, { partition, by, rank, most });
          assert.equal(await sortedRowsOf(pieces, numbered, { kernels }), expected);
        },
      ),
      { numRuns: caseCount(150), includeErrorInReport: true },
    );
  });

scans('the first rows of an order are found over many blocks, where few or most rows are equal', async () => {
  const pieces = [18_000, 500, 17_000].map((count, piece) =>
    Array.from({ length: count }, (_, index): Row => {
      const mixed = Math.imul(index * 7 + piece, 0x9e3779b1) >>> 0;
      return {
        __time: BigInt(START + index),
        plain: mixed % 5 === 0 ? 'x' : 'y',
        text: mixed % 11 === 0 ? null : `text ${mixed % 9973}`,
        many: [],
        small: BigInt(mixed % 3),
        holes: mixed % 7 === 0 ? null : BigInt(mixed % 100_003),
        large: (BigInt(mixed) << 31n) - (1n << 62n),
        double: mixed % 13 === 0 ? null : (mixed % 4001) / 4 - 500,
      };
    }),
  );
  const key = (column: string, descending = false, nulls: 'first' | 'last' = 'last') =>
    ({ column, descending, nulls, ordering: 'lexicographic' }) as const;
  const filters: (Filter | null)[] = [
    null,
    { kind: 'range', column: 'holes', type: 'LONG', ordering: 'numeric', lower: 500n, upper: null, lowerStrict: false, upperStrict: false },
  ];
  for (const filter of filters)
    for (const by of [
      [key('text')],
      [key('text', true, 'first')],
      [key('text', false, 'first')],
      [key('plain'), key('holes', true)],
      [key('small', true), key('text'), key('large')],
      [key('large', true)],
      [key('double', false, 'first'), key('large')],
      [key('double', true)],
      [key('small')],
      [key('mixed', true), key('small')],
      [key('length'), key('text', true)],
    ]) {
      const plan: ScanPlan = {
        operator: 'scan',
        dataSource: 'random',
        intervals: [ETERNITY],
        filter,
        virtualColumns: VIRTUAL_COLUMNS,
        columns: [...new Set([...by.map(({ column }) => column), '__time'])],
        timeOrder: null,
        offset: 0,
        limit: null,
        post: [],
      };
      const all = orderedRows(pieces, plan, by);
      for (const [offset, limit] of [
        [0, 10],
        [95, 100],
      ] as const) {
        const found = await sortedRowsOf(pieces, { ...plan, post: [{ step: 'sort', by, offset, limit }] });
        assert.equal(found, all.slice(offset, offset + limit), JSON.stringify(by));
      }
      const isAsked = filter === null && by.length > 1;
      for (const partition of isAsked ? [['plain'], ['text', 'small'], ['large']] : []) {
        // The best places of so many partitions take more memory than there is for them.
        const most = partition[0] === 'large' ? 1000 : 2;
        const wanted = { partition, by, rank: partition.length === 1, most };
        const numbered = numbering(plan, wanted);
        assert.equal(await sortedRowsOf(pieces, numbered), numberedRows(pieces, numbered, wanted), `${JSON.stringify(by)} of ${partition}`);
      }
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

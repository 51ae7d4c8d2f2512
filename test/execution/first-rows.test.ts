import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Filter } from '../../src/model/filter.js';
import type { FrameCell } from '../../src/model/frame.js';
import type { ScanPlan, SortKey } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { type Cell, cell, keptRows, type Row } from './oracle.js';
import { arbitraryPieces, frameOf, START, VIRTUAL_COLUMNS } from './random-data.js';
import { arbitraryPlan, engine, foundRows, foundStoredRows, memory, never, options, plainCell, rowOf, rowsOf, scanOf } from './scanning.js';

const firsts = suite('first rows of an order');

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

/** Rows of few values, so that segments often lack those of others, and end before theirs. */
const arbitraryFewValues = fc.array(
  fc.array(
    fc
      .record({
        text: fc.constantFrom(null, 'a', 'b', 'c', 'd'),
        small: fc.bigInt({ min: 0n, max: 4n }),
        holes: fc.constantFrom(null, -1n, 0n, 1n, 40_000n),
        large: fc.constantFrom(-(2n ** 63n), 0n, 1n, 2n ** 63n - 1n),
        double: fc.constantFrom(null, -1.5, 0.25, 0.5, Number.MAX_VALUE),
      })
      .map(rowOf),
    { minLength: 1, maxLength: 8 },
  ),
  { minLength: 2, maxLength: 7 },
);

firsts('the first rows are found in many segments, of which few have rows enough', async () => {
  const filters: fc.Arbitrary<Filter | null> = fc.constantFrom(
    null,
    { kind: 'equals', column: 'small', type: 'LONG', value: 1n },
    { kind: 'range', column: 'small', type: 'LONG', ordering: 'numeric', lower: 1n, upper: null, lowerStrict: false, upperStrict: false },
  );
  await fc.assert(
    fc.asyncProperty(arbitraryFewValues, filters, arbitrarySort, async (pieces, filter, sort) => {
      const plan = scanOf([...new Set(sort.by.map(({ column }) => column))], { filter, virtualColumns: VIRTUAL_COLUMNS });
      const expected = orderedRows(pieces, plan, sort.by).slice(sort.offset, sort.offset + sort.limit);
      assert.equal(await foundRows(pieces, { ...plan, post: [{ step: 'sort', ...sort }] }), expected);
    }),
    { numRuns: caseCount(600), includeErrorInReport: true },
  );
});

firsts('the first rows are found in stored segments', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryFewValues, arbitrarySort, async (pieces, sort) => {
      const plan = scanOf([...new Set(sort.by.map(({ column }) => column))], { virtualColumns: VIRTUAL_COLUMNS });
      const expected = orderedRows(pieces, plan, sort.by).slice(sort.offset, sort.offset + sort.limit);
      assert.equal(await foundStoredRows(pieces, { ...plan, post: [{ step: 'sort', ...sort }] }), expected);
    }),
    { numRuns: caseCount(60), includeErrorInReport: true },
  );
});

const DAY_MS = 86_400_000;
const arbitraryDays = fc.array(
  fc.record({
    day: fc.nat({ max: 3 }),
    rows: fc.array(fc.record({ ms: fc.nat({ max: 3 }), small: fc.nat({ max: 2 }), plain: fc.constantFrom('x', 'y', 'z') }), {
      minLength: 1,
      maxLength: 9,
    }),
  }),
  { minLength: 1, maxLength: 8 },
);

firsts('orders by time begin with the interval whose rows come first, and rows that tie stay in segment order', async () => {
  const key = (column: string, descending: boolean) =>
    ({ column, descending, nulls: 'last', ordering: 'lexicographic' }) as const satisfies SortKey;
  await fc.assert(
    fc.asyncProperty(
      arbitraryDays,
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 7 }),
      async (days, descending, isExact, limit) => {
        const pieces = days.map(({ day, rows }) =>
          rows
            .toSorted((a, b) => a.ms - b.ms)
            .map(({ ms, small, plain }) => rowOf({ __time: BigInt(START + day * DAY_MS + ms), small: BigInt(small), plain })),
        );
        const by = [key('__time', descending), ...(isExact ? [key('small', true)] : [])];
        const plan = scanOf(['__time', 'small', 'plain'], { post: [{ step: 'sort', by, offset: 0, limit }] });
        const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
        const views = placed.map(({ view }, piece) => {
          const start = START + (days[piece]?.day ?? 0) * DAY_MS;
          return { ...view, interval: { start, end: start + DAY_MS } };
        });
        const inOrder = pieces.map((rows, piece) => ({ rows, day: days[piece]?.day ?? 0 })).sort((a, b) => a.day - b.day);
        const expected = orderedRows(
          inOrder.map(({ rows }) => rows),
          plan,
          by,
        );
        try {
          assert.equal(await rowsOf(engine.runViews(plan, views, options(), never)), expected.slice(0, limit));
        } finally {
          for (const { release } of placed) release();
        }
      },
    ),
    { numRuns: caseCount(300), includeErrorInReport: true },
  );
});

for (const kernels of ['simd', 'reference'])
  firsts(`the first rows of any order are found (${kernels})`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryPlan, arbitrarySort, async (pieces, plan, sort) => {
        const columns = [...new Set([...plan.columns, ...sort.by.map(({ column }) => column)])];
        const sorted: ScanPlan = { ...plan, columns, timeOrder: null, offset: 0, limit: null, post: [{ step: 'sort', ...sort }] };
        const expected = orderedRows(pieces, sorted, sort.by).slice(sort.offset, sort.offset + sort.limit);
        assert.equal(await foundRows(pieces, sorted, { kernels }), expected);
      }),
      { numRuns: caseCount(150), includeErrorInReport: true },
    );
  });

firsts('a sort key that is the same in all rows of a segment bounds no other key of another segment', async () => {
  const key = (column: string, nulls: 'first' | 'last' = 'last') =>
    ({ column, descending: false, nulls, ordering: 'lexicographic' }) as const;
  const numbers = (column: string, values: readonly number[], changes: Partial<Row> = {}): Row[] =>
    values.map((value) => rowOf({ ...changes, [column]: BigInt(value) }));
  const texts = (values: readonly string[]): Row[] => values.map((text) => rowOf({ text }));
  const tables: { pieces: Row[][]; by: SortKey[] }[] = [
    // One of the pieces has no `large`: its rows come last, or first.
    { pieces: [numbers('small', [1, 2, 3]), numbers('large', [0, 10, 20, 30])], by: [key('large'), key('small')] },
    { pieces: [numbers('large', [10, 20, 30, 40]), numbers('small', [0, 50, 60, 70])], by: [key('large', 'first'), key('small')] },
    // One text in all rows, and not the least.
    {
      pieces: [
        ['0', '1', '2'].map((plain) => rowOf({ text: 'true', plain })),
        ['a', 'a_b', 'ab', 'b'].map((text) => rowOf({ text, plain: 'z' })),
      ],
      by: [key('text'), key('plain')],
    },
    { pieces: [texts(['a', 'b', 'moon river']), texts(['10', 'a_b', 'true'])], by: [key('missing'), key('text')] },
  ];
  for (const { pieces, by } of tables) {
    const plan = scanOf(by.map(({ column }) => column));
    for (const limit of [1, 2, 3, 5]) {
      const found = await foundRows(pieces, { ...plan, post: [{ step: 'sort', by, offset: 0, limit }] });
      assert.equal(found, orderedRows(pieces, plan, by).slice(0, limit), `${JSON.stringify(by)} ${limit}`);
    }
  }
});

firsts('NaN is the greatest of an order, and -0.0 is 0.0, in the first rows too', async () => {
  const doubles = [1.5, Number.NaN, -0, null, Number.POSITIVE_INFINITY, 0.1, Number.NaN, Number.NEGATIVE_INFINITY, 0, -7.3, 1e300, null];
  const pieces = [doubles, doubles.slice(2, 9), [0.1, 0.2]].map((values, piece) =>
    values.map((double, index) => rowOf({ __time: BigInt(START + index), small: BigInt(piece * 100 + index), double })),
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
      const plan = scanOf(['small', 'double']);
      const ordered = pieces.flat().sort((a, b) => placeOf(a['double'], key) - placeOf(b['double'], key));
      for (let limit = 1; limit <= ordered.length; limit++) {
        const found = await foundRows(pieces, { ...plan, post: [{ step: 'sort', by: [key], offset: 0, limit }] });
        const expected = ordered.slice(0, limit).map((row) => row['small']);
        assert.equal(
          found.map(([small]) => small),
          expected,
          `${descending} ${nulls} ${limit}`,
        );
      }
    }
});

firsts('doubles that no integer of another segment comes near bound it too', async () => {
  const values = [
    [Number.MAX_VALUE, -Number.MAX_VALUE, 1e307],
    [0.1, 0.2, -0.7],
    [1.5, 2.5],
  ];
  const pieces = values.map((doubles) => doubles.map((double) => rowOf({ double })));
  for (const nulls of ['first', 'last'] as const)
    for (const descending of [false, true])
      for (let limit = 1; limit <= 8; limit++) {
        const by: SortKey[] = [{ column: 'double', descending, nulls, ordering: 'lexicographic' }];
        const found = await foundStoredRows(pieces, { ...scanOf(['double']), post: [{ step: 'sort', by, offset: 0, limit }] });
        const expected = values.flat().sort((a, b) => (descending ? b - a : a - b));
        assert.equal(found.flat(), expected.slice(0, limit), `${descending} ${limit}`);
      }
});

const PARTITIONS = ['text', 'plain', 'small', 'holes', 'large', 'double', 'upper', 'missing'];

type PlaceKind = 'rowNumber' | 'rank' | 'denseRank';
const arbitraryKind = fc.constantFrom<PlaceKind>('rowNumber', 'rank', 'denseRank');

/** Rows with their number or rank among those that are alike in `partition`, up to the place wanted. */
function numberedRows(
  pieces: readonly Row[][],
  plan: ScanPlan,
  { partition, by, rank, most }: { partition: readonly string[]; by: readonly SortKey[]; rank: PlaceKind; most: number },
): FrameCell[][] {
  const like = partition.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
  const columns = [...plan.columns, ...partition, ...by.map(({ column }) => column)];
  const ordered = orderedRows(pieces, { ...plan, columns }, [...like, ...by]);
  let [start, first, dense] = [0, 0, 0];
  return ordered.flatMap((row, index) => {
    const isAlike = (other: number, count: number): boolean =>
      row.slice(plan.columns.length, plan.columns.length + count).every((each, at) => each === ordered[other]?.[plan.columns.length + at]);
    if (index === 0 || !isAlike(start, partition.length)) [start, first, dense] = [index, index, 1];
    else if (!isAlike(first, partition.length + by.length)) [first, dense] = [index, dense + 1];
    const place = rank === 'denseRank' ? dense : (rank === 'rank' ? first : index) - start + 1;
    return place <= most ? [[...row.slice(0, plan.columns.length), BigInt(place)]] : [];
  });
}

function numbering(
  plan: ScanPlan,
  { partition, by, rank, most }: { partition: readonly string[]; by: readonly SortKey[]; rank: PlaceKind; most: number },
): ScanPlan {
  const frame = { unit: 'rows', start: 'unbounded', end: 0, exclude: null } as const;
  const call = { kind: rank };
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
  firsts(`the first rows of each partition are found (${kernels})`, async () => {
    const partitions = fc.uniqueArray(fc.constantFrom(...PARTITIONS), { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(
        arbitraryPieces,
        arbitraryPlan,
        arbitrarySort,
        partitions,
        arbitraryKind,
        fc.integer({ min: 0, max: 4 }),
        async (pieces, plan, { by }, partition, rank, most) => {
          const numbered = numbering(plan, { partition, by, rank, most });
          const expected = numberedRows(pieces, numbered, { partition, by, rank, most });
          assert.equal(await foundRows(pieces, numbered, { kernels }), expected);
        },
      ),
      { numRuns: caseCount(150), includeErrorInReport: true },
    );
  });

for (const [what, inPartitions, selected, find, numRuns] of [
  ['in many segments, of which few have rows enough', ['text', 'small', 'double'], ['small'], foundRows, 300],
  ['over stored segments, whose strings have ids in common', ['text', 'plain', 'small', 'holes', 'missing'], [], foundStoredRows, 100],
] as const)
  firsts(`the first rows of each partition are found ${what}`, async () => {
    const partitions = fc.uniqueArray(fc.constantFrom(...inPartitions), { maxLength: 3 });
    const places = fc.integer({ min: 1, max: 3 });
    await fc.assert(
      fc.asyncProperty(
        arbitraryFewValues,
        arbitrarySort,
        partitions,
        arbitraryKind,
        places,
        async (pieces, { by }, partition, rank, most) => {
          const numbered = numbering(scanOf([...selected], { virtualColumns: VIRTUAL_COLUMNS }), { partition, by, rank, most });
          assert.equal(await find(pieces, numbered), numberedRows(pieces, numbered, { partition, by, rank, most }));
        },
      ),
      { numRuns: caseCount(numRuns), includeErrorInReport: true },
    );
  });

firsts(
  'the first rows of partitions are found where segments are passed over, where all rows tie, and beside empty partitions',
  async () => {
    const key = (column: string, descending = false, nulls: 'first' | 'last' = 'last') =>
      ({ column, descending, nulls, ordering: 'lexicographic' }) as const;
    const pieceOf = (texts: readonly (string | null)[], numbers: readonly (number | null)[]): Row[] =>
      numbers.map((number, index) =>
        rowOf({
          __time: BigInt(START + index),
          text: texts[index % texts.length] ?? null,
          small: BigInt(index % 4),
          holes: number === null ? null : BigInt(number),
        }),
      );
    const upTo = (count: number, start: number): number[] => Array.from({ length: count }, (_, index) => start + index);
    const tables: Row[][][] = [
      // Later segments hold nothing that comes first, or all of it.
      [pieceOf(['a', 'b'], upTo(40, 0)), pieceOf(['a'], upTo(30, 100)), pieceOf(['b', 'a'], upTo(30, 200)), pieceOf(['c'], [500, 501])],
      [pieceOf(['a', null], upTo(40, 300)), pieceOf(['b', 'a'], upTo(30, 100)), pieceOf(['a'], upTo(30, 0)), pieceOf([null], [-5, null])],
      [pieceOf(['a'], upTo(10, 0).fill(7)), pieceOf(['a', 'b'], upTo(10, 0).fill(7)), pieceOf(['b'], [null, null, 7])],
      [pieceOf(['a', 'b'], [null, null, null]), pieceOf([null], [null]), pieceOf(['a'], [0, null])],
    ];
    for (const pieces of tables)
      for (const partition of [['text'], [], ['missing'], ['text', 'small']])
        for (const by of [
          [key('holes')],
          [key('holes', true, 'first')],
          [key('holes', true)],
          [key('holes', false, 'first'), key('small', true)],
        ])
          for (const rank of ['rowNumber', 'rank', 'denseRank'] as const)
            for (const most of [1, 2, 5]) {
              const wanted = { partition, by, rank, most };
              const numbered = numbering(scanOf(['small']), wanted);
              const expected = numberedRows(pieces, numbered, wanted);
              assert.equal(await foundRows(pieces, numbered), expected, `${JSON.stringify(by)} of ${partition}`);
              const stored = numbering(scanOf([]), wanted);
              if (rank !== 'rowNumber' && most === 2)
                assert.equal(await foundStoredRows(pieces, stored), numberedRows(pieces, stored, wanted));
            }
    for (const pieces of tables)
      for (const most of [1, 2]) {
        const ranked = numbering(scanOf(['small']), { partition: ['text'], by: [key('holes', true)], rank: 'denseRank', most });
        const found = await foundRows(pieces, ranked);
        const value = (row: Row): string => `${row['text']} ${row['holes']}`;
        const best = (text: Cell): bigint[] => {
          const values = pieces.flat().flatMap((row) => (row['text'] === text && typeof row['holes'] === 'bigint' ? [row['holes']] : []));
          return [...new Set(values)].sort((a, b) => Number(b - a)).slice(0, most);
        };
        const expected = pieces.flat().filter((row) => {
          const [own, firsts] = [row['holes'], best(row['text'] ?? null)];
          return typeof own === 'bigint' ? firsts.includes(own) : firsts.length < most;
        });
        const cells = found.map((row) => `${row[1]} ${row[2]}`);
        assert.equal(cells.sort(), expected.map(value).sort(), `dense ranks up to ${most}`);
      }
    const none = numbering(scanOf(['small']), { partition: ['text'], by: [key('holes')], rank: 'rowNumber', most: 1 });
    assert.equal(await foundRows([], none), []);
    const filter: Filter = { kind: 'equals', column: 'text', type: 'STRING', value: 'not there' };
    assert.equal(await foundStoredRows(tables[0] ?? [], { ...none, filter }), []);
  },
);

firsts('the first rows of an order are found over many blocks, where few or most rows are equal', async () => {
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
      const plan = scanOf([...new Set([...by.map(({ column }) => column), '__time'])], { filter, virtualColumns: VIRTUAL_COLUMNS });
      const all = orderedRows(pieces, plan, by);
      for (const [offset, limit] of [
        [0, 10],
        [95, 100],
      ] as const) {
        const found = await foundRows(pieces, { ...plan, post: [{ step: 'sort', by, offset, limit }] });
        assert.equal(found, all.slice(offset, offset + limit), JSON.stringify(by));
      }
      const isAsked = filter === null && by.length > 1;
      for (const partition of isAsked ? [['plain'], ['text', 'small'], ['large']] : []) {
        // The best places of so many partitions take more memory than there is for them.
        const most = partition[0] === 'large' ? 1000 : 2;
        const wanted = { partition, by, rank: partition.length === 1 ? ('rank' as const) : ('rowNumber' as const), most };
        const numbered = numbering(plan, wanted);
        assert.equal(await foundRows(pieces, numbered), numberedRows(pieces, numbered, wanted), `${JSON.stringify(by)} of ${partition}`);
      }
    }
});

firsts.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import { newProfile, type Profile } from '../../src/model/profile.js';
import { valuesOf } from '../../src/model/value-list.js';
import { openFrames } from './segments.js';

const ROWS = 40_000;
const START = Date.UTC(2024, 0, 1);

/** A row, by its number in all segments: texts of 500 values, of 40, and of two lists; a number. */
interface Row {
  readonly many: string;
  readonly some: string;
  readonly tags: readonly string[];
  readonly number: number;
}
const rowAt = (segment: number, row: number): Row => ({
  // Each segment has values of its own, and some of all.
  many: row % 3 === 0 ? `all ${row % 97}` : `s${segment} ${row % 400}`,
  some: `value ${(row * 7) % 40}`,
  tags: row % 5 === 0 ? ['x', `tag ${row % 300}`] : [`tag ${row % 300}`],
  number: row % 1000,
});

function texts(name: string, valueAt: (row: number) => string): Frame['columns'][number] {
  const dictionary: string[] = [];
  const known = new Map<string, number>();
  const ids = Uint32Array.from({ length: ROWS }, (_, row) => {
    const text = valueAt(row);
    const id = known.get(text) ?? dictionary.length;
    if (id === dictionary.length) dictionary.push(text);
    known.set(text, id);
    return id;
  });
  return { kind: 'string', name, ids, dictionary };
}

function segmentFrame(segment: number): Frame {
  const dictionary: string[] = ['x', ...Array.from({ length: 300 }, (_, tag) => `tag ${tag}`)];
  const offsets = new Uint32Array(ROWS + 1);
  const ids: number[] = [];
  for (let row = 0; row < ROWS; row++) {
    for (const tag of rowAt(segment, row).tags) ids.push(dictionary.indexOf(tag));
    offsets[row + 1] = ids.length;
  }
  const longs = (name: string, valueAt: (row: number) => number): Frame['columns'][number] => ({
    kind: 'long',
    name,
    values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(valueAt(row))),
    nulls: null,
  });
  return {
    rowCount: ROWS,
    columns: [
      longs('__time', (row) => START + row),
      texts('many', (row) => rowAt(segment, row).many),
      texts('some', (row) => rowAt(segment, row).some),
      { kind: 'multi', name: 'tags', offsets, ids: Uint32Array.from(ids), dictionary },
      longs('number', (row) => rowAt(segment, row).number),
    ],
  };
}

const equals = (column: string, value: string): Filter => ({ kind: 'equals', column, type: 'STRING', value });
const isIn = (column: string, values: readonly (string | null)[]): Filter => ({ kind: 'in', column, type: 'STRING', values });
const and = (...filters: readonly Filter[]): Filter => ({ kind: 'and', filters });

function passes(filter: Filter, row: Row): boolean {
  const values = (column: string): readonly string[] => (column === 'tags' ? row.tags : [column === 'many' ? row.many : row.some]);
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => passes(each, row));
    case 'or':
      return filter.filters.some((each) => passes(each, row));
    case 'not':
      return !passes(filter.filter, row);
    case 'equals':
      return values(filter.column).includes(String(filter.value));
    case 'in':
      return values(filter.column).some((value) => valuesOf(filter.values).includes(value));
    case 'range':
      return row.number >= Number(filter.lower) && row.number < Number(filter.upper);
    default:
      throw new Error(`the oracle knows no filter of kind ${filter.kind}`);
  }
}

const leaf = { dataSource: 'random', intervals: [{ start: START, end: START + ROWS }], virtualColumns: [], post: [] };
const sums = (filter: Filter): GroupPlan => ({
  ...leaf,
  operator: 'group',
  filter,
  emptyGroup: true,
  keys: [],
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'sum', column: 'number', type: 'LONG', filter: null },
  ],
});
const scan = (filter: Filter): ScanPlan => ({
  ...leaf,
  operator: 'scan',
  filter,
  columns: ['many', 'number'],
  timeOrder: null,
  offset: 0,
  limit: null,
});

interface Place {
  readonly run: (plan: GroupPlan | ScanPlan, profile?: Profile) => Promise<unknown[][]>;
  readonly residentBytes: () => number;
}

const SEGMENTS = 3;
const frames = Array.from({ length: SEGMENTS }, (_, segment) => segmentFrame(segment));

/** Segments of which no column is in memory. */
async function withSegments(threads: number, use: (place: Place) => Promise<void>): Promise<void> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ memory, kernels: 'simd', threads, rowsRunInline: 0 });
  const { store, ids, close } = await openFrames(frames, memory, engine);
  const options = { ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null } as const;
  const run = async (plan: GroupPlan | ScanPlan, profile?: Profile): Promise<unknown[][]> => {
    const rows: unknown[][] = [];
    for await (const frame of engine.run(plan, store, ids, { ...options, profile }, new AbortController().signal))
      for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
    return rows;
  };
  try {
    await use({ run, residentBytes: () => store.residentBytes });
    await close();
    assert.is(memory.allocatedBytes, 0);
  } finally {
    await engine.close();
  }
}

function expectedSums(filter: Filter): unknown[][] {
  let [rows, sum] = [0n, 0n];
  for (let segment = 0; segment < SEGMENTS; segment++)
    for (let row = 0; row < ROWS; row++) {
      const each = rowAt(segment, row);
      if (!passes(filter, each)) continue;
      rows++;
      sum += BigInt(each.number);
    }
  return [[rows, rows === 0n ? null : sum]];
}

function expectedRows(filter: Filter): unknown[][] {
  return Array.from({ length: SEGMENTS }, (_, segment) =>
    Array.from({ length: ROWS }, (__, row) => rowAt(segment, row)).flatMap((row) =>
      passes(filter, row) ? [[row.many, BigInt(row.number)]] : [],
    ),
  ).flat();
}

const index = suite('filters by index');

index('a rare value is found by its bitmap: its column stays in the file, and so do segments without it', async () => {
  await withSegments(1, async ({ run, residentBytes }) => {
    const profile = newProfile();
    const filter = equals('many', 's1 7');
    assert.equal(await run(sums(filter), profile), expectedSums(filter));
    // Rows with 7 modulo 400 that are no multiple of 3.
    assert.is(profile.rowsByIndex, expectedRows(filter).length);
    assert.is(profile.segments, SEGMENTS);
    assert.is(profile.segmentsPrunedByBitmap + profile.segmentsPrunedByValue, 2);
    // One segment's times and numbers, of 16 and 10 bits each; its texts are not there.
    assert.ok(residentBytes() > 0 && residentBytes() < ROWS * 8, `${residentBytes()} bytes`);
  });
});

index('values beyond the smallest and the largest need no index', async () => {
  await withSegments(0, async ({ run }) => {
    const profile = newProfile();
    assert.equal(await run(sums(equals('many', 'zzz')), profile), [[0n, null]]);
    assert.is(profile.segmentsPrunedByValue, SEGMENTS);
    assert.is(profile.segmentsPrunedByBitmap, 0);
    assert.equal(await run(scan(equals('many', 'zzz'))), []);
  });
});

index('frequent values are scanned, and so are columns in memory', async () => {
  await withSegments(0, async ({ run }) => {
    const common = equals('some', 'value 14');
    const profile = newProfile();
    assert.equal(await run(sums(common), profile), expectedSums(common));
    assert.is(profile.rowsByIndex, 0, 'one of forty values');
    const rare = equals('many', 'all 3');
    await run(scan({ kind: 'not', filter: rare }));
    const loaded = newProfile();
    assert.equal(await run(sums(rare), loaded), expectedSums(rare));
    assert.is(loaded.rowsByIndex, 0, 'the column is there');
  });
});

index('a column that is asked for again and again is loaded', async () => {
  await withSegments(0, async ({ run }) => {
    const used: number[] = [];
    for (let round = 0; round < 5; round++) {
      const profile = newProfile();
      const filter = equals('many', `all ${round}`);
      assert.equal(await run(sums(filter), profile), expectedSums(filter));
      used.push(profile.rowsByIndex);
    }
    assert.equal(
      used.map((rows) => rows > 0),
      [true, true, true, false, false],
    );
  });
});

const manyValues = fc.oneof(
  fc.nat({ max: 96 }).map((value) => `all ${value}`),
  fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 450 })).map(([segment, value]) => `s${segment} ${value}`),
  fc.constantFrom('', 'zzz', 'all'),
);
const condition: fc.Arbitrary<Filter> = fc.oneof(
  manyValues.map((value) => equals('many', value)),
  fc.uniqueArray(manyValues, { minLength: 1, maxLength: 4 }).map((values) => isIn('many', values)),
  fc.nat({ max: 320 }).map((tag) => equals('tags', `tag ${tag}`)),
  fc.nat({ max: 45 }).map((value) => equals('some', `value ${value}`)),
  fc.nat({ max: 900 }).map(
    (lower): Filter => ({
      kind: 'range',
      column: 'number',
      type: 'LONG',
      ordering: 'numeric',
      lower,
      upper: lower + 300,
      lowerStrict: false,
      upperStrict: true,
    }),
  ),
);
const filters: fc.Arbitrary<Filter> = fc.oneof(
  condition,
  fc.array(condition, { minLength: 1, maxLength: 3 }).map((parts) => and(...parts)),
  fc.array(condition, { minLength: 1, maxLength: 2 }).map((parts): Filter => ({ kind: 'or', filters: parts })),
  fc.tuple(condition, condition).map(([first, second]) => and(first, { kind: 'not', filter: second })),
);

index('the rows are the same whatever is in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(filters, { minLength: 1, maxLength: 5 }), fc.constantFrom(0, 2), async (asked, threads) => {
      await withSegments(threads, async ({ run }) => {
        for (const filter of asked) {
          assert.equal(await run(sums(filter)), expectedSums(filter));
          assert.equal(await run(scan(filter)), expectedRows(filter));
        }
      });
    }),
    { numRuns: 5 },
  );
});

index.run();

import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { BLOCK_ROWS } from '../../src/base/layout.js';
import type { FrameCell } from '../../src/model/frame.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { writeSegment } from '../../src/storage/segment-writer.js';
import { frameOf, readTable, sortedRows, type Table } from './table.js';
import { DAY, descriptorOf, openWorkbench, writeTable } from './workbench.js';

const MIN_I64 = -(2n ** 63n);
const MAX_I64 = 2n ** 63n - 1n;

/** Writes the table, reads it back whole, and compares every cell with the sorted input. */
async function assertRoundTrip(table: Table, dimensions: readonly string[], kernels = 'reference'): Promise<void> {
  const bench = openWorkbench({ kernels });
  try {
    const file = join(bench.directory, 'one.segment');
    const descriptor = descriptorOf(await writeTable(file, table, dimensions), { interval: ETERNITY });
    await bench.store.open(file, descriptor);
    const id = segmentIdText(descriptor.id);
    const pin = await bench.store.pin({ segmentIds: [id], columns: Object.keys(table), globalDictionaries: [] });
    const [view] = pin.segments;
    assert.ok(view);
    const found = readTable(view, bench.memory);
    const rows = sortedRows(table, dimensions);
    for (const [name, { kind, cells }] of Object.entries(table)) {
      const expected = rows.map((row) => expectedCell(kind, cells[row] ?? null));
      assertCells(found[name] ?? [], expected, name);
    }
    assert.is(bench.store.schema(id)[0]?.name, '__time');
    pin.release();
    await bench.store.close(id);
    assert.is(bench.memory.allocatedBytes, 0, 'everything is given back');
  } finally {
    bench.close();
  }
}

function expectedCell(kind: string, cell: FrameCell): FrameCell {
  if (kind === 'float' && typeof cell === 'number') return Math.fround(cell);
  if (Array.isArray(cell)) return cell.length > 1 ? cell : (cell[0] ?? null);
  return cell;
}

function assertCells(found: readonly FrameCell[], expected: readonly FrameCell[], name: string): void {
  assert.is(found.length, expected.length);
  const at = expected.findIndex(
    (cell, row) => !(Array.isArray(cell) ? JSON.stringify(cell) === JSON.stringify(found[row]) : Object.is(cell, found[row])),
  );
  if (at >= 0) assert.unreachable(`${name}, row ${at}: found ${String(found[at])}, expected ${String(expected[at])}`);
}

const time = (rows: number): Table[string] => ({
  kind: 'long',
  cells: Array.from({ length: rows }, (_, row) => BigInt(DAY.start + ((row * 7919) % 10007))),
});

const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', '\u0000', '\uffff', '\u{1f319}', '\ud7ff', 'ß'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const long = fc.oneof(
  fc.bigInt({ min: MIN_I64, max: MAX_I64 }),
  fc.bigInt({ min: -300n, max: 300n }),
  fc.constantFrom(MIN_I64, MAX_I64, 0n),
);
const double = fc.oneof(
  fc.double(),
  fc.integer({ min: -10000, max: 10000 }).map((cents) => cents / 100),
  fc.constantFrom(Number.NaN, -0, 0, Number.POSITIVE_INFINITY, Number.MAX_VALUE, 5e-324),
);
const instant = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }));
const nullable = <Cell>(cell: fc.Arbitrary<Cell>): fc.Arbitrary<Cell | null> => fc.option(cell, { freq: 4 });

const randomTable: fc.Arbitrary<Table> = fc.integer({ min: 1, max: 90 }).chain((rows) => {
  const column = (kind: Table[string]['kind'], cell: fc.Arbitrary<FrameCell>): fc.Arbitrary<Table[string]> =>
    fc.array(cell, { minLength: rows, maxLength: rows }).map((cells) => ({ kind, cells }));
  return fc.record({
    s: column('string', nullable(text)),
    __time: column('long', instant),
    m: column('multi', fc.array(nullable(text), { maxLength: 3 })),
    l: column('long', nullable(long)),
    f: column('float', nullable(double)),
    d: column('double', nullable(double)),
    whole: column('long', long),
  });
});

const test = suite('segment round trip');

test('random tables, sorted by several dimensions', async () => {
  await fc.assert(
    fc.asyncProperty(randomTable, (table) => assertRoundTrip(table, ['s', 'm', 'l', 'd'])),
    { numRuns: 150 },
  );
});

test('random tables under the WebAssembly kernels', async () => {
  await fc.assert(
    fc.asyncProperty(randomTable, (table) => assertRoundTrip(table, ['m'], 'simd-debug')),
    { numRuns: 50 },
  );
});

const oneByOne: { name: string; table: Table; dimensions?: string[] }[] = [
  { name: 'one row', table: { __time: { kind: 'long', cells: [5n] }, s: { kind: 'string', cells: [null] } } },
  ...[BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1].map((rows) => ({
    name: `${rows} rows`,
    table: {
      __time: time(rows),
      s: { kind: 'string', cells: Array.from({ length: rows }, (_, row) => (row % 5 === 0 ? null : `v${row % 300}`)) },
      m: {
        kind: 'multi',
        cells: Array.from({ length: rows }, (_, row) => Array.from({ length: row % 4 }, (__, at) => `w${(row + at) % 70}`)),
      },
      l: { kind: 'long', cells: Array.from({ length: rows }, (_, row) => (row < 5000 ? null : BigInt(row) * 1_000_003n)) },
      price: { kind: 'double', cells: Array.from({ length: rows }, (_, row) => ((row * 31) % 10000) / 100) },
      third: { kind: 'double', cells: Array.from({ length: rows }, (_, row) => row / 3) },
      f: { kind: 'float', cells: Array.from({ length: rows }, (_, row) => row / 7) },
    } satisfies Table,
    dimensions: ['m', 's'],
  })),
  {
    name: '70,000 distinct values',
    table: {
      __time: time(70_000),
      s: { kind: 'string', cells: Array.from({ length: 70_000 }, (_, row) => `user-${(row * 7919) % 70_000}`) },
    },
    dimensions: ['s'],
  },
  {
    name: 'extreme longs, wide and narrow, in every width',
    table: {
      __time: { kind: 'long', cells: [1n, 2n, 3n] },
      wide: { kind: 'long', cells: [MIN_I64, 0n, MAX_I64] },
      low: { kind: 'long', cells: [MIN_I64, MIN_I64 + 1n, MIN_I64 + 255n] },
      high: { kind: 'long', cells: [MAX_I64, MAX_I64 - 256n, MAX_I64 - 65535n] },
      word: { kind: 'long', cells: [0n, 0xffffffffn, 65536n] },
      past: { kind: 'long', cells: [-1n, 0xffffffffn, 65536n] },
      none: { kind: 'long', cells: [null, null, null] },
    },
  },
  {
    name: 'doubles that are no decimals, and those that nearly are',
    table: {
      __time: { kind: 'long', cells: [1n, 2n, 3n, 4n] },
      signed: { kind: 'double', cells: [-0, 0, 0.5, -0.5] },
      special: { kind: 'double', cells: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1] },
      tiny: { kind: 'double', cells: [5e-324, 1e-9, 123456.789, -1e-9] },
      large: { kind: 'double', cells: [2 ** 53, -(2 ** 53), 1, 0] },
      sums: { kind: 'double', cells: [0.1 + 0.2, 0.3, 1.1 * 3, 3.3] },
    },
  },
  {
    name: 'times across more than 2^32 milliseconds, unsorted',
    table: {
      __time: { kind: 'long', cells: [2n ** 40n, -5n, 2n ** 33n, -(2n ** 50n), 0n] },
      l: { kind: 'long', cells: [1n, 2n, 3n, 4n, 5n] },
    },
  },
  {
    name: 'a multi-value column with at most one value a row is a plain one',
    table: { __time: { kind: 'long', cells: [1n, 2n, 3n] }, m: { kind: 'multi', cells: [['b'], [], ['a']] } },
  },
];
for (const { name, table, dimensions } of oneByOne) {
  test(name, () => assertRoundTrip(table, dimensions ?? []));
  test(`${name}, simd`, () => assertRoundTrip(table, dimensions ?? [], 'simd-debug'));
}

test('a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD', async () => {
  const cells = ['\ud800', '\udfff!', '\ufffd', 'a\ud83d'];
  const bench = openWorkbench();
  try {
    const file = join(bench.directory, 'one.segment');
    const descriptor = descriptorOf(
      await writeTable(file, { __time: { kind: 'long', cells: [1n, 2n, 3n, 4n] }, s: { kind: 'string', cells } }, []),
      { interval: ETERNITY },
    );
    await bench.store.open(file, descriptor);
    const pin = await bench.store.pin({ segmentIds: [segmentIdText(descriptor.id)], columns: ['s'], globalDictionaries: [] });
    const [view] = pin.segments;
    assert.ok(view);
    assert.equal(readTable(view, bench.memory)['s'], ['\ufffd', '\ufffd!', '\ufffd', 'a\ufffd']);
    const column = view.columns['s'];
    assert.is(column?.kind === 'string' && column.dictionary.count, 3);
  } finally {
    bench.close();
  }
});

test('no rows are refused', async () => {
  const bench = openWorkbench();
  try {
    await writeTable(join(bench.directory, 'none.segment'), { __time: { kind: 'long', cells: [] } }, []);
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code?: string }).code, 'input_invalid');
  } finally {
    bench.close();
  }
});

test('the frame written is left as it was', async () => {
  const bench = openWorkbench();
  const frame = frameOf({
    __time: { kind: 'long', cells: [3n, 1n, 2n] },
    l: { kind: 'long', cells: [null, 2n, 3n] },
    d: { kind: 'double', cells: [null, 1, 2] },
    s: { kind: 'string', cells: ['b', 'a', null] },
  });
  const before = structuredClone(frame);
  try {
    await writeSegment(join(bench.directory, 'one.segment'), {
      frame,
      dimensions: ['s'],
      metrics: [],
      aggregators: null,
      timestampSpec: null,
      queryGranularity: null,
      rollup: false,
    });
    assert.equal(frame, before);
  } finally {
    bench.close();
  }
});

test.run();

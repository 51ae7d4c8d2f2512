import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BLOCK_ROWS, PHYSICAL_BYTES } from '../../src/base/layout.js';
import type { ColumnView } from '../../src/storage/view.js';
import { codeOf, countedJobs, globalOf, open, times } from './opened.js';
import { numberAt, readDictionary, readGlobal, type Table } from './table.js';
import { DAY, openWorkbench } from './workbench.js';

const test = suite('segment store');

for (const kernels of ['reference', 'scalar', 'simd'])
  test(`columns lie in memory as view.ts says (${kernels})`, async () => {
    const bench = openWorkbench({ kernels });
    try {
      const rows = BLOCK_ROWS + 10;
      const id = await open(bench, {
        __time: times(rows),
        narrow: { kind: 'long', cells: Array.from({ length: rows }, (_, row) => (row < BLOCK_ROWS ? null : BigInt(1000 + (row % 7)))) },
        wide: { kind: 'long', cells: Array.from({ length: rows }, (_, row) => (row === 3 ? 2n ** 62n + 1n : BigInt(-row))) },
        d: { kind: 'double', cells: Array.from({ length: rows }, (_, row) => (row === 5 ? Number.NaN : row / 8)) },
        s: { kind: 'string', cells: Array.from({ length: rows }, (_, row) => (row % 2 === 0 ? null : `s${row % 400}`)) },
        bits: { kind: 'long', cells: Array.from({ length: rows }, (_, row) => BigInt(Math.imul(row, 0x9e3779b1) >>> 31)) },
        packed: { kind: 'long', cells: Array.from({ length: rows }, (_, row) => BigInt(Math.imul(row, 0x9e3779b1) >>> 15)) },
        m: { kind: 'multi', cells: Array.from({ length: rows }, (_, row) => (row === 0 ? [] : ['a', 'b'])) },
      });
      const pin = await bench.store.pin({
        segmentIds: [id],
        columns: ['narrow', 'wide', 'd', 's', 'm', 'bits', 'packed', 'absent'],
        globalDictionaries: [],
      });
      const [view] = pin.segments;
      assert.ok(view);
      assert.equal(Object.keys(view.columns).sort(), ['__time', 'bits', 'd', 'm', 'narrow', 'packed', 's', 'wide']);
      assert.equal(
        [view.id, view.dataSource, view.rowCount, view.timeMin, view.timeMax],
        [id, 'test', rows, DAY.start, DAY.start + rows - 1],
      );
      const { narrow, wide, d, s, m, bits, packed, __time } = view.columns;
      const memory = bench.memory;

      assert.ok(
        narrow?.kind === 'number' &&
          wide?.kind === 'number' &&
          d?.kind === 'number' &&
          s?.kind === 'string' &&
          m?.kind === 'string' &&
          bits &&
          packed &&
          __time,
      );
      assert.equal([narrow.type, narrow.physical, narrow.base, narrow.min, narrow.max], ['LONG', 'U8', 1000n, 1000n, 1006n]);
      assert.is(numberAt({ ...narrow, base: 0n }, 0, memory), 0n, 'a null row is stored as 0');
      assert.equal([...memory.f64(narrow.blockRanges, 4)], [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1000, 1006]);
      assert.equal([wide.physical, wide.base, wide.min, wide.max, wide.nulls], ['I64', 0n, BigInt(1 - rows), 2n ** 62n + 1n, 0]);
      const [low, high] = memory.f64(wide.blockRanges, 2);
      assert.ok(low === -(BLOCK_ROWS - 1) && high !== undefined && high > 2 ** 62, 'rounded outwards');
      assert.equal([d.type, d.physical, d.min, d.max], ['DOUBLE', 'F64', 0, (rows - 1) / 8]);
      assert.equal([s.physical, s.offsets, s.dictionary.hasNull, s.dictionary.count], ['U8', 0, true, 201]);
      assert.equal(readDictionary(m, memory), ['a', 'b']);
      assert.equal([...memory.u32(m.offsets, 3)], [0, 0, 2]);

      const padded = Math.ceil(rows / 64) * 64;
      for (const column of [narrow, wide, d, s, bits, packed, __time])
        assertZeros(column, column.kind === 'number' ? column.values : column.ids, rows, padded);
      assert.ok(memory.u8(narrow.nulls + Math.ceil(rows / 8), padded / 8 - Math.ceil(rows / 8)).every((byte) => byte === 0));

      function assertZeros(column: ColumnView, at: number, from: number, to: number): void {
        assert.is(at % 64, 0);
        const width = PHYSICAL_BYTES[column.physical];
        assert.ok(
          memory.u8(at + from * width, (to - from) * width).every((byte) => byte === 0),
          'padding is zero',
        );
      }
      pin.release();
    } finally {
      bench.close();
    }
  });

test('pins side by side load a column once', async () => {
  const { counts, wrap } = countedJobs();
  const bench = openWorkbench({ wrap });
  try {
    const id = await open(bench, { __time: times(100), a: times(100), b: times(100) });
    const request = { segmentIds: [id], columns: ['a', 'b'], globalDictionaries: [] };
    const pins = await Promise.all(Array.from({ length: 10 }, () => bench.store.pin(request)));
    assert.is(counts.get('loadColumn'), 3);
    const addresses = pins.map((pin) => pin.segments.map((view) => view.columns));
    for (const one of addresses) assert.equal(one, addresses[0]);
    for (const pin of pins) pin.release();
    (await bench.store.pin(request)).release();
    assert.is(counts.get('loadColumn'), 3, 'still resident');
  } finally {
    bench.close();
  }
});

test('a pin taken again gives the very same views until something has moved', async () => {
  const rows = 6400;
  const noise = (seed: number): Table[string] => ({
    kind: 'double',
    cells: Array.from({ length: rows }, (_, row) => Math.sin(row * seed)),
  });
  const text: Table[string] = { kind: 'string', cells: ['x', 'y'] };
  const bench = openWorkbench();
  try {
    const id = await open(bench, { __time: times(rows), a: noise(1) });
    const small = await open(bench, { __time: times(2), s: text }, { partitionNumber: 1 });
    const taken = async (segmentIds: string[], columns: string[], globalDictionaries: string[] = []) => {
      const pin = await bench.store.pin({ segmentIds, columns, globalDictionaries });
      pin.release();
      return pin;
    };
    const first = await taken([small], ['s'], ['s']);
    const again = await taken([small], ['s'], ['s']);
    assert.is(again.segments, first.segments);
    assert.is(again.dictionaries, first.dictionaries);
    assert.is.not((await taken([small], ['s'])).segments, first.segments, 'another request');

    const grown = await open(bench, { __time: times(2), s: { kind: 'string', cells: ['z', 'y'] } }, { partitionNumber: 2 });
    await taken([grown], ['s'], ['s']);
    const after = await taken([small], ['s'], ['s']);
    assert.is(globalOf(after).count, 4, 'the dictionary has grown: null, x, y, z');

    await bench.store.close(small);
    assert.is(await codeOf(taken([small], ['s'], ['s'])), 'segments_unavailable');

    const held = await bench.store.pin({ segmentIds: [id], columns: ['a'], globalDictionaries: [] });
    held.release();
    const pinned = await bench.store.pin({ segmentIds: [id], columns: ['a'], globalDictionaries: [] });
    assert.is(pinned.segments, held.segments);
    const closing = bench.store.close(id);
    assert.is(await codeOf(taken([id], ['a'])), 'segments_unavailable', 'while a pin holds it open');
    pinned.release();
    await closing;
    await bench.store.close(grown);
    assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
  } finally {
    bench.close();
  }
});

test('evicted columns are loaded again for a pin that was taken before', async () => {
  const { counts, wrap } = countedJobs();
  const rows = 64 * 100;
  const bench = openWorkbench({ wrap, cacheBytes: rows * 2 + 1.5 * rows * 8 });
  const noise = (seed: number): Table[string] => ({
    kind: 'double',
    cells: Array.from({ length: rows }, (_, row) => Math.sin(row * seed)),
  });
  try {
    const id = await open(bench, { __time: times(rows), a: noise(1), b: noise(2) });
    const take = async (column: string) => {
      const pin = await bench.store.pin({ segmentIds: [id], columns: [column], globalDictionaries: [] });
      const view = pin.segments[0]?.columns[column];
      const value = view?.kind === 'number' ? bench.memory.f64(view.values, rows)[7] : undefined;
      pin.release();
      return { segments: pin.segments, value };
    };
    const first = await take('a');
    assert.is((await take('b')).value, Math.sin(14));
    const again = await take('a');
    assert.is.not(again.segments, first.segments);
    assert.is(again.value, Math.sin(7));
    assert.is(counts.get('loadColumn'), 4);
  } finally {
    bench.close();
  }
});

test('the least recently used column makes room, a pinned one never does', async () => {
  const { counts, wrap } = countedJobs();
  const rows = 64 * 100;
  // Room for __time, two bytes a row, and for two columns of eight.
  const cacheBytes = rows * 2 + 2.5 * rows * 8;
  const bench = openWorkbench({ wrap, cacheBytes });
  const noise = (seed: number): Table[string] => ({
    kind: 'double',
    cells: Array.from({ length: rows }, (_, row) => Math.sin(row * seed)),
  });
  try {
    const id = await open(bench, { __time: times(rows), a: noise(1), b: noise(2), c: noise(3), d: noise(4) });
    const pin = (columns: string[]) => bench.store.pin({ segmentIds: [id], columns, globalDictionaries: [] });
    const loadsOf = async (columns: string[]): Promise<number> => {
      const before = counts.get('loadColumn') ?? 0;
      (await pin(columns)).release();
      return (counts.get('loadColumn') ?? 0) - before;
    };
    assert.is(await loadsOf(['a']), 2, '__time and a');
    assert.is(await loadsOf(['b']), 1);
    assert.is(await loadsOf(['a']), 0, 'a is now more recent than b');
    assert.is(await loadsOf(['c']), 1, 'b gives way');
    assert.is(await loadsOf(['a']), 0);
    assert.is(await loadsOf(['b']), 1);
    assert.ok(bench.store.residentBytes <= cacheBytes);

    const held = await pin(['a', 'b']);
    assert.is(await codeOf(pin(['c', 'd'])), 'resource_limit');
    assert.is(await loadsOf(['a', 'b']), 0, 'what is pinned is still there');
    held.release();
    assert.is(await loadsOf(['c', 'd']), 2);
  } finally {
    bench.close();
  }
});

test('columns give way when queries have filled the memory', async () => {
  const bench = openWorkbench({ memoryBytes: 3 * 1024 * 1024, cacheBytes: 64 * 1024 * 1024 });
  const noise = (seed: number): Table[string] => ({
    kind: 'double',
    cells: Array.from({ length: 100_000 }, (_, row) => Math.sin(row * seed)),
  });
  try {
    const id = await open(bench, { __time: times(100_000), a: noise(1), b: noise(2), c: noise(3), d: noise(4) });
    const pin = (columns: string[]) => bench.store.pin({ segmentIds: [id], columns, globalDictionaries: [] });
    for (const name of ['a', 'b', 'c', 'd', 'a']) (await pin([name])).release();
    const before = bench.memory.allocatedBytes;
    assert.is(await codeOf(pin(['a', 'b', 'c', 'd'])), 'resource_limit');
    assert.ok(bench.memory.allocatedBytes <= before + 64 * 1024, 'what could not be pinned is given back');
    (await pin(['b', 'c'])).release();
    await bench.store.close(id);
    assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
  } finally {
    bench.close();
  }
});

test('a segment closes when its pins have ended, and takes its columns along', async () => {
  const bench = openWorkbench();
  try {
    const id = await open(bench, {
      __time: times(100),
      s: { kind: 'string', cells: Array.from({ length: 100 }, (_, row) => String(row)) },
    });
    const request = { segmentIds: [id], columns: ['s'], globalDictionaries: ['s'] };
    const pin = await bench.store.pin(request);
    let isClosed = false;
    const closing = bench.store.close(id).then(() => (isClosed = true));
    assert.is(bench.store.has(id), false);
    assert.is(await codeOf(bench.store.pin(request)), 'segments_unavailable');
    await new Promise((resolve) => setImmediate(resolve));
    assert.is(isClosed, false);
    assert.is(readGlobal(globalOf(pin), bench.memory).length, 101);
    pin.release();
    await closing;
    assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
    assert.is(await codeOf(bench.store.close(id)), 'segments_unavailable');
  } finally {
    bench.close();
  }
});

test('the bitmap index gives the rows of values', async () => {
  const bench = openWorkbench();
  try {
    const rows = 40_000;
    const valueOf = (row: number): string | null => (row % 11 === 0 ? null : `v${(row * row) % 97}`);
    const lists = Array.from({ length: rows }, (_, row) => Array.from({ length: row % 3 }, (__, at) => `m${(row + at * 2) % 5}`));
    const id = await open(bench, {
      __time: times(rows),
      s: { kind: 'string', cells: Array.from({ length: rows }, (_, row) => valueOf(row)) },
      m: { kind: 'multi', cells: lists },
      unique: { kind: 'string', cells: Array.from({ length: rows }, (_, row) => `u${row}`) },
      constant: { kind: 'string', cells: Array.from({ length: rows }, () => 'same') },
    });
    const pin = await bench.store.pin({ segmentIds: [id], columns: ['s', 'm', 'constant'], globalDictionaries: [] });
    const dictionaryOf = (name: string): (string | null)[] => {
      const column = pin.segments[0]?.columns[name];
      assert.ok(column?.kind === 'string');
      return readDictionary(column, bench.memory);
    };
    const rowsWhere = (condition: (row: number) => boolean): number[] => Array.from({ length: rows }, (_, row) => row).filter(condition);
    const plain = dictionaryOf('s');
    for (const value of plain)
      assert.equal(
        [...((await bench.store.findRows(id, 's', [plain.indexOf(value)])) ?? [])],
        rowsWhere((row) => valueOf(row) === value),
      );
    const several = dictionaryOf('m');
    for (const [at, value] of several.entries()) {
      assert.equal(
        [...((await bench.store.findRows(id, 'm', [at])) ?? [])],
        rowsWhere((row) => lists[row]?.includes(value ?? '') ?? false),
      );
    }
    assert.equal(
      [...((await bench.store.findRows(id, 'm', [0, 2])) ?? [])],
      rowsWhere((row) => [several[0], several[2]].some((value) => lists[row]?.includes(value ?? ''))),
    );
    assert.is((await bench.store.findRows(id, 'constant', [0]))?.length, rows);
    assert.is((await bench.store.findRows(id, 's', []))?.length, 0);
    assert.is(await bench.store.findRows(id, 'unique', [1]), null, 'a column of distinct values has no index');
    assert.is(await bench.store.findRows(id, '__time', [1]), null);
    pin.release();
  } finally {
    bench.close();
  }
});

test('a column may have any name', async () => {
  const bench = openWorkbench();
  try {
    const names = ['__proto__', 'constructor', '', ' "\n\u0000', '\ud800'];
    const column: Table[string] = { kind: 'string', cells: ['a', 'b'] };
    const id = await open(
      bench,
      Object.fromEntries([['__time', times(2)], ...names.map((name): [string, Table[string]] => [name, column])]),
    );
    const pin = await bench.store.pin({ segmentIds: [id], columns: names, globalDictionaries: names });
    assert.equal(Object.keys(pin.segments[0]?.columns ?? {}).sort(), ['__time', ...names].sort());
    assert.equal(Object.keys(pin.dictionaries).sort(), names.sort());
    assert.equal(Object.keys((await bench.store.analyze(id, 'all', [])).columns).sort(), ['__time', ...names].sort());
    pin.release();
  } finally {
    bench.close();
  }
});

test('analyses come from the footer', async () => {
  const bench = openWorkbench();
  try {
    const id = await open(bench, {
      __time: times(3),
      s: { kind: 'string', cells: ['b', null, 'a'] },
      m: { kind: 'multi', cells: [['x', 'y'], ['x'], ['z']] },
      l: { kind: 'long', cells: [2n ** 60n + 1n, -5n, null] },
      d: { kind: 'double', cells: [-0, 1.5, Number.POSITIVE_INFINITY] },
    });
    const all = await bench.store.analyze(id, 'all', ['cardinality', 'minmax', 'size', 'interval', 'rollup']);
    const rows = { start: DAY.start, end: DAY.start + 3 };
    assert.equal([all.id, all.numRows, all.intervals, all.rollup, all.aggregators], [id, 3, [rows], false, null]);
    const { s, m, l, d } = all.columns;
    assert.equal(
      [s?.type, s?.hasMultipleValues, s?.hasNulls, s?.cardinality, s?.minValue, s?.maxValue],
      ['STRING', false, true, 3, null, 'b'],
    );
    assert.equal([m?.hasMultipleValues, m?.hasNulls, m?.cardinality, m?.minValue, m?.maxValue], [true, false, 3, 'x', 'z']);
    assert.equal([l?.type, l?.cardinality, l?.minValue, l?.maxValue, l?.hasNulls], ['LONG', null, null, null, true]);
    assert.equal([d?.minValue, d?.maxValue], [null, null], 'extremes are told of strings only');
    const columnBytes = Object.values(all.columns).reduce((sum, column) => sum + column.sizeBytes, 0);
    assert.ok(columnBytes > 0 && columnBytes < all.sizeBytes);

    const few = await bench.store.analyze(id, ['s'], []);
    assert.equal(Object.keys(few.columns), ['s']);
    assert.equal(
      [few.intervals, few.sizeBytes, few.rollup, few.columns['s']?.cardinality, few.columns['s']?.minValue],
      [[], 0, null, 0, null],
      'the cardinality of strings is 0 where it was not asked for, as Druid answers',
    );
    assert.is(await codeOf(bench.store.analyze('absent', 'all', [])), 'segments_unavailable');
  } finally {
    bench.close();
  }
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { codeOf, countedJobs, globalOf, open, times } from './opened.js';
import { readDictionary, readGlobal } from './table.js';
import { openWorkbench } from './workbench.js';

const test = suite('global dictionaries');

test('a dictionary that passes the budget is refused and leaves the others as they were', async () => {
  const bench = openWorkbench({ cacheBytes: 2_000_000 });
  const cells = Array.from({ length: 20_000 }, (_, row) => `a value of some length, number ${row}`);
  try {
    const small = await open(bench, { __time: times(3), s: { kind: 'string', cells: ['x', 'y', 'z'] } });
    const large = await open(bench, { __time: times(cells.length), s: { kind: 'string', cells } }, { partitionNumber: 1 });
    const pin = (segmentIds: string[], globalDictionaries: string[]) => bench.store.pin({ segmentIds, columns: ['s'], globalDictionaries });
    const held = await pin([small], ['s']);
    assert.is(await codeOf(pin([small, large], ['s'])), 'resource_limit');
    assert.equal(readGlobal(globalOf(held), bench.memory), [null, 'x', 'y', 'z']);
    (await pin([large], [])).release();
    const again = await pin([small], ['s']);
    assert.equal(readGlobal(globalOf(again), bench.memory), [null, 'x', 'y', 'z']);
    held.release();
    again.release();
    await bench.store.close(large);
    await bench.store.close(small);
    assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
  } finally {
    bench.close();
  }
});

test('a dictionary that nobody uses gives way to another, and begins anew', async () => {
  const cells = (letter: string) => Array.from({ length: 10_000 }, (_, row) => `${letter}: a value of some length, number ${row}`);
  const columns = { __time: times(10_000), a: { kind: 'string', cells: cells('a') }, b: { kind: 'string', cells: cells('b') } } as const;
  // Room for one of them, its column and its remap: 0.9 MB of 1.5.
  const bench = openWorkbench({ cacheBytes: 2_200_000 });
  try {
    const id = await open(bench, columns);
    const pin = (name: string) => bench.store.pin({ segmentIds: [id], columns: [name], globalDictionaries: [name] });
    for (const name of ['a', 'b', 'a', 'b', 'b', 'a']) {
      const held = await pin(name);
      assert.equal(readGlobal(globalOf(held, name), bench.memory).toSorted(), [...cells(name), null].toSorted(), name);
      const remap = bench.memory.u32(globalOf(held, name).remaps[id] ?? 0, 10_000);
      const column = held.segments[0]?.columns[name];
      assert.ok(column?.kind === 'string');
      const values = readGlobal(globalOf(held, name), bench.memory);
      assert.equal(
        [...remap].map((at) => values[at]),
        readDictionary(column, bench.memory),
      );
      held.release();
    }
    const both = [await pin('a')];
    assert.is(await codeOf(pin('b')), 'resource_limit', 'one that is read does not give way');
    for (const held of both) held.release();
    await bench.store.close(id);
    assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
  } finally {
    bench.close();
  }
});

for (const kernels of ['reference', 'simd-debug']) {
  test(`ids of three segments meet in one dictionary (${kernels})`, async () => {
    const bench = openWorkbench({ kernels });
    try {
      const values = [
        ['b', 'a', null, ''],
        ['c', 'b', 'ü\u{1f319}', 'a'],
        ['', 'zz', null, 'c'],
      ];
      const ids: string[] = [];
      for (const [partitionNumber, cells] of values.entries())
        ids.push(await open(bench, { __time: times(4), s: { kind: 'string', cells }, n: times(4) }, { partitionNumber }));
      ids.push(await open(bench, { __time: times(4) }, { partitionNumber: 3 }));

      const first = await bench.store.pin({ segmentIds: ids.slice(0, 1), columns: ['s'], globalDictionaries: ['s'] });
      const early = globalOf(first);
      const earlyValues = readGlobal(early, bench.memory);
      assert.equal(earlyValues, [null, '', 'a', 'b']);

      const all = await bench.store.pin({ segmentIds: ids, columns: [], globalDictionaries: ['s', 'n', 'absent'] });
      assert.equal(Object.keys(all.dictionaries), ['s'], 'string columns only');
      const global = globalOf(all);
      const globalValues = readGlobal(global, bench.memory);
      assert.equal([...globalValues].sort(), ['', 'a', 'b', 'c', 'zz', 'ü\u{1f319}', null].sort());
      assert.equal(globalValues.slice(0, 4), earlyValues, 'ids never change');
      assert.equal(Object.keys(global.remaps).sort(), ids.slice(0, 3).sort());
      for (const view of all.segments.slice(0, 3)) {
        const column = view.columns['s'];
        assert.ok(column?.kind === 'string');
        const remap = bench.memory.u32(global.remaps[view.id] ?? 0, column.dictionary.count);
        assert.equal(
          [...remap].map((id) => globalValues[id]),
          readDictionary(column, bench.memory),
        );
      }
      assert.equal(readGlobal(early, bench.memory), earlyValues, 'an older pin still reads its own');
      first.release();
      all.release();
      for (const id of ids) await bench.store.close(id);
      assert.equal([bench.memory.allocatedBytes, bench.store.residentBytes], [0, 0]);
    } finally {
      bench.close();
    }
  });
}

test('dictionaries grow under pins, side by side, and after their remaps were evicted', async () => {
  const { counts, wrap } = countedJobs();
  const bench = openWorkbench({ wrap, cacheBytes: 1_500_000 });
  try {
    const rows = 3000;
    const ids: string[] = [];
    for (let partitionNumber = 0; partitionNumber < 6; partitionNumber++) {
      const cells = Array.from({ length: rows }, (_, row) => `value ${row + partitionNumber * 1000}`);
      ids.push(await open(bench, { __time: times(rows), s: { kind: 'string', cells } }, { partitionNumber }));
    }
    for (let round = 0; round < 2; round++) {
      const pins = await Promise.all(
        [ids.slice(0, 3), ids.slice(2, 6), ids].map((segmentIds) =>
          bench.store.pin({ segmentIds, columns: ['s'], globalDictionaries: ['s'] }),
        ),
      );
      for (const pin of pins) {
        const global = globalOf(pin);
        const globalValues = readGlobal(global, bench.memory);
        assert.is(new Set(globalValues).size, globalValues.length, 'no value twice');
        for (const view of pin.segments) {
          const column = view.columns['s'];
          assert.ok(column?.kind === 'string');
          const remap = bench.memory.u32(global.remaps[view.id] ?? 0, column.dictionary.count);
          assert.ok(readDictionary(column, bench.memory).every((value, id) => globalValues[remap[id] ?? 0] === value));
        }
        pin.release();
      }
      // Another datasource pushes columns and remaps out.
      const other = await open(
        bench,
        { __time: times(80_000), d: { kind: 'double', cells: Array.from({ length: 80_000 }, (_, row) => Math.sin(row)) } },
        { dataSource: 'other', partitionNumber: round },
      );
      (await bench.store.pin({ segmentIds: [other], columns: ['d'], globalDictionaries: [] })).release();
    }
    assert.ok((counts.get('internDictionary') ?? 0) > 6, 'some remaps were made again');
  } finally {
    bench.close();
  }
});

test.run();

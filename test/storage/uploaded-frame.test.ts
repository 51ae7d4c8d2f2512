import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, readTable, type Table } from './table.js';

const test = suite('placed frames');

const column = (kind: Table[string]['kind'], cells: Table[string]['cells']): Table[string] => ({ kind, cells });

test('keep the order of rows, whatever they hold', () => {
  const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });
  const cell = fc.tuple(
    fc.option(fc.string()),
    fc.array(fc.string(), { minLength: 2, maxLength: 3 }),
    fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    fc.option(fc.double()),
  );
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 200 }), (rows) => {
      const table: Table = {
        s: column(
          'string',
          rows.map(([s]) => s),
        ),
        m: column(
          'multi',
          rows.map(([, m]) => m),
        ),
        l: column(
          'long',
          rows.map(([, , l]) => l),
        ),
        d: column(
          'double',
          rows.map(([, , , d]) => d),
        ),
      };
      const placed = uploadFrame(frameOf(table), memory);
      const found = readTable(placed.view, memory);
      assert.is(placed.view.rowCount, rows.length);
      for (const [name, { cells }] of Object.entries(table)) assert.equal(found[name], cells);
      placed.release();
      assert.is(memory.allocatedBytes, 0);
    }),
    { numRuns: 100 },
  );
});

test('a frame without rows has columns without rows', () => {
  const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });
  const placed = uploadFrame(
    frameOf({ s: column('string', []), m: column('multi', []), l: column('long', []), d: column('double', []) }),
    memory,
  );
  assert.equal(readTable(placed.view, memory), { s: [], m: [], l: [], d: [] });
  placed.release();
  assert.is(memory.allocatedBytes, 0);
});

test('times say where they begin and end; times out of order are refused', () => {
  const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });
  const placed = uploadFrame(frameOf({ __time: column('long', [5n, 5n, 9n]) }), memory);
  assert.equal([placed.view.timeMin, placed.view.timeMax], [5, 9]);
  placed.release();
  for (const cells of [
    [2n, 1n],
    [1n, null],
    [-(2n ** 40n), -(2n ** 41n)],
  ]) {
    try {
      uploadFrame(frameOf({ __time: column('long', cells) }), memory);
      assert.unreachable();
    } catch (error) {
      assert.is((error as ServiceError).code, 'unsupported');
    }
  }
  assert.is(memory.allocatedBytes, 0);
});

test('a frame that does not fit leaves nothing behind', () => {
  const memory = KernelMemory.create({ maximumBytes: 1024 * 1024 });
  const wide = column(
    'double',
    Array.from({ length: 70_000 }, (_, row) => row / 3),
  );
  try {
    uploadFrame(frameOf({ a: wide, b: wide }), memory);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, ServiceError);
    assert.is((error as ServiceError).code, 'resource_limit');
  }
  assert.is(memory.allocatedBytes, 0);
});

test.run();

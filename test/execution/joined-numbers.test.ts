import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RunContext } from '../../src/execution/block/context.js';
import { joinChunks } from '../../src/execution/block/joined-chunks.js';
import { gatherColumn } from '../../src/execution/block/view-rows.js';
import { OwnMemory } from '../../src/execution/join/own-memory.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import type { FrameColumn } from '../../src/model/frame.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { NumberColumnView } from '../../src/storage/view.js';

/* Number columns that are stored from different bases on, joined into one: every row keeps its number. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const test = suite('number columns of several views');

type Numbers = readonly (bigint | number | null)[];

function columnOf(numbers: Numbers, type: 'LONG' | 'DOUBLE'): FrameColumn {
  const bits = new Uint32Array(Math.ceil(numbers.length / 64) * 2);
  numbers.forEach((each, row) => {
    if (each === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  const nulls = numbers.includes(null) ? bits : null;
  return type === 'LONG'
    ? { kind: 'long', name: 'n', values: BigInt64Array.from(numbers, (each) => BigInt(each ?? 0)), nulls }
    : { kind: 'double', name: 'n', type, values: Float64Array.from(numbers, (each) => Number(each ?? 0)), nulls };
}

function numbersOf({ type, physical, base, power, values, nulls }: NumberColumnView, rows: number): Numbers {
  const stored = {
    U8: () => memory.u8(values, rows),
    U16: () => memory.u16(values, rows),
    U32: () => memory.u32(values, rows),
    I64: () => memory.i64(values, rows),
    F32: () => memory.f32(values, rows),
    F64: () => memory.f64(values, rows),
  }[physical]();
  const bits = nulls === 0 ? undefined : memory.u32(nulls, Math.ceil(rows / 32));
  return Array.from(stored as ArrayLike<bigint | number>, (raw, row) => {
    if (bits !== undefined && (((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1) return null;
    const whole = typeof raw === 'bigint' ? raw + base : physical === 'F64' || physical === 'F32' ? raw : BigInt(raw) + base;
    return type === 'LONG' ? BigInt(whole) : Number(whole) / 10 ** power;
  });
}

/** Joins the numbers of several views; how they are stored then, too. */
function joined(
  parts: readonly Numbers[],
  type: 'LONG' | 'DOUBLE',
): { readonly numbers: Numbers; readonly physical: string; readonly range: readonly [unknown, unknown] } {
  const into = new OwnMemory(memory);
  const context = { memory, kernels: instantiateKernels('simd', memory), check: () => undefined } as unknown as RunContext;
  const uploaded = parts.map((numbers) => uploadFrame({ rowCount: numbers.length, columns: [columnOf(numbers, type)] }, memory));
  const arena = memory.arena();
  try {
    const chunks = uploaded.map(({ view }) => {
      const rows = arena.take(view.rowCount * 4);
      memory.u32(rows, view.rowCount).forEach((_, row, all) => {
        all[row] = row;
      });
      const column = view.columns['n'];
      assert.ok(column);
      return { rowCount: view.rowCount, columns: [gatherColumn(context, into, column, { at: rows, count: view.rowCount })] };
    });
    const column = joinChunks(context, into, chunks, 0);
    assert.ok(column?.kind === 'number');
    const rows = parts.reduce((sum, { length }) => sum + length, 0);
    return { numbers: numbersOf(column, rows), physical: column.physical, range: [column.min, column.max] };
  } finally {
    arena.release();
    into.free();
    for (const { release } of uploaded) release();
  }
}

const far = fc.constantFrom(0n, 1n, 255n, 256n, 70_000n, -70_000n, 2n ** 32n - 1n, -(2n ** 31n), 2n ** 40n, 2n ** 63n - 1n, -(2n ** 63n));
const longs = fc.array(fc.option(fc.oneof(fc.bigInt({ min: 0n, max: 300n }), far), { nil: null }), { minLength: 1, maxLength: 70 });
const decimals = fc.array(
  fc.option(
    fc.integer({ min: -99_999, max: 99_999 }).map((each) => each / 100),
    { nil: null },
  ),
  { minLength: 1, maxLength: 70 },
);

test('longs from any bases on', () => {
  fc.assert(
    fc.property(fc.array(longs, { minLength: 1, maxLength: 4 }), (parts) => {
      assert.equal(joined(parts, 'LONG').numbers, parts.flat());
    }),
    { numRuns: 300 },
  );
});

test('decimal fractions', () => {
  fc.assert(
    fc.property(fc.array(decimals, { minLength: 1, maxLength: 4 }), (parts) => {
      assert.equal(
        joined(parts, 'DOUBLE').numbers,
        parts.flat().map((each) => (each === null ? null : each + 0)),
      );
    }),
    { numRuns: 300 },
  );
});

test('near each other they stay words', () => {
  assert.is(
    joined(
      [
        [1n, 2n],
        [70_000n, 70_300n],
      ],
      'LONG',
    ).physical,
    'U32',
  );
  assert.is(
    joined(
      [
        [0n, 2n ** 32n - 1n],
        [7n, 8n],
      ],
      'LONG',
    ).physical,
    'U32',
  );
  assert.is(
    joined(
      [
        [1n, 2n],
        [2n ** 32n - 300n, 2n ** 32n - 299n],
      ],
      'LONG',
    ).physical,
    'U32',
    'bytes end before the last word',
  );
  assert.is(
    joined(
      [
        [0n, 2n ** 32n - 1n],
        [2n ** 32n - 8n, 2n ** 32n],
      ],
      'LONG',
    ).physical,
    'I64',
  );
  assert.is(
    joined(
      [
        [0n, 2n],
        [2n ** 40n, 2n ** 40n + 1n],
      ],
      'LONG',
    ).physical,
    'I64',
  );
});

test('their range is that of the parts that have values', () => {
  assert.equal(joined([[null, null], [0n, 3n], [null]], 'LONG').range, [0n, 3n]);
  assert.equal(joined([[null], [70_000n, null, 5n]], 'LONG').range, [5n, 70_000n]);
  assert.equal(joined([[null], [null, null]], 'LONG').range, [null, null]);
});

test.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

test.run();

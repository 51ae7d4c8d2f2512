import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BLOCK_ROWS } from '../../src/base/layout.js';
import type { RunContext } from '../../src/execution/block/context.js';
import { keyBitsOf } from '../../src/execution/join/key-bits.js';
import { KeyLookup } from '../../src/execution/join/key-lookup.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import type { NumberColumnView } from '../../src/storage/view.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 26 });
const arena = memory.arena();
// Looks ask for no more of it.
const context = { memory, kernels: instantiateKernels('simd', memory), check: () => undefined } as unknown as RunContext;

/** A column of LONGs, wide or as distances from its minimum, with the range of each block or without. */
function column(
  values: readonly bigint[],
  { isWide, hasRanges }: { readonly isWide: boolean; readonly hasRanges: boolean },
): NumberColumnView {
  const [min, max] = [values.reduce((a, b) => (a < b ? a : b)), values.reduce((a, b) => (a > b ? a : b))];
  const at = arena.take(values.length * 8);
  if (isWide) memory.i64(at, values.length).set(BigInt64Array.from(values));
  else memory.u32(at, values.length).set(values.map((value) => Number(value - min)));
  const blocks = Array.from({ length: Math.ceil(values.length / BLOCK_ROWS) }, (_, block) =>
    values.slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS).map(Number),
  );
  const blockRanges = hasRanges ? arena.take(blocks.length * 16) : 0;
  if (hasRanges)
    memory
      .f64(blockRanges, blocks.length * 2)
      .set(blocks.flatMap((numbers) => [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))]));
  const base = isWide ? 0n : min;
  return { kind: 'number', type: 'LONG', physical: isWide ? 'I64' : 'U32', power: 0, values: at, base, nulls: 0, min, max, blockRanges };
}

const ROWS = BLOCK_ROWS * 4 + 100;
const ASCENDING = Array.from({ length: ROWS }, (_, row) => BigInt(row) * 3n);

const looks = suite('looks at the keys of a build side');

const cases: readonly { readonly name: string; readonly keys: readonly bigint[]; readonly low?: bigint }[] = [
  { name: 'of one block', keys: [30_000n, 30_003n] },
  { name: 'on both sides of the end of a block', keys: [BigInt(BLOCK_ROWS) * 3n - 3n, BigInt(BLOCK_ROWS) * 3n] },
  { name: 'of the last row', keys: [BigInt(ROWS - 1) * 3n] },
  { name: 'below all rows', keys: [-1n] },
  { name: 'above all rows', keys: [BigInt(ROWS) * 3n] },
  { name: 'between the values of rows', keys: [1n, 2n, 4n] },
  { name: 'of the first and the last row', keys: [0n, BigInt(ROWS - 1) * 3n] },
  { name: 'beyond 2^53, which the range of a block rounds', keys: [2n ** 53n + 3n * 20_001n], low: 2n ** 53n },
];

for (const isWide of [false, true])
  for (const { name, keys, low = 0n } of cases)
    looks(`leave the rows whose value is a key ${name}, ${isWide ? 'I64' : 'U32'}`, () => {
      const values = ASCENDING.map((value) => value + low);
      const bits = keyBitsOf(context, arena, arena, column(keys, { isWide: true, hasRanges: false }), keys.length);
      assert.ok(bits !== null);
      const wanted = values.flatMap((value, row) => (keys.includes(value) ? [row] : []));
      for (const hasRanges of [true, false]) {
        const probed = column(values, { isWide, hasRanges });
        const kept = arena.take(Math.ceil(ROWS / 64) * 8);
        for (const [start, end] of [
          [0, ROWS],
          [BLOCK_ROWS, BLOCK_ROWS * 3],
        ] as const) {
          context.kernels.bitsFill(kept, Math.ceil(ROWS / 64), 0, ROWS);
          new KeyLookup(context, bits).keep(probed, start, end, kept + start / 8);
          const rows = arena.take(ROWS * 4);
          const count = context.kernels.bitsToRows(kept, start, end, rows);
          assert.equal(
            [...memory.u32(rows, count)],
            wanted.filter((row) => row >= start && row < end),
          );
        }
      }
    });

looks.run();

import { PHYSICAL_BYTES } from '../../src/base/layout.js';
import { type Num, STRETCH_ROWS } from '../../src/kernels/contract.js';
import type { Bench, BenchCase } from './bench-case.js';

/** Larger, with what the bandwidth is measured on, than any last-level cache known to us (260 MiB). */
const OUT_OF_CACHE_BYTES = 256 * 1024 * 1024;

/** The sum of a column that no cache holds, in calls like those of a query without filter: reading memory and little else. */
export function plainSum(bench: Bench, type: Num): BenchCase {
  const size = PHYSICAL_BYTES[type];
  const rows = Math.max(1, Math.floor(bench.rows(OUT_OF_CACHE_BYTES / size) / STRETCH_ROWS)) * STRETCH_ROWS;
  const values = bench.allocate(rows * size);
  const { memory } = bench;
  const kind = type.toLowerCase() as Lowercase<Num>;
  const below = type === 'U8' ? 256 : type === 'U16' ? 5000 : 1_000_000;
  if (kind === 'i64') memory.i64(values, STRETCH_ROWS).forEach((_, i, view) => (view[i] = BigInt(bench.below(below))));
  else memory[kind](values, STRETCH_ROWS).forEach((_: number, i: number, view: { [i: number]: number }) => (view[i] = bench.below(below)));
  const bytes = memory.u8(values, rows * size);
  for (let filled = STRETCH_ROWS * size; filled < bytes.length; filled *= 2) {
    bytes.copyWithin(filled, 0, Math.min(filled, bytes.length - filled));
  }
  const runs = bench.u32(3, (field) => (field === 2 ? STRETCH_ROWS : 0));
  const out = bench.allocate(8);
  return {
    name: `sum ${kind}, out of cache`,
    kernels: [`sumRuns${type}`],
    rows,
    bytes: rows * size,
    blocks: rows / STRETCH_ROWS,
    againstBandwidth: true,
    call: (kernels, block) => kernels[`sumRuns${type}`](values + block * STRETCH_ROWS * size, 0, runs, 1, out),
    outputs: [{ at: out, bytes: 8 }],
  };
}

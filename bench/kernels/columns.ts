/** Cases of kernels that read one column, by the type of its values: sums, extremes, filters. */
import { type Address, BLOCK_ROWS } from '../../src/base/layout.js';
import type { Bench, BenchCase } from './bench-case.js';

const B = BLOCK_ROWS;
const BITS = B / 8;

/** Columns larger than the caches of one core; a shared last-level cache holds them, where plain sums go past it. */
export const COLUMN_BYTES = 16 * 1024 * 1024;

/** A case that calls one kernel for each block of a column and compares the bytes it writes. */
export function columnCase(
  bench: Bench,
  rows: number,
  size: number,
  name: string,
  kernel: BenchCase['kernels'][number],
  outputBytes: number,
  call: (kernels: Parameters<BenchCase['call']>[0], offset: number, out: Address, block: number) => void,
  plain?: (out: Address) => (block: number) => void,
): BenchCase {
  const out = bench.allocate(outputBytes);
  return {
    name,
    kernels: [kernel],
    rows,
    bytes: rows * size,
    blocks: rows / B,
    call: (kernels, block) => call(kernels, block * B * size, out, block),
    outputs: [{ at: out, bytes: outputBytes }],
    ...(plain === undefined ? {} : { plain: plain(out) }),
  };
}

/** One run over the whole block, group 0. */
export function wholeBlock(bench: Bench): Address {
  return bench.u32(3, (field) => (field === 2 ? B : 0));
}

export function u8Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES);
  const values = bench.u8(rows, () => bench.below(256));
  const runs = wholeBlock(bench);
  const half = bench.bits(B, 0.5);
  const set = bench.bits(256, 20 / 256);
  const { memory } = bench;
  return [
    columnCase(bench, rows, 1, 'sum u8', 'sumRunsU8', 8, (k, at, out) => k.sumRunsU8(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 1, 'sum u8, half selected', 'sumRunsU8', 8, (k, at, out) => k.sumRunsU8(values + at, half, runs, 1, out)),
    columnCase(bench, rows, 1, 'max u8', 'maxRunsU8', 8, (k, at, out) => k.maxRunsU8(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 1, 'u8 = id', 'filterEqU8', BITS, (k, at, out) => k.filterEqU8(values + at, B, 7, out)),
    columnCase(
      bench,
      rows,
      1,
      'u8 in set of 20',
      'filterSetU8',
      BITS,
      (k, at, out) => k.filterSetU8(values + at, B, set, out),
      (out) => {
        const column = memory.u8(values, rows);
        const lookup = new Uint8Array(256).map((_, id) => ((memory.u8(set, 32)[id >> 3] ?? 0) >> (id & 7)) & 1);
        const bits = memory.u32(out, B / 32);
        return (block) => {
          for (let word = 0, row = block * B; word < B / 32; word++) {
            let found = 0;
            for (let bit = 0; bit < 32; bit++, row++) found |= (lookup[column[row] as number] as number) << bit;
            bits[word] = found;
          }
        };
      },
    ),
  ];
}

export function u16Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 2);
  const values = bench.u16(rows, () => bench.below(5000));
  const runs = wholeBlock(bench);
  const [sparse, half] = [bench.bits(B, 0.01), bench.bits(B, 0.5)];
  const set = bench.bits(65536, 0.2);
  const sorted = bench.u16(100, (i) => i * 50);
  const offsets = bench.u32(B + 1, (i) => Math.floor(i / 2) * 2);
  const { memory } = bench;
  return [
    columnCase(
      bench,
      rows,
      2,
      'sum u16',
      'sumRunsU16',
      8,
      (k, at, out) => k.sumRunsU16(values + at, 0, runs, 1, out),
      (out) => {
        const column = memory.u16(values, rows);
        const sums = memory.f64(out, 1);
        return (block) => {
          let sum = 0;
          for (let row = block * B, end = row + B; row < end; row++) sum += column[row] as number;
          sums[0] = (sums[0] as number) + sum;
        };
      },
    ),
    columnCase(bench, rows, 2, 'sum u16, half selected', 'sumRunsU16', 8, (k, at, out) => k.sumRunsU16(values + at, half, runs, 1, out)),
    columnCase(bench, rows, 2, 'sum u16, 1 % selected', 'sumRunsU16', 8, (k, at, out) => k.sumRunsU16(values + at, sparse, runs, 1, out)),
    columnCase(bench, rows, 2, 'min u16', 'minRunsU16', 8, (k, at, out) => k.minRunsU16(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 2, 'u16 = id', 'filterEqU16', BITS, (k, at, out) => k.filterEqU16(values + at, B, 7, out)),
    columnCase(bench, rows, 2, 'u16 in range', 'filterRangeU16', BITS, (k, at, out) => k.filterRangeU16(values + at, B, 100, 2000, out)),
    columnCase(bench, rows, 2, 'u16 in set', 'filterSetU16', BITS, (k, at, out) => k.filterSetU16(values + at, B, set, out)),
    columnCase(bench, rows / 8, 2, 'u16 in sorted 100', 'filterSortedU16', BITS, (k, at, out) =>
      k.filterSortedU16(values + at, B, sorted, 100, out),
    ),
    columnCase(bench, rows / 8, 2, 'multi-value u16 in set', 'filterAnyU16', BITS, (k, at, out) =>
      k.filterAnyU16(values + at, offsets, B, set, out),
    ),
    columnCase(bench, rows / 8, 4, 'multi-value empty', 'filterEmpty', BITS, (k, _at, out) => k.filterEmpty(offsets, B, out)),
  ];
}

export function u32Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 4);
  const values = bench.u32(rows, () => bench.below(1000000));
  const runs = wholeBlock(bench);
  const half = bench.bits(B, 0.5);
  const set = bench.bits(1000000, 0.2);
  return [
    columnCase(bench, rows, 4, 'sum u32', 'sumRunsU32', 8, (k, at, out) => k.sumRunsU32(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 4, 'sum u32, half selected', 'sumRunsU32', 8, (k, at, out) => k.sumRunsU32(values + at, half, runs, 1, out)),
    columnCase(bench, rows, 4, 'max u32', 'maxRunsU32', 8, (k, at, out) => k.maxRunsU32(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 4, 'u32 = id', 'filterEqU32', BITS, (k, at, out) => k.filterEqU32(values + at, B, 7, out)),
    columnCase(bench, rows, 4, 'u32 in range', 'filterRangeU32', BITS, (k, at, out) => k.filterRangeU32(values + at, B, 100, 500000, out)),
    columnCase(bench, rows, 4, 'u32 in set', 'filterSetU32', BITS, (k, at, out) => k.filterSetU32(values + at, B, set, out)),
  ];
}

export function i64Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 8);
  const values = bench.i64(rows, () => BigInt(bench.below(4294967296)) * 1000n - 1000000000000n);
  const runs = wholeBlock(bench);
  const half = bench.bits(B, 0.5);
  return [
    columnCase(bench, rows, 8, 'sum i64', 'sumRunsI64', 8, (k, at, out) => k.sumRunsI64(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 8, 'sum i64, half selected', 'sumRunsI64', 8, (k, at, out) => k.sumRunsI64(values + at, half, runs, 1, out)),
    columnCase(bench, rows, 8, 'min i64', 'minRunsI64', 8, (k, at, out) => k.minRunsI64(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 8, 'i64 in range', 'filterRangeI64', BITS, (k, at, out) =>
      k.filterRangeI64(values + at, B, 0n, 1000000000000n, out),
    ),
  ];
}

export function f32Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 4);
  const values = bench.f32(rows, () => bench.random() * 1000);
  const runs = wholeBlock(bench);
  return [
    columnCase(bench, rows, 4, 'sum f32', 'sumRunsF32', 8, (k, at, out) => k.sumRunsF32(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 4, 'max f32', 'maxRunsF32', 8, (k, at, out) => k.maxRunsF32(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 4, 'f32 in range', 'filterRangeF32', BITS, (k, at, out) => k.filterRangeF32(values + at, B, 100.1, 500.5, out)),
  ];
}

export function f64Columns(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 8);
  const values = bench.f64(rows, () => bench.random() * 1000);
  const runs = wholeBlock(bench);
  const [sparse, half] = [bench.bits(B, 0.01), bench.bits(B, 0.5)];
  return [
    columnCase(bench, rows, 8, 'sum f64', 'sumRunsF64', 8, (k, at, out) => k.sumRunsF64(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 8, 'sum f64, half selected', 'sumRunsF64', 8, (k, at, out) => k.sumRunsF64(values + at, half, runs, 1, out)),
    columnCase(bench, rows, 8, 'sum f64, 1 % selected', 'sumRunsF64', 8, (k, at, out) => k.sumRunsF64(values + at, sparse, runs, 1, out)),
    columnCase(bench, rows, 8, 'min f64', 'minRunsF64', 8, (k, at, out) => k.minRunsF64(values + at, 0, runs, 1, out)),
    columnCase(bench, rows, 8, 'f64 in range', 'filterRangeF64', BITS, (k, at, out) => k.filterRangeF64(values + at, B, 100.1, 500.5, out)),
  ];
}

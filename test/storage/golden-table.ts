import type { Table } from './table.js';
import { DAY } from './workbench.js';

const ROWS = 17_000;
const cells = <Cell>(cell: (row: number) => Cell): Cell[] => Array.from({ length: ROWS }, (_, row) => cell(row));

/** Without a pattern that zstd would find. */
const scattered = (row: number): number => (Math.imul(row ^ (row >>> 7), 0x9e3779b1) >>> 0) >>> 9;

/**
 * Rows of `test/fixtures/segments/v1/golden.segment`, already in stored order: every type, layout and transform of format
 * version 1. The file was written once and is never written again.
 */
export const GOLDEN_TABLE: Table = {
  __time: { kind: 'long', cells: cells((row) => BigInt(DAY.start + row * 4321)) },
  plain: { kind: 'string', cells: cells((row) => (row % 13 === 0 ? null : `value ${(row * 7) % 20} \u{1f319}`)) },
  distinct: { kind: 'string', cells: cells((row) => `user-${(row * 7919) % ROWS}`) },
  multi: { kind: 'multi', cells: cells((row) => Array.from({ length: row % 4 }, (_, at) => `tag ${(row + at * 5) % 6}`)) },
  small: { kind: 'long', cells: cells((row) => BigInt((row * 31) % 200) - 100n) },
  medium: { kind: 'long', cells: cells((row) => (row % 17 === 0 ? null : BigInt((row * 7919) % 60_000))) },
  large: { kind: 'long', cells: cells((row) => BigInt(row) * 100_003n) },
  huge: { kind: 'long', cells: cells((row) => (row % 2 === 0 ? -(2n ** 63n) + BigInt(row) : 2n ** 63n - 1n - BigInt(row))) },
  bits: { kind: 'long', cells: cells((row) => BigInt(scattered(row) % 2)) },
  code: { kind: 'long', cells: cells((row) => BigInt(scattered(row) % 512)) },
  float: { kind: 'float', cells: cells((row) => row / 7) },
  price: { kind: 'double', cells: cells((row) => ((row * 31) % 10_000) / 100) },
  double: { kind: 'double', cells: cells((row) => (row % 1000 === 0 ? null : row % 1001 === 0 ? Number.NaN : Math.fround(row / 3) / 7)) },
};

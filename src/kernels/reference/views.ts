// Typed views of kernel memory for the reference kernels.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS } from '../signatures.js';

/** The types whose values JavaScript numbers hold exactly; I64 goes by BigInt or in 32-bit halves. */
export const EXACT = [...IDS, ...FLOATS] as const;

export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;
export type View = (at: Address, count?: number) => NumberArray;

export function viewOf(memory: KernelMemory, type: (typeof EXACT)[number]): View {
  switch (type) {
    case 'U8':
      return (at, count) => memory.u8(at, count);
    case 'U16':
      return (at, count) => memory.u16(at, count);
    case 'U32':
      return (at, count) => memory.u32(at, count);
    case 'F32':
      return (at, count) => memory.f32(at, count);
    case 'F64':
      return (at, count) => memory.f64(at, count);
  }
}

/** Bits as 32-bit halves, which JavaScript handles without BigInt. */
export function hasBit(halves: Uint32Array, bit: number): boolean {
  return (((halves[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) !== 0;
}

/** Writes one bit per row, whole 64-bit words, zeros past `rows`. */
export function writeBits(memory: KernelMemory, out: Address, rows: number, test: (row: number) => boolean): void {
  const halves = memory.u32(out, Math.ceil(rows / 64) * 2);
  for (let half = 0; half < halves.length; half++) {
    const first = half * 32;
    const count = Math.min(32, rows - first);
    let bits = 0;
    for (let bit = 0; bit < count; bit++) if (test(first + bit)) bits |= 1 << bit;
    halves[half] = bits;
  }
}

/** The row of position i: rows[i], or i when `rows` is absent. */
export function rowsView(memory: KernelMemory, rows: Address, n: number): Uint32Array | null {
  return rows === 0 ? null : memory.u32(rows, n);
}

import type { Address } from '../../storage/view.js';
import type { Num } from '../contract.js';
import type { KernelMemory } from '../memory.js';

export const IDS = ['U8', 'U16', 'U32'] as const;
export const FLOATS = ['F32', 'F64'] as const;
export const NUMBERS = [...IDS, ...FLOATS] as const;

export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;
export type View = (at: Address, count?: number) => NumberArray;

/** How to see values of a type that JavaScript numbers hold exactly. */
export function viewOf(memory: KernelMemory, type: Exclude<Num, 'I64'>): View {
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

/** One kernel per type of a family: `perType('filterEq', IDS, …)` gives filterEqU8, filterEqU16, filterEqU32. */
export function perType<Name extends string, Type extends Num, Kernel>(
  name: Name,
  types: readonly Type[],
  make: (type: Type) => Kernel,
): { readonly [T in Type as `${Name}${T}`]: Kernel } {
  return Object.fromEntries(types.map((type) => [`${name}${type}`, make(type)])) as { readonly [T in Type as `${Name}${T}`]: Kernel };
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

// Reference kernels: bit arrays.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { hasBit } from './views.js';

export function bitmapKernels(memory: KernelMemory) {
  const combine = (join: (a: number, b: number) => number) => (a: Address, b: Address, words: number, out: Address) => {
    const left = memory.u32(a, words * 2);
    const right = memory.u32(b, words * 2);
    const result = memory.u32(out, words * 2);
    for (let half = 0; half < result.length; half++) result[half] = join(left[half] ?? 0, right[half] ?? 0);
  };

  return {
    bitsAnd: combine((a, b) => a & b),
    bitsOr: combine((a, b) => a | b),
    bitsAndNot: combine((a, b) => a & ~b),
    bitsNot(a: Address, rows: number, out: Address) {
      const halves = Math.ceil(rows / 64) * 2;
      const source = memory.u32(a, halves);
      const result = memory.u32(out, halves);
      for (let half = 0; half < halves; half++) result[half] = ~(source[half] ?? 0) & bitsBelow(rows - half * 32);
    },
    bitsFill(out: Address, words: number, start: number, end: number) {
      const result = memory.u32(out, words * 2);
      for (let half = 0; half < result.length; half++) {
        result[half] = start < end ? bitsBelow(end - half * 32) & ~bitsBelow(start - half * 32) : 0;
      }
    },
    bitsCount(a: Address, words: number) {
      const halves = memory.u32(a, words * 2);
      let count = 0;
      for (let half = 0; half < halves.length; half++) count += bitCount(halves[half] ?? 0);
      return count;
    },
    bitsToRows(a: Address, start: number, end: number, out: Address) {
      const halves = memory.u32(a, Math.ceil(end / 32));
      const rows = memory.u32(out);
      let count = 0;
      for (let half = start >>> 5; half * 32 < end; half++) {
        let bits = (halves[half] ?? 0) & bitsBelow(end - half * 32) & ~bitsBelow(start - half * 32);
        for (; bits !== 0; bits &= bits - 1) rows[count++] = half * 32 + 31 - Math.clz32(bits & -bits);
      }
      return count;
    },
    bitsMark(ids: Address, count: number, out: Address) {
      const marks = memory.u32(ids, count);
      const bits = memory.u32(out);
      for (let i = 0; i < count; i++) {
        const id = marks[i] ?? 0;
        if (!hasBit(bits, id)) bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31));
      }
    },
  };
}

/** A 32-bit word with the bits below `count` set. */
function bitsBelow(count: number): number {
  return count >= 32 ? -1 : count <= 0 ? 0 : (1 << count) - 1;
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

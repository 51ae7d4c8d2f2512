// Reference kernels over lists of values by group.

import type { Address } from '../../base/layout.js';
import type { ListKernels } from '../list-contract.js';
import type { KernelMemory } from '../memory.js';

const BYTES_MAX = 2 ** 32 - 1;
const SIGN = 2n ** 63n;
const ALL = 2n ** 64n - 1n;

type Element = string | bigint | null;

export function listKernels(memory: KernelMemory): ListKernels {
  const textOf = (strings: Address, id: number): Buffer => {
    const [at = 0, length = 0] = memory.u32(strings + id * 8, 2);
    return Buffer.from(memory.u8(at, length));
  };
  const elementOf = (keys: Address, words: number, strings: Address, row: number): Element => {
    const at = keys + row * words * 8;
    const [, half = 0] = memory.u32(at, 2);
    if (words === 1) return half === 0 ? null : textOf(strings, half).toString();
    return half !== 0 ? null : (memory.i64(at + 8, 1)[0] ?? null);
  };
  const listOf = (starts: Address, rows: Address, list: number): Uint32Array => {
    const [start = 0, end = 0] = memory.u32(starts + list * 4, 2);
    return memory.u32(rows + start * 4, end - start);
  };
  return {
    listSizes(keys, n, words, strings, state, most) {
      const largest = memory.u32(most, 2);
      for (let row = 0; row < n; row++) {
        const [group = 0, half = 0] = memory.u32(keys + row * words * 8, 2);
        const sizes = memory.u32(state + group * 8, 2);
        const bytes = words === 2 || half === 0 ? 8 : textOf(strings, half).length;
        sizes.set([(sizes[0] ?? 0) + 1, Math.min(BYTES_MAX, (sizes[1] ?? 0) + bytes)]);
        largest.set([Math.max(largest[0] ?? 0, sizes[0] ?? 0), Math.max(largest[1] ?? 0, sizes[1] ?? 0)]);
      }
    },
    listSort(keys, words, strings, starts, count, rows) {
      for (let list = 0; list < count; list++) {
        const own = listOf(starts, rows, list);
        const value = (row: number): Element => elementOf(keys, words, strings, row);
        const sorted = [...own].sort((a, b) => {
          const [one, other] = [value(a), value(b)];
          if (one === null || other === null) return Number(other === null) - Number(one === null);
          return one < other ? -1 : one > other ? 1 : 0;
        });
        own.set(sorted);
      }
    },
    listTexts(keys, words, strings, starts, rows, groups, n, form, separator, separatorBytes, out, buffer) {
      const between = Buffer.from(memory.u8(separator, separatorBytes)).toString();
      let free = buffer;
      for (let i = 0; i < n; i++) {
        const own = [...listOf(starts, rows, memory.u32(groups, n)[i] ?? 0)];
        const elements = own.map((row) => elementOf(keys, words, strings, row));
        const text = Buffer.from(form === 0 ? elements.map((element) => element ?? '').join(between) : arrayOf(elements, form === 3));
        memory.u8(free, text.length).set(text);
        const length = words === 1 ? (text.length | 0x80000000) >>> 0 : text.length;
        memory.u32(out + i * 8, 2).set(own.length === 0 ? [0, 0] : [free, length]);
        free += text.length;
      }
    },
  };
}

/** An array as a text whose order is that of arrays. */
function arrayOf(elements: readonly Element[], areDoubles: boolean): string {
  const body = (element: string | bigint): string => {
    if (typeof element === 'string') return element.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
    const bits = BigInt.asUintN(64, element);
    return (areDoubles ? sortable(bits) : bits ^ SIGN).toString(16).padStart(16, '0');
  };
  return elements.map((element) => (element === null ? '\u0001' : `\u0002${body(element)}\u0000`)).join('');
}

/** Negative doubles have all bits turned, others the sign; NaN is one value, above all numbers. */
function sortable(bits: bigint): bigint {
  if ((bits & ~SIGN) > 0x7ff0000000000000n) return 0xfff8000000000000n;
  return (bits & SIGN) === 0n ? bits | SIGN : bits ^ ALL;
}

import type { Address } from '../../base/layout.js';
import { Murmur3 } from '../../sketch/murmur3.js';
import type { KernelMemory } from '../memory.js';

export function hashKernels(memory: KernelMemory) {
  const write = ({ firstLow, firstHigh, secondLow, secondHigh }: Murmur3, out: Uint32Array, i: number): void => {
    out[i * 4] = firstLow;
    out[i * 4 + 1] = firstHigh;
    out[i * 4 + 2] = secondLow;
    out[i * 4 + 3] = secondHigh;
  };
  return {
    murmurTexts(bytes: Address, offsets: Address, ids: Address, n: number, seed: number, out: Address) {
      const bounds = memory.u32(offsets);
      const entries = ids === 0 ? null : memory.u32(ids, n);
      const words = memory.u32(out, n * 4);
      const hash = new Murmur3(seed);
      for (let i = 0; i < n; i++) {
        const entry = entries === null ? i : (entries[i] ?? 0);
        const start = bounds[entry] ?? 0;
        const text = memory.u8(bytes + start, (bounds[entry + 1] ?? 0) - start);
        hash.hash(new DataView(text.buffer, text.byteOffset, text.byteLength));
        write(hash, words, i);
      }
    },
    murmurI64(values: Address, n: number, seed: number, out: Address) {
      const words = memory.u32(out, n * 4);
      const hash = new Murmur3(seed);
      memory.i64(values, n).forEach((value, i) => {
        hash.hashLong(value);
        write(hash, words, i);
      });
    },
    murmurF64(values: Address, n: number, seed: number, out: Address) {
      const words = memory.u32(out, n * 4);
      const hash = new Murmur3(seed);
      memory.f64(values, n).forEach((value, i) => {
        hash.hashDouble(value);
        write(hash, words, i);
      });
    },
  };
}

// Reference kernels: hashes for sketches.

import type { Address } from '../../base/layout.js';
import { Murmur3, type StringEncoding } from '../../sketch/murmur3.js';
import type { KernelMemory } from '../memory.js';

export function hashKernels(memory: KernelMemory) {
  const write = ({ firstLow, firstHigh, secondLow, secondHigh }: Murmur3, out: Uint32Array, i: number): void => {
    out[i * 4] = firstLow;
    out[i * 4 + 1] = firstHigh;
    out[i * 4 + 2] = secondLow;
    out[i * 4 + 3] = secondHigh;
  };
  const eachNumber =
    <Number>(view: (at: Address, n: number) => Iterable<Number>, add: (hash: Murmur3, value: Number) => void) =>
    (values: Address, n: number, seed: number, out: Address): void => {
      const words = memory.u32(out, n * 4);
      const hash = new Murmur3(seed);
      let i = 0;
      for (const value of view(values, n)) {
        add(hash, value);
        write(hash, words, i++);
      }
    };
  const eachText =
    (encoding: StringEncoding) =>
    (bytes: Address, offsets: Address, ids: Address, n: number, seed: number, out: Address): void => {
      const bounds = memory.u32(offsets);
      const entries = ids === 0 ? null : memory.u32(ids, n);
      const words = memory.u32(out, n * 4);
      const hash = new Murmur3(seed);
      for (let i = 0; i < n; i++) {
        const entry = entries === null ? i : (entries[i] ?? 0);
        const start = bounds[entry] ?? 0;
        const text = memory.u8(bytes + start, (bounds[entry + 1] ?? 0) - start);
        if (encoding === 'utf8') hash.hash(new DataView(text.buffer, text.byteOffset, text.byteLength));
        else hash.hashText(Buffer.from(text).toString(), encoding);
        write(hash, words, i);
      }
    };
  return {
    murmurTexts: eachText('utf8'),
    murmurUtf16: eachText('utf16le'),
    murmurI64: eachNumber(
      (at, n) => memory.i64(at, n),
      (hash, value) => hash.hashLong(value),
    ),
    murmurF64: eachNumber(
      (at, n) => memory.f64(at, n),
      (hash, value) => hash.hashDouble(value),
    ),
  };
}

// Reference kernels: decoding.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { viewOf } from './views.js';

export function decodeKernels(memory: KernelMemory) {
  const unpack = (type: 'U8' | 'U16' | 'U32') => (packed: Address, rows: number, width: number, out: Address) => {
    const bytes = memory.u8(packed, Math.ceil((rows * width) / 8) + 8);
    const values = viewOf(memory, type)(out, rows);
    const mask = width === 32 ? -1 : (1 << width) - 1;
    let at = 0;
    let shift = 0;
    for (let row = 0; row < rows; row++) {
      const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
      const fifth = shift === 0 ? 0 : (bytes[at + 4] ?? 0) << (32 - shift);
      values[row] = (((word >>> shift) | fifth) & mask) >>> 0;
      shift += width;
      at += shift >>> 3;
      shift &= 7;
    }
  };

  return {
    unpackU8: unpack('U8'),
    unpackU16: unpack('U16'),
    unpackU32: unpack('U32'),
    prefixSumU32(values: Address, rows: number, first: number) {
      const column = memory.u32(values, rows);
      let sum = first >>> 0;
      for (let row = 0; row < rows; row++) {
        sum = (sum + (column[row] ?? 0)) >>> 0;
        column[row] = sum;
      }
    },
    prefixSumI64(values: Address, rows: number, first: bigint) {
      const column = memory.i64(values, rows);
      let sum = first;
      for (let row = 0; row < rows; row++) {
        sum = BigInt.asIntN(64, sum + (column[row] ?? 0n));
        column[row] = sum;
      }
    },
  };
}

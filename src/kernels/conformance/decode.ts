// Conformance checks of decoding.

import type { Address } from '../../base/layout.js';
import type { Id } from '../contract.js';
import { IDS, perType } from '../signatures.js';
import { BYTES, type Lab, type Value } from './lab.js';

export const DECODE_CHECKS = {
  ...perType('unpack', IDS, (type: Id) => (lab: Lab) => {
    const widths = Array.from({ length: BYTES[type] * 8 }, (_, index) => index + 1);
    lab.each(widths, (rows, width) => {
      const values = Array.from({ length: rows }, () => (lab.random(4) === 0 ? 2 ** width - 1 : lab.random(2 ** width)));
      const packed = lab.uploadBytes(packBits(values, width));
      const out = lab.output(type, rows);
      lab.call(() => lab.kernels[`unpack${type}`](packed, rows, width, out));
      lab.expect(type, out, values);
    });
  }),
  prefixSumU32: (lab: Lab) =>
    prefixSums(lab, 'U32', Number, [0, 1, 4294967295], lab.kernels.prefixSumU32, (sum, value) => (sum + value) % 4294967296),
  prefixSumI64: (lab: Lab) =>
    prefixSums(lab, 'I64', BigInt, [0n, -7n, 2n ** 62n], lab.kernels.prefixSumI64, (sum, value) => BigInt.asIntN(64, sum + value)),
};

function prefixSums<Sum extends Value>(
  lab: Lab,
  type: 'U32' | 'I64',
  typed: (value: Value) => Sum,
  firsts: readonly Sum[],
  kernel: (values: Address, n: number, first: Sum) => void,
  add: (sum: Sum, value: Sum) => Sum,
): void {
  for (const first of firsts) {
    lab.each([`from ${first}`], (rows) => {
      const values = lab.values(type, rows).map(typed);
      const out = lab.output(type, rows, values);
      lab.call(() => kernel(out, rows, first));
      let sum = first;
      const sums = values.map((value) => (sum = add(sum, value)));
      lab.expect(type, out, sums);
    });
  }
}

/** Lowest bit first, as the contract has it, with 16 bytes that are none of the values. */
export function packBits(values: readonly number[], width: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((values.length * width) / 8) + 16);
  for (const [index, value] of values.entries())
    for (let bit = 0; bit < width; bit++) {
      const place = index * width + bit;
      if ((value >>> bit) & 1) bytes[place >>> 3] = (bytes[place >>> 3] ?? 0) | (1 << (place & 7));
    }
  return bytes.fill(0xa5, bytes.length - 16);
}

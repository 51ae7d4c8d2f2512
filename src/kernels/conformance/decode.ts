import type { Id } from '../contract.js';
import { IDS, perType } from '../signatures.js';
import { BYTES, type Lab } from './lab.js';

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
  prefixSumU32(lab: Lab) {
    lab.each([0, 1, 4294967295], (rows, first) => {
      const values = lab.values('U32', rows).map(Number);
      const out = lab.output('U32', rows, values);
      lab.call(() => lab.kernels.prefixSumU32(out, rows, first));
      let sum = first;
      lab.expect(
        'U32',
        out,
        values.map((value) => (sum = (sum + value) % 4294967296)),
      );
    });
  },
  prefixSumI64(lab: Lab) {
    for (const first of [0n, -7n, 2n ** 62n]) {
      lab.each(['deltas'], (rows) => {
        const values = lab.values('I64', rows).map(BigInt);
        const out = lab.output('I64', rows, values);
        lab.call(() => lab.kernels.prefixSumI64(out, rows, first));
        let sum = first;
        lab.expect(
          'I64',
          out,
          values.map((value) => (sum = BigInt.asIntN(64, sum + value))),
        );
      });
    }
  },
};

/** Lowest bit first, as the contract has it, with 16 bytes that are none of the values. */
export function packBits(values: readonly number[], width: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((values.length * width) / 8) + 16);
  for (const [index, value] of values.entries()) {
    for (let bit = 0; bit < width; bit++) {
      const place = index * width + bit;
      if (Math.floor(value / 2 ** bit) % 2 === 1) bytes[place >>> 3] = (bytes[place >>> 3] ?? 0) | (1 << (place & 7));
    }
  }
  return bytes.map((byte, at) => (at >= bytes.length - 16 ? 0xa5 : byte));
}

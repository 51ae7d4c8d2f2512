// Bytes of HLL sketches.

import { ServiceError } from '../base/errors.js';
import { ADDRESS_BITS, ADDRESS_MASK, Hll, type HllTarget, LG_K_MAX, LG_K_MIN, LIST_MAX } from './hll.js';

/**
 * HLL sketches as Apache DataSketches lays them out. Bytes, lowest first in every number:
 *
 *    0  preamble in 4-byte words: 2 (list), 3 (set), 10 (registers)    1  version 1    2  family 7    3  lgK
 *    4  log2 of the array of coupons   5  flags: 4 empty, 8 compact, 16 merged   6  coupons of a list, or least register
 *    7  bits 0-1: 0 list, 1 set, 2 registers; bits 2-3: 0 HLL_4, 1 HLL_6, 2 HLL_8
 *  list: coupons at 8. set: number of coupons at 8, coupons at 12.
 *  registers: 8 f64 (of unmerged sketches; here 0)  16 f64 sum of 2^-r over r < 32  24 f64 over the others
 *             32 u32 registers at the least   36 u32 exceptions   40 registers; then exceptions as coupons
 */
const PREAMBLE_BYTES = 40;

export function encodeHllBytes(sketch: Hll, target: HllTarget): Uint8Array {
  return sketch.registers === undefined ? encodeCoupons(sketch, target) : encodeRegisters(sketch.registers, sketch.lgK, target);
}

export function decodeHllBytes(bytes: Uint8Array): Hll {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8 || bytes[1] !== 1 || bytes[2] !== 7) throw malformed();
  const lgK = bytes[3] ?? 0;
  if (lgK < LG_K_MIN || lgK > LG_K_MAX) throw malformed();
  const sketch = new Hll(lgK);
  const mode = bytes[7] ?? 0;
  if ((mode & 3) !== 2) {
    const start = (mode & 3) === 0 ? 8 : 12;
    const isCompact = ((bytes[5] ?? 0) & 8) !== 0;
    const count = start === 8 ? (bytes[6] ?? 0) : view.getUint32(8, true);
    const slots = isCompact ? count : 1 << (bytes[4] ?? 0);
    if (((bytes[5] ?? 0) & 4) !== 0) return sketch;
    if (bytes.length < start + slots * 4) throw malformed();
    for (let slot = 0; slot < slots; slot++) {
      const coupon = view.getUint32(start + slot * 4, true);
      if (coupon !== 0) sketch.addCoupon(coupon);
    }
    return sketch;
  }
  const registers = new Uint8Array(1 << lgK);
  decodeRegisters(view, (mode >>> 2) & 3, registers);
  return Hll.ofRegisters(lgK, registers);
}

/** Coupons in ascending order, so that equal sketches have equal bytes. */
function encodeCoupons(sketch: Hll, target: HllTarget): Uint8Array {
  const coupons = sketch.coupons();
  const isList = coupons.length < LIST_MAX;
  const start = isList ? 8 : 12;
  const bytes = new Uint8Array(start + coupons.length * 4);
  const view = new DataView(bytes.buffer);
  const lgArray = isList ? 3 : Math.max(5, Math.ceil(Math.log2((coupons.length * 4) / 3)));
  bytes.set([
    start / 4,
    1,
    7,
    sketch.lgK,
    lgArray,
    coupons.length === 0 ? 12 : 8,
    isList ? coupons.length : 0,
    modeByte(isList ? 0 : 1, target),
  ]);
  if (!isList) view.setUint32(8, coupons.length, true);
  coupons.forEach((coupon, index) => {
    view.setUint32(start + index * 4, coupon, true);
  });
  return bytes;
}

function modeByte(mode: 0 | 1 | 2, target: HllTarget): number {
  return mode | (((target - 4) / 2) << 2);
}

function encodeRegisters(registers: Uint8Array, lgK: number, target: HllTarget): Uint8Array {
  const m = registers.length;
  const least = target === 4 ? registers.reduce((low, value) => Math.min(low, value), 63) : 0;
  const exceptions = target === 4 ? [...registers.entries()].filter(([, value]) => value - least >= 15) : [];
  const size = target === 4 ? m / 2 : target === 6 ? (m * 3) / 4 + 1 : m;
  const bytes = new Uint8Array(PREAMBLE_BYTES + size + exceptions.length * 4);
  const view = new DataView(bytes.buffer);
  bytes.set([
    10,
    1,
    7,
    lgK,
    exceptions.length === 0 ? 0 : Math.max(2, Math.ceil(Math.log2((exceptions.length * 4) / 3))),
    8 | 16,
    least,
    modeByte(2, target),
  ]);
  let [few, many] = [0, 0];
  for (const value of registers) {
    if (value < 32) few += 2 ** -value;
    else many += 2 ** -value;
  }
  view.setFloat64(16, few, true);
  view.setFloat64(24, many, true);
  view.setUint32(
    32,
    registers.reduce((count, value) => count + (value === least ? 1 : 0), 0),
    true,
  );
  view.setUint32(36, exceptions.length, true);
  registers.forEach((value, slot) => {
    if (target === 8) bytes[PREAMBLE_BYTES + slot] = value;
    else if (target === 4) {
      const at = PREAMBLE_BYTES + (slot >>> 1);
      bytes[at] = (bytes[at] ?? 0) | (Math.min(15, value - least) << ((slot & 1) * 4));
    } else {
      const bit = slot * 6;
      const at = PREAMBLE_BYTES + (bit >>> 3);
      const shifted = value << (bit & 7);
      bytes[at] = (bytes[at] ?? 0) | (shifted & 255);
      bytes[at + 1] = (bytes[at + 1] ?? 0) | (shifted >>> 8);
    }
  });
  exceptions.forEach(([slot, value], index) => {
    view.setUint32(PREAMBLE_BYTES + size + index * 4, ((value << ADDRESS_BITS) | slot) >>> 0, true);
  });
  return bytes;
}

function decodeRegisters(view: DataView, target: number, registers: Uint8Array): void {
  const m = registers.length;
  const size = target === 0 ? m / 2 : target === 1 ? (m * 3) / 4 + 1 : m;
  if (view.byteLength < PREAMBLE_BYTES + size) throw malformed();
  const least = view.getUint8(6);
  for (let slot = 0; slot < m; slot++) {
    if (target === 2) registers[slot] = view.getUint8(PREAMBLE_BYTES + slot) & 63;
    else if (target === 1) {
      const bit = slot * 6;
      registers[slot] = (view.getUint16(PREAMBLE_BYTES + (bit >>> 3), true) >>> (bit & 7)) & 63;
    } else registers[slot] = least + ((view.getUint8(PREAMBLE_BYTES + (slot >>> 1)) >>> ((slot & 1) * 4)) & 15);
  }
  if (target !== 0) return;
  const isCompact = (view.getUint8(5) & 8) !== 0;
  const count = view.getUint32(36, true);
  const slots = count === 0 ? 0 : isCompact ? count : 1 << view.getUint8(4);
  if (view.byteLength < PREAMBLE_BYTES + size + slots * 4) throw malformed();
  for (let index = 0; index < slots; index++) {
    const coupon = view.getUint32(PREAMBLE_BYTES + size + index * 4, true);
    if (coupon !== 0) registers[coupon & ADDRESS_MASK & (m - 1)] = coupon >>> ADDRESS_BITS;
  }
}

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a string that should hold an HLL sketch does not');
}

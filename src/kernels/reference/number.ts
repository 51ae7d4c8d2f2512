// Reference kernels: functions over numbers.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { writeBits } from './views.js';

type Elementwise = (a: Address, b: Address, scalar: number, n: number, out: Address) => void;

const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);

/** Operations of `mapF64`, by number. */
const MAPS: readonly ((x: number) => number)[] = [
  Math.floor,
  Math.ceil,
  Math.trunc,
  (x) => {
    const floor = Math.floor(x);
    const fraction = x - floor;
    const even = floor % 2 === 0 ? floor : floor + 1;
    const nearest = fraction < 0.5 ? floor : fraction > 0.5 ? floor + 1 : even;
    return Number.isFinite(x) ? (nearest === 0 && (x < 0 || Object.is(x, -0)) ? -0 : nearest) : x;
  },
  Math.sign,
  Math.sqrt,
  Math.abs,
  (x) => -x,
  Math.fround,
  Math.log,
];

export function numberKernels(memory: KernelMemory) {
  const ofLongs =
    (apply: (a: bigint, b: bigint) => bigint): Elementwise =>
    (a, b, scalar, n, out) => {
      const [left, right, result] = [memory.i64(a, n), memory.i64(b, scalar === 1 ? 1 : n), memory.i64(out, n)];
      const only = scalar === 1 ? (right[0] ?? 0n) : null;
      for (let i = 0; i < n; i++) result[i] = apply(left[i] ?? 0n, only ?? right[i] ?? 0n); // stores wrap at 64 bits
    };
  const placed =
    (multipleOf: (size: number, power: number, unit: number) => number) =>
    (values: Address, n: number, power: number, unit: number, out: Address): number => {
      const [from, to] = [memory.f64(values, n), memory.f64(out, n)];
      let left = 0;
      for (let i = 0; i < n; i++) {
        const value = from[i] ?? 0;
        const size = Math.abs(value);
        const isKnown = Math.floor((size * power) / unit) * unit < 1e14;
        if (!isKnown) left++;
        const result = (multipleOf(size, power, unit) * unit) / power;
        to[i] = isKnown ? (value < 0 ? -result : result) + 0 : value;
      }
      return left;
    };
  const choose =
    (viewOf: (at: Address, count: number) => Uint32Array | BigInt64Array) =>
    (mask: Address, a: Address, oneA: number, b: Address, oneB: number, n: number, out: Address): void => {
      const bits = memory.u8(mask, Math.ceil(n / 8));
      const [left, right] = [viewOf(a, oneA === 1 ? 1 : n).slice(), viewOf(b, oneB === 1 ? 1 : n).slice()];
      const result = viewOf(out, n);
      for (let i = 0; i < n; i++) {
        const isSet = ((bits[i >>> 3] ?? 0) & (1 << (i & 7))) !== 0;
        result[i] = (isSet ? left[oneA === 1 ? 0 : i] : right[oneB === 1 ? 0 : i]) ?? 0;
      }
    };
  return {
    divideI64: ofLongs((a, b) => (b === 0n ? 0n : a / b)),
    remainderI64: ofLongs((a, b) => (b === 0n ? 0n : a % b)),
    andI64: ofLongs((a, b) => a & b),
    orI64: ofLongs((a, b) => a | b),
    xorI64: ofLongs((a, b) => a ^ b),
    shiftLeftI64: ofLongs((a, b) => a << (b & 63n)),
    shiftRightI64: ofLongs((a, b) => a >> (b & 63n)),
    absI64(values: Address, n: number, out: Address) {
      const [from, to] = [memory.i64(values, n), memory.i64(out, n)];
      for (let i = 0; i < n; i++) to[i] = (from[i] ?? 0n) < 0n ? -(from[i] ?? 0n) : (from[i] ?? 0n);
    },
    mapF64(values: Address, n: number, operation: number, out: Address) {
      const [from, to, map] = [memory.f64(values, n), memory.f64(out, n), MAPS[operation] ?? Math.fround];
      for (let i = 0; i < n; i++) to[i] = map(from[i] ?? 0);
    },
    roundF64: placed((size, power, unit) => {
      const whole = Math.floor((size * power) / unit);
      return size >= ((whole + 0.5) * unit) / power ? whole + 1 : whole;
    }),
    cutF64: placed((size, power, unit) => {
      const whole = Math.floor((size * power) / unit);
      return [whole + 1, whole].find((multiple) => size >= (multiple * unit) / power) ?? whole - 1;
    }),
    truncateF64(values: Address, n: number, out: Address) {
      const [from, to] = [memory.f64(values, n), memory.i64(out, n)];
      for (let i = 0; i < n; i++) {
        const value = from[i] ?? 0;
        to[i] = Number.isNaN(value) ? 0n : value >= 2 ** 63 ? MAX_LONG : value <= -(2 ** 63) ? MIN_LONG : BigInt(Math.trunc(value));
      }
    },
    bitsToI64(bits: Address, n: number, out: Address) {
      const [from, to] = [memory.u8(bits, Math.ceil(n / 8)), memory.i64(out, n)];
      for (let i = 0; i < n; i++) to[i] = BigInt(((from[i >>> 3] ?? 0) >> (i & 7)) & 1);
    },
    sortableF64(values: Address, n: number, out: Address) {
      const from = memory.f64(values, n).slice();
      const bits = new BigInt64Array(from.buffer);
      const to = memory.i64(out, n);
      for (let i = 0; i < n; i++) {
        const bit = Number.isNaN(from[i]) ? 0x7ff8n << 48n : (bits[i] ?? 0n);
        to[i] = bit < 0n ? bit ^ MAX_LONG : bit;
      }
    },
    orderF64(a: Address, b: Address, scalar: number, n: number, operation: number, out: Address) {
      const [left, right] = [memory.f64(a, n), memory.f64(b, scalar === 1 ? 1 : n)];
      writeBits(memory, out, n, (i) => {
        const order = orderOf(left[i] ?? 0, right[scalar === 1 ? 0 : i] ?? 0);
        return operation === 0 ? order === 0 : operation === 1 ? order < 0 : order <= 0;
      });
    },
    choose32: choose((at, count) => memory.u32(at, count)),
    choose64: choose((at, count) => memory.i64(at, count)),
  };
}

/** NaN equals itself and is above all else. */
function orderOf(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

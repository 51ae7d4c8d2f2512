import { bitsOf32, isAligned, join64, lanesOf, lowBits, spreadOf } from './lanes';
import { logarithm } from './logarithm';

// Functions of numbers, element by element: what expressions need beside the arithmetic of compute.ts.

@inline
export const DIVIDE_LONG: i32 = 0;
@inline
export const REMAINDER_LONG: i32 = 1;
@inline
export const AND: i32 = 2;
@inline
export const OR: i32 = 3;
@inline
export const XOR: i32 = 4;
@inline
export const SHIFT_LEFT: i32 = 5;
@inline
export const SHIFT_RIGHT: i32 = 6;

/** Division that does not trap: by 0 it gives 0, by -1 it wraps. */
@inline
function ofLongs(operation: i32, a: i64, b: i64): i64 {
  if (operation == DIVIDE_LONG) return b == 0 ? 0 : b == -1 ? -a : a / b;
  if (operation == REMAINDER_LONG) return b == 0 || b == -1 ? 0 : <u64>(a | b) <= 0xffffffff ? <i64>(<u32>a % <u32>b) : a % b;
  if (operation == AND) return a & b;
  if (operation == OR) return a | b;
  if (operation == XOR) return a ^ b;
  if (operation == SHIFT_LEFT) return a << (b & 63);
  return a >> (b & 63);
}

@inline
function longsOf(operation: i32, a: usize, b: usize, isOne: bool, n: u32, out: usize): void {
  const end = <usize>n << 3;
  const only = isOne ? load<i64>(b) : 0;
  for (let at: usize = 0; at < end; at += 8) {
    store<i64>(out + at, ofLongs(operation, load<i64>(a + at), isOne ? only : load<i64>(b + at)));
  }
}

@inline
export function longs(operation: i32, a: usize, b: usize, scalar: u32, n: u32, out: usize): void {
  assert(isAligned<i64>(a) && isAligned<i64>(b) && isAligned<i64>(out));
  if (n == 0) return;
  if (scalar != 0) longsOf(operation, a, b, true, n, out);
  else longsOf(operation, a, b, false, n, out);
}

@inline
const FLOOR: u32 = 0;
@inline
const CEIL: u32 = 1;
@inline
const TRUNCATE: u32 = 2;
@inline
const NEAREST: u32 = 3;
@inline
const SIGN: u32 = 4;
@inline
const SQUARE_ROOT: u32 = 5;
@inline
const ABSOLUTE: u32 = 6;
@inline
const NEGATE: u32 = 7;
@inline
const TO_FLOAT: u32 = 8;
@inline
const LOGARITHM: u32 = 9;

@inline
function mapOne(operation: u32, x: f64): f64 {
  if (operation == FLOOR) return floor(x);
  if (operation == CEIL) return ceil(x);
  if (operation == TRUNCATE) return trunc(x);
  if (operation == NEAREST) return nearest(x);
  if (operation == SIGN) return x > 0 ? 1 : x < 0 ? -1 : x;
  if (operation == SQUARE_ROOT) return sqrt(x);
  if (operation == ABSOLUTE) return abs(x);
  if (operation == NEGATE) return -x;
  if (operation == LOGARITHM) return logarithm(x);
  return <f64>(<f32>x);
}

@inline
function mapTwo(operation: u32, x: v128): v128 {
  if (operation == FLOOR) return f64x2.floor(x);
  if (operation == CEIL) return f64x2.ceil(x);
  if (operation == TRUNCATE) return f64x2.trunc(x);
  if (operation == NEAREST) return f64x2.nearest(x);
  if (operation == SIGN) {
    const one = v128.or(v128.and(x, f64x2.splat(-0.0)), f64x2.splat(1));
    // Neither zeros nor NaN are above 0 in magnitude.
    return v128.bitselect(one, x, f64x2.gt(f64x2.abs(x), f64x2.splat(0)));
  }
  if (operation == SQUARE_ROOT) return f64x2.sqrt(x);
  if (operation == ABSOLUTE) return f64x2.abs(x);
  if (operation == NEGATE) return f64x2.neg(x);
  return f64x2.promote_low_f32x4(f32x4.demote_f64x2_zero(x));
}

@inline
function mapAll(operation: u32, values: usize, n: u32, out: usize): void {
  const end = <usize>n << 3;
  let at: usize = 0;
  // Two logarithms at once take longer: both ways of a logarithm are computed for each.
  if (ASC_FEATURE_SIMD && operation != LOGARITHM) {
    for (; at + 16 <= end; at += 16) v128.store(out + at, mapTwo(operation, v128.load(values + at)));
  }
  for (; at < end; at += 8) store<f64>(out + at, mapOne(operation, load<f64>(values + at)));
}

export function mapF64(values: usize, n: u32, operation: u32, out: usize): void {
  assert(isAligned<f64>(values) && isAligned<f64>(out) && operation <= 9);
  switch (operation) {
    case FLOOR: return mapAll(FLOOR, values, n, out);
    case CEIL: return mapAll(CEIL, values, n, out);
    case TRUNCATE: return mapAll(TRUNCATE, values, n, out);
    case NEAREST: return mapAll(NEAREST, values, n, out);
    case SIGN: return mapAll(SIGN, values, n, out);
    case SQUARE_ROOT: return mapAll(SQUARE_ROOT, values, n, out);
    case ABSOLUTE: return mapAll(ABSOLUTE, values, n, out);
    case NEGATE: return mapAll(NEGATE, values, n, out);
    case TO_FLOAT: return mapAll(TO_FLOAT, values, n, out);
    default: return mapAll(LOGARITHM, values, n, out);
  }
}

/** Magnitudes below it, once the point is shifted, have no more than 15 digits before and behind what is cut. */
const ROUNDED_BELOW: f64 = 1e14;

/**
 * Values at multiples of `unit` / `power`, one of which is 1. A product may be rounded, so that a multiple one too large or too small is
 * found: which it is, doubles of multiples tell, which are the numbers that print as they do. `share`: of a unit, from which on
 * the next multiple is taken.
 */
@inline
function placedAll(values: usize, n: u32, power: f64, unit: f64, share: f64, out: usize): u32 {
  const end = <usize>n << 3;
  let at: usize = 0;
  let left: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const powers = f64x2.splat(power);
    const units = f64x2.splat(unit);
    const shares = f64x2.splat(share);
    const one = f64x2.splat(1);
    for (; at + 16 <= end; at += 16) {
      const x = v128.load(values + at);
      const size = f64x2.abs(x);
      let whole = f64x2.floor(f64x2.div(f64x2.mul(size, powers), units));
      const isKnown = f64x2.lt(f64x2.mul(whole, units), f64x2.splat(ROUNDED_BELOW));
      if (share == 1) whole = f64x2.sub(whole, v128.and(f64x2.lt(size, f64x2.div(f64x2.mul(whole, units), powers)), one));
      const isUp = f64x2.ge(size, f64x2.div(f64x2.mul(f64x2.add(whole, shares), units), powers));
      const placed = f64x2.div(f64x2.mul(f64x2.add(whole, v128.and(isUp, one)), units), powers);
      const signed = f64x2.add(v128.xor(placed, v128.and(x, f64x2.splat(-0.0))), f64x2.splat(0));
      v128.store(out + at, v128.bitselect(signed, x, isKnown));
      left += 2 - <u32>popcnt(i64x2.bitmask(isKnown));
    }
  }
  for (; at < end; at += 8) {
    const x = load<f64>(values + at);
    const size = abs(x);
    let whole = floor((size * power) / unit);
    if (!(whole * unit < ROUNDED_BELOW)) {
      store<f64>(out + at, x);
      left++;
      continue;
    }
    if (share == 1 && size < (whole * unit) / power) whole -= 1;
    const placed = ((size >= ((whole + share) * unit) / power ? whole + 1 : whole) * unit) / power;
    store<f64>(out + at, (x < 0 ? -placed : placed) + 0);
  }
  return left;
}

export function roundF64(values: usize, n: u32, power: f64, unit: f64, out: usize): u32 {
  assert(isAligned<f64>(values) && isAligned<f64>(out) && power >= 1 && unit >= 1);
  return placedAll(values, n, power, unit, 0.5, out);
}

export function cutF64(values: usize, n: u32, power: f64, unit: f64, out: usize): u32 {
  assert(isAligned<f64>(values) && isAligned<f64>(out) && power >= 1 && unit >= 1);
  return placedAll(values, n, power, unit, 1, out);
}

export function absI64(values: usize, n: u32, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out));
  const end = <usize>n << 3;
  let at: usize = 0;
  if (ASC_FEATURE_SIMD) for (; at + 16 <= end; at += 16) v128.store(out + at, i64x2.abs(v128.load(values + at)));
  for (; at < end; at += 8) {
    const value = load<i64>(values + at);
    store<i64>(out + at, value < 0 ? -value : value);
  }
}

export function truncateF64(values: usize, n: u32, out: usize): void {
  assert(isAligned<f64>(values) && isAligned<i64>(out));
  const end = <usize>n << 3;
  for (let at: usize = 0; at < end; at += 8) store<i64>(out + at, <i64>load<f64>(values + at));
}

export function sortableF64(values: usize, n: u32, out: usize): void {
  assert(isAligned<f64>(values) && isAligned<i64>(out));
  const end = <usize>n << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<f64>(values + at);
    const bits = select<i64>(0x7ff8000000000000, load<i64>(values + at), value != value);
    store<i64>(out + at, bits ^ ((bits >> 63) & i64.MAX_VALUE));
  }
}

export function bitsToI64(bits: usize, n: u32, out: usize): void {
  assert(isAligned<u64>(bits) && isAligned<i64>(out));
  for (let row: u32 = 0; row < n; row += 64) {
    let word = load<u64>(bits + (<usize>row >> 3));
    const in64 = min<u32>(n - row, 64);
    const to = out + (<usize>row << 3);
    for (let i: usize = 0; i < <usize>in64; i++) {
      store<i64>(to + (i << 3), <i64>(word & 1));
      word >>= 1;
    }
  }
}

@inline
const EQUAL: u32 = 0;
@inline
const LESS: u32 = 1;

/** NaN equals itself and is above all else. */
@inline
function ordersOne(operation: u32, a: f64, b: f64): u64 {
  if (operation == EQUAL) return u64(a == b) | (u64(a != a) & u64(b != b));
  if (operation == LESS) return u64(a < b) | (u64(b != b) & u64(a == a));
  return u64(a <= b) | u64(b != b);
}

@inline
function orderLanes(operation: u32, a: usize, b: usize, isOne: bool, only: v128): v128 {
  const left = v128.load(a);
  const right = isOne ? only : v128.load(b);
  const noRight = f64x2.ne(right, right);
  if (operation == EQUAL) return v128.or(f64x2.eq(left, right), v128.and(f64x2.ne(left, left), noRight));
  if (operation == LESS) return v128.or(f64x2.lt(left, right), v128.and(f64x2.eq(left, left), noRight));
  return v128.or(f64x2.le(left, right), noRight);
}

@inline
function order4(operation: u32, a: usize, b: usize, isOne: bool, only: v128): v128 {
  return join64(orderLanes(operation, a, b, isOne, only), orderLanes(operation, a + 16, b + 16, isOne, only));
}

@inline
function orderAll(operation: u32, a: usize, b: usize, isOne: bool, n: u32, out: usize): void {
  const only = load<f64>(b);
  let row: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const onlyLanes = f64x2.splat(only);
    for (; row + 64 <= n; row += 64) {
      let bits: u64 = 0;
      for (let i: u32 = 0; i < 64; i += 16) {
        const left = a + (<usize>(row + i) << 3);
        const right = b + (<usize>(row + i) << 3);
        bits |=
          bitsOf32(
            order4(operation, left, right, isOne, onlyLanes),
            order4(operation, left + 32, right + 32, isOne, onlyLanes),
            order4(operation, left + 64, right + 64, isOne, onlyLanes),
            order4(operation, left + 96, right + 96, isOne, onlyLanes),
          ) << i;
      }
      store<u64>(out + (<usize>row >> 3), bits);
    }
  }
  for (; row < n; row += 64) {
    const in64 = min<u32>(n - row, 64);
    let bits: u64 = 0;
    for (let i: u32 = 0; i < in64; i++) {
      const at = <usize>(row + i) << 3;
      bits |= ordersOne(operation, load<f64>(a + at), isOne ? only : load<f64>(b + at)) << i;
    }
    store<u64>(out + (<usize>row >> 3), bits & lowBits(in64));
  }
}

export function orderF64(a: usize, b: usize, scalar: u32, n: u32, operation: u32, out: usize): void {
  assert(isAligned<f64>(a) && isAligned<f64>(b) && isAligned<u64>(out) && operation <= 2);
  if (n == 0) return;
  if (scalar != 0) {
    if (operation == EQUAL) orderAll(EQUAL, a, b, true, n, out);
    else if (operation == LESS) orderAll(LESS, a, b, true, n, out);
    else orderAll(2, a, b, true, n, out);
  } else {
    if (operation == EQUAL) orderAll(EQUAL, a, b, false, n, out);
    else if (operation == LESS) orderAll(LESS, a, b, false, n, out);
    else orderAll(2, a, b, false, n, out);
  }
}

@inline
function chosenLanes<T>(spread: v128, nth: i32, a: usize, oneA: bool, onlyA: v128, b: usize, oneB: bool, onlyB: v128): v128 {
  return v128.bitselect(oneA ? onlyA : v128.load(a), oneB ? onlyB : v128.load(b), lanesOf<T>(spread, nth));
}

@inline
function chooseAll<T>(mask: usize, a: usize, oneA: bool, b: usize, oneB: bool, n: u32, out: usize): void {
  const onlyA = load<T>(a);
  const onlyB = load<T>(b);
  const size = sizeof<T>();
  let row: usize = 0;
  const end = <usize>n;
  if (ASC_FEATURE_SIMD) {
    const lanesA = v128.splat<T>(onlyA);
    const lanesB = v128.splat<T>(onlyB);
    for (; row + 8 <= end; row += 8) {
      const spread = spreadOf<T>(<u64>load<u8>(mask + (row >> 3)));
      const at = row * size;
      const first = chosenLanes<T>(spread, 0, a + at, oneA, lanesA, b + at, oneB, lanesB);
      const second = chosenLanes<T>(spread, 1, a + at + 16, oneA, lanesA, b + at + 16, oneB, lanesB);
      v128.store(out + at, first);
      v128.store(out + at, second, 16);
      if (sizeof<T>() == 8) {
        const third = chosenLanes<T>(spread, 2, a + at + 32, oneA, lanesA, b + at + 32, oneB, lanesB);
        const fourth = chosenLanes<T>(spread, 3, a + at + 48, oneA, lanesA, b + at + 48, oneB, lanesB);
        v128.store(out + at, third, 32);
        v128.store(out + at, fourth, 48);
      }
    }
  }
  for (; row < end; row++) {
    const isA = (load<u8>(mask + (row >> 3)) >> <u8>(row & 7)) & 1;
    const at = row * size;
    store<T>(out + at, isA ? (oneA ? onlyA : load<T>(a + at)) : oneB ? onlyB : load<T>(b + at));
  }
}

export function choose<T>(mask: usize, a: usize, oneA: u32, b: usize, oneB: u32, n: u32, out: usize): void {
  assert(isAligned<u64>(mask) && isAligned<T>(a) && isAligned<T>(b) && isAligned<T>(out));
  if (n == 0) return;
  if (oneA != 0) {
    if (oneB != 0) chooseAll<T>(mask, a, true, b, true, n, out);
    else chooseAll<T>(mask, a, true, b, false, n, out);
  } else if (oneB != 0) chooseAll<T>(mask, a, false, b, true, n, out);
  else chooseAll<T>(mask, a, false, b, false, n, out);
}

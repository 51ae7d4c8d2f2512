import { bitsOf32, isAligned, join64, lowBits } from './lanes';

// Expression batches: widening, arithmetic, comparison.

@inline
const EXACT: i64 = 1 << 51;

@inline
function rowAt(rows: usize, i: usize): usize {
  return rows == 0 ? i : <usize>load<u32>(rows + (i << 2));
}

/** Two ids as i64. */
@inline
function twoLongs<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return v128.load_ext<u32>(at);
  if (sizeof<T>() == 2) return i64x2.extend_low_i32x4_u(i32x4.extend_low_i16x8_u(v128.load32_zero(at)));
  return i64x2.extend_low_i32x4_u(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load16_lane(at, i64x2.splat(0), 0))));
}

export function toI64<T>(values: usize, rows: usize, n: u32, base: i64, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<i64>(out));
  const end = <usize>n;
  let i: usize = 0;
  if (ASC_FEATURE_SIMD && sizeof<T>() <= 4 && rows == 0) {
    const bases = i64x2.splat(base);
    for (; i + 4 <= end; i += 4) {
      const from = values + i * sizeof<T>();
      v128.store(out + (i << 3), i64x2.add(twoLongs<T>(from), bases));
      v128.store(out + (i << 3), i64x2.add(twoLongs<T>(from + 2 * sizeof<T>()), bases), 16);
    }
  }
  if (rows == 0) for (; i < end; i++) store<i64>(out + (i << 3), <i64>load<T>(values + i * sizeof<T>()) + base);
  else for (; i < end; i++) store<i64>(out + (i << 3), <i64>load<T>(values + rowAt(rows, i) * sizeof<T>()) + base);
}

@inline
function asF64<T>(at: usize, base: i64): f64 {
  if (isFloat<T>()) return <f64>load<T>(at);
  return <f64>(<i64>load<T>(at) + base);
}

/** Two ids as f64. */
@inline
function two<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return f64x2.convert_low_i32x4_u(v128.load64_zero(at));
  if (sizeof<T>() == 2) return f64x2.convert_low_i32x4_s(i32x4.extend_low_i16x8_u(v128.load32_zero(at)));
  return f64x2.convert_low_i32x4_s(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load16_lane(at, i64x2.splat(0), 0))));
}

export function toF64<T>(values: usize, rows: usize, n: u32, base: i64, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<f64>(out));
  const end = <usize>n;
  let i: usize = 0;
  if (ASC_FEATURE_SIMD && !isFloat<T>() && sizeof<T>() <= 4 && rows == 0 && n >= 2 && <u64>(base + EXACT) <= <u64>(2 * EXACT)) {
    // Base and id are exact as f64, and so is their sum.
    const bases = f64x2.splat(<f64>base);
    const pairs = end - 1;
    do {
      v128.store(out + (i << 3), f64x2.add(two<T>(values + i * sizeof<T>()), bases));
      i += 2;
    } while (i < pairs);
  }
  if (rows == 0) for (; i < end; i++) store<f64>(out + (i << 3), asF64<T>(values + i * sizeof<T>(), base));
  else for (; i < end; i++) store<f64>(out + (i << 3), asF64<T>(values + rowAt(rows, i) * sizeof<T>(), base));
}

export function decimalsAt<T>(values: usize, rows: usize, n: u32, base: i64, scale: f64, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<f64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const row = rowAt(rows, i);
    store<f64>(out + (row << 3), asF64<T>(values + row * sizeof<T>(), base) / scale);
  }
}

@inline
export const ADD: i32 = 0;
@inline
export const SUBTRACT: i32 = 1;
@inline
export const MULTIPLY: i32 = 2;
@inline
export const DIVIDE: i32 = 3;

@inline
function apply<T>(operation: i32, a: T, b: T): T {
  return operation == ADD ? a + b : operation == SUBTRACT ? a - b : operation == MULTIPLY ? a * b : a / b;
}

@inline
function applyLanes<T>(operation: i32, a: v128, b: v128): v128 {
  if (operation == ADD) return v128.add<T>(a, b);
  if (operation == SUBTRACT) return v128.sub<T>(a, b);
  if (operation == MULTIPLY || isInteger<T>()) return v128.mul<T>(a, b);
  return f64x2.div(a, b);
}

/** `step` is 8, or 0 when b is one element. A single b is read once: out may lie over it. */
@inline
function applyAll<T>(operation: i32, a: usize, b: usize, isOne: bool, n: u32, out: usize): void {
  const end = <usize>n << 3;
  const only = isOne ? load<T>(b) : <T>0;
  let at: usize = 0;
  if (ASC_FEATURE_SIMD) {
    const onlyLanes = v128.splat<T>(only);
    if (end >= 16) do {
      v128.store(out + at, applyLanes<T>(operation, v128.load(a + at), isOne ? onlyLanes : v128.load(b + at)));
      at += 16;
    } while (at + 16 <= end);
  }
  for (; at < end; at += 8) store<T>(out + at, apply<T>(operation, load<T>(a + at), isOne ? only : load<T>(b + at)));
}

@inline
export function arithmetic<T>(operation: i32, a: usize, b: usize, scalar: u32, n: u32, out: usize): void {
  assert(isAligned<T>(a) && isAligned<T>(b) && isAligned<T>(out));
  if (n == 0) return;
  if (scalar != 0) applyAll<T>(operation, a, b, true, n, out);
  else applyAll<T>(operation, a, b, false, n, out);
}

@inline
const EQ: u32 = 0;
@inline
const LT: u32 = 1;

@inline
function compareLanes<T>(operation: u32, a: usize, b: usize, isOne: bool, only: v128): v128 {
  const left = v128.load(a);
  const right = isOne ? only : v128.load(b);
  return operation == EQ ? v128.eq<T>(left, right) : operation == LT ? v128.lt<T>(left, right) : v128.le<T>(left, right);
}

@inline
function compare4<T>(operation: u32, a: usize, b: usize, isOne: bool, only: v128): v128 {
  return join64(compareLanes<T>(operation, a, b, isOne, only), compareLanes<T>(operation, a + 16, b + 16, isOne, only));
}

@inline
function compareOne<T>(operation: u32, left: T, right: T): u64 {
  return operation == EQ ? u64(left == right) : operation == LT ? u64(left < right) : u64(left <= right);
}

@inline
function compareAll<T>(operation: u32, a: usize, b: usize, isOne: bool, n: u32, out: usize): void {
  const only = load<T>(b);
  let row: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const onlyLanes = v128.splat<T>(only);
    while (row + 64 <= n) {
      let bits: u64 = 0;
      let i: u32 = 0;
      do {
        const left = a + (<usize>(row + i) << 3);
        const right = b + (<usize>(row + i) << 3);
        bits |=
          bitsOf32(
            compare4<T>(operation, left, right, isOne, onlyLanes),
            compare4<T>(operation, left + 32, right + 32, isOne, onlyLanes),
            compare4<T>(operation, left + 64, right + 64, isOne, onlyLanes),
            compare4<T>(operation, left + 96, right + 96, isOne, onlyLanes),
          ) << i;
        i += 16;
      } while (i < 64);
      store<u64>(out + (<usize>row >> 3), bits);
      row += 64;
    }
  }
  for (; row < n; row += 64) {
    const in64 = min<u32>(n - row, 64);
    let bits: u64 = 0;
    for (let i: u32 = 0; i < in64; i++) {
      const at = <usize>(row + i) << 3;
      bits |= compareOne<T>(operation, load<T>(a + at), isOne ? only : load<T>(b + at)) << i;
    }
    store<u64>(out + (<usize>row >> 3), bits & lowBits(in64));
  }
}

export function compare<T>(a: usize, b: usize, scalar: u32, n: u32, operation: u32, out: usize): void {
  assert(isAligned<T>(a) && isAligned<T>(b) && isAligned<u64>(out) && operation <= 2);
  if (n == 0) return;
  if (scalar != 0) {
    if (operation == 0) compareAll<T>(0, a, b, true, n, out);
    else if (operation == 1) compareAll<T>(1, a, b, true, n, out);
    else compareAll<T>(2, a, b, true, n, out);
  } else {
    if (operation == 0) compareAll<T>(0, a, b, false, n, out);
    else if (operation == 1) compareAll<T>(1, a, b, false, n, out);
    else compareAll<T>(2, a, b, false, n, out);
  }
}

import { bitsOf16, bitsOf32, bitsOf8, isAligned, join64, lowBits } from './lanes';

// Predicates write one bit per row, 64 rows a word. Rows past the end are read (values are padded) and masked off.
// Vector loops test at their end: V8 keeps a constant in a register only over a loop whose body always runs.

@inline
const EQ: i32 = 0;
@inline
const RANGE: i32 = 1;

/** Whether each lane passes: == a, or (unsigned) value - a <= b, or (floats) a <= value <= b. I64 ranges: fails. */
@inline
function test<T>(test: i32, at: usize, a: v128, b: v128): v128 {
  const v = v128.load(at);
  if (test == EQ) return v128.eq<T>(v, a);
  if (isFloat<T>()) return v128.and(v128.ge<T>(v, a), v128.le<T>(v, b));
  if (sizeof<T>() == 8) return v128.or(i64x2.gt_s(a, v), i64x2.gt_s(v, b));
  const above = v128.sub<T>(v, a);
  return v128.eq<T>(v128.min<T>(above, b), above);
}

@inline
function testJoined<T>(kind: i32, at: usize, a: v128, b: v128): v128 {
  return join64(test<T>(kind, at, a, b), test<T>(kind, at + 16, a, b));
}

@inline
function bits16<T>(kind: i32, at: usize, a: v128, b: v128): u64 {
  if (sizeof<T>() == 1) return bitsOf8(test<T>(kind, at, a, b));
  if (sizeof<T>() == 2) return bitsOf16(test<T>(kind, at, a, b), test<T>(kind, at + 16, a, b));
  if (sizeof<T>() == 4) {
    return bitsOf32(test<T>(kind, at, a, b), test<T>(kind, at + 16, a, b), test<T>(kind, at + 32, a, b), test<T>(kind, at + 48, a, b));
  }
  return bitsOf32(
    testJoined<T>(kind, at, a, b),
    testJoined<T>(kind, at + 32, a, b),
    testJoined<T>(kind, at + 64, a, b),
    testJoined<T>(kind, at + 96, a, b),
  );
}

@inline
function passes<T>(kind: i32, at: usize, a: T, b: T): u64 {
  const v = load<T>(at);
  if (kind == EQ) return u64(v == a);
  if (isFloat<T>() || isSigned<T>()) return u64(v >= a) & u64(v <= b);
  return u64(<T>(v - a) <= b);
}

@inline
function compareAll<T>(kind: i32, values: usize, rows: u32, a: T, b: T, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(out));
  const size = sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const lower = v128.splat<T>(a);
    const upper = v128.splat<T>(b);
    let at = values;
    let to = out;
    const last = values + <usize>rows * size;
    if (at >= last) return;
    do {
      let bits: u64 = 0;
      if (size < 8) {
        bits = bits16<T>(kind, at, lower, upper);
        bits |= bits16<T>(kind, at + 16 * size, lower, upper) << 16;
        bits |= bits16<T>(kind, at + 32 * size, lower, upper) << 32;
        bits |= bits16<T>(kind, at + 48 * size, lower, upper) << 48;
      } else {
        // 32 loads at once would not fit the registers.
        let shift: u64 = 0;
        do {
          bits |= bits16<T>(kind, at + <usize>shift * size, lower, upper) << shift;
          shift += 16;
        } while (shift < 64);
        if (isInteger<T>()) bits = ~bits;
      }
      store<u64>(to, bits);
      to += 8;
      at += 64 * size;
    } while (at < last);
    if ((rows & 63) != 0) store<u64>(to - 8, load<u64>(to - 8) & lowBits(rows & 63));
  } else {
    for (let row: u32 = 0; row < rows; row += 64) {
      let bits: u64 = 0;
      for (let i: usize = 0; i < 64; i += 4) {
        const at = values + (<usize>row + i) * size;
        bits |=
          (passes<T>(kind, at, a, b) |
            (passes<T>(kind, at + size, a, b) << 1) |
            (passes<T>(kind, at + 2 * size, a, b) << 2) |
            (passes<T>(kind, at + 3 * size, a, b) << 3)) <<
          i;
      }
      if (rows - row < 64) bits &= lowBits(rows - row);
      store<u64>(out + (<usize>row >> 3), bits);
    }
  }
}

@inline
function clear(rows: u32, out: usize): void {
  memory.fill(out, 0, ((<usize>rows + 63) >> 6) << 3);
}

/** Largest value of an unsigned type of up to 32 bits. */
@inline
function largest<T>(): u32 {
  return <u32>-1 >> (32 - 8 * <u32>sizeof<T>());
}

export function filterEq<T>(values: usize, rows: u32, id: u32, out: usize): void {
  if (id > largest<T>()) return clear(rows, out);
  compareAll<T>(EQ, values, rows, <T>id, <T>0, out);
}

export function filterRangeId<T>(values: usize, rows: u32, lower: u32, upper: u32, out: usize): void {
  upper = min<u32>(upper, largest<T>());
  if (lower > upper) return clear(rows, out);
  compareAll<T>(RANGE, values, rows, <T>lower, <T>(upper - lower), out);
}

export function filterRange<T>(values: usize, rows: u32, lower: T, upper: T, out: usize): void {
  compareAll<T>(RANGE, values, rows, lower, upper, out);
}

/** The f32 next to `value` away from (`towards` 1) or closer to (-1) +Infinity. */
function neighbour(value: f32, towards: i32): f32 {
  if (value == 0) return reinterpret<f32>(towards > 0 ? 1 : <i32>0x80000001);
  const bits = reinterpret<i32>(value);
  return reinterpret<f32>(value > 0 == towards > 0 ? bits + 1 : bits - 1);
}

/** Bounds are rounded to the outermost f32 values inside them, so comparing as f32 equals comparing as f64. */
export function filterRangeF32(values: usize, rows: u32, lower: f64, upper: f64, out: usize): void {
  if (!(lower <= upper)) return clear(rows, out);
  let first = <f32>lower;
  let last = <f32>upper;
  if (<f64>first < lower) first = neighbour(first, 1);
  if (<f64>last > upper) last = neighbour(last, -1);
  compareAll<f32>(RANGE, values, rows, first, last, out);
}

/** 16 values against a 256-bit set: byte v >> 3 of the set by two swizzles, bit v & 7 by a third. */
@inline
function member16(at: usize, low: v128, high: v128): u64 {
  const v = v128.load(at);
  const byte = i8x16.shr_u(v, 3);
  const word = v128.or(i8x16.swizzle(low, byte), i8x16.swizzle(high, i8x16.sub(byte, i8x16.splat(16))));
  const bit = i8x16.swizzle(i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), v128.and(v, i8x16.splat(7)));
  return bitsOf8(i8x16.eq(v128.and(word, bit), bit));
}

@inline
function member<T>(at: usize, set: usize): u64 {
  const v = <usize>load<T>(at);
  return (<u64>load<u32>(set + ((v >> 5) << 2)) >> (v & 31)) & 1;
}

export function filterSet<T>(values: usize, rows: u32, set: usize, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(out) && isAligned<u64>(set));
  const size = sizeof<T>();
  if (ASC_FEATURE_SIMD && size == 1) {
    const low = v128.load(set);
    const high = v128.load(set, 16);
    if (rows == 0) return;
    let row: u32 = 0;
    do {
      const at = values + row;
      let bits = member16(at, low, high) | (member16(at + 16, low, high) << 16);
      bits |= (member16(at + 32, low, high) << 32) | (member16(at + 48, low, high) << 48);
      if (rows - row < 64) bits &= lowBits(rows - row);
      store<u64>(out + (<usize>row >> 3), bits);
      row += 64;
    } while (row < rows);
    return;
  }
  for (let row: u32 = 0; row < rows; row += 64) {
    const count = min<u32>(rows - row, 64); // padding may hold values beyond the set
    const first = values + <usize>row * size;
    let bits: u64 = 0;
    let i: usize = 0;
    for (; i + 4 <= count; i += 4) {
      const at = first + i * size;
      bits |=
        (member<T>(at, set) | (member<T>(at + size, set) << 1) | (member<T>(at + 2 * size, set) << 2) | (member<T>(at + 3 * size, set) << 3)) << i;
    }
    for (; i < count; i++) bits |= member<T>(first + i * size, set) << i;
    store<u64>(out + (<usize>row >> 3), bits);
  }
}

/** Branch-free binary search; `count` is at least 1. */
@inline
function isIn<T>(value: T, sorted: usize, count: u32): u64 {
  let at = sorted;
  for (let left = count; left > 1; ) {
    const half = left >> 1;
    const middle = at + <usize>half * sizeof<T>();
    at = select<usize>(middle, at, load<T>(middle) <= value);
    left -= half;
  }
  return u64(load<T>(at) == value);
}

export function filterSorted<T>(values: usize, rows: u32, sorted: usize, count: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<T>(sorted) && isAligned<u64>(out));
  if (count == 0) return clear(rows, out);
  for (let row: u32 = 0; row < rows; row += 64) {
    const in64 = min<u32>(rows - row, 64);
    const first = values + <usize>row * sizeof<T>();
    let bits: u64 = 0;
    for (let i: u32 = 0; i < in64; i++) bits |= isIn<T>(load<T>(first + <usize>i * sizeof<T>()), sorted, count) << i;
    store<u64>(out + (<usize>row >> 3), bits);
  }
}

export function filterAny<T>(ids: usize, offsets: usize, rows: u32, set: usize, out: usize): void {
  assert(isAligned<T>(ids) && isAligned<u32>(offsets) && isAligned<u64>(out));
  let bits: u64 = 0;
  let at = ids + <usize>load<u32>(offsets) * sizeof<T>();
  for (let row: u32 = 0; row < rows; row++) {
    const end = ids + <usize>load<u32>(offsets + (<usize>row << 2), 4) * sizeof<T>();
    let any: u64 = 0;
    for (; at < end; at += sizeof<T>()) any |= member<T>(at, set);
    bits |= any << (row & 63);
    if ((row & 63) == 63) {
      store<u64>(out + ((<usize>row >> 6) << 3), bits);
      bits = 0;
    }
  }
  if ((rows & 63) != 0) store<u64>(out + ((<usize>rows >> 6) << 3), bits);
}

export function filterEmpty(offsets: usize, rows: u32, out: usize): void {
  assert(isAligned<u32>(offsets) && isAligned<u64>(out));
  for (let row: u32 = 0; row < rows; row += 64) {
    const in64 = min<u32>(rows - row, 64);
    let bits: u64 = 0;
    for (let i: u32 = 0; i < in64; i++) {
      const at = offsets + (<usize>(row + i) << 2);
      bits |= u64(load<u32>(at) == load<u32>(at, 4)) << i;
    }
    store<u64>(out + (<usize>row >> 3), bits);
  }
}

export function listElement<T>(ids: usize, offsets: usize, rows: u32, place: u32, shift: u32, out: usize): void {
  assert(isAligned<T>(ids) && isAligned<u32>(offsets) && isAligned<u32>(out));
  let start = load<u32>(offsets);
  for (const end = out + (<usize>rows << 2); out < end; out += 4) {
    offsets += 4;
    const next = load<u32>(offsets);
    store<u32>(out, place < next - start ? <u32>load<T>(ids + <usize>(start + place) * sizeof<T>()) + shift : 0);
    start = next;
  }
}

export function listPlace<T>(ids: usize, offsets: usize, rows: u32, id: u32, out: usize): void {
  assert(isAligned<T>(ids) && isAligned<u32>(offsets) && isAligned<u64>(out));
  let start = load<u32>(offsets);
  for (const end = out + (<usize>rows << 3); out < end; out += 8) {
    offsets += 4;
    const next = load<u32>(offsets);
    let at = start;
    while (at < next && <u32>load<T>(ids + <usize>at * sizeof<T>()) != id) at++;
    store<i64>(out, at < next ? <i64>(at - start) : -1);
    start = next;
  }
}

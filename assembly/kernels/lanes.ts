// Between bits and vector lanes. Everything here is inlined; the scalar build never gets as far as the v128 parts.

/** Vectors that share one spread of mask bits: 1, 2, 4 or 4 of them, 16 rows (8 of I64). */
@inline
export function sharing<T>(): usize {
  return sizeof<T>() == 1 ? 1 : sizeof<T>() == 2 ? 2 : 4;
}

/** The low mask bits in every lane, for `lanesOf`. */
@inline
export function spreadOf<T>(bits: u64): v128 {
  if (sizeof<T>() == 1) return i8x16.swizzle(i16x8.splat(<i16>bits), i8x16(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  if (sizeof<T>() == 2) return i16x8.splat(<i16>bits);
  if (sizeof<T>() == 4) return i32x4.splat(<i32>bits);
  return i64x2.splat(<i64>bits);
}

/** All ones in the lanes of vector `nth` (a literal) of those sharing `spread` whose bit is set, else zeros. */
@inline
export function lanesOf<T>(spread: v128, nth: i32): v128 {
  if (sizeof<T>() == 1) {
    const each = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    return i8x16.eq(v128.and(spread, each), each);
  } else if (sizeof<T>() == 2) {
    const each = nth == 0 ? i16x8(1, 2, 4, 8, 16, 32, 64, 128) : i16x8(256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    return i16x8.eq(v128.and(spread, each), each);
  } else if (sizeof<T>() == 4) {
    const each = nth == 0 ? i32x4(1, 2, 4, 8) : nth == 1 ? i32x4(16, 32, 64, 128) : nth == 2 ? i32x4(256, 512, 1024, 2048) : i32x4(4096, 8192, 16384, 32768);
    return i32x4.eq(v128.and(spread, each), each);
  } else {
    const each = nth == 0 ? i64x2(1, 2) : nth == 1 ? i64x2(4, 8) : nth == 2 ? i64x2(16, 32) : i64x2(64, 128);
    return i64x2.eq(v128.and(spread, each), each);
  }
}

/** The other way, for 16 rows whose lanes are all ones or all zeros. */
@inline
export function bitsOf8(lanes: v128): u64 {
  return <u64>i8x16.bitmask(lanes);
}
@inline
export function bitsOf16(a: v128, b: v128): u64 {
  return bitsOf8(i8x16.narrow_i16x8_s(a, b));
}
@inline
export function bitsOf32(a: v128, b: v128, c: v128, d: v128): u64 {
  return bitsOf16(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}
/** Four rows in two vectors of 64-bit lanes → four 32-bit lanes. */
@inline
export function join64(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 0, 2, 4, 6);
}

/** The bits of 64-bit word `word` of a mask that lie in [start, end), start < end. */
@inline
export function bitsWithin(bits: u64, word: u32, start: u32, end: u32): u64 {
  if (word == start >> 6) bits &= (<u64>-1) << (start & 63);
  if (word == (end - 1) >> 6) bits &= (<u64>-1) >> (63 - ((end - 1) & 63));
  return bits;
}

/** The low `count` bits of a word, count 1..64. */
@inline
export function lowBits(count: u32): u64 {
  return (<u64>-1) >> (64 - count);
}

@inline
export function isAligned<T>(address: usize): bool {
  return (address & (sizeof<T>() - 1)) == 0;
}

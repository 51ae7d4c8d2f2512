// Hexadecimal digits, eight at a time.

/** Eight hexadecimal digits as the bytes to store. */
@inline
export function hexadecimal(half: u32): u64 {
  let bytes = <u64>bswap<u32>(half);
  bytes = (bytes | (bytes << 16)) & 0x0000ffff0000ffff;
  bytes = (bytes | (bytes << 8)) & 0x00ff00ff00ff00ff;
  const digits = ((bytes >> 4) & 0x000f000f000f000f) | ((bytes & 0x000f000f000f000f) << 8);
  // Digits above 9 are letters.
  return digits + 0x3030303030303030 + (((digits + 0x0606060606060606) >> 4) & 0x0101010101010101) * 39;
}

/** The number that eight digits, as bytes that were loaded, stand for: letters are 9 above the lowest bits of their codes. */
@inline
function hexadecimalHalf(codes: u64): u32 {
  const digits = (codes & 0x0f0f0f0f0f0f0f0f) + ((codes >> 6) & 0x0101010101010101) * 9;
  let bytes = ((digits << 4) | (digits >> 8)) & 0x00ff00ff00ff00ff;
  bytes = (bytes | (bytes >> 8)) & 0x0000ffff0000ffff;
  return bswap<u32>(<u32>(bytes | (bytes >> 16)));
}

/** The number that sixteen digits at an address stand for. */
@inline
export function hexadecimalWhole(at: usize): u64 {
  if (!ASC_FEATURE_SIMD) return (<u64>hexadecimalHalf(load<u64>(at)) << 32) | <u64>hexadecimalHalf(load<u64>(at, 8));
  const codes = v128.load(at);
  const letters = v128.and(i8x16.gt_s(codes, i8x16.splat(0x39)), i8x16.splat(9));
  const digits = i8x16.add(v128.and(codes, i8x16.splat(0x0f)), letters);
  const bytes = v128.and(v128.or(i16x8.shl(digits, 4), i16x8.shr_u(digits, 8)), i16x8.splat(0xff));
  return bswap<u64>(<u64>i64x2.extract_lane(i8x16.narrow_i16x8_u(bytes, bytes), 0));
}

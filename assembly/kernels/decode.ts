import { isAligned } from './lanes';

// Bit-packed values, lowest bit first. Eight values of W bits take W bytes, so the pattern repeats every eight: where
// the bytes of each lane come from (a swizzle) and how far it is shifted (a multiplication, then one common shift
// back) is worked out once a call and kept in registers.

@inline
function bytes4(a: u32, b: u32, c: u32, d: u32): v128 {
  return i32x4.replace_lane(i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(a), 1, b), 2, c), 3, d);
}

/** The index vector that brings the four bytes from byte `bit >> 3` on into a 32-bit lane. */
@inline
function from(bit: u32): u32 {
  return (bit >> 3) * 0x01010101 + 0x03020100;
}
/** For 16-bit lanes, two of them. */
@inline
function fromPair(first: u32, second: u32): u32 {
  return ((first >> 3) * 0x0101 + 0x0100) | (((second >> 3) * 0x0101 + 0x0100) << 16);
}
/** Multiplier that brings a value starting at bit `bit & 7` of its lane to bit 7. */
@inline
function up(bit: u32): u32 {
  return 1 << (7 - (bit & 7));
}

/** Eight 16-bit lanes of width 1 to 9. */
@inline
function eight16(at: usize, indices: v128, factors: v128, mask: v128): v128 {
  return v128.and(i16x8.shr_u(i16x8.mul(i8x16.swizzle(v128.load(at), indices), factors), 7), mask);
}

/** Four 32-bit lanes of width 1 to 25. */
@inline
function four32(bytes: v128, indices: v128, factors: v128, mask: v128): v128 {
  return v128.and(i32x4.shr_u(i32x4.mul(i8x16.swizzle(bytes, indices), factors), 7), mask);
}

/** Four 32-bit lanes of any width: the first byte goes down, the four after it go up. */
@inline
function fourWide(bytes: v128, first: v128, rest: v128, factors: v128, mask: v128): v128 {
  const low = i32x4.shr_u(i32x4.mul(i8x16.swizzle(bytes, first), factors), 8);
  const high = i32x4.mul(i8x16.swizzle(bytes, rest), factors);
  return v128.and(v128.or(low, high), mask);
}

/** Whole groups of eight by vectors; returns the rows done. */
@inline
function unpackLanes<T>(packed: usize, rows: u32, width: u32, out: usize): u32 {
  const end = rows & ~7;
  if (end == 0) return 0;
  let at = packed;
  let to = out;
  const last = out + <usize>end * sizeof<T>();
  if (width <= 9 && sizeof<T>() <= 2) {
    const indices = bytes4(fromPair(0, width), fromPair(2 * width, 3 * width), fromPair(4 * width, 5 * width), fromPair(6 * width, 7 * width));
    const factors = bytes4(
      up(0) | (up(width) << 16),
      up(2 * width) | (up(3 * width) << 16),
      up(4 * width) | (up(5 * width) << 16),
      up(6 * width) | (up(7 * width) << 16),
    );
    const mask = i16x8.splat(<i16>(((<u32>1) << width) - 1));
    do {
      const values = eight16(at, indices, factors, mask);
      if (sizeof<T>() == 1) v128.store64_lane(to, i8x16.narrow_i16x8_u(values, values), 0);
      else v128.store(to, values);
      to += 8 * sizeof<T>();
      at += width;
    } while (to < last);
    return end;
  }
  const firstMask = i32x4.splat(width == 32 ? -1 : (1 << width) - 1);
  const second = 4 * width;
  const byte = second >> 3;
  const over = second & 7; // where in its first byte the second half starts: 0 or 4
  if (width <= 25) {
    const indicesA = bytes4(from(0), from(width), from(2 * width), from(3 * width));
    const factorsA = bytes4(up(0), up(width), up(2 * width), up(3 * width));
    const indicesB = bytes4(from(over), from(over + width), from(over + 2 * width), from(over + 3 * width));
    const factorsB = bytes4(up(over), up(over + width), up(over + 2 * width), up(over + 3 * width));
    do {
      const a = four32(v128.load(at), indicesA, factorsA, firstMask);
      const b = four32(v128.load(at + byte), indicesB, factorsB, firstMask);
      storeEight<T>(to, a, b);
      to += 8 * sizeof<T>();
      at += width;
    } while (to < last);
    return end;
  }
  const restA = bytes4(from(8), from(8 + width), from(8 + 2 * width), from(8 + 3 * width));
  const restB = bytes4(from(8 + over), from(8 + over + width), from(8 + over + 2 * width), from(8 + over + 3 * width));
  const firstA = firstOnly(0, width);
  const firstB = firstOnly(over, width);
  const factorsA = bytes4(up(0) << 1, up(width) << 1, up(2 * width) << 1, up(3 * width) << 1);
  const factorsB = bytes4(up(over) << 1, up(over + width) << 1, up(over + 2 * width) << 1, up(over + 3 * width) << 1);
  do {
    const a = fourWide(v128.load(at), firstA, restA, factorsA, firstMask);
    const b = fourWide(v128.load(at + byte), firstB, restB, factorsB, firstMask);
    storeEight<T>(to, a, b);
    to += 8 * sizeof<T>();
    at += width;
  } while (to < last);
  return end;
}

/** Indices for the first byte of each of four values, zeros above it. */
@inline
function firstOnly(bit: u32, width: u32): v128 {
  return bytes4(
    (bit >> 3) | 0xffffff00,
    ((bit + width) >> 3) | 0xffffff00,
    ((bit + 2 * width) >> 3) | 0xffffff00,
    ((bit + 3 * width) >> 3) | 0xffffff00,
  );
}

@inline
function storeEight<T>(to: usize, a: v128, b: v128): void {
  if (sizeof<T>() == 4) {
    v128.store(to, a);
    v128.store(to, b, 16);
  } else {
    v128.store(to, i16x8.narrow_i32x4_u(a, b)); // widths up to 16 only: signed saturation cannot strike
  }
}

/** Any width, one value at a time. */
@inline
function unpackEach<T>(packed: usize, row: u32, rows: u32, width: u32, out: usize): void {
  const mask = (<u64>1 << width) - 1;
  let bit = <u64>row * width;
  for (; row < rows; row++, bit += width) {
    store<T>(out + <usize>row * sizeof<T>(), <T>((load<u64>(packed + <usize>(bit >> 3)) >> (bit & 7)) & mask));
  }
}

export function unpack<T>(packed: usize, rows: u32, width: u32, out: usize): void {
  assert(isAligned<T>(out) && width >= 1 && width <= 8 * sizeof<T>());
  if (width == 8 * sizeof<T>()) {
    memory.copy(out, packed, <usize>rows * sizeof<T>());
    return;
  }
  unpackEach<T>(packed, ASC_FEATURE_SIMD ? unpackLanes<T>(packed, rows, width, out) : 0, rows, width, out);
}

export function prefixSumU32(values: usize, rows: u32, first: u32): void {
  assert(isAligned<u32>(values));
  let sum = first;
  for (let at = values, end = values + (<usize>rows << 2); at < end; at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
}

export function prefixSumI64(values: usize, rows: u32, first: i64): void {
  assert(isAligned<i64>(values));
  let sum = first;
  for (let at = values, end = values + (<usize>rows << 3); at < end; at += 8) {
    sum += load<i64>(at);
    store<i64>(at, sum);
  }
}

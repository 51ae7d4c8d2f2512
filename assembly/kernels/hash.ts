import { isAligned } from './lanes';

// MurmurHash3 of 128 bits, the variant for 64-bit machines, as sketches use it.

@inline
const C1: u64 = 0x87c37b91114253d5;
@inline
const C2: u64 = 0x4cf5ad432745937f;

@inline
function mixFirst(word: u64): u64 {
  return rotl<u64>(word * C1, 31) * C2;
}

@inline
function mixSecond(word: u64): u64 {
  return rotl<u64>(word * C2, 33) * C1;
}

@inline
function finish(word: u64): u64 {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

@inline
function storeHash(a: u64, b: u64, length: u64, out: usize): void {
  a ^= length;
  b ^= length;
  a += b;
  b += a;
  a = finish(a);
  b = finish(b);
  a += b;
  store<u64>(out, a);
  store<u64>(out, b + a, 8);
}

/** The last one to seven bytes before `end`, lowest first. Bytes before them are read where `bytes` has some, none behind them. */
@inline
function lastBytes(bytes: usize, end: usize, length: usize): u64 {
  return end >= bytes + 8 ? load<u64>(end - 8) >> ((8 - <u64>length) << 3) : eachByte(end, length);
}

function eachByte(end: usize, length: usize): u64 {
  let word: u64 = 0;
  for (let at = end; at > end - length; at--) word = (word << 8) | <u64>load<u8>(at - 1);
  return word;
}

export function murmurTexts(bytes: usize, offsets: usize, ids: usize, n: u32, seed: u32, out: usize): void {
  hashTexts<u8>(bytes, offsets, ids, n, seed, out);
}

export function murmurUtf16(bytes: usize, offsets: usize, ids: usize, n: u32, seed: u32, out: usize): void {
  hashTexts<u16>(bytes, offsets, ids, n, seed, out);
}

/** Hashes of the bytes of texts, or of their code units. */
// @ts-ignore: decorator
@inline
function hashTexts<Unit>(bytes: usize, offsets: usize, ids: usize, n: u32, seed: u32, out: usize): void {
  assert(isAligned<u32>(offsets) && isAligned<u32>(ids) && isAligned<u64>(out));
  for (let i: u32 = 0; i < n; i++) {
    const entry = ids == 0 ? i : load<u32>(ids + (<usize>i << 2));
    const bounds = offsets + (<usize>entry << 2);
    const at = bytes + <usize>load<u32>(bounds);
    const end = bytes + <usize>load<u32>(bounds, 4);
    if (sizeof<Unit>() == 1) hashBytes(bytes, at, end, seed, out);
    else hashUnits(bytes, at, end, seed, out);
    out += 16;
  }
}

@inline
function hashBytes(bytes: usize, at: usize, end: usize, seed: u32, out: usize): void {
  const length = <u64>(end - at);
  let a: u64 = seed;
  let b: u64 = seed;
  for (; at + 16 <= end; at += 16) {
    a = (rotl<u64>(a ^ mixFirst(load<u64>(at)), 27) + b) * 5 + 0x52dce729;
    b = (rotl<u64>(b ^ mixSecond(load<u64>(at, 8)), 31) + a) * 5 + 0x38495ab5;
  }
  if (at + 8 < end) b ^= mixSecond(lastBytes(bytes, end, end - at - 8));
  if (at < end) a ^= mixFirst(at + 8 <= end ? load<u64>(at) : lastBytes(bytes, end, end - at));
  storeHash(a, b, length, out);
}

/** Bits that no byte of ASCII has. */
@inline
const BEYOND_ASCII: u64 = 0x8080808080808080;

/** Four bytes as four code units. */
@inline
function widened(bytes: u64): u64 {
  bytes = (bytes | (bytes << 16)) & 0x0000ffff0000ffff;
  return (bytes | (bytes << 8)) & 0x00ff00ff00ff00ff;
}

/** UTF-8 is decoded as it is read: eight code units fill the two words of a step, of ASCII all at once. */
@inline
function hashUnits(bytes: usize, at: usize, end: usize, seed: u32, out: usize): void {
  let a: u64 = seed;
  let b: u64 = seed;
  let low: u64 = 0;
  let high: u64 = 0;
  let units: u64 = 0;
  /** The second half of a surrogate pair whose first was taken. */
  let waiting: u32 = 0;
  while (at < end || waiting != 0) {
    if (waiting == 0 && (units & 7) == 0) {
      const length = min<usize>(end - at, 8);
      const word = length == 8 ? load<u64>(at) : lastBytes(bytes, end, length);
      if ((word & BEYOND_ASCII) == 0) {
        low = widened(word & 0xffffffff);
        high = widened(word >> 32);
        at += length;
        units += <u64>length;
        if (length < 8) break;
        a = (rotl<u64>(a ^ mixFirst(low), 27) + b) * 5 + 0x52dce729;
        b = (rotl<u64>(b ^ mixSecond(high), 31) + a) * 5 + 0x38495ab5;
        low = high = 0;
        continue;
      }
    }
    let unit: u32 = waiting;
    waiting = 0;
    if (unit == 0) {
      const lead = <u32>load<u8>(at++);
      if (lead < 0x80) unit = lead;
      else if (lead < 0xe0) unit = ((lead & 0x1f) << 6) | followingBits(at++);
      else if (lead < 0xf0) {
        unit = ((lead & 0x0f) << 12) | (followingBits(at) << 6) | followingBits(at + 1);
        at += 2;
      } else {
        const point = ((lead & 0x07) << 18) | (followingBits(at) << 12) | (followingBits(at + 1) << 6) | followingBits(at + 2);
        at += 3;
        unit = 0xd7c0 + (point >> 10);
        waiting = 0xdc00 | (point & 0x3ff);
      }
    }
    const place = <u32>units & 7;
    if (place < 4) low |= <u64>unit << (place << 4);
    else high |= <u64>unit << ((place - 4) << 4);
    units++;
    if (place < 7) continue;
    a = (rotl<u64>(a ^ mixFirst(low), 27) + b) * 5 + 0x52dce729;
    b = (rotl<u64>(b ^ mixSecond(high), 31) + a) * 5 + 0x38495ab5;
    low = high = 0;
  }
  // Words of zeros change nothing.
  storeHash(a ^ mixFirst(low), b ^ mixSecond(high), units << 1, out);
}

@inline
function followingBits(at: usize): u32 {
  return <u32>load<u8>(at) & 0x3f;
}

export function murmurI64(values: usize, n: u32, seed: u32, out: usize): void {
  assert(isAligned<u64>(values) && isAligned<u64>(out));
  for (let i: u32 = 0; i < n; i++, values += 8, out += 16) storeHash(<u64>seed ^ mixFirst(load<u64>(values)), seed, 8, out);
}

export function murmurF64(values: usize, n: u32, seed: u32, out: usize): void {
  assert(isAligned<u64>(values) && isAligned<u64>(out));
  for (let i: u32 = 0; i < n; i++, values += 8, out += 16) {
    const value = load<f64>(values);
    const bits: u64 = value == 0 ? 0 : value != value ? 0x7ff8000000000000 : load<u64>(values);
    storeHash(<u64>seed ^ mixFirst(bits), seed, 8, out);
  }
}

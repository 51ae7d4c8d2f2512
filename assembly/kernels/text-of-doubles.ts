import { isAligned } from './lanes';
import { textOf } from './text';

// The fewest digits that only one double, or float, is nearest to, after R. Giulietti, "The Schubfach way to render doubles": the
// number and both ends of what is rounded to it, times 4 and a power of ten, as integers whose lowest bit says whether something was
// cut off. At a power of ten below the width of that range there is a number in it; at the next one there may be.

/** Bits of the significand, without the hidden one, and the exponent of the smallest number. */
@inline
const DOUBLE_BITS: i32 = 52;
@inline
const DOUBLE_LEAST: i32 = -1074;
@inline
const FLOAT_BITS: i32 = 23;
@inline
const FLOAT_LEAST: i32 = -149;

/** Exponent of the first of the powers of ten that the host hands over. */
@inline
const FIRST_POWER: i32 = -292;

/** Largest integers not above log10(2^e), log10(3/4 * 2^e) and log2(10^e). */
@inline
function tensOf(e: i32): i32 {
  return (e * 1262611) >> 22;
}
@inline
function tensOfThreeQuarters(e: i32): i32 {
  return (e * 1262611 - 524031) >> 22;
}
@inline
function twosOf(e: i32): i32 {
  return (e * 1741647) >> 19;
}

let productLow: u64 = 0;

/** Upper half of a product, whose lower half is left in `productLow`. */
@inline
function upperProduct(a: u64, b: u64): u64 {
  const lowA = a & 0xffffffff;
  const highA = a >> 32;
  const lowB = b & 0xffffffff;
  const highB = b >> 32;
  const first = lowA * lowB;
  const second = highA * lowB + (first >> 32);
  const third = lowA * highB + (second & 0xffffffff);
  productLow = (third << 32) | (first & 0xffffffff);
  return highA * highB + (second >> 32) + (third >> 32);
}

/** Integer part of a product of 64 bits and a power of ten, over 2^128; its lowest bit is set where it is not exact. */
@inline
function scaled(powerHigh: u64, powerLow: u64, x: u64): u64 {
  const carried = upperProduct(powerLow, x);
  const upper = upperProduct(powerHigh, x);
  const middle = productLow + carried;
  return (upper + u64(middle < carried)) | u64(middle > 1);
}

/** Exponent of the power of ten that the digits found last are multiplied by. */
let decimalExponent: i32 = 0;

/** Digits of a number that is neither zero nor infinite; two at least. */
@inline
function shortest<T>(value: T, powers: usize): u64 {
  const bits: u64 = sizeof<T>() == 8 ? reinterpret<u64>(<f64>value) : <u64>reinterpret<u32>(<f32>value);
  const size = sizeof<T>() == 8 ? DOUBLE_BITS : FLOAT_BITS;
  const least = sizeof<T>() == 8 ? DOUBLE_LEAST : FLOAT_LEAST;
  const hidden: u64 = <u64>1 << size;
  const written = <i32>(bits >> size) & (sizeof<T>() == 8 ? 0x7ff : 0xff);
  let significand = bits & (hidden - 1);
  let exponent = least;
  if (written != 0) {
    significand |= hidden;
    exponent += written - 1;
  }
  let shift: i32 = 0;
  // So few units of the smallest number have no two digits of their own.
  if (significand < (sizeof<T>() == 8 ? <u64>3 : <u64>8)) {
    significand *= 10;
    shift = 1;
  }
  const isOdd = significand & 1;
  // The number below a power of two is nearer than that above.
  const isUneven = significand == hidden && written > 1;
  const tens = isUneven ? tensOfThreeQuarters(exponent) : tensOf(exponent);
  const up = exponent + twosOf(-tens) + 1;
  const power = powers + (<usize>(-tens - FIRST_POWER) << 4);
  const low = load<u64>(power);
  const high = load<u64>(power, 8);
  const fourfold = significand << 2;
  const middle = scaled(high, low, fourfold << up);
  const from = scaled(high, low, (fourfold - (isUneven ? 1 : 2)) << up) + isOdd;
  const to = scaled(high, low, (fourfold + 2) << up) - isOdd;
  decimalExponent = tens - shift;
  const below = middle >> 2;
  if (below >= 100) {
    const tenfold = below / 10 * 10;
    const isIn = from <= tenfold << 2;
    const isNextIn = (tenfold + 10) << 2 <= to;
    if (isIn != isNextIn) return isIn ? tenfold : tenfold + 10;
  }
  const isIn = from <= below << 2;
  const isNextIn = (below + 1) << 2 <= to;
  if (isIn != isNextIn) return isIn ? below : below + 1;
  const half = (below << 2) + 2;
  // Ties go to the even one, those of a FLOAT to the larger.
  if (middle == half) return sizeof<T>() == 8 ? below + (below & 1) : below + 1;
  return middle < half ? below : below + 1;
}

/** Eight digits as bytes 0 to 9, the first lowest. */
@inline
function eightDigits(x: u32): u64 {
  const quotient = x / 10000;
  let pairs: u64 = <u64>quotient | (<u64>(x - quotient * 10000) << 32);
  const hundreds = ((pairs * 10486) >> 20) & 0x0000007f0000007f;
  pairs = hundreds | ((pairs - hundreds * 100) << 16);
  const tens = ((pairs * 103) >> 10) & 0x000f000f000f000f;
  return tens | ((pairs - tens * 10) << 8);
}

@inline
const ZEROS: u64 = 0x3030303030303030;
@inline
const POINT: u64 = 0x2e;

/** Writes 0.d1 d2 ... times ten to the exponent; at least three bytes, 19 may be written. @returns their number */
@inline
function placed(found: u64, exponentOfLast: i32, to: usize): usize {
  let digits = found;
  let exponent = exponentOfLast + 17;
  if (digits < 1000000000) {
    digits *= 100000000;
    exponent -= 8;
  }
  while (digits < 10000000000000000) {
    digits *= 10;
    exponent--;
  }
  const nine = <u32>(digits / 100000000);
  const first = nine / 100000000;
  const second = eightDigits(nine - first * 100000000);
  const third = eightDigits(<u32>(digits - <u64>nine * 100000000));
  const count: usize =
    third != 0 ? 17 - (<usize>clz(third) >> 3) : second != 0 ? 9 - (<usize>clz(second) >> 3) : 1;
  if (exponent <= 0 && exponent >= -2) {
    store<u32>(to, 0x30302e30);
    const at = to + 2 + <usize>(-exponent);
    store<u8>(at, <u8>(first + 0x30));
    store<u64>(at + 1, second | ZEROS);
    store<u64>(at + 9, third | ZEROS);
    return 2 + <usize>(-exponent) + count;
  }
  const isPlain = exponent > 0 && exponent <= 7;
  const whole: u64 = isPlain ? <u64>exponent : 1;
  store<u64>(to + 2, second | ZEROS);
  store<u64>(to + 10, third | ZEROS);
  const eight = (<u64>first | (second << 8)) | ZEROS;
  const before = ((<u64>1) << (whole << 3)) - 1;
  store<u8>(to + 8, <u8>(eight >> 56));
  store<u64>(to, (eight & before) | (POINT << (whole << 3)) | ((eight & ~before) << 8));
  if (isPlain) return max<usize>(count, <usize>whole + 1) + 1;
  let at = to + max<usize>(count, 2) + 1;
  let rest = exponent - 1;
  store<u8>(at++, 0x45);
  if (rest < 0) {
    store<u8>(at++, 0x2d);
    rest = -rest;
  }
  if (rest >= 100) store<u8>(at++, <u8>(rest / 100 + 0x30));
  if (rest >= 10) store<u8>(at++, <u8>(rest / 10 % 10 + 0x30));
  store<u8>(at++, <u8>(rest % 10 + 0x30));
  return at - to;
}

/** `Infinity` and `NaN`, lowest byte first. */
@inline
const INFINITY_TEXT: u64 = 0x7974696e69666e49;
@inline
const NAN_TEXT: u32 = 0x004e614e;

@inline
function textsOf<T>(values: usize, nulls: usize, n: u32, powers: usize, out: usize, buffer: usize): void {
  for (let i: usize = 0; i < <usize>n; i++) {
    if (nulls != 0 && (load<u64>(nulls + ((i >> 6) << 3)) & (<u64>1 << (i & 63))) != 0) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const value = <T>load<f64>(values + (i << 3));
    let to = buffer;
    if (value != value) {
      store<u32>(to, NAN_TEXT);
      to += 3;
    } else {
      if (reinterpret<i64>(<f64>value) < 0) store<u8>(to++, 0x2d);
      if (value == 0) {
        store<u32>(to, 0x00302e30);
        to += 3;
      } else if (abs(value) == <T>Infinity) {
        store<u64>(to, INFINITY_TEXT);
        to += 8;
      } else {
        const digits = shortest<T>(abs(value), powers);
        to += placed(digits, decimalExponent, to);
      }
    }
    store<u64>(out + (i << 3), textOf(buffer, to - buffer, 0));
    buffer = to;
  }
}

export function textOfDoubles(values: usize, nulls: usize, n: u32, float: u32, powers: usize, out: usize, buffer: usize): void {
  assert(isAligned<f64>(values) && isAligned<u64>(nulls) && isAligned<u64>(powers) && isAligned<u64>(out));
  if (float != 0) textsOf<f32>(values, nulls, n, powers, out, buffer);
  else textsOf<f64>(values, nulls, n, powers, out, buffer);
}

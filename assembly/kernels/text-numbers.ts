import { isAligned } from './lanes';
import { noteOther, size, start, textOf } from './text';

// Texts of numbers, and numbers of texts, by reference (text.ts).

export function textOfLongs(values: usize, nulls: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<i64>(values) && isAligned<u64>(nulls) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    if (nulls != 0 && (load<u64>(nulls + ((i >> 6) << 3)) & (<u64>1 << (i & 63))) != 0) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const value = load<i64>(values + (i << 3));
    let left: u64 = value < 0 ? 0 - <u64>value : <u64>value;
    let length: usize = value < 0 ? 2 : 1;
    for (let rest = left / 10; rest != 0; rest /= 10) length++;
    let to = buffer + length;
    do {
      store<u8>(--to, 0x30 + <u8>(left % 10));
      left /= 10;
    } while (left != 0);
    if (value < 0) store<u8>(buffer, 0x2d);
    store<u64>(out + (i << 3), textOf(buffer, length, 0));
    buffer += length;
  }
}

/** Digits of a number that an i64, and one that a double holds exactly. */
const LONG_DIGITS: usize = 18;
const DOUBLE_DIGITS: usize = 15;

export function textLongs(texts: usize, n: u32, out: usize, others: usize): u32 {
  return numbersOf<i64>(texts, n, out, others);
}

export function textDoubles(texts: usize, n: u32, out: usize, others: usize): u32 {
  return numbersOf<f64>(texts, n, out, others);
}

// @ts-ignore: decorator
@inline
function numbersOf<T>(texts: usize, n: u32, out: usize, others: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && isAligned<u64>(others));
  let count: u32 = 0;
  let bits: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let digits: i64 = 0;
    let scale: i64 = 1;
    let isOther: u64 = 1;
    let isNegative = false;
    if (text != 0) {
      let at = start(text);
      const end = at + size(text);
      isNegative = at < end && load<u8>(at) == 0x2d;
      if (isNegative) at++;
      const first = at;
      let point: usize = 0;
      for (; at < end; at++) {
        const digit = <u32>load<u8>(at) - 0x30;
        if (digit <= 9) {
          if (at - first >= LONG_DIGITS) break;
          digits = digits * 10 + <i64>digit;
          if (point != 0) scale *= 10;
        } else if (isFloat<T>() && point == 0 && at > first && load<u8>(at) == 0x2e) point = 1;
        else break;
      }
      if (at == end && at > first && (isInteger<T>() || at - first - point <= DOUBLE_DIGITS)) isOther = 0;
    }
    if (isInteger<T>()) store<i64>(out + (i << 3), isOther != 0 ? 0 : isNegative ? -digits : digits);
    else store<f64>(out + (i << 3), isOther != 0 ? 0 : (isNegative ? -<f64>digits : <f64>digits) / <f64>scale);
    count += <u32>isOther;
    bits = noteOther(others, i, <usize>n, bits, isOther);
  }
  return count;
}

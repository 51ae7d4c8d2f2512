import { isAligned } from './lanes';
import { compareTexts } from './join';
import { indexOf, pointBytes, size, start, textOf, touch, TOUCHED_TOGETHER, unitsIn, unitsOf, WIDE } from './text';

// Parts of texts, by reference (text.ts): no byte is written.

/** Whether `offsetOf` was last asked for the middle of a surrogate pair. */
let isSplit: bool = false;

/** Byte offset of a code unit in the bytes, their length past their end. */
function offsetOf(at: usize, length: usize, units: usize): usize {
  let offset: usize = 0;
  while (units > 0 && offset < length) {
    const bytes = pointBytes(load<u8>(at + offset));
    const width: usize = bytes == 4 ? 2 : 1;
    if (width > units) {
      isSplit = true;
      return offset;
    }
    units -= width;
    offset += bytes;
  }
  return offset;
}

/** Whether a number lies from `least` to the most units that a text can have. */
@inline
function isCount(value: i64, least: i64): bool {
  return value >= least && value <= <i64>i32.MAX_VALUE;
}

export function textSlice(texts: usize, n: u32, kind: u32, froms: usize, oneFrom: u32, counts: usize, oneCount: u32, out: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<i64>(froms) && isAligned<i64>(counts) && isAligned<u64>(out) && kind <= 2);
  const fromStep: usize = oneFrom != 0 ? 0 : 8;
  const countStep: usize = oneCount != 0 ? 0 : 8;
  const leastCount: i64 = kind == 0 ? <i64>i32.MIN_VALUE : 0;
  let splits: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const from = load<i64>(froms + i * fromStep);
    const given = load<i64>(counts + i * countStep);
    const at = start(text);
    const length = size(text);
    if (text == 0 || !isCount(from, 0) || !isCount(given, leastCount)) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const count: usize = given < 0 ? length : <usize>given;
    let first: usize = 0;
    let last: usize = 0;
    isSplit = false;
    if ((text & WIDE) == 0) {
      first = kind == 2 ? length - min(length, count) : min(length, <usize>from);
      last = kind == 2 ? length : first + min(length - first, count);
    } else if (kind == 2) {
      const units = unitsIn(at, length);
      first = offsetOf(at, length, units - min(units, count));
      last = length;
    } else {
      first = offsetOf(at, length, <usize>from);
      last = given < 0 ? length : first + offsetOf(at + first, length - first, count);
    }
    splits += <u32>isSplit;
    store<u64>(out + (i << 3), kind == 0 && first == length ? 0 : textOf(at + first, last - first, text & WIDE));
  }
  return splits;
}

export function textFindEach(texts: usize, wanted: usize, oneWanted: u32, froms: usize, oneFrom: u32, n: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(wanted) && isAligned<i64>(froms) && isAligned<i64>(out));
  const wantedStep: usize = oneWanted != 0 ? 0 : 8;
  const fromStep: usize = oneFrom != 0 ? 0 : 8;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const search = load<u64>(wanted + i * wantedStep);
    const at = start(text);
    const length = size(text);
    const from = <usize>max<i64>(0, min<i64>(load<i64>(froms + i * fromStep), <i64>length));
    if (text != 0 && search != 0 && size(search) == 0) {
      store<i64>(out + (i << 3), <i64>min(from, unitsOf(text)));
      continue;
    }
    let first = from;
    if ((text & WIDE) != 0) {
      isSplit = false;
      first = offsetOf(at, length, from);
      // Nothing begins with the second half of a pair.
      if (isSplit) first += 4;
    }
    let found = text == 0 || search == 0 ? <isize>0 : indexOf(at + first, length - first, start(search), <u32>size(search));
    if (found >= 0 && text != 0 && search != 0) {
      found += <isize>first;
      if ((text & WIDE) != 0) found = <isize>unitsIn(at, <usize>found);
    }
    store<i64>(out + (i << 3), <i64>found);
  }
}

export function textExtreme(a: usize, oneA: u32, b: usize, oneB: u32, n: u32, largest: u32, out: usize): void {
  assert(isAligned<u64>(a) && isAligned<u64>(b) && isAligned<u64>(out));
  const aStep: usize = oneA != 0 ? 0 : 8;
  const bStep: usize = oneB != 0 ? 0 : 8;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) store<u64>(out + (i << 3), touch(a, aStep, i, <usize>n) + touch(b, bStep, i, <usize>n));
    const left = load<u64>(a + i * aStep);
    const right = load<u64>(b + i * bStep);
    let takesLeft = right == 0;
    if (left != 0 && right != 0) {
      const order = compareTexts(start(left), <u32>size(left), start(right), <u32>size(right));
      takesLeft = largest != 0 ? order >= 0 : order <= 0;
    }
    store<u64>(out + (i << 3), takesLeft ? left : right);
  }
}

@inline
function isIn(set: usize, byte: u8): bool {
  return (load<u8>(set + <usize>(byte >> 3)) & (1 << (byte & 7))) != 0;
}

export function textTrim(texts: usize, n: u32, set: usize, ends: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let first = start(text);
    let last = first + size(text);
    if ((ends & 1) != 0) while (first < last && isIn(set, load<u8>(first))) first++;
    if ((ends & 2) != 0) while (first < last && isIn(set, load<u8>(last - 1))) last--;
    store<u64>(out + (i << 3), text == 0 ? 0 : textOf(first, last - first, text & WIDE));
  }
}

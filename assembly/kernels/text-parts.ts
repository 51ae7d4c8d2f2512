import { isAligned } from './lanes';
import { pointBytes, size, start, textOf, unitsIn, WIDE } from './text';

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

export function textSlice(texts: usize, n: u32, kind: u32, from: u32, count: u32, out: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && kind <= 2);
  let splits: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const at = start(text);
    const length = size(text);
    let first: usize = 0;
    let last: usize = 0;
    isSplit = false;
    if ((text & WIDE) == 0) {
      first = kind == 2 ? length - min(length, <usize>count) : min(length, <usize>from);
      last = kind == 2 ? length : first + min(length - first, <usize>count);
    } else if (kind == 2) {
      const units = unitsIn(at, length);
      first = offsetOf(at, length, units - min(units, <usize>count));
      last = length;
    } else {
      first = offsetOf(at, length, from);
      last = count == <u32>-1 ? length : first + offsetOf(at + first, length - first, count);
    }
    splits += <u32>isSplit;
    const isNull = text == 0 || (kind == 0 && first == length);
    store<u64>(out + (i << 3), isNull ? 0 : textOf(at + first, last - first, text & WIDE));
  }
  return splits;
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

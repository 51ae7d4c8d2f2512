import { isAligned } from './lanes';
import { size, start, textOf, WIDE } from './text';

// Parts of documents: JSON without spaces, by reference (text.ts). No byte is written.

@inline
const QUOTE: u32 = 0x22;
@inline
const BACKSLASH: u32 = 0x5c;
@inline
const COMMA: u32 = 0x2c;
/** `[` and `{`, `]` and `}`: each pair differs in one bit. */
@inline
const CASE_BIT: u32 = 0x20;
@inline
const OPEN: u32 = 0x7b;
@inline
const CLOSE: u32 = 0x7d;
@inline
const LIST: u32 = 0x5b;
@inline
const NULL: u32 = 0x6c6c756e;
/** Bit of a step that is an element, not a member. */
@inline
const ELEMENT: u32 = 1 << 31;

/** The position behind a string, of its first quote. */
function afterString(at: usize, end: usize): usize {
  for (at++; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == QUOTE) return at + 1;
    if (byte == BACKSLASH) at++;
  }
  return end;
}

function afterValue(at: usize, end: usize): usize {
  const first = <u32>load<u8>(at);
  if (first == QUOTE) return afterString(at, end);
  let depth: u32 = 0;
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte == QUOTE) {
      at = afterString(at, end);
      continue;
    }
    const folded = byte | CASE_BIT;
    if (folded == OPEN) depth++;
    else if (depth == 0 && (byte == COMMA || folded == CLOSE)) return at;
    else if (folded == CLOSE && --depth == 0) return at + 1;
    at++;
  }
  return end;
}

/** The position of an element of the list at a position, or 0. */
function elementAt(at: usize, end: usize, index: u32): usize {
  if (<u32>load<u8>(at) != LIST || (<u32>load<u8>(at, 1) | CASE_BIT) == CLOSE) return 0;
  for (at++; index != 0; index--) {
    at = afterValue(at, end);
    if (at >= end || <u32>load<u8>(at) != COMMA) return 0;
    at++;
  }
  return at;
}

/** The position of a member of the object at a position, or 0. */
function memberAt(at: usize, end: usize, name: usize, length: usize): usize {
  if (<u32>load<u8>(at) != OPEN) return 0;
  for (at++; at < end && <u32>load<u8>(at) == QUOTE; at++) {
    const behind = afterString(at, end);
    // Behind a name there are its quote and a colon.
    if (behind - at == length + 2 && memory.compare(at + 1, name, length) == 0) return behind + 1;
    at = afterValue(behind + 1, end);
    if (at >= end || <u32>load<u8>(at) != COMMA) return 0;
  }
  return 0;
}

function partOf(text: u64, path: usize, last: usize): u64 {
  if (text == 0) return 0;
  let at = start(text);
  const end = at + size(text);
  while (path < last) {
    const step = load<u32>(path);
    path += 4;
    if ((step & ELEMENT) != 0) at = elementAt(at, end, step & ~ELEMENT);
    else {
      at = memberAt(at, end, path, <usize>step);
      path += (<usize>step + 3) & ~3;
    }
    if (at == 0) return 0;
  }
  const length = afterValue(at, end) - at;
  return length == 4 && load<u32>(at) == NULL ? 0 : textOf(at, length, text & WIDE);
}

export function documentPart(texts: usize, n: u32, path: usize, pathBytes: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(path) && isAligned<u64>(out) && (pathBytes & 3) == 0);
  for (let i: usize = 0; i < <usize>n; i++)
    store<u64>(out + (i << 3), partOf(load<u64>(texts + (i << 3)), path, path + <usize>pathBytes));
}

export function documentElements(texts: usize, n: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<i64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let count: i64 = 0;
    if (text != 0) {
      const end = start(text) + size(text);
      let at = elementAt(start(text), end, 0);
      if (at == 0) count = i64(<u32>load<u8>(start(text)) != LIST);
      else
        for (count = 1; ; count++) {
          at = afterValue(at, end);
          if (at >= end || <u32>load<u8>(at) != COMMA) break;
          at++;
        }
    }
    store<i64>(out + (i << 3), count);
  }
}

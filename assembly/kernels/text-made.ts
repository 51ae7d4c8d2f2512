import { isAligned } from './lanes';
import { copy, indexOf, isWide, pointBytes, size, start, textOf, TOUCHED_TOGETHER, touch, WIDE } from './text';

// Texts made of others, by reference (text.ts); their bytes are written to a buffer.

/** Bit 5 of those of eight ASCII bytes that lie in [first, first + 25]. */
@inline
function letters(bytes: u64, first: u64): u64 {
  const from = bytes + (0x80 - first) * 0x0101010101010101;
  const past = bytes + (0x80 - 26 - first) * 0x0101010101010101;
  return ((from & ~past) & 0x8080808080808080) >> 2;
}

/** Code points of two bytes, and where what is told of longer ones begins in a table. */
@inline
const NARROW: u32 = 0x80;
@inline
const GROUPS: usize = 0x780 * 2;
/** Code points from this on have no place in a table, by 64. */
@inline
const GROUPS_END: u32 = 0x20000 >> 6;

/** Whether all code points of a text were changed. Bytes may be written past it. */
function changeWide(from: usize, length: usize, first: u64, table: usize, to: usize): bool {
  const end = from + length;
  let at = from;
  while (at < end) {
    const bytes = load<u64>(at);
    if (at + 8 <= end && (bytes & 0x8080808080808080) == 0) {
      store<u64>(to, bytes ^ letters(bytes, first));
      at += 8;
      to += 8;
      continue;
    }
    const lead = <u32>bytes & 0xff;
    const next = <u32>(bytes >> 8) & 63;
    if (lead < 0x80) {
      store<u8>(to, <u8>(lead - <u32>first < 26 ? lead ^ 0x20 : lead));
      at += 1;
      to += 1;
    } else if (lead < 0xe0) {
      const point = <u32>load<u16>(table + (<usize>((((lead & 31) << 6) | next) - NARROW) << 1));
      if (point == 0) return false;
      store<u16>(to, <u16>(0x80c0 | (point >> 6) | ((point & 63) << 8)));
      at += 2;
      to += 2;
    } else {
      const isLong = lead >= 0xf0;
      const group = isLong ? ((lead & 7) << 12) | (next << 6) | (<u32>(bytes >> 16) & 63) : ((lead & 15) << 6) | next;
      if (group >= GROUPS_END || load<u8>(table + GROUPS + <usize>group) == 0) return false;
      store<u32>(to, <u32>bytes);
      at += isLong ? 4 : 3;
      to += isLong ? 4 : 3;
    }
  }
  return true;
}

export function textCase(texts: usize, n: u32, upper: u32, table: usize, out: usize, buffer: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u16>(table) && isAligned<u64>(out));
  const first: u64 = upper != 0 ? 0x61 : 0x41;
  let others: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) store<u64>(buffer, touch(texts, 8, i, <usize>n));
    const text = load<u64>(texts + (i << 3));
    const from = start(text);
    const length = size(text);
    if (text == 0 || ((text & WIDE) != 0 && !changeWide(from, length, first, table, buffer))) {
      others += <u32>(text != 0);
      store<u64>(out + (i << 3), text);
      continue;
    }
    if ((text & WIDE) == 0) {
      for (let at: usize = 0; at < length; at += 8) {
        // Bytes past the end of the string may be anything; they do not change the bytes before them.
        const bytes = load<u64>(from + at);
        store<u64>(buffer + at, bytes ^ letters(bytes & 0x7f7f7f7f7f7f7f7f, first));
      }
    }
    store<u64>(out + (i << 3), textOf(buffer, length, text & WIDE));
    buffer += length;
  }
  return others;
}

export function textReverse(texts: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const from = start(text);
    const length = size(text);
    let to = buffer + length;
    if ((text & WIDE) == 0) {
      let at = from;
      for (; to >= buffer + 8; at += 8) {
        to -= 8;
        store<u64>(to, bswap(load<u64>(at)));
      }
      while (to > buffer) store<u8>(--to, load<u8>(at++));
    } else {
      for (let at = from; to > buffer; ) {
        const bytes = pointBytes(load<u8>(at));
        to -= bytes;
        for (let byte: usize = 0; byte < bytes; byte++) store<u8>(to + byte, load<u8>(at + byte));
        at += bytes;
      }
    }
    store<u64>(out + (i << 3), text == 0 ? 0 : textOf(buffer, length, text & WIDE));
    buffer += length;
  }
}

export function textConcat(parts: usize, partCount: u32, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<u32>(parts) && isAligned<u64>(out));
  const partsEnd = parts + (<usize>partCount << 3);
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) {
      let sum: u64 = 0;
      for (let part = parts; part < partsEnd; part += 8) sum += touch(<usize>load<u32>(part), <usize>load<u32>(part, 4), i, <usize>n);
      store<u64>(buffer, sum);
    }
    let to = buffer;
    let wide: u64 = 0;
    let isNull = false;
    for (let part = parts; part < partsEnd; part += 8) {
      const text = load<u64>(<usize>load<u32>(part) + i * <usize>load<u32>(part, 4));
      isNull = isNull || text == 0;
      wide |= text & WIDE;
      copy(to, start(text), size(text));
      to += size(text);
    }
    store<u64>(out + (i << 3), isNull ? 0 : textOf(buffer, to - buffer, wide));
    buffer = isNull ? buffer : to;
  }
}

export function textPad(texts: usize, n: u32, length: u32, padding: usize, paddingBytes: u32, atStart: u32, out: usize, buffer: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  let wide: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    if (text == 0 || (text & WIDE) != 0) {
      wide += <u32>(text != 0);
      store<u64>(out + (i << 3), text);
      continue;
    }
    const kept = min(size(text), <usize>length);
    const added: usize = paddingBytes == 0 ? <usize>0 : <usize>length - kept;
    const filled = buffer + (atStart != 0 ? <usize>0 : kept);
    copy(buffer + (atStart != 0 ? added : <usize>0), start(text), kept);
    for (let at: usize = 0, from: usize = 0; at < added; at++) {
      store<u8>(filled + at, load<u8>(padding + from));
      from = from + 1 == <usize>paddingBytes ? 0 : from + 1;
    }
    store<u64>(out + (i << 3), textOf(buffer, kept + added, 0));
    buffer += kept + added;
  }
  return wide;
}

export function textReplace(
  texts: usize, n: u32, wanted: usize, wantedBytes: u32, replacement: usize, replacementBytes: u32, out: usize, buffer: usize,
): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && wantedBytes > 0);
  const wide: u64 = isWide(replacement, <usize>replacementBytes) ? WIDE : 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let at = start(text);
    const end = at + size(text);
    let found = indexOf(at, end - at, wanted, wantedBytes);
    if (found < 0) {
      store<u64>(out + (i << 3), text);
      continue;
    }
    let to = buffer;
    for (; found >= 0; found = indexOf(at, end - at, wanted, wantedBytes)) {
      copy(to, at, <usize>found);
      copy(to + <usize>found, replacement, <usize>replacementBytes);
      to += <usize>found + <usize>replacementBytes;
      at += <usize>found + <usize>wantedBytes;
    }
    copy(to, at, end - at);
    to += end - at;
    store<u64>(out + (i << 3), textOf(buffer, to - buffer, (text & WIDE) | wide));
    buffer = to;
  }
}

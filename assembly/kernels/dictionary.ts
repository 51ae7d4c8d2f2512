import { isAligned } from './lanes';

// Packed UTF-8 strings: entry i is bytes [offsets[i], offsets[i + 1]). Loads of 8 or 16 bytes may run past an entry.

// Wildcards of a compiled pattern, see src/kernels/like-pattern.ts.
@inline
export const ANY: u8 = 0xff;
@inline
const ONE: u8 = 0xfe;

@inline
function offsetAt(offsets: usize, entry: u32): usize {
  return <usize>load<u32>(offsets + (<usize>entry << 2));
}

@inline
export function isSame(a: usize, b: usize, length: usize): bool {
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(a + at) != load<u64>(b + at)) return false;
  for (; at < length; at++) if (load<u8>(a + at) != load<u8>(b + at)) return false;
  return true;
}

@inline
function setBit(out: usize, entry: u32): void {
  const at = out + ((<usize>entry >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (entry & 31)));
}

/** Clears the bits of [start, end) and those past it in its last word. */
function clearBits(out: usize, start: u32, end: u32): void {
  const first = out + ((<usize>start >> 6) << 3);
  const kept = load<u64>(first) & ~(<u64>-1 << (start & 63));
  memory.fill(first, 0, out + (((<usize>end + 63) >> 6) << 3) - first);
  store<u64>(first, kept);
}

export function dictionaryLike(bytes: usize, offsets: usize, start: u32, end: u32, pattern: usize, patternBytes: u32, out: usize): void {
  assert(isAligned<u32>(offsets) && isAligned<u64>(out));
  if (start >= end) return;
  clearBits(out, start, end);
  const leads = patternBytes > 0 && load<u8>(pattern) == ANY;
  const trails = patternBytes > 0 && load<u8>(pattern + patternBytes - 1) == ANY;
  const text = pattern + <usize>leads;
  const length = patternBytes - u32(leads) - u32(trails && patternBytes > 1);
  let isPlain = true;
  for (let i: usize = 0; i < <usize>length; i++) isPlain = isPlain && load<u8>(text + i) < ONE;
  if (!isPlain) likeAny(bytes, offsets, start, end, pattern, patternBytes, out);
  else if (leads && (trails || length == 0)) likeContains(bytes, offsets, start, end, text, length, 0, 0, out);
  else likeAnchored(bytes, offsets, start, end, text, length, leads, trails, out);
}

/** Equality, prefix (`trails`) or suffix (`leads`). The first eight bytes decide most entries. */
function likeAnchored(bytes: usize, offsets: usize, start: u32, end: u32, text: usize, length: u32, leads: bool, trails: bool, out: usize): void {
  const mask = length >= 8 ? <u64>-1 : length == 0 ? 0 : <u64>-1 >> (64 - 8 * length);
  const wanted = load<u64>(text) & mask;
  let at = offsetAt(offsets, start);
  for (let entry = start; entry < end; entry++) {
    const next = offsetAt(offsets, entry + 1);
    const size = <u32>(next - at);
    if (leads || trails ? size >= length : size == length) {
      const from = bytes + (leads ? next - <usize>length : at);
      if ((load<u64>(from) & mask) == wanted && (length <= 8 || isSame(from, text, length))) setBit(out, entry);
    }
    at = next;
  }
}

/**
 * Searches the bytes of all entries as one text, then asks whether what it found lies in one entry, and whether all of that is like the
 * pattern, where there is one.
 */
function likeContains(
  bytes: usize, offsets: usize, start: u32, end: u32, text: usize, length: u32, pattern: usize, patternEnd: usize, out: usize,
): void {
  if (length == 0) {
    for (let entry = start; entry < end; entry++) setBit(out, entry);
    return;
  }
  const last = bytes + offsetAt(offsets, end);
  let entry = start;
  let at = bytes + offsetAt(offsets, start);
  while (at + length <= last) {
    at = find(at, last, text, length);
    if (at + length > last) return;
    entry = entryOf(offsets, entry, end, at - bytes);
    const next = bytes + offsetAt(offsets, entry + 1);
    if (at + length <= next) {
      if (pattern == patternEnd || isLike(bytes + offsetAt(offsets, entry), next, pattern, patternEnd)) setBit(out, entry);
      at = next;
    } else at++;
  }
}

/** The entry that holds byte `offset`, at or after `entry`: found by doubling steps, then halving. */
function entryOf(offsets: usize, entry: u32, end: u32, offset: usize): u32 {
  let step: u32 = 1;
  while (end - entry > step && offsetAt(offsets, entry + step) <= offset) {
    entry += step;
    step <<= 1;
  }
  for (; step != 0; step >>= 1) {
    while (end - entry > step && offsetAt(offsets, entry + step) <= offset) entry += step;
  }
  return entry;
}

/** First occurrence in [at, last), or an address too close to `last` for one. */
export function find(at: usize, last: usize, text: usize, length: u32): usize {
  const first = load<u8>(text);
  const end = last - length; // of starts, inclusive
  if (ASC_FEATURE_SIMD) {
    // Both ends of the text must fit before it is compared.
    const firsts = i8x16.splat(first);
    const lasts = i8x16.splat(load<u8>(text + length - 1));
    for (; at <= end; at += 16) {
      let fits = i8x16.bitmask(v128.and(i8x16.eq(v128.load(at), firsts), i8x16.eq(v128.load(at + length - 1), lasts)));
      for (; fits != 0; fits &= fits - 1) {
        const start = at + <usize>ctz(fits);
        if (start > end) return last;
        if (isSame(start, text, length)) return start;
      }
    }
    return last;
  } else {
    for (; at <= end; at++) if (load<u8>(at) == first && isSame(at, text, length)) return at;
    return last;
  }
}

@inline
function nextCodePoint(at: usize, end: usize): usize {
  at++;
  while (at < end && (load<u8>(at) & 0xc0) == 0x80) at++;
  return at;
}

/** Any pattern; of one with plain text, those entries alone are tried that its longest piece lies in. */
function likeAny(bytes: usize, offsets: usize, start: u32, end: u32, pattern: usize, patternBytes: u32, out: usize): void {
  const patternEnd = pattern + <usize>patternBytes;
  let piece: usize = 0;
  let length: u32 = 0;
  for (let at = pattern; at < patternEnd; ) {
    const size = <u32>plainBytes(at, patternEnd);
    if (size > length) {
      piece = at;
      length = size;
    }
    at += <usize>max<u32>(1, size);
  }
  if (length > 1) {
    likeContains(bytes, offsets, start, end, piece, length, pattern, patternEnd, out);
    return;
  }
  for (let entry = start; entry < end; entry++) {
    if (isLike(bytes + offsetAt(offsets, entry), bytes + offsetAt(offsets, entry + 1), pattern, patternEnd)) setBit(out, entry);
  }
}

/** Bytes up to the next wildcard. */
@inline
function plainBytes(pattern: usize, patternEnd: usize): usize {
  let at = pattern;
  while (at < patternEnd && load<u8>(at) < ONE) at++;
  return at - pattern;
}

/** Any pattern: remembers the last ANY, and looks for the next place of the text behind it whenever the rest does not fit. */
export function isLike(at: usize, last: usize, pattern: usize, patternEnd: usize): bool {
  let wanted = pattern;
  let retryWanted: usize = 0;
  let retryBytes: u32 = 0;
  let retryAt: usize = 0;
  while (true) {
    if (wanted < patternEnd && load<u8>(wanted) == ANY) {
      while (wanted < patternEnd && load<u8>(wanted) == ANY) wanted++;
      if (wanted == patternEnd) return true;
      retryWanted = wanted;
      retryBytes = <u32>plainBytes(wanted, patternEnd);
      // The last text has one place, at the end.
      if (wanted + <usize>retryBytes == patternEnd)
        return last - at >= <usize>retryBytes && isSame(last - <usize>retryBytes, wanted, retryBytes);
      retryAt = at;
    } else if (at < last && wanted < patternEnd && load<u8>(wanted) == ONE) {
      at = nextCodePoint(at, last);
      wanted++;
      continue;
    } else if (at < last && wanted < patternEnd && load<u8>(wanted) == load<u8>(at)) {
      at++;
      wanted++;
      continue;
    } else {
      if (at == last && wanted == patternEnd) return true;
      if (retryWanted == 0 || retryAt >= last) return false;
      retryAt = nextCodePoint(retryAt, last);
    }
    if (retryBytes > 0) {
      if (last - retryAt < <usize>retryBytes) return false;
      retryAt = find(retryAt, last, retryWanted, retryBytes);
      if (last - retryAt < <usize>retryBytes) return false;
    }
    at = retryAt + <usize>retryBytes;
    wanted = retryWanted + <usize>retryBytes;
  }
  return false;
}

/** Hash over little-endian 32-bit words, the last one filled with zeros; the same in every set. */
@inline
export function hashOf(at: usize, length: u32): u32 {
  let hash = length;
  const end = at + length;
  for (; at + 4 <= end; at += 4) hash = (rotl<u32>(hash, 5) ^ load<u32>(at)) * 0x9e3779b1;
  if (at < end) {
    const word = load<u32>(at) & (<u32>-1 >> (32 - 8 * <u32>(end - at)));
    hash = (rotl<u32>(hash, 5) ^ word) * 0x9e3779b1;
  }
  hash = (hash ^ (hash >> 15)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

export function dictionaryIntern(
  bytes: usize, offsets: usize, count: u32, nullEntry: i32,
  slots: usize, capacity: u32, entries: usize, arena: usize, counters: usize, remap: usize,
): void {
  assert(isAligned<u32>(offsets) && isAligned<u32>(slots) && isAligned<u32>(entries) && isAligned<u32>(counters) && isAligned<u32>(remap));
  assert(popcnt(capacity) == 1 && (<u64>load<u32>(counters) + count) * 2 <= capacity);
  const mask = capacity - 1;
  let entryCount = load<u32>(counters);
  let free = arena + <usize>load<u32>(counters, 4);
  for (let entry: u32 = 0; entry < count; entry++) {
    const to = remap + (<usize>entry << 2);
    if (entry == <u32>nullEntry) {
      store<u32>(to, 0);
      continue;
    }
    const at = bytes + offsetAt(offsets, entry);
    const length = <u32>(bytes + offsetAt(offsets, entry + 1) - at);
    let slot = hashOf(at, length) & mask;
    let found = load<u32>(slots + (<usize>slot << 2));
    while (found != 0) {
      const known = entries + (<usize>(found - 1) << 3);
      if (load<u32>(known, 4) == length && isSame(<usize>load<u32>(known), at, length)) break;
      slot = (slot + 1) & mask;
      found = load<u32>(slots + (<usize>slot << 2));
    }
    if (found == 0) {
      memory.copy(free, at, length);
      store<u32>(entries + (<usize>entryCount << 3), <u32>free);
      store<u32>(entries + (<usize>entryCount << 3), length, 4);
      free += (<usize>length + 3) & ~3;
      found = ++entryCount;
      store<u32>(slots + (<usize>slot << 2), found);
    }
    store<u32>(to, found - 1);
  }
  store<u32>(counters, entryCount);
  store<u32>(counters, <u32>(free - arena), 4);
}

export function dictionaryRehash(entries: usize, entryCount: u32, slots: usize, capacity: u32): void {
  assert(isAligned<u32>(entries) && isAligned<u32>(slots) && popcnt(capacity) == 1 && entryCount <= capacity);
  const mask = capacity - 1;
  for (let entry: u32 = 1; entry < entryCount; entry++) {
    const known = entries + (<usize>entry << 3);
    let slot = hashOf(<usize>load<u32>(known), load<u32>(known, 4)) & mask;
    while (load<u32>(slots + (<usize>slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + (<usize>slot << 2), entry + 1);
  }
}

// Strings packed as UTF-8, one after another.

/** Texts as UTF-8, one after the other: text i is bytes[ends[i - 1] .. ends[i]). */
export interface PackedTexts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** Texts joined at a time: all of them together could pass the longest string there may be. */
const CHUNK_TEXTS = 65536;
const SURROGATE = /[\ud800-\udfff]/;

/** UTF-8 has no lone surrogates: each becomes U+FFFD. */
export function packTexts(texts: readonly string[]): PackedTexts {
  const parts: Buffer[] = [];
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let start = 0; start < texts.length; start += CHUNK_TEXTS) {
    let chunk = texts.slice(start, start + CHUNK_TEXTS);
    let joined = chunk.join('');
    if (SURROGATE.test(joined)) {
      // Before joining, or halves of two texts would meet.
      chunk = chunk.map((text) => (SURROGATE.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text));
      joined = chunk.join('');
    }
    const bytes = Buffer.from(joined, 'utf8');
    const isAscii = bytes.length === joined.length;
    for (let at = 0; at < chunk.length; at++) {
      const text = chunk[at] ?? '';
      ends[start + at] = end += isAscii ? text.length : Buffer.byteLength(text, 'utf8');
    }
    parts.push(bytes);
  }
  return { bytes: parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts), ends };
}

export function textAt({ bytes, ends }: PackedTexts, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', at === 0 ? 0 : ends[at - 1], ends[at]);
}

/**
 * Weight of each UTF-8 byte, so that byte order is the order of UTF-16 code units: characters beyond U+FFFF, whose
 * first byte is 0xf0 to 0xf4, come before U+E000 to U+FFFF, with 0xee and 0xef. From 1: 0 is the end of a text.
 */
const WEIGHTS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0xf0 ? byte - 2 : byte >= 0xee ? byte + 5 : byte) + 1);
/** Ranges up to this long are sorted by insertion. */
const INSERTION_LENGTH = 12;

/**
 * The order of the texts, as JS compares strings. Multikey quicksort: four bytes at a time are cached beside each
 * index, and texts equal in them are sorted on by the next four.
 */
export function sortTexts(texts: PackedTexts): Uint32Array {
  const count = texts.ends.length;
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at++) order[at] = at;
  const keys = new Uint32Array(count);
  loadKeys(texts, order, keys, 0, count, 0);
  // {start, end, depth} of ranges still to sort, whose keys are loaded.
  const pending = [0, count, 0];
  while (pending.length > 0) {
    const depth = pending.pop() ?? 0;
    const end = pending.pop() ?? 0;
    const start = pending.pop() ?? 0;
    if (end - start <= INSERTION_LENGTH) {
      insertionSort(texts, order, keys, start, end, depth);
      continue;
    }
    const pivot = median(keys[start] ?? 0, keys[(start + end) >>> 1] ?? 0, keys[end - 1] ?? 0);
    let below = start;
    let above = end;
    for (let at = start; at < above; ) {
      const key = keys[at] ?? 0;
      if (key < pivot) swap(order, keys, at++, below++);
      else if (key > pivot) swap(order, keys, at, --above);
      else at++;
    }
    if (below - start > 1) pending.push(start, below, depth);
    if (end - above > 1) pending.push(above, end, depth);
    const isEnded = (pivot & 0xff) === 0;
    if (above - below > 1 && !isEnded) {
      loadKeys(texts, order, keys, below, above, depth + 4);
      pending.push(below, above, depth + 4);
    }
  }
  return order;
}

function loadKeys(texts: PackedTexts, order: Uint32Array, keys: Uint32Array, start: number, end: number, depth: number): void {
  for (let at = start; at < end; at++) keys[at] = keyAt(texts, order[at] ?? 0, depth);
}

/** The weights of four bytes from `depth` on, the first one highest. */
function keyAt({ bytes, ends }: PackedTexts, text: number, depth: number): number {
  const at = (text === 0 ? 0 : (ends[text - 1] ?? 0)) + depth;
  const left = (ends[text] ?? 0) - at;
  let key = left > 0 ? (WEIGHTS[bytes[at] ?? 0] ?? 0) << 24 : 0;
  if (left > 1) key |= (WEIGHTS[bytes[at + 1] ?? 0] ?? 0) << 16;
  if (left > 2) key |= (WEIGHTS[bytes[at + 2] ?? 0] ?? 0) << 8;
  if (left > 3) key |= WEIGHTS[bytes[at + 3] ?? 0] ?? 0;
  return key >>> 0;
}

function insertionSort(texts: PackedTexts, order: Uint32Array, keys: Uint32Array, start: number, end: number, depth: number): void {
  for (let at = start + 1; at < end; at++) {
    const text = order[at] ?? 0;
    const key = keys[at] ?? 0;
    let to = at;
    for (; to > start; to--) {
      const otherKey = keys[to - 1] ?? 0;
      if (otherKey < key || (otherKey === key && !isBefore(texts, text, order[to - 1] ?? 0, depth, key))) break;
      order[to] = order[to - 1] ?? 0;
      keys[to] = otherKey;
    }
    order[to] = text;
    keys[to] = key;
  }
}

/** Whether `a` comes before `b`, given that both have `key` at `depth`. */
function isBefore(texts: PackedTexts, a: number, b: number, depth: number, key: number): boolean {
  for (let at = depth + 4, last = key; (last & 0xff) !== 0; at += 4) {
    last = keyAt(texts, a, at);
    const other = keyAt(texts, b, at);
    if (last !== other) return last < other;
  }
  return false;
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function swap(order: Uint32Array, keys: Uint32Array, a: number, b: number): void {
  const text = order[a] ?? 0;
  order[a] = order[b] ?? 0;
  order[b] = text;
  const key = keys[a] ?? 0;
  keys[a] = keys[b] ?? 0;
  keys[b] = key;
}

// Sorts packed strings.

import type { PackedTexts } from './packed-strings.js';

/**
 * Weight of each UTF-8 byte, so that byte order is the order of UTF-16 code units: characters beyond U+FFFF, whose
 * first byte is 0xf0 to 0xf4, come before U+E000 to U+FFFF, with 0xee and 0xef. From 1: 0 is the end of a text.
 */
const WEIGHTS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0xf0 ? byte - 2 : byte >= 0xee ? byte + 5 : byte) + 1);
/** Ranges up to this long are sorted by insertion. */
const INSERTION_LENGTH = 12;
/** Ranges from this length on are sorted by digits. */
const DIGITS_LENGTH = 1 << 13;

/**
 * The order of the texts, as JS compares strings. Long ranges are sorted digit by digit of their next eight bytes. Others by multikey
 * quicksort: four bytes at a time are cached beside each index. Texts equal in them are sorted on by the next ones. `check` is called
 * between ranges.
 */
export function sortTexts(texts: PackedTexts, check?: () => void): Uint32Array {
  const count = texts.ends.length;
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at++) order[at] = at;
  const keys = new Uint32Array(count);
  const digits = count < DIGITS_LENGTH ? undefined : new DigitSort(texts, order);
  if (digits === undefined) loadKeys(texts, order, keys, 0, count, 0);
  // {start, end, depth} of ranges still to sort; keys of the shorter ones are loaded.
  const pending = [0, count, 0];
  const wait = (start: number, end: number, depth: number): void => {
    if (end - start < DIGITS_LENGTH) loadKeys(texts, order, keys, start, end, depth);
    pending.push(start, end, depth);
  };
  while (pending.length > 0) {
    const depth = pending.pop() ?? 0;
    const end = pending.pop() ?? 0;
    const start = pending.pop() ?? 0;
    if (end - start > INSERTION_LENGTH) check?.();
    if (digits !== undefined && end - start >= DIGITS_LENGTH) {
      digits.sort(start, end, depth, wait);
      continue;
    }
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

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Sorts ranges of an order by eight bytes of their texts, from the last digit to the first, each of which leaves equal ones in order. */
class DigitSort {
  readonly #texts: PackedTexts;
  readonly #order: Uint32Array;
  readonly #counts = new Uint32Array(DIGITS);
  readonly #rooms: { readonly from: Words; readonly into: Words };

  constructor(texts: PackedTexts, order: Uint32Array) {
    this.#texts = texts;
    this.#order = order;
    this.#rooms = { from: wordsOf(order.length), into: wordsOf(order.length) };
  }

  /** @param wait  told of ranges of texts that are equal so far and go on */
  sort(start: number, end: number, depth: number, wait: (start: number, end: number, depth: number) => void): void {
    const count = end - start;
    let { from, into } = this.#rooms;
    let [varyingHigh, varyingLow] = [0, 0];
    for (let at = 0; at < count; at++) {
      const text = this.#order[start + at] ?? 0;
      const [high, low] = [keyAt(this.#texts, text, depth), keyAt(this.#texts, text, depth + 4)];
      from.order[at] = text;
      from.high[at] = high;
      from.low[at] = low;
      varyingHigh |= high ^ (from.high[0] ?? 0);
      varyingLow |= low ^ (from.low[0] ?? 0);
    }
    for (const [varying, part] of [[varyingLow, 'low'] as const, [varyingHigh, 'high'] as const]) {
      for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
        if (((varying >>> shift) & (DIGITS - 1)) === 0) continue;
        this.#pass(from, into, count, part, shift);
        [from, into] = [into, from];
      }
    }
    this.#order.set(from.order.subarray(0, count), start);
    const { high, low } = from;
    for (let first = 0, at = 1; at <= count; at++) {
      if (at < count && high[at] === high[first] && low[at] === low[first]) continue;
      // A last weight of 0 is the end of a text.
      if (at - first > 1 && ((low[first] ?? 0) & 0xff) !== 0) wait(start + first, start + at, depth + 8);
      first = at;
    }
  }

  #pass(from: Words, into: Words, count: number, part: 'high' | 'low', shift: number): void {
    const counts = this.#counts.fill(0);
    const keys = from[part];
    for (let at = 0; at < count; at++) {
      const digit = ((keys[at] ?? 0) >>> shift) & (DIGITS - 1);
      counts[digit] = (counts[digit] ?? 0) + 1;
    }
    let next = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const these = counts[digit] ?? 0;
      counts[digit] = next;
      next += these;
    }
    for (let at = 0; at < count; at++) {
      const digit = ((keys[at] ?? 0) >>> shift) & (DIGITS - 1);
      const to = counts[digit] ?? 0;
      counts[digit] = to + 1;
      into.order[to] = from.order[at] ?? 0;
      into.high[to] = from.high[at] ?? 0;
      into.low[to] = from.low[at] ?? 0;
    }
  }
}

/** Texts with the weights of eight of their bytes. */
interface Words {
  readonly order: Uint32Array;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
}

function wordsOf(count: number): Words {
  return { order: new Uint32Array(count), high: new Uint32Array(count), low: new Uint32Array(count) };
}

// Dictionary of strings given as UTF-8 bytes.

import { Buffer } from 'node:buffer';
import { textHash } from './text-hash.js';

/** The id of null in every dictionary of ingestion. */
export const NULL_ID = 0;

const TEXT_CACHE_MAX = 1 << 18;
const CACHED_LENGTH_MAX = 64;

/** Words of a slot: {hash, id, offset of the bytes, their length}. */
const SLOT_SHIFT = 2;
const SLOT_WORDS = 1 << SLOT_SHIFT;
const BATCH_ROWS = 128;
const batchHashes = new Int32Array(BATCH_ROWS + 1);

/** Fields of `rows[0 .. count)` in some bytes; one whose end is below 0 is null. */
export interface Fields {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly rows: Int32Array;
  readonly count: number;
}

/** Buffer in which a string is encoded for look-up. */
const scratch = Buffer.allocUnsafe(1 << 16);

/**
 * Distinct strings of a column as UTF-8, numbered from 1 in order of arrival; id 0 is null. A value that is bytes
 * already (a CSV field) is found by hashing those bytes: no JS string is made until the segment is written, and then
 * once per distinct value rather than once per row.
 *
 * Layout: `bytes` holds the values end to end, value `id` at `offsets[id] .. offsets[id + 1]`; `slots` is an open
 * addressing table of {hash, id, offset, length} (id 0: empty), each in four words of a cache line, at most three quarters full.
 */
export class ByteDictionary {
  #bytes = Buffer.allocUnsafeSlow(1024);
  #words = wordsOf(this.#bytes);
  /** The bytes that values were read from last, and their words. */
  #source: Uint8Array = this.#bytes;
  #sourceWords = this.#words;
  #offsets = new Uint32Array(64);
  #slots = new Int32Array(128 * SLOT_WORDS);
  #entries = 1;
  readonly #idsByText = new Map<string, number>();

  /** Ids are below it. */
  get count(): number {
    return this.#entries;
  }

  get sizeBytes(): number {
    return this.#bytes.length + this.#offsets.byteLength + this.#slots.byteLength;
  }

  /** The id of the bytes [start, end) of `source`, which is only read. */
  idOf(source: Uint8Array, start: number, end: number): number {
    const words = this.#wordsOf(source);
    return this.#find(source, words, start, end, textHash(words, start, end));
  }

  /**
   * Ids of fields, null for one without an end, at `to` and behind. Slots and values of many of them are touched before
   * the first one is compared, so that the processor waits for them side by side: dictionaries of a wide table do not fit its cache.
   */
  idsOf(source: Uint8Array, { starts, ends, rows, count }: Fields, ids: Uint32Array, to: number): void {
    const words = this.#wordsOf(source);
    const hashes = batchHashes;
    for (let from = 0; from < count; from += BATCH_ROWS) {
      const size = Math.min(BATCH_ROWS, count - from);
      const slots = this.#slots;
      const mask = slots.length - 1;
      let touched = 0;
      for (let at = 0; at < size; at++) {
        const row = rows[from + at] ?? 0;
        const start = starts[row] ?? 0;
        const end = ends[row] ?? -1;
        const hash = end < 0 ? 0 : textHash(words, start, end);
        hashes[at] = hash;
        touched ^= slots[(hash << SLOT_SHIFT) & mask] ?? 0;
      }
      for (let at = 0; at < size; at++) {
        const slot = ((hashes[at] ?? 0) << SLOT_SHIFT) & mask;
        touched ^= this.#bytes[slots[slot + 2] ?? 0] ?? 0;
      }
      // Kept, or the compiler would leave out the touching.
      hashes[BATCH_ROWS] = touched;
      for (let at = 0; at < size; at++) {
        const row = rows[from + at] ?? 0;
        const start = starts[row] ?? 0;
        const end = ends[row] ?? -1;
        ids[to + from + at] = end < 0 ? NULL_ID : this.#find(source, words, start, end, hashes[at] ?? 0);
      }
    }
  }

  /** A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD. */
  idOfText(text: string): number {
    // Long texts seldom repeat, and to find one as a string is to hash it too.
    if (text.length > CACHED_LENGTH_MAX) {
      const encoded = text.length * 3 <= scratch.length ? scratch : Buffer.from(text, 'utf8');
      return this.idOf(encoded, 0, encoded === scratch ? scratch.write(text, 'utf8') : encoded.length);
    }
    const known = this.#idsByText.get(text);
    if (known !== undefined) return known;
    const encoded = Buffer.from(text, 'utf8');
    const id = this.idOf(encoded, 0, encoded.length);
    if (this.#idsByText.size >= TEXT_CACHE_MAX) this.#idsByText.clear();
    this.#idsByText.set(text, id);
    return id;
  }

  textOf(id: number): string | null {
    return id === NULL_ID ? null : this.#bytes.toString('utf8', this.#offsets[id] ?? 0, this.#offsets[id + 1] ?? 0);
  }

  /** The value bytes and where they begin, `count + 1` offsets; views that the next new value may outdate. */
  contents(): { readonly bytes: Buffer; readonly offsets: Uint32Array } {
    return { bytes: this.#bytes.subarray(0, this.#offsets[this.#entries] ?? 0), offsets: this.#offsets.subarray(0, this.#entries + 1) };
  }

  #wordsOf(source: Uint8Array): DataView {
    if (source !== this.#source) {
      this.#source = source;
      this.#sourceWords = wordsOf(source);
    }
    return this.#sourceWords;
  }

  #find(source: Uint8Array, words: DataView, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (hash << SLOT_SHIFT) & mask; ; at = (at + SLOT_WORDS) & mask) {
      const id = slots[at + 1] ?? 0;
      if (id === 0) return this.#add(source, start, end, hash, at);
      if (slots[at] === hash && slots[at + 3] === end - start && this.#holds(slots[at + 2] ?? 0, words, start, end)) return id;
    }
  }

  /** Whether the bytes at `offset` are [start, end) of `words`. */
  #holds(offset: number, words: DataView, start: number, end: number): boolean {
    const own = this.#words;
    let at = offset;
    let from = start;
    for (; from + 4 <= end; from += 4, at += 4) if (own.getInt32(at, true) !== words.getInt32(from, true)) return false;
    for (; from < end; from++, at++) if (own.getUint8(at) !== words.getUint8(from)) return false;
    return true;
  }

  #add(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const id = this.#entries++;
    const begin = this.#offsets[id] ?? 0;
    const finish = begin + end - start;
    if (finish > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, finish));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#words = wordsOf(larger);
    }
    if (id + 1 >= this.#offsets.length) {
      const larger = new Uint32Array(this.#offsets.length * 2);
      larger.set(this.#offsets);
      this.#offsets = larger;
    }
    for (let from = start, at = begin; from < end; from++, at++) this.#bytes[at] = source[from] ?? 0;
    this.#offsets[id + 1] = finish;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = id;
    this.#slots[slot + 2] = begin;
    this.#slots[slot + 3] = end - start;
    if (this.#entries * 4 * SLOT_WORDS > this.#slots.length * 3) this.#growSlots();
    return id;
  }

  #growSlots(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 1;
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + 1] === 0) continue;
      let at = ((old[from] ?? 0) << SLOT_SHIFT) & mask;
      while (slots[at + 1] !== 0) at = (at + SLOT_WORDS) & mask;
      for (let word = 0; word < SLOT_WORDS; word++) slots[at + word] = old[from + word] ?? 0;
    }
    this.#slots = slots;
  }
}

/** A view that reads four bytes at any place. */
function wordsOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

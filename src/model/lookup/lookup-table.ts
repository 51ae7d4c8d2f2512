// Entries of a lookup, packed once in memory that threads share.

import { createHash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { areEqual, hashOf, StringPool } from './string-pool.js';

/*
 * Layout of `packed`, little endian, u32 throughout but for the bytes at its end:
 *
 *   numbers of entries, slots, distinct values, bytes of keys
 *   slots         entry + 1 of a key whose hash leads here, 0 for none; a power of two, searched onwards
 *   ends of keys  in the bytes of keys, by entry
 *   value ids     by entry
 *   ends of values  in the bytes of values, by id
 *   bytes of keys, bytes of values: UTF-8
 */
const HEADER_WORDS = 4;

/**
 * The entries of a lookup as plain data. They cross threads without being copied, and are read where they lie
 * (`readerOf`). Keys are distinct; values are stored once each.
 */
export interface LookupTable {
  /** Number of entries. */
  readonly length: number;
  readonly hasNull: false;
  /** Equal for equal entries in equal order. */
  readonly digest: string;
  readonly packed: Uint8Array;
}

/** Collects the entries of a lookup. Of two with one key the later counts. */
export class LookupBuilder {
  readonly #keys = new StringPool();
  readonly #values = new StringPool();
  readonly #bytesMax: number;
  #valueIds = new Uint32Array(1 << 8);

  /** @param bytesMax  of all strings together (`svc.lookup.maxBytes`) */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws ServiceError `resource_limit` */
  add(key: string, value: string): void {
    if (this.#keys.filled + this.#values.filled + key.length + value.length > this.#bytesMax)
      throw new ServiceError('resource_limit', `the lookup has more than svc.lookup.maxBytes (${this.#bytesMax}) bytes of keys and values`);
    const entry = this.#keys.idOf(key);
    if (entry >= this.#valueIds.length) {
      const larger = new Uint32Array(this.#valueIds.length * 2);
      larger.set(this.#valueIds);
      this.#valueIds = larger;
    }
    this.#valueIds[entry] = this.#values.idOf(value);
  }

  /** Makes room for so many more entries, in turns; without it `add` does, in one piece. Nothing may be added meanwhile. */
  async makeRoom(more: number, turns: LoopTurns): Promise<void> {
    await this.#keys.makeRoom(more, turns);
    await this.#values.makeRoom(more, turns);
  }

  /** The entries; nothing may be added after them. */
  finish(): Promise<LookupTable> {
    return packEntries(this.#keys, this.#values, this.#valueIds);
  }
}

/** The table of keys, and of values by the number of the key. Nothing may be added to them meanwhile. */
export async function packEntries(keys: StringPool, values: StringPool, valueIds: Uint32Array): Promise<LookupTable> {
  const turns = new LoopTurns();
  await keys.fit(turns);
  await values.fit(turns);
  const { bytes, words, textAt } = layoutOf(keys.count, keys.slots.length, values.count, keys.filled, values.filled);
  const parts = [keys.slots, keys.ends.subarray(0, keys.count), valueIds.subarray(0, keys.count), values.ends.subarray(0, values.count)];
  words.set([keys.count, keys.slots.length, values.count, keys.filled]);
  let at = HEADER_WORDS;
  for (const part of parts) {
    await copyInTurns(part, words, at, turns);
    at += part.length;
  }
  await copyInTurns(keys.bytes.subarray(0, keys.filled), bytes, textAt, turns);
  await copyInTurns(values.bytes.subarray(0, values.filled), bytes, textAt + keys.filled, turns);
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += HASHED_BYTES) {
    // Memory that is shared is not hashed where it lies.
    hash.update(Buffer.from(bytes.subarray(from, from + HASHED_BYTES)));
    if (turns.isDue) await turns.give();
  }
  return { length: keys.count, hasNull: false, digest: hash.digest('base64'), packed: bytes };
}

const HASHED_BYTES = 1 << 19;
const COPIED_AT_ONCE = 1 << 18;

type List = Uint8Array | Uint32Array;

async function copyInTurns(from: List, to: List, at: number, turns: LoopTurns): Promise<void> {
  for (let start = 0; start < from.length; start += COPIED_AT_ONCE) {
    to.set(from.subarray(start, start + COPIED_AT_ONCE), at + start);
    if (turns.isDue) await turns.give();
  }
}

/** The entries of an object or a list of pairs. */
export async function lookupTableOf(entries: Iterable<readonly [string, string]>, bytesMax = Infinity): Promise<LookupTable> {
  const builder = new LookupBuilder(bytesMax);
  const turns = new LoopTurns();
  let read = 0;
  for (const [key, value] of entries) {
    if (read++ % ENTRIES_PER_LOOK === 0) {
      await builder.makeRoom(ENTRIES_PER_LOOK, turns);
      if (turns.isDue) await turns.give();
    }
    builder.add(key, value);
  }
  return builder.finish();
}

const ENTRIES_PER_LOOK = 256;

function layoutOf(entries: number, slots: number, values: number, keyBytes: number, valueBytes: number) {
  const wordCount = HEADER_WORDS + slots + entries * 2 + values;
  const bytes = new Uint8Array(new SharedArrayBuffer(wordCount * 4 + keyBytes + valueBytes));
  return { bytes, words: new Uint32Array(bytes.buffer, 0, wordCount), textAt: wordCount * 4 };
}

/** Reads the entries of a table. */
export class LookupReader {
  readonly length: number;
  readonly valueCount: number;
  /** Number of the value of each entry. */
  readonly valueIds: Uint32Array;
  readonly #bytes: Buffer;
  readonly #slots: Uint32Array;
  readonly #keyEnds: Uint32Array;
  readonly #valueEnds: Uint32Array;
  readonly #keysAt: number;
  readonly #valuesAt: number;
  /** Values that were asked for, by number. */
  readonly #values: (string | undefined)[] = [];

  constructor({ packed }: LookupTable) {
    // Bytes from another process may begin anywhere.
    const whole = packed.byteOffset % 4 === 0 ? packed : packed.slice();
    const wordsFrom = (at: number, count: number): Uint32Array => new Uint32Array(whole.buffer, whole.byteOffset + at * 4, count);
    const [entries = 0, slots = 0, values = 0, keyBytes = 0] = wordsFrom(0, HEADER_WORDS);
    this.length = entries;
    this.valueCount = values;
    this.#slots = wordsFrom(HEADER_WORDS, slots);
    this.#keyEnds = wordsFrom(HEADER_WORDS + slots, entries);
    this.valueIds = wordsFrom(HEADER_WORDS + slots + entries, entries);
    this.#valueEnds = wordsFrom(HEADER_WORDS + slots + entries * 2, values);
    this.#bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
    this.#keysAt = (HEADER_WORDS + slots + entries * 2 + values) * 4;
    this.#valuesAt = this.#keysAt + keyBytes;
  }

  /** The value of a key; null when there is none. */
  find(key: string): string | null {
    if (key.length * 3 > scratch.length) scratch = Buffer.allocUnsafeSlow(key.length * 3);
    const id = this.findBytes(scratch, 0, scratch.write(key, 0, 'utf8'));
    return id < 0 ? null : this.#kept(id);
  }

  /** Number of the value of a key, of which there are only the bytes; -1 when there is none. */
  findBytes(bytes: Uint8Array, start: number, end: number): number {
    const entry = this.#entryOf(bytes, start, end);
    return entry < 0 ? -1 : (this.valueIds[entry] ?? 0);
  }

  /** The values behind one another, as UTF-8, and where each ends. */
  get values(): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
    const ends = this.#valueEnds;
    return { bytes: this.#bytes.subarray(this.#valuesAt, this.#valuesAt + (ends[ends.length - 1] ?? 0)), ends };
  }

  key(entry: number): string {
    const from = entry === 0 ? 0 : (this.#keyEnds[entry - 1] ?? 0);
    return this.#bytes.toString('utf8', this.#keysAt + from, this.#keysAt + (this.#keyEnds[entry] ?? 0));
  }

  /** A value by its number. */
  value(id: number): string {
    const from = id === 0 ? 0 : (this.#valueEnds[id - 1] ?? 0);
    return this.#bytes.toString('utf8', this.#valuesAt + from, this.#valuesAt + (this.#valueEnds[id] ?? 0));
  }

  #kept(id: number): string {
    const known = this.#values[id];
    if (known !== undefined) return known;
    const value = this.value(id);
    this.#values[id] = value;
    return value;
  }

  #entryOf(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(bytes, start, end) & mask;
    for (let known = this.#slots[slot] ?? 0; known !== 0; known = this.#slots[slot] ?? 0) {
      const entry = known - 1;
      const from = this.#keysAt + (entry === 0 ? 0 : (this.#keyEnds[entry - 1] ?? 0));
      if (areEqual(this.#bytes, from, this.#keysAt + (this.#keyEnds[entry] ?? 0), bytes, start, end)) return entry;
      slot = (slot + 1) & mask;
    }
    return -1;
  }
}

let scratch = Buffer.allocUnsafeSlow(1 << 10);

const READERS = new WeakMap<LookupTable, LookupReader>();

/** The reader of a table, which stays as long as the table does. */
export function readerOf(table: LookupTable): LookupReader {
  const reader = READERS.get(table) ?? new LookupReader(table);
  READERS.set(table, reader);
  return reader;
}

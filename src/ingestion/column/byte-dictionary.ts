// Dictionary of strings given as UTF-8 bytes.

import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { KernelMemory } from '../../kernels/memory.js';
import { TEXT_PADDING, TEXT_SLOT_BYTES, TEXT_TABLE } from '../../kernels/text-id-contract.js';
import { areFirstRows } from './first-rows.js';
import { type InputBench, inputBench, Room } from './input-bench.js';

/** The id of null in every dictionary of ingestion. */
export const NULL_ID = 0;

const TEXT_CACHE_MAX = 1 << 18;
const CACHED_LENGTH_MAX = 64;
const [SLOTS_FIRST, OFFSETS_FIRST, ARENA_FIRST] = [64, 64, 1024];
/** Bytes of dictionaries together that leave room in kernel memory for them to grow: both the old one and the larger are there for a moment. */
export const DICTIONARIES_BYTES_MAX = 2 ** 30;

/** Fields of `rows[0 .. count)`, ascending, in some bytes; one whose end is below 0 is null. */
export interface Fields {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly rows: Int32Array;
  readonly count: number;
  /** Memory that the bytes, starts and ends lie in, readable TEXT_PADDING bytes past them; null: none of kernels. */
  readonly memory: KernelMemory | null;
}

/** Secret words by which this process hashes: whoever writes the input cannot foresee which texts collide. The multipliers are odd. */
const KEY = new Uint32Array(new Uint8Array(randomBytes(24)).buffer).map((word, at) => (at === 2 || at === 4 ? word | 1 : word));

/** The allocations of a dictionary. */
class Rooms {
  readonly table: Room;
  slots: Room;
  readonly arena: Room;
  readonly offsets: Room;

  constructor(memory: KernelMemory) {
    [this.table, this.slots, this.arena, this.offsets] = [new Room(memory), new Room(memory), new Room(memory), new Room(memory)];
  }

  free(): void {
    for (const room of [this.table, this.slots, this.arena, this.offsets]) room.free();
  }
}

/** Dictionaries that nobody released give their memory back when they are collected. */
const forgotten = new FinalizationRegistry<Rooms>((rooms) => rooms.free());

/**
 * Distinct strings of a column as UTF-8, numbered from 1 in order of arrival; id 0 is null. They lie in the kernel memory of the thread
 * (`TEXT_TABLE`), where a kernel looks up the fields of a block: no JS string is made until the segment is written, and then once per distinct
 * value rather than once per row.
 */
export class ByteDictionary {
  readonly bench: InputBench;
  readonly #rooms: Rooms;
  /** The words of the table; empty before the first string. */
  #words = new Uint32Array(0);
  readonly #idsByText = new Map<string, number>();

  constructor(bench = inputBench()) {
    this.bench = bench;
    this.#rooms = new Rooms(bench.memory);
    forgotten.register(this, this.#rooms);
  }

  /** Ids are below it. */
  get count(): number {
    return this.#words[TEXT_TABLE.count] ?? 1;
  }

  get sizeBytes(): number {
    const { slots, arena, offsets } = this.#rooms;
    return slots.bytes + arena.bytes + offsets.bytes;
  }

  /** The id of the bytes [start, end) of `source`, which is only read. */
  idOf(source: Uint8Array, start: number, end: number): number {
    const { memory, scratch } = this.bench;
    const length = end - start;
    scratch.grow(ONE_TEXT + length + TEXT_PADDING);
    memory.u8(scratch.at + ONE_TEXT, length).set(source.subarray(start, end));
    return this.#idOfScratch(length);
  }

  /** Ids of fields, null for one without an end, at `to` and behind. */
  idsOf(source: Uint8Array, fields: Fields, ids: Uint32Array, to: number): void {
    const { rows, count } = fields;
    if (count === 0) return;
    const { memory, scratch } = this.bench;
    const isHere = fields.memory === memory;
    const areAll = areFirstRows(fields);
    const moved = isHere ? null : spanOf(fields);
    const bytesMoved = moved === null ? 0 : moved.end - moved.start;
    scratch.grow(count * 12 + bytesMoved + TEXT_PADDING);
    const idsAt = scratch.at;
    const [first, second, textAt] = [idsAt + count * 4, idsAt + count * 8, idsAt + count * 12];
    if (moved === null) {
      if (!areAll) memory.i32(first, count).set(rows.subarray(0, count));
      this.#find(source.byteOffset, fields.starts.byteOffset, fields.ends.byteOffset, areAll ? 0 : first, count, idsAt);
    } else {
      memory.u8(textAt, bytesMoved).set(source.subarray(moved.start, moved.end));
      const [starts, ends] = [memory.i32(first, count), memory.i32(second, count)];
      for (let each = 0; each < count; each++) {
        const row = rows[each] ?? 0;
        const end = fields.ends[row] ?? -1;
        starts[each] = end < 0 ? 0 : (fields.starts[row] ?? 0) - moved.start;
        ends[each] = end < 0 ? -1 : end - moved.start;
      }
      this.#find(textAt, first, second, 0, count, idsAt);
    }
    ids.set(memory.u32(idsAt, count), to);
  }

  /** A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD. */
  idOfText(text: string): number {
    // Long texts seldom repeat, and to find one as a string is to hash it too.
    if (text.length > CACHED_LENGTH_MAX) return this.#idOfString(text);
    const known = this.#idsByText.get(text);
    if (known !== undefined) return known;
    const id = this.#idOfString(text);
    if (this.#idsByText.size >= TEXT_CACHE_MAX) this.#idsByText.clear();
    this.#idsByText.set(text, id);
    return id;
  }

  textOf(id: number): string | null {
    if (id === NULL_ID) return null;
    const { bytes, offsets } = this.contents();
    return bytes.toString('utf8', offsets[id], offsets[id + 1]);
  }

  /** The value bytes and where they begin, `count + 1` offsets; views that the next new value may outdate. */
  contents(): { readonly bytes: Buffer; readonly offsets: Uint32Array } {
    const { memory } = this.bench;
    if (this.#words.length === 0) return { bytes: Buffer.alloc(0), offsets: new Uint32Array(2) };
    const { buffer } = memory.u8(this.#rooms.arena.at, this.#rooms.arena.bytes);
    return {
      bytes: Buffer.from(buffer, this.#rooms.arena.at, this.#words[TEXT_TABLE.arenaUsed]),
      offsets: memory.u32(this.#rooms.offsets.at, this.count + 1),
    };
  }

  /** Forgets all strings, and gives their memory back. */
  release(): void {
    this.#rooms.free();
    this.#words = new Uint32Array(0);
    this.#idsByText.clear();
  }

  #idOfString(text: string): number {
    const { memory, scratch } = this.bench;
    const bytesMax = text.length * 3;
    scratch.grow(ONE_TEXT + bytesMax + TEXT_PADDING);
    const at = scratch.at + ONE_TEXT;
    return this.#idOfScratch(Buffer.from(memory.u8(at, bytesMax).buffer, at, bytesMax).write(text, 'utf8'));
  }

  /** The id of the text in the scratch, behind its bounds. */
  #idOfScratch(length: number): number {
    const { memory, scratch } = this.bench;
    const { at } = scratch;
    const words = memory.u32(at, 3);
    words[0] = 0;
    words[1] = length;
    this.#find(at + ONE_TEXT, at, at + 4, 0, 1, at + 8);
    return words[2] ?? NULL_ID;
  }

  #find(bytes: number, starts: number, ends: number, rows: number, count: number, ids: number): void {
    const { kernels } = this.bench;
    if (this.#words.length === 0) this.#open();
    const { at: table } = this.#rooms.table;
    for (let done = 0; ; this.#grow()) {
      done = kernels.textIds(bytes, starts, ends, rows, done, count, table, ids);
      if (done >= count) return;
    }
  }

  #open(): void {
    const { memory } = this.bench;
    const { table, slots, arena, offsets } = this.#rooms;
    table.grow(TEXT_TABLE.words * 4);
    slots.grow(SLOTS_FIRST * TEXT_SLOT_BYTES);
    arena.grow(ARENA_FIRST);
    offsets.grow(OFFSETS_FIRST * 4);
    memory.u8(slots.at, slots.bytes).fill(0);
    memory.u32(offsets.at, 2).fill(0);
    const words = memory.u32(table.at, TEXT_TABLE.words);
    words.fill(0);
    words[TEXT_TABLE.capacity] = SLOTS_FIRST;
    words[TEXT_TABLE.count] = 1;
    words.set(KEY, TEXT_TABLE.seed);
    this.#words = words as Uint32Array<ArrayBuffer>;
    this.#tellRooms();
  }

  #tellRooms(): void {
    const { slots, arena, offsets } = this.#rooms;
    const words = this.#words;
    words[TEXT_TABLE.slots] = slots.at;
    words[TEXT_TABLE.arena] = arena.at;
    words[TEXT_TABLE.arenaBytes] = arena.bytes;
    words[TEXT_TABLE.offsets] = offsets.at;
    words[TEXT_TABLE.offsetsMax] = offsets.bytes / 4;
  }

  /** Makes room for one text more, of the length that was needed. */
  #grow(): void {
    const words = this.#words;
    const { table, arena, offsets } = this.#rooms;
    const { count } = this;
    arena.grow((words[TEXT_TABLE.arenaUsed] ?? 0) + (words[TEXT_TABLE.needed] ?? 0) + TEXT_PADDING);
    offsets.grow((count + 2) * 4);
    const capacity = words[TEXT_TABLE.capacity] ?? 0;
    if ((count + 1) * 4 <= capacity * 3) return this.#tellRooms();
    const { memory, kernels } = this.bench;
    const old = this.#rooms.slots;
    const slots = new Room(memory);
    slots.grow(capacity * 2 * TEXT_SLOT_BYTES);
    memory.u8(slots.at, slots.bytes).fill(0);
    this.#rooms.slots = slots;
    words[TEXT_TABLE.capacity] = capacity * 2;
    this.#tellRooms();
    kernels.textIdSlots(old.at, capacity, table.at);
    old.free();
  }
}

/** Bytes in the scratch before the bytes of a single text: its start, its end, its id. */
const ONE_TEXT = 16;

/** The bytes from the first of the fields to the last. */
function spanOf({ starts, ends, rows, count }: Fields): { readonly start: number; readonly end: number } {
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < count; at++) {
    const row = rows[at] ?? 0;
    const fieldEnd = ends[row] ?? -1;
    if (fieldEnd < 0) continue;
    start = Math.min(start, starts[row] ?? 0);
    end = Math.max(end, fieldEnd);
  }
  return end === 0 ? { start: 0, end: 0 } : { start, end };
}

// Strings that are numbered, as UTF-8 one behind the other.

import type { LoopTurns } from '../../base/loop-turns.js';

const SLOTS_MIN = 1 << 9;
/** Slots that may be taken: 3 of 4. */
const FULL = 3;
const FULL_PARTS = 4;
/** Strings that are hashed between two looks at the time. */
const HASHED_AT_ONCE = 4096;
/** Upper bits of hashes by which strings are put in order part by part. */
const PART_BITS = 12;

function slotsFor(count: number): number {
  let slots = SLOTS_MIN;
  while (count * FULL_PARTS > slots * FULL) slots *= 2;
  return slots;
}

/** Distinct strings, numbered in order of their first appearance. */
export class StringPool {
  count = 0;
  filled = 0;
  bytes = Buffer.allocUnsafeSlow(1 << 12);
  ends = new Uint32Array(1 << 8);
  slots = new Uint32Array(SLOTS_MIN);
  #hashes = new Uint32Array(1 << 8);

  idOf(text: string): number {
    const room = this.filled + text.length * 3;
    if (room > this.bytes.length) this.#growBytes(room);
    const end = this.filled + this.bytes.write(text, this.filled, 'utf8');
    return this.#written(end, hashOf(this.bytes, this.filled, end));
  }

  /** The same of a string of another pool. */
  idOfAnother(pool: StringPool, id: number): number {
    const start = pool.#startOf(id);
    const end = this.filled + pool.sizeOf(id);
    if (end > this.bytes.length) this.#growBytes(end);
    pool.bytes.copy(this.bytes, this.filled, start, pool.ends[id] ?? 0);
    return this.#written(end, pool.#hashes[id] ?? 0);
  }

  /** Bytes of a string. */
  sizeOf(id: number): number {
    return (this.ends[id] ?? 0) - this.#startOf(id);
  }

  /**
   * The strings that are wanted, by their hashes and, where these are equal, their bytes: an order that does not hang on which of
   * them came first.
   */
  async inOrder(isWanted: (id: number) => boolean, turns: LoopTurns): Promise<Uint32Array> {
    const ends = new Uint32Array((1 << PART_BITS) + 1);
    for (let id = 0; id < this.count; id++) {
      if (isWanted(id)) {
        const part = (this.#hashes[id] ?? 0) >>> (32 - PART_BITS);
        ends[part + 1] = (ends[part + 1] ?? 0) + 1;
      }
      if (id % HASHED_AT_ONCE === 0 && turns.isDue) await turns.give();
    }
    for (let part = 1; part < ends.length; part++) ends[part] = (ends[part] ?? 0) + (ends[part - 1] ?? 0);
    const total = ends[ends.length - 1] ?? 0;
    // A hash above the number of its string makes one integer, little endian.
    const words = new Uint32Array(total * 2);
    for (let id = 0; id < this.count; id++) {
      if (id % HASHED_AT_ONCE === 0 && turns.isDue) await turns.give();
      if (!isWanted(id)) continue;
      const hash = this.#hashes[id] ?? 0;
      const part = hash >>> (32 - PART_BITS);
      const at = ends[part] ?? 0;
      ends[part] = at + 1;
      words[at * 2] = id;
      words[at * 2 + 1] = hash;
    }
    const pairs = new BigUint64Array(words.buffer);
    const order = new Uint32Array(total);
    let start = 0;
    // Each part ends by now where the one behind it began.
    for (let part = 0; part < 1 << PART_BITS; part++) {
      const end = ends[part] ?? 0;
      pairs.subarray(start, end).sort();
      for (let from = start; from < end; ) {
        let to = from + 1;
        while (to < end && words[to * 2 + 1] === words[from * 2 + 1]) to++;
        for (let at = from; at < to; at++) order[at] = words[at * 2] ?? 0;
        if (to > from + 1) order.subarray(from, to).sort((one, other) => this.#compare(one, other));
        from = to;
      }
      start = end;
      if (turns.isDue) await turns.give();
    }
    return order;
  }

  #compare(one: number, other: number): number {
    return this.bytes.compare(this.bytes, this.#startOf(other), this.ends[other] ?? 0, this.#startOf(one), this.ends[one] ?? 0);
  }

  #startOf(id: number): number {
    return id === 0 ? 0 : (this.ends[id - 1] ?? 0);
  }

  /** The number of the string that was written behind the others, which stays there if it is new. */
  #written(end: number, hash: number): number {
    const start = this.filled;
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let known = this.slots[slot] ?? 0; known !== 0; known = this.slots[slot] ?? 0) {
      const id = known - 1;
      if (this.#hashes[id] === hash && this.#isEqual(id, start, end)) return id;
      slot = (slot + 1) & mask;
    }
    const id = this.count++;
    if (id === this.ends.length) this.#growEntries();
    this.ends[id] = end;
    this.#hashes[id] = hash;
    this.slots[slot] = id + 1;
    this.filled = end;
    if (this.count * FULL_PARTS > this.slots.length * FULL) for (const _ of this.#rehash(this.slots.length * 2));
    return id;
  }

  #isEqual(id: number, start: number, end: number): boolean {
    return areEqual(this.bytes, this.#startOf(id), this.ends[id] ?? 0, this.bytes, start, end);
  }

  #growBytes(room: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(room, Math.min(this.bytes.length * 2, 2 ** 32 - 1)));
    this.bytes.copy(larger, 0, 0, this.filled);
    this.bytes = larger;
  }

  #growEntries(): void {
    const [ends, hashes] = [new Uint32Array(this.ends.length * 2), new Uint32Array(this.ends.length * 2)];
    ends.set(this.ends);
    hashes.set(this.#hashes);
    this.ends = ends;
    this.#hashes = hashes;
  }

  /** Makes room for so many more strings, in turns: what is added meanwhile is lost. */
  async makeRoom(more: number, turns: LoopTurns): Promise<void> {
    await this.#resize(slotsFor(this.count + more), turns, (wanted) => wanted > this.slots.length);
  }

  /** Has as many slots as the strings need, however they came to be more. */
  async fit(turns: LoopTurns): Promise<void> {
    await this.#resize(slotsFor(this.count), turns, (wanted) => wanted !== this.slots.length);
  }

  async #resize(wanted: number, turns: LoopTurns, isNeeded: (wanted: number) => boolean): Promise<void> {
    if (!isNeeded(wanted)) return;
    for (const _ of this.#rehash(wanted)) if (turns.isDue) await turns.give();
  }

  /** Yields now and then. */
  *#rehash(length: number): Generator<undefined> {
    const slots = new Uint32Array(length);
    const mask = slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      let slot = (this.#hashes[id] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
      if (id % HASHED_AT_ONCE === 0) yield;
    }
    this.slots = slots;
  }
}

/** FNV-1a with a last step that spreads the upper bits. */
export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function areEqual(left: Uint8Array, from: number, to: number, right: Uint8Array, start: number, end: number): boolean {
  if (to - from !== end - start) return false;
  for (let at = from; at < to; at++) if (left[at] !== right[start + at - from]) return false;
  return true;
}

// Numbers lists of ids as they are met.

const FIRST_SLOTS = 1 << 10;

/** Codes of lists of ids, from 1 on; the empty list is 0. Open addressing over their hashes, at most half full. */
export class ListCodes {
  /** Codes; 0 is an empty slot. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** Hashes of lists, and where the ids of each begin, by code; those of the last end at `#idCount`. */
  #hashes = new Uint32Array(FIRST_SLOTS);
  #starts = new Uint32Array(FIRST_SLOTS);
  #ids = new Uint32Array(FIRST_SLOTS);
  #idCount = 0;
  /** Codes given, with that of the empty list. */
  count = 1;

  /** The code of ids [from, to), which is given one where it is new. */
  codeOf(ids: ArrayLike<number>, from: number, to: number): number {
    if (from === to) return 0;
    let hash = to - from;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (ids[at] ?? 0), 0x9e3779b1) ^ (hash >>> 15);
    hash = (hash ^ (hash >>> 16)) >>> 0;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let code = this.#slots[slot] ?? 0; code !== 0; code = this.#slots[slot] ?? 0) {
      if (this.#hashes[code] === hash && this.#isList(code, ids, from, to)) return code;
      slot = (slot + 1) & mask;
    }
    return this.#add(slot, hash, ids, from, to);
  }

  /** Readable until the next list is met. */
  idsOf(code: number): Uint32Array {
    return code === 0 ? this.#ids.subarray(0, 0) : this.#ids.subarray(this.#starts[code], this.#endOf(code));
  }

  #endOf(code: number): number {
    return code + 1 < this.count ? (this.#starts[code + 1] ?? 0) : this.#idCount;
  }

  #isList(code: number, ids: ArrayLike<number>, from: number, to: number): boolean {
    const start = this.#starts[code] ?? 0;
    if (this.#endOf(code) - start !== to - from) return false;
    for (let at = from; at < to; at++) if (this.#ids[start + at - from] !== ids[at]) return false;
    return true;
  }

  #add(slot: number, hash: number, ids: ArrayLike<number>, from: number, to: number): number {
    const code = this.count++;
    if (code === this.#hashes.length) {
      this.#hashes = longer(this.#hashes, code * 2);
      this.#starts = longer(this.#starts, code * 2);
    }
    const end = this.#idCount + (to - from);
    if (end > this.#ids.length) this.#ids = longer(this.#ids, Math.max(this.#ids.length * 2, end));
    this.#hashes[code] = hash;
    this.#starts[code] = this.#idCount;
    for (let at = from; at < to; at++) this.#ids[this.#idCount++] = ids[at] ?? 0;
    this.#slots[slot] = code;
    if (this.count * 2 > this.#slots.length) this.#spread();
    return code;
  }

  #spread(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let code = 1; code < this.count; code++) {
      let slot = (this.#hashes[code] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = code;
    }
    this.#slots = slots;
  }
}

function longer(numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(length);
  grown.set(numbers);
  return grown;
}

// Hashes of groups that no sketch has taken in yet.

import type { TakesHashes } from '../../../sketch/hashes.js';

/** A kind of sketch whose result does not depend on the order of its hashes, nor on how often each comes. */
export interface HashKind {
  /** Words of 32 bits that are kept of each hash. */
  readonly width: 1 | 2;
  /** Hashes of a group that are kept as they are; a sketch of more takes no more room than they do. */
  readonly most: number;
  create(): HashSketch;
  merge(into: HashSketch, from: HashSketch): void;
  bytes(sketch: HashSketch): number;
  /** A sketch for another thread; `unpack` gives its equal. */
  pack(sketch: HashSketch): Uint32Array;
  unpack(packed: Uint32Array): HashSketch;
  /** Writes what is kept of hashes `places` [from, to) of `words`, beginning with the hash at position `at` of `kept`. */
  keep(words: Uint32Array, places: Uint32Array, from: number, to: number, kept: Uint32Array, at: number): void;
  /** Gives a sketch the hashes [from, to) of those that were kept. */
  give(sketch: HashSketch, kept: Uint32Array, from: number, to: number): void;
}

export type HashSketch = TakesHashes;

const FIRST_HASHES = 1024;

/** Hashes with the numbers of their groups as they come, and sketches of the groups that have many. */
export class GatheredHashes {
  readonly kind: HashKind;
  groups: Uint32Array = new Uint32Array(FIRST_HASHES);
  /** `kind.width` words for each hash. */
  kept: Uint32Array;
  count = 0;
  readonly sketches = new Map<number, HashSketch>();
  #sketchBytes = 0;
  /** Hashes of each group; beyond `kind.most` it has a sketch. */
  #counts: Uint32Array = new Uint32Array(FIRST_HASHES);
  /** One for all groups: nobody holds on to what `stateOf` gives. */
  readonly #receiver: Receiver;

  constructor(kind: HashKind) {
    this.kind = kind;
    this.kept = new Uint32Array(FIRST_HASHES * kind.width);
    this.#receiver = new Receiver(this);
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.sketches.size === 0;
  }

  get bytes(): number {
    return this.groups.byteLength + this.kept.byteLength + this.#counts.byteLength + this.#sketchBytes;
  }

  /** Takes the hashes of a group, until it is called again. */
  readonly stateOf = (group: number): TakesHashes => {
    this.#receiver.group = group;
    return this.#receiver;
  };

  add(group: number, words: Uint32Array, places: Uint32Array, from: number, to: number): void {
    const { kind } = this;
    if (group >= this.#counts.length) this.#counts = larger(this.#counts, group + 1);
    const known = this.#counts[group] ?? 0;
    if (known + (to - from) > kind.most) {
      const sketch = this.#sketchOf(group);
      const before = kind.bytes(sketch);
      sketch.addHashes(words, places, from, to);
      this.#sketchBytes += kind.bytes(sketch) - before;
      return;
    }
    this.#counts[group] = known + (to - from);
    this.#reserve(to - from);
    kind.keep(words, places, from, to, this.kept, this.count);
    this.groups.fill(group, this.count, this.count + (to - from));
    this.count += to - from;
  }

  /** Takes in a sketch, which is kept where the group has none. */
  addSketch(group: number, sketch: HashSketch): void {
    const { kind } = this;
    const known = this.sketches.get(group);
    if (known === undefined) {
      this.#keepSketch(group, sketch);
      return;
    }
    const before = kind.bytes(known);
    kind.merge(known, sketch);
    this.#sketchBytes += kind.bytes(known) - before;
  }

  /** Takes in others, whose groups have the numbers `groupOf` here. @param check  looked at between stretches of them */
  addAll(given: GatheredHashes, groupOf: Uint32Array, check: () => void): void {
    const { kind } = this;
    let last = 0;
    for (let group = 0; group < groupOf.length; group++) last = Math.max(last, groupOf[group] ?? 0);
    if (last >= this.#counts.length) this.#counts = larger(this.#counts, last + 1);
    for (let start = 0; start < given.count; start += HASHES_PER_CHECK) {
      check();
      const end = Math.min(given.count, start + HASHES_PER_CHECK);
      this.#reserve(end - start);
      const [counts, groups, kept] = [this.#counts, this.groups, this.kept];
      for (let at = start; at < end; at++) {
        const group = groupOf[given.groups[at] ?? 0] ?? 0;
        const known = counts[group] ?? 0;
        if (known >= kind.most) {
          this.#giveSketch(group, given.kept, at);
          continue;
        }
        counts[group] = known + 1;
        const to = this.count++;
        groups[to] = group;
        if (kind.width === 1) kept[to] = given.kept[at] ?? 0;
        else {
          kept[to * 2] = given.kept[at * 2] ?? 0;
          kept[to * 2 + 1] = given.kept[at * 2 + 1] ?? 0;
        }
      }
    }
    for (const [group, sketch] of given.sketches) this.addSketch(groupOf[group] ?? 0, sketch);
  }

  /** The sketch of a group, of all that came for it so far; undefined: none did. To be asked for before more comes. */
  reader(): (group: number) => HashSketch | undefined {
    const { kind, count, groups, kept, sketches } = this;
    let last = -1;
    for (let at = 0; at < count; at++) last = Math.max(last, groups[at] ?? 0);
    // Counted one place further on, so that placing them leaves each start where the one before it was.
    const starts = new Uint32Array(last + 3);
    for (let at = 0; at < count; at++) {
      const place = (groups[at] ?? 0) + 2;
      starts[place] = (starts[place] ?? 0) + 1;
    }
    for (let at = 1; at < starts.length; at++) starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0);
    const placed = new Uint32Array(count * kind.width);
    for (let at = 0; at < count; at++) {
      const group = (groups[at] ?? 0) + 1;
      const to = starts[group] ?? 0;
      starts[group] = to + 1;
      if (kind.width === 1) placed[to] = kept[at] ?? 0;
      else {
        placed[to * 2] = kept[at * 2] ?? 0;
        placed[to * 2 + 1] = kept[at * 2 + 1] ?? 0;
      }
    }
    return (group) => {
      const [from = 0, to = from] = group <= last ? [starts[group], starts[group + 1]] : [];
      const known = sketches.get(group);
      if (from === to) return known;
      const sketch = known ?? kind.create();
      kind.give(sketch, placed, from, to);
      return sketch;
    };
  }

  #giveSketch(group: number, kept: Uint32Array, at: number): void {
    const sketch = this.#sketchOf(group);
    const before = this.kind.bytes(sketch);
    this.kind.give(sketch, kept, at, at + 1);
    this.#sketchBytes += this.kind.bytes(sketch) - before;
  }

  #sketchOf(group: number): HashSketch {
    const known = this.sketches.get(group);
    if (known !== undefined) return known;
    const sketch = this.kind.create();
    this.#keepSketch(group, sketch);
    return sketch;
  }

  #keepSketch(group: number, sketch: HashSketch): void {
    if (group >= this.#counts.length) this.#counts = larger(this.#counts, group + 1);
    this.#counts[group] = this.kind.most;
    this.sketches.set(group, sketch);
    this.#sketchBytes += this.kind.bytes(sketch);
  }

  #reserve(more: number): void {
    const room = this.count + more;
    if (room <= this.groups.length) return;
    this.groups = larger(this.groups, room);
    this.kept = larger(this.kept, this.groups.length * this.kind.width);
  }
}

const HASHES_PER_CHECK = 1 << 16;

class Receiver implements TakesHashes {
  readonly #hashes: GatheredHashes;
  group = 0;

  constructor(hashes: GatheredHashes) {
    this.#hashes = hashes;
  }

  addHashes(words: Uint32Array, places: Uint32Array, from: number, to: number): void {
    this.#hashes.add(this.group, words, places, from, to);
  }
}

function larger(values: Uint32Array, room: number): Uint32Array {
  const grown = new Uint32Array(Math.max(room, values.length * 2));
  grown.set(values);
  return grown;
}

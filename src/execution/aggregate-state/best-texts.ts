// The smallest or largest text of each group, by kernels.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { clear, type Scratch } from '../block/context.js';
import { referredTexts } from '../block/text-references.js';
import { RUN_BYTES } from '../expression/time/runs.js';
import { I64_MIN } from '../filter/number-bounds.js';

const FIRST_GROUPS = 1024;
const FIRST_BYTES = 1 << 16;

/** Number of groups that have room, which grows by doubling. */
export class GroupRoom {
  readonly #scope: Scratch;
  readonly #run: Address;
  readonly #last: Address;
  #room = 0;

  constructor(scope: Scratch) {
    this.#scope = scope;
    this.#run = scope.arena.take(RUN_BYTES);
    this.#last = scope.arena.take(8);
  }

  get groups(): number {
    return this.#room;
  }

  /** Calls `grow` where the largest of `groups` has no room yet. */
  reserve(groups: Address, n: number, grow: (from: number, to: number) => void): void {
    const { kernels, memory } = this.#scope.context;
    memory.u32(this.#run, 3).set([0, 0, n]);
    memory.u32(this.#last, 1)[0] = 0;
    kernels.maxRunsU32(groups, 0, this.#run, 1, this.#last);
    this.include((memory.u32(this.#last, 1)[0] ?? 0) + 1, grow);
  }

  /** The same of a number of groups. */
  include(needed: number, grow: (from: number, to: number) => void): void {
    if (needed <= this.#room) return;
    let room = Math.max(FIRST_GROUPS, this.#room);
    while (room < needed) room *= 2;
    grow(this.#room, room);
    this.#room = room;
  }
}

/** The smallest or largest text of each group, copied: what is compared with it is gone with its block. */
export class BestTexts {
  readonly #scope: Scratch;
  readonly #largest: 0 | 1;
  readonly #room: GroupRoom;
  readonly #part: Address;
  #state: Address = 0;
  /** A block of the least i64, and one of zeros. */
  #bounds: Address = 0;
  #bytes: Address = 0;
  #size = 0;
  #used = 0;
  /** Place to which the bytes move when there is no more room for them. */
  #spare: { readonly at: Address; readonly size: number } = { at: 0, size: 0 };

  constructor(scope: Scratch, end: 'min' | 'max') {
    this.#scope = scope;
    this.#largest = end === 'max' ? 1 : 0;
    this.#room = new GroupRoom(scope);
    this.#part = scope.arena.take(8);
  }

  /** `texts`: references, one for each of the groups. */
  add(texts: Address, groups: Address, n: number): void {
    if (n === 0) return;
    const { kernels } = this.#scope.context;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    this.#reserveBytes(kernels.textBytes(texts, n) + 16);
    this.#used += kernels.textBest(texts, groups, n, this.#largest, this.#state, this.#bytes + this.#used);
  }

  /** Leaves groups without a text. */
  forget(groups: Address, n: number): void {
    const { kernels, memory } = this.#scope.context;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    if (this.#bounds === 0) {
      this.#bounds = this.#scope.arena.take(2 * BLOCK_ROWS * 8);
      memory.i64(this.#bounds, BLOCK_ROWS).fill(I64_MIN);
      clear(this.#scope.context, this.#bounds + BLOCK_ROWS * 8, BLOCK_ROWS * 8);
    }
    // A reference of any bits becomes 0: the least, and then the greater of that and 0.
    kernels.minGroupsI64(this.#bounds, 0, groups, n, this.#state);
    kernels.maxGroupsI64(this.#bounds + BLOCK_ROWS * 8, 0, groups, n, this.#state);
  }

  /** Groups there is room for: as many references begin at `state`, 0 for groups without a text. */
  get groups(): number {
    return this.#room.groups;
  }

  get state(): Address {
    return this.#state;
  }

  each(visit: (group: number, text: string) => void): void {
    const read = referredTexts(this.#scope.context.memory, this.#state, this.#room.groups);
    for (let group = 0; group < this.#room.groups; group++) {
      const text = read(group);
      if (text !== null) visit(group, text);
    }
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const state = arena.take(to * 8);
    clear(context, state + from * 8, (to - from) * 8);
    if (from > 0) context.kernels.toI64I64(this.#state, 0, from, 0n, state);
    this.#state = state;
  }

  /** Room for so many more: texts that were replaced by better ones are left behind where it needs more. */
  #reserveBytes(more: number): void {
    if (this.#used + more <= this.#size) return;
    const { arena, context } = this.#scope;
    const groups = this.#room.groups;
    const kept = context.kernels.textBytes(this.#state, groups);
    const size = Math.max(FIRST_BYTES, this.#size, 2 ** Math.ceil(Math.log2(2 * (kept + more))));
    const to = this.#spare.size >= size ? this.#spare.at : arena.take(size);
    context.memory.u32(this.#part, 2).set([this.#state, 8]);
    context.kernels.textConcat(this.#part, 1, groups, this.#state, to);
    this.#spare = { at: this.#bytes, size: this.#size };
    [this.#bytes, this.#size, this.#used] = [to, size, kept];
  }
}

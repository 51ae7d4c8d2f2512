// Moments by group that grow with the number of groups.

import type { Address } from '../../../base/layout.js';
import { clear, type Scratch } from '../../block/context.js';
import { GroupRoom } from '../best-texts.js';

/** Bytes of a group: count, sum, mean and squared distances, f64 each. */
const BYTES = 32;

/** Memory of the arena it is given; all 0 for groups without values. */
export class MomentTable {
  readonly #scope: Scratch;
  readonly #room: GroupRoom;
  #states: Address = 0;

  constructor(scope: Scratch) {
    this.#scope = scope;
    this.#room = new GroupRoom(scope);
  }

  /** Moves when room is made. */
  get states(): Address {
    return this.#states;
  }

  get count(): number {
    return this.#room.groups;
  }

  reserve(groups: Address, n: number): void {
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
  }

  include(groupCount: number): void {
    this.#room.include(groupCount, (from, to) => this.#grow(from, to));
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const states = arena.take(to * BYTES);
    memory.u8(states, from * BYTES).set(memory.u8(this.#states, from * BYTES));
    clear(context, states + from * BYTES, (to - from) * BYTES);
    this.#states = states;
  }
}

// The bits of one thread's groups, folded where they lie.

import type { Address } from '../../base/layout.js';
import { ROWS_PER_CHECK } from '../block/checked-loops.js';
import type { RunContext } from '../block/context.js';
import { StateObjects } from './state-objects.js';
import type { BitKind, BitStates, EncodedStates, GroupStates, StateOperations, StateParts } from './state-operations.js';

const FIRST_GROUPS = 64;

/** A LONG for each group, and objects for what is more than bits: columns that are not LONGs may have such. */
export class BitGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #kind: BitKind;
  readonly #operations: StateOperations<unknown>;
  readonly #charge: (bytes: number) => void;
  readonly #others: StateObjects;
  /** Both halves of each group's bits. */
  #halves = new Int32Array(0);
  #seen = new Uint8Array(0);
  #count = 0;

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(context: RunContext, kind: BitKind, operations: StateOperations<unknown>, charge: (bytes: number) => void) {
    this.#context = context;
    this.#kind = kind;
    this.#operations = operations;
    this.#charge = charge;
    this.#others = new StateObjects(context.memory, operations, charge);
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.#others.isEmpty;
  }

  add(group: number, order: number, state: unknown): void {
    this.#others.add(group, order, state);
  }

  addBits(values: BigInt64Array, seen: Uint8Array, groupOf: Uint32Array): void {
    const { check } = this.#context;
    let most = 0;
    const given = Math.min(seen.length, groupOf.length);
    for (let from = 0; from < given; from++) if (seen[from] === 1) most = Math.max(most, (groupOf[from] ?? 0) + 1);
    this.#reserve(most);
    const halvesGiven = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    const [halves, known] = [this.#halves, this.#seen];
    const { operation } = this.#kind;
    for (let from = 0; from < given; from++) {
      if (from % ROWS_PER_CHECK === 0) check();
      if (seen[from] !== 1) continue;
      const group = groupOf[from] ?? 0;
      const [low = 0, high = 0] = [halvesGiven[from * 2], halvesGiven[from * 2 + 1]];
      const at = group * 2;
      if (known[group] === 0) {
        known[group] = 1;
        halves[at] = low;
        halves[at + 1] = high;
      } else if (operation === 'and') {
        halves[at] = (halves[at] ?? 0) & low;
        halves[at + 1] = (halves[at + 1] ?? 0) & high;
      } else if (operation === 'or') {
        halves[at] = (halves[at] ?? 0) | low;
        halves[at + 1] = (halves[at + 1] ?? 0) | high;
      } else {
        halves[at] = (halves[at] ?? 0) ^ low;
        halves[at + 1] = (halves[at + 1] ?? 0) ^ high;
      }
    }
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    this.#others.change(work);
  }

  reader(): (group: number) => unknown {
    const other = this.#others.reader();
    const values = this.#values();
    return (group) => {
      const more = other(group);
      if (this.#seen[group] !== 1) return more;
      const state = this.#kind.stateOf(values[group] ?? 0n);
      if (more !== undefined) this.#operations.merge(state, more);
      return state;
    };
  }

  parts(): BitStates | EncodedStates {
    const bits: BitStates = { kind: 'bits', values: this.#values().slice(0, this.#count), seen: this.#seen.slice(0, this.#count) };
    if (this.#others.isEmpty) return bits;
    const [one, other] = [encodedBits(this.#context, bits, this.#operations), this.#others.parts()];
    return {
      kind: 'encoded',
      groups: one.groups.concat(other.groups),
      orders: one.orders.concat(other.orders),
      states: one.states.concat(other.states),
    };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    if (parts.kind === 'bits') this.addBits(parts.values, parts.seen, this.#context.memory.u32(groupOf, groupCount).slice());
    else this.#others.join(parts, groupOf, groupCount);
  }

  handOver(): readonly Address[] {
    return [];
  }

  free(): void {
    this.#others.free();
    [this.#halves, this.#seen, this.#count] = [new Int32Array(0), new Uint8Array(0), 0];
  }

  #values(): BigInt64Array {
    return new BigInt64Array(this.#halves.buffer, 0, this.#halves.length / 2);
  }

  #reserve(groups: number): void {
    this.#count = Math.max(this.#count, groups);
    if (groups <= this.#seen.length) return;
    const room = Math.max(groups, FIRST_GROUPS, this.#seen.length * 2);
    this.#charge((room - this.#seen.length) * 9);
    const [halves, seen] = [new Int32Array(room * 2), new Uint8Array(room)];
    halves.set(this.#halves);
    seen.set(this.#seen);
    [this.#halves, this.#seen] = [halves, seen];
  }
}

/** The states as the texts that spilled groups are written with. */
export function encodedBits({ check }: RunContext, { values, seen }: BitStates, operations: StateOperations<unknown>): EncodedStates {
  const [groups, states]: [number[], string[]] = [[], []];
  for (let group = 0; group < seen.length; group++) {
    if (group % ROWS_PER_CHECK === 0) check();
    if (seen[group] !== 1) continue;
    groups.push(group);
    states.push(operations.encode(operations.bits?.stateOf(values[group] ?? 0n)));
  }
  return { kind: 'encoded', groups, orders: groups.map(() => 0), states };
}

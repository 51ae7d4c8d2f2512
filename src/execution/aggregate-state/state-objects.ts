// Aggregate states of one thread's groups, kept as JavaScript objects and handed to other threads.

import { assert } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { EncodedStates, GroupStates, StateOperations, StateParts } from './state-operations.js';

interface Part {
  readonly order: number;
  readonly state: unknown;
}

/** States as objects. */
export class StateObjects implements GroupStates {
  readonly #memory: KernelMemory;
  readonly #kind: StateOperations<unknown>;
  readonly #charge: (bytes: number) => void;
  /** Parts by group; of kinds without an order there is one at most. */
  #parts: (Part[] | undefined)[] = [];

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(memory: KernelMemory, kind: StateOperations<unknown>, charge: (bytes: number) => void) {
    this.#memory = memory;
    this.#kind = kind;
    this.#charge = charge;
  }

  add(group: number, order: number, state: unknown): void {
    const kind = this.#kind;
    const parts = this.#parts[group];
    const same = kind.isOrdered ? parts?.find((part) => part.order === order) : parts?.[0];
    if (same !== undefined) {
      const before = kind.bytes(same.state);
      kind.merge(same.state, state);
      this.#charge(kind.bytes(same.state) - before);
      return;
    }
    this.#charge(kind.bytes(state));
    if (parts === undefined) this.#parts[group] = [{ order, state }];
    else parts.push({ order, state });
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const kind = this.#kind;
    let [open, before]: [unknown, number] = [undefined, 0];
    // A state is measured before and after it changes, while it is at hand.
    const close = (): void => {
      if (open !== undefined) this.#charge(kind.bytes(open) - before);
    };
    work((group) => {
      const known = this.#parts[group]?.[0]?.state;
      if (known !== undefined && known === open) return open;
      close();
      open = known ?? kind.create();
      before = known === undefined ? 0 : kind.bytes(known);
      if (known === undefined) this.#parts[group] = [{ order: 0, state: open }];
      return open;
    });
    close();
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  reader(): (group: number) => unknown {
    return (group) => this.#of(group);
  }

  #of(group: number): unknown {
    const parts = this.#parts[group];
    const [first, ...others] = parts ?? [];
    if (first === undefined || others.length === 0) return first?.state;
    const [lowest, ...rest] = [first, ...others].sort((a, b) => a.order - b.order);
    for (const { state } of rest) this.#kind.merge(lowest?.state, state);
    this.#parts[group] = lowest === undefined ? undefined : [lowest];
    return lowest?.state;
  }

  parts(): EncodedStates {
    const [groups, orders, states]: [number[], number[], string[]] = [[], [], []];
    this.#parts.forEach((parts, group) => {
      for (const { order, state } of parts ?? []) {
        groups.push(group);
        orders.push(order);
        states.push(this.#kind.encode(state));
      }
    });
    return { kind: 'encoded', groups, orders, states };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    assert(parts.kind === 'encoded', 'states that are objects are not texts in memory');
    const numbers = this.#memory.u32(groupOf, groupCount).slice();
    parts.groups.forEach((group, index) => {
      this.add(numbers[group] ?? 0, parts.orders[index] ?? 0, this.#kind.decode(parts.states[index] ?? ''));
    });
  }

  handOver(): readonly Address[] {
    return [];
  }

  free(): void {
    this.#parts = [];
  }
}

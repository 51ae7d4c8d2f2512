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
  readonly #parts = new Map<number, Part[]>();

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(memory: KernelMemory, kind: StateOperations<unknown>, charge: (bytes: number) => void) {
    this.#memory = memory;
    this.#kind = kind;
    this.#charge = charge;
  }

  add(group: number, order: number, state: unknown): void {
    const kind = this.#kind;
    const parts = this.#parts.get(group);
    const same = kind.isOrdered ? parts?.find((part) => part.order === order) : parts?.[0];
    if (same !== undefined) {
      const before = kind.bytes(same.state);
      kind.merge(same.state, state);
      this.#charge(kind.bytes(same.state) - before);
      return;
    }
    this.#charge(kind.bytes(state));
    if (parts === undefined) this.#parts.set(group, [{ order, state }]);
    else parts.push({ order, state });
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const kind = this.#kind;
    const changed = new Map<number, { readonly state: unknown; readonly before: number }>();
    work((group) => {
      const known = changed.get(group);
      if (known !== undefined) return known.state;
      const parts = this.#parts.get(group);
      const state = parts?.[0]?.state ?? kind.create();
      changed.set(group, { state, before: parts === undefined ? 0 : kind.bytes(state) });
      if (parts === undefined) this.#parts.set(group, [{ order: 0, state }]);
      return state;
    });
    for (const { state, before } of changed.values()) this.#charge(kind.bytes(state) - before);
  }

  get isEmpty(): boolean {
    return this.#parts.size === 0;
  }

  reader(): (group: number) => unknown {
    return (group) => this.#of(group);
  }

  #of(group: number): unknown {
    const parts = this.#parts.get(group);
    const [first, ...others] = parts ?? [];
    if (first === undefined || others.length === 0) return first?.state;
    const [lowest, ...rest] = [first, ...others].sort((a, b) => a.order - b.order);
    for (const { state } of rest) this.#kind.merge(lowest?.state, state);
    this.#parts.set(group, lowest === undefined ? [] : [lowest]);
    return lowest?.state;
  }

  parts(): EncodedStates {
    const entries = [...this.#parts].flatMap(([group, parts]) => parts.map((part) => ({ group, ...part })));
    return {
      kind: 'encoded',
      groups: entries.map(({ group }) => group),
      orders: entries.map(({ order }) => order),
      states: entries.map(({ state }) => this.#kind.encode(state)),
    };
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
    this.#parts.clear();
  }
}

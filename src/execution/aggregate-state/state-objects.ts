// Aggregate states of one thread's groups, kept as JavaScript objects and handed to other threads.

import type { StateOperations } from './state-operations.js';

/** States of another thread: plain data. */
export interface StateObjectParts {
  readonly groups: readonly number[];
  readonly orders: readonly number[];
  readonly states: readonly string[];
}

interface Part {
  readonly order: number;
  readonly state: unknown;
}

/** The states of one aggregator over the groups of a thread's table. */
export class StateObjects {
  readonly #kind: StateOperations<unknown>;
  readonly #charge: (bytes: number) => void;
  readonly #parts = new Map<number, Part[]>();

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(kind: StateOperations<unknown>, charge: (bytes: number) => void) {
    this.#kind = kind;
    this.#charge = charge;
  }

  /** @param order  place of the segment the state comes from among those of the query */
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

  /**
   * Lets `work` change the states of groups themselves, absent ones created; what they have grown by is told afterwards.
   * Only for states whose order does not matter.
   */
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

  /** All of a group as one; undefined when no row took part. */
  of(group: number): unknown {
    const parts = this.#parts.get(group);
    const [first, ...others] = parts ?? [];
    if (first === undefined || others.length === 0) return first?.state;
    const [lowest, ...rest] = [first, ...others].sort((a, b) => a.order - b.order);
    for (const { state } of rest) this.#kind.merge(lowest?.state, state);
    this.#parts.set(group, lowest === undefined ? [] : [lowest]);
    return lowest?.state;
  }

  detach(): StateObjectParts {
    const entries = [...this.#parts].flatMap(([group, parts]) => parts.map((part) => ({ group, ...part })));
    return {
      groups: entries.map(({ group }) => group),
      orders: entries.map(({ order }) => order),
      states: entries.map(({ state }) => this.#kind.encode(state)),
    };
  }

  /** @param groupOf  number in this table of each group there */
  join({ groups, orders, states }: StateObjectParts, groupOf: (group: number) => number): void {
    groups.forEach((group, index) => {
      this.add(groupOf(group), orders[index] ?? 0, this.#kind.decode(states[index] ?? ''));
    });
  }
}

// Lists of values of one thread's groups, in kernel memory.

import type { Address } from '../../../base/layout.js';
import { convert, type Value } from '../../../expression/value.js';
import type { Arena } from '../../../kernels/arena.js';
import type { Check } from '../../block/checked-loops.js';
import type { RunContext, Scratch } from '../../block/context.js';
import { layTexts } from '../../block/text-references.js';
import type { EncodedStates, GroupStates, ListedValues, ListRange, ListStates, StateParts } from '../state-operations.js';
import { idsOfStrings, ListMemory } from './list-memory.js';
import { GroupedLists } from './list-reader.js';
import type { ListShape } from './list-shape.js';

/** Operations on the states of the heap that stand for lists. */
export interface ListStateKind {
  readonly shape: ListShape;
  /** Refuses a list of so many elements, or bytes. */
  refuse(elements: number, bytes: number): void;
  stateOf(values: readonly Value[]): unknown;
  valuesOf(state: unknown): readonly Value[];
  decode(text: string): unknown;
}

/** States that become entries together. */
const STATES_TOGETHER = 4096;

/**
 * Entries of all groups in the order in which they came, grouped when they are asked for. Strings are ids of an interner; what segments and
 * other threads give becomes entries by kernels.
 */
export class ListGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #kind: ListStateKind;
  readonly #charge: (bytes: number) => void;
  readonly #arena: Arena;
  #charged = 0;
  #memory: ListMemory | undefined;
  #ranges: ListRange[] = [];
  #grouped: GroupedLists | undefined;

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(context: RunContext, kind: ListStateKind, charge: (bytes: number) => void) {
    this.#context = context;
    this.#kind = kind;
    this.#charge = charge;
    this.#arena = context.memory.arena();
  }

  get isEmpty(): boolean {
    return this.#memory === undefined;
  }

  addLists(values: ListedValues, groupOf: Address, order: number): void {
    const arena = this.#context.memory.arena();
    try {
      const scratch = { context: this.#context, arena };
      this.#add(scratch, values, idsOfStrings(scratch, this.#open(), values), groupOf, order);
    } finally {
      arena.release();
    }
  }

  add(group: number, order: number, state: unknown): void {
    this.addStates([group], order, [state]);
  }

  addStates(groups: readonly number[], order: number, states: readonly unknown[]): void {
    for (let from = 0; from < groups.length; from += STATES_TOGETHER)
      this.#addStates(groups.slice(from, from + STATES_TOGETHER), order, states.slice(from, from + STATES_TOGETHER));
  }

  #addStates(groups: readonly number[], order: number, states: readonly unknown[]): void {
    const { memory, check } = this.#context;
    const { element } = this.#kind.shape;
    const words = element === 'STRING' ? 1 : 2;
    const lists = states.map((state) => this.#kind.valuesOf(state));
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    const arena = memory.arena();
    try {
      const keys = arena.take(Math.max(1, count) * words * 8);
      const groupOf = arena.take(groups.length * 4);
      memory.u32(groupOf, groups.length).set(groups);
      const [halves, longs, doubles] = [
        memory.u32(keys, count * words * 2),
        memory.i64(keys, count * words),
        memory.f64(keys, count * words),
      ];
      const texts: (string | null)[] = [];
      let at = 0;
      for (const [place, list] of lists.entries()) {
        check();
        for (const value of list) {
          halves[at * 2] = place;
          halves[at * 2 + 1] = element === 'STRING' ? texts.push(convert(value, 'STRING')) - 1 : Number(value === null);
          if (element === 'LONG') longs[at + 1] = convert(value, 'LONG') ?? 0n;
          else if (element === 'DOUBLE') doubles[at + 1] = convert(value, 'DOUBLE') ?? 0;
          at += words;
        }
      }
      const strings = element === 'STRING' ? { entries: layTexts(memory, arena, texts), count } : undefined;
      this.addLists({ keys, count, strings }, groupOf, order);
    } finally {
      arena.release();
    }
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const changed = new Map<number, unknown>();
    work((group) => {
      const state = changed.get(group) ?? this.#kind.stateOf([]);
      changed.set(group, state);
      return state;
    });
    this.addStates([...changed.keys()], 0, [...changed.values()]);
  }

  reader(): (group: number) => unknown {
    const read = this.#lists()?.reader();
    return (group) => {
      const values = read?.(group);
      return values === undefined ? undefined : this.#kind.stateOf(values);
    };
  }

  texts(groups: Uint32Array, check: Check): (string | null)[] | undefined {
    const { result } = this.#kind.shape;
    if (result === undefined) return undefined;
    const lists = this.#lists();
    return lists === undefined ? Array.from(groups, () => null) : lists.texts(groups, result, check);
  }

  parts(): ListStates {
    const { entries, strings } = this.#memory ?? {};
    return {
      kind: 'lists',
      element: this.#kind.shape.element,
      keys: entries?.keys ?? 0,
      count: entries?.count ?? 0,
      strings: strings === undefined ? undefined : { entries: strings.entries, count: strings.count },
      ranges: this.#ranges,
    };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    if (parts.kind === 'encoded') {
      this.#joinEncoded(parts, this.#context.memory.u32(groupOf, groupCount).slice());
      return;
    }
    if (parts.kind !== 'lists' || parts.count === 0) return;
    const arena = this.#context.memory.arena();
    try {
      const scratch = { context: this.#context, arena };
      const { words } = this.#open().entries;
      const ids = idsOfStrings(scratch, this.#open(), parts);
      const ranges = this.#kind.shape.isSet ? [{ order: 0, start: 0, end: parts.count }] : parts.ranges;
      for (const { order, start, end } of ranges) {
        const own = this.#context.memory.arena();
        try {
          const values = { ...parts, keys: parts.keys + start * words * 8, count: end - start };
          this.#add({ context: this.#context, arena: own }, values, ids, groupOf, order);
        } finally {
          own.release();
        }
      }
    } finally {
      arena.release();
    }
  }

  handOver(): readonly Address[] {
    this.#forget();
    return this.#arena.handOver();
  }

  free(): void {
    this.#forget();
    this.#arena.release();
  }

  #forget(): void {
    this.#grouped?.free();
    [this.#memory, this.#grouped, this.#ranges] = [undefined, undefined, []];
  }

  /** States of one segment are joined together, and segments in their order, so that each has one range. */
  #joinEncoded({ groups, orders, states }: EncodedStates, numbers: Uint32Array): void {
    const places = Array.from(groups, (_, at) => at).sort((a, b) => (orders[a] ?? 0) - (orders[b] ?? 0) || a - b);
    for (let from = 0; from < places.length; ) {
      const order = orders[places[from] ?? 0] ?? 0;
      let end = from + 1;
      while (end < places.length && end - from < STATES_TOGETHER && orders[places[end] ?? 0] === order) end++;
      const joined = places.slice(from, end);
      this.#addStates(
        joined.map((at) => numbers[groups[at] ?? 0] ?? 0),
        order,
        joined.map((at) => this.#kind.decode(states[at] ?? '')),
      );
      from = end;
    }
  }

  #open(): ListMemory {
    this.#memory ??= new ListMemory({ context: this.#context, arena: this.#arena }, this.#kind.shape);
    return this.#memory;
  }

  /** @param ids  u32 id here of each string of the entries */
  #add(scratch: Scratch, values: ListedValues, ids: Address, groupOf: Address, order: number): void {
    const memory = this.#open();
    this.#grouped?.free();
    this.#grouped = undefined;
    const start = memory.entries.count;
    memory.add(scratch, values, ids, groupOf);
    this.#charge(this.#arena.bytes - this.#charged);
    this.#charged = this.#arena.bytes;
    const { elements, bytes } = memory.largest;
    this.#kind.refuse(elements, bytes);
    if (this.#kind.shape.isSet) return;
    const last = this.#ranges.at(-1);
    const end = memory.entries.count;
    if (last?.order === order && last.end === start) this.#ranges[this.#ranges.length - 1] = { ...last, end };
    else this.#ranges.push({ order, start, end });
  }

  #lists(): GroupedLists | undefined {
    if (this.#memory === undefined) return undefined;
    const { entries, groupCount, sizes } = this.#memory;
    this.#grouped ??= new GroupedLists(this.#context, {
      ...this.parts(),
      words: entries.words,
      isSet: this.#kind.shape.isSet,
      groupCount,
      sizes,
    });
    return this.#grouped;
  }
}

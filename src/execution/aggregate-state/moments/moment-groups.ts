// The moments of one thread's groups, in kernel memory.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import type { KernelMemory } from '../../../kernels/memory.js';
import { decodeMoments, emptyMoments, encodeMoments, type Moments, mergeMoments } from '../../../sketch/moments.js';
import type { RunContext } from '../../block/context.js';
import type { EncodedStates, GroupStates, MomentStates, StateParts } from '../state-operations.js';
import { MomentTable } from './moment-table.js';

/** Four numbers a group: segments and threads meet in a kernel. */
export class MomentGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #charge: (bytes: number) => void;
  readonly #arena: Arena;
  #table: MomentTable | undefined;
  #charged = 0;

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(context: RunContext, charge: (bytes: number) => void) {
    this.#context = context;
    this.#charge = charge;
    this.#arena = context.memory.arena();
  }

  get isEmpty(): boolean {
    return this.#table === undefined;
  }

  addMoments(states: Address, groups: Address, n: number): void {
    if (n === 0) return;
    const table = this.#open();
    table.reserve(groups, n);
    this.#context.kernels.joinMoments(states, groups, n, table.states);
    this.#chargeMore();
  }

  add(group: number, _order: number, state: unknown): void {
    const table = this.#open();
    table.include(group + 1);
    const { memory } = this.#context;
    const joined = momentsReader(memory, table)(group) ?? emptyMoments();
    mergeMoments(joined, state as Moments);
    memory.f64(table.states + group * 32, 4).set([joined.count, joined.sum, joined.mean, joined.squares]);
    this.#chargeMore();
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const changed = new Map<number, Moments>();
    work((group) => {
      const known = changed.get(group) ?? emptyMoments();
      changed.set(group, known);
      return known;
    });
    for (const [group, state] of changed) this.add(group, 0, state);
  }

  reader(): (group: number) => unknown {
    return momentsReader(this.#context.memory, this.parts());
  }

  parts(): MomentStates {
    return { kind: 'moments', states: this.#table?.states ?? 0, count: this.#table?.count ?? 0 };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    if (parts.kind === 'encoded') {
      const numbers = this.#context.memory.u32(groupOf, groupCount).slice();
      parts.groups.forEach((group, index) => this.add(numbers[group] ?? 0, 0, decodeMoments(parts.states[index] ?? '')));
      return;
    }
    if (parts.kind !== 'moments') return;
    const count = Math.min(parts.count, groupCount);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      this.#context.check();
      this.addMoments(parts.states + from * 32, groupOf + from * 4, Math.min(BLOCK_ROWS, count - from));
    }
  }

  handOver(): readonly Address[] {
    this.#table = undefined;
    return this.#arena.handOver();
  }

  free(): void {
    this.#table = undefined;
    this.#arena.release();
  }

  #open(): MomentTable {
    this.#table ??= new MomentTable({ context: this.#context, arena: this.#arena });
    return this.#table;
  }

  #chargeMore(): void {
    if (this.#arena.bytes === this.#charged) return;
    this.#charge(this.#arena.bytes - this.#charged);
    this.#charged = this.#arena.bytes;
  }
}

/** Reads the moments of a group; undefined: no value took part. */
function momentsReader(
  memory: KernelMemory,
  { states, count: groups }: Pick<MomentStates, 'states' | 'count'>,
): (group: number) => Moments | undefined {
  const numbers = memory.f64(states, groups * 4);
  return (group) => {
    const at = group * 4;
    const count = numbers[at] ?? 0;
    return count === 0 ? undefined : { count, sum: numbers[at + 1] ?? 0, mean: numbers[at + 2] ?? 0, squares: numbers[at + 3] ?? 0 };
  };
}

/** The states as the texts that spilled groups are written with. */
export function encodedMoments(context: RunContext, parts: MomentStates): EncodedStates {
  const [groups, states]: [number[], string[]] = [[], []];
  const read = momentsReader(context.memory, parts);
  for (let group = 0; group < parts.count; group++) {
    if (group % BLOCK_ROWS === 0) context.check();
    const state = read(group);
    if (state === undefined) continue;
    groups.push(group);
    states.push(encodeMoments(state));
  }
  return { kind: 'encoded', groups, orders: groups.map(() => 0), states };
}

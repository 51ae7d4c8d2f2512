// The best time and its value for each group, kept by kernels.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { type ColumnType, isTextType } from '../../../model/schema.js';
import { clear, type Scratch } from '../../block/context.js';
import { I64_MIN } from '../../filter/number-bounds.js';
import { BestTexts, GroupRoom } from '../best-texts.js';
import type { TimedRows, TimedStates } from '../state-operations.js';
import { type Ending, worstTime } from './timed-value.js';

const LESS = 1;

/** Values of groups beside their times. */
interface Kept {
  /** Forgets the values of groups that get a better time. */
  forget(groups: Address, n: number): void;
  /** @param values  of rows that have the best time of their group; @param times  of all groups */
  add(values: Address, areNull: boolean, groups: Address, n: number, times: Address): void;
  parts(): Pick<TimedStates, 'values' | 'known' | 'count'>;
}

/** Memory of the arena it is given. */
export class TimedStore {
  readonly #scope: Scratch;
  readonly #ending: Ending;
  readonly #valueType: ColumnType;
  readonly #room: GroupRoom;
  readonly #kept: Kept;
  readonly #noTimes: Address;
  readonly #old: Address;
  readonly #isBetter: Address;
  readonly #rows: Address;
  readonly #groups: Address;
  readonly #values: Address;
  #times: Address = 0;

  constructor(scope: Scratch, ending: Ending, valueType: ColumnType) {
    const { arena, context } = scope;
    this.#scope = scope;
    this.#ending = ending;
    this.#valueType = valueType;
    this.#room = new GroupRoom(scope);
    this.#kept = isTextType(valueType) ? new KeptTexts(scope, ending) : new KeptKeys(scope, ending);
    [this.#noTimes, this.#old, this.#values] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 8)];
    [this.#rows, this.#groups, this.#isBetter] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS / 8)];
    clear(context, this.#noTimes, BLOCK_ROWS * 8);
  }

  add({ times: given, values, areNull, groups, n }: TimedRows): void {
    const { kernels } = this.#scope.context;
    const times = given === 0 ? this.#noTimes : given;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    kernels.gather64(this.#times, groups, n, this.#old);
    const [less, more] = this.#ending === 'last' ? [this.#old, times] : [times, this.#old];
    kernels.compareI64(less, more, 0, n, LESS, this.#isBetter);
    const changed = kernels.compactMask(this.#isBetter, 0, groups, n, this.#rows, this.#groups);
    if (changed > 0) this.#kept.forget(this.#groups, changed);
    if (this.#ending === 'last') kernels.maxGroupsI64(times, 0, groups, n, this.#times);
    else kernels.minGroupsI64(times, 0, groups, n, this.#times);
    const kept = kernels.compactBestI64(times, 0, groups, n, this.#times, this.#rows, this.#groups);
    if (kept === 0) return;
    if (!areNull) kernels.gather64(values, this.#rows, kept, this.#values);
    this.#kept.add(this.#values, areNull, this.#groups, kept, this.#times);
  }

  parts(): TimedStates {
    const { values, known, count } = this.#kept.parts();
    return { kind: 'timed', ending: this.#ending, valueType: this.#valueType, times: this.#times, values, known, count };
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const times = arena.take(to * 8);
    memory.i64(times, from).set(memory.i64(this.#times, from));
    memory.i64(times + from * 8, to - from).fill(worstTime(this.#ending));
    this.#times = times;
  }
}

/** Strings: copied references, 0 for null. */
class KeptTexts implements Kept {
  readonly #best: BestTexts;

  constructor(scope: Scratch, ending: Ending) {
    this.#best = new BestTexts(scope, ending === 'last' ? 'max' : 'min');
  }

  forget(groups: Address, n: number): void {
    this.#best.forget(groups, n);
  }

  add(values: Address, areNull: boolean, groups: Address, n: number): void {
    if (!areNull) this.#best.add(values, groups, n);
  }

  parts(): Pick<TimedStates, 'values' | 'known' | 'count'> {
    return { values: this.#best.state, known: 0, count: this.#best.groups };
  }
}

/** Numbers as keys that compare as they do. */
class KeptKeys implements Kept {
  readonly #scope: Scratch;
  readonly #largest: 0 | 1;
  readonly #room: GroupRoom;
  readonly #allNull: Address;
  #keyTimes: Address = 0;
  #best: Address = 0;
  #known: Address = 0;

  constructor(scope: Scratch, ending: Ending) {
    const { arena, context } = scope;
    this.#scope = scope;
    this.#largest = ending === 'last' ? 1 : 0;
    this.#room = new GroupRoom(scope);
    this.#allNull = arena.take(BLOCK_ROWS / 8);
    context.memory.u8(this.#allNull, BLOCK_ROWS / 8).fill(0xff);
  }

  /** The kernel sees by the times what it must forget. */
  forget(): void {}

  add(values: Address, areNull: boolean, groups: Address, n: number, times: Address): void {
    const { kernels } = this.#scope.context;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    const nulls = areNull ? this.#allNull : 0;
    kernels.bestAtTimesI64(values, nulls, 0, groups, n, times, this.#largest, this.#keyTimes, this.#best, this.#known);
  }

  parts(): Pick<TimedStates, 'values' | 'known' | 'count'> {
    return { values: this.#best, known: this.#known, count: this.#room.groups };
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const [keyTimes, best, known] = [arena.take(to * 8), arena.take(to * 8), arena.take(to)];
    memory.i64(keyTimes, from).set(memory.i64(this.#keyTimes, from));
    memory.i64(keyTimes + from * 8, to - from).fill(I64_MIN);
    memory.i64(best, from).set(memory.i64(this.#best, from));
    memory.u8(known, from).set(memory.u8(this.#known, from));
    clear(context, known + from, to - from);
    [this.#keyTimes, this.#best, this.#known] = [keyTimes, best, known];
  }
}

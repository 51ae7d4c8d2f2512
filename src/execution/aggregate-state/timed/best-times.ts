// Rows of a segment at the earliest or latest time of their group, shared by all aggregators that ask for values there.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, kernelFor } from '../../block/context.js';
import { textAt } from '../../block/dictionary.js';
import { rememberTexts } from '../../block/result-table.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import { I64_MAX, I64_MIN } from '../../filter/number-bounds.js';
import { GroupRoom } from '../best-texts.js';
import type { TimedRows } from '../state-operations.js';
import { eachKnown } from './known-values.js';
import { doubleOfKey, keyOfNumber } from './timed-value.js';

/** Positions of rows and their groups; `rows` 0: row i at position i. */
export interface Positions {
  readonly rows: Address;
  readonly groups: Address;
  readonly n: number;
}

/**
 * The best time of each group so far, and of each block the rows that have it. Rows in the order of time leave few of
 * these: as many as there are groups, or none.
 */
export class BestTimes {
  readonly time: NumberVector;
  readonly #scope: SegmentScope;
  readonly #isLast: boolean;
  readonly #room: GroupRoom;
  readonly #wide: Address;
  readonly #rows: Address;
  readonly #groups: Address;
  #best: Address = 0;
  #first: object | undefined;
  #kept: Positions = { rows: 0, groups: 0, n: 0 };

  constructor(scope: SegmentScope, time: NumberVector, isLast: boolean) {
    this.time = time;
    this.#scope = scope;
    this.#isLast = isLast;
    this.#room = new GroupRoom(scope);
    this.#wide = scope.arena.take(BLOCK_ROWS * 8);
    this.#rows = scope.arena.take(BLOCK_ROWS * 4);
    this.#groups = scope.arena.take(BLOCK_ROWS * 4);
  }

  /** i64 by group. */
  get times(): Address {
    return this.#best;
  }

  /**
   * Rows at the best time of their group. All who share the times are given the same rows, one after the other: the one
   * that asked first asks first always.
   */
  take(asker: object, block: Block, { rows, groups, n }: Positions): Positions {
    this.#first ??= asker;
    if (this.#first !== asker) return this.#kept;
    const { kernels } = this.#scope.context;
    const { time } = this;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    widenLongs(this.#scope, time, block, rows, n, this.#wide);
    if (this.#isLast) kernels.maxGroupsI64(this.#wide, 0, groups, n, this.#best);
    else kernels.minGroupsI64(this.#wide, 0, groups, n, this.#best);
    const kept = kernels.compactBestI64(this.#wide, rows, groups, n, this.#best, this.#rows, this.#groups);
    this.#kept = { rows: this.#rows, groups: this.#groups, n: kept };
    return this.#kept;
  }

  #grow(from: number, to: number): void {
    const { memory } = this.#scope.context;
    const best = this.#scope.arena.take(to * 8);
    memory.i64(best, from).set(memory.i64(this.#best, from));
    memory.i64(best + from * 8, to - from).fill(this.#isLast ? I64_MIN : I64_MAX);
    this.#best = best;
  }
}

/** Values of a column as i64 that compare as they do, for kernels. */
export interface SortableValues<Result> {
  /** Writes the keys of rows to `out`, and gives the bits of rows that have none; 0: all have. */
  read(block: Block, positions: Positions, out: Address): Address;
  value(key: bigint): Result;
  /** Keys of n values as the states of a whole query keep them: references to texts, or keys of numbers that no segment has part in. */
  stateKeys(keys: Address, n: number): Address;
}

/** The value of each group that is the least or greatest among those of its best time; without times of all. */
export class BestAtTimes<Result> {
  readonly #scope: SegmentScope;
  readonly #values: SortableValues<Result>;
  readonly #times: BestTimes | undefined;
  readonly #largest: 0 | 1;
  readonly #room: GroupRoom;
  readonly #keys: Address;
  #keyTimes: Address = 0;
  #best: Address = 0;
  #known: Address = 0;

  constructor(scope: SegmentScope, values: SortableValues<Result>, times: BestTimes | undefined, isLast: boolean) {
    this.#scope = scope;
    this.#values = values;
    this.#times = times;
    this.#largest = isLast ? 1 : 0;
    this.#room = new GroupRoom(scope);
    this.#keys = scope.arena.take(BLOCK_ROWS * 8);
  }

  add(block: Block, all: Positions): void {
    const positions = this.#times?.take(this, block, all) ?? all;
    const { rows, groups, n } = positions;
    if (n === 0) return;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    const nulls = this.#values.read(block, positions, this.#keys);
    const times = this.#times?.times ?? 0;
    this.#scope.context.kernels.bestAtTimesI64(
      this.#keys,
      nulls,
      rows,
      groups,
      n,
      times,
      this.#largest,
      this.#keyTimes,
      this.#best,
      this.#known,
    );
  }

  /** Visits the groups that had rows. */
  each(visit: (group: number, time: bigint, value: Result | null) => void): void {
    const { memory } = this.#scope.context;
    const { groups } = this.#room;
    const known = memory.u8(this.#known, groups).slice();
    const keys = memory.i64(this.#best, groups).slice();
    const times = this.#times === undefined ? undefined : memory.i64(this.#keyTimes, groups).slice();
    for (let group = 0; group < groups; group++) {
      if (known[group] === 0) continue;
      visit(group, times?.[group] ?? 0n, known[group] === 1 ? null : this.#values.value(keys[group] ?? 0n));
    }
  }

  /** The same for kernels, with the numbers the groups have elsewhere. */
  eachBlock(groupOf: Address, groupCount: number, visit: (rows: TimedRows) => void): void {
    const count = Math.min(groupCount, this.#room.groups);
    const times = this.#times === undefined ? 0 : this.#keyTimes;
    eachKnown(this.#scope, { count, times, keys: this.#best, known: this.#known }, groupOf, (rows) => {
      visit(rows.areNull ? rows : { ...rows, values: this.#values.stateKeys(rows.values, rows.n) });
    });
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const [keyTimes, best, known] = [arena.take(to * 8), arena.take(to * 8), arena.take(to)];
    memory.i64(keyTimes, from).set(memory.i64(this.#keyTimes, from));
    memory.i64(best, from).set(memory.i64(this.#best, from));
    memory.u8(known, from).set(memory.u8(this.#known, from));
    memory.u8(known + from, to - from).fill(0);
    [this.#keyTimes, this.#best, this.#known] = [keyTimes, best, known];
  }
}

/** LONGs of rows at their full width. */
function widenLongs(scope: SegmentScope, vector: NumberVector, block: Block, rows: Address, n: number, out: Address): void {
  const { physical } = vector;
  const widen = kernelFor(scope.context.kernels, 'toI64', physical === 'F32' || physical === 'F64' ? 'I64' : physical);
  widen(vector.values(block), rows, n, vector.base, out);
}

export function sortableNumbers(
  scope: SegmentScope,
  column: string,
  type: 'LONG' | 'DOUBLE' | 'FLOAT',
): SortableValues<bigint | number> | undefined {
  const vector = asNumbers(scope, scope.source(column), type === 'LONG' ? 'LONG' : 'DOUBLE');
  if (vector === undefined) return undefined;
  if (type === 'LONG') {
    return {
      read(block, { rows, n }, out) {
        widenLongs(scope, vector, block, rows, n, out);
        return vector.nulls(block);
      },
      value: (key) => key,
      stateKeys: (keys) => keys,
    };
  }
  const { kernels } = scope.context;
  const { decimals } = vector;
  const round = type === 'FLOAT' ? Math.fround : (value: number): number => value;
  /** Keys of the doubles that a value is of. */
  const doubleKeys =
    (value: (key: bigint) => number) =>
    (keys: Address, n: number): Address => {
      const found = scope.context.memory.i64(keys, n);
      found.forEach((key, at) => {
        found[at] = keyOfNumber(value(key));
      });
      return keys;
    };
  if (decimals !== undefined) {
    // Their integers have the order of the doubles: no double is made but of a value that was chosen.
    const { physical, base, scale } = decimals;
    const widen = kernelFor(kernels, 'toI64', physical);
    const valueOf = (key: bigint): number => round(Number(key) / scale);
    return {
      read(block, { rows, n }, out) {
        widen(decimals.values(block), rows, n, base, out);
        return vector.nulls(block);
      },
      value: valueOf,
      stateKeys: doubleKeys(valueOf),
    };
  }
  const widen = kernelFor(kernels, 'toF64', vector.physical);
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  return {
    read(block, { rows, n }, out) {
      widen(vector.values(block), rows, n, vector.base, wide);
      kernels.sortableF64(wide, n, out);
      return vector.nulls(block);
    },
    value: (key) => round(doubleOfKey(key)),
    stateKeys: type === 'FLOAT' ? doubleKeys((key) => round(doubleOfKey(key))) : (keys) => keys,
  };
}

/** The ids of a stored dictionary have the order of their texts. */
export function sortableTexts(
  scope: SegmentScope,
  { physical, ids, dictionary }: StringColumnView,
  cut: (text: string) => string,
): SortableValues<string | null> {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const widen = kernelFor(kernels, 'toI64', physical);
  const isNull = arena.take(BLOCK_ROWS / 8);
  let [found, texts] = [0, 0];
  const text = rememberTexts((id) => {
    const entry = textAt(memory, dictionary, id);
    return entry === null ? null : cut(entry);
  });
  return {
    read(block, { rows, n }, out) {
      const at = ids + block.start * PHYSICAL_BYTES[physical];
      widen(at, rows, n, 0n, out);
      if (!dictionary.hasNull) return 0;
      kernelFor(kernels, 'filterEq', physical)(at, block.rows, 0, isNull);
      return isNull;
    },
    value: (key) => text(Number(key)),
    stateKeys(keys, n) {
      [found, texts] = found === 0 ? [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 8)] : [found, texts];
      const words = memory.u32(keys, n * 2);
      const listed = memory.u32(found, n);
      for (let at = 0; at < n; at++) listed[at] = words[at * 2] ?? 0;
      // An empty text needs an address as well.
      const bytes = dictionary.bytes === 0 ? arena.take(64) : dictionary.bytes;
      kernels.textEntries(bytes, dictionary.offsets, found, n, dictionary.hasNull ? 1 : 0, texts);
      return texts;
    },
  };
}

// Hashes of stored dictionaries and numbers, gathered for many rows before states take them in.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { SKETCH_SEED } from '../../../sketch/base64-codec.js';
import { HASH_HALVES, type TakesHashes } from '../../../sketch/hashes.js';
import type { StringEncoding } from '../../../sketch/murmur3.js';
import type { DictionaryView } from '../../../storage/view.js';
import { clear, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import type { Feed } from '../state-operations.js';
import type { IdSource } from './id-source.js';

const HASH_BYTES = HASH_HALVES * 4;

/** Blocks of values that wait at most. Where a segment has no more, they go straight into the states of the whole query. */
const WAITING_BLOCKS_MAX = 4;

/** Room for pairs of group and entry that are marked, as a multiple of the values that may wait. */
const MARKS_PER_VALUE = 128;

/** Hashes the entries that rows have; all entries, once, when they are fewer than the values that wait. */
export function dictionaryHashes<State extends TakesHashes>(
  scope: SegmentScope,
  dictionary: DictionaryView,
  ids: IdSource,
  encoding: StringEncoding,
): Feed<State> {
  const { arena, context } = scope;
  const { memory, kernels } = context;
  const { count: entryCount, hasNull, offsets, bytes } = dictionary;
  const hashTexts = encoding === 'utf8' ? kernels.murmurTexts : kernels.murmurUtf16;
  const waiting = new WaitingValues(scope);
  const entries = arena.take(waiting.room * 4);
  const hashes = arena.take(waiting.room * HASH_BYTES);
  let isTable = false;
  const give = (stateOf: (group: number) => State): void => {
    const { count } = waiting;
    if (!isTable && entryCount <= count) {
      hashTexts(bytes, offsets, 0, entryCount, SKETCH_SEED, hashes);
      isTable = true;
    } else if (!isTable) hashTexts(bytes, offsets, entries, count, SKETCH_SEED, hashes);
    const words = memory.u32(hashes, (isTable ? entryCount : count) * HASH_HALVES);
    if (isTable) waiting.givePairs(stateOf, words, { entries, entryCount, hasNull });
    else waiting.give(stateOf, words, undefined, hasNull ? memory.u32(entries, count) : undefined);
  };
  return {
    nulls: undefined,
    get waiting() {
      return waiting.count;
    },
    add(block, rows, groups, n, stateOf) {
      ids.gather(block, rows, groups, n, (idsOfBlock, idGroups, count) => {
        if (waiting.count + count > waiting.room) give(stateOf);
        kernels.keyDenseU32(idsOfBlock, 0, count, 1, 0, entries + waiting.count * 4);
        waiting.add(idGroups, count);
      });
    },
    end: give,
  };
}

export function numberHashes<State extends TakesHashes>(scope: SegmentScope, vector: NumberVector): Feed<State> {
  const { arena, context } = scope;
  const { memory, kernels } = context;
  const { physical } = vector;
  const isDouble = physical === 'F32' || physical === 'F64';
  const waiting = new WaitingValues(scope);
  const wide = arena.take(BLOCK_ROWS * 8);
  const hashes = arena.take(waiting.room * HASH_BYTES);
  const hash = (values: Address, rows: Address, n: number, out: Address): void => {
    if (isDouble) {
      kernelFor(kernels, 'toF64', physical)(values, rows, n, 0n, wide);
      kernels.murmurF64(wide, n, SKETCH_SEED, out);
    } else {
      kernelFor(kernels, 'toI64', physical)(values, rows, n, vector.base, wide);
      kernels.murmurI64(wide, n, SKETCH_SEED, out);
    }
  };
  const give = (stateOf: (group: number) => State): void => waiting.give(stateOf, memory.u32(hashes, waiting.count * HASH_HALVES));
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    get waiting() {
      return waiting.count;
    },
    add(block, rows, groups, n, stateOf) {
      if (waiting.count + n > waiting.room) give(stateOf);
      hash(vector.values(block), rows, n, hashes + waiting.count * HASH_BYTES);
      waiting.add(groups, n);
    },
    end: give,
  };
}

/** Groups of values that wait for their states. */
class WaitingValues {
  readonly #scope: SegmentScope;
  readonly #groups: Address;
  readonly #ordered: Address;
  readonly #cells: Address;
  readonly #marks: Address;
  readonly room: number;
  count = 0;

  constructor(scope: SegmentScope) {
    this.#scope = scope;
    this.room = BLOCK_ROWS * Math.max(1, Math.min(WAITING_BLOCKS_MAX, Math.ceil(scope.view.rowCount / BLOCK_ROWS)));
    this.#groups = scope.arena.take(this.room * 4);
    this.#ordered = scope.arena.take(this.room * 4);
    this.#cells = scope.arena.take(this.room * 4);
    this.#marks = scope.arena.take((this.room * MARKS_PER_VALUE) / 8);
  }

  add(groups: Address, n: number): void {
    this.#scope.context.kernels.keyDenseU32(groups, 0, n, 1, 0, this.#groups + this.count * 4);
    this.count += n;
  }

  /**
   * Gives every state the hashes of its group together, and begins again.
   * @param placeOf  place of each value's hash in `words`; left out: its own position
   * @param entryOf  entries of a dictionary whose first is null, which is left out; left out: no value is null
   */
  give(stateOf: (group: number) => TakesHashes, words: Uint32Array, placeOf?: Uint32Array, entryOf?: Uint32Array): void {
    const { memory } = this.#scope.context;
    const groups = memory.u32(this.#groups, this.count);
    const ordered = memory.u32(this.#ordered, this.count);
    this.count = 0;
    const last = lastOf(groups);
    if (last === 0 && entryOf === undefined) {
      for (let i = 0; i < groups.length; i++) ordered[i] = placeOf === undefined ? i : (placeOf[i] ?? 0);
      if (groups.length > 0) stateOf(0).addHashes(words, ordered, 0, groups.length);
      return;
    }
    const from = startsOfGroups(groups, last, entryOf);
    // Each start moves on with its values, to where the next group begins.
    for (let i = 0; i < groups.length; i++) {
      if (entryOf !== undefined && entryOf[i] === 0) continue;
      const group = groups[i] ?? 0;
      const to = from[group] ?? 0;
      ordered[to] = placeOf === undefined ? i : (placeOf[i] ?? 0);
      from[group] = to + 1;
    }
    let start = 0;
    for (let group = 0; group < from.length; group++) {
      const end = from[group] ?? 0;
      if (end > start) stateOf(group).addHashes(words, ordered, start, end);
      start = end;
    }
  }

  /** Entries of a dictionary, with the hashes of all in its order; those that a group has several times are given once where marks have room. */
  givePairs(
    stateOf: (group: number) => TakesHashes,
    words: Uint32Array,
    { entries, entryCount, hasNull }: { readonly entries: Address; readonly entryCount: number; readonly hasNull: boolean },
  ): void {
    const { count, room } = this;
    const { memory, kernels } = this.#scope.context;
    const marksEach = Math.ceil(entryCount / 64) * 64;
    const groupCount = lastOf(memory.u32(this.#groups, count)) + 1;
    if (groupCount * marksEach > room * MARKS_PER_VALUE) {
      const entryOf = memory.u32(entries, count);
      this.give(stateOf, words, entryOf, hasNull ? entryOf : undefined);
      return;
    }
    this.count = 0;
    kernels.keyDenseU32(this.#groups, 0, count, marksEach, 0, this.#cells);
    kernels.keyDenseU32(entries, 0, count, 1, 1, this.#cells);
    clear(this.#scope.context, this.#marks, (groupCount * marksEach) / 8);
    kernels.bitsMark(this.#cells, count, this.#marks);
    const ordered = memory.u32(this.#ordered, entryCount);
    for (let group = 0; group < groupCount; group++) {
      const found = kernels.bitsToRows(this.#marks + (group * marksEach) / 8, hasNull ? 1 : 0, entryCount, this.#ordered);
      if (found > 0) stateOf(group).addHashes(words, ordered, 0, found);
    }
  }
}

function lastOf(groups: Uint32Array): number {
  let last = 0;
  for (let i = 0; i < groups.length; i++) last = Math.max(last, groups[i] ?? 0);
  return last;
}

/** Number of values in the groups before each. */
function startsOfGroups(groups: Uint32Array, last: number, entryOf: Uint32Array | undefined): Uint32Array {
  const starts = new Uint32Array(last + 1);
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i] ?? 0;
    if (entryOf === undefined || entryOf[i] !== 0) starts[group] = (starts[group] ?? 0) + 1;
  }
  let before = 0;
  for (let group = 0; group < starts.length; group++) {
    const count = starts[group] ?? 0;
    starts[group] = before;
    before += count;
  }
  return starts;
}

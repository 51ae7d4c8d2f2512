// Adds the groups of a segment to the thread's table.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import { clear, type RunContext } from '../../block/context.js';
import { RUN_BYTES } from '../../expression/time/runs.js';
import { byCardDescending } from '../key/group-index.js';
import { flagOf, type KeyPlace } from '../key/layout.js';
import type { LocalKey } from '../key/local-key.js';
import { multiplesOf } from '../table/distinct-combine.js';
import type { GroupTable } from '../table/group-table.js';
import type { LocalGroups, RowClass } from './row-class.js';

/** The ids of the table by local ids, for each key; 0: they are the same. */
export function remapsOf({ keys }: Pick<LocalGroups, 'keys'>, table: GroupTable): readonly Address[] {
  return keys.map((key, index) => {
    const pool = table.pools[index];
    assert(pool !== undefined, `no pool of key ${index}`);
    return key.shift === undefined ? key.toGlobal(pool) : 0;
  });
}

/** Adds the groups of one segment to a thread's table: per group, never per row, and by kernels only. */
export function combineSegment(groups: LocalGroups, table: GroupTable, remaps: readonly Address[]): void {
  const { context } = groups.scope;
  const arena = context.memory.arena();
  try {
    combineWithin({ context, arena }, groups, table, remaps);
  } finally {
    arena.release();
  }
}

function combineWithin(scratch: Scratch, groups: LocalGroups, table: GroupTable, remaps: readonly Address[]): void {
  const { groupIndex, classes } = groups;
  const { arena, context } = scratch;
  const { kernels } = context;
  const { groupCount } = groupIndex;
  // Groups of a hash table exist.
  if (groupIndex.kind === 'hash') table.expect(groupCount);
  const [everyRow, ...others] = classes;
  if (everyRow === undefined) return;
  const writer = new GroupWriter(scratch, table);
  // Group numbers are kept when several classes or sets of pairs ask for them.
  const keepsNumbers = others.length > 0 || classes.some((each) => each.distincts.length > 0);
  const groupOf = keepsNumbers ? arena.take(groupCount * 4) : 0;
  if (keepsNumbers) clear(context, groupOf, groupCount * 4);
  const combineCells = (base: number, cells: Address, n: number): void => {
    const numbers = writer.finish(n);
    if (keepsNumbers) kernels.maxGroupsU32(numbers, 0, cells, n, groupOf + base * 4);
    if (table.present !== 0) kernels.presentGroups(numbers, n, table.present);
    combineClass(context, everyRow, base, cells, numbers, n, table);
  };
  if (groupIndex.kind === 'dense') combineDense(scratch, groups, groupIndex.strides, everyRow, { remaps, writer, combineCells });
  else combineHash(scratch, groups, groupIndex, { remaps, writer, combineCells });
  for (const each of others) combineOtherClass(scratch, each, groupCount, groupOf, table);
  for (const each of classes) for (const distinct of each.distincts) distinct.combine(table, groupOf, groupCount);
}

/** The table that groups are added to. */
interface Destination {
  /** Remaps by key: ids of the table by local ids; 0: they are the same. */
  readonly remaps: readonly Address[];
  readonly writer: GroupWriter;
  /** Adds states of the groups `base + cells[i]`, whose keys the writer holds. */
  combineCells(base: number, cells: Address, n: number): void;
}

interface Scratch {
  readonly context: RunContext;
  readonly arena: Arena;
}

function combineClass(
  context: RunContext,
  each: RowClass,
  base: number,
  cells: Address,
  numbers: Address,
  n: number,
  table: GroupTable,
): void {
  for (const index of each.seen) {
    const seen = table.states[index]?.seen ?? 0;
    if (seen !== 0) context.kernels.presentGroups(numbers, n, seen);
  }
  for (const accumulator of each.accumulators) accumulator.combine(base, cells, numbers, n, table);
}

/** Cells of a stretch of the fastest key that have rows; all other keys are the same along it. */
function combineDense(
  { context, arena }: Scratch,
  groups: LocalGroups,
  strides: readonly number[],
  everyRow: RowClass,
  { remaps, writer, combineCells }: Destination,
): void {
  const { keys } = groups;
  const { memory } = context;
  const [fast = 0, ...slow] = byCardDescending(keys);
  const stretch = keys[fast]?.card ?? 1;
  const stretches = groups.groupIndex.groupCount / stretch;
  const cells = arena.take(BLOCK_ROWS * 4);
  const bits = arena.take(BLOCK_ROWS / 8);
  const slowIds = slow.map((index) => {
    const remap = remaps[index] ?? 0;
    const card = keys[index]?.card ?? 1;
    const ids = remap === 0 ? undefined : memory.u32(remap, card).slice();
    return { index, card, stride: (strides[index] ?? 1) / stretch, ids, shift: keys[index]?.shift ?? 0 };
  });
  for (let number = 0; number < stretches; number++) {
    for (let from = 0; from < stretch; from += BLOCK_ROWS) {
      const base = number * stretch + from;
      const n = listNonZero(context, everyRow, base, Math.min(BLOCK_ROWS, stretch - from), bits, cells);
      if (n === 0) continue;
      writer.start(n);
      for (const { index, card, stride, ids, shift } of slowIds) {
        const id = Math.floor(number / stride) % card;
        if (isVarying(keys[index])) writer.putConstant(index, ids === undefined ? id + shift : (ids[id] ?? 0), n);
        else writer.putConstantKey(index, remaps[index] ?? 0, n);
      }
      if (keys.length > 0) {
        if (isVarying(keys[fast])) writer.putIds(fast, remaps[fast] ?? 0, from + (keys[fast]?.shift ?? 0), cells, n);
        else writer.putConstantKey(fast, remaps[fast] ?? 0, n);
      }
      combineCells(base, cells, n);
    }
  }
}

function isVarying(key: LocalKey | undefined): boolean {
  return key !== undefined && key.kind !== 'constant';
}

function combineHash(
  scratch: Scratch,
  { keys }: LocalGroups,
  groupIndex: Extract<LocalGroups['groupIndex'], { kind: 'hash' }>,
  into: Destination,
): void {
  const { table, indexLayout } = groupIndex;
  combinePackedKeys(
    scratch,
    {
      keys: table.keys,
      count: table.count,
      words: indexLayout.words,
      places: indexLayout.places,
      flagWord: indexLayout.flagWord,
      isConstant: keys.map((key) => key.kind === 'constant'),
      shifts: keys.map(({ shift = 0 }) => shift),
    },
    into,
  );
}

export interface PackedKeys {
  readonly keys: Address;
  readonly count: number;
  readonly words: number;
  readonly places: readonly KeyPlace[];
  readonly flagWord: number | null;
  readonly isConstant: readonly boolean[];
  /** Added to the ids of keys that have no remap; absent for none. */
  readonly shifts?: readonly number[];
}

/** Gives the groups of packed keys, blocks at a time, their numbers in the table. */
export function combinePackedKeys(scratch: Scratch, packed: PackedKeys, { remaps, writer, combineCells }: Destination): void {
  const { arena, context } = scratch;
  const { kernels } = context;
  const { keys, count, words, places, flagWord } = packed;
  const identity = multiplesOf(scratch, 1, count);
  const halves = multiplesOf(scratch, 2 * words, count);
  const wholes = multiplesOf(scratch, words, count);
  const ids = arena.take(BLOCK_ROWS * 4);
  const wide = arena.take(BLOCK_ROWS * 8);
  for (let base = 0; base < count; base += BLOCK_ROWS) {
    context.check();
    const n = Math.min(BLOCK_ROWS, count - base);
    const at = keys + base * words * 8;
    writer.start(n);
    places.forEach((place, index) => {
      const remap = remaps[index] ?? 0;
      if (place.kind === 'none') return;
      if (place.kind === 'word') {
        kernels.gather64(at + place.word * 8, wholes, n, wide);
        writer.putWide(index, wide, n);
        return;
      }
      if (packed.isConstant[index] === true) {
        writer.putConstantKey(index, remap, n);
        return;
      }
      kernels.gather32(at + place.word * 8 + place.shift / 8, halves, n, ids);
      writer.putIds(index, remap, packed.shifts?.[index] ?? 0, ids, n);
    });
    if (flagWord !== null) {
      kernels.gather64(at + flagWord * 8, wholes, n, wide);
      writer.putFlags(wide, n);
    }
    combineCells(base, identity, n);
  }
}

/** The other classes see a part of the groups that the first one numbered. */
function combineOtherClass(scratch: Scratch, each: RowClass, groupCount: number, groupOf: Address, table: GroupTable): void {
  if (each.accumulators.length === 0 && each.seen.length === 0) return;
  const { arena, context } = scratch;
  const cells = arena.take(BLOCK_ROWS * 4);
  const bits = arena.take(BLOCK_ROWS / 8);
  const numbers = arena.take(BLOCK_ROWS * 4);
  for (let base = 0; base < groupCount; base += BLOCK_ROWS) {
    const n = listNonZero(context, each, base, Math.min(BLOCK_ROWS, groupCount - base), bits, cells);
    if (n === 0) continue;
    context.kernels.gather32(groupOf + base * 4, cells, n, numbers);
    combineClass(context, each, base, cells, numbers, n, table);
  }
}

/** Groups (from `base` on) that rows of the class took part in. */
function listNonZero({ kernels }: RunContext, { state, counts }: RowClass, base: number, n: number, bits: Address, out: Address): number {
  if (counts) kernels.filterRangeI64(state + base * 8, n, 1n, (1n << 62n) - 1n, bits);
  else kernels.filterRangeU8(state + base, n, 1, 255, bits);
  return kernels.bitsToRows(bits, 0, n, out);
}

/** Writes the keys of a block of groups in the table's own terms, then finds their numbers there. */
export class GroupWriter {
  readonly #context: RunContext;
  readonly #table: GroupTable;
  readonly #numbers: Address;
  readonly #packed: Address;
  readonly #ids: Address;
  readonly #run: Address;
  #constant = 0;
  #accumulate = 0;

  constructor({ context, arena }: Scratch, table: GroupTable) {
    this.#context = context;
    this.#table = table;
    const { indexLayout } = table.layout;
    this.#numbers = arena.take(BLOCK_ROWS * 4);
    this.#packed = indexLayout.kind === 'hash' ? arena.take(BLOCK_ROWS * 8 * indexLayout.words) : 0;
    this.#ids = arena.take(BLOCK_ROWS * 4);
    this.#run = arena.take(RUN_BYTES);
  }

  start(n: number): void {
    const { indexLayout } = this.#table.layout;
    this.#constant = 0;
    this.#accumulate = 0;
    if (indexLayout.kind === 'hash') clear(this.#context, this.#packed, n * indexLayout.words * 8);
  }

  /** One id of the domain for all groups of the block. */
  putConstant(key: number, id: number, n: number): void {
    const { indexLayout } = this.#table.layout;
    if (indexLayout.kind === 'dense') {
      this.#constant += id * (indexLayout.strides[key] ?? 0);
      return;
    }
    const place = indexLayout.places[key];
    if (place?.kind !== 'half') return;
    this.#oneRun(id, n);
    this.#context.kernels.keyWordRuns(this.#run, 1, 0, n, indexLayout.words, place.word, place.shift, 0, this.#packed);
  }

  /** A key that is constant in the segment: its one id, or null in a wide domain. */
  putConstantKey(key: number, remap: Address, n: number): void {
    const { indexLayout } = this.#table.layout;
    const place = indexLayout.kind === 'hash' ? indexLayout.places[key] : undefined;
    if (indexLayout.kind === 'hash' && place?.kind === 'word') {
      this.#oneRun(1, n);
      this.#context.kernels.keyWordRuns(this.#run, 1, 0, n, indexLayout.words, indexLayout.flagWord ?? 0, flagOf(place), 0, this.#packed);
      return;
    }
    this.putConstant(key, remap === 0 ? 0 : (this.#context.memory.u32(remap, 1)[0] ?? 0), n);
  }

  /** Local ids `from + ids[i]`; `remap` 0 when they are the domain's. */
  putIds(key: number, remap: Address, from: number, ids: Address, n: number): void {
    const { kernels } = this.#context;
    const { indexLayout } = this.#table.layout;
    if (indexLayout.kind === 'dense') {
      const stride = indexLayout.strides[key] ?? 0;
      if (remap === 0) {
        kernels.keyDenseU32(ids, 0, n, stride, this.#accumulate, this.#numbers);
        this.#constant += from * stride;
      } else kernels.keyDenseU32(remap + from * 4, ids, n, stride, this.#accumulate, this.#numbers);
      this.#accumulate = 1;
      return;
    }
    const place = indexLayout.places[key];
    if (place?.kind !== 'half') return;
    if (remap === 0 && from !== 0) {
      kernels.keyDenseU32(ids, 0, n, 1, 0, this.#ids);
      this.#oneRun(from, n);
      kernels.keyRuns(this.#run, 1, 0, n, 1, 1, this.#ids);
      kernels.keyWordU32(this.#ids, 0, n, indexLayout.words, place.word, place.shift, 0, this.#packed);
    } else if (remap === 0) kernels.keyWordU32(ids, 0, n, indexLayout.words, place.word, place.shift, 0, this.#packed);
    else kernels.keyWordU32(remap + from * 4, ids, n, indexLayout.words, place.word, place.shift, 0, this.#packed);
  }

  putWide(key: number, values: Address, n: number): void {
    const { indexLayout } = this.#table.layout;
    const place = indexLayout.kind === 'hash' ? indexLayout.places[key] : undefined;
    if (indexLayout.kind === 'hash' && place?.kind === 'word')
      this.#context.kernels.keyWordI64(values, 0, n, indexLayout.words, place.word, 0, 0, this.#packed);
  }

  putFlags(flags: Address, n: number): void {
    const { indexLayout } = this.#table.layout;
    if (indexLayout.kind === 'hash' && indexLayout.flagWord !== null)
      this.#context.kernels.keyWordI64(flags, 0, n, indexLayout.words, indexLayout.flagWord, 0, 0, this.#packed);
  }

  /** u32 numbers of the n groups in the table. */
  finish(n: number): Address {
    const { kernels, memory } = this.#context;
    if (this.#table.layout.indexLayout.kind === 'hash') {
      this.#table.findGroups(this.#packed, n, this.#numbers);
      return this.#numbers;
    }
    if (this.#accumulate === 0) memory.u32(this.#numbers, n).fill(this.#constant);
    else if (this.#constant !== 0) {
      this.#oneRun(this.#constant, n);
      kernels.keyRuns(this.#run, 1, 0, n, 1, 1, this.#numbers);
    }
    return this.#numbers;
  }

  #oneRun(group: number, n: number): void {
    this.#context.memory.u32(this.#run, 3).set([group, 0, n]);
  }
}

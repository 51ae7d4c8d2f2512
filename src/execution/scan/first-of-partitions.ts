// The first rows of each partition of a window, found over all segments before their columns are read.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { SegmentView } from '../../storage/view.js';
import { type RunContext, takeBits } from '../block/context.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets } from '../block/row-ranges.js';
import { I64_MAX } from '../filter/number-bounds.js';
import { ALL } from '../filter/predicate.js';
import { inSegmentOrder, type RowBatch } from './order.js';
import { PartitionNumbers } from './partition-numbers.js';
import type { Ranks } from './rank.js';
import { type MatchedBlock, openRows, type RowQuery, type RowSource } from './row-source.js';
import type { SharedRanks } from './shared-ranks.js';

/** Memory for the best ranks of the partitions; where there are more, rows come as they are. */
const BEST_BYTES_MAX = 1 << 26;
const FIRST_PARTITIONS = 1024;
const FIRST_ROOM = 1 << 16;
const TWO_32 = 2 ** 32;

export interface FirstPlaces {
  readonly wanted: number;
  /** So many different places are wanted. */
  readonly areDistinct: boolean;
  readonly order: SharedRanks;
  /** Exact. */
  readonly partition: SharedRanks;
}

/**
 * Rows of all segments in segment order, among which the first `wanted` of each partition are, and all that tie with the last
 * of them. Kernels keep the smallest ranks of each partition over all segments; those with the smallest are read first.
 * Segments of which rows are left are opened once more, and added to `opened`.
 */
export function* firstOfPartitions(
  context: RunContext,
  views: readonly SegmentView[],
  query: RowQuery,
  places: FirstPlaces,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  const wanted = inSegmentOrder(views).filter((view) => meets(view, query.intervals));
  const arena = context.memory.arena();
  let found: ReadonlyMap<SegmentView, Uint32Array>;
  try {
    const first = new FirstRows(context, arena, wanted, places);
    for (const view of byLowestRank(wanted, places.order)) {
      if (first.passesOver(view)) continue;
      const source = openRows(context, view, query, counts);
      try {
        first.begin(source);
        for (const matched of source.matches(() => undefined)) counts.rowsMatched += first.add(matched);
      } finally {
        source.release();
      }
    }
    found = first.rows();
  } finally {
    arena.release();
  }
  for (const view of wanted) {
    const rows = found.get(view);
    if (rows === undefined) continue;
    const source = openRows(context, view, query, counts);
    opened.add(source);
    yield { source, rows };
  }
}

/** Segments whose rows may come first are read first, so that few rows of the others are kept. */
function byLowestRank(views: readonly SegmentView[], order: SharedRanks): readonly SegmentView[] {
  const ranked = views.map((view) => ({ view, rank: order.lowest(view) ?? 0n }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0));
  return ranked.map(({ view }) => view);
}

/** Candidates [start, end) of a segment. */
interface Stretch {
  readonly view: SegmentView;
  start: number;
  end: number;
}

/** The rows of all segments with the smallest ranks of their partition, so far. */
class FirstRows {
  readonly #context: RunContext;
  readonly #arena: Arena;
  readonly #places: FirstPlaces;
  readonly #numbers: PartitionNumbers;
  readonly #stretches: Stretch[] = [];
  readonly #blockKeys: Address;
  readonly #blockRows: Address;
  readonly #bits: Address;
  /** Ranks, rows and partitions of the candidates. */
  #keys: Address = 0;
  #rows: Address = 0;
  #groups: Address = 0;
  #room = 0;
  #count = 0;
  /** The smallest ranks of each partition, ascending. */
  #best: Address = 0;
  #partitions = 0;
  #takesAll = false;
  #order: Pick<Ranks, 'write'> | undefined;
  #partition: Pick<Ranks, 'write'> | undefined;

  constructor(context: RunContext, arena: Arena, views: readonly SegmentView[], places: FirstPlaces) {
    const rowCount = views.reduce((sum, view) => sum + view.rowCount, 0);
    this.#context = context;
    this.#arena = arena;
    this.#places = places;
    this.#numbers = new PartitionNumbers(context, arena, places.partition.count, rowCount);
    this.#blockKeys = arena.take(BLOCK_ROWS * 8);
    this.#blockRows = arena.take(BLOCK_ROWS * 4);
    this.#bits = takeBits(arena);
    this.#makeRoom(Math.min(FIRST_ROOM, rowCount + BLOCK_ROWS));
  }

  /** Whether each partition that a segment can have rows of has as many as are wanted before all of these. */
  passesOver(view: SegmentView): boolean {
    const { order, partition, wanted } = this.#places;
    const { memory } = this.#context;
    const lowest = order.lowest(view);
    if (lowest === undefined || this.#takesAll || !this.#numbers.areRanks) return false;
    const numbers = partition.ranksIn(view, memory);
    if (numbers === undefined) return false;
    const [low, high] = [memory.u32(this.#best, this.#partitions * wanted * 2), memory.i32(this.#best, this.#partitions * wanted * 2)];
    // Doubles of longs are in the order of these, or equal.
    const bound = Number(lowest);
    return numbers.every((number) => {
      const last = (number * wanted + wanted - 1) * 2;
      return number < this.#partitions && (high[last + 1] ?? 0) * TWO_32 + (low[last] ?? 0) < bound;
    });
  }

  /** Begins with a segment. */
  begin({ scope }: RowSource): void {
    this.#order = this.#places.order.bind(scope);
    this.#partition = this.#places.partition.bind(scope);
    this.#stretches.push({ view: scope.view, start: this.#count, end: this.#count });
  }

  /** Adds the rows of a block that match. Returns how many these are. */
  add({ block, from, to, match }: MatchedBlock): number {
    const { kernels, memory } = this.#context;
    const stretch = this.#stretches.at(-1);
    if (stretch === undefined || this.#order === undefined || this.#partition === undefined) return 0;
    if (this.#count + BLOCK_ROWS > this.#room) {
      this.#compactAll();
      if (this.#count * 2 > this.#room || this.#count + BLOCK_ROWS > this.#room) this.#makeRoom(this.#room * 2);
    }
    const isAll = match === ALL && from === 0 && to === block.rows;
    if (match === ALL && !isAll) kernels.bitsFill(this.#bits, Math.ceil(block.rows / 64), from, to);
    const mask = match === ALL ? this.#bits : match;
    const n = isAll ? block.rows : kernels.bitsToRows(mask, from, to, this.#blockRows);
    if (n === 0) return 0;
    const selected = isAll ? block : { ...block, selection: mask };
    const rows = isAll ? 0 : this.#blockRows;
    const groups = this.#numbers.write(this.#partition, selected, rows, n);
    this.#order.write(selected, rows, n, this.#blockKeys);
    this.#reserve(this.#numbers.count);
    let kept = n;
    if (this.#takesAll) {
      const all = memory.u32(this.#rows + this.#count * 4, n);
      if (isAll) for (let at = 0; at < n; at++) all[at] = at;
      else all.set(memory.u32(this.#blockRows, n));
    } else {
      const smallest = this.#places.areDistinct ? kernels.smallestDistinctGroupsI64 : kernels.smallestGroupsI64;
      smallest(this.#blockKeys, groups, n, this.#places.wanted, this.#best);
      kept = this.#compact(this.#blockKeys, rows, groups, n, this.#count);
    }
    const found = memory.u32(this.#rows + this.#count * 4, kept);
    for (let at = 0; at < kept; at++) found[at] = (found[at] ?? 0) + block.start;
    this.#count += kept;
    stretch.end = this.#count;
    return n;
  }

  /** The candidates of each segment that has some, ascending. */
  rows(): ReadonlyMap<SegmentView, Uint32Array> {
    this.#compactAll();
    const { memory } = this.#context;
    return new Map(
      this.#stretches.flatMap(({ view, start, end }) =>
        start === end ? [] : [[view, memory.u32(this.#rows + start * 4, end - start).slice()] as const],
      ),
    );
  }

  /** Makes room for the ranks of so many partitions, which are at first the greatest. */
  #reserve(partitions: number): void {
    const { memory } = this.#context;
    const { wanted } = this.#places;
    const before = this.#partitions;
    if (this.#takesAll || partitions <= before) return;
    let room = Math.max(before, Math.min(FIRST_PARTITIONS, this.#numbers.most));
    while (room < partitions) room *= 2;
    this.#takesAll = room * wanted * 8 > BEST_BYTES_MAX;
    if (this.#takesAll) return;
    const best = this.#arena.take(room * wanted * 8);
    memory.i64(best, before * wanted).set(memory.i64(this.#best, before * wanted));
    memory.i64(best + before * wanted * 8, (room - before) * wanted).fill(I64_MAX);
    [this.#best, this.#partitions] = [best, room];
  }

  #makeRoom(room: number): void {
    const { memory } = this.#context;
    const count = this.#count;
    const [keys, rows, groups] = [this.#arena.take(room * 8), this.#arena.take(room * 4), this.#arena.take(room * 4)];
    if (count > 0) {
      memory.u32(keys, count * 2).set(memory.u32(this.#keys, count * 2));
      memory.u32(rows, count).set(memory.u32(this.#rows, count));
      memory.u32(groups, count).set(memory.u32(this.#groups, count));
    }
    [this.#keys, this.#rows, this.#groups, this.#room] = [keys, rows, groups, room];
  }

  /** Drops candidates that are beyond the bounds of their partitions by now. */
  #compactAll(): void {
    if (this.#takesAll) return;
    let kept = 0;
    for (const stretch of this.#stretches) {
      const { start, end } = stretch;
      stretch.start = kept;
      for (let base = start; base < end; base += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, end - base);
        kept += this.#compact(this.#keys + base * 8, this.#rows + base * 4, this.#groups + base * 4, n, kept);
      }
      stretch.end = kept;
    }
    this.#count = kept;
  }

  /** Puts those within the bounds of their partitions behind the first `to` candidates. */
  #compact(keys: Address, rows: Address, groups: Address, n: number, to: number): number {
    const { wanted } = this.#places;
    return this.#context.kernels.compactWithinI64(
      keys,
      rows,
      groups,
      n,
      this.#best + (wanted - 1) * 8,
      wanted,
      this.#keys + to * 8,
      this.#rows + to * 4,
      this.#groups + to * 4,
    );
  }
}

// Rows among which the first of each partition of a window are, found without reading the others.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentView } from '../../storage/view.js';
import { type RunContext, takeBits } from '../block/context.js';
import type { RowCounts } from '../block/row-counts.js';
import { I64_MAX } from '../filter/number-bounds.js';
import { ALL } from '../filter/predicate.js';
import { inSegmentOrder, openedInOrder, type RowBatch } from './order.js';
import { PartitionBounds } from './partition-bounds.js';
import { PartitionNumbers } from './partition-numbers.js';
import { type Ranks, ranksOf } from './rank.js';
import type { MatchedBlock, RowQuery, RowSource } from './row-source.js';
import type { TopRows } from './top-rows.js';

/** Memory for the best ranks of the partitions of a segment; where there are more, rows come as they are. */
const BEST_BYTES_MAX = 1 << 25;
const FIRST_PARTITIONS = 1024;
/** Candidates kept before they are given out as they are. */
const ROOM_MAX = 1 << 18;

/** The first rows of each partition, in an order. */
export interface TopPartitions extends TopRows {
  readonly partition: TopRows['keys'];
  /** So many different places are wanted. */
  readonly areDistinct: boolean;
}

/**
 * Rows of all segments in segment order, among which the first `wanted` of each partition are, and all that tie with the
 * last of them. Partitions and sort keys become ranks, of which kernels keep the smallest of each partition. Bounds go from
 * segment to segment; where the last times are wanted, segments are read from the last on. What is opened is added to `opened`.
 */
export function* topRowsOfPartitions(
  context: RunContext,
  views: readonly SegmentView[],
  query: RowQuery,
  top: TopPartitions,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  const [first] = top.keys;
  const fromLast = first !== undefined && first.key.column === TIME_COLUMN && first.key.descending;
  const bounds = first === undefined ? undefined : new PartitionBounds(top.partition, first.key);
  const batchesOf = (source: RowSource): { readonly batches: Iterable<RowBatch>; readonly isRanked: boolean } => {
    const order = ranksOf(source.scope, top.keys);
    const partition = ranksOf(source.scope, top.partition);
    const isRanked = order !== undefined && order !== null && partition !== undefined && partition?.isExact !== false;
    return isRanked
      ? { batches: bestRows({ source, partition, order, wanted: top.wanted, areDistinct: top.areDistinct, bounds, counts }), isRanked }
      : { batches: allRows(source), isRanked };
  };
  if (!fromLast) {
    for (const source of openedInOrder(context, inSegmentOrder(views), query, opened, counts)) {
      let isWanted = false;
      for (const batch of batchesOf(source).batches) {
        isWanted = true;
        yield batch;
      }
      if (isWanted) continue;
      source.release();
      opened.delete(source);
    }
    return;
  }
  // The caller releases what is opened when rows of another segment come: until then it does not know of those that wait.
  const waiting = new Set<RowSource>();
  try {
    const held: { readonly source: RowSource; readonly batches: Iterable<RowBatch> }[] = [];
    for (const source of openedInOrder(context, inSegmentOrder(views).reverse(), query, waiting, counts)) {
      const { batches, isRanked } = batchesOf(source);
      // Ranked rows are chosen now, so that the next segments know their bounds.
      const chosen = isRanked ? [...batches] : undefined;
      if (chosen?.length !== 0) held.push({ source, batches: chosen ?? batches });
      else {
        source.release();
        waiting.delete(source);
      }
    }
    for (const { source, batches } of held.reverse()) {
      waiting.delete(source);
      opened.add(source);
      yield* batches;
    }
  } finally {
    for (const source of waiting) source.release();
  }
}

function* allRows(source: RowSource): Generator<RowBatch> {
  for (const rows of source.blocks(false)) yield { source, rows };
}

interface Segment {
  readonly source: RowSource;
  readonly partition: Ranks | null;
  readonly order: Ranks;
  readonly wanted: number;
  readonly areDistinct: boolean;
  readonly bounds: PartitionBounds | undefined;
  readonly counts: RowCounts;
}

/** The best rows of a segment; none when those of segments before are better than all of it. */
function* bestRows({ source, partition, order, wanted, areDistinct, bounds, counts }: Segment): Generator<RowBatch> {
  const { rank, stride, isFirstKey } = order.first;
  const partitions = isFirstKey ? bounds?.partitionsOf(source.scope) : undefined;
  if (partitions !== undefined && rank.count !== undefined && bounds?.passesOver(partitions, rank.valueOf(0n)) === true) return;
  const arena = source.scope.context.memory.arena();
  try {
    const best = new BestOfPartitions(source, arena, partition, order, { wanted, areDistinct });
    for (const matched of source.matches(() => undefined)) {
      counts.rowsMatched += best.add(matched);
      if (best.isFull) yield { source, rows: best.take() };
    }
    const rows = best.take();
    if (partitions !== undefined)
      best.eachBound((number, last) => bounds?.note(partitions.text(number), rank.valueOf(stride === 1n ? last : last / stride)));
    if (rows.length > 0) yield { source, rows };
  } finally {
    arena.release();
  }
}

/** The rows of a segment with the smallest ranks of their partition, so far. */
class BestOfPartitions {
  readonly #source: RowSource;
  readonly #arena: Arena;
  readonly #order: Ranks;
  readonly #wanted: number;
  readonly #areDistinct: boolean;
  readonly #partition: Ranks | null;
  readonly #numbers: PartitionNumbers;
  readonly #room: number;
  /** Ranks, rows and partitions of the candidates. */
  readonly #keys: Address;
  readonly #rows: Address;
  readonly #groups: Address;
  readonly #blockKeys: Address;
  readonly #blockRows: Address;
  readonly #bits: Address;
  /** The smallest ranks of each partition, ascending. */
  #best: Address = 0;
  #partitions = 0;
  #takesAll = false;
  #count = 0;

  constructor(
    source: RowSource,
    arena: Arena,
    partition: Ranks | null,
    order: Ranks,
    { wanted, areDistinct }: Pick<TopPartitions, 'wanted' | 'areDistinct'>,
  ) {
    const { view } = source.scope;
    this.#source = source;
    this.#arena = arena;
    this.#order = order;
    this.#wanted = wanted;
    this.#areDistinct = areDistinct;
    const { rank, stride = 1n } = partition?.first ?? {};
    const ways = partition === null ? 1n : rank?.count === undefined ? undefined : rank.count * stride;
    this.#partition = partition;
    this.#numbers = new PartitionNumbers(source.scope.context, arena, ways, view.rowCount);
    this.#room = Math.min(view.rowCount, ROOM_MAX);
    this.#keys = arena.take(this.#room * 8);
    this.#rows = arena.take(this.#room * 4);
    this.#groups = arena.take(this.#room * 4);
    this.#blockKeys = arena.take(BLOCK_ROWS * 8);
    this.#blockRows = arena.take(BLOCK_ROWS * 4);
    this.#bits = takeBits(arena);
  }

  /** Whether there may be no room for another block. */
  get isFull(): boolean {
    return this.#room < this.#source.scope.view.rowCount && this.#count + BLOCK_ROWS > this.#room;
  }

  /** Adds the rows of a block that match. Returns how many these are. */
  add({ block, from, to, match }: MatchedBlock): number {
    const { kernels, memory } = this.#source.scope.context;
    const isAll = match === ALL && from === 0 && to === block.rows;
    if (match === ALL && !isAll) kernels.bitsFill(this.#bits, Math.ceil(block.rows / 64), from, to);
    const mask = match === ALL ? this.#bits : match;
    const n = isAll ? block.rows : kernels.bitsToRows(mask, from, to, this.#blockRows);
    if (n === 0) return 0;
    const selected = match === ALL ? block : { ...block, selection: mask };
    const rows = isAll ? 0 : this.#blockRows;
    const groups = this.#numbers.write(this.#partition, selected, rows, n);
    this.#order.write(selected, rows, n, this.#blockKeys);
    this.#reserve(this.#numbers.count);
    let kept = n;
    if (this.#takesAll) memory.u32(this.#rows + this.#count * 4, n).set(isAll ? numbersBelow(n) : memory.u32(this.#blockRows, n));
    else {
      const smallest = this.#areDistinct ? kernels.smallestDistinctGroupsI64 : kernels.smallestGroupsI64;
      smallest(this.#blockKeys, groups, n, this.#wanted, this.#best);
      kept = this.#compact(this.#blockKeys, rows, groups, n, this.#count);
    }
    const found = memory.u32(this.#rows + this.#count * 4, kept);
    for (let at = 0; at < kept; at++) found[at] = (found[at] ?? 0) + block.start;
    this.#count += kept;
    if (this.isFull) this.#compactAll();
    return n;
  }

  /** The candidates, which are then none any more. */
  take(): Uint32Array {
    this.#compactAll();
    const rows = this.#source.scope.context.memory.u32(this.#rows, this.#count).slice();
    this.#count = 0;
    return rows;
  }

  /** The number of each partition that has as many rows as are wanted, and the rank of the last of these. */
  eachBound(visit: (number: number, rank: bigint) => void): void {
    if (this.#takesAll || this.#partitions === 0) return;
    const ranks = this.#source.scope.context.memory.i64(this.#best, this.#partitions * this.#wanted).slice();
    for (let number = 0; number < this.#partitions; number++) {
      const last = ranks[(number + 1) * this.#wanted - 1] ?? I64_MAX;
      if (last !== I64_MAX) visit(number, last);
    }
  }

  /** Makes room for the ranks of so many partitions, which are at first the greatest. */
  #reserve(partitions: number): void {
    const { scope } = this.#source;
    const { memory } = scope.context;
    const [wanted, before] = [this.#wanted, this.#partitions];
    if (partitions <= before) return;
    let room = Math.max(before, Math.min(FIRST_PARTITIONS, this.#numbers.most));
    while (room < partitions) room *= 2;
    this.#takesAll ||= room * wanted * 8 > BEST_BYTES_MAX;
    if (this.#takesAll) return;
    const best = this.#arena.take(room * wanted * 8);
    memory.i64(best, before * wanted).set(memory.i64(this.#best, before * wanted));
    memory.i64(best + before * wanted * 8, (room - before) * wanted).fill(I64_MAX);
    [this.#best, this.#partitions] = [best, room];
  }

  #compactAll(): void {
    if (this.#takesAll) return;
    let kept = 0;
    for (let base = 0; base < this.#count; base += BLOCK_ROWS) {
      const n = Math.min(BLOCK_ROWS, this.#count - base);
      kept += this.#compact(this.#keys + base * 8, this.#rows + base * 4, this.#groups + base * 4, n, kept);
    }
    this.#count = kept;
  }

  /** Puts those within the bounds of their partitions behind the first `to` candidates. */
  #compact(keys: Address, rows: Address, groups: Address, n: number, to: number): number {
    const wanted = this.#wanted;
    return this.#source.scope.context.kernels.compactWithinI64(
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

function numbersBelow(n: number): Uint32Array {
  return Uint32Array.from({ length: n }, (_, at) => at);
}

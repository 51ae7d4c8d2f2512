// Rows among which the first of an order are, found without reading the others.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Scalar } from '../../expression/value.js';
import type { ScanPlan, SortKey } from '../../model/plan.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import type { SegmentView } from '../../storage/view.js';
import { type RunContext, takeBits } from '../block/context.js';
import type { RowCounts } from '../block/row-counts.js';
import { storedName } from '../expression/scope.js';
import type { Predicate } from '../filter/predicate.js';
import { type Candidates, type MatchedRows, matchedRows } from './candidates.js';
import { FirstTexts, textKeyOf } from './first-texts.js';
import { fromLastInterval, inSegmentOrder, openedInOrder, type RowBatch } from './order.js';
import { type Ranks, ranksOf } from './rank.js';
import type { MatchedBlock, RowQuery, RowSource } from './row-source.js';

/** More rows than this are sorted as they come. */
const WANTED_MAX = 1 << 14;

/** The first rows of an order. */
export interface TopRows {
  readonly keys: readonly { readonly key: SortKey; readonly type: ColumnType }[];
  readonly wanted: number;
}

/** The rows that the steps after a scan keep, when a sort with a limit comes first. */
export function topRowsOf({ post, timeOrder, limit }: ScanPlan): { readonly by: readonly SortKey[]; readonly wanted: number } | undefined {
  const [sort] = post;
  if (timeOrder !== null || limit !== null || sort?.step !== 'sort' || sort.limit === null) return undefined;
  const wanted = sort.offset + sort.limit;
  return wanted === 0 || wanted > WANTED_MAX ? undefined : { by: sort.by, wanted };
}

/** Segments in an order in which the first rows are met early. */
interface Visit {
  readonly ordered: readonly SegmentView[];
  /** Whether all rows of a segment come after a row whose first key is `bound`. */
  isBeyond(view: SegmentView, bound: Scalar): boolean;
}

/** The order of segments for some keys. Where no two intervals overlap, rows of one instant lie in one of them: those that tie are met in segment order. */
function visitOf(views: readonly SegmentView[], { virtualColumns }: RowQuery, { keys: [first] }: TopRows): Visit {
  const isByTime = first !== undefined && storedName(virtualColumns, first.key.column) === TIME_COLUMN;
  if (!isByTime || Object.hasOwn(virtualColumns, TIME_COLUMN)) return { ordered: inSegmentOrder(views), isBeyond: () => false };
  const { descending } = first.key;
  return {
    ordered: (descending ? fromLastInterval(views) : undefined) ?? inSegmentOrder(views),
    isBeyond: ({ timeMin, timeMax }, bound) => (descending ? timeMax < Number(bound) : timeMin > Number(bound)),
  };
}

/**
 * Rows among which the first `wanted` of an order are; where they are equal in it, those of the first segments. Sort keys become ranks,
 * of which kernels keep the smallest; the last of these is a bound, by which blocks are passed over, and which goes from segment to
 * segment as a value. What is opened is added to `opened`.
 */
export function* topRowsOfAll(
  context: RunContext,
  views: readonly SegmentView[],
  query: RowQuery,
  top: TopRows,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  let bound: Scalar | undefined;
  const visit = visitOf(views, query, top);
  const isWanted = (view: SegmentView): boolean => bound === undefined || !visit.isBeyond(view, bound);
  for (const source of openedInOrder(context, visit.ordered, query, opened, counts, isWanted)) {
    const best = candidatesOf(source, top);
    if (best === undefined) {
      for (const rows of source.blocks(false)) yield { source, rows };
      continue;
    }
    const { view } = source.scope;
    const isWhole = query.filter === null && query.intervals.some(({ start, end }) => start <= view.timeMin && end > view.timeMax);
    best.begin(bound, isWhole);
    let hasRows = false;
    for (const matched of source.matches(() => best.within)) {
      counts.rowsMatched += best.add(matched);
      if (!best.isFull) continue;
      hasRows = true;
      yield { source, rows: best.take() };
    }
    const rows = best.count > 0 ? best.take() : undefined;
    bound = best.bound ?? bound;
    if (rows !== undefined) yield { source, rows };
    else if (!hasRows) {
      source.release();
      opened.delete(source);
    }
  }
}

/** @returns undefined where nothing tells rows apart before they are read */
function candidatesOf(source: RowSource, { keys, wanted }: TopRows): Candidates | undefined {
  const ranks = ranksOf(source.scope, keys);
  if (ranks !== undefined) return new BestRows(source, ranks, wanted);
  const text = textKeyOf(source.scope, keys);
  return text === undefined ? undefined : new FirstTexts(source, text, wanted);
}

/** The rows of a segment with the smallest ranks, so far. */
class BestRows implements Candidates {
  readonly #source: RowSource;
  readonly #ranks: Ranks | null;
  readonly #wanted: number;
  readonly #rowCount: number;
  readonly #room: number;
  /** Ranks and rows of the candidates, ascending by row, and where the next ones are put together. */
  #keys: Address;
  #rows: Address;
  #nextKeys: Address;
  #nextRows: Address;
  readonly #matched: (matched: MatchedBlock) => MatchedRows;
  readonly #heap: Address;
  readonly #best: Address;
  readonly #bits: Address;
  readonly #limit: Address;
  #count = 0;
  /** Rank of the key that rows must have to be candidates. */
  #within: bigint | undefined;
  /** Rank of the last row wanted, by rows of this segment alone; undefined while these are too few, or say no more than before. */
  #last: bigint | undefined;
  #predicate: Predicate | undefined;

  constructor(source: RowSource, ranks: Ranks | null, wanted: number) {
    const { arena } = source.scope;
    this.#source = source;
    this.#ranks = ranks;
    this.#wanted = wanted;
    this.#rowCount = source.scope.view.rowCount;
    this.#room = Math.min(wanted + 2 * BLOCK_ROWS, this.#rowCount);
    [this.#keys, this.#nextKeys] = [arena.take(this.#room * 8), arena.take(this.#room * 8)];
    [this.#rows, this.#nextRows] = [arena.take(this.#room * 4), arena.take(this.#room * 4)];
    this.#matched = matchedRows(source.scope);
    [this.#heap, this.#best] = [arena.take(this.#room * 4), arena.take(this.#room * 4)];
    this.#bits = takeBits(arena);
    this.#limit = arena.take(8);
  }

  get count(): number {
    return this.#count;
  }

  get within(): Predicate | undefined {
    return this.#predicate;
  }

  get isFull(): boolean {
    return this.#room < this.#rowCount && this.#count + BLOCK_ROWS > this.#room;
  }

  /** The rank here of the bound that it began with can be that of a smaller value, up to which there need not be so many rows. */
  get bound(): Scalar | undefined {
    if (this.#ranks === null || this.#last === undefined) return undefined;
    const { rank, isFirstKey } = this.#ranks.first;
    return isFirstKey ? rank.valueOf(this.#last) : undefined;
  }

  begin(bound: Scalar | undefined, isWhole: boolean): void {
    if (this.#ranks === null) return;
    const { rank, isFirstKey } = this.#ranks.first;
    const known = bound === undefined || !isFirstKey ? undefined : rank.rankOf(bound);
    const first =
      isWhole && rank.usesAll && rank.count !== undefined && rank.count > BigInt(this.#wanted) ? BigInt(this.#wanted - 1) : undefined;
    if (known !== undefined) this.#narrow(known);
    if (first !== undefined) this.#endAt(first);
  }

  add(matched: MatchedBlock): number {
    const { memory } = this.#source.scope.context;
    // Nothing comes before rows that are equal and were met.
    if (this.#ranks === null && this.#count >= this.#wanted) return 0;
    const { block, n, rows: blockRows } = this.#matched(matched);
    if (n === 0) return 0;
    const rows = memory.u32(this.#rows + this.#count * 4, n);
    if (blockRows === 0) for (let row = 0; row < n; row++) rows[row] = block.start + row;
    else {
      rows.set(memory.u32(blockRows, n));
      for (let at = 0; at < n; at++) rows[at] = (rows[at] ?? 0) + block.start;
    }
    if (this.#ranks === null) {
      this.#count = Math.min(this.#wanted, this.#count + n);
      return n;
    }
    this.#ranks.write(block, blockRows, n, this.#keys + this.#count * 8);
    this.#count += n;
    if (this.#count > this.#wanted) this.#keep(this.#ranks);
    return n;
  }

  take(): Uint32Array {
    const rows = this.#source.scope.context.memory.u32(this.#rows, this.#count).slice();
    this.#count = 0;
    return rows;
  }

  /** Drops candidates that are not among the best; those that tie with the last stay where further keys may decide. */
  #keep(ranks: Ranks): void {
    const { kernels, memory } = this.#source.scope.context;
    const wanted = this.#wanted;
    kernels.topI64(this.#keys, 0, this.#count, wanted, 0, this.#heap, this.#best);
    const places = memory.u32(this.#best, wanted);
    const last = memory.i64(this.#keys + (places[wanted - 1] ?? 0) * 8, 1)[0] ?? 0n;
    let kept = wanted;
    if (ranks.isExact) places.sort();
    else kept = this.#placesUpTo(last);
    kernels.gather64(this.#keys, this.#best, kept, this.#nextKeys);
    kernels.gather32(this.#rows, this.#best, kept, this.#nextRows);
    [this.#keys, this.#nextKeys] = [this.#nextKeys, this.#keys];
    [this.#rows, this.#nextRows] = [this.#nextRows, this.#rows];
    this.#count = kept;
    const { stride } = ranks.first;
    this.#endAt(stride === 1n ? last : last / stride);
  }

  /** Places of the candidates of a rank or a smaller one, ascending, in `#best`. */
  #placesUpTo(rank: bigint): number {
    const { kernels, memory } = this.#source.scope.context;
    memory.i64(this.#limit, 1)[0] = rank;
    let kept = 0;
    for (let base = 0; base < this.#count; base += BLOCK_ROWS) {
      const n = Math.min(BLOCK_ROWS, this.#count - base);
      kernels.compareI64(this.#keys + base * 8, this.#limit, 1, n, 2, this.#bits);
      const found = kernels.bitsToRows(this.#bits, 0, n, this.#best + kept * 4);
      const places = memory.u32(this.#best + kept * 4, found);
      if (base > 0) for (let at = 0; at < found; at++) places[at] = (places[at] ?? 0) + base;
      kept += found;
    }
    return kept;
  }

  /** Notes that as many rows of this segment as are wanted come up to this rank. */
  #endAt(rank: bigint): void {
    if (this.#within !== undefined && rank > this.#within) return;
    this.#last = rank;
    this.#narrow(rank);
  }

  #narrow(rank: bigint): void {
    if (this.#within !== undefined && rank >= this.#within) return;
    this.#within = rank;
    this.#predicate = this.#ranks?.first.rank.within?.(rank);
  }
}

// Opens a segment for reading single rows.

import type { Interval } from '../../base/instant.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import type { SegmentView } from '../../storage/view.js';
import { type Block, blockAt, type RunContext, takeBits, wordsOf } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import { FilterClock, type RowCounts } from '../block/row-counts.js';
import { rowsWithin } from '../block/row-ranges.js';
import { openScope } from '../expression/open-scope.js';
import type { SegmentScope, VirtualColumns } from '../expression/scope.js';
import { bindPlanFilter } from '../filter/plan-filter.js';
import { ALL, type Match, NONE, type Predicate } from '../filter/predicate.js';

export interface RowQuery {
  readonly filter: Filter | null;
  readonly intervals: readonly Interval[];
  readonly virtualColumns: VirtualColumns;
}

/** A segment opened for reading rows; `release` when no row of it is looked at any more. */
export interface RowSource {
  readonly scope: SegmentScope;
  /** Numbers (in the segment) of matching rows, block by block, in row order or from the last row backwards. */
  blocks(descending: boolean): Generator<Uint32Array>;
  /** Blocks with rows that may match, in row order. @param before  what is looked at before the filter, if anything */
  matches(before: () => Predicate | undefined): Generator<MatchedBlock>;
  release(): void;
}

/** Rows [from, to) of a block, of which those in `match` pass the filter. */
export interface MatchedBlock {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
  readonly match: Match;
}

export function openRows(unsampled: RunContext, view: SegmentView, query: RowQuery, counts: RowCounts): RowSource {
  const context = unsampled.sampled(view.rowCount);
  context.beginSegment();
  const arena: Arena = context.memory.arena();
  const scope = openScope(context, view, query.virtualColumns, arena);
  return {
    scope,
    blocks: (descending) => matchingRows(scope, query, descending, counts),
    matches: (before) => matchedBlocks(scope, query, { descending: false, before }, counts),
    release: () => arena.release(),
  };
}

function* matchingRows(scope: SegmentScope, query: RowQuery, descending: boolean, counts: RowCounts): Generator<Uint32Array> {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const rows = arena.take(BLOCK_ROWS * 4);
  for (const { block, from, to, match } of matchedBlocks(scope, query, { descending, before: () => undefined }, counts)) {
    const count = match === ALL ? to - from : kernels.bitsToRows(match, from, to, rows);
    if (count === 0) continue;
    counts.rowsMatched += count;
    const found = match === ALL ? rowsFrom(block.start + from, count) : memory.u32(rows, count).map((row) => row + block.start);
    yield descending ? found.reverse() : found;
  }
}

function* matchedBlocks(
  scope: SegmentScope,
  { filter, intervals }: RowQuery,
  { descending, before }: { readonly descending: boolean; readonly before: () => Predicate | undefined },
  counts: RowCounts,
): Generator<MatchedBlock> {
  const { context, view } = scope;
  const bindingMs = ownNow();
  const predicate = bindPlanFilter(scope, filter);
  const boundMs = ownNow() - bindingMs;
  counts.bindMs += boundMs;
  // All of this is part of reading, which is timed as a whole.
  counts.readMs -= boundMs;
  if (predicate.constant === NONE) {
    counts.segmentsPrunedByValue++;
    return;
  }
  const both = takeBits(scope.arena);
  const ranges = rowsWithin(context, view, intervals);
  const clock = new FilterClock();
  try {
    for (const { start, end } of descending ? ranges.reverse() : ranges) {
      const firstBlock = Math.floor(start / BLOCK_ROWS);
      const lastBlock = Math.floor((end - 1) / BLOCK_ROWS);
      for (let step = 0; step <= lastBlock - firstBlock; step++) {
        context.check();
        const block = blockAt((descending ? lastBlock - step : firstBlock + step) * BLOCK_ROWS, view.rowCount);
        const from = Math.max(start, block.start) - block.start;
        const to = Math.min(end, block.start + block.rows) - block.start;
        counts.rowsScanned += to - from;
        if (context.times !== undefined) {
          context.times.blockRows = block.rows;
          counts.rowsSampled += to - from;
        }
        clock.start();
        const match = testBoth(context, before(), predicate, block, both);
        clock.filtered();
        if (match !== NONE) yield { block, from, to, match };
      }
    }
  } finally {
    if (context.times !== undefined) counts.kernels = context.times.totals();
    counts.filterMs += clock.filterMs;
    counts.readMs -= clock.filterMs;
  }
}

/** The second is not asked of a block in which no row passes the first. */
function testBoth({ kernels }: RunContext, first: Predicate | undefined, second: Predicate, block: Block, out: Address): Match {
  const match = first?.test(block) ?? ALL;
  if (match === NONE || (match !== ALL && kernels.bitsCount(match, wordsOf(block)) === 0)) return NONE;
  const other = second.test(block);
  if (match === ALL || other === NONE) return other;
  if (other === ALL) return match;
  kernels.bitsAnd(match, other, wordsOf(block), out);
  return out;
}

function rowsFrom(first: number, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let at = 0; at < count; at++) rows[at] = first + at;
  return rows;
}

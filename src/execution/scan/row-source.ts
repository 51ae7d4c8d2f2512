// Opens a segment for reading single rows.

import type { Interval } from '../../base/instant.js';
import { BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import type { SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext } from '../block/context.js';
import { FilterClock, type RowCounts } from '../block/row-counts.js';
import { rowsWithin } from '../block/row-ranges.js';
import { openScope } from '../expression/open-scope.js';
import type { SegmentScope, VirtualColumns } from '../expression/scope.js';
import { bindPlanFilter } from '../filter/plan-filter.js';
import { ALL, NONE } from '../filter/predicate.js';

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
  release(): void;
}

export function openRows(unsampled: RunContext, view: SegmentView, query: RowQuery, counts: RowCounts): RowSource {
  const context = unsampled.sampled(view.rowCount);
  context.beginSegment();
  const arena: Arena = context.memory.arena();
  const scope = openScope(context, view, query.virtualColumns, arena);
  return { scope, blocks: (descending) => matchingBlocks(scope, query, descending, counts), release: () => arena.release() };
}

function* matchingBlocks(
  scope: SegmentScope,
  { filter, intervals }: RowQuery,
  descending: boolean,
  counts: RowCounts,
): Generator<Uint32Array> {
  const { context, view, arena } = scope;
  const { kernels, memory } = context;
  const bindingMs = performance.now();
  const predicate = bindPlanFilter(scope, filter);
  const boundMs = performance.now() - bindingMs;
  counts.bindMs += boundMs;
  // All of this is part of reading, which is timed as a whole.
  counts.readMs -= boundMs;
  if (predicate.constant === NONE) {
    counts.segmentsPrunedByValue++;
    return;
  }
  const rows = arena.take(BLOCK_ROWS * 4);
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
        const match = predicate.test(block);
        clock.filtered();
        if (match === NONE) continue;
        const count = match === ALL ? to - from : kernels.bitsToRows(match, from, to, rows);
        if (count === 0) continue;
        counts.rowsMatched += count;
        const found = match === ALL ? rowsFrom(block.start + from, count) : memory.u32(rows, count).map((row) => row + block.start);
        yield descending ? found.reverse() : found;
      }
    }
  } finally {
    if (context.times !== undefined) counts.kernels = context.times.totals();
    counts.filterMs += clock.filterMs;
    counts.readMs -= clock.filterMs;
  }
}

function rowsFrom(first: number, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let at = 0; at < count; at++) rows[at] = first + at;
  return rows;
}

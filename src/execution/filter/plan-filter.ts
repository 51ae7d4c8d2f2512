// Binds the filter of a plan, without the conditions that an index has answered.

import type { Filter } from '../../model/filter.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { bindAll, bindFilter } from './bind.js';
import { MATCH_ALL, MATCH_NONE, type Match, NONE, type Predicate } from './predicate.js';

/** The conditions that must all be true; `RowSelection.answered` counts them. */
export function conditionsOf(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters : [filter];
}

/** The filter of a plan, bound to a segment; conditions that an index has answered there are the rows it gave. */
export function bindPlanFilter(scope: SegmentScope, filter: Filter | null): Predicate {
  if (filter === null) return MATCH_ALL;
  const { selection } = scope.view;
  if (selection === undefined) return bindFilter(scope, filter, false);
  const rest = conditionsOf(filter).filter((_, at) => !selection.answered.includes(at));
  return bindAll(scope, rest, false, [rowsPredicate(scope, selection.rows)]);
}

/** Rows listed, ascending; blocks without any are passed over. */
function rowsPredicate(scope: SegmentScope, rows: Uint32Array): Predicate {
  if (rows.length === 0) return MATCH_NONE;
  const { kernels, memory } = scope.context;
  const out = takeBits(scope.arena);
  const test = (block: Block): Match => {
    let at = lowerBound(rows, block.start);
    const end = block.start + block.rows;
    if ((rows[at] ?? end) >= end) return NONE;
    const words = wordsOf(block);
    kernels.bitsFill(out, words, 0, 0);
    const bits = memory.u32(out, words * 2);
    for (let row = rows[at] ?? end; row < end; row = rows[++at] ?? end) {
      const bit = row - block.start;
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
    return out;
  };
  return { constant: undefined, cost: 0, test };
}

/** First position whose row is at least `row`. */
function lowerBound(rows: Uint32Array, row: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

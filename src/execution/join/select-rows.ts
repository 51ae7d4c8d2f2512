// Numbers of the rows of a view that match a filter.

import { BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext, wordsOf } from '../block/context.js';
import type { RowRange } from '../block/row-ranges.js';
import type { RowNumbers } from '../block/view-rows.js';
import { ALL, NONE, type Predicate } from '../filter/predicate.js';

/** Numbers of the matching rows in the ranges, ascending, in the arena. */
export function selectRows(
  context: RunContext,
  arena: Arena,
  { rowCount }: SegmentView,
  predicate: Predicate,
  ranges: readonly RowRange[],
): RowNumbers {
  const { kernels } = context;
  if (predicate.constant === NONE || ranges.length === 0) return { at: 0, count: 0 };
  const bits = arena.take(Math.ceil(rowCount / 64) * 8);
  let matching = 0;
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    context.check();
    const block = blockAt(start, rowCount);
    const out = bits + start / 8;
    const isMet = ranges.some((range) => range.start < start + block.rows && range.end > start);
    const match = isMet ? predicate.test(block) : NONE;
    if (match === NONE || match === ALL) kernels.bitsFill(out, wordsOf(block), 0, match === NONE ? 0 : block.rows);
    else kernels.bitsAnd(match, match, wordsOf(block), out);
    matching += match === NONE ? 0 : match === ALL ? block.rows : kernels.bitsCount(out, wordsOf(block));
  }
  const at = arena.take(Math.max(1, matching) * 4);
  let count = 0;
  for (const { start, end } of ranges) count += kernels.bitsToRows(bits, start, end, at + count * 4);
  return { at, count };
}

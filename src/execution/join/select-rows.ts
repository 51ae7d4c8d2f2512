// Numbers of the rows of a view that match a filter.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext, wordsOf } from '../block/context.js';
import type { RowRange } from '../block/row-ranges.js';
import { ALL, NONE, type Predicate } from '../filter/predicate.js';
import type { RowNumbers } from './view-rows.js';

/** Rows whose bits are gathered before they are listed; a multiple of BLOCK_ROWS. */
const LISTED_ROWS = 1 << 18;

/** Numbers of the matching rows in the ranges, ascending, in the arena. */
export function selectRows(
  context: RunContext,
  arena: Arena,
  view: SegmentView,
  predicate: Predicate,
  ranges: readonly RowRange[],
): RowNumbers {
  const { kernels } = context;
  const { rowCount } = view;
  if (predicate.constant === NONE || ranges.length === 0) return { at: 0, count: 0 };
  const bits = arena.take(LISTED_ROWS / 8);
  const lists: { readonly at: Address; readonly count: number; readonly start: number }[] = [];
  let count = 0;
  for (let start = 0; start < rowCount; start += LISTED_ROWS) {
    const end = Math.min(rowCount, start + LISTED_ROWS);
    const within = ranges.filter((range) => range.start < end && range.end > start);
    if (within.length === 0) continue;
    let matching = 0;
    for (let row = start; row < end; row += BLOCK_ROWS) {
      context.check();
      const block = blockAt(row, rowCount);
      const out = bits + (row - start) / 8;
      const meets = within.some((range) => range.start < row + block.rows && range.end > row);
      const match = meets ? predicate.test(block) : NONE;
      if (match === NONE || match === ALL) kernels.bitsFill(out, wordsOf(block), 0, match === NONE ? 0 : block.rows);
      else kernels.bitsAnd(match, match, wordsOf(block), out);
      matching += match === NONE ? 0 : match === ALL ? block.rows : kernels.bitsCount(out, wordsOf(block));
    }
    if (matching === 0) continue;
    const at = arena.take(matching * 4);
    let found = 0;
    for (const range of within) {
      const [from, to] = [Math.max(range.start, start) - start, Math.min(range.end, end) - start];
      found += kernels.bitsToRows(bits, from, to, at + found * 4);
    }
    lists.push({ at, count: found, start });
    count += found;
  }
  return joined(context, arena, lists, count);
}

/** The lists after each other, counted from the first row of the view. */
function joined(
  { memory }: RunContext,
  arena: Arena,
  lists: readonly { readonly at: Address; readonly count: number; readonly start: number }[],
  count: number,
): RowNumbers {
  const [first, second] = lists;
  if (first === undefined) return { at: 0, count: 0 };
  if (second === undefined && first.start === 0) return { at: first.at, count };
  const at = arena.take(count * 4);
  const rows = memory.u32(at, count);
  let to = 0;
  for (const list of lists) {
    const own = memory.u32(list.at, list.count);
    for (let index = 0; index < list.count; index++) rows[to++] = (own[index] ?? 0) + list.start;
  }
  return { at, count };
}

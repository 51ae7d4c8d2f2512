// Binds the filter of a plan, without the conditions that an index has answered.

import { columnsReadBy } from '../../model/columns-read.js';
import type { Filter } from '../../model/filter.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import { hasSmallDictionary, onlyDictionary } from '../expression/dictionary-function.js';
import type { SegmentScope } from '../expression/scope.js';
import { bindAll, bindFilter } from './bind.js';
import { MATCH_ALL, MATCH_NONE, type Match, NONE, type Predicate } from './predicate.js';

/** The conditions that must all be true; `RowSelection.answered` counts them. */
export function conditionsOf(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters : [filter];
}

/** The filter of a plan, bound to a segment; conditions that an index has answered there are the rows it gave. */
export function bindPlanFilter(scope: SegmentScope, filter: Filter | null): Predicate {
  return bindFirst(scope, filter, () => false).first;
}

/** The same without the conditions that come later, which are given back. */
export function bindFirst(
  scope: SegmentScope,
  filter: Filter | null,
  isLater: (condition: Filter) => boolean,
): { readonly first: Predicate; readonly later: Filter | null } {
  if (filter === null) return { first: MATCH_ALL, later: null };
  const { selection } = scope.view;
  const conditions = conditionsOf(filter);
  const open = selection === undefined ? conditions : conditions.filter((_, at) => !selection.answered.includes(at));
  const later = open.filter(isLater);
  const listed = selection === undefined ? [] : [rowsPredicate(scope, selection.rows)];
  if (later.length === 0 && selection === undefined) return { first: bindFilter(scope, filter, false), later: null };
  const rest = open.filter((condition) => !later.includes(condition));
  const first = bindAll(scope, rest, false, listed);
  return { first, later: later.length === 0 ? null : { kind: 'and', filters: later } };
}

/** Whether a condition computes something of each row: more than what the entries of a small dictionary, or the order of time, tell. */
export function isComputed(scope: SegmentScope, condition: Filter): boolean {
  switch (condition.kind) {
    case 'true':
    case 'false':
      return false;
    case 'and':
    case 'or':
      return condition.filters.some((part) => isComputed(scope, part));
    case 'not':
    case 'isTrue':
      return isComputed(scope, condition.filter);
    case 'expression': {
      const { expression } = condition;
      const columns = columnsReadBy(expression);
      if (columns.size === 0 || (columns.size === 1 && columns.has(TIME_COLUMN))) return false;
      const dictionary = onlyDictionary(scope, expression);
      return dictionary === undefined || !hasSmallDictionary(scope, dictionary.column);
    }
    default: {
      const computation = scope.computation(condition.column);
      return computation !== undefined && isComputed(scope, { kind: 'expression', expression: computation.expression });
    }
  }
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

// Estimates how many rows of segments a filter lets pass, before any are grouped.

import { BLOCK_ROWS } from '../../base/layout.js';
import type { Filter } from '../../model/filter.js';
import type { GroupPlan } from '../../model/plan.js';
import { isPacked } from '../../model/value-list.js';
import type { SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext, wordsOf } from '../block/context.js';
import { openScope } from '../expression/open-scope.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { bindPlanFilter } from '../filter/plan-filter.js';
import { ALL, NONE } from '../filter/predicate.js';

/** Segments, and blocks of each, that are looked at. */
const VIEWS_MAX = 8;
const BLOCKS_EACH = 2;
/** Rows that pass are taken for so many more: of a rare value a sample may have none. */
const MARGIN = 16;

/**
 * The part of the rows that pass, of a sample: the same for the same segments, on every thread. 1 where looking would cost as much as it may
 * gain: nothing is left out, or conditions are not comparisons of stored values with a few others.
 */
export function passingPart(context: RunContext, { filter, virtualColumns }: GroupPlan, views: readonly SegmentView[]): number {
  if (filter === null || !isCheap(filter, new Set(virtualColumns.map(({ name }) => name)))) return 1;
  const filled = views.filter(({ rowCount }) => rowCount > 0);
  const byName = virtualColumnsByName(virtualColumns);
  const { memory, kernels } = context;
  let [looked, passed] = [0, 0];
  for (let at = 0; at < Math.min(VIEWS_MAX, filled.length); at++) {
    const view = filled[Math.floor((at * filled.length) / Math.min(VIEWS_MAX, filled.length))];
    if (view === undefined) continue;
    context.beginSegment();
    const arena = memory.arena();
    try {
      const predicate = bindPlanFilter(openScope(context, view, byName, arena), filter);
      const blocks = Math.ceil(view.rowCount / BLOCK_ROWS);
      for (let each = 0; each < Math.min(BLOCKS_EACH, blocks); each++) {
        context.check();
        const block = blockAt(Math.floor((blocks * (each * 2 + 1)) / (BLOCKS_EACH * 2)) * BLOCK_ROWS, view.rowCount);
        const match = predicate.constant ?? predicate.test(block);
        looked += block.rows;
        passed += match === NONE ? 0 : match === ALL ? block.rows : kernels.bitsCount(match, wordsOf(block));
      }
    } finally {
      arena.release();
    }
  }
  return looked === 0 ? 1 : Math.min(1, (passed + MARGIN) / looked);
}

function isCheap(filter: Filter, computed: ReadonlySet<string>): boolean {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return true;
    case 'and':
    case 'or':
      return filter.filters.every((each) => isCheap(each, computed));
    case 'not':
    case 'isTrue':
      return isCheap(filter.filter, computed);
    case 'null':
    case 'equals':
    case 'range':
      return !computed.has(filter.column);
    case 'in':
      return !computed.has(filter.column) && !isPacked(filter.values);
    case 'like':
    case 'expression':
      return false;
  }
}

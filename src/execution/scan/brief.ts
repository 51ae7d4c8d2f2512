// Decides which scans are so small that they are tried on the calling thread.

import type { VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { ScanPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import { storedName, storedSource, typeOfSource, type VirtualColumns, virtualColumnsByName } from '../expression/scope.js';

/** Cells whose reading stays well below a millisecond. */
const CELLS_MAX = 2_000;
/** Segments that are put in order and asked for their types before the first row is read. */
const SEGMENTS_MAX = 200;
/** Conditions that are bound to every segment that is opened. */
const CONDITIONS_MAX = 16;
/** Values, or entries of a dictionary, that are looked at to bind a condition. */
const LOOKED_AT_MAX = 500;

/**
 * Whether a scan may be over before another thread had woken up: few cells, and conditions that are bound by looking values
 * up. How many rows are read until they have been found is not known beforehand.
 */
export function mayBeBrief(plan: ScanPlan, views: readonly SegmentView[]): boolean {
  if (plan.limit === null || (plan.stages ?? []).length > 0 || views.length > SEGMENTS_MAX) return false;
  if ((plan.offset + plan.limit) * plan.columns.length > CELLS_MAX) return false;
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  if (!plan.virtualColumns.every((column) => isRenamed(column, virtualColumns, views))) return false;
  if (plan.filter === null) return true;
  const conditions = conditionsIn(plan.filter);
  return conditions.length <= CONDITIONS_MAX && conditions.every((condition) => isLookedUp(condition, virtualColumns, views));
}

/** A column under another name, which has the type that is asked for. */
function isRenamed(
  { name, expression, outputType, keeps }: VirtualColumn,
  virtualColumns: VirtualColumns,
  views: readonly SegmentView[],
): boolean {
  if (expression.kind !== 'column' || keeps !== undefined) return false;
  const stored = storedName(virtualColumns, name);
  return outputType === null || views.every((view) => (typeOfSource(storedSource(view, stored)) ?? outputType) === outputType);
}

type Condition = Exclude<Filter, { readonly kind: 'and' | 'or' | 'not' | 'isTrue' }>;

function conditionsIn(filter: Filter): readonly Condition[] {
  if (filter.kind === 'not' || filter.kind === 'isTrue') return conditionsIn(filter.filter);
  return filter.kind === 'and' || filter.kind === 'or' ? filter.filters.flatMap(conditionsIn) : [filter];
}

function isLookedUp(condition: Condition, virtualColumns: VirtualColumns, views: readonly SegmentView[]): boolean {
  if (condition.kind === 'true' || condition.kind === 'false') return true;
  if (condition.kind === 'expression') return false;
  if (condition.kind === 'in' && condition.values.length > LOOKED_AT_MAX) return false;
  const name = storedName(virtualColumns, condition.column);
  // Texts are sorted as texts; whatever else they are compared as is found by looking at each of them.
  const isSought =
    condition.kind === 'null' ||
    ((condition.kind === 'equals' || condition.kind === 'in') && condition.type === 'STRING') ||
    (condition.kind === 'range' && condition.type === 'STRING' && condition.ordering === 'lexicographic');
  return views.every((view) => {
    const source = storedSource(view, name);
    if (source.kind !== 'string') return source.kind === 'missing' || condition.kind !== 'like';
    const { type, dictionary } = source.column;
    return (isSought && type === 'STRING') || dictionary.count <= LOOKED_AT_MAX;
  });
}

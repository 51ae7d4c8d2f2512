import type { Filter } from '../../model/filter.js';
import type { ScanPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import { storedName, type VirtualColumns, virtualColumnsByName } from '../scope.js';

/** Cells whose reading stays well below a millisecond. */
const CELLS_MAX = 2_000;
/** Conditions that are bound to every segment that is opened. */
const CONDITIONS_MAX = 16;
/** Values, or entries of a dictionary, that are looked at to bind a condition. */
const LOOKED_AT_MAX = 500;

/**
 * Whether a scan may be over before another thread had woken up: few cells, and conditions that are bound by looking values
 * up. How many rows are read until they have been found is not known beforehand.
 */
export function mayBeBrief(plan: ScanPlan, views: readonly SegmentView[]): boolean {
  if (plan.limit === null || (plan.stages ?? []).length > 0) return false;
  if ((plan.offset + plan.limit) * plan.columns.length > CELLS_MAX) return false;
  if (plan.virtualColumns.some(({ expression, keeps }) => expression.kind !== 'column' || keeps !== undefined)) return false;
  if (plan.filter === null) return true;
  const conditions = conditionsIn(plan.filter);
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  return conditions.length <= CONDITIONS_MAX && conditions.every((condition) => isLookedUp(condition, virtualColumns, views));
}

type Condition = Exclude<Filter, { readonly kind: 'and' | 'or' | 'not' }>;

function conditionsIn(filter: Filter): readonly Condition[] {
  if (filter.kind === 'not') return conditionsIn(filter.filter);
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
    const column = Object.hasOwn(view.columns, name) ? view.columns[name] : undefined;
    if (column === undefined) return true;
    if (column.kind === 'string') return (isSought && column.type === 'STRING') || column.dictionary.count <= LOOKED_AT_MAX;
    return condition.kind !== 'like';
  });
}

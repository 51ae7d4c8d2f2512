// Answers conditions on columns that are not in memory from their bitmap indexes.

import type { Filter } from '../../model/filter.js';
import type { RowPlan } from '../../model/plan.js';
import { isPacked } from '../../model/value-list.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { RowSelection, SegmentView } from '../../storage/view.js';
import { columnsOfPlan } from '../expression/columns-of-plan.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { conditionsOf } from './plan-filter.js';

/*
 * Conditions answered without their columns. Where the ids of a column are in memory a scan of them is cheaper than
 * anything else: four to eight rows a nanosecond. Where they are not, loading them costs a hundred times that, and the
 * few bitmaps of a rare value far less; segments without it need load nothing at all.
 */

/** Part of the rows that a condition may let through, by the number of different values, to be looked up in an index. */
const SELECTIVITY_MAX = 0.01;

/** A condition that a text of a stored column is one of some. */
interface TextCondition {
  /** Position among the conditions of the filter. */
  readonly position: number;
  readonly column: string;
  readonly texts: readonly string[];
}

export interface FoundByIndex {
  /** Segments that are left to be read. */
  readonly segmentIds: readonly string[];
  /** Columns that these need not have; undefined: all have all, as if there were no index. */
  readonly leftOut: Readonly<Record<string, readonly string[]>> | undefined;
  readonly prunedByValue: number;
  readonly prunedByBitmap: number;
  /** Rows that indexes gave. */
  readonly rows: number;
  /** The views with what was found. */
  select(views: readonly SegmentView[]): readonly SegmentView[];
}

/** Looks up, in segments whose columns are not in memory, what indexes and the range of values tell of a plan's filter. */
export async function findByIndex(plan: RowPlan, store: SegmentStore, segmentIds: readonly string[]): Promise<FoundByIndex> {
  const nothing = { segmentIds, leftOut: undefined, prunedByValue: 0, prunedByBitmap: 0, rows: 0, select: same };
  const conditions = textConditions(plan);
  if (conditions.length === 0) return nothing;
  const large = await store.large(segmentIds);
  if (!large.some((id) => conditions.some(({ column }) => store.unloaded(id, column) !== null))) return nothing;
  // A segment without matching rows still contributes its column types: skip it only where all types agree.
  if (!typesAgree(plan, store, segmentIds)) return nothing;
  const excluded = new Set(segmentIds.filter((id) => conditions.some((condition) => excludes(store, id, condition))));
  const selections = new Map<string, RowSelection>();
  await Promise.all(
    segmentIds.map(async (id) => {
      if (excluded.has(id)) return;
      const selection = await selectionOf(conditions, store, id);
      if (selection !== undefined) selections.set(id, selection);
    }),
  );
  if (excluded.size === 0 && selections.size === 0) return nothing;
  const isEmpty = (id: string): boolean => excluded.has(id) || selections.get(id)?.rows.length === 0;
  const left = segmentIds.filter((id) => !isEmpty(id));
  // A plan is run over one segment at least.
  const [first = ''] = segmentIds;
  const read = left.length > 0 ? left : [first];
  if (left.length === 0) selections.set(first, { answered: allConditions(plan), rows: new Uint32Array(0) });
  const pruned = segmentIds.filter((id) => !read.includes(id));
  const prunedByValue = pruned.filter((id) => excluded.has(id)).length;
  const leftOut = Object.fromEntries(read.map((id) => [id, columnsSpared(plan, conditions, selections.get(id))]));
  return {
    segmentIds: read,
    leftOut,
    prunedByValue,
    prunedByBitmap: pruned.length - prunedByValue,
    rows: [...selections.values()].reduce((sum, { rows }) => sum + rows.length, 0),
    select: (views) =>
      views.map((view) => {
        const selection = selections.get(view.id);
        return selection === undefined ? view : { ...view, selection };
      }),
  };
}

const allConditions = ({ filter }: RowPlan): number[] => (filter === null ? [] : conditionsOf(filter).map((_, at) => at));

const same = (views: readonly SegmentView[]): readonly SegmentView[] => views;

/** Conditions of the filter on rows as they are stored. */
function textConditions({ filter, virtualColumns, stages = [] }: RowPlan): readonly TextCondition[] {
  if (filter === null || stages.length > 0) return [];
  const virtual = virtualColumnsByName(virtualColumns);
  return conditionsOf(filter).flatMap((condition, position) => {
    const texts = textsOf(condition);
    if (texts === undefined || !('column' in condition) || Object.hasOwn(virtual, condition.column)) return [];
    return [{ position, column: condition.column, texts }];
  });
}

/** The texts that a condition asks for; undefined when it is of another kind, null passes it, or they are too many to be looked up one by one. */
function textsOf(condition: Filter): readonly string[] | undefined {
  if (condition.kind !== 'equals' && condition.kind !== 'in') return undefined;
  if (condition.type !== 'STRING') return undefined;
  const values = condition.kind === 'equals' ? [condition.value] : condition.values;
  if (isPacked(values)) return undefined;
  return values.includes(null) ? undefined : values.map(String);
}

/** Whether no value of the segment is among the texts, as its smallest and largest value tell. */
function excludes(store: SegmentStore, id: string, { column, texts }: TextCondition): boolean {
  const unloaded = store.unloaded(id, column);
  if (unloaded === null) return false;
  const { min, max } = unloaded;
  return min === null || max === null || texts.every((text) => text < min || text > max);
}

/** The rows that pass all conditions for which an index is better than loading the column. */
async function selectionOf(conditions: readonly TextCondition[], store: SegmentStore, id: string): Promise<RowSelection | undefined> {
  const indexed = conditions.filter(({ column, texts }) => {
    const unloaded = store.unloaded(id, column);
    return unloaded?.prefersIndex === true && texts.length <= unloaded.valueCount * SELECTIVITY_MAX;
  });
  if (indexed.length === 0) return undefined;
  const found = await Promise.all(indexed.map(({ column, texts }) => store.findStrings(id, column, texts)));
  const rows = found.reduce((left, right) => intersection(left, right));
  return { answered: indexed.map(({ position }) => position), rows };
}

/** Intersection of two ascending lists of rows. */
function intersection(left: Uint32Array, right: Uint32Array): Uint32Array {
  const rows = new Set(right);
  return left.filter((row) => rows.has(row));
}

/** Columns that only answered conditions name. */
function columnsSpared(plan: RowPlan, conditions: readonly TextCondition[], selection: RowSelection | undefined): readonly string[] {
  if (selection === undefined || plan.filter === null) return [];
  const rest = conditionsOf(plan.filter).filter((_, at) => !selection.answered.includes(at));
  const needed = columnsOfPlan({ ...plan, filter: { kind: 'and', filters: rest } }).columns;
  return conditions.flatMap(({ position, column }) => (selection.answered.includes(position) && !needed.includes(column) ? [column] : []));
}

function typesAgree(plan: RowPlan, store: SegmentStore, segmentIds: readonly string[]): boolean {
  const { columns } = columnsOfPlan(plan);
  const typesOf = (id: string): string => {
    const types = new Map(store.schema(id).map(({ name, type }) => [name, type]));
    return columns.map((name) => types.get(name) ?? '').join();
  };
  const [first] = segmentIds;
  const expected = first === undefined ? '' : typesOf(first);
  return segmentIds.every((id) => typesOf(id) === expected);
}

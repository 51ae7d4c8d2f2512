// A plan bound to a segment on one thread, and the groups found there so far.

import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import type { GroupPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import { hasOrderedStates } from '../aggregate-state/operations.js';
import { type Block, type RunContext, takeBits } from '../block/context.js';
import type { RowRange } from '../block/row-ranges.js';
import { openScope } from '../expression/open-scope.js';
import { bindFirst, isComputed } from '../filter/plan-filter.js';
import { ALL, type Match, NONE, type Predicate } from '../filter/predicate.js';
import { computesOfRows, conditionAfter } from './few-rows.js';
import type { GroupLayout } from './key/layout.js';
import { SegmentGroups } from './segment/segment-groups.js';
import { areApart, divideTable, foldEqual, isDivisible } from './table/divided.js';
import type { GroupTable } from './table/group-table.js';
import { bytesWith } from './table/table-bytes.js';

/** A view whose rows are to be grouped, all or some of them. */
export interface UploadedView {
  readonly view: SegmentView;
  readonly index: number;
  /** Whether its rows are those that its columns were uploaded with: none left out, none repeated. */
  readonly isSegment: boolean;
  /** Rows that are read. */
  readonly ranges: readonly RowRange[];
  /** Conditions that they must meet. */
  readonly filter: Filter | null;
  /** Whether the rows were counted as scanned before. */
  readonly areCounted?: boolean;
}

/** A plan bound to a segment, and the groups found so far. */
export interface BoundSegment {
  readonly predicate: Predicate;
  /** Whether rows may wait, of blocks of which few are left. */
  readonly mayWait: boolean;
  /** Conditions that are asked after `predicate`; null: none. */
  readonly later: Filter | null;
  /** Asks them of the rows that it leaves. */
  readonly testLater: ((block: Block, match: Match) => Match) | undefined;
  /** undefined: no row has passed the filter yet. */
  groups: SegmentGroups | undefined;
  /** Binds keys and aggregators, which may cost more than the filter and is left until a row passes it. */
  readonly bindGroups: () => SegmentGroups;
  readonly bits: Address;
  readonly arena: Arena;
  /** Rows that were grouped. */
  rows: number;
  /** Arena size before rows were grouped. */
  bytesAtFirst: number;
  /** Bytes beside the arena then: values that are known before rows are. */
  besideAtFirst: number;
}

export function bindSegment(
  layout: GroupLayout,
  context: RunContext,
  { view, index, isSegment, ranges, filter }: UploadedView,
): BoundSegment {
  const { plan } = layout;
  const arena = context.memory.arena();
  try {
    const scope = openScope(context, view, layout.columns.virtualColumns, arena);
    // States that depend on the order of rows take them as they come.
    const canWait = isSegment && filter !== null && !hasOrderedStates(plan.aggregators);
    const { first: predicate, later } = bindFirst(scope, filter, (condition) => canWait && isComputed(scope, condition));
    const [whole] = ranges;
    const areAll = predicate.constant === ALL && later === null && whole?.start === 0 && whole.end === view.rowCount;
    scope.readsEveryRow = areAll;
    const coming = { areAll, areStored: areAll && isSegment, order: index };
    const bindGroups = (): SegmentGroups => {
      const groups = new SegmentGroups(scope, layout, coming);
      if (plan.refusesMultiValues === true) refuseMultiValues(plan, groups);
      return groups;
    };
    const bits = takeBits(arena);
    const groups = predicate.constant === ALL && later === null ? bindGroups() : undefined;
    return {
      predicate,
      mayWait: canWait && predicate.constant !== NONE && (later !== null || computesOfRows(scope, plan)),
      later,
      testLater: later === null ? undefined : conditionAfter(scope, later),
      groups,
      bindGroups,
      bits,
      arena,
      rows: 0,
      bytesAtFirst: arena.bytes,
      besideAtFirst: groups?.bytesBeside ?? 0,
    };
  } catch (error) {
    arena.release();
    throw error;
  }
}

function refuseMultiValues({ keys }: GroupPlan, groups: SegmentGroups): void {
  const index = groups.keys.findIndex(({ kind }) => kind === 'multi');
  const key = keys[index];
  if (key === undefined) return;
  const column = key.kind === 'column' ? key.column : key.name;
  throw new ServiceError(
    'query_invalid',
    `dimension "${column}" has rows of several values, which context.groupByEnableMultiValueUnnesting: false does not allow; group by MV_TO_ARRAY of it, or unnest it`,
  );
}

/** Empties the table first where it might not hold them all. */
export function combineBounded({ groups, arena, bytesAtFirst }: BoundSegment, table: GroupTable): void {
  if (groups === undefined) return;
  const isFull = (): boolean => {
    const bytes = bytesWith(table, groups.groupIndex.groupCount, {
      content: arena.bytes - bytesAtFirst + groups.bytesBeside,
      values: groups.valueCount,
    });
    return bytes > table.context.groupBytesMax || !table.context.memory.hasRoom(bytes - table.bytes);
  };
  if (table.division !== undefined) foldEqual(table, isFull());
  if (table.canSpill && isFull()) table.spill(0);
  groups.combineInto(table);
}

/** Groups of a segment at which it shows whether nearly every row has one of its own. */
const MANY_GROUPS = 1 << 17;
/** Groups that stay in the cache while rows are added to them. */
const CACHED_GROUPS = 1 << 14;

/** Divides the table where nearly every row has a group of its own; groups go there from then on before they outgrow the cache. */
export function moveDivided(bound: BoundSegment, table: GroupTable, rows: number): void {
  const { groups } = bound;
  bound.rows += rows;
  if (groups?.groupIndex.kind !== 'hash') return;
  const { groupCount } = groups.groupIndex;
  if (table.division === undefined) {
    const areMany = groupCount >= MANY_GROUPS && areApart(table.layout, groupCount, bound.rows);
    if (!areMany || table.hasSpilled || table.hasManyEqual || !isDivisible(table.layout)) return;
    divideTable(table);
  }
  if (groupCount < CACHED_GROUPS) return;
  combineBounded(bound, table);
  groups.reset();
}

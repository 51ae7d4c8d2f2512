// Row sources of a plan: tables, subqueries, inline rows, unions, lookups and joins.

import type { VirtualColumn } from './aggregator.js';
import type { Expression } from './expression.js';
import type { Filter } from './filter.js';
import type { Frame } from './frame.js';
import type { GroupPlan, ScanPlan, TimeBoundaryPlan } from './plan.js';
import type { ColumnSchema, ColumnType } from './schema.js';
import type { JoinType } from './stage.js';

/** A plan that reads rows and gives rows. */
export type RowsPlan = GroupPlan | ScanPlan | TimeBoundaryPlan;

/**
 * Source of a plan's rows, as plain data. Filters, unnesting and joins are stages (`stage.ts`) over the rows
 * of what they begin with: where that is tables, they run beside the segments; else its rows come as frames, which are
 * placed in kernel memory chunk by chunk. Only the right side of a join is held as a whole.
 */
export type RowSource =
  | { readonly kind: 'table'; readonly name: string }
  /** Rows known to the planner. */
  | { readonly kind: 'inline'; readonly frame: Frame }
  | ExternalSource
  /** Columns `k` and `v`, both STRING. */
  | { readonly kind: 'lookup'; readonly name: string }
  /** The rows a plan gives. */
  | { readonly kind: 'query'; readonly plan: RowsPlan; readonly source: RowSource }
  /** The rows of all sources; columns go by name. */
  | { readonly kind: 'union'; readonly sources: readonly RowSource[] }
  | { readonly kind: 'filtered'; readonly source: RowSource; readonly filter: Filter }
  /** Each row once for every value of `column`, which is added to it; rows without a value vanish. */
  | { readonly kind: 'unnest'; readonly source: RowSource; readonly column: VirtualColumn }
  | JoinSource;

/** Sources that are made of no others, in the order in which they are written. */
export function leavesOf(source: RowSource): readonly RowSource[] {
  switch (source.kind) {
    case 'query':
    case 'filtered':
    case 'unnest':
      return leavesOf(source.source);
    case 'union':
      return source.sources.flatMap(leavesOf);
    case 'join':
      return [...leavesOf(source.left), ...leavesOf(source.right)];
    default:
      return [source];
  }
}

/** The files among what is read. */
export function externalsOf(source: RowSource): readonly ExternalSource[] {
  return leavesOf(source).flatMap((leaf) => (leaf.kind === 'external' ? [leaf] : []));
}

/** Files that a task reads. */
export interface ExternalSource {
  readonly kind: 'external';
  readonly inputSource: unknown;
  readonly inputFormat: unknown;
  readonly signature: readonly { readonly name: string; readonly type: ColumnType }[];
}

export interface JoinSource {
  readonly kind: 'join';
  readonly left: RowSource;
  readonly right: RowSource;
  /** Prefix of the names of the right side's columns. */
  readonly prefix: string;
  /** Join type: which rows without a partner are kept; `semi`, `anti` and `mark` give rows of the left side only, each once. */
  readonly type: JoinType;
  /** Type `mark` only: the added LONG column, 1 where a row has a partner, else 0; it does not begin with the prefix. */
  readonly mark?: string;
  /** All must be equal; null equals nothing, unless a key says so. Empty: every row meets every row. Each side's names are without the prefix. */
  readonly keys: readonly JoinKey[];
  /** Further condition on a pair, over the columns of both sides; those of the right side have the prefix. */
  readonly condition: Expression | null;
  /** The planner knew the sizes of both sides: the right one is the one to be held. */
  readonly sidesChosen?: true;
  /** Columns of the sides as far as the planner knows; a side may turn out to have no rows. */
  readonly leftColumns: readonly ColumnSchema[];
  readonly rightColumns: readonly ColumnSchema[];
}

export interface JoinKey {
  readonly left: Expression;
  readonly right: Expression;
  /** Type that both sides are converted to before they are compared. */
  readonly type: ColumnType;
  /** Two nulls are equal. */
  readonly nullsMeet?: true;
}

import type { PlannedSource, SqlType } from '../../model/statement.js';
import type { BoundAggregate } from './aggregates.js';
import type { Bound } from './bound.js';

/** The bound, typed relational tree of a query. Names in an expression are columns of the node below it. */
export type Relation =
  | { readonly kind: 'source'; readonly source: PlannedSource }
  | { readonly kind: 'filter'; readonly input: Relation; readonly condition: Bound }
  /** Columns: the keys, then the aggregates. Without keys there is one row even over none. */
  | {
      readonly kind: 'aggregate';
      readonly input: Relation;
      readonly keys: readonly NamedBound[];
      readonly aggregates: readonly NamedAggregate[];
    }
  | { readonly kind: 'sort'; readonly input: Relation; readonly by: readonly RelationSortKey[] }
  | { readonly kind: 'limit'; readonly input: Relation; readonly offset: number; readonly limit: number | null }
  | { readonly kind: 'project'; readonly input: Relation; readonly columns: readonly ProjectedColumn[] };

export interface NamedBound {
  readonly name: string;
  readonly bound: Bound;
}

export type NamedAggregate = BoundAggregate & { readonly name: string };

export interface ProjectedColumn extends NamedBound {
  readonly type: SqlType;
}

export interface RelationSortKey {
  readonly bound: Bound;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
}

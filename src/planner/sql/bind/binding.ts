// Types that the binders of clauses share.

import type { StoredAggregator } from '../../../model/statement.js';
import type { SqlSchema } from '../catalog/schema.js';
import type { SqlQuery } from '../parse/syntax.js';
import type { ProjectRelation, Relation } from '../relation/relation.js';
import type { Scope } from './scope.js';
import type { Session } from './session.js';

/** Source of a FROM, and the names of its columns. */
export interface BoundFrom {
  readonly relation: Relation;
  readonly scope: Scope;
}

/**
 * Treatment of aggregates in a place whose results a statement stores that stores states (context key
 * `finalizeAggregations`): the state of one that stands alone in the SELECT list is stored; as a value it may not be.
 */
export type StoredAs = 'state' | 'value';

/** Context of binding, beside the syntax tree. */
export interface Binding {
  readonly session: Session;
  readonly schema: SqlSchema;
  /** `bindQuery`, for queries inside of others. */
  readonly query: (binding: Binding, query: SqlQuery, parent: Scope | null) => BoundQuery;
  /** Left out: the results of aggregates are values. */
  readonly storedAs?: StoredAs;
}

/** Binding of queries whose rows are not stored as they are. */
export function unstored({ session, schema, query }: Binding): Binding {
  return { session, schema, query };
}

/** Binding of queries whose rows may be stored as they are, though not as groups of their own. */
export function storedInside(binding: Binding): Binding {
  return binding.storedAs === undefined ? binding : { ...binding, storedAs: 'value' };
}

/** A bound query: its tree, whose top node names the columns. */
export interface BoundQuery {
  readonly relation: ProjectRelation;
  /** Names as written; two may be equal, while those of the relation differ. */
  readonly names: readonly string[];
  /** Aggregators that add up the results of its groups further, by the places of their columns; left out: states are not stored. */
  readonly stored?: readonly (StoredAggregator | undefined)[];
}

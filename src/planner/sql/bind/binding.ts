// Types that the binders of clauses share.

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

/** Context of binding, beside the syntax tree. */
export interface Binding {
  readonly session: Session;
  readonly schema: SqlSchema;
  /** `bindQuery`, for queries inside of others. */
  readonly query: (binding: Binding, query: SqlQuery, parent: Scope | null) => BoundQuery;
}

/** A bound query: its tree, whose top node names the columns. */
export interface BoundQuery {
  readonly relation: ProjectRelation;
  /** Names as written; two may be equal, while those of the relation differ. */
  readonly names: readonly string[];
}

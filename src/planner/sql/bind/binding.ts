import type { SqlSchema } from '../catalog/schema.js';
import type { SqlQuery } from '../parse/syntax.js';
import type { ProjectRelation, Relation } from '../relation/relation.js';
import type { Scope } from './scope.js';
import type { Session } from './session.js';

/** What a FROM reads, and the names its columns go by. */
export interface BoundFrom {
  readonly relation: Relation;
  readonly scope: Scope;
}

/** What binding needs beside the syntax tree. */
export interface Binding {
  readonly session: Session;
  readonly schema: SqlSchema;
  /** `bindQuery`, for queries inside of others. */
  readonly query: (binding: Binding, query: SqlQuery, parent: Scope | null) => BoundQuery;
}

/** A bound query: its tree, whose top node names the columns. */
export interface BoundQuery {
  readonly relation: ProjectRelation;
  /** As they were written, of which two may be alike; those of the relation differ. */
  readonly names: readonly string[];
}

// Place of an expression in its query, which decides what it may contain.

import type { SqlExpression, SqlQuery } from '../../parse/syntax.js';
import type { Bound } from '../../relation/bound.js';
import type { AggregateList } from '../aggregate-list.js';
import type { StoredAs } from '../binding.js';
import type { Scope } from '../scope.js';
import type { Session } from '../session.js';

/** Binder of subqueries in expressions, implemented by `subquery.ts`. */
export interface Subqueries {
  scalar(place: Place, query: SqlQuery): Bound;
  exists(place: Place, query: SqlQuery): Bound;
  in(place: Place, expression: Of<'inQuery'>, operands: readonly Bound[], positive: boolean): Bound;
}

/** Collector of window functions, implemented by `window-list.ts`. */
interface Windows {
  add(place: Place, expression: Of<'call'>): Bound;
}

interface Aliases {
  readonly items: ReadonlyMap<string, SqlExpression>;
  /** Aliases that are bound already. */
  readonly bound: ReadonlyMap<string, Bound>;
  readonly before: boolean;
}

/** Position of an expression: the columns it may name and whether it may aggregate. */
export interface Place {
  readonly session: Session;
  readonly scope: Scope;
  /** Takes the aggregates of the query; text: why there can be none here. */
  readonly aggregates: AggregateList | string;
  /** Takes the subqueries of the clause; text: why there can be none here. */
  readonly subqueries: Subqueries | string;
  /** Takes those inside of aggregates, which are met before grouping; left out: `subqueries` does. */
  readonly rowSubqueries?: Subqueries;
  /** Takes window functions; left out: there can be none here. */
  readonly windows?: Windows | undefined;
  /** Left out: the results of aggregates are values. */
  readonly storedAs?: StoredAs | undefined;
  /** In a filter, and under nothing but AND and OR: unknown is as good as false there. */
  readonly positive?: boolean;
  /** Select items by their names, for clauses that may name them: `before` or after the columns of the tables. */
  readonly aliases?: Aliases;
}

/** Binds an operand where the expression around it stands. */
export type BindOperand = (operand: SqlExpression) => Bound;

/** An expression of one kind. */
export type Of<Kind extends SqlExpression['kind']> = Extract<SqlExpression, { kind: Kind }>;

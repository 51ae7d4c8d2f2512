// Our syntax tree of SQL.

import type { ColumnType } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import type { WindowFrame } from '../../../model/window.js';

/** Our own syntax tree, parsed but not yet bound to tables. `at` is an offset into the statement's source text. */
interface Node {
  readonly at: number;
}

export type SqlExpression = Node &
  (
    | {
        readonly kind: 'literal';
        readonly type: 'VARCHAR' | 'INTEGER' | 'BIGINT' | 'DECIMAL' | 'DOUBLE' | 'BOOLEAN' | 'NULL';
        readonly value: string | bigint | number | null;
      }
    /** TIMESTAMP '...' and DATE '...': the text is read at binding, in the session's time zone. */
    | { readonly kind: 'instant'; readonly type: 'TIMESTAMP' | 'DATE'; readonly text: string }
    /** INTERVAL '...' from TO to; `to` is null for a single unit. */
    | { readonly kind: 'interval'; readonly text: string; readonly from: string; readonly to: string | null }
    | { readonly kind: 'name'; readonly path: readonly string[] }
    | { readonly kind: 'star'; readonly path: readonly string[] }
    /** `index` counts the `?` of the statement from 0. */
    | { readonly kind: 'parameter'; readonly index: number }
    | { readonly kind: 'negate' | 'not'; readonly operand: SqlExpression }
    | { readonly kind: 'arithmetic'; readonly operator: ArithmeticOperator; readonly left: SqlExpression; readonly right: SqlExpression }
    | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly left: SqlExpression; readonly right: SqlExpression }
    /** IS [NOT] DISTINCT FROM. */
    | { readonly kind: 'distinctFrom'; readonly negated: boolean; readonly left: SqlExpression; readonly right: SqlExpression }
    | { readonly kind: 'and' | 'or'; readonly operands: readonly SqlExpression[] }
    | {
        readonly kind: 'is';
        readonly negated: boolean;
        readonly what: 'NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN';
        readonly operand: SqlExpression;
      }
    | {
        readonly kind: 'between';
        readonly negated: boolean;
        readonly symmetric: boolean;
        readonly operand: SqlExpression;
        readonly low: SqlExpression;
        readonly high: SqlExpression;
      }
    | { readonly kind: 'in'; readonly negated: boolean; readonly operand: SqlExpression; readonly items: readonly SqlExpression[] }
    /**
     * `operand operator ANY (SELECT ...)`, which is IN for `=`. `operands`: more than one for a row, `(a, b) IN (SELECT ...)`, which is
     * compared by `=` alone.
     */
    | {
        readonly kind: 'inQuery';
        readonly negated: boolean;
        readonly operator: CompareOperator;
        readonly operands: readonly SqlExpression[];
        readonly query: SqlQuery;
      }
    | { readonly kind: 'exists'; readonly query: SqlQuery }
    /** A query of one column and at most one row as a value. */
    | { readonly kind: 'scalarQuery'; readonly query: SqlQuery }
    | { readonly kind: 'row' | 'array'; readonly elements: readonly SqlExpression[] }
    /** `index` counts from 1. */
    | { readonly kind: 'element'; readonly array: SqlExpression; readonly index: SqlExpression }
    | {
        readonly kind: 'like';
        readonly negated: boolean;
        readonly operand: SqlExpression;
        readonly pattern: SqlExpression;
        readonly escape: SqlExpression | null;
      }
    | {
        readonly kind: 'case';
        readonly operand: SqlExpression | null;
        readonly whens: readonly { readonly when: SqlExpression; readonly then: SqlExpression }[];
        readonly otherwise: SqlExpression | null;
      }
    | { readonly kind: 'cast'; readonly operand: SqlExpression; readonly type: SqlType }
    | SqlCall
  );

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '||';
export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export interface SqlCall {
  readonly kind: 'call';
  /** Upper case. */
  readonly name: string;
  readonly arguments: readonly SqlExpression[];
  /** FLOOR(x TO unit), CEIL(x TO unit), EXTRACT(unit FROM x); null for a plain call. */
  readonly unit: string | null;
  /** JSON_VALUE(x, path RETURNING type); null when it is not said. */
  readonly returning: SqlType | null;
  readonly distinct: boolean;
  readonly filter: SqlExpression | null;
  /** Order in which an aggregate meets its values. */
  readonly orderBy: readonly OrderItem[];
  /** OVER: a window, or the name of one. */
  readonly over: SqlWindow | string | null;
  /** IGNORE NULLS or RESPECT NULLS; left out: not said. */
  readonly nulls?: 'ignore' | 'respect';
}

export interface SqlWindow extends Node {
  /** A window of the WINDOW clause that it adds to. */
  readonly base: string | null;
  readonly partitionBy: readonly SqlExpression[];
  readonly orderBy: readonly OrderItem[];
  /** null: not said. Distances of RANGE are bound where the order is known. */
  readonly frame: WindowFrame<SqlDistance> | null;
}

export interface SqlDistance extends Node {
  readonly preceding: boolean;
  /** A number or an INTERVAL. */
  readonly distance: SqlExpression;
}

export type SqlRelation = Node &
  (
    | {
        readonly kind: 'table';
        readonly path: readonly string[];
        readonly alias: string | null;
        /** Queries of WITH by name, for tables that are not one of them. */
        readonly queries: ReadonlyMap<string, unknown>;
      }
    | {
        readonly kind: 'extern';
        readonly arguments: readonly SqlExpression[];
        readonly columns: readonly ExternColumn[] | null;
        readonly alias: string | null;
      }
    /** The rows of several tables; columns go by name. */
    | {
        readonly kind: 'append';
        readonly tables: readonly { readonly at: number; readonly name: string }[];
        readonly alias: string | null;
      }
    | {
        readonly kind: 'values';
        readonly rows: readonly (readonly SqlExpression[])[];
        readonly columnNames: readonly string[] | null;
        readonly alias: string | null;
      }
    | { readonly kind: 'subquery'; readonly query: SqlQuery; readonly columnNames: readonly string[] | null; readonly alias: string | null }
    /** A row for each element; may use columns of the relations to its left. */
    | {
        readonly kind: 'unnest';
        readonly operand: SqlExpression;
        readonly columnNames: readonly string[] | null;
        readonly alias: string | null;
      }
    /** A row for each group of the columns that it does not name, with a column for every value of the axes and aggregate. */
    | {
        readonly kind: 'pivot';
        readonly input: SqlRelation;
        readonly aggregates: readonly SelectItem[];
        readonly axes: readonly SqlExpression[];
        /** `expressions`: one for each axis. `name`: what the columns are called, or begin with. */
        readonly values: readonly { readonly expressions: readonly SqlExpression[]; readonly name: string }[];
        readonly columnNames: readonly string[] | null;
        readonly alias: string | null;
      }
    /** Each row once for every item of `items`, whose columns become `measures`, and what they are called `axes`. */
    | {
        readonly kind: 'unpivot';
        readonly input: SqlRelation;
        /** Whether rows are kept whose measures are all null. */
        readonly includesNulls: boolean;
        readonly measures: readonly string[];
        readonly axes: readonly string[];
        /** `labels`: one for each axis; null: the names of the columns. */
        readonly items: readonly { readonly columns: readonly SqlExpression[]; readonly labels: readonly SqlExpression[] | null }[];
        readonly columnNames: readonly string[] | null;
        readonly alias: string | null;
      }
    | {
        readonly kind: 'join';
        readonly type: JoinType;
        readonly left: SqlRelation;
        readonly right: SqlRelation;
        /** `natural`: all columns both sides have by the same name. null: every row meets every row. */
        readonly on: SqlExpression | { readonly kind: 'using'; readonly columns: readonly string[] } | { readonly kind: 'natural' } | null;
      }
  );

export type JoinType = 'inner' | 'left' | 'right' | 'full';

export interface ExternColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export type SqlQuery = SelectQuery | SetQuery;

interface Ordered extends Node {
  readonly orderBy: readonly OrderItem[];
  readonly offset: SqlExpression | null;
  readonly limit: SqlExpression | null;
}

export interface SelectQuery extends Ordered {
  readonly kind: 'select';
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  /** null: one row without columns. */
  readonly from: SqlRelation | null;
  readonly where: SqlExpression | null;
  /** null: no GROUP BY. Empty: GROUP BY (). */
  readonly groupBy: readonly GroupingElement[] | null;
  readonly having: SqlExpression | null;
  /** Windows of the WINDOW clause, by name. */
  readonly windows: ReadonlyMap<string, SqlWindow>;
  readonly qualify: SqlExpression | null;
}

export interface SetQuery extends Ordered {
  readonly kind: 'set';
  readonly operator: 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly all: boolean;
  readonly left: SqlQuery;
  readonly right: SqlQuery;
}

/** An element of GROUP BY; each stands for one or more sets of expressions. */
export type GroupingElement =
  | { readonly kind: 'expressions'; readonly at: number; readonly expressions: readonly SqlExpression[] }
  | { readonly kind: 'rollup' | 'cube'; readonly at: number; readonly parts: readonly (readonly SqlExpression[])[] }
  | { readonly kind: 'sets'; readonly at: number; readonly elements: readonly GroupingElement[] };

export interface SelectItem {
  readonly expression: SqlExpression;
  readonly alias: string | null;
}

export interface OrderItem {
  readonly expression: SqlExpression;
  readonly descending: boolean;
  /** null: not said; nulls are the lowest value then. */
  readonly nulls: 'first' | 'last' | null;
}

export interface IngestionStatement extends Node {
  readonly kind: 'insert' | 'replace';
  readonly target: readonly string[];
  /** REPLACE only. */
  readonly overwrite: 'all' | SqlExpression | null;
  readonly partitionedBy: SqlExpression | { readonly kind: 'unit'; readonly at: number; readonly unit: string };
  readonly clusteredBy: readonly SqlExpression[];
  readonly query: SqlQuery;
}

/** Destination of INSERT INTO EXTERN, as it is written. */
export interface ExportDestination {
  readonly at: number;
  readonly type: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly format: string;
}

interface ExportStatement extends Node {
  readonly kind: 'export';
  readonly destination: ExportDestination;
  readonly query: SqlQuery;
}

/** `explained`: EXPLAIN PLAN FOR stands before it. */
export type SqlStatement = ({ readonly kind: 'select'; readonly query: SqlQuery } | IngestionStatement | ExportStatement) & {
  readonly explained: boolean;
  /** Number of `?` placeholders. */
  readonly parameterCount: number;
};

import type { Frame } from './frame.js';
import type { Granularity } from './granularity.js';
import type { Interval } from './interval.js';
import type { Plan } from './plan.js';
import type { ColumnType } from './schema.js';

export type SqlType = 'VARCHAR' | 'BIGINT' | 'INTEGER' | 'FLOAT' | 'DOUBLE' | 'DECIMAL' | 'BOOLEAN' | 'TIMESTAMP' | 'DATE';

/** A column of a SQL result; the frame column of the same position carries its values. */
export interface OutputColumn {
  readonly name: string;
  readonly sqlType: SqlType;
  readonly nativeType: ColumnType;
}

/** Where the rows of a planned SQL query come from. */
export type PlannedSource =
  | { readonly kind: 'table'; readonly name: string }
  /** Rows known to the planner: SELECT without FROM, VALUES, INFORMATION_SCHEMA and sys tables. */
  | { readonly kind: 'inline'; readonly frame: Frame }
  | {
      readonly kind: 'external';
      readonly inputSource: unknown;
      readonly inputFormat: unknown;
      readonly signature: readonly { readonly name: string; readonly type: ColumnType }[];
    };

export interface PlannedQuery {
  readonly plan: Plan;
  readonly source: PlannedSource;
  readonly columns: readonly OutputColumn[];
}

export type PlannedStatement =
  | ({ readonly kind: 'select' } & PlannedQuery)
  | { readonly kind: 'explain'; readonly query: PlannedQuery }
  | {
      readonly kind: 'insert' | 'replace';
      readonly dataSource: string;
      /** REPLACE: `all`, or the intervals of OVERWRITE WHERE. INSERT: null. */
      readonly overwrite: 'all' | readonly Interval[] | null;
      readonly partitionedBy: Granularity;
      readonly clusteredBy: readonly string[];
      readonly query: PlannedQuery;
    };

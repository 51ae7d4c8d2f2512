// Planned SQL statements, and SQL types.

import type { Interval } from '../base/instant.js';
import type { Policy } from './access/policy.js';
import type { ResourceAction } from './access/resource.js';
import type { Frame } from './frame.js';
import type { Granularity } from './granularity.js';
import type { RowSource, RowsPlan } from './row-source.js';
import type { ColumnSchema, ColumnType, ComplexType } from './schema.js';

export type ScalarSqlType = 'VARCHAR' | 'BIGINT' | 'INTEGER' | 'FLOAT' | 'DOUBLE' | 'DECIMAL' | 'BOOLEAN' | 'TIMESTAMP' | 'DATE';

/** An array of a SQL type, spelled like the native one: `ARRAY<VARCHAR>`, `ARRAY<ARRAY<BIGINT>>`. */
export type SqlArrayType = `ARRAY<${string}>`;

/** JSON and sketches, which SQL calls OTHER, keep the name of what they are. Multi-value strings are VARCHAR. */
export type SqlType = ScalarSqlType | SqlArrayType | ComplexType;

/** Type name for clients: arrays are ARRAY, types without a SQL name are OTHER. */
export function sqlTypeName(type: SqlType): string {
  return type.startsWith('ARRAY<') ? 'ARRAY' : type.startsWith('COMPLEX<') ? 'OTHER' : type;
}

/** A column of a SQL result; the frame column of the same position carries its values. */
export interface OutputColumn {
  readonly name: string;
  readonly sqlType: SqlType;
  readonly nativeType: ColumnType;
}

export interface PlannedQuery {
  readonly plan: RowsPlan;
  readonly source: RowSource;
  readonly columns: readonly OutputColumn[];
}

/** Target of INSERT and REPLACE. */
export interface IngestionTarget {
  readonly kind: 'insert' | 'replace';
  readonly dataSource: string;
  /** REPLACE: `all`, or the intervals of OVERWRITE WHERE. INSERT: null. */
  readonly overwrite: 'all' | readonly Interval[] | null;
  readonly partitionedBy: Granularity;
  readonly clusteredBy: readonly string[];
  /** Aggregators of the columns that further rows roll up into, each under its name; left out: all columns are dimensions. */
  readonly rollup?: readonly StoredAggregator[];
}

/** Native aggregator, as JSON, that adds up what a column of its name holds. */
export type StoredAggregator = Readonly<Record<string, unknown>> & { readonly type: string; readonly name: string };

export const EXPORT_FORMATS = ['csv', 'json', 'parquet', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Target of INSERT INTO EXTERN: files below a folder. */
export interface ExportTarget {
  readonly kind: 'export';
  readonly exportPath: string;
  readonly format: ExportFormat;
}

export interface ExplainedStatement {
  readonly kind: 'explain';
  /** The answer, one row. */
  readonly frame: Frame;
  /** The datasources that the explained query reads. */
  readonly tables: readonly string[];
  /** Resources of the explained statement beside these. */
  readonly resources: readonly ResourceAction[];
}

/** Schema that a statement was planned over, for planning it again where there is no broker to ask. */
export interface StatementSchema {
  /** The datasources it names. */
  readonly tables: Readonly<Record<string, readonly ColumnSchema[]>>;
  /** Restrictions of the tables that whoever sent the statement sees through a policy. */
  readonly policies?: Readonly<Record<string, Policy>>;
  readonly lookups: readonly string[];
}

export type PlannedStatement =
  | ({ readonly kind: 'select' } & PlannedQuery)
  | ExplainedStatement
  | ((IngestionTarget | ExportTarget) & { readonly query: PlannedQuery });

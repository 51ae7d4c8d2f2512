// The tables of INFORMATION_SCHEMA.

import { own } from '../../../base/names.js';
import type { Frame } from '../../../model/frame.js';
import { type ColumnSchema, type PrimitiveType, TIME_COLUMN } from '../../../model/schema.js';
import { type SqlType, sqlTypeName } from '../../../model/statement.js';
import { isArray, isComplex, sqlTypeOfColumn } from '../parse/sql-type.js';
import { inlineFrame } from './inline-frame.js';
import { routines } from './routines.js';
import type { SqlSchema } from './schema.js';
import { SYSTEM_SCHEMA, SYSTEM_TABLE_NAMES, SYSTEM_TABLES, type SystemTableName } from './system-schema.js';

/** The catalog and schema that datasources are in. */
export const DATA_SCHEMA = 'svc';
export const INFORMATION_SCHEMA = 'INFORMATION_SCHEMA';
/** Schema of lookups; each is a table of keys and values. */
export const LOOKUP_SCHEMA = 'lookup';
const LOOKUP_COLUMNS: readonly ColumnSchema[] = ['k', 'v'].map((name) => ({ name, type: 'STRING', multiValue: false, hasNulls: true }));

type Cell = string | bigint | null;

interface MetadataTable {
  readonly columns: readonly (readonly [name: string, type: PrimitiveType])[];
  /** `schemaName`: of the catalog and of the schema of datasources. */
  rows(schema: SqlSchema, schemaName: string): readonly (readonly Cell[])[];
}

const text = (...names: readonly string[]): (readonly [string, PrimitiveType])[] => names.map((name) => [name, 'STRING']);
const long = (...names: readonly string[]): (readonly [string, PrimitiveType])[] => names.map((name) => [name, 'LONG']);

const TABLES: Readonly<Record<string, MetadataTable>> = {
  SCHEMATA: {
    columns: text(
      'CATALOG_NAME',
      'SCHEMA_NAME',
      'SCHEMA_OWNER',
      'DEFAULT_CHARACTER_SET_CATALOG',
      'DEFAULT_CHARACTER_SET_SCHEMA',
      'DEFAULT_CHARACTER_SET_NAME',
      'SQL_PATH',
    ),
    rows: (schema, schemaName) =>
      [INFORMATION_SCHEMA, LOOKUP_SCHEMA, ...(schema.systemRows === undefined ? [] : [SYSTEM_SCHEMA]), schemaName].map((name) => [
        schemaName,
        name,
        null,
        null,
        null,
        null,
        null,
      ]),
  },
  TABLES: {
    columns: text('TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'IS_JOINABLE', 'IS_BROADCAST'),
    rows: (schema, schemaName) => [
      ...Object.keys(TABLES).map((name) => [schemaName, INFORMATION_SCHEMA, name, 'SYSTEM_TABLE', 'NO', 'NO']),
      // Every process has all of every lookup, so that joins find its rows where they are.
      ...lookups(schema).map((name) => [schemaName, LOOKUP_SCHEMA, name, 'TABLE', 'YES', 'YES']),
      ...systemTables(schema).map((name) => [schemaName, SYSTEM_SCHEMA, name, 'SYSTEM_TABLE', 'NO', 'NO']),
      ...schema.tables().map((name) => [schemaName, schemaName, name, 'TABLE', 'NO', 'NO']),
    ],
  },
  COLUMNS: {
    columns: [
      ...text('TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'COLUMN_NAME'),
      ...long('ORDINAL_POSITION'),
      ...text('COLUMN_DEFAULT', 'IS_NULLABLE', 'DATA_TYPE'),
      ...long(
        'CHARACTER_MAXIMUM_LENGTH',
        'CHARACTER_OCTET_LENGTH',
        'NUMERIC_PRECISION',
        'NUMERIC_PRECISION_RADIX',
        'NUMERIC_SCALE',
        'DATETIME_PRECISION',
      ),
      ...text('CHARACTER_SET_NAME', 'COLLATION_NAME'),
      ...long('JDBC_TYPE'),
    ],
    rows: (schema, schemaName) => [
      ...Object.entries(TABLES).flatMap(([table, { columns }]) =>
        columns.map(([name, type], index) =>
          columnRow(schemaName, INFORMATION_SCHEMA, table, { name, type, hasNulls: true, multiValue: false }, index),
        ),
      ),
      ...lookups(schema).flatMap((table) =>
        LOOKUP_COLUMNS.map((column, index) => columnRow(schemaName, LOOKUP_SCHEMA, table, column, index)),
      ),
      ...systemTables(schema).flatMap((table) =>
        SYSTEM_TABLES[table].map(([name, type], index) =>
          columnRow(schemaName, SYSTEM_SCHEMA, table, { name, type, hasNulls: true, multiValue: false }, index),
        ),
      ),
      ...schema
        .tables()
        .flatMap((table) =>
          (schema.table(table)?.columns ?? []).map((column, index) => columnRow(schemaName, schemaName, table, column, index)),
        ),
    ],
  },
  ROUTINES: {
    columns: text('ROUTINE_CATALOG', 'ROUTINE_SCHEMA', 'ROUTINE_NAME', 'ROUTINE_TYPE', 'IS_AGGREGATOR', 'SIGNATURES'),
    rows: (_schema, schemaName) =>
      routines().map(({ name, isAggregator, signatures }) => [
        schemaName,
        INFORMATION_SCHEMA,
        name,
        'FUNCTION',
        isAggregator ? 'YES' : 'NO',
        signatures,
      ]),
  },
};

function lookups(schema: SqlSchema): readonly string[] {
  return schema.lookups?.() ?? [];
}

function systemTables(schema: SqlSchema): readonly SystemTableName[] {
  return schema.systemRows === undefined ? [] : SYSTEM_TABLE_NAMES;
}

/** Precision, radix, scale, precision of a time, and the number JDBC has for the type. */
const TYPE_FACTS: Readonly<Partial<Record<SqlType, readonly [bigint | null, bigint | null, bigint | null, bigint | null, bigint]>>> = {
  VARCHAR: [null, null, null, null, 12n],
  BIGINT: [19n, 10n, 0n, null, -5n],
  FLOAT: [15n, 10n, null, null, 6n],
  DOUBLE: [15n, 10n, null, null, 8n],
  TIMESTAMP: [null, null, null, 3n, 93n],
};

function columnRow(catalog: string, schema: string, table: string, column: ColumnSchema, index: number): readonly Cell[] {
  const isTime = column.name === TIME_COLUMN;
  const type = sqlTypeOfColumn(column.type, isTime);
  const [precision, radix, scale, timePrecision, jdbcType] = TYPE_FACTS[type] ?? [null, null, null, null, isArray(type) ? 2003n : 1111n];
  const isText = type === 'VARCHAR';
  return [
    catalog,
    schema,
    table,
    column.name,
    BigInt(index + 1),
    null,
    isTime ? 'NO' : 'YES',
    // JSON and sketches are named here, where clients see OTHER elsewhere.
    isComplex(type) ? type : sqlTypeName(type),
    null,
    null,
    precision,
    radix,
    scale,
    timePrecision,
    isText ? 'UTF-16LE' : null,
    isText ? 'UTF-16LE$en_US$primary' : null,
    jdbcType,
  ];
}

export const INFORMATION_SCHEMA_TABLES: readonly string[] = Object.keys(TABLES);

export interface MetadataRows {
  readonly frame: Frame;
  readonly columns: readonly { readonly name: string; readonly type: PrimitiveType }[];
}

/** A table of INFORMATION_SCHEMA as it is now; `undefined` for no such table. */
export function informationSchemaTable(name: string, schema: SqlSchema, schemaName: string): MetadataRows | undefined {
  const table = Object.hasOwn(TABLES, name) ? own(TABLES, name) : undefined;
  if (table === undefined) return undefined;
  return tableOf(
    table.columns.map(([column, type]) => ({ name: column, type })),
    table.rows(schema, schemaName),
  );
}

/** A table of `sys` with the rows that the schema has for it; `undefined` where it has none to give. */
export function systemTable(name: SystemTableName, schema: SqlSchema): MetadataRows | undefined {
  const rows = schema.systemRows?.(name);
  if (rows === undefined) return undefined;
  const columns = SYSTEM_TABLES[name].map(([column, type]) => ({ name: column, type }));
  return 'rowCount' in rows ? { columns, frame: rows } : tableOf(columns, rows);
}

function tableOf(columns: MetadataRows['columns'], rows: readonly (readonly Cell[])[]): MetadataRows {
  return {
    columns,
    frame: inlineFrame(
      columns,
      columns.map((_, index) => rows.map((row) => row[index] ?? null)),
      rows.length,
    ),
  };
}

// Metadata requests of JDBC drivers, answered by SQL.

import type { ObjectReader } from '../../base/json-reader.js';
import type { ParameterValue } from './parameter.js';

/** A question about tables and types, as the SQL that answers it with the columns that JDBC asks for. */
export interface MetadataQuery {
  readonly sql: string;
  readonly parameters: readonly ParameterValue[];
}

const NO_TEXT = 'CAST(NULL AS VARCHAR)';
const NO_NUMBER = 'CAST(NULL AS BIGINT)';

class Conditions {
  readonly parameters: ParameterValue[] = [];
  readonly #texts: string[] = [];

  /** Adds `column = value`; nothing when the value is left out. */
  equal(column: string, value: string | undefined): this {
    return this.#add(`${column} = ?`, value);
  }

  /** `%`, `_` and `\` as in JDBC. */
  like(column: string, pattern: string | undefined): this {
    return this.#add(`${column} LIKE ? ESCAPE '\\'`, pattern);
  }

  among(column: string, values: readonly string[]): this {
    if (values.length === 0) return this;
    this.#texts.push(`${column} IN (${values.map(() => '?').join(', ')})`);
    for (const value of values) this.parameters.push({ type: 'VARCHAR', value });
    return this;
  }

  where(): string {
    return this.#texts.length === 0 ? '' : ` WHERE ${this.#texts.join(' AND ')}`;
  }

  #add(text: string, value: string | undefined): this {
    if (value === undefined) return this;
    this.#texts.push(text);
    this.parameters.push({ type: 'VARCHAR', value });
    return this;
  }
}

/** Conditions on tables, and on what else has their names. */
function onTables(request: ObjectReader): Conditions {
  return new Conditions()
    .equal('TABLE_CATALOG', request.optionalString('catalog'))
    .like('TABLE_SCHEMA', request.optionalString('schemaPattern'))
    .like('TABLE_NAME', request.optionalString('tableNamePattern'));
}

/** Name, number, digits, quotes before and after a literal, nullable, case-sensitive, searchable, unsigned, radix (0: none). */
const TYPE_ROWS: readonly string[] = [
  typeRow('BOOLEAN', 16, 1, "''", null),
  typeRow('BIGINT', -5, 19, "''", 10),
  typeRow('FLOAT', 6, 15, "''", 10),
  typeRow('DOUBLE', 8, 15, "''", 10),
  typeRow('VARCHAR', 12, 0, "''''", null),
  typeRow('DATE', 91, 0, "'DATE '''", null),
  typeRow('TIMESTAMP', 93, 3, "'TIMESTAMP '''", null),
];

function typeRow(name: string, id: number, precision: number, prefix: string, radix: number | null): string {
  const suffix = prefix === "''" ? "''" : "''''";
  const isNumber = radix !== null;
  return `('${name}', ${id}, ${precision}, ${prefix}, ${suffix}, 1, ${name === 'VARCHAR'}, 3, ${!isNumber}, ${radix ?? 0})`;
}

/** Metadata queries by request; each returns all columns of the JDBC method of the same name, in its order. */
export const METADATA_QUERIES: Readonly<Record<string, (request: ObjectReader) => MetadataQuery>> = {
  getCatalogs: () => ({
    sql: 'SELECT DISTINCT CATALOG_NAME AS TABLE_CAT FROM INFORMATION_SCHEMA.SCHEMATA ORDER BY TABLE_CAT',
    parameters: [],
  }),
  getSchemas: (request) => {
    const conditions = new Conditions()
      .equal('CATALOG_NAME', request.optionalString('catalog'))
      .like('SCHEMA_NAME', request.optionalString('schemaPattern'));
    const sql = `SELECT SCHEMA_NAME AS TABLE_SCHEM, CATALOG_NAME AS TABLE_CATALOG FROM INFORMATION_SCHEMA.SCHEMATA${conditions.where()} ORDER BY TABLE_CATALOG, TABLE_SCHEM`;
    return { sql, parameters: conditions.parameters };
  },
  getTables: (request) => {
    const conditions = onTables(request).among('TABLE_TYPE', request.strings('typeList'));
    const empty = ['REMARKS', 'TYPE_CAT', 'TYPE_SCHEM', 'TYPE_NAME', 'SELF_REFERENCING_COL_NAME', 'REF_GENERATION'];
    const columns = `TABLE_CATALOG AS TABLE_CAT, TABLE_SCHEMA AS TABLE_SCHEM, TABLE_NAME, TABLE_TYPE, ${empty.map((name) => `${NO_TEXT} AS ${name}`).join(', ')}`;
    const sql = `SELECT ${columns} FROM INFORMATION_SCHEMA.TABLES${conditions.where()} ORDER BY TABLE_TYPE, TABLE_CAT, TABLE_SCHEM, TABLE_NAME`;
    return { sql, parameters: conditions.parameters };
  },
  getTableTypes: () => ({ sql: 'SELECT DISTINCT TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES ORDER BY TABLE_TYPE', parameters: [] }),
  getColumns: (request) => {
    const conditions = onTables(request).like('COLUMN_NAME', request.optionalString('columnNamePattern'));
    const columns = [
      'TABLE_CATALOG AS TABLE_CAT',
      'TABLE_SCHEMA AS TABLE_SCHEM',
      'TABLE_NAME',
      'COLUMN_NAME',
      'CAST(JDBC_TYPE AS INTEGER) AS DATA_TYPE',
      'DATA_TYPE AS TYPE_NAME',
      'NUMERIC_PRECISION AS COLUMN_SIZE',
      `${NO_NUMBER} AS BUFFER_LENGTH`,
      'NUMERIC_SCALE AS DECIMAL_DIGITS',
      'NUMERIC_PRECISION_RADIX AS NUM_PREC_RADIX',
      "CASE IS_NULLABLE WHEN 'YES' THEN 1 ELSE 0 END AS NULLABLE",
      `${NO_TEXT} AS REMARKS`,
      'COLUMN_DEFAULT AS COLUMN_DEF',
      `${NO_NUMBER} AS SQL_DATA_TYPE`,
      `${NO_NUMBER} AS SQL_DATETIME_SUB`,
      'CHARACTER_OCTET_LENGTH AS CHAR_OCTET_LENGTH',
      'ORDINAL_POSITION',
      'IS_NULLABLE',
      `${NO_TEXT} AS SCOPE_CATALOG`,
      `${NO_TEXT} AS SCOPE_SCHEMA`,
      `${NO_TEXT} AS SCOPE_TABLE`,
      `${NO_NUMBER} AS SOURCE_DATA_TYPE`,
      "'NO' AS IS_AUTOINCREMENT",
      "'NO' AS IS_GENERATEDCOLUMN",
    ];
    const sql = `SELECT ${columns.join(', ')} FROM INFORMATION_SCHEMA.COLUMNS${conditions.where()} ORDER BY TABLE_CAT, TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION`;
    return { sql, parameters: conditions.parameters };
  },
  getTypeInfo: () => ({
    sql: `SELECT TYPE_NAME, DATA_TYPE, "PRECISION", LITERAL_PREFIX, LITERAL_SUFFIX, ${NO_TEXT} AS CREATE_PARAMS, NULLABLE, CASE_SENSITIVE, SEARCHABLE, UNSIGNED_ATTRIBUTE, FALSE AS FIXED_PREC_SCALE, FALSE AS AUTO_INCREMENT, ${NO_TEXT} AS LOCAL_TYPE_NAME, 0 AS MINIMUM_SCALE, 0 AS MAXIMUM_SCALE, ${NO_NUMBER} AS SQL_DATA_TYPE, ${NO_NUMBER} AS SQL_DATETIME_SUB, NULLIF(RADIX, 0) AS NUM_PREC_RADIX FROM (VALUES ${TYPE_ROWS.join(', ')}) AS types (TYPE_NAME, DATA_TYPE, "PRECISION", LITERAL_PREFIX, LITERAL_SUFFIX, NULLABLE, CASE_SENSITIVE, SEARCHABLE, UNSIGNED_ATTRIBUTE, RADIX) ORDER BY DATA_TYPE`,
    parameters: [],
  }),
};

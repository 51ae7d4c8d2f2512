// Binds tables and table functions.

import { ServiceError } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import { parseJson } from '../../../base/json.js';
import type { RowSource } from '../../../model/row-source.js';
import { type ColumnType, TIME_COLUMN } from '../../../model/schema.js';
import { rowSourceColumns } from '../../row-source-columns.js';
import { sourceOfTable } from '../../table-access.js';
import {
  DATA_SCHEMA,
  INFORMATION_SCHEMA,
  INFORMATION_SCHEMA_TABLES,
  informationSchemaTable,
  LOOKUP_SCHEMA,
  systemTable,
} from '../catalog/information-schema.js';
import { inlineFrame } from '../catalog/inline-frame.js';
import type { SqlSchema, SqlTable } from '../catalog/schema.js';
import { isSystemTable, SYSTEM_SCHEMA, SYSTEM_TABLE_NAMES } from '../catalog/system-schema.js';
import { nativeType, sqlTypeOf, sqlTypeOfColumn } from '../parse/sql-type.js';
import type { ExternColumn, SqlExpression, SqlRelation } from '../parse/syntax.js';
import { type Bound, NULL, settledType } from '../relation/bound.js';
import type { RelationColumn, SourceRelation } from '../relation/relation.js';
import { bindExpression } from './bind-expression.js';
import type { Place } from './expression/place.js';
import { folded, unify } from './function-call.js';
import { Scope, type ScopeColumn, suggestion } from './scope.js';
import type { Session } from './session.js';

/** Source of a query, and the names of its columns. */
export interface BoundSource {
  readonly relation: SourceRelation;
  readonly scope: Scope;
}

/** Existing clients say `druid` where we say `svc`. */
export function dataSchemaNames(session: Session): readonly string[] {
  return [...new Set([session.schemaName, DATA_SCHEMA, 'druid'])];
}

export function bindTable(session: Session, schema: SqlSchema, table: Extract<SqlRelation, { kind: 'table' }>): BoundSource {
  const { source } = session;
  const dataSchemas = dataSchemaNames(session);
  const name = table.path.at(-1) ?? '';
  const [schemaName] = table.path.slice(-2, -1);
  const qualifiers = table.alias === null ? [[name], ...dataSchemas.map((each) => [each, name])] : [[table.alias]];
  if (table.path.length > 2) throw source.error('sql_plan_invalid', table.at, `unknown table ${table.path.join('.')}`);
  if (schemaName === INFORMATION_SCHEMA) {
    const found = informationSchemaTable(name, schema, session.schemaName);
    if (found === undefined)
      throw source.error(
        'sql_plan_invalid',
        table.at,
        `unknown table ${INFORMATION_SCHEMA}.${name}${suggestion(name, INFORMATION_SCHEMA_TABLES)}`,
      );
    const names = table.alias === null ? [[name], [INFORMATION_SCHEMA, name]] : [[table.alias]];
    return plainSource({ kind: 'inline', frame: found.frame }, found.columns, names);
  }
  if (schemaName === LOOKUP_SCHEMA) return bindLookup(session, schema, table, name);
  if (schemaName === SYSTEM_SCHEMA) {
    if (!isSystemTable(name))
      throw source.error('sql_plan_invalid', table.at, `unknown table ${SYSTEM_SCHEMA}.${name}${suggestion(name, SYSTEM_TABLE_NAMES)}`);
    const found = systemTable(name, schema);
    if (found === undefined) throw source.unsupported(table.at, `the table ${table.path.join('.')} in a task`);
    const names = table.alias === null ? [[name], [SYSTEM_SCHEMA, name]] : [[table.alias]];
    return plainSource({ kind: 'inline', frame: found.frame }, found.columns, names);
  }
  if (schemaName === 'view') throw source.unsupported(table.at, `the table ${table.path.join('.')}`);
  if (schemaName !== undefined && !dataSchemas.includes(schemaName))
    throw source.error(
      'sql_plan_invalid',
      table.at,
      `unknown schema ${schemaName}${suggestion(schemaName, [...dataSchemas, INFORMATION_SCHEMA, SYSTEM_SCHEMA])}`,
    );
  const found = schema.table(name);
  if (found === undefined)
    throw source.error(
      'sql_plan_invalid',
      table.at,
      `unknown table ${name}${suggestion(name, [...table.queries.keys(), ...schema.tables()])}`,
    );
  const read = sourceOfTable(name, found);
  const { relation, named } = columnsOfTable(found);
  return {
    relation: { kind: 'source', source: read, columns: relation, rowCount: found.rowCount },
    scope: new Scope([{ columns: named, qualifiers }]),
  };
}

interface TableColumns {
  readonly relation: readonly RelationColumn[];
  readonly named: readonly ScopeColumn[];
}

/** Columns of tables as statements see them; a table's description is the same object until it changes. */
const TABLE_COLUMNS = new WeakMap<SqlTable['columns'], TableColumns>();

function columnsOfTable({ columns }: SqlTable): TableColumns {
  let known = TABLE_COLUMNS.get(columns);
  if (known === undefined) {
    const relation = columns.map(
      (column): RelationColumn => ({
        name: column.name,
        type: sqlTypeOfColumn(column.type, column.name === TIME_COLUMN),
        schema: column,
      }),
    );
    known = { relation, named: scopeColumns(relation) };
    TABLE_COLUMNS.set(columns, known);
  }
  return known;
}

function scopeColumns(columns: readonly RelationColumn[]): readonly ScopeColumn[] {
  return columns.map(({ name, type }): ScopeColumn => ({ name, bound: { kind: 'column', type, name } }));
}

/** TABLE(APPEND('a', 'b')): a column that one of the tables lacks is null in its rows. */
export function bindAppend(session: Session, schema: SqlSchema, append: Extract<SqlRelation, { kind: 'append' }>): BoundSource {
  for (const { name, at } of append.tables)
    if (schema.table(name) === undefined)
      throw session.source.error('sql_plan_invalid', at, `unknown table ${name}${suggestion(name, schema.tables())}`);
  const union = { kind: 'union', sources: append.tables.map(({ name }) => sourceOfTable(name, schema.table(name))) } as const;
  const known = rowSourceColumns(union, {
    table(name) {
      const table = schema.table(name);
      return table && { columns: table.columns, interval: ETERNITY };
    },
  });
  const columns = known.map(
    (column): RelationColumn => ({
      name: column.name,
      type: sqlTypeOfColumn(column.type, column.name === TIME_COLUMN),
      schema: { ...column, hasNulls: column.name !== TIME_COLUMN },
    }),
  );
  const counts = append.tables.map(({ name }) => schema.table(name)?.rowCount);
  const rowCount = counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
  const read = bound(union, columns, append.alias === null ? [] : [[append.alias]]);
  return { ...read, relation: { ...read.relation, rowCount } };
}

/** `lookup.name`: keys and values of a lookup as a table. */
function bindLookup(session: Session, schema: SqlSchema, table: Extract<SqlRelation, { kind: 'table' }>, name: string): BoundSource {
  const known = schema.lookups?.() ?? [];
  if (!known.includes(name)) throw session.source.error('sql_plan_invalid', table.at, `unknown lookup ${name}${suggestion(name, known)}`);
  const columns = ['k', 'v'].map((each) => ({ name: each, type: 'STRING' as const }));
  return plainSource({ kind: 'lookup', name }, columns, table.alias === null ? [[name], ['lookup', name]] : [[table.alias]]);
}

function bound(source: RowSource, columns: readonly RelationColumn[], qualifiers: readonly (readonly string[])[]): BoundSource {
  return { relation: { kind: 'source', source, columns }, scope: new Scope([{ columns: scopeColumns(columns), qualifiers }]) };
}

function plainSource(
  source: RowSource,
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
  qualifiers: readonly (readonly string[])[],
): BoundSource {
  return bound(
    source,
    columns.map(({ name, type }) => ({ name, type: sqlTypeOfColumn(type, false) })),
    qualifiers,
  );
}

/** EXTERN(inputSource, inputFormat[, signature]), whose columns come from the third argument or from EXTEND. */
export function bindExtern(session: Session, extern: Extract<SqlRelation, { kind: 'extern' }>): BoundSource {
  const { source } = session;
  const place: Place = { session, scope: new Scope([]), aggregates: 'in EXTERN', subqueries: 'in EXTERN' };
  if (extern.arguments.length < 2 || extern.arguments.length > 3)
    throw source.error(
      'sql_plan_invalid',
      extern.at,
      `EXTERN takes an input source, an input format and a signature, found ${extern.arguments.length} arguments`,
    );
  const [inputSource, inputFormat, signature] = extern.arguments.map((argument, index) =>
    externArgument(place, argument, ['input source', 'input format', 'signature'][index] ?? ''),
  );
  if (signature !== undefined && extern.columns !== null)
    throw source.error('sql_plan_invalid', extern.at, 'EXTERN has both a signature and EXTEND; give one');
  const columns =
    extern.columns ?? (signature === undefined ? undefined : signatureColumns(session, extern.arguments[2]?.at ?? extern.at, signature));
  if (columns === undefined)
    throw source.error(
      'sql_plan_invalid',
      extern.at,
      'EXTERN needs the columns of the input, as EXTEND (name type, ...) or as a signature',
    );
  const names = extern.alias === null ? [] : [[extern.alias]];
  return plainSource({ kind: 'external', inputSource, inputFormat, signature: columns }, columns, names);
}

function externArgument(place: Place, argument: SqlExpression, what: string): unknown {
  const { source } = place.session;
  const bound = bindExpression(place, argument);
  if (bound.kind !== 'literal' || typeof bound.value !== 'string')
    throw source.error('sql_plan_invalid', argument.at, `the ${what} of EXTERN must be a literal string of JSON`);
  try {
    return parseJson(bound.value);
  } catch (error) {
    if (error instanceof ServiceError)
      throw source.error('sql_plan_invalid', argument.at, `the ${what} of EXTERN: ${error.message.replace('the body', 'it')}`);
    throw error;
  }
}

/** `[{"name": "x", "type": "string"}, ...]` with native types. */
function signatureColumns(session: Session, at: number, signature: unknown): readonly ExternColumn[] {
  const fail = (message: string): Error => session.source.error('sql_plan_invalid', at, `the signature of EXTERN: ${message}`);
  if (!Array.isArray(signature) || signature.length === 0) throw fail('expected an array of {"name", "type"}');
  const names = new Set<string>();
  return signature.map((entry: unknown, index) => {
    const { name, type, ...rest } = (typeof entry === 'object' && entry !== null ? entry : {}) as {
      readonly name?: unknown;
      readonly type?: unknown;
    };
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw fail(`[${index}] has the unknown key ${unknown}; accepted: name, type`);
    if (typeof name !== 'string' || typeof type !== 'string') throw fail(`[${index}] needs a "name" and a "type", both text`);
    if (names.has(name)) throw fail(`column ${name} is declared twice`);
    names.add(name);
    const known = sqlTypeOf(type.toUpperCase());
    if (known === undefined) throw session.source.unsupported(at, `the column type ${type}`);
    return { name, type: nativeType(known) };
  });
}

/** VALUES of constants. */
export function bindValues(session: Session, values: Extract<SqlRelation, { kind: 'values' }>): BoundSource {
  const { source } = session;
  const place: Place = { session, scope: new Scope([]), aggregates: 'in VALUES', subqueries: 'in VALUES' };
  const width = values.rows[0]?.length ?? 0;
  const names = values.columnNames ?? Array.from({ length: width }, (_, index) => `EXPR$${index}`);
  if (names.length !== width) throw source.error('sql_plan_invalid', values.at, `VALUES has ${width} columns and ${names.length} names`);
  const cells = values.rows.map((row) => {
    if (row.length !== width)
      throw source.error('sql_plan_invalid', row[0]?.at ?? values.at, `this row has ${row.length} values, the first one ${width}`);
    return row.map((cell) => bindExpression(place, cell));
  });
  const columns = names.map((name, index) => {
    const { type, arguments: bounds } = unify(
      cells.map((row) => row[index] ?? NULL),
      (row, found) => source.error('sql_plan_invalid', values.rows[row]?.[index]?.at ?? values.at, `${found} does not fit the rows above`),
      session,
    );
    return {
      name,
      type: settledType(type),
      values: bounds.map((bound, row) => constant(bound, session, values.rows[row]?.[index]?.at ?? values.at)),
    };
  });
  const frame = inlineFrame(
    columns.map(({ name, type }) => ({ name, type: nativeType(type) })),
    columns.map((column) => column.values),
    values.rows.length,
  );
  return bound({ kind: 'inline', frame }, columns, values.alias === null ? [] : [[values.alias]]);
}

/** The value of a cell, which may be a cast to the type that the rows have in common. */
function constant(bound: Bound, session: Session, at: number): string | bigint | number | null {
  const value = folded(bound, session, at);
  if (value.kind !== 'literal') throw session.source.unsupported(at, 'a value in VALUES that is not constant');
  return value.value;
}

/** SELECT without FROM: one row. A frame needs a column, which no name reaches. */
export function bindNothing(): BoundSource {
  const frame = inlineFrame([{ name: 'ZERO', type: 'LONG' }], [[0n]], 1);
  return {
    relation: { kind: 'source', source: { kind: 'inline', frame }, columns: [{ name: 'ZERO', type: 'BIGINT' }] },
    scope: new Scope([]),
  };
}

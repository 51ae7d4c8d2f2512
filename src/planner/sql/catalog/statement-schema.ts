// The schema that a statement read, for planning it again in a task.

import { ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { parsePolicy } from '../../../model/access/policy.js';
import { type ColumnSchema, parseColumnType } from '../../../model/schema.js';
import type { StatementSchema } from '../../../model/statement.js';
import { restrictedBy } from '../../table-access.js';
import type { SqlSchema, SqlTable } from './schema.js';

/** A schema that remembers what it was asked for. It has no tables of `sys`, which a task cannot read. */
export function rememberedSchema(schema: SqlSchema): { readonly schema: SqlSchema; asked(): StatementSchema } {
  const tables = new Map<string, SqlTable>();
  let lookups: readonly string[] = [];
  return {
    schema: {
      tables: () => schema.tables(),
      forbidden: () => schema.forbidden?.() ?? [],
      table(name) {
        const table = schema.table(name);
        if (table !== undefined) tables.set(name, table);
        return table;
      },
      lookups() {
        lookups = schema.lookups?.() ?? [];
        return lookups;
      },
    },
    asked: () => ({
      tables: Object.fromEntries([...tables].map(([name, table]) => [name, storedColumns(table)])),
      ...policiesOf(tables),
      lookups,
    }),
  };
}

/** The policies of restricted tables, which a task keeps as whoever submitted it does. */
function policiesOf(tables: ReadonlyMap<string, SqlTable>): Pick<StatementSchema, 'policies'> {
  const policies = [...tables].flatMap(([name, { access }]) => (access?.kind === 'restricted' ? [[name, access.policy] as const] : []));
  return policies.length === 0 ? {} : { policies: Object.fromEntries(policies) };
}

function storedColumns({ columns, access }: SqlTable): readonly ColumnSchema[] {
  return access?.kind === 'restricted' ? access.stored : columns;
}

/**
 * The schema that a task's payload carries; absent means no tables.
 * @throws ServiceError `input_invalid` naming the field
 */
export function schemaOfTask(value: unknown, path: string): SqlSchema {
  const { tables, lookups } = value === undefined || value === null ? { tables: new Map(), lookups: [] } : readSchema(value, path);
  return { tables: () => [...tables.keys()], table: (name) => tables.get(name), lookups: () => lookups };
}

function readSchema(value: unknown, path: string): { readonly tables: ReadonlyMap<string, SqlTable>; readonly lookups: readonly string[] } {
  try {
    const reader = new ObjectReader(value, path, readContextOf('query_invalid', 'query'));
    const tables = new Map<string, SqlTable>();
    const given = reader.raw('tables') ?? {};
    for (const [name, columns] of Object.entries(given))
      tables.set(name, { columns: readColumns(columns, `${path}.tables.${name}`, reader) });
    for (const [name, policy] of Object.entries(reader.raw('policies') ?? {})) {
      const columns = tables.get(name)?.columns;
      if (columns !== undefined) tables.set(name, restrictedBy(parsePolicy(policy, `${path}.policies.${name}`), columns));
    }
    const lookups = reader.strings('lookups');
    reader.end();
    return { tables, lookups };
  } catch (error) {
    if (error instanceof ServiceError) throw new ServiceError('input_invalid', error.message);
    throw error;
  }
}

function readColumns(value: unknown, path: string, reader: ObjectReader): readonly ColumnSchema[] {
  return reader.reader({ columns: value }, path).list('columns', (each, at) => {
    const column = reader.reader(each, at);
    const name = column.string('name');
    const type = parseColumnType(column.string('type'));
    if (type === undefined) throw new ServiceError('input_invalid', `${at}.type: unknown type`);
    const schema = { name, type, multiValue: column.boolean('multiValue', true), hasNulls: column.boolean('hasNulls', true) };
    const distinctCount = column.optionalInteger('distinctCount', 0);
    column.end();
    return distinctCount === undefined ? schema : { ...schema, distinctCount };
  });
}

// The part of the schema that the plan thread needs, as plain data.

import type { KnownTables, TableColumns } from '../../planner/plan.js';
import type { SqlSchema, SqlTable } from '../../planner/sql/catalog/schema.js';
import { SYSTEM_TABLE_NAMES, type SystemRows, type SystemTableName } from '../../planner/sql/catalog/system-schema.js';

/** The part of a schema that a statement can use, as plain data for another thread. */
export interface SchemaSnapshot {
  readonly tableNames: readonly string[];
  readonly tables: ReadonlyMap<string, SqlTable>;
  readonly lookups: readonly string[];
  readonly systemRows: ReadonlyMap<SystemTableName, SystemRows>;
}

/** Tables that the text of a statement names somewhere, spelled as identifiers and as strings may spell them; maybe others. */
export function takeSnapshot(query: string, schema: SqlSchema): SchemaSnapshot {
  const tableNames = schema.tables();
  const forbidden = schema.forbidden?.() ?? [];
  const isNamed = /INFORMATION_SCHEMA/i.test(query) ? () => true : namesIn(query, [...tableNames, ...forbidden]);
  const readsSystem = /\bsys\b/i.test(query);
  const systemTables = readsSystem ? SYSTEM_TABLE_NAMES.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(query)) : [];
  return {
    tableNames,
    tables: new Map(
      [...tableNames, ...forbidden].filter(isNamed).flatMap((name) => {
        const table = schema.table(name);
        return table === undefined ? [] : [[name, table] as const];
      }),
    ),
    lookups: schema.lookups?.() ?? [],
    systemRows: new Map(systemTables.map((name) => [name, schema.systemRows?.(name) ?? []])),
  };
}

/** Tables by name, and all their names. */
export interface NamedTables extends KnownTables {
  tables(): readonly string[];
  /** Tables that the reader may not read, which `table` says of each. */
  forbidden?(): readonly string[];
}

/** Tables that a native query may name: its bytes hold their names, as JSON writes them. */
export function tablesNamedIn(body: Buffer, tables: NamedTables): ReadonlyMap<string, TableColumns> {
  const found = new Map<string, TableColumns>();
  for (const name of [...tables.tables(), ...(tables.forbidden?.() ?? [])]) {
    // Escapes of JSON may spell any name in many ways.
    const isNamed = body.includes(name) || body.includes('\\');
    const table = isNamed ? tables.table(name) : undefined;
    if (table !== undefined)
      found.set(name, { columns: table.columns, interval: table.interval, ...(table.access && { access: table.access }) });
  }
  return found;
}

/** In a longer text a few names are searched for one by one: a hundred times faster, for each, than looking at all words. */
const SPLIT_LENGTH_MAX = 64 * 1024;
const SEARCHED_NAMES_MAX = 100;

/** One pass over the text for all plain names: a pass for each of a thousand tables would take seconds of a long statement. */
function namesIn(query: string, tableNames: readonly string[]): (name: string) => boolean {
  if (query.length > SPLIT_LENGTH_MAX && tableNames.length <= SEARCHED_NAMES_MAX) return (name) => isWritten(query, name);
  const plain = new Set(tableNames.filter((name) => /^[A-Za-z_]\w*$/.test(name)));
  const found = new Set<string>();
  for (const [word] of query.matchAll(/[A-Za-z_]\w*/g)) if (plain.has(word)) found.add(word);
  return (name) => (plain.has(name) ? found.has(name) : isWritten(query, name));
}

function isWritten(query: string, name: string): boolean {
  return query.includes(name) || query.includes(name.replaceAll('"', '""')) || query.includes(name.replaceAll("'", "''"));
}

/** The schema that a snapshot stands for, for planning its statement. */
export function schemaOf({ tableNames, tables, lookups, systemRows }: SchemaSnapshot): SqlSchema {
  return {
    tables: () => tableNames,
    table: (name) => tables.get(name),
    lookups: () => lookups,
    systemRows: (name) => systemRows.get(name) ?? [],
  };
}

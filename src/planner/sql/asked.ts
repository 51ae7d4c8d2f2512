// Remembers what planning asked a schema: a plan holds as long as the answers stay the same.

import type { SqlSchema, SqlTable } from './catalog/schema.js';

/** Answers of the schema that planning used. */
export interface Asked {
  /** Schemas of the datasources, compared by identity; undefined for a name that is not a datasource. */
  readonly tables: Map<string, SqlTable | undefined>;
  /** Null: nobody asked. */
  tableNames: readonly string[] | null;
  lookups: readonly string[] | null;
  /** Whether rows of system tables were asked for, which change without notice. */
  systemRows: boolean;
}

/** The same schema, and what was asked of it. */
export function watch(schema: SqlSchema): { readonly watched: SqlSchema; readonly asked: Asked } {
  const asked: Asked = { tables: new Map(), tableNames: null, lookups: null, systemRows: false };
  const watched: SqlSchema = {
    tables: () => (asked.tableNames = schema.tables()),
    forbidden: () => schema.forbidden?.() ?? [],
    table(name) {
      const table = schema.table(name);
      asked.tables.set(name, table);
      return table;
    },
    lookups: () => (asked.lookups = schema.lookups?.() ?? []),
    systemRows(name) {
      asked.systemRows = true;
      return schema.systemRows?.(name) ?? [];
    },
  };
  return { watched, asked };
}

export function holds({ tables, tableNames, lookups }: Asked, schema: SqlSchema): boolean {
  for (const [name, table] of tables) if (schema.table(name) !== table) return false;
  if (tableNames !== null && !sameNames(tableNames, schema.tables())) return false;
  return lookups === null || sameNames(lookups, schema.lookups?.() ?? []);
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

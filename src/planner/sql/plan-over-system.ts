// Plans statements over `sys`, whose rows must be fetched first.

import type { PlannedStatement } from '../../model/statement.js';
import type { SqlSchema } from './catalog/schema.js';
import type { SystemRows, SystemTableName } from './catalog/system-schema.js';

/**
 * Plans a statement that may read `sys`. Its rows are asked of other processes, and planning is pure and synchronous:
 * so the statement is planned over empty tables first, which tells their names, and once more over the rows. Reading
 * them when a source is opened would let one table differ between two places of a statement, and hide its size from
 * the order of joins. Statements without such a table are planned once.
 */
export async function planOverSystem(
  schema: SqlSchema,
  fetch: (table: SystemTableName) => Promise<SystemRows>,
  plan: (schema: SqlSchema) => PlannedStatement | Promise<PlannedStatement>,
): Promise<PlannedStatement> {
  const asked = new Set<SystemTableName>();
  const over = (systemRows: NonNullable<SqlSchema['systemRows']>): SqlSchema => ({
    tables: () => schema.tables(),
    forbidden: () => schema.forbidden?.() ?? [],
    table: (name) => schema.table(name),
    lookups: () => schema.lookups?.() ?? [],
    systemRows,
  });
  const draft = await plan(
    over((name) => {
      asked.add(name);
      return [];
    }),
  );
  if (asked.size === 0) return draft;
  const rows = new Map(await Promise.all([...asked].map(async (name) => [name, await fetch(name)] as const)));
  return plan(over((name) => rows.get(name) ?? []));
}

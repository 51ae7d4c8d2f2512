import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellAt } from '../../../src/model/frame.js';
import { informationSchemaTable } from '../../../src/planner/sql/information-schema.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import type { SqlSchema } from '../../../src/planner/sql/schema.js';

const SCHEMA: SqlSchema = {
  tables: () => ['edits'],
  table: () => ({
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
      { name: 'page', type: 'STRING', multiValue: true, hasNulls: true },
      { name: 'score', type: 'FLOAT', multiValue: false, hasNulls: true },
    ],
  }),
};

/** Some columns of the rows of a metadata table. */
function rowsOf(name: string, columns: readonly string[], schemaName = 'svc'): unknown[][] {
  const table = informationSchemaTable(name, SCHEMA, schemaName);
  if (table === undefined) throw new Error(`no table ${name}`);
  const picked = columns.map((column) => table.frame.columns.find((each) => each.name === column));
  return Array.from({ length: table.frame.rowCount }, (_, row) =>
    picked.map((column) => (column === undefined ? 'no such column' : cellAt(column, row))),
  );
}

const metadata = suite('INFORMATION_SCHEMA');

metadata('schemas', () =>
  assert.equal(rowsOf('SCHEMATA', ['CATALOG_NAME', 'SCHEMA_NAME', 'SQL_PATH']), [
    ['svc', 'INFORMATION_SCHEMA', null],
    ['svc', 'svc', null],
  ]),
);

metadata('tables', () => {
  const rows = rowsOf('TABLES', ['TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'IS_JOINABLE', 'IS_BROADCAST']);
  assert.equal(rows.at(-1), ['svc', 'svc', 'edits', 'TABLE', 'NO', 'NO']);
  assert.equal(
    rows.map((row) => row[2]),
    ['SCHEMATA', 'TABLES', 'COLUMNS', 'edits'],
  );
});

metadata('columns with their types', () => {
  const rows = rowsOf('COLUMNS', [
    'TABLE_NAME',
    'COLUMN_NAME',
    'ORDINAL_POSITION',
    'IS_NULLABLE',
    'DATA_TYPE',
    'NUMERIC_PRECISION',
    'DATETIME_PRECISION',
    'JDBC_TYPE',
  ]);
  assert.equal(rows.slice(-3), [
    ['edits', '__time', 1n, 'NO', 'TIMESTAMP', null, 3n, 93n],
    ['edits', 'page', 2n, 'YES', 'VARCHAR', null, null, 12n],
    ['edits', 'score', 3n, 'YES', 'FLOAT', 15n, null, 6n],
  ]);
});

metadata('under an alias the schema has its name, and tables answer to it', () => {
  assert.equal(rowsOf('SCHEMATA', ['CATALOG_NAME', 'SCHEMA_NAME'], 'acme').at(-1), ['acme', 'acme']);
  const plan = (query: string) => planSql({ query, context: {}, parameters: [], schemaName: 'acme' }, SCHEMA, 0);
  for (const name of ['acme', 'svc', 'druid']) assert.is(plan(`SELECT ${name}.edits.page FROM ${name}.edits`).kind, 'select');
  assert.throws(() => planSql({ query: 'SELECT 1 FROM acme.edits', context: {}, parameters: [] }, SCHEMA, 0), /unknown schema acme/);
});
metadata.run();

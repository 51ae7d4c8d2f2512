import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellAt } from '../../../../src/model/frame.js';
import { informationSchemaTable } from '../../../../src/planner/sql/catalog/information-schema.js';
import type { SqlSchema } from '../../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../../src/planner/sql/plan-sql.js';

const SCHEMA: SqlSchema = {
  tables: () => ['edits'],
  table: () => ({
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
      { name: 'page', type: 'STRING', multiValue: true, hasNulls: true },
      { name: 'score', type: 'FLOAT', multiValue: false, hasNulls: true },
      { name: 'tags', type: 'ARRAY<STRING>', multiValue: false, hasNulls: true },
      { name: 'shape', type: 'COMPLEX<json>', multiValue: false, hasNulls: true },
    ],
  }),
  lookups: () => ['capitals'],
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
    ['svc', 'lookup', null],
    ['svc', 'svc', null],
  ]),
);

metadata('tables', () => {
  const rows = rowsOf('TABLES', ['TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'IS_JOINABLE', 'IS_BROADCAST']);
  assert.equal(rows.at(-1), ['svc', 'svc', 'edits', 'TABLE', 'NO', 'NO']);
  assert.equal(
    rows.map((row) => row[2]),
    ['SCHEMATA', 'TABLES', 'COLUMNS', 'ROUTINES', 'capitals', 'edits'],
  );
});

metadata('lookups are tables of keys and values that can be joined anywhere', () => {
  const tables = rowsOf('TABLES', ['TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'IS_JOINABLE', 'IS_BROADCAST']);
  assert.equal(
    tables.filter(([schema]) => schema === 'lookup'),
    [['lookup', 'capitals', 'TABLE', 'YES', 'YES']],
  );
  const columns = rowsOf('COLUMNS', ['TABLE_SCHEMA', 'COLUMN_NAME', 'DATA_TYPE', 'ORDINAL_POSITION']);
  assert.equal(
    columns.filter(([schema]) => schema === 'lookup'),
    [
      ['lookup', 'k', 'VARCHAR', 1n],
      ['lookup', 'v', 'VARCHAR', 2n],
    ],
  );
});

metadata('functions with what they take', () => {
  const rows = rowsOf('ROUTINES', ['ROUTINE_NAME', 'IS_AGGREGATOR', 'SIGNATURES']);
  const about = (name: string) => rows.find(([each]) => each === name)?.slice(1);
  assert.equal(about('IPV6_MATCH'), ['NO', 'IPV6_MATCH(<CHARACTER>, <CHARACTER>)']);
  assert.equal(about('CONCAT'), ['NO', 'CONCAT(<ANY>, ...)']);
  assert.equal(about('APPROX_QUANTILE_DS'), ['YES', null]);
  assert.equal(about('NTILE'), ['NO', null]);
  assert.is(about('NO_SUCH_FUNCTION'), undefined);
  const constant = rowsOf('ROUTINES', ['ROUTINE_CATALOG', 'ROUTINE_SCHEMA', 'ROUTINE_TYPE']);
  assert.ok(constant.length > 190 && constant.every((row) => row.join() === 'svc,INFORMATION_SCHEMA,FUNCTION'));
  assert.equal(new Set(rows.map(([name]) => name)).size, rows.length);
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
  assert.equal(rows.slice(-5), [
    ['edits', '__time', 1n, 'NO', 'TIMESTAMP', null, 3n, 93n],
    ['edits', 'page', 2n, 'YES', 'VARCHAR', null, null, 12n],
    ['edits', 'score', 3n, 'YES', 'FLOAT', 15n, null, 6n],
    ['edits', 'tags', 4n, 'YES', 'ARRAY', null, null, 2003n],
    ['edits', 'shape', 5n, 'YES', 'COMPLEX<json>', null, null, 1111n],
  ]);
});

metadata('under an alias the schema has its name, and tables answer to it', () => {
  assert.equal(rowsOf('SCHEMATA', ['CATALOG_NAME', 'SCHEMA_NAME'], 'acme').at(-1), ['acme', 'acme']);
  const plan = (query: string) => planSql({ query, context: {}, parameters: [], schemaName: 'acme' }, SCHEMA, 0);
  for (const name of ['acme', 'svc', 'druid']) assert.is(plan(`SELECT ${name}.edits.page FROM ${name}.edits`).kind, 'select');
  assert.throws(() => planSql({ query: 'SELECT 1 FROM acme.edits', context: {}, parameters: [] }, SCHEMA, 0), /unknown schema acme/);
});
metadata.run();

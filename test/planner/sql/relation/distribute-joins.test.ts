import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RowSource } from '../../../../src/model/row-source.js';
import type { ColumnSchema } from '../../../../src/model/schema.js';
import type { SqlSchema } from '../../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../../src/planner/sql/plan-sql.js';

const column = (name: string, type: ColumnSchema['type'], multiValue = false): ColumnSchema => ({ name, type, multiValue, hasNulls: true });
const table = (rowCount: number, ...columns: readonly ColumnSchema[]) => ({ rowCount, columns: [column('__time', 'LONG'), ...columns] });
const TABLES = new Map([
  ['sales', table(1000, column('item', 'LONG'), column('amount', 'LONG'), column('tag', 'STRING', true))],
  ['refunds', table(100, column('item', 'LONG'), column('amount', 'LONG'), column('tag', 'STRING', true))],
  ['items', table(10, column('id', 'LONG'), column('name', 'STRING'))],
]);
const SCHEMA: SqlSchema = { tables: () => [...TABLES.keys()], table: (name) => TABLES.get(name) };

/** Scans and groups of tables and joins, `first` where they are cut in an order. */
function shape(source: RowSource): string {
  switch (source.kind) {
    case 'table':
      return source.name;
    case 'union':
      return `[${source.sources.map(shape).join(' + ')}]`;
    case 'join':
      return `(${shape(source.left)} ${source.type} ${shape(source.right)})`;
    case 'filtered':
      return shape(source.source);
    case 'query':
      return shapeOfPlan(source);
    default:
      return source.kind;
  }
}

function shapeOfPlan({ plan, source }: Pick<Extract<RowSource, { kind: 'query' }>, 'plan' | 'source'>): string {
  const cut = plan.operator !== 'timeBoundary' && plan.post.some((step) => step.step === 'sort' && step.limit !== null) ? ' first' : '';
  return `${plan.operator}${cut} ${shape(source)}`;
}

const shapeOf = (sql: string): string => {
  const planned = planSql({ query: sql, context: {}, parameters: [] }, SCHEMA, Date.UTC(2024, 0, 15));
  assert.is(planned.kind, 'select');
  return planned.kind === 'select' ? shapeOfPlan(planned) : '';
};

const BOTH = "(SELECT 's' AS kind, item, amount AS v, tag FROM sales UNION ALL SELECT 'r', item, -amount, tag FROM refunds) u";
const LIMITED = '(SELECT item, amount AS v FROM sales UNION ALL (SELECT item, amount FROM refunds ORDER BY amount LIMIT 5)) u';

const CASES: readonly (readonly [title: string, sql: string, shape: string])[] = [
  [
    'an inner join, and the aggregate above it',
    `SELECT i.name, SUM(u.v) FROM ${BOTH} JOIN items i ON i.id = u.item GROUP BY i.name`,
    'group [group (sales inner items) + group (refunds inner items)]',
  ],
  [
    'on whichever side the union stands, where it has the more rows',
    `SELECT i.name, SUM(u.v) FROM items i JOIN ${BOTH} ON i.id = u.item GROUP BY i.name`,
    'group [group (sales inner items) + group (refunds inner items)]',
  ],
  [
    'a left join that keeps the rows of the union',
    `SELECT i.name, COUNT(*) FROM ${BOTH} LEFT JOIN items i ON i.id = u.item GROUP BY i.name`,
    'group [group (sales left items) + group (refunds left items)]',
  ],
  [
    'but none that keeps rows of the other side: they would be kept once for each branch',
    `SELECT i.name, COUNT(u.v) FROM items i LEFT JOIN ${BOTH} ON i.id = u.item GROUP BY i.name`,
    'group (items left scan [scan sales + scan refunds])',
  ],
  [
    'nor a full join',
    `SELECT i.name, COUNT(u.v) FROM ${BOTH} FULL JOIN items i ON i.id = u.item GROUP BY i.name`,
    'group (scan [scan sales + scan refunds] full items)',
  ],
  [
    'a semi join',
    `SELECT SUM(u.v) FROM ${BOTH} WHERE u.item IN (SELECT id FROM items)`,
    'group [group (sales semi group items) + group (refunds semi group items)]',
  ],
  [
    'branches that a condition leaves no rows are not read',
    `SELECT SUM(u.v) FROM ${BOTH} JOIN items i ON i.id = u.item WHERE u.kind = 'r'`,
    'group (refunds inner items)',
  ],
  [
    'branches of which the first rows are wanted are joined afterwards',
    `SELECT i.name, SUM(u.v) FROM ${LIMITED} JOIN items i ON i.id = u.item GROUP BY i.name`,
    'group [group (sales inner items) + group (scan first refunds inner items)]',
  ],
  [
    'groups stay one side of one join',
    'SELECT i.name, u.n FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item UNION ALL SELECT item, COUNT(*) FROM refunds GROUP BY item) u JOIN items i ON i.id = u.item',
    'scan ([group sales + group refunds] inner items)',
  ],
  [
    'the first rows of all are among those of each branch',
    `SELECT u.kind, u.v FROM ${BOTH} ORDER BY u.v LIMIT 3 OFFSET 2`,
    'scan first [scan first sales + scan first refunds]',
  ],
  ['unless they are very many', `SELECT u.kind, u.v FROM ${BOTH} ORDER BY u.v LIMIT 100000`, 'scan first [scan sales + scan refunds]'],
  [
    'each of several distinct values is a key of groups of its own',
    `SELECT COUNT(DISTINCT u.item), COUNT(DISTINCT u.v) FROM ${BOTH}`,
    'group [group sales + group sales + group refunds + group refunds]',
  ],
  [
    'strings of several values a row are no keys: a row would be counted in several groups',
    `SELECT COUNT(DISTINCT u.tag), COUNT(*) FROM ${BOTH}`,
    'group [scan sales + scan refunds]',
  ],
  ['states are merged', `SELECT u.item, STDDEV(u.v) FROM ${BOTH} GROUP BY u.item`, 'group [group sales + group refunds]'],
  ['lists are not', `SELECT u.item, ARRAY_AGG(u.v) FROM ${BOTH} GROUP BY u.item`, 'group [scan sales + scan refunds]'],
  [
    'columns that a subquery computes are computed above a join',
    'SELECT i.name, SUM(s.v) FROM (SELECT item + 1 AS k, amount * 2 AS v FROM sales WHERE amount > 3) s JOIN items i ON i.id = s.k GROUP BY i.name',
    'group (sales inner items)',
  ],
  [
    'unless the join compares what is computed of several values in a row, which is no key of a join of the rows themselves',
    'SELECT i.id, COUNT(*) FROM (SELECT UPPER(tag) AS k FROM sales) s JOIN items i ON i.name = s.k GROUP BY i.id',
    'group (scan sales inner items)',
  ],
  [
    'in a branch of a union, too',
    "SELECT i.id, COUNT(*) FROM (SELECT UPPER(tag) AS k FROM sales UNION ALL SELECT 'x' FROM refunds) s JOIN items i ON i.name = s.k GROUP BY i.id",
    'group [group (scan sales inner items) + group (refunds inner items)]',
  ],
  [
    'and of a union of them, which computes it above',
    "SELECT i.id, COUNT(*) FROM (SELECT UPPER(u.tag) AS k FROM (SELECT tag FROM sales UNION ALL SELECT 'x' FROM refunds) u) s JOIN items i ON i.name = s.k GROUP BY i.id",
    'group [group (scan sales inner items) + group (refunds inner items)]',
  ],
  [
    'columns of several values are keys like any other',
    'SELECT i.id, COUNT(*) FROM (SELECT tag AS k FROM sales) s JOIN items i ON i.name = s.k GROUP BY i.id',
    'group (sales inner items)',
  ],
];

const distributed = suite('joins over unions are divided');
for (const [title, sql, expected] of CASES) distributed(title, () => assert.is(shapeOf(sql), expected));
distributed.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RowSource } from '../../../../src/model/row-source.js';
import type { ColumnSchema } from '../../../../src/model/schema.js';
import type { SqlSchema } from '../../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../../src/planner/sql/plan-sql.js';

const column = (name: string, type: ColumnSchema['type'], distinctCount: number | undefined, multiValue = false): ColumnSchema => ({
  ...{ name, type, multiValue, hasNulls: true },
  ...(distinctCount === undefined ? {} : { distinctCount }),
});
const VISITS = {
  rowCount: 1000,
  columns: [
    column('__time', 'LONG', 1000),
    column('country', 'STRING', 10),
    column('os', 'STRING', 5),
    column('page', 'STRING', 400),
    column('unknown', 'STRING', undefined),
    column('tag', 'STRING', 3, true),
    column('hits', 'LONG', 50),
    column('price', 'DOUBLE', 300),
  ],
};
const SCHEMA: SqlSchema = { tables: () => ['visits'], table: (name) => (name === 'visits' ? VISITS : undefined) };

/** The keys of each branch, and of the groups that they are made of. */
function shape(source: RowSource): string {
  switch (source.kind) {
    case 'union':
      return source.sources.map(shape).join('; ');
    case 'query': {
      const keys = source.plan.operator === 'group' ? source.plan.keys.length : 'rows';
      return source.source.kind === 'query' ? `${keys} of ${shape(source.source)}` : `${keys}`;
    }
    case 'filtered':
      return shape(source.source);
    default:
      return source.kind;
  }
}

const shapeOf = (sql: string, context: Readonly<Record<string, unknown>> = {}): string => {
  const planned = planSql({ query: sql, context, parameters: [] }, SCHEMA, Date.UTC(2024, 0, 15));
  assert.is(planned.kind, 'select');
  return planned.kind === 'select' ? shape(planned.source) : '';
};

const sets = suite('coarser grouping sets');

const CASES: readonly (readonly [title: string, sql: string, shape: string])[] = [
  [
    'are made of the finest one',
    'SELECT country, os, COUNT(*), SUM(hits) FROM visits GROUP BY CUBE (country, os)',
    '2; 1 of 2; 1 of 2; 0 of 2',
  ],
  ['in any order', 'SELECT os, MIN(price), MAX(hits), COUNT(price), COUNT(*) FROM visits GROUP BY GROUPING SETS ((), (os))', '0 of 1; 1'],
  ['with keys of their own are not', 'SELECT country, os, COUNT(*) FROM visits GROUP BY GROUPING SETS ((country), (os))', '1; 1'],
  ['beside many groups are not: 400 of 1000 rows', 'SELECT page, COUNT(*) FROM visits GROUP BY ROLLUP (page)', '1; 0'],
  [
    'beside as many groups as rows are, where a condition leaves few of those that are read: 3 of 1000, and more is tested',
    "SELECT country, os, COUNT(*) FROM visits WHERE page = 'a' GROUP BY CUBE (country, os)",
    '2; 1 of 2; 1 of 2; 0 of 2',
  ],
  [
    'beside an unknown number of groups are, by a tenth of the rows',
    'SELECT unknown, COUNT(*) FROM visits GROUP BY ROLLUP (unknown)',
    '1; 0 of 1',
  ],
  ['of a column of several values are not', 'SELECT tag, COUNT(*) FROM visits GROUP BY ROLLUP (tag)', '1; 0'],
  ['with sums of doubles are not, whose order shows', 'SELECT os, SUM(price), COUNT(*) FROM visits GROUP BY ROLLUP (os)', '1; 0'],
  ['with distinct counts are not', 'SELECT os, COUNT(DISTINCT hits), COUNT(*) FROM visits GROUP BY ROLLUP (os)', '1; 0'],
  // Whether there are rows at all is counted for the empty set alone.
  [
    'without keys are only where rows are counted',
    'SELECT country, os, SUM(hits) FROM visits GROUP BY ROLLUP (country, os)',
    '2; 1 of 2; 0',
  ],
  [
    'of unions that somebody wrote are not',
    'SELECT os, COUNT(*) FROM visits GROUP BY os UNION ALL SELECT NULL, COUNT(*) FROM visits',
    '1; 0',
  ],
];
for (const [title, sql, expected] of CASES) sets(title, () => assert.is(shapeOf(sql), expected));

sets('are not where the rule is off', () => {
  const sql = 'SELECT os, COUNT(*) FROM visits GROUP BY ROLLUP (os)';
  assert.is(shapeOf(sql), '1; 0 of 1');
  assert.is(shapeOf(sql, { plannerRulesOff: 'coarser-sets' }), '1; 0');
});

sets.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SqlSchema } from '../../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../../src/planner/sql/plan-sql.js';

const SCHEMA: SqlSchema = {
  tables: () => ['edits'],
  table: () => ({
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: true },
      { name: 'city', type: 'STRING', multiValue: false, hasNulls: true },
    ],
  }),
};

/** First step and whether there is a row of no rows, under `skipEmptyBuckets`; the original's rows are the same (test/differential). */
const CASES: readonly { sql: string; skips: boolean | string | undefined; first?: string; emptyGroup?: boolean }[] = [
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1', skips: undefined, first: 'project' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1', skips: true, first: 'project' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1', skips: false, first: 'fillBuckets' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1', skips: 'false', first: 'fillBuckets' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1 ORDER BY 1 DESC LIMIT 3', skips: false, first: 'fillBuckets' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1 ORDER BY 2', skips: false, first: 'sort' },
  { sql: 'SELECT FLOOR(__time TO DAY), COUNT(*) FROM edits GROUP BY 1 HAVING COUNT(*) > 1', skips: false, first: 'filter' },
  { sql: 'SELECT FLOOR(__time TO DAY), city, COUNT(*) FROM edits GROUP BY 1, 2', skips: false, first: 'project' },
  { sql: 'SELECT COUNT(*) FROM edits', skips: undefined, emptyGroup: true },
  { sql: 'SELECT COUNT(*) FROM edits', skips: false, emptyGroup: true },
  { sql: 'SELECT COUNT(*) FROM edits', skips: true, emptyGroup: false },
  { sql: 'SELECT COUNT(*) FROM edits JOIN edits AS e ON edits.city = e.city', skips: true, emptyGroup: false },
  { sql: 'SELECT COUNT(*) FROM UNNEST(ARRAY[1, 2]) AS u(e) WHERE e > 2', skips: true, emptyGroup: false },
  { sql: 'SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS c FROM edits GROUP BY 1) WHERE c > 2', skips: true, emptyGroup: true },
  { sql: 'SELECT COUNT(*) FROM (SELECT * FROM edits LIMIT 3)', skips: true, emptyGroup: true },
];

const buckets = suite('skipEmptyBuckets of statements');
for (const { sql, skips, first, emptyGroup } of CASES)
  buckets(`${skips}: ${sql}`, () => {
    const statement = planSql({ query: sql, context: skips === undefined ? {} : { skipEmptyBuckets: skips }, parameters: [] }, SCHEMA, 0);
    assert.is(statement.kind, 'select');
    if (statement.kind !== 'select' || statement.plan.operator !== 'group') throw new Error('it is no plan of groups');
    if (first !== undefined) assert.is(statement.plan.post[0]?.step ?? 'none', first);
    if (emptyGroup !== undefined) assert.is(statement.plan.emptyGroup, emptyGroup);
  });
buckets.run();

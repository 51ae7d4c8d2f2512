import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PlannedStatement } from '../../../src/model/statement.js';
import { PlanCache } from '../../../src/planner/sql/plan-cache.js';
import type { SqlSchema } from '../../../src/planner/sql/schema.js';
import { NOW, SCHEMA } from './plan-text.js';

const cached = suite('SQL plan cache');

function plan(
  cache: PlanCache,
  query: string,
  schema: SqlSchema = SCHEMA,
  now = NOW,
  parameters: readonly unknown[] = [],
  zone = 'UTC',
): PlannedStatement {
  return cache.plan({ query, context: { sqlTimeZone: zone }, parameters }, schema, now);
}

cached('the same statement over the same schema is planned once', () => {
  const cache = new PlanCache(10);
  assert.is(plan(cache, 'SELECT page FROM wiki'), plan(cache, 'SELECT page FROM wiki'));
});

cached('parameters, time zone and schema tell statements apart', () => {
  const cache = new PlanCache(10);
  const sql = "SELECT page FROM wiki WHERE page = ? AND __time > TIMESTAMP '2024-01-01'";
  const first = plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }]);
  assert.is.not(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'b' }]), first);
  assert.is.not(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }], '+01:00'), first);
  assert.is(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }]), first);
  const changed: SqlSchema = { ...SCHEMA, table: () => ({ columns: [...(SCHEMA.table('wiki')?.columns ?? [])] }) };
  assert.is.not(plan(cache, sql, changed, NOW, [{ type: 'VARCHAR', value: 'a' }]), first);
});

cached('what hangs on the clock or on the list of tables is planned anew', () => {
  const cache = new PlanCache(10);
  for (const sql of ['SELECT page FROM wiki WHERE __time > CURRENT_TIMESTAMP', 'SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES']) {
    assert.is.not(plan(cache, sql, SCHEMA, NOW), plan(cache, sql, SCHEMA, NOW + 1));
  }
});

cached('rows that stand in the statement are planned once', () => {
  const cache = new PlanCache(10);
  for (const sql of ['SELECT 1', "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (n, s)"]) assert.is(plan(cache, sql), plan(cache, sql));
});

cached('the least recently used goes first', () => {
  const cache = new PlanCache(2);
  const [one, two] = ['SELECT page FROM wiki', 'SELECT city FROM wiki'];
  const first = plan(cache, one);
  const second = plan(cache, two);
  assert.is(plan(cache, one), first);
  plan(cache, 'SELECT channel FROM wiki');
  assert.is(plan(cache, one), first);
  assert.is.not(plan(cache, two), second);
});
cached.run();

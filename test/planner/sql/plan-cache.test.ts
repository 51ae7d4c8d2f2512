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
  const cache = new PlanCache(1_000_000);
  assert.is(plan(cache, 'SELECT page FROM wiki'), plan(cache, 'SELECT page FROM wiki'));
});

cached('parameters, time zone and schema tell statements apart', () => {
  const cache = new PlanCache(1_000_000);
  const sql = "SELECT page FROM wiki WHERE page = ? AND __time > TIMESTAMP '2024-01-01'";
  const first = plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }]);
  assert.is.not(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'b' }]), first);
  assert.is.not(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }], '+01:00'), first);
  assert.is(plan(cache, sql, SCHEMA, NOW, [{ type: 'VARCHAR', value: 'a' }]), first);
  const changed: SqlSchema = { ...SCHEMA, table: () => ({ columns: [...(SCHEMA.table('wiki')?.columns ?? [])] }) };
  assert.is.not(plan(cache, sql, changed, NOW, [{ type: 'VARCHAR', value: 'a' }]), first);
});

cached('what hangs on the clock is planned anew', () => {
  const cache = new PlanCache(1_000_000);
  const sql = 'SELECT page FROM wiki WHERE __time > CURRENT_TIMESTAMP';
  assert.is.not(plan(cache, sql, SCHEMA, NOW), plan(cache, sql, SCHEMA, NOW + 1));
});

cached('what hangs on the lists of tables and lookups is planned anew when these change', () => {
  const cache = new PlanCache(1_000_000);
  const more: SqlSchema = { ...SCHEMA, tables: () => [...SCHEMA.tables(), 'another'], lookups: () => ['names'] };
  const over = (schema: SqlSchema) => plan(cache, 'SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES', schema);
  assert.is(over(SCHEMA), over(SCHEMA));
  assert.is.not(over(SCHEMA), over(more));
  const withLookup = plan(cache, 'SELECT v FROM lookup.names', more);
  assert.is(plan(cache, 'SELECT v FROM lookup.names', more), withLookup);
  assert.throws(() => plan(cache, 'SELECT v FROM lookup.names', SCHEMA), /unknown lookup names/);
});

cached('rows that stand in the statement are planned once', () => {
  const cache = new PlanCache(1_000_000);
  for (const sql of ['SELECT 1', "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (n, s)"]) assert.is(plan(cache, sql), plan(cache, sql));
});

cached('plans that nobody asks for make room', () => {
  const bytesOf = (sql: string) => {
    const cache = new PlanCache(1_000_000);
    plan(cache, sql);
    return cache.bytes;
  };
  const [one, two, three] = ['SELECT page FROM wiki', 'SELECT city FROM wiki', 'SELECT page, city FROM wiki'];
  const cache = new PlanCache(bytesOf(one) + bytesOf(three));
  const first = plan(cache, one);
  const second = plan(cache, two);
  assert.is(plan(cache, one), first);
  plan(cache, three);
  assert.is(plan(cache, one), first);
  assert.is.not(plan(cache, two), second);
});
cached.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dataBytes } from '../../../src/base/data-size.js';
import type { PlannedStatement } from '../../../src/model/statement.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { parseSql } from '../../../src/planner/sql/parse/parse.js';
import { PlanCache, planKey } from '../../../src/planner/sql/plan-cache.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
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

cached('statements that depend on the clock are planned again over the cached syntax tree', () => {
  const cache = new PlanCache(1_000_000);
  const sql = "SELECT page FROM wiki WHERE __time > CURRENT_TIMESTAMP - INTERVAL '1' DAY";
  for (const now of [NOW, NOW + 1, NOW + 86_400_000])
    assert.equal(plan(cache, sql, SCHEMA, now), planSql({ query: sql, context: { sqlTimeZone: 'UTC' }, parameters: [] }, SCHEMA, now));
  assert.is.not(plan(cache, sql, SCHEMA, NOW), plan(cache, sql, SCHEMA, NOW));
  assert.throws(() => plan(cache, sql, { ...SCHEMA, table: () => undefined }), /line 1, column 18: unknown table wiki/);
});

cached('planning only reads the syntax tree', () => {
  const statements = [
    "SELECT page, COUNT(*) FILTER (WHERE added > 1) AS n FROM wiki WHERE city IN ('a', 'b') GROUP BY 1 HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 5",
    'WITH a AS (SELECT page, SUM(added) AS s FROM wiki GROUP BY 1) SELECT x.page, y.s FROM a AS x LEFT JOIN a AS y ON x.page = y.page',
    'SELECT page, RANK() OVER (PARTITION BY city ORDER BY added) FROM wiki UNION ALL SELECT country, 1 FROM wiki',
    'SELECT page FROM wiki WHERE added > (SELECT AVG(added) FROM wiki) AND EXISTS (SELECT 1 FROM wiki AS w WHERE w.page = wiki.page)',
    "SELECT CASE WHEN delta > 0 THEN 'up' END AS d, TIME_FLOOR(__time, 'PT1H') FROM wiki GROUP BY GROUPING SETS ((1), (2), ())",
  ];
  for (const query of statements) {
    const request = { query, context: {}, parameters: [] };
    const frozen = planSql(request, SCHEMA, NOW, (source) => deepFreeze(parseSql(source)));
    assert.equal(frozen, planSql(request, SCHEMA, NOW), query);
  }
});

function deepFreeze<Data>(data: Data): Data {
  if (typeof data === 'object' && data !== null && !Object.isFrozen(data)) Object.values(Object.freeze(data)).forEach(deepFreeze);
  return data;
}

cached('statements that read the lists of tables and lookups are planned again when these change', () => {
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
  const bytesOf = (query: string) => {
    const request = { query, context: { sqlTimeZone: 'UTC' }, parameters: [] };
    return (planKey(request)?.length ?? 0) * 2 + dataBytes(planSql(request, SCHEMA, NOW));
  };
  const [one, two, three] = ['SELECT page FROM wiki', 'SELECT city FROM wiki', 'SELECT page, city FROM wiki'];
  const cache = new PlanCache((bytesOf(one) + bytesOf(three)) * 2);
  const first = plan(cache, one);
  const second = plan(cache, two);
  assert.is(plan(cache, one), first);
  plan(cache, three);
  assert.is(plan(cache, one), first);
  assert.is.not(plan(cache, two), second);
});
cached.run();

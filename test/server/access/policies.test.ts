import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../src/model/access/authorizer.js';
import { caseCount } from '../../case-count.js';
import { CASES, type Case, COUNT, casesOf, DAY, leftBy, ROWS, readerOf } from './policy-cases.js';
import { openSecuredHouse } from './secured-house.js';
import { rowsOfStatement } from './statement-run.js';

/**
 * Readers under a policy, against a datasource that holds nothing but what the policy leaves: the copy is made of the rows by a predicate
 * here, so that no filter of the server decides what it holds. Every query must have the same answer over both, cold and warm.
 */

/** Statements over the table T, and a small one of all rows, U, for joins. */
const STATEMENTS: readonly string[] = [
  'SELECT COUNT(*) AS n FROM T',
  'SELECT COUNT(*) AS n, SUM(amount) AS s, MIN(price) AS lo, MAX(price) AS hi, MIN(__time) AS a, MAX(__time) AS z FROM T',
  'SELECT tenant, COUNT(*) AS n FROM T GROUP BY 1 ORDER BY 1',
  'SELECT city, SUM(amount) AS s FROM T GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3',
  'SELECT DISTINCT city FROM T ORDER BY 1',
  'SELECT APPROX_COUNT_DISTINCT(city) AS a, COUNT(DISTINCT tenant) AS b FROM T',
  'SELECT region, APPROX_QUANTILE_DS(price, 0.5) AS q FROM T GROUP BY 1 ORDER BY 1',
  'SELECT __time, tenant, city, price FROM T ORDER BY __time, city LIMIT 20',
  'SELECT __time, amount FROM T ORDER BY __time DESC, amount LIMIT 5',
  "SELECT COUNT(*) AS n FROM T WHERE tenant = 'south' OR tenant IS NULL",
  "SELECT COUNT(*) AS n FROM T WHERE NOT (tenant = 'north')",
  "SELECT COUNT(*) AS n FROM T WHERE __time >= TIMESTAMP '2024-01-02 00:00:00'",
  'SELECT FLOOR(__time TO DAY) AS d, COUNT(*) AS n FROM T GROUP BY 1 ORDER BY 1',
  'SELECT tenant, amount, SUM(amount) OVER (PARTITION BY tenant ORDER BY __time, amount) AS running FROM T ORDER BY __time, amount, tenant LIMIT 30',
  'SELECT COUNT(*) AS n FROM T AS a JOIN T AS b ON a.city = b.city',
  'SELECT u.tenant, COUNT(t.city) AS n FROM U AS u LEFT JOIN T AS t ON u.city = t.city GROUP BY 1 ORDER BY 1',
  'SELECT t.city, COUNT(*) AS n FROM T AS t JOIN U AS u ON t.city = u.city GROUP BY 1 ORDER BY 1',
  'SELECT COUNT(*) AS n FROM U WHERE city IN (SELECT city FROM T)',
  'SELECT COUNT(*) AS n FROM U WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.city = U.city)',
  'SELECT COUNT(*) AS n FROM U WHERE amount > (SELECT AVG(amount) FROM T)',
  'SELECT MAX(n) AS most FROM (SELECT city, COUNT(*) AS n FROM T GROUP BY 1)',
  'SELECT tenant FROM T UNION ALL SELECT tenant FROM T LIMIT 500',
  'SELECT COUNT(*) AS n FROM (SELECT tenant FROM T UNION ALL SELECT city FROM U)',
  "SELECT tag, COUNT(*) AS n FROM T CROSS JOIN UNNEST(MV_TO_ARRAY(MV_FILTER_NONE(TRIM(city), ARRAY['zzz']))) AS x (tag) GROUP BY 1 ORDER BY 1",
  'WITH w AS (SELECT city, MAX(amount) AS m FROM T GROUP BY 1) SELECT a.city, b.m FROM w AS a JOIN w AS b ON a.city = b.city ORDER BY 1',
  'SELECT tenant, region, GROUPING(tenant, region) AS g, COUNT(*) AS n FROM T GROUP BY GROUPING SETS ((tenant), (region), ()) ORDER BY 3, 1, 2',
  'SELECT LATEST(city) AS l, EARLIEST(city) AS e, ANY_VALUE(tenant) IS NULL AS a FROM T',
  "SELECT STRING_AGG(DISTINCT tenant, ',') AS s FROM T",
  'SELECT COUNT(*) FILTER (WHERE price > 5) AS n, COUNT(price) AS p FROM T HAVING COUNT(*) > 0',
];
/** Native queries over `dataSource`. */
const NATIVE: readonly object[] = [
  {
    queryType: 'timeseries',
    granularity: 'all',
    intervals: [DAY],
    aggregations: [COUNT, { type: 'longSum', name: 's', fieldName: 'amount' }],
  },
  { queryType: 'topN', granularity: 'all', intervals: [DAY], dimension: 'city', metric: 'n', threshold: 5, aggregations: [COUNT] },
  { queryType: 'groupBy', granularity: 'all', intervals: [DAY], dimensions: ['tenant', 'region'], aggregations: [COUNT] },
  { queryType: 'groupBy', granularity: 'all', intervals: [DAY], dimensions: ['tags'], aggregations: [COUNT] },
  // A virtual column that bears the name of a filtered one must not stand in for it.
  {
    queryType: 'groupBy',
    granularity: 'all',
    intervals: [DAY],
    virtualColumns: [{ type: 'expression', name: 'tenant', expression: "'north'", outputType: 'STRING' }],
    dimensions: ['tenant'],
    aggregations: [COUNT, { type: 'hyperUnique', name: 'u', fieldName: 'city' }],
  },
  {
    queryType: 'scan',
    intervals: [DAY],
    columns: ['__time', 'tenant', 'city', 'amount'],
    order: 'ascending',
    resultFormat: 'compactedList',
  },
  {
    queryType: 'search',
    granularity: 'all',
    intervals: [DAY],
    query: { type: 'contains', value: 'o' },
    searchDimensions: ['tenant', 'city'],
  },
  { queryType: 'timeBoundary' },
  {
    queryType: 'timeseries',
    granularity: 'all',
    intervals: [DAY],
    aggregations: [{ type: 'cardinality', name: 'c', fields: ['city'], byRow: false }],
  },
  {
    queryType: 'timeseries',
    granularity: 'all',
    intervals: [DAY],
    filter: { type: 'not', field: { type: 'selector', dimension: 'tenant', value: 'north' } },
    aggregations: [COUNT, { type: 'doubleMax', name: 'm', fieldName: 'price' }],
  },
];

/** Datasources in which a native query may name a table. */
const WRAPPED: readonly ((table: string) => unknown)[] = [
  (table) => table,
  (table) => ({ type: 'table', name: table }),
  (table) => ({ type: 'union', dataSources: [table, table] }),
  (table) => ({ type: 'filter', base: table, filter: { type: 'true' } }),
  (table) => ({
    type: 'query',
    query: {
      queryType: 'scan',
      dataSource: table,
      intervals: [DAY],
      columns: ['__time', 'tenant', 'region', 'city', 'amount', 'price', 'tags'],
    },
  }),
  (table) => ({
    type: 'join',
    left: 'whole',
    right: {
      type: 'query',
      query: { queryType: 'groupBy', dataSource: table, granularity: 'all', intervals: [DAY], dimensions: ['city'], aggregations: [COUNT] },
    },
    rightPrefix: 'j.',
    condition: 'city == "j.city"',
    joinType: 'INNER',
  }),
  (table) => ({
    type: 'unnest',
    base: table,
    virtualColumn: { type: 'expression', name: 'tag', expression: 'city', outputType: 'STRING' },
  }),
];

const house = await openSecuredHouse(9_900, [
  'svc.broker.cache.useResultLevelCache=true',
  'svc.broker.cache.populateResultLevelCache=true',
  'svc.historical.cache.useCache=true',
  'svc.historical.cache.populateCache=true',
]);
/** 16 policies, or 500 in a nightly run (`TEST_CASES=10`). */
const CASES_RUN = casesOf(caseCount(16) < 160 ? caseCount(16) : Math.max(500, caseCount(16)));
/** Policies that all questions are asked under. */
const WHOLE_MAX = 4;
/** Copies by what they hold: several policies may leave the same. */
const copies = new Map<string, string>();
const copyOf = new Map<Case, string>();
const policies = suite('row and column policies');

policies.before(async () => {
  const loads = [house.load('whole', ROWS), house.load('hidden', ROWS)];
  for (const each of CASES_RUN) {
    const rows = leftBy(each);
    if (rows.length === 0) continue;
    const key = JSON.stringify(rows);
    const copy = copies.get(key) ?? `copy${copies.size}`;
    copyOf.set(each, copy);
    if (copies.has(key)) continue;
    copies.set(key, copy);
    loads.push(house.load(copy, rows));
    // Workers have room for few at a time.
    if (loads.length >= 8) await Promise.all(loads.splice(0));
  }
  await Promise.all(loads);
});
policies.after(() => house.close());

async function answers(caller: Caller, path: string, body: object): Promise<{ readonly status: number; readonly body: string }> {
  const { status, body: text } = await house.ask(caller, 'POST', path, body);
  return { status, body: text };
}

const over = (statement: string, table: string) => statement.replaceAll(/\bT\b/g, table).replaceAll(/\bU\b/g, 'whole');

/** A part of the questions for each of many policies, in turn, so that every question meets many of them. */
const asked = <Question>(questions: readonly Question[], index: number): readonly Question[] =>
  index < WHOLE_MAX ? questions : questions.filter((_, at) => (at + index) % 5 === 0);

/** Queries of every kind over every datasource. */
const NATIVE_OVER = NATIVE.flatMap((query) => WRAPPED.map((wrapped) => (table: string) => ({ ...query, dataSource: wrapped(table) })));

/** Statements that run as tasks. */
const AS_TASKS = [
  'SELECT city, SUM(amount) AS s FROM T GROUP BY 1 ORDER BY 1',
  'SELECT tenant, amount, price FROM T ORDER BY amount, tenant, price',
  'SELECT u.tenant, COUNT(*) AS n FROM U AS u JOIN T AS t ON u.city = t.city GROUP BY 1 ORDER BY 1',
  'SELECT COUNT(*) AS n FROM (SELECT DISTINCT city FROM T) AS d',
];

let compared = 0;
let hiddenColumns = 0;
CASES_RUN.forEach((each, index) => {
  const { name, rowFilter, columns } = each;
  const reader = readerOf({ rowFilter, columns });
  const about = () => `${JSON.stringify(rowFilter)} ${JSON.stringify(columns)}`;

  policies(`${name}: SQL`, async () => {
    const copy = copyOf.get(each);
    if (copy === undefined) {
      assert.equal(JSON.parse((await answers(reader, '/svc/v2/sql', { query: 'SELECT COUNT(*) AS n FROM hidden' })).body), [{ n: 0 }]);
      return;
    }
    const hasNulls = hasColumnOfNulls(each);
    for (const statement of asked(STATEMENTS, index)) {
      const expected = await answers(reader, '/svc/v2/sql', { query: over(statement, copy) });
      // The answer to everybody else is known by then, and then the reader's own.
      await answers(readerOf({ rowFilter: null, columns: null }), '/svc/v2/sql', { query: over(statement, 'hidden') });
      for (const _ of ['cold', 'warm', 'known']) {
        const found = await answers(reader, '/svc/v2/sql', { query: over(statement, 'hidden') });
        // A column that is hidden here is missing there, and so is one whose values there are all null: it was not discovered.
        if (hasNulls && expected.status === 400) continue;
        if (columns !== null && expected.status === 400) assert.is(found.status, 400, `${statement} ${about()} ${found.body}`);
        else assert.equal(found, expected, `${statement} ${about()}`);
      }
      if (columns === null && !hasNulls) assert.is(expected.status, 200, `${statement} ${expected.body}`);
      compared++;
    }
  });

  policies(`${name}: native queries`, async () => {
    const copy = copyOf.get(each);
    if (copy === undefined) return;
    for (const query of asked(NATIVE_OVER, index)) {
      const expected = await answers(reader, '/svc/v2', query(copy));
      const found = await answers(reader, '/svc/v2', query('hidden'));
      compared++;
      if (columns !== null && found.status === 403) {
        // It names a column that is hidden.
        hiddenColumns++;
        continue;
      }
      const [a, b] = [expected, found].map(({ status, body }) => [status, withoutSegments(body)]);
      assert.equal(b, a, `${JSON.stringify(query('hidden'))} ${about()}`);
    }
  });

  policies(`${name}: EXPLAIN`, async () => {
    const query = 'EXPLAIN PLAN FOR SELECT COUNT(*) AS n FROM hidden';
    const [plain, restricted] = [
      await answers(readerOf({ rowFilter: null, columns: null }), '/svc/v2/sql', { query }),
      await answers(reader, '/svc/v2/sql', { query }),
    ];
    assert.equal([plain.status, restricted.status], [200, 200]);
    if (index < CASES.length) assert.is.not(restricted.body, plain.body, about());
    // An unknown answer to a policy shows no row, whatever a query adds to it.
    for (const where of ['1 = 1', 'amount >= 0 OR amount < 0 OR amount IS NULL', 'NOT (amount <> amount)']) {
      if (columns !== null && !columns.includes('amount')) continue;
      const { body } = await answers(reader, '/svc/v2/sql', { query: `SELECT COUNT(*) AS n FROM hidden WHERE ${where}` });
      assert.equal(JSON.parse(body), [{ n: leftBy(each).length }], `${where} ${about()}`);
      compared++;
    }
  });

  const staged = AS_TASKS[(index / 25) % AS_TASKS.length];
  if (index % 25 === 0 && staged !== undefined)
    policies(`${name}: a statement that runs as a task`, async () => {
      const copy = copyOf.get(each);
      if (copy === undefined || columns !== null) return;
      const expected = await answers(reader, '/svc/v2/sql', { query: over(staged, copy) });
      assert.equal(await rowsOfStatement(house, reader, over(staged, 'hidden')), JSON.parse(expected.body), about());
      compared++;
    });
});

function hasColumnOfNulls(each: Case): boolean {
  const rows = leftBy(each).map((row) => new Map<string, unknown>(Object.entries(row)));
  return ['region', 'price'].some((name) => rows.every((row) => row.has(name) && row.get(name) === null));
}

/** Ids of segments name their datasource; rows of a filtered table name none. */
function withoutSegments(body: string): string {
  return body.replaceAll(/"segmentId":(null|"[^"]*")/g, '"segmentId":null').replaceAll(/hidden|copy\d+/g, 'T');
}
policies('enough was compared', () => {
  const count = CASES_RUN.filter((each) => copyOf.has(each)).length;
  assert.ok(compared >= Math.min(500, count * 20), `${compared} comparisons of ${count} policies`);
  assert.ok(copies.size >= count / 4, `${copies.size} different copies of ${count}`);
  if (CASES_RUN.length >= 100) assert.ok(hiddenColumns > 20, `${hiddenColumns} queries named hidden columns`);
});

policies.run();

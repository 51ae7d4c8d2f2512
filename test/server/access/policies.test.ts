import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../src/model/access/authorizer.js';
import type { Policy } from '../../../src/model/access/policy.js';
import { caseCount } from '../../case-count.js';
import { openSecuredHouse, permission, userWith } from './secured-house.js';

/**
 * Readers under a policy, against a datasource that holds nothing but what the policy leaves: the copy is made of the rows by a predicate
 * here, so that no filter of the server decides what it holds. Every query must have the same answer over both, cold and warm.
 */

interface Row {
  readonly t: number;
  readonly tenant: string;
  readonly region: string | null;
  readonly city: string;
  readonly price: number | null;
  readonly amount: number;
  readonly tags: readonly string[];
}

const START = Date.UTC(2024, 0, 1);
const HOUR_MS = 3_600_000;

function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
}

function rowsOf(seed: number): readonly Row[] {
  const random = randomOf(seed);
  return Array.from({ length: 240 }, (_, n): Row => {
    const tenant = ['north', 'south', 'east'][random(3)] ?? '';
    const region = ['r1', 'r2', null][random(3)] ?? null;
    return {
      t: START + n * HOUR_MS * 0.25,
      tenant,
      region,
      // Each city belongs to one tenant: whichever is seen tells of it.
      city: `${tenant}-${random(4)}`,
      price: random(6) === 0 ? null : random(100) / 4,
      amount: random(50),
      tags: [`${tenant}#${random(2)}`, `x${random(3)}`],
    };
  });
}

interface Case {
  readonly name: string;
  readonly rowFilter: Policy['rowFilter'];
  readonly keeps: (row: Row) => boolean;
}

const equals = (column: string, matchValue: unknown, matchValueType = 'STRING') => ({ type: 'equals', column, matchValueType, matchValue });

/** Policies by the form of their filter, and the same as a predicate over rows. */
const CASES: readonly Case[] = [
  { name: 'one tenant', rowFilter: equals('tenant', 'north'), keeps: ({ tenant }) => tenant === 'north' },
  { name: 'selector', rowFilter: { type: 'selector', dimension: 'tenant', value: 'south' }, keeps: ({ tenant }) => tenant === 'south' },
  { name: 'in', rowFilter: { type: 'in', dimension: 'tenant', values: ['north', 'east'] }, keeps: ({ tenant }) => tenant !== 'south' },
  {
    name: 'null',
    rowFilter: { type: 'or', fields: [{ type: 'null', column: 'region' }, equals('region', 'r2')] },
    keeps: ({ region }) => region !== 'r1',
  },
  { name: 'not null', rowFilter: { type: 'not', field: { type: 'null', column: 'region' } }, keeps: ({ region }) => region !== null },
  {
    name: 'range of numbers',
    rowFilter: { type: 'range', column: 'amount', matchValueType: 'LONG', lower: 10, upper: 30, upperOpen: true },
    keeps: ({ amount }) => amount >= 10 && amount < 30,
  },
  {
    name: 'and, or, not',
    rowFilter: {
      type: 'or',
      fields: [
        { type: 'and', fields: [equals('tenant', 'north'), equals('region', 'r1')] },
        { type: 'not', field: { type: 'range', column: 'amount', matchValueType: 'LONG', lower: 5 } },
      ],
    },
    keeps: ({ tenant, region, amount }) => (tenant === 'north' && region === 'r1') || amount < 5,
  },
  {
    name: 'expression',
    rowFilter: { type: 'expression', expression: "amount % 3 == 1 && tenant != 'east'" },
    keeps: ({ amount, tenant }) => amount % 3 === 1 && tenant !== 'east',
  },
  { name: 'like', rowFilter: { type: 'like', dimension: 'city', pattern: 'south-%' }, keeps: ({ city }) => city.startsWith('south-') },
  { name: 'nothing', rowFilter: { type: 'false' }, keeps: () => false },
  {
    name: 'one day',
    rowFilter: { type: 'interval', dimension: '__time', intervals: ['2024-01-02/2024-01-03'] },
    keeps: ({ t }) => t >= START + 24 * HOUR_MS && t < START + 48 * HOUR_MS,
  },
];

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

const DAY = '2024-01-01/2024-01-05';
const COUNT = { type: 'count', name: 'n' };

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

const ROWS = rowsOf(11);
const house = await openSecuredHouse(31_400);

/** The cases above, then combinations of two of them, whose filters are never unknown. */
function casesOf(count: number): readonly Case[] {
  const random = randomOf(97);
  const known = CASES.filter(({ name }) => name !== 'nothing' && name !== 'and, or, not');
  const drawn = Array.from({ length: Math.max(0, count - CASES.length) }, (_, index): Case => {
    const [a, b] = [known[random(known.length)], known[random(known.length)]] as [Case, Case];
    const fields = [a.rowFilter, b.rowFilter];
    const name = `drawn ${index}`;
    if (random(2) === 0) return { name, rowFilter: { type: 'and', fields }, keeps: (row) => a.keeps(row) && b.keeps(row) };
    return {
      name,
      rowFilter: { type: 'or', fields: [a.rowFilter, { type: 'not', field: b.rowFilter }] },
      keeps: (row) => a.keeps(row) || !b.keeps(row),
    };
  });
  return [...CASES, ...drawn].slice(0, count);
}

const CASES_RUN = casesOf(caseCount(6));
const policies = suite('row and column policies');

policies.before(async () => {
  await Promise.all([house.load('whole', ROWS), house.load('hidden', ROWS), ...CASES_RUN.map((each, index) => loadCopy(index, each))]);
});
policies.after(() => house.close());

async function loadCopy(index: number, { keeps }: Case): Promise<void> {
  const kept = ROWS.filter(keeps);
  if (kept.length > 0) await house.load(`copy${index}`, kept);
}

function readerOf(policy: Policy): Caller {
  return userWith('reader', [permission('READ', 'DATASOURCE', 'hidden', policy), permission('READ', 'DATASOURCE', 'whole|copy.*')]);
}

async function answers(caller: Caller, path: string, body: object): Promise<{ readonly status: number; readonly body: string }> {
  const { status, body: text } = await house.ask(caller, 'POST', path, body);
  return { status, body: text };
}

const over = (statement: string, table: string) => statement.replaceAll(/\bT\b/g, table).replaceAll(/\bU\b/g, 'whole');

let compared = 0;
CASES_RUN.forEach((each, index) => {
  const { name, rowFilter, keeps } = each;
  const isEmpty = !ROWS.some(keeps);
  const copy = `copy${index}`;

  policies(`${name}: SQL`, async () => {
    const reader = readerOf({ rowFilter, columns: null });
    for (const statement of STATEMENTS) {
      if (isEmpty) continue;
      const expected = await answers(reader, '/svc/v2/sql', { query: over(statement, copy) });
      // The answer to everybody else is known by then, and then the reader's own.
      await answers(readerOf({ rowFilter: null, columns: null }), '/svc/v2/sql', { query: over(statement, 'hidden') });
      for (const _ of ['cold', 'warm', 'known'])
        assert.equal(await answers(reader, '/svc/v2/sql', { query: over(statement, 'hidden') }), expected, statement);
      assert.is(expected.status, 200, `${statement} ${expected.body}`);
      compared++;
    }
  });

  policies(`${name}: native queries`, async () => {
    const reader = readerOf({ rowFilter, columns: null });
    for (const query of NATIVE)
      for (const wrapped of WRAPPED) {
        if (isEmpty) continue;
        const expected = await answers(reader, '/svc/v2', { ...query, dataSource: wrapped(copy) });
        const found = await answers(reader, '/svc/v2', { ...query, dataSource: wrapped('hidden') });
        const [a, b] = [expected, found].map(({ status, body }) => [status, withoutSegments(body)]);
        assert.equal(b, a, JSON.stringify({ ...query, dataSource: wrapped('hidden') }));
        compared++;
      }
  });
});

/** Ids of segments name their datasource; rows of a filtered table name none. */
function withoutSegments(body: string): string {
  return body.replaceAll(/"segmentId":(null|"[^"]*")/g, '"segmentId":null').replaceAll(/hidden|copy\d+/g, 'T');
}

policies('queries that read descriptions of segments are refused', async () => {
  const reader = readerOf({ rowFilter: equals('tenant', 'north'), columns: null });
  for (const query of [
    { queryType: 'segmentMetadata', dataSource: 'hidden', intervals: [DAY] },
    { queryType: 'dataSourceMetadata', dataSource: 'hidden' },
    {
      queryType: 'timeseries',
      dataSource: 'hidden',
      granularity: 'all',
      intervals: [DAY],
      aggregations: [COUNT],
      context: { bySegment: true },
    },
  ]) {
    const { status, body } = await answers(reader, '/svc/v2', query);
    assert.ok(status >= 400 && status < 502 && !body.includes('south'), `${query.queryType}: ${status} ${body}`);
  }
});

policies('hidden columns are not found in SQL, and refused in native queries', async () => {
  const reader = readerOf({ rowFilter: equals('tenant', 'north'), columns: ['city', 'amount'] });
  const star = JSON.parse((await answers(reader, '/svc/v2/sql', { query: 'SELECT * FROM hidden LIMIT 1' })).body);
  assert.equal(Object.keys(star[0]).sort(), ['__time', 'amount', 'city']);
  const columns = await answers(reader, '/svc/v2/sql', {
    query: "SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'hidden' ORDER BY 1",
  });
  assert.equal(
    JSON.parse(columns.body).map((row: { COLUMN_NAME: string }) => row.COLUMN_NAME),
    ['__time', 'amount', 'city'],
  );
  // The policy reads a column that its reader does not see.
  const { body } = await answers(reader, '/svc/v2/sql', { query: 'SELECT COUNT(*) AS n FROM hidden' });
  assert.is(JSON.parse(body)[0].n, ROWS.filter(({ tenant }) => tenant === 'north').length);
  for (const query of [
    'SELECT tenant FROM hidden',
    'SELECT COUNT(*) FROM hidden WHERE price > 1',
    'SELECT 1 FROM whole AS w JOIN hidden AS h ON w.tenant = h.tenant',
  ])
    assert.is((await answers(reader, '/svc/v2/sql', { query })).status, 400, query);
  const common = { dataSource: 'hidden', intervals: [DAY], granularity: 'all', aggregations: [COUNT] };
  const JOINED = { type: 'join', left: 'whole', right: 'hidden', rightPrefix: 'j.', condition: 'city == "j.city"', joinType: 'INNER' };
  for (const query of [
    { queryType: 'groupBy', ...common, dimensions: ['tenant'] },
    { queryType: 'scan', dataSource: 'hidden', intervals: [DAY], columns: ['tenant'] },
    { queryType: 'timeseries', ...common, filter: { type: 'selector', dimension: 'tenant', value: 'south' } },
    { queryType: 'timeseries', ...common, aggregations: [{ type: 'doubleSum', name: 's', fieldName: 'price' }] },
    { queryType: 'timeseries', ...common, aggregations: [{ type: 'longSum', name: 's', expression: 'price * 2' }] },
    {
      queryType: 'timeseries',
      ...common,
      virtualColumns: [{ type: 'expression', name: 'v', expression: 'upper(tenant)', outputType: 'STRING' }],
    },
    { queryType: 'search', ...common, query: { type: 'contains', value: 'o' }, searchDimensions: ['tenant'] },
    {
      queryType: 'groupBy',
      ...common,
      dimensions: [{ type: 'extraction', dimension: 'tenant', outputName: 'x', extractionFn: { type: 'upper' } }],
    },
    { queryType: 'groupBy', ...common, dataSource: JOINED, dimensions: ['j.tenant'] },
  ])
    assert.is((await answers(reader, '/svc/v2', query)).status, 403, JSON.stringify(query));
  const searched = await answers(reader, '/svc/v2', { queryType: 'search', ...common, query: { type: 'contains', value: 'north' } });
  assert.ok(searched.status === 200 && !searched.body.includes('"tenant"'), searched.body);
});

policies('EXPLAIN shows the policy', async () => {
  const reader = readerOf({ rowFilter: equals('tenant', 'north'), columns: null });
  const { body } = await answers(reader, '/svc/v2/sql', { query: 'EXPLAIN PLAN FOR SELECT city, COUNT(*) FROM hidden GROUP BY 1' });
  assert.match(body, /tenant[^}]*north/);
});

/** Statements and queries that read other numbers of hidden rows, segments and words of dictionaries, and show none. */
const TELLING: readonly (readonly [path: string, body: (city: string) => object])[] = [
  ['/svc/v2/sql', (city) => ({ query: `SELECT city FROM hidden WHERE tenant = 'south' AND city LIKE '${city}%'` })],
  [
    '/svc/v2',
    (city) => ({
      queryType: 'scan',
      dataSource: 'hidden',
      intervals: [DAY],
      filter: { type: 'like', dimension: 'city', pattern: `${city}%` },
    }),
  ],
];
for (const [path, body] of TELLING)
  policies(`the profile of an answer of ${path} tells nothing of hidden rows`, async () => {
    const reader = readerOf({ rowFilter: equals('tenant', 'no such tenant'), columns: null });
    for (const city of ['', 'no such city'])
      for (const profile of [false, true]) {
        const { status, headers } = await house.ask(reader, 'POST', path, {
          ...body(city),
          context: { profile, queryId: 'telling', sqlQueryId: 'telling' },
        });
        assert.is(status, 200);
        const shown = profile ? JSON.parse(headers['X-Svc-Profile'] ?? '') : headers['X-Svc-Profile'];
        if (profile) assert.equal([shown.stages, shown.kernels, shown.segments], [[], [], undefined]);
        else assert.match(shown, /^milliseconds=[\d.]+$/);
        const kept = JSON.parse((await house.ask(reader, 'GET', '/svc/v2/profile/telling')).body);
        assert.equal([kept.stages, kept.kernels, kept.segments], [[], [], undefined]);
      }
  });

policies('a long statement, which is planned on a thread, keeps to the policy as well', async () => {
  const reader = readerOf({ rowFilter: equals('tenant', 'north'), columns: ['city'] });
  const long = ` -- ${'x'.repeat(5000)}`;
  const { status, body } = await answers(reader, '/svc/v2/sql', { query: `SELECT COUNT(*) AS n FROM hidden${long}` });
  assert.is(status, 200, body);
  assert.is(JSON.parse(body)[0].n, ROWS.filter(({ tenant }) => tenant === 'north').length);
  const none = userWith('none', [permission('READ', 'DATASOURCE', 'whole')]);
  assert.is((await answers(none, '/svc/v2/sql', { query: `SELECT COUNT(*) AS n FROM hidden${long}` })).status, 403);
  const native = {
    queryType: 'timeseries',
    dataSource: 'hidden',
    granularity: 'all',
    intervals: [DAY],
    aggregations: [COUNT],
    context: { note: 'x'.repeat(5000) },
  };
  assert.equal(
    JSON.parse(
      (
        await answers(reader, '/svc/v2', {
          ...native,
          context: {},
          filter: { type: 'in', dimension: 'city', values: Array.from({ length: 800 }, (_, n) => `north-${n}`) },
        })
      ).body,
    )[0]?.result.n,
    ROWS.filter(({ tenant }) => tenant === 'north').length,
  );
  const wide = {
    ...native,
    context: {},
    filter: { type: 'in', dimension: 'city', values: Array.from({ length: 800 }, (_, n) => `north-${n}`) },
  };
  assert.is((await answers(none, '/svc/v2', wide)).status, 403);
});

interface Run {
  readonly id: string;
  readonly rows: readonly object[];
}

/** Runs a statement as a task, and gives its results. */
async function runStatement(caller: Caller, query: string, context: object): Promise<Run> {
  const sent = await answers(caller, '/svc/v2/sql/statements', { query, context: { executionMode: 'ASYNC', ...context } });
  assert.is(sent.status, 200, sent.body);
  const { queryId: id } = JSON.parse(sent.body);
  for (;;) {
    const { body } = await house.ask(caller, 'GET', `/svc/v2/sql/statements/${id}`);
    const { state } = JSON.parse(body);
    if (state === 'SUCCESS') break;
    assert.is.not(state, 'FAILED', body);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { body } = await house.ask(caller, 'GET', `/svc/v2/sql/statements/${id}/results`);
  return { id, rows: body === '' ? [] : JSON.parse(body) };
}

const north = readerOf({ rowFilter: equals('tenant', 'north'), columns: ['city', 'amount'] });
const STAGED = [
  'SELECT city, SUM(amount) AS s FROM hidden GROUP BY 1 ORDER BY 1',
  'SELECT city, amount FROM hidden ORDER BY city, amount',
  'SELECT w.city, COUNT(*) AS n FROM whole AS w JOIN hidden AS h ON w.city = h.city GROUP BY 1 ORDER BY 1',
  'SELECT COUNT(*) AS n FROM (SELECT DISTINCT city FROM hidden) AS d',
];
for (const query of STAGED)
  for (const context of [{}, { maxNumTasks: 3 }])
    policies(`a statement that runs as tasks ${JSON.stringify(context)} keeps to the policy: ${query}`, async () => {
      const { id, rows } = await runStatement(north, query, context);
      // The same over the rows of that tenant, whose copy has its other columns as well.
      const expected = await answers(north, '/svc/v2/sql', { query: query.replaceAll('hidden', 'copy0') });
      assert.equal(rows, JSON.parse(expected.body));
      // Nobody else's.
      const other = userWith('other', [permission('READ', 'DATASOURCE', '.*')]);
      for (const path of ['', '/results']) assert.is((await house.ask(other, 'GET', `/svc/v2/sql/statements/${id}${path}`)).status, 403);
      assert.is((await house.ask(other, 'GET', `/svc/indexer/v1/task/${id}/reports`)).status, 403);
      const { schema } = JSON.parse((await house.ask(north, 'GET', `/svc/indexer/v1/task/${id}`)).body).payload.spec;
      assert.equal([Object.keys(schema.tables).filter((name) => name !== 'whole'), schema.policies], [[], {}]);
    });

policies('INSERT stores nothing that the policy hides, with one worker or several', async () => {
  const writer = userWith('writer', [
    permission('READ', 'DATASOURCE', 'hidden', { rowFilter: equals('tenant', 'north'), columns: ['city', 'amount'] }),
    permission('READ', 'DATASOURCE', 'mine.*'),
    permission('WRITE', 'DATASOURCE', 'mine.*'),
  ]);
  const kept = ROWS.filter(({ tenant }) => tenant === 'north').length;
  for (const maxNumTasks of [2, 4]) {
    const query = `REPLACE INTO mine${maxNumTasks} OVERWRITE ALL SELECT * FROM hidden PARTITIONED BY DAY`;
    await runStatement(writer, query, { maxNumTasks });
    for (;;) {
      const { status, body } = await answers(writer, '/svc/v2/sql', { query: `SELECT * FROM mine${maxNumTasks}` });
      const rows = status === 200 ? JSON.parse(body) : [];
      if (rows.length > 0) {
        assert.is(rows.length, kept);
        assert.equal(Object.keys(rows[0]).sort(), ['__time', 'amount', 'city']);
        assert.ok(rows.every(({ city }: { city: string }) => city.startsWith('north-')));
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
});

policies('enough was compared', () => {
  const cases = CASES_RUN.filter(({ keeps }) => ROWS.some(keeps)).length;
  assert.is(compared, cases * (STATEMENTS.length + NATIVE.length * WRAPPED.length));
  assert.ok(compared >= Math.min(500, CASES_RUN.length * 90), `${compared} comparisons`);
});

policies.run();

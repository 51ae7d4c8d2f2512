import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER, type Caller } from '../../../src/model/access/authorizer.js';
import { CASES, COUNT, casesOf, DAY, equals, leftBy, ROWS, readerOf } from './policy-cases.js';
import { openSecuredHouse, permission, securityFlags, userWith } from './secured-house.js';
import { runStatement } from './statement-run.js';

/** The limits of what a reader under a policy is told beside rows: columns, descriptions, figures, plans, tasks. */
const house = await openSecuredHouse(12_600, securityFlags());
const policies = suite('what policies hide beside rows');

policies.before(async () => {
  await Promise.all([
    house.load('whole', ROWS),
    house.load('hidden', ROWS),
    house.load('copy0', leftBy(CASES[0] as (typeof CASES)[number])),
  ]);
});
policies.after(() => house.close());

async function answers(caller: Caller, path: string, body: object): Promise<{ readonly status: number; readonly body: string }> {
  const { status, body: text } = await house.ask(caller, 'POST', path, body);
  return { status, body: text };
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

policies('a policy is kept if its filter can be read, over whatever table', async () => {
  const role = '/svc-ext/basic-security/authorization/db/basic/roles/reader';
  const admin = (path: string, body?: object) => house.ask(ALLOW_ALL_CALLER, 'POST', path, body);
  assert.is((await admin(role)).status, 200);
  const permissionsOf = (policy: object) => [{ resource: { type: 'DATASOURCE', name: 'hidden' }, action: 'READ', policy }];
  for (const { rowFilter } of casesOf(60)) {
    const { status, body } = await admin(`${role}/permissions`, permissionsOf({ type: 'row', rowFilter }));
    assert.is(status, 200, `${JSON.stringify(rowFilter)} ${body}`);
  }
  for (const rowFilter of [
    { type: 'planet' },
    { ...equals('tenant', 'north'), __proto: 1 },
    { type: 'javascript', dimension: 'a', function: 'x' },
    {},
  ])
    assert.ok((await admin(`${role}/permissions`, permissionsOf({ type: 'row', rowFilter }))).status >= 400, JSON.stringify(rowFilter));
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
      const { id, rows } = await runStatement(house, north, query, context);
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
    await runStatement(house, writer, query, { maxNumTasks });
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
policies.run();

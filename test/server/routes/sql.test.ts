import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { ETERNITY } from '../../../src/base/instant.js';
import type { BrokerQueries, QueryOptions } from '../../../src/cluster/broker/contract.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Frame } from '../../../src/model/frame.js';
import type { HttpRequest, HttpResponse } from '../../../src/server/http.types.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { QueryLog } from '../../../src/server/queries/query-log.js';
import { SqlStatements } from '../../../src/server/queries/sql-statements.js';
import { sqlRoutes } from '../../../src/server/routes/sql.js';
import { unlimited } from '../../cluster/fakes.js';

interface Seen {
  readonly options: QueryOptions[];
  readonly tasks: unknown[];
}

const TABLE = {
  name: 'wiki',
  columns: [
    { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
    { name: 'page', type: 'STRING', multiValue: false, hasNulls: true },
  ],
  mixed: new Set<string>(),
  rowCount: 1,
  interval: ETERNITY,
} as const;
const PAGES: Frame = { rowCount: 2, columns: [{ kind: 'string', name: 'page', ids: Uint32Array.of(0, 1), dictionary: ['Main', null] }] };

/** A broker that gives two pages to every query and knows one running query. */
function brokerOf(seen: Seen): BrokerQueries {
  const answer = async function* (options: QueryOptions): AsyncGenerator<Frame, void, undefined> {
    seen.options.push(options);
    options.coverage?.note(undefined, [{ start: 0, end: 86_400_000 }]);
    yield PAGES;
  };
  return {
    tables: () => ['wiki'],
    table: (name) => (name === 'wiki' ? TABLE : undefined),
    run: (_plan, options) => answer(options),
    runOver: (_plan, _source, options) => answer(options),
    knownResult: () => undefined,
    bySegment: async function* () {},
    analyze: async () => [],
    candidates: () => [],
    cancel: (queryId) => queryId === 'running',
  };
}

async function call(
  method: string,
  path: string,
  body: unknown,
  more: Partial<HttpRequest> = {},
): Promise<{ response: HttpResponse; text: string; seen: Seen }> {
  const seen: Seen = { options: [], tasks: [] };
  const overlord = {
    submit: async (document: string) => {
      seen.tasks.push(JSON.parse(document));
      return { taskId: 'query-made' };
    },
    task: async () => null,
    liveReport: async () => null,
    shutdownTask: async () => undefined,
  };
  const planThread = new PlanThread(100);
  const statements = new SqlStatements(brokerOf(seen), {
    planThread,
    plansBytesMax: 2 ** 20,
    now: () => 1_000_000,
    newQueryId: () => 'made',
    log: new QueryLog({ kept: 10, now: () => 0 }),
    scheduler: unlimited(),
    lookups: () => [],
    systemRows: async () => [],
    defaultTimeoutMs: 300_000,
    maxTimeoutMs: 500_000,
  });
  const routes = sqlRoutes(statements, { overlord: () => overlord, results: null, bodiesBytesMax: 2 ** 20 });
  const parameters = path.startsWith('/svc/v2/sql/') && method === 'DELETE' ? { sqlQueryId: path.slice('/svc/v2/sql/'.length) } : {};
  const route = routes.find(
    (each) => each.method === method && (each.path === path || (method === 'DELETE' && each.path === '/svc/v2/sql/{sqlQueryId}')),
  );
  if (route === undefined) throw new Error(`no route ${method} ${path}`);
  const request: HttpRequest = {
    method,
    path,
    rawUrl: path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    viaAlias: false,
    caller: ALLOW_ALL_CALLER,
    ...more,
  };
  const response = await route.handle(request, parameters);
  let text = '';
  if (typeof response.body === 'string') text = response.body;
  else if (response.body !== undefined && !(response.body instanceof Uint8Array))
    for await (const chunk of response.body) text += Buffer.from(chunk).toString();
  return { response, text, seen };
}

async function refusal(method: string, path: string, body: unknown, more: Partial<HttpRequest> = {}): Promise<ServiceError> {
  try {
    await call(method, path, body, more);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was answered');
}

const routes = suite('SQL routes');

routes('a SELECT that asks for them is answered with the intervals without segments', async () => {
  const header = async (context: Readonly<Record<string, unknown>>): Promise<string | undefined> =>
    (await call('POST', '/svc/v2/sql', { query: 'SELECT page FROM wiki', context })).response.lateHeaders?.()['X-Svc-Response-Context'];
  assert.is(
    await header({ uncoveredIntervalsLimit: 2 }),
    '{"uncoveredIntervals":["1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z"],"uncoveredIntervalsOverflowed":false}',
  );
  assert.is(await header({ uncoveredIntervalsLimit: 0 }), undefined);
  assert.is((await refusal('POST', '/svc/v2/sql', { query: 'SELECT 1', context: { uncoveredIntervalsLimit: -1 } })).code, 'query_invalid');
});

routes('a SELECT streams its rows with both headers', async () => {
  const { response, text, seen } = await call('POST', '/svc/v2/sql', {
    query: 'SELECT page FROM wiki',
    header: true,
    context: { sqlQueryId: 'mine', priority: 7, timeout: 100_000 },
  });
  assert.is(response.status, 200);
  assert.equal(response.headers, { 'Content-Type': 'application/json', 'X-Svc-SQL-Query-Id': 'mine', 'X-Svc-SQL-Header-Included': 'yes' });
  assert.is(text, '[{"page":null},{"page":"Main"},{"page":null}]\n');
  const [options] = seen.options;
  assert.is(options?.queryId, 'mine');
  assert.is(options?.priority, 7);
  assert.is(options?.deadlineMs, 1_100_000);
});

routes('an id and a deadline are made where none is given', async () => {
  const { response, seen } = await call('POST', '/svc/v2/sql', { query: 'SELECT page FROM wiki', resultFormat: 'csv' });
  assert.equal(response.headers, { 'Content-Type': 'text/csv', 'X-Svc-SQL-Query-Id': 'made' });
  assert.is(seen.options[0]?.deadlineMs, 1_300_000);
});

routes('the statement may be the whole body, as text', async () => {
  const { text } = await call('POST', '/svc/v2/sql', 'SELECT page FROM wiki', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  assert.is(text, '[{"page":"Main"},{"page":null}]\n');
});

routes('EXPLAIN gives plan, resources and attributes', async () => {
  const { text } = await call('POST', '/svc/v2/sql', { query: 'EXPLAIN PLAN FOR SELECT page FROM wiki' });
  const [row] = JSON.parse(text) as [Record<string, string>];
  assert.equal(Object.keys(row), ['PLAN', 'RESOURCES', 'ATTRIBUTES']);
  assert.equal(JSON.parse(row['RESOURCES'] ?? ''), [{ name: 'wiki', type: 'DATASOURCE' }]);
  assert.equal(JSON.parse(row['ATTRIBUTES'] ?? ''), { statementType: 'SELECT' });
  assert.equal(JSON.parse(row['PLAN'] ?? ''), [
    {
      query: {
        queryType: 'scan',
        dataSource: { type: 'table', name: 'wiki' },
        intervals: { type: 'intervals', intervals: ['-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z'] },
        resultFormat: 'compactedList',
        columns: ['page'],
      },
      signature: [{ name: 'page', type: 'STRING' }],
      columnMappings: [{ queryColumn: 'page', outputColumn: 'page' }],
    },
  ]);
});

routes('EXPLAIN gives the text of the plan on demand', async () => {
  const context = { useNativeQueryExplain: false };
  const { text } = await call('POST', '/svc/v2/sql', { query: 'EXPLAIN PLAN FOR SELECT page FROM wiki LIMIT 3', context });
  const [row] = JSON.parse(text) as [Record<string, string>];
  assert.match(row['PLAN'] ?? '', /^scan wiki over .*\ncolumns page\nrows 0 to 3$/);
});

routes('EXPLAIN of REPLACE is answered on both paths and starts nothing', async () => {
  const query =
    "EXPLAIN PLAN FOR REPLACE INTO w OVERWRITE WHERE __time >= TIMESTAMP '2024-01-01' AND __time < TIMESTAMP '2024-01-03' " +
    'SELECT TIME_PARSE(ts) AS __time, a FROM TABLE(EXTERN(\'{"type":"inline"}\', \'{"type":"json"}\')) (ts VARCHAR, a BIGINT) PARTITIONED BY DAY CLUSTERED BY a';
  for (const path of ['/svc/v2/sql', '/svc/v2/sql/task']) {
    const { text, seen } = await call('POST', path, { query });
    assert.equal(seen.tasks, []);
    const [row] = JSON.parse(text) as [Record<string, string>];
    assert.equal(JSON.parse(row['RESOURCES'] ?? ''), [
      { name: 'EXTERNAL', type: 'EXTERNAL' },
      { name: 'w', type: 'DATASOURCE' },
    ]);
    assert.equal(JSON.parse(row['ATTRIBUTES'] ?? ''), {
      statementType: 'REPLACE',
      targetDataSource: 'w',
      partitionedBy: 'DAY',
      clusteredBy: ['a'],
      replaceTimeChunks: '2024-01-01T00:00:00.000Z/2024-01-03T00:00:00.000Z',
    });
    const [{ query: native, columnMappings }] = JSON.parse(row['PLAN'] ?? '') as [Record<string, unknown>];
    assert.equal((native as { dataSource: unknown }).dataSource, {
      type: 'external',
      inputSource: { type: 'inline' },
      inputFormat: { type: 'json' },
      signature: [
        { name: 'ts', type: 'STRING' },
        { name: 'a', type: 'LONG' },
      ],
    });
    assert.equal(columnMappings, [
      { queryColumn: 'v0', outputColumn: '__time' },
      { queryColumn: 'a', outputColumn: 'a' },
    ]);
  }
});

routes('REPLACE becomes a task', async () => {
  const query =
    "REPLACE INTO w OVERWRITE ALL SELECT TIME_PARSE(ts) AS __time FROM TABLE(EXTERN('{}', '{}')) (ts VARCHAR) PARTITIONED BY DAY";
  const { text, seen } = await call('POST', '/svc/v2/sql/task', { query, context: { maxNumTasks: 2 } });
  assert.equal(JSON.parse(text), { taskId: 'query-made', state: 'RUNNING' });
  assert.equal(seen.tasks, [
    { type: 'query_controller', id: 'query-made', dataSource: 'w', spec: { query, context: { maxNumTasks: 2 }, parameters: [] } },
  ]);
});

routes('a task over datasources takes along what they look like', async () => {
  const columns = [
    { name: 'page', sqlType: 'VARCHAR', nativeType: 'STRING' },
    { name: 'rows', sqlType: 'BIGINT', nativeType: 'LONG' },
  ];
  for (const { query, dataSource, more } of [
    { query: 'INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY DAY', dataSource: 'w', more: {} },
    { query: 'SELECT page, COUNT(*) AS "rows" FROM wiki GROUP BY page', dataSource: '__query_select', more: { columns } },
  ]) {
    const { seen } = await call('POST', '/svc/v2/sql/task', { query: `SET maxNumTasks = 3; ${query}` });
    const schema = { tables: { wiki: TABLE.columns }, lookups: [] };
    const spec = { query: `                     ${query}`, context: { maxNumTasks: 3 }, parameters: [], schema, ...more };
    assert.equal(seen.tasks, [{ type: 'query_controller', id: 'query-made', dataSource, spec }]);
  }
});

routes('cancelling answers 202 for what runs and not_found for the rest', async () => {
  assert.is((await call('DELETE', '/svc/v2/sql/running', '')).response.status, 202);
  assert.is((await refusal('DELETE', '/svc/v2/sql/gone', '')).code, 'not_found');
});

routes('a misspelt context key is reported, not refused', async () => {
  const { response } = await call('POST', '/svc/v2/sql', { query: 'SELECT page FROM wiki', context: { sqlTimeZon: 'UTC', myKey: 1 } });
  assert.match(response.headers?.['X-Svc-Warning'] ?? '', /sqlTimeZon.*sqlTimeZone/);
});

routes('under the alias unknown keys are accepted and named', async () => {
  const { response } = await call('POST', '/svc/v2/sql', { query: 'SELECT page FROM wiki', resultFromat: 'csv' }, { viaAlias: true });
  assert.match(response.headers?.['X-Svc-Warning'] ?? '', /resultFromat/);
});

const REFUSED: readonly {
  readonly name: string;
  readonly path?: string;
  readonly body: unknown;
  readonly code: string;
  readonly says: RegExp;
  readonly contentType?: string;
}[] = [
  { name: 'malformed JSON', body: '{"query": ', code: 'query_invalid', says: /not valid JSON/ },
  { name: 'no query', body: {}, code: 'query_invalid', says: /query: expected a string/ },
  { name: 'a query that is no text', body: { query: 7 }, code: 'query_invalid', says: /query: expected a string, found 7/ },
  { name: 'an unknown key', body: { query: 'SELECT 1', resultFromat: 'csv' }, code: 'query_invalid', says: /resultFromat.*resultFormat/ },
  {
    name: 'an unknown format',
    body: { query: 'SELECT 1', resultFormat: 'xml' },
    code: 'query_invalid',
    says: /resultFormat: expected one of object, array/,
  },
  { name: 'types without a header', body: { query: 'SELECT 1', typesHeader: true }, code: 'query_invalid', says: /typesHeader/ },
  {
    name: 'another content type',
    body: 'a=1',
    contentType: 'application/xml',
    code: 'content_type_unsupported',
    says: /application\/xml/,
  },
  {
    name: 'INSERT on the query path',
    body: { query: 'INSERT INTO w VALUES (1) PARTITIONED BY ALL' },
    code: 'sql_plan_invalid',
    says: /has no name/,
  },
  {
    name: 'REPLACE on the query path',
    body: { query: 'REPLACE INTO w OVERWRITE ALL SELECT 1 AS a PARTITIONED BY ALL' },
    code: 'unsupported',
    says: /\/svc\/v2\/sql\/task/,
  },
  {
    name: 'a task over a table of sys',
    path: '/svc/v2/sql/task',
    body: { query: 'SELECT * FROM sys.segments' },
    code: 'unsupported',
    says: /column 15: the table sys\.segments in a task/,
  },
  {
    name: 'a task that does not parse',
    path: '/svc/v2/sql/task',
    body: { query: 'REPLACE INTO nothing' },
    code: 'sql_invalid',
    says: /OVERWRITE/,
  },
  {
    name: 'EXTERN outside of a task',
    body: { query: "SELECT * FROM TABLE(EXTERN('{}', '{}')) (a VARCHAR)" },
    code: 'unsupported',
    says: /EXTERN/,
  },
  {
    name: 'a timeout above the limit',
    body: { query: 'SELECT 1', context: { timeout: 600_000 } },
    code: 'query_invalid',
    says: /maxQueryTimeout/,
  },
  {
    name: 'a context key nobody would keep',
    body: { query: 'SELECT 1', context: { bySegment: true } },
    code: 'unsupported',
    says: /bySegment/,
  },
  {
    name: 'a SQL context key nobody would keep',
    body: { query: 'SELECT 1', context: { maxNumericInFilters: 3 } },
    code: 'unsupported',
    says: /maxNumericInFilters/,
  },
];

for (const { name, path = '/svc/v2/sql', body, code, says, contentType = 'application/json' } of REFUSED) {
  routes(`refused: ${name}`, async () => {
    const error = await refusal('POST', path, body, { headers: { 'content-type': contentType } });
    assert.is(error.code, code, error.message);
    assert.match(error.message, says);
  });
}
routes.run();

import { setTimeout as wait } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER, type Caller } from '../../../src/model/access/authorizer.js';
import { caseCount } from '../../case-count.js';
import { openSecuredHouse, permission, userWith } from './secured-house.js';

/**
 * Two tenants of one cluster, each with rights to its own datasources. One of them works; the other asks for whatever there is. No answer
 * may hold a word of the first that was not in the question.
 */

/** Words of the tenant that works, by where they stand. */
const WORDS = {
  dataSource: 'b_zebra',
  column: 'quagga',
  value: 'okapi',
  literal: 'tapir',
  queryId: 'numbat',
  alias: 'kudu',
  written: 'b_gnu',
};

const START = Date.UTC(2024, 0, 1);
const rowsOf = (column: string, value: string) =>
  Array.from({ length: 20 }, (_, n) => ({ t: START + n * 1000, [column]: `${value}${n % 3}`, n }));

const house = await openSecuredHouse(10_200, [
  'svc.broker.cache.useResultLevelCache=true',
  'svc.broker.cache.populateResultLevelCache=true',
]);
const rightsTo = (pattern: string) => [
  permission('READ', 'DATASOURCE', pattern),
  permission('WRITE', 'DATASOURCE', pattern),
  permission('READ', 'EXTERNAL', 'EXTERNAL'),
  permission('WRITE', 'EXTERNAL', 'EXTERNAL'),
];
const worker = userWith('worker', rightsTo('b_.*'));
const prober = userWith('prober', rightsTo('a_.*'));
const ids: { tasks: string[]; statements: string[] } = { tasks: [], statements: [] };
const tenants = suite('tenants');

async function post(caller: Caller, path: string, body: object): Promise<string> {
  const { status, body: text } = await house.ask(caller, 'POST', path, body);
  assert.is(status, 200, `${path} ${text}`);
  return text;
}

const WORK = [
  `SELECT ${WORDS.column}, COUNT(*) AS ${WORDS.alias} FROM ${WORDS.dataSource} WHERE ${WORDS.column} <> '${WORDS.literal}' GROUP BY 1 ORDER BY 1`,
  `SELECT COUNT(*) AS c FROM ${WORDS.dataSource}`,
  'SELECT COUNT(*) AS c FROM INFORMATION_SCHEMA.COLUMNS',
  'SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES ORDER BY 1',
  'SELECT datasource, COUNT(*) AS c FROM sys.segments GROUP BY 1',
  'SELECT * FROM sys.tasks',
  'SELECT * FROM sys.queries',
];

tenants.before(async () => {
  ids.tasks.push(await house.load(WORDS.dataSource, rowsOf(WORDS.column, WORDS.value)));
  await house.load('a_horse', rowsOf('coat', 'bay'));
  // Everything is asked several times, so that plans, bodies and results are kept.
  for (let turn = 0; turn < 3; turn++)
    for (const [at, query] of WORK.entries())
      await post(worker, '/svc/v2/sql', { query, ...(turn === 2 ? { context: { sqlQueryId: `${WORDS.queryId}${at}` } } : {}) });
  const statement = { query: WORK[0], context: { executionMode: 'ASYNC' } };
  const { queryId } = JSON.parse(await post(worker, '/svc/v2/sql/statements', statement));
  ids.statements.push(queryId);
  ids.tasks.push(queryId);
  const replace = `REPLACE INTO ${WORDS.written} OVERWRITE ALL SELECT * FROM ${WORDS.dataSource} PARTITIONED BY ALL`;
  ids.tasks.push(JSON.parse(await post(worker, '/svc/v2/sql/task', { query: replace })).taskId);
  for (const id of ids.tasks)
    for (;;) {
      const { status, body } = await house.ask(worker, 'GET', `/svc/indexer/v1/task/${id}/status`);
      assert.is(status, 200, body);
      const { statusCode, errorMsg } = JSON.parse(body).status;
      if (statusCode === 'SUCCESS') break;
      assert.is(statusCode, 'RUNNING', errorMsg);
      await wait(50);
    }
});
tenants.after(() => house.close());

interface Probe {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const TABLES = () => [
  WORDS.dataSource,
  WORDS.written,
  'b_zebr',
  `"${WORDS.dataSource}"`,
  `druid.${WORDS.dataSource}`,
  `svc.${WORDS.dataSource}`,
];
const FORMS: readonly ((table: string) => string)[] = [
  (table) => `SELECT * FROM ${table}`,
  (table) => `SELECT COUNT(*) AS c FROM ${table}`,
  (table) => `EXPLAIN PLAN FOR SELECT * FROM ${table}`,
  (table) => `SELECT quag FROM ${table}`,
  (table) => `SELECT a.* FROM a_horse AS a JOIN ${table} AS b ON a.n = b.n`,
  (table) => `SELECT n FROM a_horse WHERE n IN (SELECT n FROM ${table})`,
  (table) => `SELECT n FROM a_horse UNION ALL SELECT n FROM ${table}`,
  (table) => `WITH w AS (SELECT * FROM ${table}) SELECT * FROM w`,
  (table) => `SELECT (SELECT MAX(n) FROM ${table}) AS m`,
  (table) => `SELECT n, SUM(n) OVER (ORDER BY n) AS s FROM ${table}`,
  (table) => `SELECT COUNT(*) FROM TABLE(APPEND('a_horse', '${table.replaceAll('"', '')}'))`,
  (table) => `SELECT * FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '${table.replaceAll('"', '')}'`,
  (table) => `SELECT * FROM sys.segments WHERE datasource = '${table.replaceAll('"', '')}'`,
  (table) => `INSERT INTO a_copy SELECT * FROM ${table} PARTITIONED BY ALL`,
  (table) => `REPLACE INTO ${table} OVERWRITE ALL SELECT * FROM a_horse PARTITIONED BY ALL`,
  (table) => `SELECT * FROM ${table} -- ${'x'.repeat(5000)}`,
];
const OPEN_STATEMENTS = [
  'SELECT * FROM INFORMATION_SCHEMA.TABLES',
  'SELECT * FROM INFORMATION_SCHEMA.COLUMNS',
  'SELECT * FROM INFORMATION_SCHEMA.SCHEMATA',
  ...['segments', 'servers', 'server_segments', 'tasks', 'supervisors', 'server_properties', 'queries'].map(
    (table) => `SELECT * FROM sys.${table}`,
  ),
  'SELECT COUNT(*) AS c FROM sys.segments AS s JOIN sys.tasks AS t ON s.datasource = t.datasource',
  'SELECT * FROM b_zebr',
  'SELECT * FROM zebra',
  'SELECT quag FROM a_horse',
  ...WORK.slice(2),
];
const NATIVE = (dataSource: unknown): readonly object[] => {
  const common = { dataSource, granularity: 'all', intervals: ['2024-01-01/2024-01-02'], aggregations: [{ type: 'count', name: 'c' }] };
  return [
    { queryType: 'timeseries', ...common },
    { queryType: 'scan', dataSource, intervals: common.intervals },
    { queryType: 'groupBy', ...common, dimensions: ['n'] },
    { queryType: 'topN', ...common, dimension: 'n', metric: 'c', threshold: 3 },
    { queryType: 'search', dataSource, granularity: 'all', intervals: common.intervals, query: { type: 'contains', value: 'a' } },
    { queryType: 'segmentMetadata', dataSource, intervals: common.intervals },
    { queryType: 'dataSourceMetadata', dataSource },
    { queryType: 'timeBoundary', dataSource },
  ];
};
const SOURCES = (table: string): readonly unknown[] => [
  table,
  { type: 'table', name: table },
  { type: 'union', dataSources: ['a_horse', table] },
  { type: 'filter', base: table, filter: { type: 'true' } },
  { type: 'query', query: { queryType: 'scan', dataSource: table, intervals: ['2024-01-01/2024-01-02'] } },
  { type: 'join', left: 'a_horse', right: table, rightPrefix: 'r.', condition: '1', joinType: 'INNER' },
  {
    type: 'join',
    left: 'a_horse',
    right: { type: 'query', query: { queryType: 'scan', dataSource: table, intervals: ['2024-01-01/2024-01-02'] } },
    rightPrefix: 'r.',
    condition: '1',
    joinType: 'LEFT',
  },
  { type: 'unnest', base: table, virtualColumn: { type: 'expression', name: 'v', expression: 'n', outputType: 'STRING' } },
];

/** Every question there is, in an order of its own for each run. */
function* probes(): Generator<Probe> {
  const sql = (path: string, query: string, more: object = {}): Probe => ({ method: 'POST', path, body: { query, ...more } });
  for (const query of OPEN_STATEMENTS)
    for (const path of ['/svc/v2/sql', '/svc/v2/sql/task', '/svc/v2/sql/statements'])
      yield sql(path, query, path.endsWith('statements') ? { context: { executionMode: 'ASYNC' } } : {});
  for (const table of TABLES())
    for (const form of FORMS) {
      yield sql('/svc/v2/sql', form(table));
      yield sql('/svc/v2/sql', form(table), { resultFormat: 'csv', header: true });
      yield sql('/svc/v2/sql/task', form(table));
      yield sql('/svc/v2/sql/statements', form(table), { context: { executionMode: 'ASYNC' } });
    }
  for (const table of [WORDS.dataSource, WORDS.written, 'a_horse'])
    for (const source of SOURCES(table))
      for (const query of NATIVE(source)) if (table !== 'a_horse') yield { method: 'POST', path: '/svc/v2', body: query };
  for (const id of [...ids.tasks, ...ids.statements]) {
    for (const part of ['', '/status', '/reports', '/log', '/segments']) yield { method: 'GET', path: `/svc/indexer/v1/task/${id}${part}` };
    yield { method: 'POST', path: `/svc/indexer/v1/task/${id}/shutdown` };
    for (const part of ['', '/results', '/results?page=0', '?detail=true'])
      yield { method: 'GET', path: `/svc/v2/sql/statements/${id}${part}` };
    yield { method: 'DELETE', path: `/svc/v2/sql/statements/${id}` };
  }
  for (let at = 0; at < WORK.length; at++) {
    yield { method: 'GET', path: `/svc/v2/profile/${WORDS.queryId}${at}` };
    yield { method: 'DELETE', path: `/svc/v2/sql/${WORDS.queryId}${at}` };
    yield { method: 'DELETE', path: `/svc/v2/${WORDS.queryId}${at}` };
  }
  for (const [role, routes] of house.routesOf) {
    if (role === 'router') continue;
    for (const { method, path, permission: right } of routes) {
      if (method !== 'GET' || right.access === 'internal') continue;
      for (const name of [WORDS.dataSource, 'a_horse'])
        for (const flags of ['', '?full', '?simple', '?interval=2024-01-01/2025-01-01'])
          yield {
            method,
            path:
              path.replaceAll(/\{[^}]+\}/g, (hole) => (hole === '{dataSource}' ? name : hole === '{taskId}' ? (ids.tasks[0] ?? '') : 'x')) +
              flags,
          };
    }
  }
}

const SECRETS = () => [...Object.values(WORDS), ...ids.tasks];

/** Words of the other tenant in an answer to a question that does not hold them. */
async function told(caller: Caller, { method, path, body }: Probe): Promise<readonly string[]> {
  const question = `${path} ${JSON.stringify(body ?? '')}`;
  const { body: text, headers } = await house.ask(caller, method, path, body);
  const answer = `${text} ${JSON.stringify(headers)}`;
  const words = SECRETS().filter((word) => answer.includes(word) && !question.includes(word));
  return words.map((word) => `${method} ${question.slice(0, 300)} tells ${word}: ${answer.slice(0, 300)}`);
}

tenants('no answer holds a word of the other tenant', async () => {
  const leaks: string[] = [];
  // In steps through the whole list when fewer are asked.
  const all = [...probes()];
  const count = Math.min(all.length, caseCount(1000));
  for (let at = 0; at < count; at++)
    for (const leak of await told(prober, all[Math.floor((at * all.length) / count)] as Probe)) leaks.push(leak);
  assert.equal(leaks, []);
  assert.ok(count >= Math.min(1000, caseCount(1000)), `${all.length} probes`);
});

tenants('whoever may read everything is told by the same questions', async () => {
  const reads = [...probes()].filter(({ method, path }) => method === 'GET' || path === '/svc/v2/sql' || path === '/svc/v2');
  let telling = 0;
  for (let at = 0; at < reads.length; at += 5) telling += (await told(ALLOW_ALL_CALLER, reads[at] as Probe)).length > 0 ? 1 : 0;
  assert.ok(telling >= 30, `${telling} of ${reads.length / 5}`);
});

tenants('the tenant that works still sees its own, and its tasks were left alone', async () => {
  const { body } = await house.ask(worker, 'POST', '/svc/v2/sql', { query: WORK[0] });
  assert.is(JSON.parse(body).length, 3);
  for (const at of WORK.keys()) assert.is((await house.ask(worker, 'GET', `/svc/v2/profile/${WORDS.queryId}${at}`)).status, 200);
  const results = await house.ask(worker, 'GET', `/svc/v2/sql/statements/${ids.statements[0]}/results`);
  assert.is(results.body.trimEnd(), body.trimEnd());
  const names = JSON.parse(
    (
      await house.ask(worker, 'POST', '/svc/v2/sql', {
        query: "SELECT TABLE_NAME AS t FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'svc'",
      })
    ).body,
  );
  assert.ok(
    names.every(({ t }: { t: string }) => t.startsWith('b_')),
    JSON.stringify(names),
  );
});

tenants.run();

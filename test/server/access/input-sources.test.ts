import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTask, openSecuredHouse, permission, userWith } from './secured-house.js';

/**
 * Rights to input sources by their types (`svc.auth.enableInputSourceSecurity`): every type by every way to name it, for a user who may use none,
 * one who may use that type, one who may use all others, and one with the right of clusters without the property.
 */

const house = await openSecuredHouse(10_800, [
  'svc.auth.enableInputSourceSecurity=true',
  // Endpoints that nobody serves are asked, so that a refusal is one of rights.
  'svc.ingestion.http.allowedAddresses=["127.0.0.0/8"]',
]);
const rights = suite('rights to input sources');
rights.after(() => house.close());

const SOURCES: Readonly<Record<string, object>> = {
  inline: { type: 'inline', data: '{"t":0}' },
  local: { type: 'local', baseDir: '/nonexistent', filter: '*' },
  http: { type: 'http', uris: ['http://127.0.0.1:1/x'] },
  s3: { type: 's3', uris: ['s3://bucket/key'] },
  sql: {
    type: 'sql',
    database: { type: 'postgresql', connectorConfig: { connectURI: 'jdbc:postgresql://localhost:1/d', user: 'u', password: 'p' } },
    sqls: ['SELECT 1'],
  },
  druid: { type: 'druid', dataSource: 'wiki', interval: '2024/2025' },
};
/** Reads one row of the outside at most. */
const TYPES = Object.keys(SOURCES);
const ALL = [...TYPES, 'kafka', 'kinesis'];
const everything = [
  permission('READ', 'DATASOURCE', '.*'),
  permission('WRITE', 'DATASOURCE', '.*'),
  permission('WRITE', 'STATE', 'STATE'),
  permission('READ', 'STATE', 'STATE'),
];
const userOf = (name: string, pattern: string, isSecured = true) =>
  userWith(name, [...everything, permission('READ', 'EXTERNAL', pattern)], isSecured);

const stream = (type: string) => ({
  type,
  spec: {
    dataSchema: { dataSource: 'wiki', timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec: {} },
    ioConfig: {
      inputFormat: { type: 'json' },
      ...(type === 'kafka'
        ? { topic: 'x', consumerProperties: { 'bootstrap.servers': '127.0.0.1:1' } }
        : { stream: 'x', endpoint: 'http://127.0.0.1:1' }),
    },
    tuningConfig: { type },
  },
});
const batch = (inputSource: object) => {
  const task = loadTask('wiki', []) as { readonly spec: { readonly ioConfig: object } };
  return { ...task, spec: { ...task.spec, ioConfig: { ...task.spec.ioConfig, inputSource } } };
};
const extern = (inputSource: object) =>
  `TABLE(EXTERN('${JSON.stringify(inputSource)}', '{"type":"json"}', '[{"name":"t","type":"long"}]'))`;
const insert = (inputSource: object) =>
  `INSERT INTO wiki SELECT TIME_PARSE('2024') AS __time, t FROM ${extern(inputSource)} PARTITIONED BY ALL`;

/** Ways to name an input source, each with the route that reads it. */
const WAYS: Readonly<Record<string, readonly [path: string, body: (source: object) => object]>> = {
  'a task': ['/svc/indexer/v1/task', batch],
  'a delegate of a task': ['/svc/indexer/v1/task', (source) => batch({ type: 'combining', delegates: [source] })],
  'the sampler': [
    '/svc/indexer/v1/sampler',
    (source) => ({ ...batch(source), type: 'index', samplerConfig: { numRows: 1, timeoutMs: 1000 } }),
  ],
  'a statement': ['/svc/v2/sql/task', (source) => ({ query: insert(source) })],
  'a statement of another route': ['/svc/v2/sql/statements', (source) => ({ query: insert(source), context: { executionMode: 'ASYNC' } })],
  EXPLAIN: ['/svc/v2/sql', (source) => ({ query: `EXPLAIN PLAN FOR ${insert(source)}` })],
};

for (const [way, [path, bodyOf]] of Object.entries(WAYS))
  for (const type of TYPES)
    rights(`${way} with ${type}`, async () => {
      const others = ALL.filter((each) => each !== type).join('|');
      const body = bodyOf(SOURCES[type] ?? {});
      const isRefused = async (pattern: string, isSecured = true) => {
        const answer = await house.ask(userOf(`${type} ${pattern}`, pattern, isSecured), 'POST', path, body);
        // Folders and hosts that no task may read are refused with 403 as well, but in other words.
        return answer.status === 403 && /"Unauthorized"/.test(answer.body);
      };
      assert.is(await isRefused('nothing'), true);
      assert.is(await isRefused(others), true);
      // The name of the right where types are not asked about.
      assert.is(await isRefused('EXTERNAL'), true);
      assert.is(await isRefused(type), false);
      // A sample is a process.
      if (way === 'the sampler') return;
      assert.is(await isRefused('EXTERNAL', false), false);
      assert.is(await isRefused('nothing', false), !path.startsWith('/svc/indexer'));
    });

for (const type of ['kafka', 'kinesis'])
  for (const [way, path, body] of [
    ['a supervisor', '/svc/indexer/v1/supervisor', { ...stream(type), suspended: true }],
    ['the sampler', '/svc/indexer/v1/sampler', { ...stream(type), samplerConfig: { numRows: 1, timeoutMs: 1000 } }],
  ] as const)
    rights(`${way} of ${type}`, async () => {
      const statusOf = async (pattern: string, isSecured = true) =>
        (await house.ask(userOf('streams', pattern, isSecured), 'POST', path, body)).status;
      assert.is(await statusOf('nothing'), 403);
      assert.is(await statusOf(ALL.filter((each) => each !== type).join('|')), 403);
      assert.is.not(await statusOf(type), 403);
      assert.is.not(await statusOf('nothing', false), 403);
    });

rights('two sources take both rights', async () => {
  const body = batch({ type: 'combining', delegates: [SOURCES['inline'], SOURCES['local']] });
  for (const [pattern, isAllowed] of [
    ['inline', false],
    ['local', false],
    ['inline|local', true],
  ] as const)
    assert.is((await house.ask(userOf('both', pattern), 'POST', '/svc/indexer/v1/task', body)).status === 200, isAllowed, pattern);
});

rights('exported rows take WRITE of the place by its type', async () => {
  const query = "INSERT INTO EXTERN(local(exportPath => '/nonexistent')) AS CSV SELECT 1 AS a";
  const statusOf = async (name: string, isSecured: boolean) =>
    (
      await house.ask(userWith('exporter', [...everything, permission('WRITE', 'EXTERNAL', name)], isSecured), 'POST', '/svc/v2/sql/task', {
        query,
      })
    ).status;
  assert.equal([await statusOf('EXTERNAL', true), await statusOf('local', false)], [403, 403]);
  assert.equal([(await statusOf('local', true)) === 403, (await statusOf('EXTERNAL', false)) === 403], [false, false]);
});

rights('a task without an input source is not spared', async () => {
  for (const inputSource of [
    null,
    'local',
    [],
    {},
    { type: ['local'] },
    { type: 'combining', delegates: [] },
    { type: 'combining', delegates: [7] },
  ])
    assert.ok((await house.ask(userOf('odd', 'nothing'), 'POST', '/svc/indexer/v1/task', batch(inputSource as object))).status >= 400);
});

rights.run();

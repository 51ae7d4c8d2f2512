import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import { loadCaseTables } from './cases.js';

/**
 * Clients of the interface, as they are, over `svc.server.http.apiName=druid`. `scripts/outside-clients.sh` puts them into
 * `build/clients`; a client that is not there is skipped.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLIENTS = path.join(ROOT, 'build', 'clients');
const PROGRAMS = path.join(ROOT, 'test', 'api', 'clients');

const clients = suite<{ server: DolmenProcess; dataDir: string }>('outside clients');

clients.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-clients-'));
  const flags = ['--property', 'svc.server.http.apiName=druid'];
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: 3_500, flags });
  await loadCaseTables(context.server.url);
});

clients.after(async ({ server, dataDir }) => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs a client; it prints names and values with a tab between. */
async function run(command: string, words: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const { stdout } = await promisify(execFile)(command, words, { timeout: 120_000 });
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  return lines.map((line): [string, string] => [line.split('\t')[0] ?? '', line.split('\t')[1] ?? '']);
}

/** The test, or one that is skipped and says why. */
function testOf(name: string, needs: readonly string[]): typeof clients | typeof clients.skip {
  const absent = needs.filter((need) => !existsSync(path.join(CLIENTS, need)));
  if (absent.length === 0) return clients;
  console.log(`skipped: ${name} needs ${absent.join(', ')} in build/clients (scripts/outside-clients.sh)`);
  return clients.skip;
}

testOf('pydruid', ['python/done'])('pydruid: cursor, SQLAlchemy and native queries', async ({ server }) => {
  const { hostname, port } = new URL(server.url);
  const found = await run(path.join(CLIENTS, 'python', 'bin', 'python'), [path.join(PROGRAMS, 'pydruid_client.py'), hostname, port]);
  assert.equal(found, [
    ['cursor', '[[3], [2]]'],
    ['parameters', '[[6]]'],
    ['refused', 'true'],
    ['tables', 'true'],
    ['schemas', '["druid", "lookup", "sys"]'],
    ['columns', '["__time"]'],
    ['sqlalchemy', '6'],
    ['timeseries', '6'],
    ['topn', '1'],
    ['groupby', '2'],
    ['scan', '2'],
    ['time_boundary', '1'],
  ]);
});

testOf('plywood', ['plywood/done'])('plywood: introspection, totals, a split and a time split', async ({ server }) => {
  const words = [path.join(PROGRAMS, 'plywood-client.cjs'), path.join(CLIENTS, 'plywood', 'node_modules'), new URL(server.url).host];
  assert.equal(await run(process.execPath, words), [
    ['introspection', '[true,true]'],
    ['count', '6'],
    ['split', '2'],
    ['time', 'true'],
  ]);
});

testOf('the JDBC pool', ['jars/done'])('a pool of JDBC connections with autoCommit off', async ({ server }) => {
  const jars = readdirSync(path.join(CLIENTS, 'jars')).filter((name) => name.endsWith('.jar'));
  const classPath = jars.map((name) => path.join(CLIENTS, 'jars', name)).join(path.delimiter);
  const url = `jdbc:avatica:remote:url=${server.url}/druid/v2/sql/avatica-protobuf/;serialization=protobuf`;
  assert.equal(await run('java', ['-cp', classPath, path.join(PROGRAMS, 'Pool.java'), url]), [
    ['rows', '6'],
    ['rows', '6'],
    ['rows', '6'],
    ['refused', 'true'],
    ['autoCommit', 'false'],
  ]);
});

/** Requests that the stock console sends when it opens, and the parts of the answers that it reads. */
const PROBES: readonly {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly status?: number;
  readonly expected?: (value: unknown) => boolean;
}[] = [
  { path: '/status', expected: has('version', 'modules') },
  { path: '/proxy/enabled?capabilities' },
  { path: '/proxy/coordinator/status', expected: has('version') },
  { path: '/proxy/overlord/status', expected: has('version') },
  { path: '/proxy/overlord/status/properties', expected: has('svc.server.http.apiName') },
  { path: '/druid/coordinator/v1/isLeader?capabilities', expected: has('leader') },
  { path: '/druid/indexer/v1/isLeader?capabilities', expected: has('leader') },
  { path: '/druid/v2/sql/task/enabled?capabilities', expected: has('enabled') },
  { path: '/druid/v2/sql/engines?capabilities', expected: has('engines') },
  { path: '/druid/indexer/v1/totalWorkerCapacity', expected: has('usedClusterCapacity', 'currentClusterCapacity') },
  { path: '/druid/indexer/v1/workers', expected: Array.isArray },
  { path: '/druid/indexer/v1/worker', expected: () => true },
  { path: '/druid/indexer/v1/supervisor?full', expected: (value) => Array.isArray(value) && value.length === 0 },
  { path: '/druid/indexer/v1/compaction/config/datasources', expected: has('compactionConfigs') },
  { path: '/druid/indexer/v1/compaction/status/datasources', expected: () => true },
  { path: '/druid/indexer/v1/compaction/config/cluster', expected: has('useSupervisors') },
  { path: '/druid/indexer/v1/tasks', expected: Array.isArray },
  { path: '/druid/coordinator/v1/tiers', expected: (value) => JSON.stringify(value) === '["_default_tier"]' },
  { path: '/druid/coordinator/v1/loadstatus?simple', expected: has('orders') },
  { path: '/druid/coordinator/v1/loadqueue?simple', expected: () => true },
  { path: '/druid/coordinator/v1/servers?simple', expected: Array.isArray },
  { path: '/druid/coordinator/v1/datasources?simple', expected: Array.isArray },
  { path: '/druid/coordinator/v1/rules', expected: has('_default') },
  { path: '/druid/coordinator/v1/config', expected: () => true },
  { path: '/druid/coordinator/v1/lookups/config/all', expected: () => true },
  { path: '/druid/router/v1/brokers', expected: has('svc/broker') },
  {
    path: '/druid/v2/sql',
    body: {
      query: 'SELECT "server", "server_type", "curr_size", "storage_size", "max_size" FROM sys.servers',
      context: { sqlOuterLimit: 1, sqlStringifyArrays: false, engine: 'native' },
    },
    expected: (value) => Array.isArray(value) && value.length === 1,
  },
  { path: '/druid/v2/sql', body: { query: 'SELECT "projections" FROM sys.segments LIMIT 1' }, expected: Array.isArray },
  {
    path: '/druid/v2/sql',
    body: { query: 'SELECT nothing' },
    status: 400,
    expected: has('errorCode', 'persona', 'category', 'errorMessage'),
  },
  {
    path: '/druid/v2/sql/statements',
    body: { query: 'SELECT 1', context: { executionMode: 'ASYNC' } },
    expected: has('queryId', 'state', 'createdAt', 'schema', 'durationMs'),
  },
  {
    path: '/druid/indexer/v1/sampler?for=connect',
    body: {
      type: 'index',
      spec: {
        type: 'index',
        ioConfig: { type: 'index', inputSource: { type: 'inline', data: '{"a":1}' }, inputFormat: { type: 'json', keepNullColumns: true } },
        dataSchema: {
          dataSource: 'sample',
          timestampSpec: { column: '!!!_no_such_column_!!!', missingValue: '1970-01-01T00:00:00Z' },
          dimensionsSpec: { useSchemaDiscovery: true },
          granularitySpec: { rollup: false },
        },
        tuningConfig: { type: 'index' },
      },
      samplerConfig: { numRows: 500, timeoutMs: 15000 },
    },
    expected: has('numRowsRead', 'numRowsIndexed', 'logicalDimensions', 'physicalDimensions', 'logicalSegmentSchema', 'data'),
  },
  { path: '/druid/indexer/v1/sampler', body: {}, status: 400, expected: has('error') },
];

function has(...names: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'object' && value !== null && names.every((name) => Object.hasOwn(value, name));
}

for (const { path: where, body, status = 200, expected = () => true } of PROBES) {
  const shown = body === undefined ? where : `${where} ${JSON.stringify(body)}`;
  clients(`the console's probe ${shown}`, async ({ server }) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(server.url + where, body === undefined ? {} : init);
    const text = await response.text();
    assert.is(response.status, status, text);
    assert.ok(expected(JSON.parse(text || 'null')), text);
  });
}

clients.run();

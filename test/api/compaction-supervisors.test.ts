import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

/** Supervisors of type `autocompact`, from their spec to segments that are compacted. */

const HOUR = 3_600_000;
const TABLE = 'small';
const ID = `autocompact__${TABLE}`;
const SUPERVISOR = '/svc/indexer/v1/supervisor';
const SPEC = { dataSource: TABLE, skipOffsetFromLatest: 'PT0S', granularitySpec: { segmentGranularity: 'DAY' } };

interface Context {
  server: Awaited<ReturnType<typeof startDolmen>>;
  dataDir: string;
}

async function load(url: string, day: number): Promise<void> {
  const rows = Array.from({ length: 24 }, (_, hour) => JSON.stringify({ t: (day * 24 + hour) * HOUR, page: `p${hour % 3}` }));
  await runTask(url, {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: TABLE,
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions: ['page'] },
        granularitySpec: { segmentGranularity: 'hour', rollup: false },
      },
      ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: rows.join('\n') }, inputFormat: { type: 'json' } },
    },
  });
}

async function segments(url: string): Promise<number> {
  return Number((await sqlRows(url, `SELECT COUNT(*) FROM sys.segments WHERE datasource = '${TABLE}' AND is_active = 1`))[0]?.[0]);
}

async function until(look: () => Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await look()) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`never: ${what}`);
}

async function statusCode(url: string, method: string, at: string, body?: unknown): Promise<number> {
  const init = body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(`${url}${at}`, { method, ...init })).status;
}

const compacting = suite<Context>('supervisors that compact');
compacting.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-autocompact-'));
  const flags = ['--property', 'svc.coordinator.period.indexingPeriod=PT1S'];
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: 23_400, flags });
});
compacting.after(async ({ server, dataDir }) => {
  await server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

compacting('a datasource is compacted from its spec on', async ({ server: { url } }) => {
  await load(url, 0);
  await waitForCount(url, TABLE, 24);
  assert.is(await segments(url), 24);
  assert.equal(await callJson('POST', `${url}${SUPERVISOR}`, { type: 'autocompact', spec: SPEC }), { id: ID });
  await until(async () => (await segments(url)) === 1, 'the day is one segment');
  await waitForCount(url, TABLE, 24);
});

compacting('it is listed and told of like others', async ({ server: { url } }) => {
  const document = (await callJson('GET', `${url}${SUPERVISOR}/${ID}`)) as Record<string, unknown>;
  assert.equal([document['type'], document['id'], document['suspended'], document['dataSources']], ['autocompact', ID, false, [TABLE]]);
  assert.is((document['spec'] as Record<string, unknown>)['skipOffsetFromLatest'], 'PT0S');
  assert.equal(await callJson('GET', `${url}${SUPERVISOR}`), [ID]);
  const [full] = (await callJson('GET', `${url}${SUPERVISOR}?full`)) as Record<string, unknown>[];
  assert.equal(full?.['spec'], document);
  assert.equal([full?.['state'], full?.['healthy'], full?.['suspended']], ['RUNNING', true, false]);
  const rows = await sqlRows(url, 'SELECT supervisor_id, state, healthy, type, suspended FROM sys.supervisors');
  assert.equal(rows, [[ID, 'RUNNING', 1, 'autocompact', 0]]);
  const { payload } = (await callJson('GET', `${url}${SUPERVISOR}/${ID}/status`)) as { payload: Record<string, unknown> };
  assert.equal([payload['dataSource'], payload['scheduleStatus'], payload['state']], [TABLE, 'RUNNING', 'RUNNING']);
  await until(async () => {
    const answer = (await callJson('GET', `${url}${SUPERVISOR}/${ID}/status`)) as { payload: Record<string, unknown> };
    return answer.payload['segmentCountCompacted'] === 1;
  }, 'its segment counts as compacted');
  assert.equal(await callJson('GET', `${url}${SUPERVISOR}/${ID}/health`), { healthy: true });
  assert.equal(await callJson('GET', `${url}${SUPERVISOR}/${ID}/stats`), {});
  assert.equal(await callJson('GET', `${url}${SUPERVISOR}/${ID}/parseErrors`), []);
});

compacting('while it is suspended nothing is compacted; it goes on where it stopped', async ({ server: { url } }) => {
  const suspended = (await callJson('POST', `${url}${SUPERVISOR}/${ID}/suspend`)) as Record<string, unknown>;
  assert.is(suspended['suspended'], true);
  assert.is(await statusCode(url, 'POST', `${SUPERVISOR}/${ID}/suspend`), 400);
  await load(url, 1);
  await waitForCount(url, TABLE, 48);
  // Several looks of the duty go by.
  await new Promise((done) => setTimeout(done, 3000));
  assert.is(await segments(url), 25);
  const { payload } = (await callJson('GET', `${url}${SUPERVISOR}/${ID}/status`)) as { payload: Record<string, unknown> };
  assert.equal([payload['scheduleStatus'], payload['state']], ['NOT_ENABLED', 'SUSPENDED']);
  await callJson('POST', `${url}${SUPERVISOR}/resumeAll`);
  await until(async () => (await segments(url)) === 2, 'both days are segments');
  await waitForCount(url, TABLE, 48);
});

for (const { name, body, status } of [
  { name: 'a spec without a datasource', body: { type: 'autocompact', spec: {} }, status: 400 },
  { name: 'an unknown key', body: { type: 'autocompact', spec: { ...SPEC, granularity: 'day' } }, status: 400 },
  { name: 'another id', body: { type: 'autocompact', id: 'mine', spec: SPEC }, status: 400 },
  { name: 'what no task could do', body: { type: 'autocompact', spec: { ...SPEC, projections: [{}] } }, status: 501 },
])
  compacting(`refused: ${name}`, async ({ server: { url } }) => assert.is(await statusCode(url, 'POST', SUPERVISOR, body), status));

compacting('it has no stream, whose offsets could be reset', async ({ server: { url } }) => {
  assert.is(await statusCode(url, 'POST', `${SUPERVISOR}/${ID}/reset`), 501);
  assert.is(await statusCode(url, 'POST', `${SUPERVISOR}/${ID}/taskGroups/handoff`, { taskGroupIds: [0] }), 501);
});

compacting('it is terminated, and its history stays', async ({ server: { url } }) => {
  assert.equal(await callJson('POST', `${url}${SUPERVISOR}/${ID}/terminate`), { id: ID });
  assert.equal(await callJson('GET', `${url}${SUPERVISOR}`), []);
  assert.is(await statusCode(url, 'GET', `${SUPERVISOR}/${ID}`), 404);
  const history = (await callJson('GET', `${url}${SUPERVISOR}/${ID}/history`)) as { spec: Record<string, unknown> }[];
  assert.equal(
    history.map(({ spec }) => [spec['type'], spec['suspended']]),
    [
      ['NoopSupervisorSpec', false],
      ['autocompact', false],
      ['autocompact', true],
      ['autocompact', false],
    ],
  );
});

compacting('the cluster keeps whether a client asks for supervisors', async ({ server: { url } }) => {
  const base = `${url}/svc/indexer/v1/compaction`;
  assert.is(await callJson('GET', `${base}/isSupervisorEnabled`), false);
  await callJson('POST', `${base}/config/cluster`, { useSupervisors: true });
  assert.is(await callJson('GET', `${base}/isSupervisorEnabled`), true);
  assert.is(((await callJson('GET', `${base}/config/cluster`)) as Record<string, unknown>)['useSupervisors'], true);
});

compacting.run();

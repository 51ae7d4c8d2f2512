import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, runTask, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';
import { FAILPOINT_VARIABLE } from '../../src/configuration/failpoint.js';
import { startSix } from './six.js';

const HOUR = 3_600_000;
const DAYS = 4;
const TABLE = 'small';

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

const STARTS: Readonly<Record<string, (dataDir: string) => Promise<Server>>> = {
  'one process': (dataDir) => startDolmen({ dataDir, portOffset: 21_600, flags: [...FLAGS, ...KILL_FLAGS] }),
  'six processes': (dataDir) => startSix(dataDir, 21_800, [...FLAGS, ...KILL_FLAGS]),
};
const FLAGS = ['--property', 'svc.coordinator.period.indexingPeriod=PT1S', '--property', 'svc.coordinator.kill.orphanAge=PT0S'];
/** Segments are removed as soon as they are not used. */
const KILL_FLAGS = ['on=true', 'period=PT1S', 'bufferPeriod=PT0S', 'durationToRetain=P1D'].flatMap((each) => [
  '--property',
  `svc.coordinator.kill.${each}`,
]);

function loadSpec(from: number, count: number, ioConfig: Readonly<Record<string, unknown>> = {}): unknown {
  const rows = Array.from({ length: count }, (_, at) => {
    const row = from + at;
    return JSON.stringify({ t: (row * HOUR) / 2, page: `p${row % 7}`, tags: row % 3 === 0 ? ['x', 'y'] : 'x', v: row });
  });
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: TABLE,
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions: ['page', 'tags'] },
        metricsSpec: [
          { type: 'longSum', name: 'v', fieldName: 'v' },
          { type: 'HLLSketchBuild', name: 'pages', fieldName: 'page' },
        ],
        granularitySpec: { segmentGranularity: 'hour', rollup: false },
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: rows.join('\n') },
        inputFormat: { type: 'json' },
        ...ioConfig,
      },
      tuningConfig: { type: 'index_parallel', partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 1 } },
    },
  };
}

const QUESTIONS = [
  `SELECT COUNT(*), SUM(v), COUNT(DISTINCT page), MIN(__time), MAX(__time) FROM ${TABLE}`,
  `SELECT page, COUNT(*), SUM(v) FROM ${TABLE} GROUP BY 1 ORDER BY 1`,
  `SELECT MV_TO_STRING(tags, ','), COUNT(*) FROM ${TABLE} GROUP BY 1 ORDER BY 1`,
  `SELECT TIME_FLOOR(__time, 'PT6H'), SUM(v) FROM ${TABLE} GROUP BY 1 ORDER BY 1`,
  `SELECT APPROX_COUNT_DISTINCT_DS_HLL(pages) FROM ${TABLE}`,
];
const answers = (url: string): Promise<unknown> => Promise.all(QUESTIONS.map((question) => sqlRows(url, question)));
const count = async (url: string, condition: string): Promise<number> =>
  Number((await sqlRows(url, `SELECT COUNT(*) FROM sys.segments WHERE datasource = '${TABLE}' AND ${condition}`))[0]?.[0]);

async function send(url: string, method: string, at: string, body?: unknown): Promise<{ status: number; text: string }> {
  const headers = { 'Content-Type': 'application/json', 'X-Svc-Author': 'tester', 'X-Svc-Comment': 'why not' };
  const response = await fetch(`${url}${at}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, text: await response.text() };
}

type Status = Readonly<Record<string, number>> & { readonly scheduleStatus: string };
async function statusOf(url: string): Promise<Status | undefined> {
  const { status, text } = await send(url, 'GET', `/svc/coordinator/v1/compaction/status?dataSource=${TABLE}`);
  return status === 200 ? (JSON.parse(text) as { latestStatus: Status[] }).latestStatus[0] : undefined;
}

/** A metric of the Coordinator for the datasource. */
async function metricOf(url: string, name: string): Promise<number> {
  const coordinator = new URL('/metrics', url);
  coordinator.port = String(Number(coordinator.port) - 8888 + 8081);
  const lines = (await fetch(coordinator).then((answer) => answer.text())).split('\n');
  return Number(
    lines
      .find((line) => line.startsWith(`druid_${name}{dataSource="${TABLE}"}`))
      ?.split(' ')
      .at(-1),
  );
}

/** Asks the questions all the while; each answer must be that of before. */
async function untilCompacted(url: string, expected: unknown, compacted: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    assert.equal(await answers(url), expected, 'answers while it is compacted');
    const status = await statusOf(url);
    if (status?.['segmentCountCompacted'] === compacted && status['segmentCountAwaitingCompaction'] === 0) {
      const told = await Promise.all(['compacted', 'waitcompact', 'skipcompact'].map((state) => metricOf(url, `segment_${state}_count`)));
      return assert.equal(told, [compacted, 0, status['segmentCountSkipped']]);
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`not compacted: ${JSON.stringify(await statusOf(url))}`);
}

for (const [name, start] of Object.entries(STARTS)) {
  const compaction = suite<{ server: Server; dataDir: string }>(`compaction in ${name}`);
  compaction.before(async (context) => {
    context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-compaction-'));
    context.server = await start(context.dataDir);
  });
  compaction.after(async ({ server, dataDir }) => {
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  compaction('configured, it makes days of hours, and what comes later is compacted as well', async ({ server: { url } }) => {
    const rows = DAYS * 48;
    await runTask(url, loadSpec(0, rows));
    await waitForCount(url, TABLE, rows);
    assert.is(await count(url, 'is_active = 1'), rows);
    const before = await answers(url);

    const config = { dataSource: TABLE, skipOffsetFromLatest: 'P1D', granularitySpec: { segmentGranularity: 'DAY' }, taskPriority: 30 };
    assert.equal(await send(url, 'POST', '/svc/coordinator/v1/config/compaction', config), { status: 200, text: '' });
    await untilCompacted(url, before, DAYS - 1);
    const status = await statusOf(url);
    assert.equal([status?.scheduleStatus, status?.['segmentCountSkipped'], status?.['intervalCountSkipped']], ['RUNNING', 48, 24]);
    const states = await sqlRows(
      url,
      `SELECT DISTINCT last_compaction_state FROM sys.segments WHERE datasource = '${TABLE}' AND is_active = 1 AND last_compaction_state IS NOT NULL`,
    );
    assert.equal(states.length, 1);
    assert.equal(JSON.parse(String(states[0]?.[0])).granularitySpec, {
      segmentGranularity: 'DAY',
      queryGranularity: 'NONE',
      rollup: false,
    });

    // Late rows lie in a chunk of a day: it is compacted once more, and the last day with them.
    await runTask(url, loadSpec(0, 10, { appendToExisting: true }));
    await waitForCount(url, TABLE, rows + 10);
    const after = await answers(url);
    const changed = await send(url, 'POST', `/svc/indexer/v1/compaction/config/datasources/${TABLE}`, {
      ...config,
      skipOffsetFromLatest: 'PT0S',
    });
    assert.equal([changed.status, changed.text], [200, '{"success":true}']);
    await untilCompacted(url, after, DAYS);
    assert.is(await count(url, 'is_active = 1'), DAYS);
  });

  compaction('what is compacted already is left alone', async ({ server: { url } }) => {
    const tasks = async (): Promise<number> => ((await callJson('GET', `${url}/svc/indexer/v1/tasks?type=compact`)) as unknown[]).length;
    const before = await tasks();
    assert.equal((await send(url, 'POST', '/svc/coordinator/v1/compaction/compact')).status, 200);
    await new Promise((done) => setTimeout(done, 1500));
    assert.is(await tasks(), before);
    assert.equal((await callJson('GET', `${url}/svc/coordinator/v1/compaction/progress?dataSource=${TABLE}`)) as unknown, {
      remainingSegmentSize: 0,
    });
  });

  compaction('the SQL engine, by hand', async ({ server: { url } }) => {
    const before = await answers(url);
    const { task } = (await callJson('POST', `${url}/svc/indexer/v1/task`, {
      type: 'compact',
      dataSource: TABLE,
      ioConfig: { type: 'compact', inputSpec: { type: 'interval', interval: '1970-01-01/1970-01-05' } },
      granularitySpec: { segmentGranularity: 'DAY' },
      tuningConfig: { type: 'index_parallel', partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 30 } },
      compactionRunner: { type: 'msq' },
      context: { storeCompactionState: true },
    })) as { task: string };
    await waitForTask(url, task);
    assert.equal(await answers(url), before);
    const payload = (await callJson('GET', `${url}/svc/indexer/v1/task/${encodeURIComponent(task)}`)) as {
      payload: Record<string, unknown>;
    };
    assert.equal(payload.payload['compactionRunner'], { type: 'msq' });
  });

  compaction('segments that were replaced are removed, with their files', async ({ server: { url }, dataDir }) => {
    const files = (): number => storedFiles(path.join(dataDir, 'deep-storage'));
    for (let attempt = 0; files() !== (await count(url, 'is_active = 1')) && attempt < 100; attempt++)
      await new Promise((done) => setTimeout(done, 200));
    assert.is(files(), await count(url, 'is_active = 1'));
    const tasks = (await callJson('GET', `${url}/svc/indexer/v1/tasks?type=kill&state=complete`)) as { id: string; statusCode: string }[];
    assert.ok(
      tasks.length > 0 && tasks.every(({ id, statusCode }) => id.startsWith('coordinator-issued_kill_') && statusCode === 'SUCCESS'),
    );
    const reports = await Promise.all(
      tasks.map(({ id }) => callJson('GET', `${url}/svc/indexer/v1/task/${encodeURIComponent(id)}/reports`)),
    );
    const killed = reports.map(
      (report) => (report as { killed: { payload: { numSegmentsKilled: number } } }).killed.payload.numSegmentsKilled,
    );
    assert.ok(killed.reduce((sum, each) => sum + each, 0) >= DAYS * 48);
  });

  compaction('configurations, slots, history and their errors', async ({ server: { url } }) => {
    const base = '/svc/coordinator/v1/config/compaction';
    const newer = '/svc/indexer/v1/compaction';
    const one = (await callJson('GET', `${url}${base}/${TABLE}`)) as Record<string, unknown>;
    assert.equal(
      [one['taskPriority'], one['inputSegmentSizeBytes'], one['skipOffsetFromLatest'], one['maxRowsPerSegment']],
      [30, 1e14, 'PT0S', null],
    );
    assert.equal(await callJson('GET', `${url}${newer}/config/datasources/${TABLE}`), one);
    assert.equal((await send(url, 'POST', `${base}/taskslots?ratio=0.5`)).status, 200);
    assert.equal((await send(url, 'POST', `${base}/taskslots?max=3`)).status, 200);
    const cluster = {
      compactionTaskSlotRatio: 0.5,
      maxCompactionTaskSlots: 3,
      compactionPolicy: { type: 'newestSegmentFirst' },
      useSupervisors: false,
      engine: 'native',
      storeCompactionStatePerSegment: true,
    };
    assert.equal(await callJson('GET', `${url}${base}`), { compactionConfigs: [one], ...cluster });
    assert.equal(await callJson('GET', `${url}${newer}/config/cluster`), cluster);
    assert.equal((await send(url, 'POST', `${newer}/config/cluster`, { engine: 'msq' })).text, '{"success":true}');
    assert.equal(await callJson('GET', `${url}${base}/cluster`), { ...cluster, engine: 'msq' });
    assert.equal((await send(url, 'POST', `${base}/cluster`, { engine: 'native' })).status, 200);

    const history = (await callJson('GET', `${url}${base}/${TABLE}/history`)) as Record<string, Record<string, unknown>>[];
    assert.equal(history.length, 6);
    assert.equal(history[0]?.['auditInfo'], { author: 'tester', comment: 'why not', ip: '127.0.0.1' });
    assert.equal(
      history.map(({ globalConfig }) => globalConfig?.['engine']),
      ['native', 'msq', 'native', 'native', 'native', 'native'],
    );
    assert.equal(
      history.map(({ compactionConfig }) => compactionConfig?.['skipOffsetFromLatest']),
      ['PT0S', 'PT0S', 'PT0S', 'PT0S', 'PT0S', 'P1D'],
    );
    assert.equal(
      ((await callJson('GET', `${url}${newer}/config/datasources/${TABLE}/history?count=2`)) as { entries: unknown[] }).entries,
      history.slice(0, 2),
    );
    assert.equal(await callJson('GET', `${url}${base}/nobody/history`), []);

    const { compactionStates } = (await callJson('POST', `${url}${newer}/simulate`, {})) as {
      compactionStates: Record<string, { rows: unknown[][] }>;
    };
    assert.equal(Object.values(compactionStates).flatMap(({ rows }) => rows).length, DAYS);
    assert.equal(await callJson('POST', `${url}/svc/coordinator/v1/compaction/simulate`, {}), { compactionStates });

    for (const [method, at, status, message, body] of [
      ['GET', `${base}/nobody`, 404, /nobody has no compaction configuration/],
      ['DELETE', `${base}/nobody`, 404, /nobody has no compaction configuration/],
      ['GET', `/svc/coordinator/v1/compaction/status?dataSource=nobody`, 404, /nobody has no compaction configuration/],
      ['GET', `/svc/coordinator/v1/compaction/progress?dataSource=nobody`, 404, /nobody has no compaction configuration/],
      ['GET', `/svc/coordinator/v1/compaction/progress`, 400, /dataSource: found nothing/],
      ['GET', `${base}/${TABLE}/history?count=-1`, 400, /count: found '-1'/],
      ['POST', `${base}/taskslots?max=lots`, 400, /maxCompactionTaskSlots: expected an integer/],
      ['POST', `${base}/taskslots?ratio=2`, 400, /compactionTaskSlotRatio: expected a number from 0 to 1/],
      ['POST', base, 400, /dataSource: expected a string/, {}],
      [
        'POST',
        base,
        400,
        /granularitySpec.segmentGranularity: unknown granularity "fortnight"/,
        { dataSource: 'x', granularitySpec: { segmentGranularity: 'fortnight' } },
      ],
      [
        'POST',
        base,
        501,
        /partitionsSpec.type: "hashed" is not supported/,
        { dataSource: 'x', engine: 'msq', tuningConfig: { partitionsSpec: { type: 'hashed' } } },
      ],
      [
        'POST',
        base,
        400,
        /metricsSpec\[0\]: with engine msq/,
        { dataSource: 'x', engine: 'msq', granularitySpec: { rollup: true }, metricsSpec: [{ type: 'count', name: 'n' }] },
      ],
      ['POST', base, 400, /transformSpec.filter.type/, { dataSource: 'x', transformSpec: { filter: { type: 'sometimes' } } }],
      ['POST', `${newer}/config/datasources/other`, 400, /differs from that of the path/, { dataSource: 'x' }],
    ] as const) {
      const answer = await send(url, method, at, body);
      assert.is(answer.status, status, `${method} ${at}: ${answer.text}`);
      assert.match((JSON.parse(answer.text) as { error: string }).error, message);
    }
    assert.equal((await send(url, 'DELETE', `${base}/${TABLE}`)).status, 200);
    assert.is((await statusOf(url))?.scheduleStatus, 'NOT_ENABLED');
    assert.equal(await callJson('GET', `${url}${newer}/config/datasources`), { compactionConfigs: [] });
    const [removed] = (await callJson('GET', `${url}${base}/${TABLE}/history?count=1`)) as Record<string, unknown>[];
    assert.is(removed?.['compactionConfig'], null);
  });
  compaction.run();
}

const faults = suite('compaction tasks that are killed');

function storedFiles(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && !entry.name.startsWith('_'))
    .length;
}

faults('nothing is lost or doubled, and no file is left', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-compaction-'));
  const armed = path.join(dataDir, 'failpoint');
  process.env[FAILPOINT_VARIABLE] = armed;
  const server = await startDolmen({ dataDir, portOffset: 22_000, flags: FLAGS }).finally(() => {
    delete process.env[FAILPOINT_VARIABLE];
  });
  const rows = DAYS * 48;
  try {
    await runTask(server.url, loadSpec(0, rows));
    await waitForCount(server.url, TABLE, rows);
    const before = await answers(server.url);
    let files = rows;
    for (const [failpoint, granularity, made] of [
      ['compact.unitBuilt', 'day', 0],
      ['compact.beforePublish', 'day', 0],
      ['compact.published', 'day', DAYS],
      ['compact.unitBuilt', 'six_hour', 0],
    ] as const) {
      writeFileSync(armed, `kill ${failpoint}`);
      const { task } = (await callJson('POST', `${server.url}/svc/indexer/v1/task`, {
        type: 'compact',
        dataSource: TABLE,
        ioConfig: { inputSpec: { type: 'interval', interval: '1970-01-01/1970-01-05' } },
        granularitySpec: { segmentGranularity: granularity },
      })) as { task: string };
      await waitForTask(server.url, task).catch(() => undefined);
      assert.not(existsSync(armed), failpoint);
      assert.equal(await answers(server.url), before, failpoint);
      files += made;
      const storage = path.join(dataDir, 'deep-storage');
      for (let attempt = 0; storedFiles(storage) !== files && attempt < 50; attempt++) await new Promise((done) => setTimeout(done, 200));
      assert.is(storedFiles(storage), files, failpoint);
    }
    // No lock is left, either.
    await runTask(server.url, loadSpec(rows, 1, { appendToExisting: true }));
  } finally {
    await server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

faults.run();

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';
import { startSix } from './six.js';

/**
 * The first row leaves before the last one is computed, and what nobody reads is not computed: bodies of more bytes than
 * the processes may grow by, read by clients that stop, leave, or come back for frames.
 */
interface Cluster {
  readonly url: string;
  readonly pids: readonly number[];
  stop(): Promise<unknown>;
}

const DAYS = 9;
const ROWS_PER_DAY = 40_000;
const ROWS = DAYS * ROWS_PER_DAY;
/** Computed for each row: it is in no file and in no dictionary. */
const WIDE = Array.from({ length: 12 }, (_, index) => `name || ' ${index} ' || name`).join(" || ',' || ");
const SELECT = `SELECT "value", ${WIDE} FROM chunks`;
/** Smallest possible body: every row of SELECT has 24 names of 40 letters. */
const BODY_BYTES_MIN = ROWS * 24 * 40;
/** Less than a third of the body, and more than the garbage of six processes swings by (69 MiB were seen). */
const GROWTH_BYTES_MAX = 96 << 20;
const PROCESSOR_MS_MAX = 150;

async function load(url: string, folder: string): Promise<void> {
  const lines = ['time,name,value'];
  for (let row = 0; row < ROWS; row++) {
    const time = new Date(Date.UTC(2024, 0, 1) + (row * 86_400_000) / ROWS_PER_DAY).toISOString();
    lines.push(`${time},${`name ${row % 997} `.padEnd(40, 'x')},${row}`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'rows.csv'), lines.join('\n'));
  await runTask(url, {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', baseDir: folder, filter: 'rows.csv' },
        inputFormat: { type: 'csv', findColumnsFromHeader: true },
      },
      dataSchema: {
        dataSource: 'chunks',
        timestampSpec: { column: 'time', format: 'iso' },
        dimensionsSpec: { dimensions: ['name', { type: 'long', name: 'value' }] },
        granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
  await waitForCount(url, 'chunks', ROWS);
}

/** Processor time of all processes and their threads. */
function processorMs({ pids }: Cluster): number {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      try {
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        // It ended meanwhile.
      }
  return nanoseconds / 1e6;
}

/** In memory now, of all processes. */
function residentBytes({ pids }: Cluster): number {
  const sizes = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function isBounded(cluster: Cluster, before: number, bytesMax = GROWTH_BYTES_MAX): void {
  const growth = residentBytes(cluster) - before;
  assert.ok(growth < bytesMax, `${growth >> 20} MiB more`);
}

/** Until nothing is computed any more, but for what a process does every now and then. */
async function quiet(cluster: Cluster): Promise<void> {
  for (let before = processorMs(cluster), attempt = 0; ; attempt++) {
    await pause(300);
    const now = processorMs(cluster);
    if (now - before < 60) return;
    if (attempt > 100) throw new Error('the processes never became quiet');
    before = now;
  }
}

async function stateOf({ url }: Cluster, id: string): Promise<unknown> {
  return (await sqlRows(url, `SELECT state FROM sys.queries WHERE id = '${id}'`)).at(-1)?.[0];
}

async function untilState(cluster: Cluster, id: string, state: string): Promise<void> {
  for (let attempt = 0; (await stateOf(cluster, id)) !== state; attempt++) {
    if (attempt > 400) throw new Error(`the query never was ${state}: ${await stateOf(cluster, id)}`);
    await pause(25);
  }
}

/** An answer of which the first piece was read, and no more until it is asked for. */
interface Answer {
  /** Reads on to the end. */
  rest(): Promise<{ readonly bytes: number; readonly isWhole: boolean }>;
  leave(): void;
}

async function ask({ url }: Cluster, sql: string, context: object): Promise<Answer> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/svc/v2/sql`, {
    method: 'POST',
    // Bytes of rows are measured, so the answer must not be compressed on the way.
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ query: sql, resultFormat: 'arrayLines', context: { useCache: false, ...context } }),
    signal: leaving.signal,
  });
  assert.is(response.status, 200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = (await reader.read()).value?.length ?? 0;
  let end = '';
  const rest = async () => {
    try {
      for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
        bytes += next.value.length;
        end = (end + Buffer.from(next.value).subarray(-3).toString()).slice(-3);
      }
      // The blank line after the last row.
      return { bytes, isWhole: end === ']\n\n' };
    } catch {
      return { bytes, isWhole: false };
    }
  };
  return { rest, leave: () => leaving.abort() };
}

const CLUSTERS: Readonly<Record<string, (dataDir: string) => Promise<Cluster>>> = {
  'one process': async (dataDir) => {
    const server = await startDolmen({ dataDir, portOffset: 2_600 });
    return { url: server.url, pids: [server.child.pid ?? 0], stop: () => server.stop() };
  },
  'six processes': async (dataDir) => {
    const six = await startSix(dataDir, 2_700);
    return { url: six.url, pids: six.processes.map(({ child }) => child.pid ?? 0), stop: () => six.stop() };
  },
};

for (const [name, start] of Object.entries(CLUSTERS)) {
  const streaming = suite<{ cluster: Cluster; dataDir: string }>(`results as streams, ${name}`);

  streaming.before(async (context) => {
    context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-streaming-'));
    context.cluster = await start(context.dataDir);
    await load(context.cluster.url, path.join(context.dataDir, 'input'));
    // Warm-up: memory and compilation for the first answers of this kind are not part of the measurement.
    await (await ask(context.cluster, SELECT, {})).rest();
    await quiet(context.cluster);
  });

  streaming.after(async ({ cluster, dataDir }) => {
    await cluster?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  streaming('a reader that waits holds the query up, not the rows', async ({ cluster }) => {
    const before = residentBytes(cluster);
    const answer = await ask(cluster, SELECT, { sqlQueryId: 'held' });
    await quiet(cluster);
    assert.is(await stateOf(cluster, 'held'), 'RUNNING');
    isBounded(cluster, before);
    const { bytes, isWhole } = await answer.rest();
    assert.ok(isWhole && bytes > BODY_BYTES_MIN, `${bytes} bytes`);
    await untilState(cluster, 'held', 'SUCCESS');
  });

  streaming('a reader that leaves ends the query', async ({ cluster }) => {
    const answer = await ask(cluster, SELECT, { sqlQueryId: 'left' });
    await quiet(cluster);
    const before = processorMs(cluster);
    answer.leave();
    await untilState(cluster, 'left', 'CANCELED');
    await quiet(cluster);
    const spent = processorMs(cluster) - before;
    assert.ok(spent < PROCESSOR_MS_MAX * cluster.pids.length, `${spent} ms of processor time after the reader left`);
  });

  streaming('a cancelled query breaks the body off, also one of two with its id', async ({ cluster }) => {
    const both = [await ask(cluster, SELECT, { sqlQueryId: 'twice' }), await ask(cluster, SELECT, { sqlQueryId: 'twice' })];
    const cancel = async () => (await fetch(`${cluster.url}/svc/v2/sql/twice`, { method: 'DELETE' })).status;
    assert.is(await cancel(), 202);
    await untilState(cluster, 'twice', 'CANCELED');
    for (let attempt = 0; (await cancel()) !== 404; attempt++) assert.ok(attempt < 400, 'one of them runs still');
    for (const answer of both) assert.not((await answer.rest()).isWhole);
  });

  streaming('a query that takes too long breaks the body off, also of a reader that waits', async ({ cluster }) => {
    const answer = await ask(cluster, SELECT, { sqlQueryId: 'late', timeout: 400 });
    await untilState(cluster, 'late', 'FAILED');
    assert.not((await answer.rest()).isWhole);
  });

  streaming('a union of tables gives its first rows before it has read the others', async ({ cluster }) => {
    const before = residentBytes(cluster);
    const answer = await ask(cluster, `${SELECT} UNION ALL ${SELECT}`, { sqlQueryId: 'union' });
    await quiet(cluster);
    assert.is(await stateOf(cluster, 'union'), 'RUNNING');
    // Its rows come together in the broker, and its body is twice as long.
    isBounded(cluster, before, 2 * GROWTH_BYTES_MAX);
    answer.leave();
    await untilState(cluster, 'union', 'CANCELED');
  });

  streaming('JDBC fetches frames of a query that waits in between', async ({ cluster }) => {
    const request = (body: object) => callJson('POST', `${cluster.url}/svc/v2/sql/avatica/`, { connectionId: 'c', ...body });
    await request({ request: 'openConnection', info: { sqlQueryId: 'frames', useCache: 'false' } });
    const { statementId } = (await request({ request: 'createStatement' })) as { statementId: number };
    const before = residentBytes(cluster);
    const execution = { request: 'prepareAndExecute', statementId, sql: SELECT, maxRowsTotal: -1, maxRowsInFirstFrame: 1000 };
    const executed = (await request(execution)) as { resultSets: { firstFrame: { rows: unknown[]; done: boolean } }[] };
    const { rows, done } = executed.resultSets[0]?.firstFrame ?? { rows: [], done: true };
    assert.equal([rows.length, done], [1000, false]);
    await quiet(cluster);
    assert.is(await stateOf(cluster, 'frames'), 'RUNNING');
    isBounded(cluster, before);
    let offset = rows.length;
    for (let frames = 0; frames < 3; frames++) {
      const { frame } = (await request({ request: 'fetch', statementId, offset, fetchMaxRowCount: 2000 })) as {
        frame: { rows: unknown[] };
      };
      assert.is(frame.rows.length, 2000);
      offset += frame.rows.length;
    }
    assert.is((await fetch(`${cluster.url}/svc/v2/sql/frames`, { method: 'DELETE' })).status, 202);
    await untilState(cluster, 'frames', 'CANCELED');
    await request({ request: 'fetch', statementId, offset, fetchMaxRowCount: 2000 }).then(
      () => assert.unreachable('there is nobody who makes rows'),
      (error: Error) => assert.match(error.message, /cancelled/),
    );
    await request({ request: 'closeStatement', statementId });
    await request({ request: 'closeConnection' });
  });

  streaming.run();
}

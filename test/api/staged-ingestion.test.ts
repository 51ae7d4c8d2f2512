import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

const PORT_OFFSET = 4_900;
const FILES = 4;
const ROWS_PER_FILE = 30_000;
const ROWS = FILES * ROWS_PER_FILE;
const DAYS = 6;
/** Pages: every row's number modulo this. */
const PAGES = 1000;

interface Context {
  folder: string;
  input: string;
  server: DolmenProcess;
}

/** SQL ingestion by several worker tasks: end to end, with worker processes and the server killed. */
const tests = suite<Context>('SQL ingestion in stages');

const start = (folder: string): Promise<DolmenProcess> =>
  startDolmen({
    dataDir: path.join(folder, 'data'),
    portOffset: PORT_OFFSET,
    flags: ['--property', 'svc.worker.capacity=4', '--property', 'svc.coordinator.kill.orphanAge=PT0S'],
  });

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-stages-'));
  context.input = path.join(context.folder, 'data', 'input');
  mkdirSync(context.input, { recursive: true });
  for (let file = 0; file < FILES; file++) {
    const lines: string[] = [];
    for (let row = 0; row < ROWS_PER_FILE; row++) {
      const n = file * ROWS_PER_FILE + row;
      lines.push(JSON.stringify({ t: Date.UTC(2024, 0, 1 + (n % DAYS)) + n, page: `page ${n % PAGES}`, v: n }));
    }
    writeFileSync(path.join(context.input, `rows-${file}.json`), lines.join('\n'));
  }
  context.server = await start(context.folder);
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Status {
  readonly status: { readonly statusCode: string; readonly errorMsg: string | null };
}

async function submit({ server }: Context, query: string, context: Record<string, unknown>): Promise<string> {
  const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context })) as { readonly taskId: string };
  return taskId;
}

async function untilEnded({ server }: Context, taskId: string): Promise<Status['status']> {
  for (;;) {
    const { status } = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/status`)) as Status;
    if (status.statusCode === 'SUCCESS' || status.statusCode === 'FAILED') return status;
    await new Promise((done) => setTimeout(done, 50));
  }
}

interface Report {
  readonly multiStageQuery: {
    readonly payload: {
      readonly status: { readonly workers: Record<string, readonly { readonly workerId: string; readonly state: string }[]> };
      readonly stages: readonly { readonly phase: string; readonly workerCount: number }[];
      readonly results?: { readonly results: readonly (readonly unknown[])[] };
    };
  };
}

async function reportOf({ server }: Context, taskId: string): Promise<Report['multiStageQuery']['payload']> {
  return ((await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/reports`)) as Report).multiStageQuery.payload;
}

function extern(input: string): string {
  const source = JSON.stringify({ type: 'local', baseDir: input, filter: '*.json' });
  return `TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND ("t" BIGINT, "page" VARCHAR, "v" BIGINT)`;
}

const groups = (table: string, input: string, factor: number): string =>
  `REPLACE INTO ${table} OVERWRITE ALL SELECT TIME_FLOOR(MILLIS_TO_TIMESTAMP(t), 'P1D') AS __time, page, SUM(v) * ${factor} AS total, COUNT(*) AS n
   FROM ${extern(input)} GROUP BY 1, 2 PARTITIONED BY DAY CLUSTERED BY page`;

/** Sum of the numbers of all rows. */
const TOTAL = (ROWS * (ROWS - 1)) / 2;
/** A day's rows have the numbers n with n % 6 alike; of a thousand pages each meets those of one parity: 3 * 1000 groups of each. */
const GROUPS = new Set(Array.from({ length: ROWS }, (_, n) => `${n % DAYS} ${n % PAGES}`)).size;

const sums = async ({ server }: Context, table: string): Promise<unknown> =>
  (await sqlRows(server.url, `SELECT COUNT(*), SUM(n), SUM(total) FROM ${table}`))[0];

tests('groups of four files by three workers, shuffled twice', async (context) => {
  const taskId = await submit(context, groups('grouped', context.input, 1), { maxNumTasks: 4 });
  const { statusCode, errorMsg } = await untilEnded(context, taskId);
  assert.is(statusCode, 'SUCCESS', errorMsg ?? '');
  await waitForCount(context.server.url, 'grouped', GROUPS);
  assert.equal(await sums(context, 'grouped'), [GROUPS, ROWS, TOTAL]);
  const { stages: run, status } = await reportOf(context, taskId);
  assert.equal(
    run.map(({ phase, workerCount }) => [phase, workerCount]),
    [
      ['FINISHED', 3],
      ['FINISHED', 3],
      ['FINISHED', 3],
    ],
  );
  assert.equal(
    Object.values(status.workers).map((runs) => runs.length),
    [3, 3, 3],
  );
});

tests('a table read by its segments, into another table', async (context) => {
  const query = 'INSERT INTO copied SELECT __time, page, total, n FROM grouped PARTITIONED BY DAY';
  const taskId = await submit(context, query, { maxNumTasks: 3 });
  const { statusCode, errorMsg } = await untilEnded(context, taskId);
  assert.is(statusCode, 'SUCCESS', errorMsg ?? '');
  await waitForCount(context.server.url, 'copied', GROUPS);
  assert.equal(await sums(context, 'copied'), [GROUPS, ROWS, TOTAL]);
  assert.equal(
    (await reportOf(context, taskId)).stages.map(({ workerCount }) => workerCount),
    [2, 2],
  );
});

/** Statements over `grouped`, which have the same rows however many workers run them. */
const REGROUPED = [
  `SELECT TIME_FLOOR(__time, 'P1D') AS __time, MOD(CAST(SUBSTRING(page, 6) AS BIGINT), 7) AS part, SUM(total) AS total, COUNT(*) AS n, MAX(page) AS last FROM grouped GROUP BY 1, 2`,
  `SELECT TIMESTAMP '2024-01-01' AS __time, page, COUNT(DISTINCT n) AS kinds, SUM(n) AS n FROM grouped WHERE page < 'page 5' GROUP BY 2 HAVING SUM(n) > 10`,
  `SELECT TIMESTAMP '2024-01-01' AS __time, page, SUM(total) AS total FROM grouped GROUP BY 2 ORDER BY 3 DESC LIMIT 10`,
  `SELECT TIMESTAMP '2024-01-01' AS __time, SUM(total) AS total, MIN(page) AS first, AVG(n) AS mean FROM grouped`,
  `SELECT TIMESTAMP '2024-01-01' AS __time, COUNT(*) AS n FROM grouped WHERE page = 'nowhere'`,
  // Groups of groups, and of rows of the best of them.
  `SELECT kinds, COUNT(*) AS pages, SUM(n) AS n FROM (SELECT page, COUNT(DISTINCT n) AS kinds, SUM(n) AS n FROM grouped GROUP BY 1) GROUP BY 1`,
  `SELECT COUNT(*) AS pages, SUM(total) AS total FROM (SELECT page, SUM(total) AS total FROM grouped GROUP BY 1 ORDER BY 2 DESC LIMIT 10)`,
  `SELECT TIME_FLOOR(t, 'P1M') AS m, MAX(n) AS n FROM (SELECT TIME_FLOOR(__time, 'P1D') AS t, SUM(n) AS n FROM grouped GROUP BY 1) GROUP BY 1`,
];

tests('groups of a table by several workers are those of one', async (context) => {
  for (const [at, query] of REGROUPED.entries()) {
    const found: unknown[] = [];
    for (const maxNumTasks of [2, 4]) {
      const taskId = await submit(context, query, { maxNumTasks });
      const { statusCode, errorMsg } = await untilEnded(context, taskId);
      assert.is(statusCode, 'SUCCESS', `${query}: ${errorMsg}`);
      const { stages, results } = await reportOf(context, taskId);
      assert.is(stages[0]?.workerCount, maxNumTasks - 1, query);
      found.push((results?.results ?? []).map((row) => JSON.stringify(row)).sort());
    }
    assert.equal(found[1], found[0], query);
    assert.ok(JSON.stringify(found[0]).length > 10);
    if (at === 0) assert.is((found[0] as unknown[]).length, DAYS * 7);
  }
});

/** The process of a worker task, once its log names one. */
async function processOf({ server }: Context, taskId: string): Promise<number> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const text = await fetch(`${server.url}/svc/indexer/v1/task/${taskId}/log`).then((answer) => answer.text());
    const found = /runs in process (\d+)/.exec(text)?.[1];
    if (found !== undefined) return Number(found);
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`task ${taskId} has no process`);
}

tests('kill -9 of a worker: its work is done again with faultTolerance, and fails the statement without', async (context) => {
  for (const [faultTolerance, factor, expected] of [
    [true, 2, 'SUCCESS'],
    [false, 3, 'FAILED'],
  ] as const) {
    const taskId = await submit(context, groups('grouped', context.input, factor), { maxNumTasks: 4, faultTolerance });
    process.kill(await processOf(context, `${taskId}-stage0-worker1_0`), 'SIGKILL');
    const { statusCode, errorMsg } = await untilEnded(context, taskId);
    assert.is(statusCode, expected, errorMsg ?? '');
    if (!faultTolerance) assert.match(errorMsg ?? '', /worker task .*-stage0-worker1_0 failed: .*SIGKILL/);
  }
  for (
    let attempt = 0;
    attempt < 200 && JSON.stringify(await sums(context, 'grouped')) !== JSON.stringify([GROUPS, ROWS, TOTAL * 2]);
    attempt++
  )
    await new Promise((done) => setTimeout(done, 50));
  assert.equal(await sums(context, 'grouped'), [GROUPS, ROWS, TOTAL * 2]);
});

tests('kill -9 of the server: the statement goes on where it was, and nothing is left of the shuffle', async (context) => {
  const taskId = await submit(context, groups('grouped', context.input, 5), { maxNumTasks: 4 });
  await processOf(context, `${taskId}-stage0-worker1_0`);
  await context.server.kill();
  context.server = await start(context.folder);
  const { statusCode, errorMsg } = await untilEnded(context, taskId);
  assert.is(statusCode, 'SUCCESS', errorMsg ?? '');
  for (
    let attempt = 0;
    attempt < 200 && JSON.stringify(await sums(context, 'grouped')) !== JSON.stringify([GROUPS, ROWS, TOTAL * 5]);
    attempt++
  )
    await new Promise((done) => setTimeout(done, 50));
  assert.equal(await sums(context, 'grouped'), [GROUPS, ROWS, TOTAL * 5]);
  await callJson('POST', `${context.server.url}/svc/coordinator/v1/deepStorage/confirm`);
  const left = (): string[] =>
    readdirSync(path.join(context.folder, 'data', 'deep-storage'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.startsWith('stage'))
      .map(({ name }) => name);
  for (let attempt = 0; left().length > 0 && attempt < 100; attempt++) await new Promise((done) => setTimeout(done, 200));
  assert.equal(left(), []);
});

tests.run();

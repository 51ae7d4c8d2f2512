import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';

const PORT_OFFSET = 5_100;
/** Rows of a file that come at once, and those that come when they are asked for. */
const ROWS_FIRST = 120_000;
const ROWS_LATER = 7;
const ROWS = ROWS_FIRST + ROWS_LATER;

interface Context {
  folder: string;
  server: DolmenProcess;
  source: Server;
  /** Files that wait for the rest of their rows. */
  waiting: (() => void)[];
}

/** Statements while they run: their stages and counters, seen by the report of the task and by the statement. */
const tests = suite<Context>('live reports of statements');

const rowsFrom = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `{"n":${from + at},"page":"page ${(from + at) % 10}"}\n`).join('');

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-live-'));
  context.waiting = [];
  context.source = createServer((_, response) => {
    response.write(rowsFrom(0, ROWS_FIRST));
    context.waiting.push(() => response.end(rowsFrom(ROWS_FIRST, ROWS)));
  });
  await new Promise<void>((done) => context.source.listen(0, '127.0.0.1', done));
  const flags = ['svc.worker.capacity=4', 'svc.ingestion.http.allowedAddresses=["127.0.0.1"]'].flatMap((each) => ['--property', each]);
  context.server = await startDolmen({ dataDir: path.join(context.folder, 'data'), portOffset: PORT_OFFSET, flags });
});
tests.after(async ({ server, source, folder }) => {
  source.closeAllConnections();
  source.close();
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Channel {
  readonly rows: readonly number[];
}
interface Payload {
  readonly status: {
    readonly status: string;
    readonly pendingTasks: number;
    readonly runningTasks: number;
    readonly workers: Record<string, readonly { readonly workerId: string; readonly state: string; readonly durationMs: number }[]>;
    readonly segmentLoadStatus?: Record<string, unknown>;
    readonly segmentReport?: Record<string, unknown>;
  };
  readonly stages: readonly { readonly phase: string; readonly workerCount: number }[];
  readonly counters: Record<string, Record<string, Record<string, Channel>>>;
  readonly results?: unknown;
}

function extern({ source }: Context, files: number): string {
  const { port } = source.address() as AddressInfo;
  const uris = Array.from({ length: files }, (_, at) => `http://127.0.0.1:${port}/${at}`);
  return `TABLE(EXTERN('${JSON.stringify({ type: 'http', uris })}', '{"type":"json"}')) EXTEND ("n" BIGINT, "page" VARCHAR)`;
}

async function submit({ server }: Context, query: string, context: Record<string, unknown>): Promise<string> {
  return ((await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context })) as { readonly taskId: string }).taskId;
}

async function report({ server }: Context, taskId: string): Promise<Payload | null> {
  const answer = await fetch(`${server.url}/svc/indexer/v1/task/${taskId}/reports`);
  const body = (await answer.json()) as { readonly multiStageQuery?: { readonly payload: Payload } };
  return answer.status === 404 ? null : (body.multiStageQuery?.payload ?? null);
}

/** Asks until an answer is as it should be; no longer than a minute. */
async function until<Answer>(ask: () => Promise<Answer>, isRight: (answer: Answer) => boolean): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (attempt === 600) throw new Error(`still ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

const rowsIn = (counters: Payload['counters'] | undefined, stage: number): number =>
  Object.values(counters?.[stage] ?? {}).reduce((sum, { input0 }) => sum + (input0?.rows[0] ?? 0), 0);

for (const files of [1, 2])
  tests(`${files} files, read by a worker each: counters while rows are read, and after`, async (context) => {
    const query = `INSERT INTO live${files} SELECT n, page FROM ${extern(context, files)} PARTITIONED BY ALL`;
    const taskId = await submit(context, query, { maxNumTasks: files + 1, waitUntilSegmentsLoad: true });
    const running = await until(
      () => report(context, taskId),
      (payload) => payload !== null && rowsIn(payload.counters, 0) > 0 && context.waiting.length === files,
    );
    assert.is(running?.status.status, 'RUNNING');
    assert.ok(rowsIn(running?.counters, 0) <= files * ROWS_FIRST);
    assert.equal(
      running?.stages.map(({ phase, workerCount }) => [phase, workerCount]),
      [['READING_INPUT', files]],
    );
    assert.is(running?.results, undefined);
    if (files === 2) {
      const both = await until(
        () => report(context, taskId),
        (payload) => payload?.status.runningTasks === 3,
      );
      assert.is(both?.status.pendingTasks, 0);
      assert.equal(
        Object.values(both?.status.workers ?? {}).map((runs) => runs.map(({ state, durationMs }) => [state, durationMs])),
        [[['RUNNING', -1]], [['RUNNING', -1]]],
      );
    }
    // The statement tells the same, and less without `detail`.
    const statement = async (detail: boolean): Promise<Record<string, unknown>> =>
      (await callJson('GET', `${context.server.url}/svc/v2/sql/statements/${taskId}?detail=${detail}`)) as Record<string, unknown>;
    const { state, counters, stages } = await statement(true);
    assert.is(state, 'RUNNING');
    assert.ok(rowsIn(counters as Payload['counters'], 0) > 0);
    assert.is((stages as readonly unknown[]).length, 1);
    assert.is((await statement(false))['counters'], undefined);
    for (const finish of context.waiting.splice(0)) finish();
    const ended = await until(
      () => report(context, taskId),
      (payload) => payload !== null && payload.status.status !== 'RUNNING',
    );
    assert.is(ended?.status.status, 'SUCCESS');
    assert.is(rowsIn(ended?.counters, 0), files * ROWS);
    assert.ok(ended?.stages.every(({ phase }) => phase === 'FINISHED'));
    const { state: loaded, totalSegments, pendingSegments, precachedSegments } = ended?.status.segmentLoadStatus ?? {};
    const segments = (await sqlRows(context.server.url, `SELECT COUNT(*) FROM sys.segments WHERE datasource = 'live${files}'`))[0]?.[0];
    assert.equal([loaded, totalSegments, pendingSegments, precachedSegments], ['SUCCESS', segments, 0, segments]);
    assert.is(ended?.status.segmentReport?.['shardSpec'], 'NumberedShardSpec');
    // They are served, so that a query sees them.
    assert.equal(await sqlRows(context.server.url, `SELECT COUNT(*), SUM(n) FROM live${files}`), [
      [files * ROWS, (files * ROWS * (ROWS - 1)) / 2],
    ]);
    assert.equal((await statement(true))['result'], { numTotalRows: files * ROWS, dataSource: `live${files}` });
  });

tests('includeAllCounters: false leaves out processor time, and nothing else', async (context) => {
  const countersOf = async (includeAllCounters: boolean): Promise<readonly string[]> => {
    const taskId = await submit(context, 'SELECT COUNT(*) FROM live1', { includeAllCounters });
    const ended = await until(
      () => report(context, taskId),
      (payload) => payload?.results !== undefined,
    );
    return Object.keys(ended?.counters['0']?.['0'] ?? {});
  };
  assert.equal(await countersOf(true), ['input0', 'output', 'cpu']);
  assert.equal(await countersOf(false), ['input0', 'output']);
});

tests('an export by two workers: files of both, each row once', async (context) => {
  const query = `INSERT INTO EXTERN(local(exportPath => 'both')) AS CSV SELECT n, page FROM ${extern(context, 2)} WHERE MOD(n, 4) = 1`;
  const taskId = await submit(context, query, { maxNumTasks: 3, rowsPerPage: 20_000 });
  await until(
    async () => context.waiting.length,
    (length) => length === 2,
  );
  for (const finish of context.waiting.splice(0)) finish();
  const ended = await until(
    () => report(context, taskId),
    (payload) => payload !== null && payload.status.status !== 'RUNNING',
  );
  assert.is(ended?.status.status, 'SUCCESS', JSON.stringify(ended));
  assert.equal(
    ended?.stages.map(({ workerCount }) => workerCount),
    [2, 1],
  );
  const folder = path.join(context.folder, 'data', 'exports', 'both');
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  assert.equal(
    files.map((name) => /-(worker\d-run1-partition\d)\.csv$/.exec(name)?.[1]).sort(),
    [0, 1].flatMap((worker) => [0, 1].map((partition) => `worker${worker}-run1-partition${partition}`)),
  );
  const numbers = files.flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => Number(line.split(',')[0])),
  );
  const wanted = Array.from({ length: ROWS }, (_, n) => n).filter((n) => n % 4 === 1);
  assert.equal(
    numbers.sort((a, b) => a - b),
    [...wanted, ...wanted].sort((a, b) => a - b),
  );
  const manifest = readFileSync(path.join(folder, '_symlink_format_manifest', 'manifest'), 'utf8')
    .trim()
    .split('\n');
  assert.is(manifest.length, files.length);
  const done = (await callJson('GET', `${context.server.url}/svc/v2/sql/statements/${taskId}`)) as Record<string, unknown>;
  assert.equal(done['result'], { numTotalRows: 2 * wanted.length, dataSource: '__query_select' });
});

tests.run();

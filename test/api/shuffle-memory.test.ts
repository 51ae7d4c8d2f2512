import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

const MEBIBYTE = 2 ** 20;
/** Memory of a task for rows; the rows of the input are more than ten times as many bytes. */
const BUDGET = 8 * MEBIBYTE;
const HEAP = 128 * MEBIBYTE;
const KERNELS = 64 * MEBIBYTE;
const ROWS = 900_000;
const ROWS_PER_SEGMENT = 90_000;
/** Characters of each text beside its number: no two are alike, and their order is not that of the rows. */
const PADDING = 'x'.repeat(60);
/** Memory of the program itself, and of its thread that writes segments. */
const PROGRAM = 100 * MEBIBYTE;

interface Context {
  folder: string;
  input: string;
  inputBytes: number;
  server: DolmenProcess;
}

/** Rows that are ten times as large as the memory that a task has for them, through every kind of shuffle. */
const tests = suite<Context>('shuffles larger than memory');

const keyOf = (row: number): number => (row * 7919) % ROWS;
const textOf = (key: number): string => `${((Math.imul(key, 0x9e3779b1) >>> 0) + 2 ** 32).toString(36)} ${key} ${PADDING}`;
const SUM = (ROWS * (ROWS - 1)) / 2;

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-shuffle-'));
  context.input = path.join(context.folder, 'data', 'input');
  mkdirSync(context.input, { recursive: true });
  const file = createWriteStream(path.join(context.input, 'rows.json'));
  for (let row = 0; row < ROWS; row += 1000) {
    const lines = Array.from({ length: 1000 }, (_, at) => JSON.stringify({ k: keyOf(row + at), s: textOf(keyOf(row + at)) }));
    if (!file.write(`${lines.join('\n')}\n`)) await new Promise((resolve) => file.once('drain', () => resolve(undefined)));
  }
  await new Promise((resolve) => file.end(() => resolve(undefined)));
  context.inputBytes = file.bytesWritten;
  const flags = [
    `svc.indexer.task.maxBytesInMemory=${BUDGET}`,
    `svc.indexer.task.maxHeapBytes=${HEAP}`,
    `svc.indexer.task.maxKernelBytes=${KERNELS}`,
    'svc.worker.capacity=3',
  ].flatMap((each) => ['--property', each]);
  context.server = await startDolmen({ dataDir: path.join(context.folder, 'data'), portOffset: 9_800, flags });
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a statement to its end; gives the most memory that any of its processes took. */
async function run({ server }: Context, query: string, context: Record<string, unknown>): Promise<number> {
  const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context })) as { readonly taskId: string };
  for (;;) {
    const { status } = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/status`)) as {
      readonly status: { readonly statusCode: string; readonly errorMsg: string | null };
    };
    if (status.statusCode === 'SUCCESS') break;
    assert.is.not(status.statusCode, 'FAILED', status.errorMsg ?? '');
    await new Promise((done) => setTimeout(done, 100));
  }
  const tasks = (await callJson('GET', `${server.url}/svc/indexer/v1/tasks`)) as readonly { readonly id: string }[];
  const own = tasks.map(({ id }) => id).filter((id) => id.startsWith(taskId));
  const peaks: number[] = [];
  for (const id of own) {
    const log = await fetch(`${server.url}/svc/indexer/v1/task/${id}/log`).then((answer) => answer.text());
    const [, peak] = /the process took (\d+) MiB at most/.exec(log) ?? [];
    if (peak !== undefined) peaks.push(Number(peak));
  }
  return Math.max(...peaks) * MEBIBYTE;
}

const extern = ({ input }: Context): string => {
  const source = JSON.stringify({ type: 'local', baseDir: input, filter: '*.json' });
  return `TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND ("k" BIGINT, "s" VARCHAR)`;
};

/** Reads the files of an export, in their order. */
async function exported(
  { folder }: Context,
  name: string,
): Promise<{ readonly rows: number; readonly sum: number; readonly isSorted: boolean }> {
  const directory = path.join(folder, 'data', 'exports', name);
  let [rows, sum, isSorted, before] = [0, 0, true, ''];
  const files = readdirSync(directory).filter((file) => file.endsWith('.csv'));
  const collator = new Intl.Collator('en', { numeric: true });
  for (const file of files.sort((a, b) => collator.compare(a, b))) {
    let isHeader = true;
    for await (const line of createInterface({ input: createReadStream(path.join(directory, file)) })) {
      if (isHeader) {
        isHeader = false;
        continue;
      }
      const comma = line.indexOf(',');
      const text = line.slice(comma + 1);
      isSorted &&= before < text;
      before = text;
      rows++;
      sum += Number(line.slice(0, comma));
    }
  }
  return { rows, sum, isSorted };
}

/** Fails where a process took more than it was given, and the program. */
const within = (peak: number): void =>
  assert.ok(peak < PROGRAM + HEAP + KERNELS + BUDGET, `a process took ${Math.round(peak / MEBIBYTE)} MiB`);

for (const maxNumTasks of [2, 3]) {
  tests(`rows in order, maxNumTasks ${maxNumTasks}`, async (context) => {
    assert.ok(context.inputBytes > 10 * BUDGET);
    const name = `sorted${maxNumTasks}`;
    const query = `INSERT INTO EXTERN(local(exportPath => '${name}')) AS CSV SELECT k, s FROM ${extern(context)} ORDER BY s`;
    const peak = await run(context, query, { maxNumTasks });
    assert.equal(await exported(context, name), { rows: ROWS, sum: SUM, isSorted: true });
    within(peak);
  });

  tests(`groups in order, maxNumTasks ${maxNumTasks}`, async (context) => {
    const name = `groups${maxNumTasks}`;
    const query = `INSERT INTO EXTERN(local(exportPath => '${name}')) AS CSV SELECT SUM(k) AS total, s FROM ${extern(context)} GROUP BY s ORDER BY s`;
    const peak = await run(context, query, { maxNumTasks });
    assert.equal(await exported(context, name), { rows: ROWS, sum: SUM, isSorted: true });
    within(peak);
  });

  tests(`a table, clustered, maxNumTasks ${maxNumTasks}`, async (context) => {
    const name = `clustered${maxNumTasks}`;
    const query = `REPLACE INTO ${name} OVERWRITE ALL SELECT TIME_PARSE('2024-01-01') AS __time, s, k FROM ${extern(context)} PARTITIONED BY ALL CLUSTERED BY s`;
    const peak = await run(context, query, { maxNumTasks, rowsPerSegment: ROWS_PER_SEGMENT });
    await waitForCount(context.server.url, name, ROWS);
    assert.equal(await sqlRows(context.server.url, `SELECT COUNT(*), SUM(k) FROM ${name}`), [[ROWS, SUM]]);
    const ranges = await sqlRows(
      context.server.url,
      `SELECT num_rows, JSON_VALUE(shard_spec, '$.start[0]'), JSON_VALUE(shard_spec, '$.end[0]')
       FROM sys.segments WHERE datasource = '${name}' ORDER BY partition_num`,
    );
    assert.is(
      ranges.reduce((sum, [rows]) => sum + Number(rows), 0),
      ROWS,
    );
    // Several workers divide by samples of the keys, which one knows whole.
    const isSampled = maxNumTasks > 2;
    if (isSampled) assert.ok(Math.abs(ranges.length - ROWS / ROWS_PER_SEGMENT) <= 2, `${ranges.length} segments`);
    else assert.is(ranges.length, ROWS / ROWS_PER_SEGMENT);
    for (const [at, [rows, start, end]] of ranges.entries()) {
      assert.ok(isSampled ? Number(rows) <= ROWS_PER_SEGMENT * 1.2 : rows === ROWS_PER_SEGMENT, `${rows} rows`);
      assert.is(start, ranges[at - 1]?.[2] ?? null);
      assert.is(end, ranges[at + 1]?.[1] ?? null);
    }
    within(peak);
  });
}

tests.run();

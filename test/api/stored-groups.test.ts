import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';

const PORT_OFFSET = 5_600;
const FILES = 4;
const ROWS_PER_FILE = 300;
const DAYS = 2;
const PAGES = 3;
const USERS = 90;

interface Context {
  folder: string;
  input: string;
  server: DolmenProcess;
}

/** States that statements have stored, end to end: merged by queries, by a second INSERT, by another statement and by compaction. */
const tests = suite<Context>('groups stored as states, served');

const ROWS = Array.from({ length: FILES * ROWS_PER_FILE }, (_, n) => ({
  t: Date.UTC(2024, 0, 1 + (n % DAYS)) + n,
  page: `page ${n % PAGES}`,
  user: `user ${(n * 7) % USERS}`,
  v: n,
}));

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-states-'));
  context.input = path.join(context.folder, 'data', 'input');
  mkdirSync(context.input, { recursive: true });
  for (let file = 0; file < FILES; file++)
    writeFileSync(
      path.join(context.input, `rows-${file}.json`),
      ROWS.slice(file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE)
        .map((row) => JSON.stringify(row))
        .join('\n'),
    );
  context.server = await startDolmen({
    dataDir: path.join(context.folder, 'data'),
    portOffset: PORT_OFFSET,
    flags: ['--property', 'svc.worker.capacity=5'],
  });
  await load(
    context,
    `REPLACE INTO rows_as_they_come OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page, "user", v FROM ${extern(context)} PARTITIONED BY DAY`,
    1,
    {},
  );
  await waitForCount(context.server.url, 'rows_as_they_come', ROWS.length);
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

const STATES = { finalizeAggregations: false, groupByEnableMultiValueUnnesting: false };

async function load({ server }: Context, query: string, workers: number, keys: object): Promise<void> {
  const context = { ...keys, maxNumTasks: workers + 1, waitUntilSegmentsLoad: true };
  const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context })) as { readonly taskId: string };
  await waitForTask(server.url, taskId);
}

function extern({ input }: Context): string {
  const source = JSON.stringify({ type: 'local', baseDir: input, filter: '*.json' });
  return `TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND ("t" BIGINT, "page" VARCHAR, "user" VARCHAR, "v" BIGINT)`;
}

const FROM_ROWS = `COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, MAX(v) AS most,
  APPROX_COUNT_DISTINCT_DS_HLL("user") AS hll, APPROX_COUNT_DISTINCT_DS_THETA("user") AS theta, APPROX_COUNT_DISTINCT("user") AS uniques,
  DS_QUANTILES_SKETCH(v, 4096) AS quantiles, VAR_POP(v) AS spread,
  EARLIEST_BY("user", MILLIS_TO_TIMESTAMP(t)) AS first_user, LATEST_BY(v, MILLIS_TO_TIMESTAMP(t)) AS last_v`;

/** The same of rows that were stored so before. */
const FROM_STATES = `SUM(n) AS n, SUM(total) AS total, MIN(least) AS least, MAX(most) AS most,
  APPROX_COUNT_DISTINCT_DS_HLL(hll) AS hll, APPROX_COUNT_DISTINCT_DS_THETA(theta) AS theta, APPROX_COUNT_DISTINCT(uniques) AS uniques,
  DS_QUANTILES_SKETCH(quantiles, 4096) AS quantiles, VAR_POP(spread) AS spread, EARLIEST(first_user) AS first_user, LATEST(last_v) AS last_v`;

const KEYS: readonly string[] = ['page', '__time', `page || 'x'`];

/** The states merged and finished, by several keys. */
async function merged({ server }: Context, table: string): Promise<unknown> {
  const answers: unknown[] = [];
  for (const key of KEYS)
    answers.push(
      await sqlRows(
        server.url,
        `SELECT ${key} AS k, SUM(n), SUM(total), MIN(least), MAX(most), APPROX_COUNT_DISTINCT_DS_HLL(hll), APPROX_COUNT_DISTINCT_DS_THETA(theta),
         APPROX_COUNT_DISTINCT(uniques) BETWEEN 85 AND 95, APPROX_QUANTILE_DS(quantiles, 0.5, 4096), ROUND(VAR_POP(spread), 3), EARLIEST(first_user), LATEST(last_v)
         FROM ${table} GROUP BY 1 ORDER BY 1`,
      ),
    );
  return answers;
}

/** The same of the rows themselves, by the path that finishes aggregates. */
async function direct({ server }: Context, times = 1): Promise<unknown> {
  const answers: unknown[] = [];
  for (const key of KEYS)
    answers.push(
      await sqlRows(
        server.url,
        `SELECT ${key.replace('__time', "TIME_FLOOR(__time, 'P1D')")} AS k, COUNT(*) * ${times}, SUM(v) * ${times}, MIN(v), MAX(v), APPROX_COUNT_DISTINCT_DS_HLL("user"), APPROX_COUNT_DISTINCT_DS_THETA("user"),
         COUNT(DISTINCT "user") BETWEEN 85 AND 95, APPROX_QUANTILE_DS(v, 0.5, 4096), ROUND(VAR_POP(v), 3), EARLIEST("user"), LATEST(v)
         FROM rows_as_they_come GROUP BY 1 ORDER BY 1`,
      ),
    );
  return answers;
}

const GROUPS = DAYS * PAGES;
const countOf = async ({ server }: Context, table: string): Promise<unknown> =>
  (await sqlRows(server.url, `SELECT COUNT(*) FROM ${table}`))[0];

const groups = (context: Context, target: string): string =>
  `${target} SELECT TIME_FLOOR(MILLIS_TO_TIMESTAMP(t), 'P1D') AS __time, page, ${FROM_ROWS} FROM ${extern(context)} GROUP BY 1, 2 PARTITIONED BY DAY`;

for (const workers of [1, 2, 4])
  tests(`stored by ${workers} workers, queries merge what they would find in the rows`, async (context) => {
    const table = `states_${workers}`;
    await load(context, groups(context, `REPLACE INTO ${table} OVERWRITE ALL`), workers, STATES);
    await waitForCount(context.server.url, table, GROUPS);
    assert.equal(await merged(context, table), await direct(context));
    assert.equal(await sqlRows(context.server.url, `SELECT SUM(n), SUM(total), APPROX_COUNT_DISTINCT_DS_THETA(theta) FROM ${table}`), [
      [ROWS.length, (ROWS.length * (ROWS.length - 1)) / 2, USERS],
    ]);
  });

tests('a statement over states stores the states of its groups', async (context) => {
  await load(
    context,
    `REPLACE INTO by_page OVERWRITE ALL SELECT TIME_FLOOR(__time, 'P1M') AS __time, page, ${FROM_STATES} FROM states_2 GROUP BY 1, 2 PARTITIONED BY MONTH`,
    1,
    STATES,
  );
  await waitForCount(context.server.url, 'by_page', PAGES);
  const byPage = async (table: string): Promise<unknown> => ((await merged(context, table)) as unknown[])[0];
  assert.equal(await byPage('by_page'), ((await direct(context)) as unknown[])[0]);
});

tests('values of subqueries below a grouping are finished', async (context) => {
  const query = `REPLACE INTO finished OVERWRITE ALL SELECT __time, SUM(users) AS users
    FROM (SELECT TIME_FLOOR(__time, 'P1D') AS __time, page, COUNT(DISTINCT "user") AS users FROM rows_as_they_come GROUP BY 1, 2) GROUP BY 1 PARTITIONED BY DAY`;
  await load(context, query, 1, STATES);
  await waitForCount(context.server.url, 'finished', DAYS);
  const users = (day: number, page: number): number =>
    new Set(ROWS.filter((_, n) => n % DAYS === day && n % PAGES === page).map(({ user }) => user)).size;
  assert.equal(
    await sqlRows(context.server.url, 'SELECT users FROM finished ORDER BY __time'),
    [0, 1].map((day) => [users(day, 0) + users(day, 1) + users(day, 2)]),
  );
});

tests('a second INSERT of the same keys rolls up in queries, and compaction merges its rows into those before', async (context) => {
  const { url } = context.server;
  await load(context, groups(context, 'INSERT INTO states_2'), 2, STATES);
  await waitForCount(url, 'states_2', 2 * GROUPS);
  // Every row is there twice: counts and sums double, the rest is as it was. A median of as many values twice is the same.
  const twice = await direct(context, 2);
  assert.equal(await merged(context, 'states_2'), twice);
  const { task } = (await callJson('POST', `${url}/svc/indexer/v1/task`, {
    type: 'compact',
    dataSource: 'states_2',
    ioConfig: { type: 'compact', inputSpec: { type: 'interval', interval: '2024-01-01/2024-01-03' } },
  })) as { readonly task: string };
  await waitForTask(url, task);
  await waitForCount(url, 'states_2', GROUPS);
  assert.equal(await countOf(context, 'states_2'), [GROUPS]);
  assert.equal(await merged(context, 'states_2'), twice);
});

tests('segments say how they roll up', async ({ server }) => {
  const [analysis] = (await callJson('POST', `${server.url}/svc/v2`, {
    queryType: 'segmentMetadata',
    dataSource: 'states_1',
    analysisTypes: ['aggregators', 'rollup'],
    merge: true,
    lenientAggregatorMerge: false,
  })) as readonly { readonly rollup: boolean; readonly aggregators: Record<string, { readonly type: string }> }[];
  assert.is(analysis?.rollup, true);
  assert.equal(Object.fromEntries(Object.entries(analysis?.aggregators ?? {}).map(([name, { type }]) => [name, type])), {
    n: 'longSum',
    total: 'longSum',
    least: 'longMin',
    most: 'longMax',
    hll: 'HLLSketchMerge',
    theta: 'thetaSketch',
    uniques: 'hyperUnique',
    quantiles: 'quantilesDoublesSketch',
    spread: 'varianceFold',
    first_user: 'stringFirst',
    last_v: 'longLast',
  });
});

tests.run();

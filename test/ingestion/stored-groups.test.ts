import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folderOfJsonLines } from './json-files.js';
import { run, type TaskRun } from './run-task.js';

/** INSERT and REPLACE that store states (`finalizeAggregations: false`): what is stored, and that nothing is finalized unseen. */
const stored = suite<{ folder: string }>('groups stored as states');

const DAY = 86_400_000;
const FILES = 4;
const ROWS_PER_FILE = 150;
const STATES = { finalizeAggregations: false, groupByEnableMultiValueUnnesting: false };

interface Row {
  readonly t: number;
  readonly page: string;
  readonly user: string;
  readonly v: number;
}

const rowsOf = (file: number): readonly Row[] =>
  Array.from({ length: ROWS_PER_FILE }, (_, at) => {
    const n = file * ROWS_PER_FILE + at;
    return { t: (n % 2) * DAY + n, page: `page ${n % 3}`, user: `user ${(n * 7) % 90}`, v: n };
  });

const BY_FILE = Array.from({ length: FILES }, (_, file) => rowsOf(file));
const ROWS = BY_FILE.flat();

stored.before((context) => {
  context.folder = folderOfJsonLines('dolmen-groups-', BY_FILE);
});
stored.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const extern = (folder: string): string =>
  `TABLE(EXTERN('${JSON.stringify({ type: 'local', baseDir: folder, filter: '*.json' })}', '{"type":"json"}')) EXTEND ("t" BIGINT, "page" VARCHAR, "user" VARCHAR, "v" BIGINT)`;

function runSql(folder: string, query: string, context: object): Promise<TaskRun> {
  return run({ type: 'query_controller', spec: { query, context } }, { allowedDirectories: [folder] });
}

const TIME = "TIME_FLOOR(MILLIS_TO_TIMESTAMP(t), 'P1D') AS __time";

const TYPES = {
  n: 'LONG',
  many: 'LONG',
  total: 'LONG',
  least: 'LONG',
  most: 'DOUBLE',
  hll: 'COMPLEX<HLLSketch>',
  theta: 'COMPLEX<thetaSketch>',
  uniques: 'COMPLEX<hyperUnique>',
  quantiles: 'COMPLEX<quantilesDoublesSketch>',
  spread: 'COMPLEX<variance>',
  firstUser: 'COMPLEX<serializablePairLongString>',
  lastV: 'COMPLEX<serializablePairLongLong>',
};

const AGGREGATES = `COUNT(*) AS n, COUNT(CASE WHEN v >= 300 THEN 1 END) AS many, SUM(CASE WHEN v >= 300 THEN v ELSE 0 END) AS total, MIN(v) AS least, MAX(v * 0.5) AS most,
  APPROX_COUNT_DISTINCT_DS_HLL("user", 10) AS hll, APPROX_COUNT_DISTINCT_DS_THETA("user", 4096) AS theta, APPROX_COUNT_DISTINCT("user") AS uniques,
  DS_QUANTILES_SKETCH(v, 64) AS quantiles, VAR_POP(v) AS spread,
  EARLIEST_BY("user", MILLIS_TO_TIMESTAMP(t), 64) AS "firstUser", LATEST_BY(v, MILLIS_TO_TIMESTAMP(t)) AS "lastV"`;

for (const workers of [1, 2, 4])
  stored(`states and numbers are metrics, ${workers} workers`, async ({ folder }) => {
    const query = `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, page, ${AGGREGATES}, SUM(v) * 3 AS thrice FROM ${extern(folder)} GROUP BY 1, 2 PARTITIONED BY DAY`;
    const done = await runSql(folder, query, { ...STATES, maxNumTasks: workers + 1 });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    for (const { dimensions, metrics, columns } of done.published[0]?.segments ?? []) {
      assert.equal(dimensions, ['page', 'thrice']);
      assert.equal(metrics, Object.keys(TYPES));
      assert.equal(Object.fromEntries(columns.flatMap(({ name, type }) => (metrics.includes(name) ? [[name, type]] : []))), TYPES);
    }
    assert.equal(
      done.rows
        .map(({ __time, page, n, many, total, least, most, thrice }) => [__time, page, n, many, total, least, most, thrice].map(String))
        .sort(),
      [0, 1]
        .flatMap((day) =>
          [0, 1, 2].map((page) => {
            const rows = ROWS.filter((row) => row.page === `page ${page}` && Math.floor(row.t / DAY) === day).map(({ v }) => v);
            const high = rows.filter((v) => v >= 300);
            const sum = (values: readonly number[]): number => values.reduce((total, v) => total + v, 0);
            return [
              day * DAY,
              `page ${page}`,
              rows.length,
              high.length,
              sum(high),
              Math.min(...rows),
              Math.max(...rows) / 2,
              sum(rows) * 3,
            ].map(String);
          }),
        )
        .sort(),
    );
  });

stored('rows of keys that are not all stored add up', async ({ folder }) => {
  const query = `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, SUM(v) AS total, COUNT(*) AS n FROM ${extern(folder)} GROUP BY 1, page PARTITIONED BY DAY`;
  const { rows } = await runSql(folder, query, STATES);
  const total = (day: number): number => ROWS.filter(({ t }) => Math.floor(t / DAY) === day).reduce((sum, { v }) => sum + v, 0);
  assert.equal(rows, [
    { __time: 0n, total: BigInt(total(0)), n: 300n },
    { __time: BigInt(DAY), total: BigInt(total(1)), n: 300n },
  ]);
  // Values stay groups of their own.
  assert.is((await runSql(folder, query, {})).rows.length, 6);
});

stored('states are stored without rollup where keys may have several values', async ({ folder }) => {
  const query = `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, COUNT(*) AS n, APPROX_COUNT_DISTINCT_DS_HLL("user") AS users FROM ${extern(folder)} GROUP BY 1 PARTITIONED BY DAY`;
  const done = await runSql(folder, query, { finalizeAggregations: false });
  const [segment] = done.published[0]?.segments ?? [];
  assert.equal(segment?.metrics, []);
  assert.is(segment?.columns.find(({ name }) => name === 'users')?.type, 'COMPLEX<HLLSketch>');
});

const refused: readonly (readonly [items: string, message: RegExp, rest?: string])[] = [
  ['AVG(v) AS x', /AVG in place of SUM and COUNT/],
  ['COUNT(DISTINCT v) AS x', /COUNT, which has no state/],
  ['SUM(DISTINCT v) AS x', /SUM, which has no state/],
  ['STDDEV(v) AS x', /STDDEV, which has no state/],
  ['ANY_VALUE("user") AS x', /ANY_VALUE, which has no state/],
  ['ARRAY_AGG("user") AS x', /ARRAY_AGG, which has no state/],
  ['STRING_AGG("user", \',\') AS x', /STRING_AGG, which has no state/],
  ['MAX("user") AS x', /MAX, which has no state/],
  ['APPROX_QUANTILE_DS(v, 0.5) AS x', /APPROX_QUANTILE_DS, which has no state/],
  ['APPROX_QUANTILE(v, 0.5) AS x', /APPROX_QUANTILE, which has no state/],
  ['APPROX_COUNT_DISTINCT_DS_HLL("user") + 1 AS x', /the value of APPROX_COUNT_DISTINCT_DS_HLL in an expression/],
  ['UPPER(LATEST_BY("user", MILLIS_TO_TIMESTAMP(t))) AS x', /the value of LATEST_BY in an expression/],
];
for (const [items, message] of refused)
  stored(`refused by name: ${items}`, async ({ folder }) => {
    const query = `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, ${items} FROM ${extern(folder)} GROUP BY 1 PARTITIONED BY DAY`;
    await assertRefused(() => runSql(folder, query, STATES), message);
  });

const refusedRows: readonly (readonly [name: string, query: (from: string) => string, message: RegExp])[] = [
  [
    'a subquery whose rows are stored as they are',
    (from) => `SELECT * FROM (SELECT ${TIME}, APPROX_COUNT_DISTINCT_DS_HLL("user") AS x FROM ${from} GROUP BY 1)`,
    /the value of APPROX_COUNT_DISTINCT_DS_HLL in an expression/,
  ],
  [
    'UNION ALL of groups',
    (from) =>
      `SELECT ${TIME}, COUNT(DISTINCT "user") AS x FROM ${from} GROUP BY 1 UNION ALL SELECT ${TIME}, COUNT(*) AS x FROM ${from} GROUP BY 1`,
    /the value of COUNT in an expression/,
  ],
  [
    'several grouping sets',
    (from) => `SELECT ${TIME}, page, LATEST_BY(v, MILLIS_TO_TIMESTAMP(t)) AS x FROM ${from} GROUP BY GROUPING SETS ((1, 2), (1))`,
    /the value of LATEST_BY in an expression/,
  ],
];
for (const [name, query, message] of refusedRows)
  stored(`refused by name: ${name}`, ({ folder }) =>
    assertRefused(() => runSql(folder, `REPLACE INTO t OVERWRITE ALL ${query(extern(folder))} PARTITIONED BY DAY`, STATES), message),
  );

stored('values of HAVING are finished', async ({ folder }) => {
  const having = (users: number): string =>
    `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, COUNT(*) AS n FROM ${extern(folder)} GROUP BY 1 HAVING COUNT(DISTINCT "user") = ${users} PARTITIONED BY DAY`;
  const users = new Set(ROWS.filter(({ t }) => t < DAY).map(({ user }) => user)).size;
  assert.equal((await runSql(folder, having(users), STATES)).rows, [
    { __time: 0n, n: 300n },
    { __time: BigInt(DAY), n: 300n },
  ]);
  assert.equal((await runSql(folder, having(users + 1), STATES)).rows, []);
});

stored('results of a SELECT are values', ({ folder }) =>
  assertRefused(
    () => runSql(folder, `SELECT COUNT(*) AS n FROM ${extern(folder)}`, { finalizeAggregations: false }),
    /context\.finalizeAggregations: .*results are values/,
  ),
);

stored('groupByEnableMultiValueUnnesting: false refuses keys of several values', async ({ folder }) => {
  const query = `REPLACE INTO t OVERWRITE ALL SELECT ${TIME}, STRING_TO_MV("user", ' ') AS word, COUNT(*) AS n FROM ${extern(folder)} GROUP BY 1, 2 PARTITIONED BY DAY`;
  await assertRefused(() => runSql(folder, query, STATES), /groupByEnableMultiValueUnnesting/);
});

async function assertRefused(task: () => Promise<TaskRun>, message: RegExp): Promise<void> {
  let found = 'nothing';
  try {
    found = (await task()).outcome.errorMessage ?? 'success';
  } catch (error) {
    found = String(error);
  }
  assert.match(found, message);
}

stored.run();

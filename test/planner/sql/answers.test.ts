import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../../src/model/frame.js';
import { inlineFrame } from '../../../src/planner/sql/catalog/inline-frame.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import { uploadFrame } from '../../../src/storage/uploaded-frame.js';

/** SQL from text to rows over the real engine, against DuckDB over the same rows. Doubles are multiples of 1/4: sums are exact. */
const COLUMNS = [
  { name: '__time', type: 'LONG', duckdb: 'TIMESTAMP' },
  { name: 'channel', type: 'STRING', duckdb: 'VARCHAR' },
  { name: 'city', type: 'STRING', duckdb: 'VARCHAR' },
  { name: 'added', type: 'LONG', duckdb: 'BIGINT' },
  { name: 'deleted', type: 'LONG', duckdb: 'BIGINT' },
  { name: 'price', type: 'DOUBLE', duckdb: 'DOUBLE' },
] as const;
type Cell = string | bigint | number | null;

const ROW_COUNT = 600;
const START = Date.UTC(2024, 1, 27, 20);

/** The same rows on every run. */
function makeRows(): Cell[][] {
  let state = 12345;
  const random = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
  const cities = ['Oslo', 'oslo', '', 'Rio_de', 'Paris', '7', '10', 'a%b', null, null];
  const rows = Array.from({ length: ROW_COUNT }, (): Cell[] => [
    BigInt(START + random(80 * 3600) * 1000),
    `#c${random(7)}`,
    cities[random(cities.length)] ?? null,
    random(6) === 0 ? null : BigInt(random(500) - 50),
    BigInt(random(20)),
    random(5) === 0 ? null : (random(400) - 100) / 4,
  ]);
  return rows.sort((a, b) => Number(a[0]) - Number(b[0]));
}

const ROWS = makeRows();

const frameOf = (rows: readonly (readonly Cell[])[]): Frame =>
  inlineFrame(
    COLUMNS,
    COLUMNS.map((_, index) => rows.map((row) => row[index] ?? null)),
    rows.length,
  );

const TABLE = { columns: COLUMNS.map(({ name, type }) => ({ name, type, multiValue: false, hasNulls: name !== '__time' })) };
const SCHEMA = { tables: () => ['edits'], table: (name: string) => (name === 'edits' ? TABLE : undefined) };

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });

async function ours(sql: string, parameters: readonly unknown[] = []): Promise<unknown[][]> {
  const statement = planSql({ query: sql, context: {}, parameters }, SCHEMA, 0);
  if (statement.kind !== 'select') throw new Error('no rows come of it');
  const { plan, source, columns } = statement;
  const frames = source.kind === 'inline' ? [source.frame] : [frameOf(ROWS.slice(0, 250)), frameOf(ROWS.slice(250))];
  const placed = frames.map((frame) => uploadFrame(frame, memory));
  const result: unknown[][] = [];
  try {
    const run = { ending: 'final', deadlineMs: Date.now() + 60_000, priority: 0, kernels: null, batchRows: 64 } as const;
    const views = placed.map(({ view }) => view);
    for await (const frame of engine.runViews(plan, views, run, new AbortController().signal))
      for (let row = 0; row < frame.rowCount; row++)
        result.push(
          columns.map(({ sqlType }, index) => {
            const column = frame.columns[index];
            const value = column === undefined ? null : cellAt(column, row);
            return value === null ? null : sqlType === 'BOOLEAN' ? value === 1n : typeof value === 'bigint' ? Number(value) : value;
          }),
        );
  } finally {
    for (const { release } of placed) release();
  }
  return result;
}

/** Values as `ours` gives them: instants in milliseconds, exact integers as numbers. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if ('micros' in value && typeof value.micros === 'bigint') return Number(value.micros / 1000n);
  if ('days' in value && typeof value.days === 'number') return value.days * 86_400_000;
  return 'toDouble' in value && typeof value.toDouble === 'function' ? (value.toDouble as () => number)() : value;
}

/** Read alike by both; a pair where the spelling differs. With an ORDER BY, rows are compared in order. */
const listed = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(', ');

const QUERIES: readonly (string | readonly [ours: string, duckdb: string])[] = [
  // Lists of more values than are compared one by one, or than are kept as they are.
  ...[10, 150, 1500].flatMap((count) => [
    `SELECT COUNT(*) FROM edits WHERE added IN (${listed(count, (index) => `${index * 3}`)})`,
    `SELECT COUNT(*) FROM edits WHERE added NOT IN (${listed(count, (index) => `${index * 3}`)})`,
    `SELECT COUNT(*) FROM edits WHERE price IN (${listed(count, (index) => `${index * 0.75}`)})`,
    `SELECT COUNT(*) FROM edits WHERE channel IN (${listed(count, (index) => `'#c${index * 2}'`)})`,
    `SELECT COUNT(*) FROM edits WHERE channel NOT IN (${listed(count, (index) => `'#c${index * 2}'`)})`,
    `SELECT COUNT(*) FROM edits WHERE UPPER(city) IN (${listed(count, (index) => `'${['OSLO', '', '7'][index] ?? `x${index}`}'`)})`,
    `SELECT COUNT(*) FROM edits WHERE UPPER(city) NOT IN (${listed(count, (index) => `'${['OSLO', '', '7'][index] ?? `x${index}`}'`)})`,
    `SELECT COUNT(*) FROM edits WHERE added - deleted IN (${listed(count, (index) => `${index * 2 - 60}`)})`,
    `SELECT COUNT(*) FROM edits WHERE added - deleted NOT IN (${listed(count, (index) => `${index * 2 - 60}`)})`,
    `SELECT CASE WHEN added IN (${listed(count, (index) => `${index * 2}`)}) THEN 'a' ELSE 'b' END AS s, COUNT(*) FROM edits GROUP BY 1`,
  ]),
  'SELECT COUNT(*), COUNT(added), SUM(added), MIN(added), MAX(price), AVG(added), AVG(price) FROM edits',
  "SELECT COUNT(*), SUM(added), MIN(price) FROM edits WHERE channel = 'none'",
  'SELECT channel, COUNT(*), SUM(added) FROM edits GROUP BY 1 ORDER BY 1',
  'SELECT city, channel, SUM(price) AS p FROM edits GROUP BY city, channel ORDER BY city, channel',
  'SELECT city, COUNT(*) AS n FROM edits GROUP BY city HAVING COUNT(*) > 40 ORDER BY n DESC, city LIMIT 3 OFFSET 1',
  'SELECT city, SUM(added) * 2 + COUNT(*) AS q, MAX(added) - MIN(added) FROM edits GROUP BY city ORDER BY city',
  'SELECT channel, SUM(added) FILTER (WHERE price > 10), COUNT(*) FILTER (WHERE city IS NULL) FROM edits GROUP BY channel ORDER BY 2 DESC NULLS LAST, 1',
  [
    'SELECT FLOOR(__time TO DAY) AS d, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1',
    "SELECT date_trunc('day', __time) AS d, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1",
  ],
  [
    "SELECT TIME_FLOOR(__time, 'PT6H') AS d, channel, SUM(added) FROM edits GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT time_bucket(INTERVAL '6 hours', __time) AS d, channel, SUM(added) FROM edits GROUP BY 1, 2 ORDER BY 1, 2",
  ],
  'SELECT EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1',
  'SELECT EXTRACT(DAY FROM __time), EXTRACT(MONTH FROM __time), COUNT(*) FROM edits GROUP BY 1, 2 ORDER BY 1',
  "SELECT COUNT(*) FROM edits WHERE __time >= TIMESTAMP '2024-02-28 00:00:00' AND __time < TIMESTAMP '2024-02-29 12:00:00'",
  "SELECT COUNT(*) FROM edits WHERE __time < TIMESTAMP '2024-02-28 00:00:00' OR __time >= TIMESTAMP '2024-03-01 00:00:00'",
  "SELECT COUNT(*) FROM edits WHERE NOT (__time BETWEEN TIMESTAMP '2024-02-28 00:00:00' AND TIMESTAMP '2024-02-29 00:00:00') AND added > 10",
  "SELECT COUNT(*) FROM edits WHERE NOT (city = 'Oslo')",
  "SELECT COUNT(*) FROM edits WHERE city <> 'Oslo' OR added IS NULL",
  "SELECT COUNT(*) FROM edits WHERE city NOT IN ('Oslo', 'Paris')",
  "SELECT COUNT(*) FROM edits WHERE city NOT IN ('Oslo', NULL)",
  "SELECT COUNT(*) FROM edits WHERE city IN ('Oslo', NULL, '')",
  "SELECT COUNT(*) FROM edits WHERE city LIKE '%o%' AND city NOT LIKE 'R%'",
  "SELECT COUNT(*) FROM edits WHERE city LIKE 'a!%b' ESCAPE '!' OR city LIKE 'Rio!_%' ESCAPE '!'",
  "SELECT COUNT(*) FROM edits WHERE UPPER(city) = 'OSLO'",
  "SELECT COUNT(*) FROM edits WHERE city IS DISTINCT FROM 'Oslo'",
  "SELECT COUNT(*) FROM edits WHERE city IS NOT DISTINCT FROM 'Oslo' OR city IS NOT DISTINCT FROM NULL",
  'SELECT city IS DISTINCT FROM channel, added IS NOT DISTINCT FROM deleted, price IS DISTINCT FROM added, COUNT(*) FROM edits GROUP BY 1, 2, 3',
  "SELECT COUNT(*) FROM edits WHERE NULLIF(city, 'Oslo') IS NOT DISTINCT FROM NULLIF(city, '7') OR NOT (added IS DISTINCT FROM price)",
  "SELECT COUNT(*) FROM edits WHERE city >= 'P' AND city < 'o'",
  'SELECT COUNT(*) FROM edits WHERE added BETWEEN 10 AND 100 AND price > added * 0.25',
  'SELECT COUNT(*) FROM edits WHERE added > 10.5 AND price <= 20',
  'SELECT COUNT(*) FROM edits WHERE (added > 100) IS NOT TRUE',
  'SELECT COUNT(*) FROM edits WHERE NOT (added > 100 AND price > 5)',
  'SELECT COUNT(*) FROM edits WHERE added + deleted > 200 OR deleted = added',
  'SELECT COUNT(*) FROM edits WHERE CASE WHEN added IS NULL THEN price ELSE added END > 50',
  'SELECT SUM(added - deleted * 2), SUM(price * 2), SUM(CASE WHEN added > 100 THEN 1 ELSE 0 END) FROM edits',
  'SELECT COUNT(DISTINCT city), COUNT(DISTINCT added), COUNT(DISTINCT channel) FILTER (WHERE added > 400) FROM edits',
  [
    'SELECT channel, APPROX_COUNT_DISTINCT(city) FROM edits GROUP BY channel ORDER BY channel',
    'SELECT channel, COUNT(DISTINCT city) FROM edits GROUP BY channel ORDER BY channel',
  ],
  [
    'SELECT channel, APPROX_COUNT_DISTINCT_DS_HLL(city, 12), APPROX_COUNT_DISTINCT_DS_THETA(price) FROM edits GROUP BY channel ORDER BY channel',
    'SELECT channel, COUNT(DISTINCT city), COUNT(DISTINCT price) FROM edits GROUP BY channel ORDER BY channel',
  ],
  [
    'SELECT channel, APPROX_QUANTILE_DS(price, 0), APPROX_QUANTILE_DS(price, 1.0, 512) FROM edits GROUP BY channel ORDER BY channel',
    'SELECT channel, MIN(price), MAX(price) FROM edits GROUP BY channel ORDER BY channel',
  ],
  'SELECT ROUND(VAR_POP(added), 4), ROUND(VAR_SAMP(price), 4), ROUND(STDDEV_POP(price), 4), ROUND(STDDEV_SAMP(added), 4) FROM edits',
  'SELECT channel, ROUND(STDDEV(added) FILTER (WHERE price > 10), 4), ROUND(VARIANCE(added), 4) FROM edits GROUP BY channel ORDER BY channel',
  'SELECT DISTINCT channel FROM edits ORDER BY channel',
  'SELECT DISTINCT city, added > 100 FROM edits ORDER BY 1, 2',
  "SELECT COALESCE(city, 'none') AS c, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1",
  "SELECT UPPER(city) || '-' || channel AS k, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1",
  'SELECT LENGTH(city), MIN(added) FROM edits GROUP BY 1 ORDER BY 1',
  'SELECT added, COUNT(*) FROM edits GROUP BY added ORDER BY added LIMIT 10',
  'SELECT price, COUNT(*) FROM edits WHERE price < 0 GROUP BY price ORDER BY price DESC',
  'SELECT added, deleted, channel, city, price FROM edits ORDER BY added DESC NULLS LAST, deleted, channel, city, price LIMIT 20',
  'SELECT __time, channel, added FROM edits WHERE added > 300 ORDER BY __time, channel, added',
  'SELECT __time FROM edits ORDER BY __time DESC LIMIT 15',
  'SELECT __time FROM edits ORDER BY __time LIMIT 15 OFFSET 5',
  'SELECT added + 1, price > 3, UPPER(city) FROM edits ORDER BY added, price, city LIMIT 30',
  'SELECT COUNT(*) FROM (SELECT city AS c, added AS a FROM edits WHERE added > 20) AS t WHERE a < 200 AND c IS NOT NULL',
  'SELECT SUM(a * 2) FROM (VALUES (1), (NULL), (3)) AS t(a) WHERE a > 0',
  "SELECT 1 + 1, 'x' || 'y', NULL IS NULL",
  'SELECT COUNT(*), MAX(__time), MIN(__time) FROM edits WHERE deleted IN (1, 2, 3, 5, 7, 11, 13, 17, 19)',
  [
    "SELECT COUNT(*) FROM edits WHERE TIME_FORMAT(__time, 'yyyy-MM-dd') = '2024-02-29'",
    "SELECT COUNT(*) FROM edits WHERE strftime(__time, '%Y-%m-%d') = '2024-02-29'",
  ],
  "SELECT COUNT(*) FROM edits WHERE __time + INTERVAL '1' DAY > TIMESTAMP '2024-03-01 00:00:00'",
  'SELECT channel, COUNT(*) FROM edits WHERE FALSE GROUP BY channel',
];

const answers = suite('SQL answers, against DuckDB');

answers('every query gives the rows DuckDB gives', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run("SET default_null_order = 'nulls_first_on_asc_last_on_desc'");
  await connection.run(`CREATE TABLE edits (${COLUMNS.map(({ name, duckdb }) => `${name} ${duckdb}`).join(', ')})`);
  const spelled = (cell: Cell, index: number): string =>
    cell === null ? 'NULL' : index === 0 ? `epoch_ms(${cell})` : typeof cell === 'string' ? `'${cell}'` : String(cell);
  await connection.run(`INSERT INTO edits VALUES ${ROWS.map((row) => `(${row.map(spelled).join(', ')})`).join(', ')}`);
  const differences: string[] = [];
  for (const query of QUERIES) {
    const [sql, oracle] = typeof query === 'string' ? [query, query] : query;
    const expected = (await connection.runAndReadAll(oracle)).getRows().map((row) => row.map(plainValue));
    try {
      const found = await ours(sql);
      const [one, other] = [found, expected].map((rows) => rows.map((row) => JSON.stringify(row)));
      if (!sql.includes('ORDER BY')) for (const rows of [one, other]) rows?.sort();
      const at = Array.from({ length: Math.max(found.length, expected.length) }, (_, row) => row).find(
        (row) => one?.[row] !== other?.[row],
      );
      if (at !== undefined)
        differences.push(`${sql}\n  row ${at} of ${found.length}: ${one?.[at]}, DuckDB (${expected.length} rows) ${other?.[at]}`);
    } catch (error) {
      differences.push(`${sql}\n  ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  connection.closeSync();
  assert.is(differences.join('\n'), '');
  assert.is(memory.allocatedBytes, 0);
});
answers.run();

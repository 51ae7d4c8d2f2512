import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../../../case-count.js';
import { answer, difference, memory, type Oracle, openOracle } from '../small-tables.js';

/** Window functions over drawn frames, against DuckDB. The orders are total, or the functions do not see the order of peers. */
const frames = suite('frames of windows, against DuckDB');
let oracle: Oracle;

frames.before(async () => {
  oracle = await openOracle();
});
frames.after(() => {
  oracle.close();
  assert.is(memory.allocatedBytes, 0);
});

const distance = fc.integer({ min: 0, max: 5 });
const bound = (unbounded: string, written: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(unbounded, 'CURRENT ROW'),
    fc.tuple(written, fc.constantFrom('PRECEDING', 'FOLLOWING')).map(([far, side]) => `${far} ${side}`),
  );
function sideOf(text: string): number {
  return text.endsWith('PRECEDING') ? 0 : text === 'CURRENT ROW' ? 1 : 2;
}

/** Roughly where a bound is. */
function placeOf(text: string): number {
  if (text.startsWith('UNBOUNDED')) return text.endsWith('PRECEDING') ? -Infinity : Infinity;
  const minutes: Readonly<Record<string, number>> = { MINUTE: 1, HOUR: 60, DAY: 1440, MONTH: 40_320 };
  const far = Number(/[\d.]+/.exec(text)?.[0] ?? 0) * (minutes[/[A-Z]+/.exec(text.replace('INTERVAL', ''))?.[0] ?? ''] ?? 1);
  return text.endsWith('PRECEDING') ? -far : far;
}

const extent = (written: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(bound('UNBOUNDED PRECEDING', written), bound('UNBOUNDED FOLLOWING', written))
    // Frames that end before they begin are refused there by their words, or counted below 0.
    .filter(([start, end]) => sideOf(start) <= sideOf(end) && placeOf(start) <= placeOf(end))
    .map(([start, end]) => `BETWEEN ${start} AND ${end}`);
const exclusion = fc.constantFrom('', '', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP', ' EXCLUDE TIES', ' EXCLUDE NO OTHERS');
const direction = fc.constantFrom('', ' DESC');
const partition = fc.constantFrom('', 'PARTITION BY city ', 'PARTITION BY usr > 3 ');

/** In the order of all columns, so that no two rows are peers. */
const TOTAL = 'added, __time, usr, price, city';
const rowWindow = fc
  .tuple(partition, direction, extent(distance.map(String)), exclusion)
  .map(([by, down, rows, without]) => `(${by}ORDER BY added${down}, __time, usr, price, city ROWS ${rows}${without})`);
const peerWindow = fc
  .tuple(
    partition,
    fc.oneof(
      fc
        .tuple(fc.constantFrom('added', 'usr', 'added, usr'), direction, extent(distance.map(String)))
        .map(([by, down, groups]) => `ORDER BY ${by}${down} GROUPS ${groups}`),
      fc
        .tuple(fc.constantFrom('added', 'usr', 'price', 'added * 2'), direction, extent(fc.constantFrom('0', '1', '3', '7', '2.5')))
        .map(([by, down, range]) => `ORDER BY ${by}${down} RANGE ${range}`),
      fc
        .tuple(
          direction,
          extent(
            fc
              .tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom('HOUR', 'MINUTE', 'DAY', 'MONTH'))
              .map(([count, unit]) => `INTERVAL '${count}' ${unit}`),
          ),
        )
        .map(([down, range]) => `ORDER BY __time${down} RANGE ${range}`),
      fc
        .tuple(fc.constantFrom('city', 'usr, city'), direction)
        .map(([by, down]) => `ORDER BY ${by}${down} RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING`),
    ),
    exclusion,
  )
  .map(([by, order, without]) => `(${by}${order}${without})`);

/** Window functions whose values do not depend on the order of peers. */
const UNORDERED = [
  'COUNT(*)',
  'COUNT(price)',
  'SUM(added)',
  'SUM(price)',
  'AVG(added)',
  'MIN(price)',
  'MAX(added)',
  'MIN(city)',
  'MAX(city)',
  'SUM(added) FILTER (WHERE price > 3)',
  'COUNT(*) FILTER (WHERE city IS NULL)',
  'MAX(city) FILTER (WHERE usr < 5)',
  'COUNT(DISTINCT usr)',
  'SUM(DISTINCT added)',
  'COUNT(DISTINCT city) FILTER (WHERE added > 2)',
  'ROUND(VAR_POP(added) OVER, 6)',
  'BIT_OR(usr)',
  'BIT_XOR(usr)',
];
const ORDERED = [
  'FIRST_VALUE(price)',
  'LAST_VALUE(city)',
  'FIRST_VALUE(city IGNORE NULLS)',
  'LAST_VALUE(usr IGNORE NULLS)',
  "STRING_AGG(city, '/')",
];

async function agree(sql: string, oracleSql = sql): Promise<void> {
  const differs = difference(sql, await answer(sql), await oracle.rows(oracleSql));
  assert.is(differs, undefined);
}

/** The other spelling of what passes over nulls. */
const outside = (call: string): string => call.replace(/ IGNORE NULLS\)/, ') IGNORE NULLS');

/** The calls over a window; OVER stands in a call that is part of another. */
const over = (calls: readonly string[], window: string): string =>
  calls.map((call) => (call.includes(' OVER') ? call.replace(' OVER', ` OVER ${window}`) : `${call} OVER ${window}`)).join(', ');

frames('of rows', () =>
  fc.assert(
    fc.asyncProperty(rowWindow, fc.shuffledSubarray([...UNORDERED, ...ORDERED], { minLength: 4, maxLength: 4 }), (window, calls) =>
      agree(`SELECT ${TOTAL}, ${over(calls.map(outside), window)} FROM edits`, `SELECT ${TOTAL}, ${over(calls, window)} FROM edits`),
    ),
    { numRuns: 60, seed: 4 },
  ),
);

frames('of groups and of ranges', () =>
  fc.assert(
    fc.asyncProperty(peerWindow, fc.shuffledSubarray(UNORDERED, { minLength: 4, maxLength: 4 }), (window, calls) =>
      agree(`SELECT ${TOTAL}, ${over(calls, window)} FROM edits`),
    ),
    { numRuns: caseCount(60), seed: 5 },
  ),
);

frames('and rows before and after', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom('LAG', 'LEAD'),
      fc.constantFrom('added', 'city', 'price'),
      fc.integer({ min: 0, max: 4 }),
      fc.constantFrom('', ' IGNORE NULLS', ' RESPECT NULLS'),
      partition,
      direction,
      (name, column, rows, nulls, by, down) => {
        // There, IGNORE NULLS and no distance at all gives null for a row of null; here it is the row itself.
        const far = rows === 0 && nulls === ' IGNORE NULLS' ? 1 : rows;
        const otherwise = column === 'city' ? "'none'" : '-7';
        const over = `OVER (${by}ORDER BY added${down}, __time, usr, price, city)`;
        const calls = [`${column}${nulls}`, `${column}, ${far}${nulls}`, `${column}, ${far}, ${otherwise}${nulls}`];
        return agree(`SELECT ${TOTAL}, ${calls.map((call) => `${name}(${call}) ${over}`).join(', ')} FROM edits`);
      },
    ),
    { numRuns: 40, seed: 6 },
  ),
);

const CASES: readonly (string | readonly [ours: string, duckdb: string])[] = [
  // QUALIFY among all its neighbours.
  'SELECT city, COUNT(*) AS n FROM edits GROUP BY city HAVING COUNT(*) > 3 QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 3 OR city IS NULL ORDER BY n, city',
  'SELECT id, SUM(id) OVER w FROM users WINDOW w AS (ORDER BY id) QUALIFY SUM(id) OVER w > 9 AND id <> 7 ORDER BY id LIMIT 3',
  [
    'SELECT id, SUM(id) OVER w FROM users QUALIFY SUM(id) OVER w > 9 WINDOW w AS (ORDER BY id) ORDER BY id',
    'SELECT id, SUM(id) OVER w FROM users WINDOW w AS (ORDER BY id) QUALIFY SUM(id) OVER w > 9 ORDER BY id',
  ],
  "SELECT id FROM users QUALIFY name IN ('u1', 'u2') AND ROW_NUMBER() OVER (PARTITION BY name ORDER BY id) = 1 UNION ALL SELECT 5 ORDER BY 1",
  'SELECT COUNT(*) FROM (SELECT id FROM users QUALIFY NTILE(2) OVER (ORDER BY id) = 1) AS q',
  'SELECT id, RANK() OVER (ORDER BY city) AS r FROM users QUALIFY r = 1',
  // Named windows that add to others.
  [
    'SELECT id, SUM(id) OVER (w2 ROWS 1 PRECEDING), COUNT(*) OVER w2, MAX(id) OVER w FROM users WINDOW w AS (PARTITION BY city), w2 AS (w ORDER BY id)',
    'SELECT id, SUM(id) OVER (PARTITION BY city ORDER BY id ROWS 1 PRECEDING), COUNT(*) OVER (PARTITION BY city ORDER BY id), MAX(id) OVER (PARTITION BY city) FROM users',
  ],
  // Orders of windows with nulls at either end; several windows in one statement; aggregates of groups in frames.
  'SELECT id, SUM(id) OVER (ORDER BY score NULLS LAST, id ROWS 2 PRECEDING), SUM(id) OVER (ORDER BY score DESC NULLS FIRST, id ROWS 2 PRECEDING) FROM users',
  'SELECT score, SUM(id) OVER (ORDER BY score NULLS LAST RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), COUNT(*) OVER (ORDER BY score DESC NULLS FIRST RANGE 2 PRECEDING) FROM users',
  'SELECT city, SUM(COUNT(*)) OVER (ORDER BY city GROUPS 1 PRECEDING), AVG(SUM(added)) OVER (ORDER BY COUNT(*) RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) FROM edits GROUP BY city',
  // Any aggregate.
  "SELECT id, ARRAY_AGG(id ORDER BY score DESC NULLS LAST, id) OVER (ORDER BY id ROWS 3 PRECEDING), STRING_AGG(city, '-' ORDER BY city) OVER (PARTITION BY name) FROM users",
  'SELECT id, ROUND(STDDEV_POP(score) OVER (ORDER BY id ROWS 3 PRECEDING), 6), ARRAY_AGG(id) OVER (ORDER BY id ROWS 1 PRECEDING), COUNT(DISTINCT city) OVER (PARTITION BY name) FROM users',
  [
    'SELECT id, LATEST_BY(name, __time) OVER (ORDER BY id), EARLIEST_BY(score, __time) OVER (ORDER BY id ROWS 2 PRECEDING) FROM users',
    'SELECT id, arg_max(name, __time) OVER (ORDER BY id), arg_min_null(score, __time) OVER (ORDER BY id ROWS 2 PRECEDING) FROM users',
  ],
  [
    'SELECT id, APPROX_COUNT_DISTINCT_DS_HLL(city) OVER (ORDER BY id), APPROX_COUNT_DISTINCT_DS_THETA(score) OVER (PARTITION BY city) FROM users',
    'SELECT id, COUNT(DISTINCT city) OVER (ORDER BY id), COUNT(DISTINCT score) OVER (PARTITION BY city) FROM users',
  ],
  [
    'SELECT id, APPROX_QUANTILE_DS(score, 0) OVER (ORDER BY id ROWS 3 PRECEDING), ANY_VALUE(name) OVER (PARTITION BY name) FROM users',
    'SELECT id, MIN(score) OVER (ORDER BY id ROWS 3 PRECEDING), name FROM users',
  ],
];

for (const each of CASES) {
  const [sql, oracleSql] = typeof each === 'string' ? [each, each] : each;
  frames(sql, () => agree(sql, oracleSql));
}

const LONG_MIN = '-9223372036854775808';
const LONG_MAX = '9223372036854775807';

/** DuckDB refuses to compute the ends of such frames: each key is near itself, and near none at the other end. */
frames('ranges that reach beyond the last long', async () => {
  for (const order of ['x', 'x DESC'])
    assert.equal(
      await answer(
        `SELECT x > 0, COUNT(*) OVER (ORDER BY ${order} RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) FROM (VALUES (${LONG_MIN}), (${LONG_MAX}), (${LONG_MAX} - 1)) AS t (x) ORDER BY x`,
      ),
      [
        [false, 1],
        [true, 2],
        [true, 2],
      ],
    );
});

frames.run();

const quirks = suite('windows that are not as SQL has them');

quirks('without an ORDER BY a frame is the whole partition', async () => {
  const rows = await answer(
    'SELECT COUNT(*) OVER (ROWS 1 PRECEDING), COUNT(*) OVER (PARTITION BY city IS NULL ROWS CURRENT ROW) FROM users',
  );
  assert.is(rows.length, 10);
  for (const [whole] of rows) assert.is(whole, 10);
});

quirks('a frame that ends before it begins has no rows', async () => {
  const over = 'OVER (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING EXCLUDE TIES)';
  const rows = await answer(`SELECT COUNT(*) ${over}, SUM(id) ${over}, LAST_VALUE(id) ${over} FROM users`);
  for (const row of rows) assert.equal(row, [0, null, null]);
});

quirks.run();

import { channelName, cityName, countryName, userName } from '../data/wiki.js';

/**
 * The questions of the query benchmark, over the table `wiki` of `bench/data/wiki.ts`. `sql` is the text for both
 * engines; `duckdb` where it must differ.
 */
export interface BenchQuery {
  readonly id: string;
  readonly about: string;
  readonly sql: string;
  readonly duckdb?: string;
  /** Position of the ordering column: rows that tie in it may come in any order, and at the cut be others. */
  readonly orderedBy?: number;
  /** Positions that hold timestamps. */
  readonly timeColumns?: readonly number[];
  /** Both engines estimate: each is compared with what DuckDB answers to `exact`, within so much of a number. */
  readonly estimates?: { readonly exact: string; readonly error: { readonly dolmen: number; readonly duckdb: number } };
}

const users = Array.from({ length: 100 }, (_, index) => `'${userName(index * index + 2)}'`).join(', ');
const drill = (day: string): string =>
  `SELECT ${day} AS t, COUNT(*) AS cnt, SUM(added) AS a, SUM(deleted) FILTER (WHERE isRobot = 'true') AS d FROM wiki ` +
  `WHERE (channel = '${channelName(1)}' OR country = '${countryName(0)}') AND __time >= TIMESTAMP '2024-01-08 00:00:00' ` +
  `AND __time < TIMESTAMP '2024-01-15 00:00:00' GROUP BY 1 ORDER BY 1`;

export const QUERIES: readonly BenchQuery[] = [
  {
    id: 'count_time',
    about: 'count over a time range cut at a minute',
    sql: "SELECT COUNT(*) AS cnt FROM wiki WHERE __time >= TIMESTAMP '2024-01-05 06:17:00' AND __time < TIMESTAMP '2024-01-19 21:43:00'",
  },
  {
    id: 'sum_all',
    about: 'sums and extremes of the whole table',
    sql: 'SELECT COUNT(*) AS cnt, SUM(added) AS a, SUM(deleted) AS d, SUM(score) AS s, MIN(delta) AS mn, MAX(delta) AS mx FROM wiki',
  },
  {
    id: 'ts_hour',
    about: 'hourly series, 744 buckets',
    sql: 'SELECT FLOOR(__time TO HOUR) AS t, COUNT(*) AS cnt, SUM(added) AS a, SUM(price) AS p FROM wiki GROUP BY 1 ORDER BY 1',
    duckdb: "SELECT date_trunc('hour', __time) AS t, COUNT(*) AS cnt, SUM(added) AS a, SUM(price) AS p FROM wiki GROUP BY 1 ORDER BY 1",
    timeColumns: [0],
  },
  {
    id: 'hour_of_day',
    about: 'hour of day, two sums',
    sql: 'SELECT EXTRACT(HOUR FROM __time) AS h, SUM(added) AS a, SUM(score) AS s FROM wiki GROUP BY 1 ORDER BY 1',
  },
  {
    id: 'topn_low',
    about: 'top 5 of 10 values',
    sql: 'SELECT channel, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 2 DESC LIMIT 5',
    orderedBy: 1,
  },
  {
    id: 'topn_mid',
    about: 'top 100 of 5,000 values',
    sql: 'SELECT city, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 2 DESC LIMIT 100',
    orderedBy: 1,
  },
  {
    id: 'topn_high',
    about: 'top 100 of 1,000,000 values',
    sql: 'SELECT page, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 2 DESC LIMIT 100',
    orderedBy: 1,
  },
  {
    id: 'group_1',
    about: 'one dimension, 250 groups',
    sql: 'SELECT country, COUNT(*) AS cnt, SUM(added) AS a, SUM(deleted) AS d FROM wiki GROUP BY 1 ORDER BY 1',
  },
  {
    id: 'group_2',
    about: 'two dimensions, 2,500 groups',
    sql: 'SELECT channel, country, COUNT(*) AS cnt, SUM(price) AS p FROM wiki GROUP BY 1, 2 ORDER BY 1, 2',
  },
  {
    id: 'group_3',
    about: 'three dimensions, about 100,000 groups',
    sql: 'SELECT isRobot, channel, city, COUNT(*) AS cnt, SUM(added) AS a FROM wiki GROUP BY 1, 2, 3 ORDER BY 5 DESC LIMIT 100',
    orderedBy: 4,
  },
  {
    id: 'group_high',
    about: 'two dimensions, hundreds of thousands of groups',
    sql: 'SELECT "user", channel, SUM(added) AS a FROM wiki GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100',
    orderedBy: 2,
  },
  {
    id: 'filter_01pct',
    about: 'equality that keeps about 0.1 %',
    sql: `SELECT COUNT(*) AS cnt, SUM(added) AS a, SUM(price) AS p FROM wiki WHERE city = '${cityName(110)}'`,
  },
  {
    id: 'filter_10pct',
    about: 'equality that keeps about 12 %',
    sql: `SELECT COUNT(*) AS cnt, SUM(added) AS a, SUM(price) AS p FROM wiki WHERE channel = '${channelName(2)}'`,
  },
  {
    id: 'filter_90pct',
    about: 'inequality that keeps about 88 %',
    sql: `SELECT COUNT(*) AS cnt, SUM(added) AS a, SUM(price) AS p FROM wiki WHERE channel <> '${channelName(2)}'`,
  },
  {
    id: 'filter_metric',
    about: 'range of a metric',
    sql: 'SELECT COUNT(*) AS cnt, SUM(price) AS p FROM wiki WHERE added >= 200 AND score < 0.9',
  },
  { id: 'distinct_exact', about: 'exact distinct of 100,000 values', sql: 'SELECT COUNT(DISTINCT "user") AS u FROM wiki' },
  { id: 'distinct_high', about: 'distinct of 1,000,000 values', sql: 'SELECT COUNT(DISTINCT page) AS u FROM wiki' },
  {
    id: 'distinct_by',
    about: 'distinct users by channel',
    sql: 'SELECT channel, COUNT(DISTINCT "user") AS u FROM wiki GROUP BY 1 ORDER BY 1',
  },
  {
    id: 'min_max',
    about: 'extremes of a double and a long, 30 % of rows',
    sql: "SELECT MIN(price) AS a, MAX(price) AS b, MIN(delta) AS c, MAX(delta) AS d FROM wiki WHERE isRobot = 'true'",
  },
  { id: 'like', about: 'LIKE over 1,000,000 values', sql: "SELECT COUNT(*) AS cnt, SUM(added) AS a FROM wiki WHERE page LIKE '%moon%'" },
  {
    id: 'in_100',
    about: 'IN with 100 of 100,000 values',
    sql: `SELECT COUNT(*) AS cnt, SUM(added) AS a FROM wiki WHERE "user" IN (${users})`,
  },
  {
    id: 'drill',
    about: 'boolean filter over a week, by day, filtered aggregate',
    sql: drill('FLOOR(__time TO DAY)'),
    duckdb: drill("date_trunc('day', __time)"),
    timeColumns: [0],
  },
  { id: 'expr', about: 'arithmetic on columns', sql: 'SELECT SUM(added - deleted * 2) AS x, AVG(price) AS p FROM wiki' },
  {
    id: 'scan_top',
    about: 'newest 100 rows of a filter',
    sql: `SELECT __time, page, "user", added FROM wiki WHERE channel = '${channelName(2)}' ORDER BY __time DESC LIMIT 100`,
    timeColumns: [0],
    orderedBy: 0,
  },
  {
    id: 'scan_10k',
    about: 'first 10,000 rows of a range, five columns',
    sql: "SELECT __time, channel, page, added, price FROM wiki WHERE __time >= TIMESTAMP '2024-01-10 00:00:00' ORDER BY __time LIMIT 10000",
    timeColumns: [0],
    orderedBy: 0,
  },
];

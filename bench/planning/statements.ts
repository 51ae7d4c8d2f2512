/** Statements as dashboards send them, over `events` (200 columns) and the lookup-like table `countries`. */
export interface Statement {
  readonly name: string;
  readonly sql: string;
}

const DAY = `__time >= TIMESTAMP '2026-11-01 00:00:00' AND __time < TIMESTAMP '2026-11-02 00:00:00'`;

export const STATEMENTS: readonly Statement[] = [
  { name: 'count over a day', sql: `SELECT COUNT(*) AS "rows" FROM events WHERE ${DAY}` },
  {
    name: 'series by hour',
    sql: `SELECT TIME_FLOOR(__time, 'PT1H') AS "hour", SUM(metric_1) AS total, COUNT(*) AS "rows" FROM events
      WHERE ${DAY} AND dimension_3 = 'web' GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'series in a time zone, several filters',
    sql: `SELECT TIME_FLOOR(__time, 'P1D', NULL, 'Europe/Berlin') AS "day", AVG(metric_2), MAX(metric_3) FROM events
      WHERE __time >= CURRENT_TIMESTAMP - INTERVAL '7' DAY AND dimension_1 IN ('a', 'b', 'c') AND NOT (dimension_2 LIKE 'x%' OR dimension_4 IS NULL)
      GROUP BY 1`,
  },
  {
    name: 'top 10',
    sql: `SELECT dimension_5, SUM(metric_4) AS total FROM events WHERE ${DAY} GROUP BY dimension_5 ORDER BY total DESC LIMIT 10`,
  },
  {
    name: 'filtered aggregates',
    sql: `SELECT dimension_6, COUNT(*) FILTER (WHERE dimension_7 = 'error') AS errors, COUNT(*) AS total,
      CAST(COUNT(*) FILTER (WHERE dimension_7 = 'error') AS DOUBLE) / COUNT(*) AS share
      FROM events WHERE ${DAY} GROUP BY 1 HAVING COUNT(*) > 100 ORDER BY share DESC LIMIT 20`,
  },
  {
    name: 'distinct users by channel',
    sql: `SELECT dimension_8, APPROX_COUNT_DISTINCT(dimension_9) AS users, COUNT(DISTINCT dimension_10) AS sessions
      FROM events WHERE ${DAY} GROUP BY dimension_8 ORDER BY users DESC LIMIT 50`,
  },
  {
    name: 'CASE buckets',
    sql: `SELECT CASE WHEN metric_5 < 10 THEN 'small' WHEN metric_5 < 100 THEN 'medium' ELSE 'large' END AS size, COUNT(*), SUM(metric_5)
      FROM events WHERE ${DAY} AND dimension_11 <> '' GROUP BY 1`,
  },
  {
    name: 'join to a table of names',
    sql: `SELECT c.name, SUM(e.metric_6) AS total FROM events e JOIN countries c ON e.dimension_12 = c.code
      WHERE e.${DAY.replace('AND __time', 'AND e.__time')} AND c.continent = 'EU' GROUP BY c.name ORDER BY total DESC LIMIT 10`,
  },
  {
    name: 'lookup',
    sql: `SELECT LOOKUP(dimension_13, 'country_names') AS country, COUNT(*) FROM events WHERE ${DAY} GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
  },
  {
    name: 'CTE compared with the day before',
    sql: `WITH today AS (SELECT dimension_14 AS d, SUM(metric_7) AS total FROM events WHERE ${DAY} GROUP BY 1),
      before AS (SELECT dimension_14 AS d, SUM(metric_7) AS total FROM events
        WHERE __time >= TIMESTAMP '2026-10-31 00:00:00' AND __time < TIMESTAMP '2026-11-01 00:00:00' GROUP BY 1)
      SELECT today.d, today.total, before.total, today.total - before.total AS change
      FROM today LEFT JOIN before ON today.d = before.d ORDER BY change DESC LIMIT 20`,
  },
  {
    name: 'window over groups',
    sql: `SELECT "hour", dimension_15, total, RANK() OVER (PARTITION BY "hour" ORDER BY total DESC) AS place,
      SUM(total) OVER (PARTITION BY dimension_15 ORDER BY "hour") AS running
      FROM (SELECT TIME_FLOOR(__time, 'PT1H') AS "hour", dimension_15, SUM(metric_8) AS total FROM events WHERE ${DAY} GROUP BY 1, 2)`,
  },
  {
    name: 'UNION ALL of two shares',
    sql: `SELECT 'errors' AS kind, COUNT(*) AS n FROM events WHERE ${DAY} AND dimension_7 = 'error'
      UNION ALL SELECT 'warnings', COUNT(*) FROM events WHERE ${DAY} AND dimension_7 = 'warning'`,
  },
  {
    name: 'top 5 of a subquery in IN',
    sql: `SELECT TIME_FLOOR(__time, 'PT1H') AS "hour", dimension_16, SUM(metric_9) FROM events
      WHERE ${DAY} AND dimension_16 IN (SELECT dimension_16 FROM events WHERE ${DAY} GROUP BY 1 ORDER BY SUM(metric_9) DESC LIMIT 5)
      GROUP BY 1, 2`,
  },
  {
    name: 'wide table of 40 sums',
    sql: `SELECT dimension_17, ${Array.from({ length: 40 }, (_, index) => `SUM(metric_${index + 1}) AS s${index + 1}`).join(', ')}
      FROM events WHERE ${DAY} AND ${Array.from({ length: 10 }, (_, index) => `dimension_${index + 20} <> 'none'`).join(' AND ')}
      GROUP BY dimension_17 ORDER BY s1 DESC LIMIT 100`,
  },
];

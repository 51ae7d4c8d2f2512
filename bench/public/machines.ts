import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Machines of a factory: gaps, interpolation, islands, bits, shifts, percentiles. */
export const MACHINES: readonly Question[] = [
  q(
    'machines_missing',
    'SELECT machine, COUNT(*), COUNT(*) - COUNT(temperature) AS missing, AVG(temperature), STDDEV(temperature), AVG(vibration) FROM machines GROUP BY 1 ORDER BY 1',
  ),
  q(
    'machines_oee',
    `SELECT FLOOR(__time TO DAY) AS d, line, SUM(CASE WHEN mode = 'run' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS avail, COUNT(alarm) AS alarms, MAX(pieces) - MIN(pieces) AS made FROM machines GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT date_trunc('day', __time) AS d, line, SUM(CASE WHEN mode = 'run' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS avail, COUNT(alarm) AS alarms, MAX(pieces) - MIN(pieces) AS made FROM machines GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'machines_gaps',
    'SELECT machine, COUNT(*) AS n, MAX(g) FROM (SELECT machine, TIMESTAMPDIFF(SECOND, LAG(__time) OVER (PARTITION BY machine ORDER BY __time), __time) AS g FROM machines) WHERE g > 120 GROUP BY 1 ORDER BY 1',
    `SELECT machine, COUNT(*) AS n, MAX(g) FROM (SELECT machine, date_sub('second', LAG(__time) OVER (PARTITION BY machine ORDER BY __time), __time) AS g FROM machines) WHERE g > 120 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'machines_interpolate',
    `SELECT COUNT(*), SUM(CASE WHEN temperature IS NULL THEN (p + n) / 2 ELSE temperature END) FROM (SELECT temperature, LAG(temperature) OVER (PARTITION BY machine ORDER BY __time) AS p, LEAD(temperature) OVER (PARTITION BY machine ORDER BY __time) AS n FROM machines WHERE line = 'line-2')`,
  ),
  q(
    'machines_delta',
    'SELECT line, SUM(d), AVG(d), MAX(d) FROM (SELECT line, pieces - LAG(pieces) OVER (PARTITION BY machine ORDER BY __time) AS d FROM machines) WHERE d IS NOT NULL GROUP BY 1 ORDER BY 1',
  ),
  q(
    'machines_mode_changes',
    'SELECT machine, SUM(c) FROM (SELECT machine, CASE WHEN mode <> LAG(mode) OVER (PARTITION BY machine ORDER BY __time) THEN 1 ELSE 0 END AS c FROM machines) GROUP BY 1 ORDER BY 2 DESC, 1',
  ),
  q(
    'machines_islands',
    `SELECT machine, mode, COUNT(*), MAX(n) FROM (SELECT machine, mode, g, COUNT(*) AS n FROM (SELECT machine, mode, ROW_NUMBER() OVER (PARTITION BY machine ORDER BY __time) - ROW_NUMBER() OVER (PARTITION BY machine, mode ORDER BY __time) AS g FROM machines WHERE line = 'line-1') GROUP BY 1, 2, 3) GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'machines_zscore',
    'SELECT machine, COUNT(*) FROM (SELECT machine, (temperature - AVG(temperature) OVER (PARTITION BY machine)) / STDDEV(temperature) OVER (PARTITION BY machine) AS z FROM machines WHERE temperature IS NOT NULL) WHERE ABS(z) > 1.8 GROUP BY 1 ORDER BY 2 DESC, 1',
  ),
  q(
    'machines_moving_avg',
    'SELECT line, MAX(ma), MIN(ma) FROM (SELECT line, AVG(vibration) OVER (PARTITION BY machine ORDER BY __time ROWS BETWEEN 30 PRECEDING AND CURRENT ROW) AS ma FROM machines) GROUP BY 1 ORDER BY 1',
  ),
  q(
    'machines_bits',
    'SELECT machine, BIT_AND(status), BIT_OR(status), BIT_XOR(status), COUNT(*) FILTER (WHERE BITWISE_AND(BITWISE_SHIFT_RIGHT(status, 3), 1) = 1) FROM machines GROUP BY 1 ORDER BY 1',
    'SELECT machine, BIT_AND(status), BIT_OR(status), BIT_XOR(status), COUNT(*) FILTER (WHERE ((status >> 3) & 1) = 1) FROM machines GROUP BY 1 ORDER BY 1',
  ),
  q(
    'machines_bits_hours',
    `SELECT machine, TIME_FLOOR(__time, 'PT10M') AS t, BIT_OR(status) AS s FROM machines GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
    'SELECT machine, time_bucket(INTERVAL 10 MINUTE, __time) AS t, BIT_OR(status) AS s FROM machines GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100',
  ),
  q(
    'machines_percentiles',
    'SELECT line, APPROX_QUANTILE_DS(vibration, 0.5) > 0, APPROX_QUANTILE_DS(vibration, 0.95) > 0, APPROX_QUANTILE_DS(temperature, 0.99) > 0 FROM machines GROUP BY 1 ORDER BY 1',
    'SELECT line, quantile_cont(vibration, 0.5) > 0, quantile_cont(vibration, 0.95) > 0, quantile_cont(temperature, 0.99) > 0 FROM machines GROUP BY 1 ORDER BY 1',
  ),
  q(
    'machines_shifts',
    `SELECT CASE WHEN EXTRACT(HOUR FROM __time) BETWEEN 6 AND 13 THEN 'early' WHEN EXTRACT(HOUR FROM __time) BETWEEN 14 AND 21 THEN 'late' ELSE 'night' END AS s, operator, COUNT(*), AVG(temperature), COUNT(alarm) FROM machines GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'machines_week_day',
    'SELECT EXTRACT(WEEK FROM __time) AS w, EXTRACT(DOY FROM __time) AS y, EXTRACT(QUARTER FROM __time) AS q, COUNT(*), MIN(temperature) FROM machines GROUP BY 1, 2, 3 ORDER BY 2',
  ),
  q(
    'machines_alarm_pareto',
    'SELECT alarm, n, SUM(n) OVER (ORDER BY n DESC, alarm ROWS UNBOUNDED PRECEDING) * 100.0 / SUM(n) OVER () AS cum FROM (SELECT alarm, COUNT(*) AS n FROM machines WHERE alarm IS NOT NULL GROUP BY 1) ORDER BY 2 DESC, 1 LIMIT 30',
  ),
  q(
    'machines_after_alarm',
    `SELECT a.alarm, COUNT(*), AVG(m.temperature) FROM (SELECT machine, TIME_FLOOR(__time, 'PT1H') AS h, MAX(alarm) AS alarm FROM machines WHERE alarm IS NOT NULL GROUP BY 1, 2) a JOIN machines m ON m.machine = a.machine AND TIME_FLOOR(m.__time, 'PT1H') = TIMESTAMPADD(HOUR, 1, a.h) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    'SELECT a.alarm, COUNT(*), AVG(m.temperature) FROM (SELECT machine, time_bucket(INTERVAL 1 HOUR, __time) AS h, MAX(alarm) AS alarm FROM machines WHERE alarm IS NOT NULL GROUP BY 1, 2) a JOIN machines m ON m.machine = a.machine AND time_bucket(INTERVAL 1 HOUR, m.__time) = a.h + INTERVAL (1) HOUR GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ),
  q(
    'machines_hottest_hour',
    'SELECT machine, h, t FROM (SELECT machine, FLOOR(__time TO HOUR) AS h, AVG(temperature) AS t, ROW_NUMBER() OVER (PARTITION BY machine ORDER BY AVG(temperature) DESC, FLOOR(__time TO HOUR)) AS n FROM machines GROUP BY 1, 2) WHERE n = 1 ORDER BY 1',
    `SELECT machine, h, t FROM (SELECT machine, date_trunc('hour', __time) AS h, AVG(temperature) AS t, ROW_NUMBER() OVER (PARTITION BY machine ORDER BY AVG(temperature) DESC, date_trunc('hour', __time)) AS n FROM machines GROUP BY 1, 2) WHERE n = 1 ORDER BY 1`,
  ),
  q(
    'machines_concat_ops',
    `SELECT machine || '/' || operator AS k, COUNT(*), MAX(vibration), LATEST(temperature) FROM machines GROUP BY 1 ORDER BY 1`,
    `SELECT machine || '/' || operator AS k, COUNT(*), MAX(vibration), arg_max_null(temperature, __time) FROM machines GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'machines_alarm_lists',
    `SELECT machine, STRING_AGG(alarm, ',', 1000000) IS NOT NULL, COUNT(DISTINCT alarm) FROM machines WHERE mode <> 'run' GROUP BY 1 ORDER BY 1`,
    `SELECT machine, string_agg(alarm, ',') IS NOT NULL, COUNT(DISTINCT alarm) FROM machines WHERE mode <> 'run' GROUP BY 1 ORDER BY 1`,
  ),
];

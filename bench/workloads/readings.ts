import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Odd periods, time zones, gaps, first and last of each device, moving windows, what is unknown. */
export const READINGS: readonly Question[] = [
  q(
    'iot_seven_minutes',
    `SELECT TIME_FLOOR(__time, 'PT7M'), COUNT(*), AVG(temperature), MAX(humidity) FROM readings GROUP BY 1 ORDER BY 1`,
    `SELECT time_bucket(INTERVAL 7 MINUTE, __time, TIMESTAMP '1970-01-01'), COUNT(*), AVG(temperature), MAX(humidity) FROM readings GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'iot_zone_days',
    `SELECT TIME_FLOOR(__time, 'P1D', NULL, 'America/New_York'), status, COUNT(*), AVG(battery) FROM readings GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT timezone('America/New_York', date_trunc('day', timezone('America/New_York', timezone('UTC', __time)))), status, COUNT(*), AVG(battery) FROM readings GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'iot_zone_hours',
    `SELECT TIME_EXTRACT(__time, 'HOUR', 'Asia/Kolkata'), COUNT(*), AVG(temperature) FROM readings GROUP BY 1 ORDER BY 1`,
    `SELECT EXTRACT(HOUR FROM timezone('Asia/Kolkata', timezone('UTC', __time))), COUNT(*), AVG(temperature) FROM readings GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'iot_device_quarters',
    `SELECT device, TIME_FLOOR(__time, 'PT6H'), AVG(temperature), MIN(signal), COUNT(humidity) FROM readings GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
    `SELECT device, time_bucket(INTERVAL 6 HOUR, __time), AVG(temperature), MIN(signal), COUNT(humidity) FROM readings GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
  ),
  q(
    'iot_latest',
    'SELECT device, LATEST(temperature), LATEST(status, 20), EARLIEST(battery), MAX(__time) FROM readings GROUP BY 1 ORDER BY 5 DESC, 1 LIMIT 50',
    `SELECT device, arg_max_null(temperature, __time), arg_max(status, __time), arg_min(battery, __time), MAX(__time) FROM readings GROUP BY 1 ORDER BY 5 DESC, 1 LIMIT 50`,
  ),
  q(
    'iot_last_row',
    `SELECT device, __time, temperature, status FROM (SELECT device, __time, temperature, status, ROW_NUMBER() OVER (PARTITION BY device ORDER BY sequence DESC) AS n FROM readings) WHERE n = 1 ORDER BY 1 LIMIT 100`,
  ),
  q(
    'iot_daily_worst',
    `SELECT device, day, temperature, signal FROM (SELECT device, TIME_FLOOR(__time, 'P1D') AS day, temperature, signal, ROW_NUMBER() OVER (PARTITION BY device, TIME_FLOOR(__time, 'P1D') ORDER BY temperature DESC NULLS LAST, sequence) AS n FROM readings WHERE device < 'device-0300') WHERE n = 1 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
    `SELECT device, day, temperature, signal FROM (SELECT device, date_trunc('day', __time) AS day, temperature, signal, ROW_NUMBER() OVER (PARTITION BY device, date_trunc('day', __time) ORDER BY temperature DESC NULLS LAST, sequence) AS n FROM readings WHERE device < 'device-0300') WHERE n = 1 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'iot_first_faults',
    `SELECT status, firmware, sequence, device FROM (SELECT status, firmware, sequence, device, RANK() OVER (PARTITION BY status, firmware ORDER BY humidity NULLS FIRST, sequence DESC) AS n FROM readings WHERE battery < 50) WHERE n <= 2 ORDER BY 1, 2, 3, 4`,
  ),
  q(
    'iot_gaps',
    `SELECT device, MAX(gap) FROM (SELECT device, TIMESTAMP_TO_MILLIS(__time) - LAG(TIMESTAMP_TO_MILLIS(__time)) OVER (PARTITION BY device ORDER BY sequence) AS gap FROM readings) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT device, MAX(gap) FROM (SELECT device, epoch_ms(__time) - LAG(epoch_ms(__time)) OVER (PARTITION BY device ORDER BY sequence) AS gap FROM readings) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'iot_steps',
    `SELECT COUNT(*), AVG(step), MAX(step) FROM (SELECT temperature - LAG(temperature, 1) OVER (PARTITION BY device ORDER BY sequence) AS step FROM readings WHERE temperature IS NOT NULL) WHERE step > 0`,
  ),
  q(
    'iot_moving_average',
    `SELECT device, hour, AVG(t) OVER (PARTITION BY device ORDER BY hour ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS moving FROM
     (SELECT device, TIME_FLOOR(__time, 'PT1H') AS hour, AVG(temperature) AS t FROM readings WHERE device < 'device-0100' GROUP BY 1, 2) ORDER BY 3 DESC, 1, 2 LIMIT 30`,
    `SELECT device, hour, AVG(t) OVER (PARTITION BY device ORDER BY hour ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS moving FROM
     (SELECT device, date_trunc('hour', __time) AS hour, AVG(temperature) AS t FROM readings WHERE device < 'device-0100' GROUP BY 1, 2) ORDER BY 3 DESC, 1, 2 LIMIT 30`,
  ),
  q(
    'iot_running',
    `SELECT day, n, SUM(n) OVER (ORDER BY day) FROM (SELECT TIME_FLOOR(__time, 'P1D') AS day, COUNT(*) AS n FROM readings WHERE status <> 'ok' GROUP BY 1) ORDER BY 1`,
    `SELECT day, n, SUM(n) OVER (ORDER BY day) FROM (SELECT date_trunc('day', __time) AS day, COUNT(*) AS n FROM readings WHERE status <> 'ok' GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'iot_silent',
    `SELECT COUNT(*) FROM devices d LEFT JOIN (SELECT device, COUNT(*) AS n FROM readings WHERE __time >= TIMESTAMP '2025-05-30' GROUP BY 1) r ON d.device = r.device WHERE r.n IS NULL`,
  ),
  q(
    'iot_models',
    `SELECT d.model, r.firmware, COUNT(*), AVG(r.temperature), STDDEV_SAMP(r.humidity) FROM readings r JOIN devices d ON r.device = d.device GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
  ),
  q(
    'iot_unknown',
    `SELECT COALESCE(d.owner, 'nobody'), COUNT(*), SUM(CASE WHEN r.status = 'fault' THEN 1 ELSE 0 END) FROM readings r LEFT JOIN devices d ON r.device = d.device GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'iot_hot_devices',
    `SELECT COUNT(*) FROM readings WHERE device IN (SELECT device FROM readings GROUP BY 1 HAVING AVG(temperature) > 25) AND humidity < 30`,
  ),
  q(
    'iot_above_own_mean',
    `SELECT COUNT(*), SUM(r.temperature - m.t) FROM readings r JOIN (SELECT device, AVG(temperature) AS t FROM readings GROUP BY 1) m ON r.device = m.device WHERE r.temperature > m.t + 2.0003`,
  ),
  q(
    'iot_celsius',
    `SELECT ROUND(temperature * 9 / 5 + 32) AS f, COUNT(*), MIN(device), MAX(device) FROM readings WHERE temperature IS NOT NULL GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'iot_deviation',
    `SELECT firmware, COUNT(*), STDDEV_POP(temperature), VAR_SAMP(battery), MAX(temperature) - MIN(temperature) FROM readings GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'iot_device_firmware',
    `SELECT device, COUNT(DISTINCT firmware), COUNT(DISTINCT battery), COUNT(DISTINCT TIME_FLOOR(__time, 'P1D')) FROM readings GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 25`,
    `SELECT device, COUNT(DISTINCT firmware), COUNT(DISTINCT battery), COUNT(DISTINCT date_trunc('day', __time)) FROM readings GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 25`,
  ),
  q(
    'iot_nulls',
    `SELECT status, COUNT(*) FILTER (WHERE temperature IS NULL), COUNT(*) FILTER (WHERE humidity IS NULL AND temperature IS NOT NULL), AVG(COALESCE(humidity, 0)) FROM readings GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'iot_weekday_hour',
    `SELECT EXTRACT(DOW FROM __time), EXTRACT(HOUR FROM __time), COUNT(*), AVG(signal) FROM readings WHERE status = 'ok' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT EXTRACT(ISODOW FROM __time), EXTRACT(HOUR FROM __time), COUNT(*), AVG(signal) FROM readings WHERE status = 'ok' GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  {
    id: 'iot_native_groups',
    sql: `SELECT firmware, status, COUNT(*) AS n, MAX(temperature), MIN(signal) FROM readings GROUP BY 1, 2 HAVING COUNT(*) > 100 ORDER BY 3 DESC, 1, 2 LIMIT 60`,
    native: {
      query: {
        queryType: 'groupBy',
        dataSource: 'readings',
        intervals: ['2025-05-01/2025-06-01'],
        granularity: 'all',
        dimensions: ['firmware', 'status'],
        aggregations: [
          { type: 'count', name: 'n' },
          { type: 'doubleMax', name: 't', fieldName: 'temperature' },
          { type: 'longMin', name: 's', fieldName: 'signal' },
        ],
        having: { type: 'greaterThan', aggregation: 'n', value: 100 },
        limitSpec: { type: 'default', limit: 60, columns: [{ dimension: 'n', direction: 'descending' }, 'firmware', 'status'] },
      },
      columns: ['firmware', 'status', 'n', 't', 's'],
    },
  },
];

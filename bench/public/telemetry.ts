import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Spans with nested documents, and meters with gaps: paths, zones, periods beside each other, many metrics of which most are missing. */
export const TELEMETRY: readonly Question[] = [
  q(
    'spans_status_group',
    `SELECT JSON_VALUE(attributes, '$.http.status_code' RETURNING BIGINT) AS s, COUNT(*), AVG(durationNs), MAX(durationNs) FROM spans GROUP BY 1 ORDER BY 1`,
    `SELECT CAST(attributes->>'$.http.status_code' AS BIGINT) AS s, COUNT(*), AVG(durationNs), MAX(durationNs) FROM spans GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'spans_error_rate',
    `SELECT service, COUNT(*) FILTER (WHERE JSON_VALUE(attributes, '$.http.status_code' RETURNING BIGINT) >= 500) * 100.0 / COUNT(*) FROM spans GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT service, COUNT(*) FILTER (WHERE CAST(attributes->>'$.http.status_code' AS BIGINT) >= 500) * 100.0 / COUNT(*) FROM spans GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'spans_pods',
    `SELECT JSON_VALUE(attributes, '$.k8s.pod.name') AS p, SUM(JSON_VALUE(attributes, '$.k8s.pod.restarts' RETURNING BIGINT)) AS r, COUNT(DISTINCT JSON_VALUE(attributes, '$.k8s.node')) FROM spans WHERE JSON_VALUE(attributes, '$.k8s.pod.name') IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT attributes->>'$.k8s.pod.name' AS p, SUM(CAST(attributes->>'$.k8s.pod.restarts' AS BIGINT)) AS r, COUNT(DISTINCT attributes->>'$.k8s.node') FROM spans WHERE attributes->>'$.k8s.pod.name' IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'spans_first_event',
    `SELECT JSON_VALUE(attributes, '$.events[0].type') AS t, JSON_VALUE(attributes, '$.events[1].n' RETURNING BIGINT) AS n, COUNT(*) FROM spans GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT attributes->>'$.events[0].type' AS t, CAST(attributes->>'$.events[1].n' AS BIGINT) AS n, COUNT(*) FROM spans GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'spans_sampled',
    `SELECT JSON_VALUE(attributes, '$.sampled' RETURNING BIGINT), COUNT(*), AVG(JSON_VALUE(attributes, '$.ratio' RETURNING DOUBLE)) FROM spans GROUP BY 1 ORDER BY 1`,
    `SELECT CAST(CAST(attributes->>'$.sampled' AS BOOLEAN) AS BIGINT), COUNT(*), AVG(CAST(attributes->>'$.ratio' AS DOUBLE)) FROM spans GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'spans_sampled_boolean',
    `SELECT COUNT(*), AVG(durationNs) FROM spans WHERE JSON_VALUE(attributes, '$.sampled' RETURNING BOOLEAN)`,
    `SELECT COUNT(*), AVG(durationNs) FROM spans WHERE CAST(attributes->>'$.sampled' AS BOOLEAN)`,
  ),
  q(
    'spans_user_top',
    `SELECT JSON_VALUE(attributes, '$.user') AS u, COUNT(*) AS n, COUNT(DISTINCT trace) FROM spans WHERE service IN ('svc-0', 'svc-1') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT attributes->>'$.user' AS u, COUNT(*) AS n, COUNT(DISTINCT trace) FROM spans WHERE service IN ('svc-0', 'svc-1') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'spans_missing',
    `SELECT COUNT(*), COUNT(JSON_VALUE(attributes, '$.k8s.node')), COUNT(JSON_VALUE(attributes, '$.nothing.here')) FROM spans`,
    `SELECT COUNT(*), COUNT(attributes->>'$.k8s.node'), COUNT(attributes->>'$.nothing.here') FROM spans`,
  ),
  q(
    'spans_query_length',
    `SELECT COUNT(*), SUM(LENGTH(TO_JSON_STRING(JSON_QUERY(attributes, '$.events')))) FROM spans WHERE JSON_VALUE(attributes, '$.events[0].name') = 'exception'`,
    `SELECT COUNT(*), SUM(LENGTH(CAST(attributes->'$.events' AS VARCHAR))) FROM spans WHERE attributes->>'$.events[0].name' = 'exception'`,
  ),
  q(
    'spans_latency_buckets',
    `SELECT FLOOR(__time TO HOUR) AS h, CASE WHEN durationNs < 1000000 THEN 'fast' WHEN durationNs < 100000000 THEN 'ok' ELSE 'slow' END AS c, COUNT(*) FROM spans WHERE JSON_VALUE(attributes, '$.http.route') LIKE '/api/%' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT date_trunc('hour', __time) AS h, CASE WHEN durationNs < 1000000 THEN 'fast' WHEN durationNs < 100000000 THEN 'ok' ELSE 'slow' END AS c, COUNT(*) FROM spans WHERE attributes->>'$.http.route' LIKE '/api/%' GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'spans_one_trace',
    `SELECT __time, service, operation, durationNs, JSON_VALUE(attributes, '$.user') FROM spans WHERE trace = (SELECT MAX(trace) FROM spans WHERE service = 'svc-39') ORDER BY 1, 2, 3, 4, 5`,
    `SELECT __time, service, operation, durationNs, attributes->>'$.user' FROM spans WHERE trace = (SELECT MAX(trace) FROM spans WHERE service = 'svc-39') ORDER BY 1, 2, 3, 4, 5`,
  ),
  q(
    'spans_traces_slow',
    `SELECT trace, COUNT(*), SUM(durationNs) AS d, MIN(service), MAX(service) FROM spans GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'spans_trace_errors',
    `SELECT service, COUNT(*), COUNT(DISTINCT trace) FROM spans WHERE trace IN (SELECT trace FROM spans WHERE JSON_VALUE(attributes, '$.events[0].type') = 'IOError') GROUP BY 1 ORDER BY 2 DESC, 1`,
    `SELECT service, COUNT(*), COUNT(DISTINCT trace) FROM spans WHERE trace IN (SELECT trace FROM spans WHERE attributes->>'$.events[0].type' = 'IOError') GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'spans_edges',
    `SELECT a.service, b.service, COUNT(*) FROM spans a JOIN spans b ON a.trace = b.trace WHERE a.kind = 'consumer' AND b.kind = 'producer' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'spans_cast_string',
    `SELECT CAST(JSON_VALUE(attributes, '$.http.status_code') AS BIGINT) / 100 AS c, JSON_VALUE(attributes, '$.http.method') AS m, COUNT(*), SUM(durationNs) / 1000000 FROM spans GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT CAST(attributes->>'$.http.status_code' AS BIGINT) // 100 AS c, attributes->>'$.http.method' AS m, COUNT(*), SUM(durationNs) // 1000000 FROM spans GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'spans_scan',
    `SELECT __time, trace, JSON_VALUE(attributes, '$.http.route'), JSON_VALUE(attributes, '$.k8s.pod.name') FROM spans WHERE JSON_VALUE(attributes, '$.http.status_code' RETURNING BIGINT) = 503 AND service = 'svc-30' ORDER BY __time DESC, trace LIMIT 100`,
    `SELECT __time, trace, attributes->>'$.http.route', attributes->>'$.k8s.pod.name' FROM spans WHERE CAST(attributes->>'$.http.status_code' AS BIGINT) = 503 AND service = 'svc-30' ORDER BY __time DESC, trace LIMIT 100`,
  ),
  q(
    'spans_concat',
    `SELECT JSON_VALUE(attributes, '$.http.method') || ' ' || JSON_VALUE(attributes, '$.http.route') AS op, COUNT(*), COUNT(DISTINCT JSON_VALUE(attributes, '$.user')) FROM spans GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT (attributes->>'$.http.method') || ' ' || (attributes->>'$.http.route') AS op, COUNT(*), COUNT(DISTINCT attributes->>'$.user') FROM spans GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'meters_five_minutes',
    `SELECT TIME_FLOOR(__time, 'PT5M') AS t, site, AVG(temperature), MAX(voltage), COUNT(humidity) FROM meters WHERE site IN ('site-3', 'site-4') GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT 100`,
    `SELECT time_bucket(INTERVAL 5 MINUTE, __time) AS t, site, AVG(temperature), MAX(voltage), COUNT(humidity) FROM meters WHERE site IN ('site-3', 'site-4') GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT 100`,
  ),
  q(
    'meters_weeks_zone',
    `SELECT TIME_FLOOR(__time, 'P1W', NULL, 'Europe/Berlin') AS t, COUNT(*), AVG(temperature), STDDEV(voltage) FROM meters GROUP BY 1 ORDER BY 1`,
    `SELECT timezone('Europe/Berlin', date_trunc('week', timezone('Europe/Berlin', timezone('UTC', __time)))) AS t, COUNT(*), AVG(temperature), STDDEV(voltage) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_origin',
    `SELECT TIME_FLOOR(__time, 'PT8H', TIMESTAMP '2025-01-01 02:00:00') AS t, COUNT(*), SUM(m1) FROM meters GROUP BY 1 ORDER BY 1`,
    `SELECT time_bucket(INTERVAL 8 HOUR, __time, TIMESTAMP '2025-01-01 02:00:00') AS t, COUNT(*), SUM(m1) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_months_zone',
    `SELECT TIME_FORMAT(__time, 'yyyy-MM', 'Asia/Tokyo') AS m, site, COUNT(*), AVG(humidity) FROM meters GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT strftime(timezone('Asia/Tokyo', timezone('UTC', __time)), '%Y-%m') AS m, site, COUNT(*), AVG(humidity) FROM meters GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'meters_latest',
    `SELECT meter, LATEST(temperature), LATEST(counter), EARLIEST(counter), MAX(__time) FROM meters GROUP BY 1 ORDER BY 1 LIMIT 100`,
    `SELECT meter, arg_max_null(temperature, __time), arg_max(counter, __time), arg_min(counter, __time), MAX(__time) FROM meters GROUP BY 1 ORDER BY 1 LIMIT 100`,
  ),
  q(
    'meters_latest_by',
    `SELECT site, LATEST_BY(firmware, MILLIS_TO_TIMESTAMP(counter)) IS NOT NULL, MAX(counter) - MIN(counter) FROM meters GROUP BY 1 ORDER BY 1`,
    `SELECT site, arg_max(firmware, counter) IS NOT NULL, MAX(counter) - MIN(counter) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_day_over_day',
    `SELECT a.t, a.n, b.n, a.n - b.n FROM (SELECT TIME_FLOOR(__time, 'P1D') AS t, SUM(counter) AS n FROM meters GROUP BY 1) a LEFT JOIN (SELECT TIME_SHIFT(TIME_FLOOR(__time, 'P1D'), 'P1D', 1) AS t, SUM(counter) AS n FROM meters GROUP BY 1) b ON a.t = b.t ORDER BY 1`,
    `SELECT a.t, a.n, b.n, a.n - b.n FROM (SELECT date_trunc('day', __time) AS t, SUM(counter) AS n FROM meters GROUP BY 1) a LEFT JOIN (SELECT date_trunc('day', __time) + INTERVAL 1 DAY AS t, SUM(counter) AS n FROM meters GROUP BY 1) b ON a.t = b.t ORDER BY 1`,
  ),
  q(
    'meters_week_over_week',
    `SELECT site, SUM(counter) FILTER (WHERE __time >= TIMESTAMP '2025-03-05' AND __time < TIMESTAMP '2025-03-12') AS cur, SUM(counter) FILTER (WHERE TIME_SHIFT(__time, 'P1W', 1) >= TIMESTAMP '2025-03-05' AND TIME_SHIFT(__time, 'P1W', 1) < TIMESTAMP '2025-03-12') AS pre FROM meters GROUP BY 1 ORDER BY 1`,
    `SELECT site, SUM(counter) FILTER (WHERE __time >= TIMESTAMP '2025-03-05' AND __time < TIMESTAMP '2025-03-12') AS cur, SUM(counter) FILTER (WHERE __time + INTERVAL 7 DAY >= TIMESTAMP '2025-03-05' AND __time + INTERVAL 7 DAY < TIMESTAMP '2025-03-12') AS pre FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_hour_of_meter_self',
    `SELECT COUNT(*), SUM(a.v - b.v) FROM (SELECT meter, TIME_FLOOR(__time, 'PT1H') AS t, AVG(voltage) AS v FROM meters GROUP BY 1, 2) a JOIN (SELECT meter, TIME_SHIFT(TIME_FLOOR(__time, 'PT1H'), 'PT1H', 1) AS t, AVG(voltage) AS v FROM meters GROUP BY 1, 2) b ON a.meter = b.meter AND a.t = b.t`,
    `SELECT COUNT(*), SUM(a.v - b.v) FROM (SELECT meter, date_trunc('hour', __time) AS t, AVG(voltage) AS v FROM meters GROUP BY 1, 2) a JOIN (SELECT meter, date_trunc('hour', __time) + INTERVAL 1 HOUR AS t, AVG(voltage) AS v FROM meters GROUP BY 1, 2) b ON a.meter = b.meter AND a.t = b.t`,
  ),
  q(
    'meters_many_metrics',
    `SELECT site, COUNT(temperature), SUM(temperature), MIN(temperature), MAX(temperature), AVG(humidity), MAX(humidity), SUM(voltage), SUM(m1), MAX(m1), SUM(m2), AVG(m2), MIN(m3), MAX(m3), SUM(fault), COUNT(fault) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_days_stddev',
    `SELECT FLOOR(__time TO DAY) AS d, STDDEV_POP(temperature), VAR_SAMP(voltage), AVG(ABS(temperature - 20)), SUM(CASE WHEN temperature > 24 THEN 1 ELSE 0 END) FROM meters GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('day', __time) AS d, STDDEV_POP(temperature), VAR_SAMP(voltage), AVG(ABS(temperature - 20)), SUM(CASE WHEN temperature > 24 THEN 1 ELSE 0 END) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_gap_fill',
    `SELECT m.meter, COUNT(*) FROM (SELECT DISTINCT meter FROM meters) m LEFT JOIN (SELECT DISTINCT meter, TIME_FLOOR(__time, 'PT1H') AS t FROM meters WHERE fault IS NOT NULL) f ON m.meter = f.meter GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT m.meter, COUNT(*) FROM (SELECT DISTINCT meter FROM meters) m LEFT JOIN (SELECT DISTINCT meter, date_trunc('hour', __time) AS t FROM meters WHERE fault IS NOT NULL) f ON m.meter = f.meter GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'meters_coalesced',
    `SELECT site, SUM(COALESCE(m1, 0) + COALESCE(m2, 0.5) * 2), AVG(COALESCE(temperature, humidity, voltage)), COUNT(COALESCE(m3, m1)) FROM meters GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_dow_hour',
    `SELECT TIME_EXTRACT(__time, 'DOW', 'America/Los_Angeles') AS d, TIME_EXTRACT(__time, 'HOUR', 'America/Los_Angeles') AS h, AVG(voltage) FROM meters GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT isodow(timezone('America/Los_Angeles', timezone('UTC', __time))) AS d, hour(timezone('America/Los_Angeles', timezone('UTC', __time))) AS h, AVG(voltage) FROM meters GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'meters_narrow',
    `SELECT meter, AVG(temperature), COUNT(*) FROM meters WHERE __time >= TIMESTAMP '2025-03-01 10:00:00' AND __time < TIMESTAMP '2025-03-01 10:30:00' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  ),
  q(
    'meters_version_sort',
    `SELECT firmware, COUNT(DISTINCT meter), MIN(__time), MAX(__time) FROM meters WHERE firmware <> '1.0' AND fault > 10 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'meters_outliers',
    `SELECT COUNT(*) FROM meters m JOIN (SELECT site, AVG(temperature) AS a, STDDEV(temperature) AS s FROM meters GROUP BY 1) x ON m.site = x.site WHERE ABS(m.temperature - x.a) > 1.5 * x.s`,
  ),
];

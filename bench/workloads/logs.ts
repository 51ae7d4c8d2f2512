import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Words and patterns in messages, paths into JSON, labels of several values, traces of as many values as rows. */
export const LOGS: readonly Question[] = [
  q('logs_like', `SELECT service, COUNT(*) FROM logs WHERE message LIKE '%refused%attempt 3%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q('logs_like_start', `SELECT level, COUNT(*), MAX(tookMs) FROM logs WHERE message LIKE 'GET /api/ba%' GROUP BY 1 ORDER BY 1`),
  q('logs_not_like', `SELECT COUNT(*) FROM logs WHERE message NOT LIKE '%ms' AND LOWER(message) NOT LIKE '%cache%' AND status >= 500`),
  q(
    'logs_regexp',
    `SELECT host, COUNT(*) FROM logs WHERE REGEXP_LIKE(message, '10\\.(1|2)[0-9]\\.[0-9]+') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT host, COUNT(*) FROM logs WHERE regexp_matches(message, '10\\.(1|2)[0-9]\\.[0-9]+') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'logs_extract',
    `SELECT REGEXP_EXTRACT(message, '^GET /api/([a-z]+)', 1) AS what, COUNT(*), AVG(tookMs) FROM logs WHERE message LIKE 'GET%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT regexp_extract(message, '^GET /api/([a-z]+)', 1) AS what, COUNT(*), AVG(tookMs) FROM logs WHERE message LIKE 'GET%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'logs_shape',
    `SELECT REGEXP_REPLACE(message, '[0-9]+', '#') AS shape, COUNT(*) FROM logs WHERE service = 'svc-baba' OR level = 'FATAL' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT regexp_replace(message, '[0-9]+', '#', 'g') AS shape, COUNT(*) FROM logs WHERE service = 'svc-baba' OR level = 'FATAL' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q('logs_first_word', `SELECT SUBSTRING(message, 1, 4), COUNT(*), SUM(LENGTH(message)) FROM logs GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q(
    'logs_errors_by_hour',
    `SELECT TIME_FLOOR(__time, 'PT1H'), COUNT(*) FILTER (WHERE level = 'ERROR') * 100.0 / COUNT(*) FROM logs GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('hour', __time), COUNT(*) FILTER (WHERE level = 'ERROR') * 100.0 / COUNT(*) FROM logs GROUP BY 1 ORDER BY 1`,
  ),
  q('logs_traces', `SELECT trace, COUNT(*), SUM(tookMs), MAX(status) FROM logs GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`),
  q(
    'logs_trace_span',
    `SELECT COUNT(*), MAX(span) FROM (SELECT trace, TIMESTAMP_TO_MILLIS(MAX(__time)) - TIMESTAMP_TO_MILLIS(MIN(__time)) AS span FROM logs GROUP BY 1 HAVING COUNT(DISTINCT service) > 2)`,
    `SELECT COUNT(*), MAX(span) FROM (SELECT trace, epoch_ms(MAX(__time)) - epoch_ms(MIN(__time)) AS span FROM logs GROUP BY 1 HAVING COUNT(DISTINCT service) > 2)`,
  ),
  q(
    'logs_failed_traces',
    `SELECT service, COUNT(*) FROM logs WHERE trace IN (SELECT trace FROM logs WHERE status = 503 AND level = 'ERROR') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'logs_distinct_traces',
    `SELECT level, COUNT(DISTINCT trace), COUNT(DISTINCT host), COUNT(DISTINCT message) FROM logs GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'logs_json_group',
    `SELECT JSON_VALUE(detail, '$.user.plan'), COUNT(*), SUM(JSON_VALUE(detail, '$.bytes' RETURNING BIGINT)) FROM logs GROUP BY 1 ORDER BY 1`,
    `SELECT detail->>'$.user.plan', COUNT(*), SUM(CAST(detail->>'$.bytes' AS BIGINT)) FROM logs GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'logs_json_users',
    `SELECT JSON_VALUE(detail, '$.user.id' RETURNING BIGINT), COUNT(*) FROM logs WHERE JSON_VALUE(detail, '$.region') LIKE 'b%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT CAST(detail->>'$.user.id' AS BIGINT), COUNT(*) FROM logs WHERE detail->>'$.region' LIKE 'b%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'logs_labels',
    `SELECT label, COUNT(*), AVG(tookMs) FROM logs CROSS JOIN UNNEST(MV_TO_ARRAY(labels)) AS u(label) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT label, COUNT(*), AVG(tookMs) FROM (SELECT unnest(labels) AS label, tookMs FROM logs) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'logs_label_filters',
    `SELECT service, COUNT(*) FROM logs WHERE MV_CONTAINS(labels, 'zone-0-1') OR MV_OVERLAP(labels, ARRAY['team-1-0', 'tier-2-3']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT service, COUNT(*) FROM logs WHERE list_contains(labels, 'zone-0-1') OR list_has_any(labels, ['team-1-0', 'tier-2-3']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'logs_label_count',
    `SELECT MV_LENGTH(labels), level, COUNT(*) FROM logs GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT len(labels), level, COUNT(*) FROM logs GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'logs_latest_errors',
    `SELECT __time, host, message FROM logs WHERE level = 'FATAL' AND message LIKE '%refused%' ORDER BY __time DESC LIMIT 50`,
  ),
  q('logs_slowest', `SELECT tookMs, trace, message FROM logs WHERE status IN (404, 500) ORDER BY tookMs DESC, trace, message LIMIT 50`),
  q('logs_messages', `SELECT message, COUNT(*), MIN(__time) FROM logs WHERE level <> 'INFO' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q(
    'logs_status_class',
    `SELECT CASE WHEN status IS NULL THEN 'none' WHEN status < 300 THEN 'fine' WHEN status < 500 THEN 'theirs' ELSE 'ours' END AS class, service, COUNT(*), AVG(tookMs)
     FROM logs GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
  ),
  q(
    'logs_histogram',
    `SELECT CAST(FLOOR(LN(tookMs + 1)) AS BIGINT) AS b, COUNT(*), MIN(tookMs), MAX(tookMs) FROM logs GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'logs_quiet_services',
    `SELECT service, MAX(gap) FROM (SELECT service, TIMESTAMP_TO_MILLIS(__time) - LAG(TIMESTAMP_TO_MILLIS(__time)) OVER (PARTITION BY service ORDER BY __time) AS gap FROM logs WHERE level = 'ERROR') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT service, MAX(gap) FROM (SELECT service, epoch_ms(__time) - LAG(epoch_ms(__time)) OVER (PARTITION BY service ORDER BY __time) AS gap FROM logs WHERE level = 'ERROR') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  {
    id: 'logs_native_regex',
    sql: `SELECT service, COUNT(*) FROM logs WHERE regexp_matches(host, '^host-[0-9]7') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 15`,
    native: {
      query: {
        queryType: 'topN',
        dataSource: 'logs',
        intervals: ['2025-05-01/2025-06-01'],
        granularity: 'all',
        dimension: 'service',
        metric: 'n',
        threshold: 15,
        filter: { type: 'regex', dimension: 'host', pattern: '^host-[0-9]7' },
        aggregations: [{ type: 'count', name: 'n' }],
      },
      columns: ['service', 'n'],
    },
  },
];

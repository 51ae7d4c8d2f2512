import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Connections in a segment for each hour: networks, rare values, patterns, narrow times. */
export const CONNECTIONS: readonly Question[] = [
  q(
    'connections_ipv4_match',
    `SELECT action, COUNT(*), SUM(bytesOut) FROM connections WHERE IPV4_MATCH(source, '10.2.0.0/16') GROUP BY 1 ORDER BY 1`,
    `SELECT action, COUNT(*), SUM(bytesOut) FROM connections WHERE source LIKE '10.2.%' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_ipv4_target',
    `SELECT port, COUNT(*) FROM connections WHERE IPV4_MATCH(target, '77.128.0.0/9') GROUP BY 1 ORDER BY 1`,
    `SELECT port, COUNT(*) FROM connections WHERE CAST(split_part(target, '.', 1) AS INT) = 77 AND CAST(split_part(target, '.', 2) AS INT) >= 128 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_ipv4_number',
    `SELECT IPV4_PARSE(target) / 16777216 AS net, COUNT(*) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT CAST(split_part(target, '.', 1) AS BIGINT) AS net, COUNT(*) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q('connections_like_host', `SELECT host, COUNT(*) FROM connections WHERE host LIKE '%99.xn--%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q(
    'connections_domain',
    `SELECT REGEXP_EXTRACT(host, '[^.]+[.][a-z]+$', 0) AS d, COUNT(*), COUNT(DISTINCT host) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT regexp_extract(host, '[^.]+[.][a-z]+$', 0) AS d, COUNT(*), COUNT(DISTINCT host) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_after_dot',
    `SELECT SUBSTRING(host, POSITION('.' IN host) + 1) AS d, COUNT(*) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q('connections_rare_agents', `SELECT agent, COUNT(*) AS n FROM connections GROUP BY 1 HAVING COUNT(*) < 30 ORDER BY 2, 1 LIMIT 20`),
  q('connections_rare_hosts', `SELECT COUNT(*) FROM (SELECT host FROM connections GROUP BY 1 HAVING COUNT(*) = 1)`),
  q(
    'connections_scan_detect',
    `SELECT source, COUNT(DISTINCT target) AS t, COUNT(DISTINCT port) AS p FROM connections WHERE action = 'deny' GROUP BY 1 HAVING COUNT(DISTINCT port) > 2 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_beacons',
    `SELECT source, host, COUNT(*) AS n, MIN(__time), MAX(__time) FROM connections GROUP BY 1, 2 HAVING COUNT(*) >= 3 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'connections_one_host',
    `SELECT __time, source, target, port FROM connections WHERE host = 'h1234.example.com' ORDER BY 1 DESC, 2, 3, 4 LIMIT 50`,
  ),
  q(
    'connections_needles',
    `SELECT COUNT(*), SUM(bytesOut) FROM connections WHERE target IN ('15.16.17.18', '12.1.2.3', '99.9.9.9') OR account = 'user19999' OR host LIKE 'h29999%'`,
  ),
  q(
    'connections_hour_narrow',
    `SELECT action, COUNT(*), SUM(bytesIn) FROM connections WHERE __time >= TIMESTAMP '2025-04-05 03:00:00' AND __time < TIMESTAMP '2025-04-05 05:30:00' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_hours_all',
    `SELECT FLOOR(__time TO HOUR) AS h, COUNT(*), SUM(bytesOut), COUNT(DISTINCT source) FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('hour', __time) AS h, COUNT(*), SUM(bytesOut), COUNT(DISTINCT source) FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_first_seen',
    `SELECT FLOOR(f TO DAY) AS d, COUNT(*) FROM (SELECT target, MIN(__time) AS f FROM connections GROUP BY 1) GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('day', f) AS d, COUNT(*) FROM (SELECT target, MIN(__time) AS f FROM connections GROUP BY 1) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_new_hosts',
    `SELECT COUNT(*) FROM (SELECT DISTINCT host FROM connections WHERE __time >= TIMESTAMP '2025-04-13') n WHERE n.host NOT IN (SELECT host FROM connections WHERE __time < TIMESTAMP '2025-04-13')`,
  ),
  q(
    'connections_curl',
    `SELECT account, COUNT(*) FROM connections WHERE LOWER(agent) LIKE 'curl%' AND account IS NOT NULL AND port <> 443 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_regex_or',
    `SELECT agent, COUNT(*) FROM connections WHERE REGEXP_LIKE(agent, '^(sqlmap|python).*[13579]$') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT agent, COUNT(*) FROM connections WHERE regexp_matches(agent, '^(sqlmap|python).*[13579]$') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_regex_host',
    `SELECT action, COUNT(*) FROM connections WHERE REGEXP_LIKE(host, '^h[0-9]*77[.](corp|mail)') GROUP BY 1 ORDER BY 1`,
    `SELECT action, COUNT(*) FROM connections WHERE regexp_matches(host, '^h[0-9]*77[.](corp|mail)') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'connections_subnet',
    `SELECT SUBSTRING(source, 1, CHAR_LENGTH(source) - CHAR_LENGTH(REGEXP_EXTRACT(source, '[0-9]+$', 0))) AS net, COUNT(*), COUNT(DISTINCT target) FROM connections WHERE port = 3389 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT SUBSTRING(source, 1, length(source) - length(REGEXP_EXTRACT(source, '[0-9]+$', 0))) AS net, COUNT(*), COUNT(DISTINCT target) FROM connections WHERE port = 3389 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_ratio',
    `SELECT account, SUM(bytesOut) * 1.0 / NULLIF(SUM(bytesIn), 0) AS r FROM connections WHERE account IS NOT NULL GROUP BY 1 HAVING SUM(bytesIn) > 1000000 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'connections_topn_talkers',
    `SELECT FLOOR(__time TO DAY) AS d, source, SUM(bytesOut) AS b FROM connections GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
    `SELECT date_trunc('day', __time) AS d, source, SUM(bytesOut) AS b FROM connections GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'connections_upper_concat',
    `SELECT UPPER(action) || ':' || CAST(port AS VARCHAR) AS k, COUNT(*), AVG(bytesIn) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'connections_lateral_move',
    `SELECT COUNT(*) FROM (SELECT DISTINCT account, source FROM connections WHERE port = 22) a JOIN (SELECT DISTINCT account, source FROM connections WHERE port = 3389) b ON a.account = b.account AND a.source <> b.source`,
  ),
];

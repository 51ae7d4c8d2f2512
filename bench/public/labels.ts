import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Labels of several values, arrays, and sketches of connections. */
export const LABELS: readonly Question[] = [
  q(
    'labels_contains',
    `SELECT action, COUNT(*), SUM(bytesOut) FROM connections WHERE ARRAY_CONTAINS(MV_TO_ARRAY(labels), 'gpu') GROUP BY 1 ORDER BY 1`,
    `SELECT action, COUNT(*), SUM(bytesOut) FROM connections WHERE list_contains(labels, 'gpu') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_contains_two',
    `SELECT COUNT(*) FROM connections WHERE MV_CONTAINS(labels, ARRAY['beta', 'edge'])`,
    `SELECT COUNT(*) FROM connections WHERE list_has_all(labels, ['beta', 'edge'])`,
  ),
  q(
    'labels_group_mv',
    `SELECT labels, COUNT(*), SUM(bytesOut) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT l, COUNT(*), SUM(bytesOut) FROM (SELECT unnest(labels) AS l, bytesOut FROM connections) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'labels_group_array',
    `SELECT MV_TO_ARRAY(labels), COUNT(*) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT labels, COUNT(*) FROM connections GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'labels_filter_only',
    `SELECT MV_FILTER_ONLY(labels, ARRAY['pci', 'eu', 'us']) AS l, COUNT(*) FROM connections WHERE MV_OVERLAP(labels, ARRAY['pci', 'eu', 'us']) GROUP BY 1 ORDER BY 1`,
    `SELECT l, COUNT(*) FROM (SELECT unnest(labels) AS l FROM connections) WHERE l IN ('pci', 'eu', 'us') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_filter_regex',
    `SELECT MV_FILTER_REGEX(labels, 'rule-7.*') AS l, COUNT(*) FROM connections WHERE labels LIKE 'rule-7%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
    `SELECT l, COUNT(*) FROM (SELECT unnest(labels) AS l FROM connections) WHERE l LIKE 'rule-7%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  ),
  q(
    'labels_unnest_mv',
    `SELECT l, action, COUNT(*), COUNT(DISTINCT account) FROM connections CROSS JOIN UNNEST(MV_TO_ARRAY(labels)) AS u(l) WHERE l LIKE 'rule-1%' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT l, action, COUNT(*), COUNT(DISTINCT account) FROM (SELECT unnest(labels) AS l, action, account FROM connections) WHERE l LIKE 'rule-1%' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'labels_unnest_array',
    `SELECT s, COUNT(*), SUM(bytesOut) FROM connections CROSS JOIN UNNEST(scores) AS u(s) GROUP BY 1 ORDER BY 1 LIMIT 50`,
    `SELECT s, COUNT(*), SUM(bytesOut) FROM (SELECT unnest(scores) AS s, bytesOut FROM connections) GROUP BY 1 ORDER BY 1 LIMIT 50`,
  ),
  q(
    'labels_array_contains',
    `SELECT action, COUNT(*) FROM connections WHERE ARRAY_CONTAINS(scores, 42) OR ARRAY_OVERLAP(scores, ARRAY[1, 2, 3]) GROUP BY 1 ORDER BY 1`,
    `SELECT action, COUNT(*) FROM connections WHERE list_contains(scores, 42) OR list_has_any(scores, [1, 2, 3]) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_array_length',
    `SELECT ARRAY_LENGTH(scores), COUNT(*), SUM(bytesOut) FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT len(scores), COUNT(*), SUM(bytesOut) FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_array_group',
    `SELECT ARRAY_TO_STRING(scores, '-'), COUNT(*) FROM connections WHERE ARRAY_LENGTH(scores) = 2 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(scores, '-'), COUNT(*) FROM connections WHERE len(scores) = 2 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'labels_array_first',
    `SELECT ARRAY_OFFSET(scores, 0) AS f, COUNT(*), AVG(bytesOut) FROM connections WHERE port = 22 GROUP BY 1 ORDER BY 1 LIMIT 50`,
    `SELECT scores[1] AS f, COUNT(*), AVG(bytesOut) FROM connections WHERE port = 22 GROUP BY 1 ORDER BY 1 LIMIT 50`,
  ),
  q(
    'labels_first',
    `SELECT MV_OFFSET(labels, 0) AS f, MV_LENGTH(labels) AS n, COUNT(*) FROM connections GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT labels[1] AS f, len(labels) AS n, COUNT(*) FROM connections GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'labels_to_string',
    `SELECT MV_TO_STRING(labels, '+') AS f, COUNT(*) FROM connections WHERE port = 22 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT array_to_string(labels, '+') AS f, COUNT(*) FROM connections WHERE port = 22 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'labels_string_agg',
    `SELECT port, STRING_AGG(DISTINCT action, ',', 2000) AS a, LENGTH(LISTAGG(DISTINCT agent, ';', 100000)) AS l FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT port, string_agg(DISTINCT action, ',' ORDER BY action) AS a, LENGTH(string_agg(DISTINCT agent, ';')) AS l FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_array_agg',
    `SELECT port, ARRAY_LENGTH(ARRAY_AGG(DISTINCT account, 10000000)) FROM connections WHERE account IS NOT NULL AND action = 'deny' GROUP BY 1 ORDER BY 1`,
    `SELECT port, len(list(DISTINCT account)) FROM connections WHERE account IS NOT NULL AND action = 'deny' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'labels_mv_and_group',
    `SELECT labels, port, COUNT(*) FROM connections WHERE labels = 'pci' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT l, port, COUNT(*) FROM (SELECT unnest(labels) AS l, port FROM connections WHERE list_contains(labels, 'pci')) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'labels_distinct_mv',
    `SELECT COUNT(DISTINCT labels), action FROM connections GROUP BY 2 ORDER BY 2`,
    `SELECT COUNT(DISTINCT l), action FROM (SELECT unnest(labels) AS l, action FROM connections) GROUP BY 2 ORDER BY 2`,
  ),
  q(
    'sketches_hll',
    `SELECT action, ABS(APPROX_COUNT_DISTINCT_DS_HLL(account) - COUNT(DISTINCT account)) < COUNT(DISTINCT account) * 0.08 FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT action, COUNT(DISTINCT account) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'sketches_hll_only',
    `SELECT port, APPROX_COUNT_DISTINCT_DS_HLL(host) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT port, APPROX_COUNT_DISTINCT(host) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'sketches_theta',
    `SELECT port, APPROX_COUNT_DISTINCT_DS_THETA(host) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT port, APPROX_COUNT_DISTINCT(host) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'sketches_theta_intersect',
    `SELECT ABS(THETA_SKETCH_ESTIMATE(THETA_SKETCH_INTERSECT(DS_THETA(source) FILTER (WHERE port = 22), DS_THETA(source) FILTER (WHERE port = 53))) - 0) >= 0 FROM connections`,
    `SELECT COUNT(*) >= 0 FROM (SELECT source FROM connections WHERE port = 22 INTERSECT SELECT source FROM connections WHERE port = 53)`,
  ),
  q(
    'sketches_quantiles',
    `SELECT port, APPROX_QUANTILE_DS(bytesOut, 0.95) > 0, APPROX_QUANTILE_DS(bytesOut, 0.5) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
    `SELECT port, quantile_cont(bytesOut, 0.95) > 0, quantile_cont(bytesOut, 0.5) > 0 FROM connections GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'sketches_quantiles_many',
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT account, APPROX_QUANTILE_DS(bytesOut, 0.9) AS q FROM connections WHERE account IS NOT NULL GROUP BY 1)`,
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT account, quantile_disc(bytesOut, 0.9) AS q FROM connections WHERE account IS NOT NULL GROUP BY 1)`,
  ),
  q(
    'sketches_hll_many',
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT account, APPROX_COUNT_DISTINCT_DS_HLL(host) AS q FROM connections WHERE account IS NOT NULL GROUP BY 1)`,
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT account, APPROX_COUNT_DISTINCT(host) AS q FROM connections WHERE account IS NOT NULL GROUP BY 1)`,
  ),
];

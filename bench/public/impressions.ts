import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Impressions of ads: several interests a row, reach by sketches, addresses, pages, sets of groupings. */
export const IMPRESSIONS: readonly Question[] = [
  q(
    'impressions_ctr',
    'SELECT campaign, COUNT(*) AS n, SUM(clicked) AS c, SUM(clicked) * 100.0 / COUNT(*) AS ctr, SUM(cost) / NULLIF(SUM(clicked), 0) AS cpc FROM impressions GROUP BY 1 HAVING COUNT(*) > 500 ORDER BY 4 DESC, 1 LIMIT 30',
  ),
  q(
    'impressions_interests',
    'SELECT interests, COUNT(*), SUM(clicked), SUM(cost) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
    'SELECT l, COUNT(*), SUM(clicked), SUM(cost) FROM (SELECT unnest(interests) AS l, clicked, cost FROM impressions) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ),
  q(
    'impressions_interest_pairs',
    `SELECT MV_TO_STRING(interests, '|') AS k, COUNT(*), SUM(cost) FROM impressions WHERE MV_CONTAINS(interests, ARRAY['sport', 'news']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(interests, '|') AS k, COUNT(*), SUM(cost) FROM impressions WHERE list_has_all(interests, ['sport', 'news']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'impressions_interest_sets',
    `SELECT MV_TO_ARRAY(interests) AS k, COUNT(*), SUM(clicked) FROM impressions WHERE device = 'tablet' GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
    `SELECT interests AS k, COUNT(*), SUM(clicked) FROM impressions WHERE device = 'tablet' GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
  ),
  q(
    'impressions_to_string_all',
    `SELECT COUNT(DISTINCT MV_TO_STRING(interests, ',')), MAX(MV_TO_STRING(interests, ',')) FROM impressions`,
    `SELECT COUNT(DISTINCT array_to_string(interests, ',')), MAX(array_to_string(interests, ',')) FROM impressions`,
  ),
  q(
    'impressions_interest_length',
    'SELECT MV_LENGTH(interests) AS l, country, COUNT(*), AVG(cost) FROM impressions GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT len(interests) AS l, country, COUNT(*), AVG(cost) FROM impressions GROUP BY 1, 2 ORDER BY 1, 2',
  ),
  q(
    'impressions_only_segments',
    `SELECT MV_FILTER_ONLY(interests, ARRAY['sport', 'tech', 'travel']) AS s, device, COUNT(*), SUM(converted) FROM impressions WHERE MV_OVERLAP(interests, ARRAY['sport', 'tech', 'travel']) GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT l AS s, device, COUNT(*), SUM(converted) FROM (SELECT unnest(interests) AS l, device, converted FROM impressions) WHERE l IN ('sport', 'tech', 'travel') GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'impressions_unnest_distinct',
    `SELECT i, COUNT(DISTINCT visitor), COUNT(DISTINCT campaign) FROM impressions CROSS JOIN UNNEST(MV_TO_ARRAY(interests)) AS u(i) WHERE i NOT LIKE 'seg-%' GROUP BY 1 ORDER BY 1`,
    `SELECT l, COUNT(DISTINCT visitor), COUNT(DISTINCT campaign) FROM (SELECT unnest(interests) AS l, visitor, campaign FROM impressions) WHERE l NOT LIKE 'seg-%' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_reach_theta',
    'SELECT campaign, APPROX_COUNT_DISTINCT_DS_THETA(visitor) > 0 FROM impressions GROUP BY 1 ORDER BY 1 LIMIT 50',
    'SELECT campaign, APPROX_COUNT_DISTINCT(visitor) > 0 FROM impressions GROUP BY 1 ORDER BY 1 LIMIT 50',
  ),
  q(
    'impressions_overlap_theta',
    `SELECT country, THETA_SKETCH_ESTIMATE(THETA_SKETCH_INTERSECT(DS_THETA(visitor) FILTER (WHERE device = 'phone'), DS_THETA(visitor) FILTER (WHERE device = 'desktop'))) > 0 FROM impressions GROUP BY 1 ORDER BY 1`,
    `SELECT country, COUNT(*) > 0 FROM (SELECT country, visitor FROM impressions WHERE device = 'phone' INTERSECT SELECT country, visitor FROM impressions WHERE device = 'desktop') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_hll_union',
    `SELECT FLOOR(__time TO HOUR) AS h, HLL_SKETCH_ESTIMATE(HLL_SKETCH_UNION(DS_HLL(visitor) FILTER (WHERE country = 'US'), DS_HLL(visitor) FILTER (WHERE country = 'GB'))) > 0 FROM impressions GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('hour', __time) AS h, APPROX_COUNT_DISTINCT(visitor) FILTER (WHERE country IN ('US', 'GB')) > 0 FROM impressions GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_hll_creatives',
    'SELECT creative, APPROX_COUNT_DISTINCT_DS_HLL(visitor) > 0, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20',
    'SELECT creative, APPROX_COUNT_DISTINCT(visitor) > 0, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20',
  ),
  q(
    'impressions_hll_close',
    'SELECT ABS(APPROX_COUNT_DISTINCT_DS_HLL(visitor) * 1.0 / COUNT(DISTINCT visitor) - 1) < 0.1, ABS(APPROX_COUNT_DISTINCT_DS_THETA(visitor) * 1.0 / COUNT(DISTINCT visitor) - 1) < 0.1 FROM impressions',
    'SELECT COUNT(DISTINCT visitor) > 0, APPROX_COUNT_DISTINCT(visitor) > 0 FROM impressions',
  ),
  q(
    'impressions_theta_creatives',
    'SELECT creative, slot, APPROX_COUNT_DISTINCT_DS_THETA(visitor) > 0, COUNT(*) FROM impressions GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT 20',
    'SELECT creative, slot, APPROX_COUNT_DISTINCT(visitor) > 0, COUNT(*) FROM impressions GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT 20',
  ),
  q(
    'impressions_frequency',
    `SELECT f, COUNT(*) AS visitors, SUM(c) FROM (SELECT visitor, COUNT(*) AS f, SUM(clicked) AS c FROM impressions WHERE campaign IN ('camp-0', 'camp-1', 'camp-2') GROUP BY 1) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_frequency_hist',
    `SELECT CASE WHEN f = 1 THEN '1' WHEN f <= 3 THEN '2-3' WHEN f <= 10 THEN '4-10' ELSE '11+' END AS b, COUNT(*), SUM(c) * 1.0 / SUM(f) FROM (SELECT visitor, campaign, COUNT(*) AS f, SUM(clicked) AS c FROM impressions GROUP BY 1, 2) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_hosts',
    `SELECT REGEXP_EXTRACT(page, 'https://([^/]+)/', 1) AS host, COUNT(*), SUM(cost) FROM impressions GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 25`,
  ),
  q(
    'impressions_page_kind',
    `SELECT SUBSTRING(page, POSITION('.example/' IN page) + 9, 4) AS k, COUNT(*), COUNT(DISTINCT page), AVG(viewable) FROM impressions GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_page_ids',
    `SELECT CAST(REGEXP_EXTRACT(page, 'id=([0-9]+)', 1) AS BIGINT) / 1000 AS b, COUNT(*), SUM(clicked) FROM impressions GROUP BY 1 ORDER BY 1`,
    `SELECT CAST(REGEXP_EXTRACT(page, 'id=([0-9]+)', 1) AS BIGINT) // 1000 AS b, COUNT(*), SUM(clicked) FROM impressions GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_networks',
    'SELECT IPV4_PARSE(address) / 65536 AS net, COUNT(*), COUNT(DISTINCT visitor) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
    `SELECT CAST(split_part(address, '.', 1) AS BIGINT) * 256 + CAST(split_part(address, '.', 2) AS BIGINT) AS net, COUNT(*), COUNT(DISTINCT visitor) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'impressions_network_match',
    `SELECT device, COUNT(*) FROM impressions WHERE IPV4_MATCH(address, '10.0.0.0/9') OR IPV4_MATCH(address, '11.64.0.0/10') GROUP BY 1 ORDER BY 1`,
    `SELECT device, COUNT(*) FROM impressions WHERE (split_part(address, '.', 1) = '10' AND CAST(split_part(address, '.', 2) AS BIGINT) < 128) OR (split_part(address, '.', 1) = '11' AND CAST(split_part(address, '.', 2) AS BIGINT) BETWEEN 64 AND 127) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'impressions_pacing',
    'SELECT campaign, h, SUM(c) OVER (PARTITION BY campaign ORDER BY h ROWS UNBOUNDED PRECEDING) AS spent FROM (SELECT campaign, FLOOR(__time TO HOUR) AS h, SUM(cost) AS c FROM impressions GROUP BY 1, 2) ORDER BY 3 DESC, 1, 2 LIMIT 50',
    `SELECT campaign, h, SUM(c) OVER (PARTITION BY campaign ORDER BY h ROWS UNBOUNDED PRECEDING) AS spent FROM (SELECT campaign, date_trunc('hour', __time) AS h, SUM(cost) AS c FROM impressions GROUP BY 1, 2) ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'impressions_cube',
    'SELECT country, device, SUM(cost), SUM(clicked), COUNT(*) FROM impressions GROUP BY CUBE (country, device) ORDER BY 1, 2',
  ),
  q(
    'impressions_rollup_days',
    `SELECT FLOOR(__time TO DAY) AS d, campaign, SUM(cost) FROM impressions WHERE campaign IN ('camp-3', 'camp-4', 'camp-5') GROUP BY ROLLUP (FLOOR(__time TO DAY), campaign) ORDER BY 1, 2`,
    `SELECT date_trunc('day', __time) AS d, campaign, SUM(cost) FROM impressions WHERE campaign IN ('camp-3', 'camp-4', 'camp-5') GROUP BY ROLLUP (date_trunc('day', __time), campaign) ORDER BY 1, 2`,
  ),
  q(
    'impressions_sets_apart',
    'SELECT country, device, slot, SUM(cost) AS c, SUM(converted) FROM impressions GROUP BY GROUPING SETS ((country), (device), (slot)) ORDER BY 4 DESC, 1, 2, 3',
  ),
  q(
    'impressions_converters',
    'SELECT country, COUNT(*), AVG(cost) FROM impressions WHERE visitor IN (SELECT visitor FROM impressions WHERE converted = 1) GROUP BY 1 ORDER BY 2 DESC, 1',
  ),
  q(
    'impressions_lift',
    'WITH a AS (SELECT campaign, SUM(converted) * 1.0 / COUNT(*) AS r FROM impressions GROUP BY 1), t AS (SELECT SUM(converted) * 1.0 / COUNT(*) AS r FROM impressions) SELECT a.campaign, a.r / t.r AS lift FROM a CROSS JOIN t WHERE a.r > t.r ORDER BY 2 DESC, 1 LIMIT 20',
  ),
  q(
    'impressions_first_last_touch',
    'SELECT COUNT(*), SUM(CASE WHEN f = l THEN 1 ELSE 0 END) FROM (SELECT visitor, EARLIEST(campaign) AS f, LATEST(campaign) AS l FROM impressions GROUP BY 1 HAVING SUM(converted) > 0)',
    'SELECT COUNT(*), SUM(CASE WHEN f = l THEN 1 ELSE 0 END) FROM (SELECT visitor, arg_min_null(campaign, __time) AS f, arg_max_null(campaign, __time) AS l FROM impressions GROUP BY 1 HAVING SUM(converted) > 0)',
  ),
  q(
    'impressions_many_keys',
    'SELECT campaign, creative, slot, device, country, SUM(cost) AS c, COUNT(*) FROM impressions GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC, 1, 2, 3, 4, 5 LIMIT 25',
  ),
  q(
    'impressions_latest_rows',
    `SELECT __time, visitor, campaign, cost FROM impressions WHERE clicked = 1 AND country = 'CA' ORDER BY __time DESC LIMIT 50`,
  ),
  q(
    'impressions_union_limit',
    `SELECT campaign, cost FROM impressions WHERE cost > 8.99 AND device = 'tv' UNION ALL SELECT campaign, cost FROM impressions WHERE cost > 8.99 AND device = 'tablet' ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
];

import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb: string): Question => ({ id, sql, duckdb });

/** Lists: elements, lengths and strings of stored arrays, multi-value rows as strings and keys, lists of groups. */
export const LISTS: readonly Question[] = [
  q(
    'lists_unnest_sum',
    `SELECT kind, COUNT(*), SUM(i), MAX(i) FROM plays CROSS JOIN UNNEST(items) AS u(i) GROUP BY 1 ORDER BY 1`,
    `SELECT kind, COUNT(*), SUM(i), MAX(i) FROM (SELECT unnest(items) AS i, kind FROM plays) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_unnest_group',
    `SELECT i, COUNT(*), AVG(level) FROM plays CROSS JOIN UNNEST(items) AS u(i) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT i, COUNT(*), AVG(level) FROM (SELECT unnest(items) AS i, level FROM plays) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'lists_unnest_filter',
    `SELECT platform, COUNT(*), COUNT(DISTINCT player) FROM plays CROSS JOIN UNNEST(items) AS u(i) WHERE i BETWEEN 100 AND 110 AND kind = 'death' GROUP BY 1 ORDER BY 1`,
    `SELECT platform, COUNT(*), COUNT(DISTINCT player) FROM (SELECT unnest(items) AS i, platform, kind, player FROM plays) WHERE i BETWEEN 100 AND 110 AND kind = 'death' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_unnest_pairs',
    `SELECT a, b, COUNT(*) FROM (SELECT i AS a, j AS b FROM plays CROSS JOIN UNNEST(items) AS u(i) CROSS JOIN UNNEST(items) AS v(j) WHERE kind = 'purchase') WHERE a < b GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT a, b, COUNT(*) FROM (SELECT unnest(items) AS b, a FROM (SELECT unnest(items) AS a, items FROM plays WHERE kind = 'purchase')) WHERE a < b GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'lists_array_text',
    `SELECT ARRAY_TO_STRING(items, ',') AS t, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(items, ',') AS t, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_array_text_distinct',
    `SELECT COUNT(DISTINCT ARRAY_TO_STRING(items, '-')), MAX(LENGTH(ARRAY_TO_STRING(items, '-'))) FROM plays`,
    `SELECT COUNT(DISTINCT array_to_string(items, '-')), MAX(LENGTH(array_to_string(items, '-'))) FROM plays`,
  ),
  q(
    'lists_two_functions',
    `SELECT ARRAY_LENGTH(items) AS l, COUNT(*), SUM(ARRAY_OFFSET(items, 0)), COUNT(*) FILTER (WHERE ARRAY_CONTAINS(items, 7)) FROM plays GROUP BY 1 ORDER BY 1`,
    `SELECT len(items) AS l, COUNT(*), SUM(items[1]), COUNT(*) FILTER (WHERE list_contains(items, 7)) FROM plays GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_overlap',
    `SELECT kind, COUNT(*) FROM plays WHERE ARRAY_OVERLAP(items, ARRAY[1, 2, 3, 200]) AND ARRAY_LENGTH(items) > 1 GROUP BY 1 ORDER BY 1`,
    `SELECT kind, COUNT(*) FROM plays WHERE list_has_any(items, [1, 2, 3, 200]) AND len(items) > 1 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_agg_length',
    `SELECT COUNT(*), MAX(l), SUM(l) FROM (SELECT player, ARRAY_LENGTH(ARRAY_AGG(kind, 10000000)) AS l FROM plays GROUP BY 1)`,
    `SELECT COUNT(*), MAX(l), SUM(l) FROM (SELECT player, len(list(kind)) AS l FROM plays GROUP BY 1)`,
  ),
  q(
    'lists_agg_distinct_length',
    `SELECT platform, country, ARRAY_LENGTH(ARRAY_AGG(DISTINCT player, 10000000)) AS l FROM plays GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT platform, country, len(list(DISTINCT player)) AS l FROM plays GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'lists_agg_distinct_top',
    `SELECT player, ARRAY_LENGTH(ARRAY_AGG(DISTINCT kind)) AS l, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 3 DESC, 1 LIMIT 20`,
    `SELECT player, len(list(DISTINCT kind)) AS l, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_agg_numbers_length',
    `SELECT level, ARRAY_LENGTH(ARRAY_AGG(score, 10000000)) AS l, ARRAY_LENGTH(ARRAY_AGG(DISTINCT score, 10000000)) AS d FROM plays WHERE score IS NOT NULL GROUP BY 1 ORDER BY 1`,
    `SELECT level, len(list(score)) AS l, len(list(DISTINCT score)) AS d FROM plays WHERE score IS NOT NULL GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_agg_contains',
    `SELECT COUNT(*) FROM (SELECT player, ARRAY_AGG(DISTINCT platform) AS a FROM plays GROUP BY 1) WHERE ARRAY_CONTAINS(a, 'ios') AND NOT ARRAY_CONTAINS(a, 'pc')`,
    `SELECT COUNT(*) FROM (SELECT player, list(DISTINCT platform) AS a FROM plays GROUP BY 1) WHERE list_contains(a, 'ios') AND NOT list_contains(a, 'pc')`,
  ),
  q(
    'lists_mv_string',
    `SELECT MV_TO_STRING(interests, ',') AS k, COUNT(*), SUM(cost) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(interests, ',') AS k, COUNT(*), SUM(cost) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_mv_string_distinct',
    `SELECT device, COUNT(DISTINCT MV_TO_STRING(interests, '|')) FROM impressions GROUP BY 1 ORDER BY 1`,
    `SELECT device, COUNT(DISTINCT array_to_string(interests, '|')) FROM impressions GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_mv_array_key',
    `SELECT MV_TO_ARRAY(interests) AS k, COUNT(*), SUM(clicked) FROM impressions GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
    `SELECT interests AS k, COUNT(*), SUM(clicked) FROM impressions GROUP BY 1 ORDER BY 2 DESC LIMIT 1`,
  ),
  q(
    'lists_mv_slice',
    `SELECT MV_TO_STRING(MV_SLICE(interests, 0, 2), '+') AS k, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(interests[1:2], '+') AS k, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_mv_append',
    `SELECT MV_TO_STRING(MV_APPEND(interests, device), '|') AS k, COUNT(*) FROM impressions WHERE country = 'JP' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(list_append(interests, device), '|') AS k, COUNT(*) FROM impressions WHERE country = 'JP' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_mv_append_values',
    `SELECT k, COUNT(*) FROM (SELECT MV_APPEND(interests, device) AS k FROM impressions) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT k, COUNT(*) FROM (SELECT unnest(list_append(interests, device)) AS k FROM impressions) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_array_append',
    `SELECT COUNT(DISTINCT ARRAY_TO_STRING(ARRAY_APPEND(items, level), ',')) FROM plays`,
    `SELECT COUNT(DISTINCT array_to_string(list_append(items, level), ',')) FROM plays`,
  ),
  q(
    'lists_array_made',
    `SELECT ARRAY_TO_STRING(ARRAY[platform, country, kind], '/') AS k, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string([platform, country, kind], '/') AS k, COUNT(*) FROM plays GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'lists_mv_offset',
    `SELECT MV_OFFSET(interests, 0) AS f, MV_ORDINAL(interests, 2) AS s, COUNT(*) FROM impressions GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT interests[1] AS f, interests[2] AS s, COUNT(*) FROM impressions GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'lists_string_agg',
    `SELECT COUNT(*), SUM(LENGTH(s)) FROM (SELECT player, STRING_AGG(kind, ',', 1000000) AS s FROM plays GROUP BY 1)`,
    `SELECT COUNT(*), SUM(LENGTH(s)) FROM (SELECT player, string_agg(kind, ',') AS s FROM plays GROUP BY 1)`,
  ),
  q(
    'lists_string_agg_distinct',
    `SELECT country, LENGTH(STRING_AGG(DISTINCT build, ';', 1000000)) FROM plays GROUP BY 1 ORDER BY 1`,
    `SELECT country, LENGTH(string_agg(DISTINCT build, ';')) FROM plays GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'lists_string_agg_top',
    `SELECT visitor, STRING_AGG(DISTINCT device, '|') AS s, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
    `SELECT visitor, string_agg(DISTINCT device, '|' ORDER BY device) AS s, COUNT(*) FROM impressions GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
];

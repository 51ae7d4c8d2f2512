import type { Question } from '../side-by-side.js';

const NINETY = Array.from({ length: 90 }, (_, index) => `SUM(width + ${index})`).join(', ');
const SOURCE = "CASE WHEN trafficSource = 0 AND engine = 0 THEN referrer ELSE '' END";
const A_WEEK = "__time >= TIMESTAMP '2024-03-02 00:00:00' AND __time < TIMESTAMP '2024-03-09 00:00:00'";
const HOST = "'^https?://(?:www\\.)?([^/]+)/.*$'";

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

export const QUESTIONS: readonly Question[] = [
  // Counts, sums, extremes.
  q('count', 'SELECT COUNT(*) FROM views'),
  q('count_rare', 'SELECT COUNT(*) FROM views WHERE adEngine <> 0'),
  q('sums', 'SELECT SUM(isRefresh), COUNT(*), AVG(width), SUM(loadMs) FROM views'),
  q('avg_cast', 'SELECT AVG(CAST(userId AS DOUBLE)), AVG(CAST(width AS DOUBLE)) FROM views'),
  q(
    'sum_cast_text',
    'SELECT SUM(CAST(orderCode AS BIGINT)), SUM(CAST(price AS BIGINT)) FROM views',
    'SELECT SUM(CAST(orderCode AS BIGINT)), SUM(CAST(trunc(price) AS BIGINT)) FROM views',
  ),
  q('time_extremes', 'SELECT MIN(__time), MAX(__time) FROM views'),
  q(
    'floor_extremes',
    "SELECT MIN(TIME_FLOOR(__time, 'PT1H')), MAX(TIME_FLOOR(__time, 'P1D')) FROM views",
    "SELECT MIN(date_trunc('hour', __time)), MAX(date_trunc('day', __time)) FROM views",
  ),
  q('ninety_sums', `SELECT ${NINETY} FROM views`),
  q(
    'filtered_sums',
    "SELECT SUM(cents) FILTER (WHERE isPaid = 1), COUNT(*) FILTER (WHERE country = 'clardrondibren' OR isMobile = 1), AVG(price) FILTER (WHERE quantity > 2) FROM views",
  ),
  q('arithmetic', 'SELECT SUM(price * quantity), SUM(bytesSent - bytesReceived), MAX(loadMs - domMs) FROM views'),
  // Distinct counts.
  q('distinct_users', 'SELECT COUNT(DISTINCT userId) FROM views'),
  q('distinct_phrases', 'SELECT COUNT(DISTINCT phrase) FROM views'),
  q('distinct_by_region', 'SELECT regionId, COUNT(DISTINCT userId) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q(
    'region_mixed',
    'SELECT regionId, SUM(adEngine), COUNT(*), AVG(width), COUNT(DISTINCT userId) FROM views GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 10',
  ),
  q(
    'distinct_by_model',
    'SELECT deviceModel, COUNT(DISTINCT userId) FROM views WHERE deviceModel IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10',
  ),
  q(
    'distinct_by_two',
    'SELECT deviceMaker, deviceModel, COUNT(DISTINCT userId) FROM views WHERE deviceModel IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10',
  ),
  q('distinct_urls', 'SELECT country, COUNT(DISTINCT url) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q('phrase_users', 'SELECT phrase, COUNT(DISTINCT userId) FROM views WHERE phrase IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  // Groups of one and more keys.
  q('group_rare', 'SELECT adEngine, COUNT(*) FROM views WHERE adEngine <> 0 GROUP BY 1 ORDER BY 2 DESC, 1'),
  q('top_phrases', 'SELECT phrase, COUNT(*) FROM views WHERE phrase IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q(
    'top_engine_phrases',
    'SELECT engine, phrase, COUNT(*) FROM views WHERE phrase IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10',
  ),
  q('top_users', 'SELECT userId, COUNT(*) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q('user_phrases', 'SELECT userId, phrase, COUNT(*) FROM views GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10'),
  q(
    'user_minutes',
    'SELECT userId, EXTRACT(MINUTE FROM __time) AS m, phrase, COUNT(*) FROM views GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 10',
  ),
  q(
    'engine_ip',
    'SELECT engine, ip, COUNT(*), SUM(isRefresh), AVG(width) FROM views WHERE phrase IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10',
  ),
  q('view_ip', 'SELECT viewId, ip, COUNT(*), SUM(isRefresh), AVG(width) FROM views GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10'),
  q('following_keys', 'SELECT ip, ip - 1, ip - 2, ip - 3, COUNT(*) FROM views GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1 LIMIT 10'),
  q('top_urls', 'SELECT url, COUNT(*) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q('two_windows', 'SELECT viewWidth, viewHeight, COUNT(*) FROM views WHERE isRefresh = 0 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10'),
  q('site_urls', `SELECT url, COUNT(*) FROM views WHERE site = 62 AND ${A_WEEK} AND isRefresh = 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`),
  q('site_titles', `SELECT title, COUNT(*) FROM views WHERE site < 5 AND ${A_WEEK} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`),
  q(
    'minutes',
    "SELECT TIME_FLOOR(__time, 'PT1M') AS m, COUNT(*) FROM views WHERE site = 3 GROUP BY 1 ORDER BY 1 LIMIT 10 OFFSET 100",
    "SELECT date_trunc('minute', __time) AS m, COUNT(*) FROM views WHERE site = 3 GROUP BY 1 ORDER BY 1 LIMIT 10 OFFSET 100",
  ),
  q('hours_by_browser', 'SELECT browser, EXTRACT(HOUR FROM __time), COUNT(*), SUM(loadMs) FROM views GROUP BY 1, 2 ORDER BY 1, 2'),
  // Computed keys.
  q(
    'case_key',
    `SELECT trafficSource, engine, ${SOURCE}, url, COUNT(*) FROM views WHERE ${A_WEEK} GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT 10 OFFSET 100`,
  ),
  q(
    'case_bands',
    "SELECT CASE WHEN loadMs < 100 THEN 'fast' WHEN loadMs < 1000 THEN 'fair' ELSE 'slow' END, COUNT(*), AVG(price) FROM views GROUP BY 1 ORDER BY 1",
  ),
  q('concat_key', "SELECT country || '/' || os, COUNT(*), SUM(cents) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
  q('concat_wide', "SELECT city || ' (' || region || ')', COUNT(*) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
  q('substring_key', 'SELECT SUBSTRING(session, 1, 3), COUNT(*) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q('agent_key', 'SELECT LOWER(SUBSTRING(agent, 14, 20)), COUNT(*) FROM views GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10'),
  q(
    'host_key',
    `SELECT REGEXP_REPLACE(referrer, ${HOST}, '$1'), AVG(LENGTH(referrer)), COUNT(*), MIN(referrer) FROM views WHERE referrer IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 50 ORDER BY 2 DESC, 1 LIMIT 25`,
    `SELECT REGEXP_REPLACE(referrer, ${HOST}, '\\1'), AVG(LENGTH(referrer)), COUNT(*), MIN(referrer) FROM views WHERE referrer IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 50 ORDER BY 2 DESC, 1 LIMIT 25`,
  ),
  q('bucket_key', 'SELECT FLOOR(price / 100), COUNT(*), MAX(score) FROM views GROUP BY 1 ORDER BY 1'),
  // Strings.
  q('url_like', "SELECT COUNT(*) FROM views WHERE url LIKE '%bren%'"),
  q(
    'phrase_extremes',
    "SELECT phrase, MIN(url), COUNT(*) FROM views WHERE url LIKE '%bren%' AND phrase IS NOT NULL GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 10",
  ),
  q(
    'phrase_titles',
    "SELECT phrase, MIN(url), MIN(title), COUNT(*), COUNT(DISTINCT userId) FROM views WHERE title LIKE '%dron%' AND url NOT LIKE '%.clar%' AND phrase IS NOT NULL GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 10",
  ),
  q(
    'regexp_like',
    "SELECT COUNT(*) FROM views WHERE REGEXP_LIKE(url, 'q=[a-z]+.*#')",
    "SELECT COUNT(*) FROM views WHERE regexp_matches(url, 'q=[a-z]+.*#')",
  ),
  q('url_length', 'SELECT site, AVG(LENGTH(url)), COUNT(*) FROM views GROUP BY 1 HAVING COUNT(*) > 100 ORDER BY 2 DESC, 1 LIMIT 25'),
  q('unique_length', 'SELECT SUM(LENGTH(session)), MAX(LENGTH(session)) FROM views'),
  q('string_extremes', 'SELECT MIN(url), MAX(title), MIN(session) FROM views'),
  // Rows.
  q('all_columns', "SELECT * FROM views WHERE url LIKE '%bren%' ORDER BY __time LIMIT 10"),
  q('phrases_by_time', 'SELECT phrase FROM views WHERE phrase IS NOT NULL ORDER BY __time LIMIT 10'),
  q('phrases_first', 'SELECT phrase FROM views WHERE phrase IS NOT NULL ORDER BY phrase LIMIT 10'),
  q('phrases_by_both', 'SELECT phrase, __time FROM views WHERE phrase IS NOT NULL ORDER BY phrase DESC, __time DESC LIMIT 10'),
  q('unique_first', 'SELECT session FROM views ORDER BY session LIMIT 10'),
  q('slowest', 'SELECT viewId, loadMs, url FROM views WHERE loadMs IS NOT NULL ORDER BY loadMs DESC, viewId LIMIT 10'),
  q('longest', 'SELECT url, site, sequence FROM views ORDER BY LENGTH(url) DESC, url, site, sequence LIMIT 10'),
  q('one_user', 'SELECT __time, url, title FROM views WHERE userId = (SELECT MAX(userId) FROM views) ORDER BY __time LIMIT 100'),
  q(
    'in_many',
    `SELECT COUNT(*), SUM(cents) FROM views WHERE coupon IN (${Array.from({ length: 100 }, (_, index) => index * 37 + 5).join(', ')})`,
  ),
  // Several values, JSON.
  q(
    'tag_contains',
    "SELECT COUNT(*) FROM views WHERE MV_CONTAINS(tags, 'tag 7')",
    "SELECT COUNT(*) FROM views WHERE list_contains(tags, 'tag 7')",
  ),
  q(
    'tag_overlap',
    "SELECT country, COUNT(*) FROM views WHERE MV_OVERLAP(tags, ARRAY['tag 3', 'tag 40', 'tag 300']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10",
    "SELECT country, COUNT(*) FROM views WHERE list_has_any(tags, ['tag 3', 'tag 40', 'tag 300']) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10",
  ),
  q('tag_count', 'SELECT SUM(MV_LENGTH(tags)), MAX(MV_LENGTH(tags)) FROM views', 'SELECT SUM(len(tags)), MAX(len(tags)) FROM views'),
  q(
    'tag_groups',
    'SELECT t, COUNT(*), SUM(cents) FROM views CROSS JOIN UNNEST(MV_TO_ARRAY(tags)) AS u(t) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10',
    'SELECT t, COUNT(*), SUM(cents) FROM views CROSS JOIN UNNEST(tags) AS u(t) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10',
  ),
  q(
    'tag_filter',
    "SELECT SUM(MV_LENGTH(MV_FILTER_ONLY(tags, ARRAY['tag 1', 'tag 2']))) FROM views",
    "SELECT SUM(len(list_filter(tags, x -> x IN ('tag 1', 'tag 2')))) FROM views",
  ),
  q(
    'json_sum',
    "SELECT SUM(JSON_VALUE(properties, '$.cart.total' RETURNING DOUBLE)), MAX(JSON_VALUE(properties, '$.depth' RETURNING BIGINT)) FROM views",
    "SELECT SUM((properties->>'$.cart.total')::DOUBLE), MAX((properties->>'$.depth')::BIGINT) FROM views",
  ),
  q(
    'json_group',
    "SELECT JSON_VALUE(properties, '$.variant'), COUNT(*), SUM(cents) FROM views GROUP BY 1 ORDER BY 1",
    "SELECT properties->>'$.variant', COUNT(*), SUM(cents) FROM views GROUP BY 1 ORDER BY 1",
  ),
  q(
    'json_object',
    "SELECT __time, TO_JSON_STRING(JSON_QUERY(properties, '$.note')) FROM views WHERE JSON_VALUE(properties, '$.note.by') IS NOT NULL ORDER BY __time LIMIT 1000",
    "SELECT __time, CAST(properties->'$.note' AS VARCHAR) FROM views WHERE properties->>'$.note.by' IS NOT NULL ORDER BY __time LIMIT 1000",
  ),
];

import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Plays of a game: retention, cohorts, sessions, funnels, arrays of items, documents. */
export const PLAYS: readonly Question[] = [
  q(
    'plays_dau',
    'SELECT FLOOR(__time TO DAY) AS d, COUNT(DISTINCT player) AS dau, COUNT(*) * 1.0 / COUNT(DISTINCT player), SUM(price) / COUNT(DISTINCT player) FROM plays GROUP BY 1 ORDER BY 1',
    `SELECT date_trunc('day', __time) AS d, COUNT(DISTINCT player) AS dau, COUNT(*) * 1.0 / COUNT(DISTINCT player), SUM(price) / COUNT(DISTINCT player) FROM plays GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'plays_retention',
    'WITH first AS (SELECT player, MIN(FLOOR(__time TO DAY)) AS d0 FROM plays GROUP BY 1), days AS (SELECT DISTINCT player, FLOOR(__time TO DAY) AS d FROM plays) SELECT f.d0, TIMESTAMPDIFF(DAY, f.d0, d.d) AS n, COUNT(*) FROM days d JOIN first f ON d.player = f.player GROUP BY 1, 2 ORDER BY 1, 2',
    `WITH first AS (SELECT player, MIN(date_trunc('day', __time)) AS d0 FROM plays GROUP BY 1), days AS (SELECT DISTINCT player, date_trunc('day', __time) AS d FROM plays) SELECT f.d0, date_sub('day', f.d0, d.d) AS n, COUNT(*) FROM days d JOIN first f ON d.player = f.player GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'plays_cohort_week',
    'WITH f AS (SELECT player, FLOOR(MIN(__time) TO WEEK) AS c FROM plays GROUP BY 1) SELECT f.c, FLOOR(p.__time TO WEEK) AS w, COUNT(DISTINCT p.player), SUM(p.price) FROM plays p JOIN f ON p.player = f.player GROUP BY 1, 2 ORDER BY 1, 2',
    `WITH f AS (SELECT player, date_trunc('week', MIN(__time)) AS c FROM plays GROUP BY 1) SELECT f.c, date_trunc('week', p.__time) AS w, COUNT(DISTINCT p.player), SUM(p.price) FROM plays p JOIN f ON p.player = f.player GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'plays_sessions',
    `SELECT COUNT(*), AVG(n), MAX(l) FROM (SELECT player, s, COUNT(*) AS n, MAX(ms) - MIN(ms) AS l FROM (SELECT player, ms, SUM(CASE WHEN gap > 1800000 OR gap IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY player ORDER BY ms ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT player, TIMESTAMP_TO_MILLIS(__time) AS ms, TIMESTAMP_TO_MILLIS(__time) - TIMESTAMP_TO_MILLIS(LAG(__time) OVER (PARTITION BY player ORDER BY __time)) AS gap FROM plays WHERE country = 'jp')) GROUP BY 1, 2)`,
    `SELECT COUNT(*), AVG(n), MAX(l) FROM (SELECT player, s, COUNT(*) AS n, MAX(ms) - MIN(ms) AS l FROM (SELECT player, ms, SUM(CASE WHEN gap > 1800000 OR gap IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY player ORDER BY ms ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT player, epoch_ms(__time) AS ms, epoch_ms(__time) - epoch_ms(LAG(__time) OVER (PARTITION BY player ORDER BY __time)) AS gap FROM plays WHERE country = 'jp')) GROUP BY 1, 2)`,
  ),
  q(
    'plays_funnel',
    `SELECT COUNT(*) AS a, COUNT(CASE WHEN t > l THEN 1 END) AS b, COUNT(CASE WHEN p > t AND t > l THEN 1 END) AS c FROM (SELECT player, MIN(CASE WHEN kind = 'login' THEN TIMESTAMP_TO_MILLIS(__time) END) AS l, MIN(CASE WHEN kind = 'tutorial' THEN TIMESTAMP_TO_MILLIS(__time) END) AS t, MIN(CASE WHEN kind = 'purchase' THEN TIMESTAMP_TO_MILLIS(__time) END) AS p FROM plays GROUP BY 1) WHERE l IS NOT NULL`,
    `SELECT COUNT(*) AS a, COUNT(CASE WHEN t > l THEN 1 END) AS b, COUNT(CASE WHEN p > t AND t > l THEN 1 END) AS c FROM (SELECT player, MIN(CASE WHEN kind = 'login' THEN epoch_ms(__time) END) AS l, MIN(CASE WHEN kind = 'tutorial' THEN epoch_ms(__time) END) AS t, MIN(CASE WHEN kind = 'purchase' THEN epoch_ms(__time) END) AS p FROM plays GROUP BY 1) WHERE l IS NOT NULL`,
  ),
  q(
    'plays_payers',
    `SELECT platform, country, COUNT(DISTINCT player) FILTER (WHERE kind = 'purchase') * 100.0 / COUNT(DISTINCT player) AS conv, SUM(price) FROM plays GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  ),
  q(
    'plays_whales',
    'SELECT player, SUM(price) AS s, COUNT(price), MAX(level) FROM plays GROUP BY 1 HAVING SUM(price) > 50 ORDER BY 2 DESC, 1 LIMIT 50',
  ),
  q(
    'plays_deciles',
    'SELECT d, COUNT(*), SUM(s), MIN(s), MAX(s) FROM (SELECT s, NTILE(10) OVER (ORDER BY s DESC, player) AS d FROM (SELECT player, SUM(price) AS s FROM plays WHERE price IS NOT NULL GROUP BY 1)) GROUP BY 1 ORDER BY 1',
  ),
  q(
    'plays_items',
    'SELECT i, COUNT(*), AVG(level), MAX(score) FROM plays CROSS JOIN UNNEST(items) AS u(i) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30',
    'SELECT i, COUNT(*), AVG(level), MAX(score) FROM (SELECT unnest(items) AS i, level, score FROM plays) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30',
  ),
  q(
    'plays_items_rare',
    `SELECT kind, COUNT(*), COUNT(DISTINCT i) FROM plays CROSS JOIN UNNEST(items) AS u(i) WHERE i < 10 AND platform = 'pc' GROUP BY 1 ORDER BY 1`,
    `SELECT kind, COUNT(*), COUNT(DISTINCT i) FROM (SELECT unnest(items) AS i, kind, platform FROM plays) WHERE i < 10 AND platform = 'pc' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'plays_items_text',
    `SELECT ARRAY_TO_STRING(items, ','), COUNT(*), MAX(score) FROM plays WHERE platform = 'switch' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT array_to_string(items, ','), COUNT(*), MAX(score) FROM plays WHERE platform = 'switch' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'plays_items_key',
    'SELECT items, COUNT(*) FROM plays WHERE ARRAY_LENGTH(items) <= 2 GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
    'SELECT items, COUNT(*) FROM plays WHERE len(items) <= 2 GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
  ),
  q(
    'plays_items_ordinal',
    'SELECT ARRAY_ORDINAL(items, 1) AS a, ARRAY_OFFSET_OF(items, 7) AS b, COUNT(*) FROM plays GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30',
    'SELECT items[1] AS a, CASE WHEN list_position(items, 7) > 0 THEN list_position(items, 7) - 1 END AS b, COUNT(*) FROM plays GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30',
  ),
  q(
    'plays_weapons',
    `SELECT JSON_VALUE(detail, '$.weapon.name') AS w, JSON_VALUE(detail, '$.map') AS m, COUNT(*), AVG(JSON_VALUE(detail, '$.weapon.level' RETURNING BIGINT)) FROM plays WHERE kind = 'kill' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
    `SELECT (detail->>'$.weapon.name') AS w, (detail->>'$.map') AS m, COUNT(*), AVG(CAST(detail->>'$.weapon.level' AS BIGINT)) FROM plays WHERE kind = 'kill' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
  ),
  q(
    'plays_team_pivot',
    `SELECT JSON_VALUE(detail, '$.map') AS m, SUM(CASE WHEN JSON_VALUE(detail, '$.team' RETURNING BIGINT) = 0 THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN JSON_VALUE(detail, '$.team' RETURNING BIGINT) = 1 AND kind = 'kill' THEN 1 ELSE 0 END) AS b FROM plays GROUP BY 1 ORDER BY 1`,
    `SELECT (detail->>'$.map') AS m, SUM(CASE WHEN CAST(detail->>'$.team' AS BIGINT) = 0 THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN CAST(detail->>'$.team' AS BIGINT) = 1 AND kind = 'kill' THEN 1 ELSE 0 END) AS b FROM plays GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'plays_next_kind',
    `SELECT kind, nxt, COUNT(*) FROM (SELECT kind, LEAD(kind) OVER (PARTITION BY player ORDER BY __time) AS nxt FROM plays WHERE country IN ('de', 'fr')) WHERE nxt IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30`,
  ),
  q(
    'plays_level_ups',
    'SELECT COUNT(*), SUM(up) FROM (SELECT player, level - MAX(level) OVER (PARTITION BY player ORDER BY __time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS up FROM plays) WHERE up > 0',
  ),
  q(
    'plays_versions',
    `SELECT SUBSTRING(build, 1, POSITION('.' IN SUBSTRING(build, 3)) + 1) AS minor, COUNT(DISTINCT player), COUNT(*) FILTER (WHERE kind = 'death') * 1.0 / COUNT(*) FILTER (WHERE kind = 'kill') FROM plays GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'plays_churned',
    `SELECT COUNT(*) FROM (SELECT DISTINCT player FROM plays WHERE __time < TIMESTAMP '2025-05-15' EXCEPT SELECT DISTINCT player FROM plays WHERE __time >= TIMESTAMP '2025-05-24')`,
  ),
  q(
    'plays_both',
    `SELECT COUNT(*) FROM (SELECT player FROM plays WHERE platform = 'ios' AND kind = 'purchase' INTERSECT SELECT player FROM plays WHERE platform = 'pc' AND kind = 'purchase')`,
  ),
  q(
    'plays_no_purchase',
    `SELECT country, COUNT(DISTINCT player) FROM plays p WHERE NOT EXISTS (SELECT 1 FROM plays q WHERE q.player = p.player AND q.kind = 'purchase') GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'plays_top_by_country',
    'SELECT country, player, s FROM (SELECT country, player, SUM(score) AS s, RANK() OVER (PARTITION BY country ORDER BY SUM(score) DESC) AS r FROM plays WHERE score IS NOT NULL GROUP BY 1, 2) WHERE r <= 5 ORDER BY 1, 3 DESC, 2',
  ),
  q(
    'plays_dow_heat',
    'SELECT EXTRACT(DOW FROM __time) AS d, EXTRACT(HOUR FROM __time) AS h, COUNT(*), COUNT(DISTINCT player) FROM plays GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT isodow(__time) AS d, EXTRACT(HOUR FROM __time) AS h, COUNT(*), COUNT(DISTINCT player) FROM plays GROUP BY 1, 2 ORDER BY 1, 2',
  ),
  q(
    'plays_hll_days',
    'SELECT FLOOR(__time TO DAY) AS d, platform, APPROX_COUNT_DISTINCT_DS_HLL(player) > 0 FROM plays GROUP BY 1, 2 ORDER BY 1, 2',
    `SELECT date_trunc('day', __time) AS d, platform, APPROX_COUNT_DISTINCT(player) > 0 FROM plays GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'plays_hll_players',
    'SELECT COUNT(*), MAX(n) > 1 FROM (SELECT player, APPROX_COUNT_DISTINCT_DS_HLL(build) AS n FROM plays GROUP BY 1)',
    'SELECT COUNT(*), MAX(n) > 1 FROM (SELECT player, APPROX_COUNT_DISTINCT(build) AS n FROM plays GROUP BY 1)',
  ),
  q(
    'plays_rolling_active',
    `SELECT a.d, COUNT(DISTINCT b.player) FROM (SELECT DISTINCT FLOOR(__time TO DAY) AS d FROM plays WHERE __time >= TIMESTAMP '2025-05-20') a CROSS JOIN (SELECT DISTINCT FLOOR(__time TO DAY) AS d, player FROM plays WHERE country = 'kr') b WHERE b.d > TIMESTAMPADD(DAY, -7, a.d) AND b.d <= a.d GROUP BY 1 ORDER BY 1`,
    `SELECT a.d, COUNT(DISTINCT b.player) FROM (SELECT DISTINCT date_trunc('day', __time) AS d FROM plays WHERE __time >= TIMESTAMP '2025-05-20') a CROSS JOIN (SELECT DISTINCT date_trunc('day', __time) AS d, player FROM plays WHERE country = 'kr') b WHERE b.d > a.d + INTERVAL (-7) DAY AND b.d <= a.d GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'plays_lists',
    'SELECT player, ARRAY_AGG(DISTINCT platform) IS NOT NULL, ARRAY_LENGTH(ARRAY_AGG(DISTINCT kind)), COUNT(*) FROM plays WHERE level > 70 GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 20',
    'SELECT player, list(DISTINCT platform) IS NOT NULL, len(list(DISTINCT kind)), COUNT(*) FROM plays WHERE level > 70 GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 20',
  ),
  q(
    'plays_median_score',
    'SELECT level, APPROX_QUANTILE_DS(score, 0.5) > 0, APPROX_QUANTILE_DS(score, 0.9) > 0, COUNT(score) FROM plays GROUP BY 1 ORDER BY 1',
    'SELECT level, quantile_cont(score, 0.5) > 0, quantile_cont(score, 0.9) > 0, COUNT(score) FROM plays GROUP BY 1 ORDER BY 1',
  ),
  q(
    'plays_union_kinds',
    `SELECT k, SUM(n), COUNT(*) FROM (SELECT 'pay' AS k, player, COUNT(*) AS n FROM plays WHERE kind = 'purchase' GROUP BY 2 UNION ALL SELECT 'chat', player, COUNT(*) FROM plays WHERE kind = 'chat' GROUP BY 2 UNION ALL SELECT 'login', player, COUNT(*) FROM plays WHERE kind = 'login' GROUP BY 2) GROUP BY 1 ORDER BY 1`,
  ),
];

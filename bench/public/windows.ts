import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/**
 * Windows in an order, and what is made of them: sums and counts so far, moving averages, values of rows before, sessions and islands, places in an order, the first of
 * each partition with ties, over rows, below filters and groups and over groups; INTERSECT ALL and EXCEPT ALL.
 */
export const WINDOWS: readonly Question[] = [
  q(
    'windows_run_sum',
    `SELECT COUNT(*), MAX(r), MIN(r) FROM (SELECT SUM(fare) OVER (PARTITION BY pickupZone ORDER BY __time ROWS UNBOUNDED PRECEDING) AS r FROM rides)`,
  ),
  q(
    'windows_run_sum_long',
    `SELECT store, MAX(r) FROM (SELECT store, SUM(quantity) OVER (PARTITION BY store ORDER BY __time) AS r FROM sales) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'windows_run_count_customer',
    `SELECT n, COUNT(*) FROM (SELECT COUNT(*) OVER (PARTITION BY customer ORDER BY __time) AS n FROM sales) GROUP BY 1 ORDER BY 1 LIMIT 40`,
  ),
  q(
    'windows_run_whole_table',
    `SELECT MAX(r), SUM(r) FROM (SELECT SUM(quantity) OVER (ORDER BY __time ROWS UNBOUNDED PRECEDING) AS r FROM returns)`,
  ),
  q(
    'windows_moving_avg_rows',
    `SELECT COUNT(*), SUM(a), MAX(a) FROM (SELECT AVG(fare) OVER (PARTITION BY pickupZone ORDER BY __time ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS a FROM rides)`,
  ),
  q(
    'windows_moving_sum_customer',
    `SELECT COUNT(*) FROM (SELECT SUM(quantity) OVER (PARTITION BY customer ORDER BY __time ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS s FROM sales) WHERE s > 400`,
  ),
  q(
    'windows_moving_max',
    `SELECT SUM(m) FROM (SELECT MAX(distance) OVER (PARTITION BY vendor, pickupZone ORDER BY __time ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS m FROM rides)`,
  ),
  q(
    'windows_moving_days',
    `SELECT d, n, AVG(n) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM (SELECT FLOOR(__time TO DAY) AS d, COUNT(*) AS n FROM flights GROUP BY 1) ORDER BY 1`,
    `SELECT d, n, AVG(n) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM (SELECT date_trunc('day', __time) AS d, COUNT(*) AS n FROM flights GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'windows_lag_diff',
    `SELECT COUNT(*), AVG(fare - p), MAX(fare - p) FROM (SELECT fare, LAG(fare) OVER (PARTITION BY pickupZone ORDER BY __time) AS p FROM rides) WHERE p IS NOT NULL`,
  ),
  q(
    'windows_lag_gap_customer',
    `SELECT COUNT(*), AVG(g), MAX(g) FROM (SELECT TIMESTAMPDIFF(SECOND, LAG(__time) OVER (PARTITION BY customer ORDER BY __time), __time) AS g FROM sales)`,
    `SELECT COUNT(*), AVG(g), MAX(g) FROM (SELECT date_sub('second', LAG(__time) OVER (PARTITION BY customer ORDER BY __time), __time) AS g FROM sales)`,
  ),
  q(
    'windows_lead_string',
    `SELECT payment, nxt, COUNT(*) FROM (SELECT payment, LEAD(payment) OVER (PARTITION BY dropoffZone ORDER BY __time) AS nxt FROM rides) GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'windows_lag_events',
    `SELECT prev, event, COUNT(*) FROM (SELECT event, LAG(event, 1, 'none') OVER (PARTITION BY actor ORDER BY __time) AS prev FROM events) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30`,
  ),
  q(
    'windows_sessions',
    `SELECT COUNT(*), SUM(s), MAX(s) FROM (SELECT actor, SUM(f) AS s FROM (SELECT actor, CASE WHEN p IS NULL OR t - p > 86400000 THEN 1 ELSE 0 END AS f FROM (SELECT actor, TIMESTAMP_TO_MILLIS(__time) AS t, LAG(TIMESTAMP_TO_MILLIS(__time)) OVER (PARTITION BY actor ORDER BY __time) AS p FROM events)) GROUP BY 1)`,
    `SELECT COUNT(*), SUM(s), MAX(s) FROM (SELECT actor, SUM(f) AS s FROM (SELECT actor, CASE WHEN p IS NULL OR t - p > 86400000 THEN 1 ELSE 0 END AS f FROM (SELECT actor, epoch_ms(__time) AS t, LAG(epoch_ms(__time)) OVER (PARTITION BY actor ORDER BY __time) AS p FROM events)) GROUP BY 1)`,
  ),
  q(
    'windows_session_ids',
    `SELECT COUNT(*), MAX(n) FROM (SELECT actor, s, COUNT(*) AS n FROM (SELECT actor, SUM(f) OVER (PARTITION BY actor ORDER BY t ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT actor, __time AS t, CASE WHEN TIMESTAMPDIFF(HOUR, LAG(__time) OVER (PARTITION BY actor ORDER BY __time), __time) < 24 THEN 0 ELSE 1 END AS f FROM events)) GROUP BY 1, 2)`,
    `SELECT COUNT(*), MAX(n) FROM (SELECT actor, s, COUNT(*) AS n FROM (SELECT actor, SUM(f) OVER (PARTITION BY actor ORDER BY t ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT actor, __time AS t, CASE WHEN date_sub('hour', LAG(__time) OVER (PARTITION BY actor ORDER BY __time), __time) < 24 THEN 0 ELSE 1 END AS f FROM events)) GROUP BY 1, 2)`,
  ),
  q(
    'windows_islands',
    `SELECT COUNT(*), MAX(n) FROM (SELECT store, d - r AS island, COUNT(*) AS n FROM (SELECT store, d, ROW_NUMBER() OVER (PARTITION BY store ORDER BY d) AS r FROM (SELECT store, TIMESTAMPDIFF(DAY, TIMESTAMP '2023-01-01 00:00:00', __time) AS d FROM sales WHERE quantity > 97 GROUP BY 1, 2)) GROUP BY 1, 2)`,
    `SELECT COUNT(*), MAX(n) FROM (SELECT store, d - r AS island, COUNT(*) AS n FROM (SELECT store, d, ROW_NUMBER() OVER (PARTITION BY store ORDER BY d) AS r FROM (SELECT store, date_sub('day', TIMESTAMP '2023-01-01 00:00:00', __time) AS d FROM sales WHERE quantity > 97 GROUP BY 1, 2)) GROUP BY 1, 2)`,
  ),
  q('windows_rank_sum', `SELECT SUM(r), MAX(r) FROM (SELECT RANK() OVER (PARTITION BY store ORDER BY quantity DESC) AS r FROM sales)`),
  q(
    'windows_dense_rank_counts',
    `SELECT r, COUNT(*) FROM (SELECT DENSE_RANK() OVER (PARTITION BY origin ORDER BY distance) AS r FROM flights) GROUP BY 1 ORDER BY 1 LIMIT 50`,
  ),
  q(
    'windows_ntile',
    `SELECT q, COUNT(*), MIN(amount), MAX(amount) FROM (SELECT amount, NTILE(10) OVER (ORDER BY amount, ticket, item, __time) AS q FROM returns) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'windows_ntile_groups',
    `SELECT q, COUNT(*), SUM(s) FROM (SELECT customer, s, NTILE(4) OVER (ORDER BY s DESC, customer) AS q FROM (SELECT customer, SUM(quantity) AS s FROM sales GROUP BY 1)) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'windows_percent_rank',
    `SELECT COUNT(*), SUM(p) FROM (SELECT PERCENT_RANK() OVER (PARTITION BY payment ORDER BY fare) AS p FROM rides WHERE distance > 25)`,
  ),
  q(
    'windows_cume_dist',
    `SELECT reason, MIN(quantity) FROM (SELECT reason, quantity, CUME_DIST() OVER (PARTITION BY reason ORDER BY quantity) AS c FROM returns) WHERE c >= 0.9 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'windows_first_last',
    `SELECT COUNT(*), SUM(f), SUM(l) FROM (SELECT FIRST_VALUE(fare) OVER (PARTITION BY pickupZone ORDER BY __time) AS f, LAST_VALUE(fare) OVER (PARTITION BY pickupZone ORDER BY __time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM rides)`,
  ),
  q(
    'windows_first_value_string',
    `SELECT f, COUNT(*) FROM (SELECT FIRST_VALUE(event) OVER (PARTITION BY repo ORDER BY __time) AS f FROM events) GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'windows_top3_row_number',
    `SELECT pickupZone, fare, __time FROM (SELECT pickupZone, fare, __time, ROW_NUMBER() OVER (PARTITION BY pickupZone ORDER BY fare DESC, __time) AS r FROM rides) WHERE r <= 3 ORDER BY 1, 2 DESC, 3 LIMIT 100`,
  ),
  q(
    'windows_top3_rank_ties',
    `SELECT COUNT(*), SUM(quantity) FROM (SELECT store, quantity, RANK() OVER (PARTITION BY store ORDER BY quantity DESC) AS r FROM sales) WHERE r <= 3`,
  ),
  q(
    'windows_top3_dense',
    `SELECT COUNT(*), SUM(quantity) FROM (SELECT store, quantity, DENSE_RANK() OVER (PARTITION BY store ORDER BY quantity DESC) AS r FROM sales) WHERE r <= 3`,
  ),
  q(
    'windows_top_dense_strings',
    `SELECT COUNT(*), SUM(distance) FROM (SELECT distance, DENSE_RANK() OVER (PARTITION BY origin ORDER BY distance DESC) AS r FROM flights) WHERE r <= 5`,
  ),
  q(
    'windows_latest_per_customer',
    `SELECT COUNT(*), SUM(salesPrice) FROM (SELECT salesPrice, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY __time DESC) AS r FROM sales) WHERE r = 1`,
  ),
  q(
    'windows_second_per_actor',
    `SELECT event, COUNT(*) FROM (SELECT event, ROW_NUMBER() OVER (PARTITION BY actor ORDER BY __time) AS r FROM events) WHERE r = 2 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'windows_over_groups_rank',
    `SELECT category, brand, s, r FROM (SELECT i.category, i.brand, SUM(s.quantity) AS s, RANK() OVER (PARTITION BY i.category ORDER BY SUM(s.quantity) DESC) AS r FROM sales s JOIN items i ON s.item = i.id GROUP BY 1, 2) WHERE r <= 5 ORDER BY 1, 4, 2`,
  ),
  q(
    'windows_over_groups_share',
    `SELECT COUNT(*), MAX(p) FROM (SELECT origin, destination, n * 100.0 / SUM(n) OVER (PARTITION BY origin) AS p FROM (SELECT origin, destination, COUNT(*) AS n FROM flights GROUP BY 1, 2))`,
  ),
  q(
    'windows_over_groups_month',
    `SELECT item, m, s, s - LAG(s) OVER (PARTITION BY item ORDER BY m) AS d FROM (SELECT item, FLOOR(__time TO MONTH) AS m, SUM(quantity) AS s FROM sales WHERE item <= 2000 GROUP BY 1, 2) ORDER BY 1, 2 LIMIT 50`,
    `SELECT item, m, s, s - LAG(s) OVER (PARTITION BY item ORDER BY m) AS d FROM (SELECT item, date_trunc('month', __time) AS m, SUM(quantity) AS s FROM sales WHERE item <= 2000 GROUP BY 1, 2) ORDER BY 1, 2 LIMIT 50`,
  ),
  q(
    'windows_over_groups_many',
    `SELECT COUNT(*), MAX(c) FROM (SELECT SUM(s) OVER (PARTITION BY customer ORDER BY m) AS c FROM (SELECT customer, FLOOR(__time TO MONTH) AS m, SUM(quantity) AS s FROM sales GROUP BY 1, 2))`,
    `SELECT COUNT(*), MAX(c) FROM (SELECT SUM(s) OVER (PARTITION BY customer ORDER BY m) AS c FROM (SELECT customer, date_trunc('month', __time) AS m, SUM(quantity) AS s FROM sales GROUP BY 1, 2))`,
  ),
  q(
    'windows_over_groups_cume',
    `SELECT COUNT(*) FROM (SELECT id3, s, SUM(s) OVER (ORDER BY s DESC, id3 ROWS UNBOUNDED PRECEDING) AS c, SUM(s) OVER () AS t FROM (SELECT id3, SUM(v2) AS s FROM measures GROUP BY 1)) WHERE c <= 0.8 * t`,
  ),
  q(
    'windows_string_partitions_few',
    `SELECT COUNT(*), SUM(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY event ORDER BY __time) AS r FROM events)`,
  ),
  q(
    'windows_string_partitions_many',
    `SELECT MAX(n), SUM(n) FROM (SELECT COUNT(*) OVER (PARTITION BY repo ORDER BY __time) AS n FROM events)`,
  ),
  q('windows_string_order', `SELECT MAX(n), SUM(n) FROM (SELECT DENSE_RANK() OVER (PARTITION BY event ORDER BY repo) AS n FROM events)`),
  q('windows_two_strings', `SELECT SUM(r) FROM (SELECT RANK() OVER (PARTITION BY origin, destination ORDER BY delay) AS r FROM flights)`),
  q(
    'windows_several_same_order',
    `SELECT COUNT(*), SUM(a), SUM(b), MAX(c), SUM(d) FROM (SELECT LAG(quantity) OVER w AS a, LEAD(quantity) OVER w AS b, SUM(quantity) OVER w AS c, ROW_NUMBER() OVER w AS d FROM sales WINDOW w AS (PARTITION BY store ORDER BY __time))`,
  ),
  q(
    'windows_several_orders',
    `SELECT COUNT(*), SUM(a), SUM(b), SUM(c) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY store ORDER BY __time) AS a, ROW_NUMBER() OVER (PARTITION BY item ORDER BY __time) AS b, RANK() OVER (ORDER BY quantity) AS c FROM sales)`,
  ),
  q(
    'windows_first_and_last_islands',
    `SELECT SUM(a - b) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY customer ORDER BY __time) AS a, ROW_NUMBER() OVER (PARTITION BY customer, reason ORDER BY __time) AS b FROM returns)`,
  ),
  q(
    'windows_below_filter',
    `SELECT COUNT(*), AVG(delay - p) FROM (SELECT delay, LAG(delay) OVER (PARTITION BY origin ORDER BY __time, destination, distance, delay) AS p FROM flights WHERE delay > 60) WHERE p < delay`,
  ),
  q(
    'windows_below_group',
    `SELECT origin, AVG(d), MAX(d) FROM (SELECT origin, delay - LAG(delay) OVER (PARTITION BY origin ORDER BY __time, destination, distance, delay) AS d FROM flights) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'windows_range_reach',
    `SELECT MAX(n), SUM(n) FROM (SELECT COUNT(*) OVER (PARTITION BY store ORDER BY quantity RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING) AS n FROM sales)`,
  ),
  q(
    'windows_range_hour',
    `SELECT MAX(n), SUM(n) FROM (SELECT SUM(quantity) OVER (PARTITION BY reason ORDER BY __time RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) AS n FROM returns)`,
  ),
  q('windows_range_peers', `SELECT SUM(n) FROM (SELECT SUM(delay) OVER (PARTITION BY destination ORDER BY distance) AS n FROM flights)`),
  q(
    'windows_small_groups',
    `SELECT id, s, SUM(s) OVER (PARTITION BY q ORDER BY s, id) AS c FROM (SELECT item AS id, MOD(item, 10) AS q, SUM(quantity) AS s FROM returns GROUP BY 1, 2) ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q('windows_intersect_all', `SELECT COUNT(*) FROM (SELECT customer FROM sales INTERSECT ALL SELECT customer FROM returns)`),
  q(
    'windows_except_all',
    `SELECT COUNT(*), SUM(customer) FROM (SELECT customer FROM sales WHERE quantity > 50 EXCEPT ALL SELECT customer FROM returns)`,
  ),
  q(
    'windows_intersect_all_strings',
    `SELECT actor, COUNT(*) FROM (SELECT actor FROM events WHERE event = 'PushEvent' INTERSECT ALL SELECT actor FROM events WHERE event = 'WatchEvent') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  ),
  q(
    'windows_result_rows',
    `SELECT store, __time, quantity, SUM(quantity) OVER (PARTITION BY store ORDER BY __time) AS c FROM sales WHERE item = 17 ORDER BY 1, 2`,
  ),
  q(
    'windows_order_limit',
    `SELECT ticket, item, quantity, r FROM (SELECT ticket, item, quantity, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY __time) AS r FROM sales) ORDER BY r DESC, ticket, item LIMIT 10`,
  ),
  q(
    'windows_distinct_running',
    `SELECT MAX(n), SUM(n) FROM (SELECT COUNT(DISTINCT reason) OVER (PARTITION BY customer ORDER BY __time) AS n FROM returns)`,
  ),
  q(
    'windows_anomaly',
    `SELECT COUNT(*) FROM (SELECT fare, AVG(fare) OVER w AS a, STDDEV_POP(fare) OVER w AS s FROM rides WINDOW w AS (PARTITION BY pickupZone ORDER BY __time ROWS BETWEEN 50 PRECEDING AND 1 PRECEDING)) WHERE fare > a + 3 * s`,
  ),
  q(
    'windows_median_neighbours',
    `SELECT COUNT(*), SUM(mn), SUM(mx) FROM (SELECT MIN(amount) OVER (PARTITION BY item ORDER BY __time ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS mn, MAX(amount) OVER (PARTITION BY item ORDER BY __time ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS mx FROM returns)`,
  ),
  q(
    'windows_lag_ignore_nulls',
    `SELECT COUNT(p) FROM (SELECT LAG(additions) IGNORE NULLS OVER (PARTITION BY repo ORDER BY __time) AS p FROM events)`,
    `SELECT COUNT(p) FROM (SELECT LAG(additions IGNORE NULLS) OVER (PARTITION BY repo ORDER BY __time) AS p FROM events)`,
  ),
];

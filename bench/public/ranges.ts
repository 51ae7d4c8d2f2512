import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/**
 * Joins by ranges, with a key or without one: values in bands, times in periods, periods that overlap, what is near in time or in price, ranks by counting what is less,
 * the last value before another.
 */
export const RANGES: readonly Question[] = [
  q(
    'ranges_prices_in_bands',
    `SELECT b.band, COUNT(*) AS n, SUM(s.quantity) AS q FROM sales s JOIN (SELECT zone AS band, (zone - 1) * CAST(0.75 AS DOUBLE) AS lo, zone * CAST(0.75 AS DOUBLE) AS hi FROM zones) b ON s.salesPrice >= b.lo AND s.salesPrice < b.hi GROUP BY 1 ORDER BY 1`,
  ),
  q('ranges_between', `SELECT COUNT(*), SUM(f.w) FROM returns r JOIN few f ON r.amount BETWEEN f.w AND f.w + 1`),
  q('ranges_in_where', `SELECT COUNT(*), SUM(r.amount) FROM returns r, few f WHERE r.amount >= f.w AND r.amount < f.w + 5`),
  q(
    'ranges_near_in_price',
    `SELECT i.category, COUNT(*) FROM returns r JOIN items i ON i.price BETWEEN r.amount - 0.5 AND r.amount + 0.5 WHERE r.quantity = 7 GROUP BY 1 ORDER BY 1`,
  ),
  q('ranges_less_than', `SELECT COUNT(*) FROM zones a JOIN items b ON b.id < a.zone * 60`),
  q(
    'ranges_rank_by_counting',
    `SELECT c.state, MIN(k), MAX(k) FROM (SELECT a.id, a.state, COUNT(*) AS k FROM customers a JOIN few b ON b.w < a.birthYear - 1900 GROUP BY 1, 2) c GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'ranges_weeks',
    `SELECT w.week, COUNT(*), SUM(s.salesPrice) FROM sales s JOIN (SELECT FLOOR(__time TO WEEK) AS week, TIMESTAMPADD(DAY, 7, FLOOR(__time TO WEEK)) AS nextWeek FROM returns GROUP BY 1, 2) w ON s.__time >= w.week AND s.__time < w.nextWeek GROUP BY 1 ORDER BY 1`,
    `SELECT w.week, COUNT(*), SUM(s.salesPrice) FROM sales s JOIN (SELECT date_trunc('week', __time) AS week, date_trunc('week', __time) + INTERVAL 7 DAY AS nextWeek FROM returns GROUP BY 1, 2) w ON s.__time >= w.week AND s.__time < w.nextWeek GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'ranges_period_of_item',
    `SELECT p.item, COUNT(*), SUM(s.quantity) FROM sales s JOIN (SELECT item, FLOOR(__time TO MONTH) AS a, MAX(__time) AS b FROM returns WHERE item <= 200 GROUP BY 1, 2) p ON s.item = p.item AND s.__time >= p.a AND s.__time < p.b GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT p.item, COUNT(*), SUM(s.quantity) FROM sales s JOIN (SELECT item, date_trunc('month', __time) AS a, MAX(__time) AS b FROM returns WHERE item <= 200 GROUP BY 1, 2) p ON s.item = p.item AND s.__time >= p.a AND s.__time < p.b GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ranges_returned_soon',
    `SELECT COUNT(*), SUM(r.amount) FROM sales s JOIN returns r ON s.item = r.item AND r.__time >= s.__time AND r.__time < TIMESTAMPADD(HOUR, 12, s.__time) WHERE s.store < 20`,
    `SELECT COUNT(*), SUM(r.amount) FROM sales s JOIN returns r ON s.item = r.item AND r.__time >= s.__time AND r.__time < s.__time + INTERVAL 12 HOUR WHERE s.store < 20`,
  ),
  q(
    'ranges_near_in_time',
    `SELECT COUNT(*) FROM returns a JOIN returns b ON b.__time > a.__time AND b.__time <= TIMESTAMPADD(MINUTE, 5, a.__time)`,
    `SELECT COUNT(*) FROM returns a JOIN returns b ON b.__time > a.__time AND b.__time <= a.__time + INTERVAL 5 MINUTE`,
  ),
  q(
    'ranges_overlaps_of_zone',
    `SELECT COUNT(*) FROM (SELECT __time AS t, MILLIS_TO_TIMESTAMP(dropoff) AS e, pickupZone AS z FROM rides WHERE isAirport = 1 AND vendor = 1) a JOIN (SELECT __time AS t, MILLIS_TO_TIMESTAMP(dropoff) AS e, pickupZone AS z FROM rides WHERE isAirport = 1 AND vendor = 2) b ON a.z = b.z AND a.t < b.e AND b.t < a.e`,
    `SELECT COUNT(*) FROM (SELECT __time AS t, make_timestamp(dropoff * 1000) AS e, pickupZone AS z FROM rides WHERE isAirport = 1 AND vendor = 1) a JOIN (SELECT __time AS t, make_timestamp(dropoff * 1000) AS e, pickupZone AS z FROM rides WHERE isAirport = 1 AND vendor = 2) b ON a.z = b.z AND a.t < b.e AND b.t < a.e`,
  ),
  q(
    'ranges_overlaps',
    `SELECT COUNT(*) FROM (SELECT __time AS t, MILLIS_TO_TIMESTAMP(dropoff) AS e FROM rides WHERE isAirport = 1 AND passengers = 4) a JOIN (SELECT __time AS t, MILLIS_TO_TIMESTAMP(dropoff) AS e FROM rides WHERE isAirport = 1 AND passengers = 5) b ON a.t < b.e AND b.t < a.e`,
    `SELECT COUNT(*) FROM (SELECT __time AS t, make_timestamp(dropoff * 1000) AS e FROM rides WHERE isAirport = 1 AND passengers = 4) a JOIN (SELECT __time AS t, make_timestamp(dropoff * 1000) AS e FROM rides WHERE isAirport = 1 AND passengers = 5) b ON a.t < b.e AND b.t < a.e`,
  ),
  q(
    'ranges_left_join',
    `SELECT CASE WHEN b.lo IS NULL THEN 'none' ELSE 'some' END AS k, COUNT(*), SUM(b.lo) FROM returns s LEFT JOIN (SELECT id4 * CAST(4 AS DOUBLE) AS lo, id4 * CAST(4 AS DOUBLE) + 2.5 AS hi FROM few) b ON s.amount >= b.lo AND s.amount < b.hi GROUP BY 1 ORDER BY 1`,
  ),
  q('ranges_exists', `SELECT COUNT(*) FROM returns r WHERE EXISTS (SELECT 1 FROM few f WHERE f.w > r.amount AND f.w < r.amount + 0.5)`),
  q(
    'ranges_not_exists',
    `SELECT COUNT(*) FROM returns r WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.price > r.amount AND i.price < r.amount + 0.02)`,
  ),
  q(
    'ranges_last_before',
    `SELECT COUNT(*), SUM(m) FROM (SELECT r.ticket, r.item, MAX(f.w) AS m FROM returns r JOIN few f ON f.w <= r.amount WHERE r.quantity < 5 GROUP BY 1, 2)`,
  ),
  q(
    'ranges_of_strings',
    `SELECT COUNT(*) FROM customers c JOIN (SELECT LPAD(CAST(zone * 300 AS VARCHAR), 5, '0') AS lo, LPAD(CAST(zone * 300 + 100 AS VARCHAR), 5, '0') AS hi FROM zones) b ON c.zip >= b.lo AND c.zip < b.hi`,
  ),
  q(
    'ranges_within_store',
    `SELECT p.store, COUNT(*) FROM sales s JOIN (SELECT store, promo, MIN(listPrice) + 50 AS lo, MAX(listPrice) - 100 AS hi FROM sales WHERE promo < 20 GROUP BY 1, 2) p ON s.store = p.store AND s.listPrice > p.lo AND s.listPrice < p.hi WHERE s.promo = 30 GROUP BY 1 ORDER BY 1`,
  ),
  q('ranges_younger_in_zip', `SELECT COUNT(*) FROM customers a JOIN customers b ON a.zip = b.zip AND a.birthYear < b.birthYear`),
  q(
    'ranges_two_axes',
    `SELECT COUNT(*) FROM returns r JOIN items i ON i.price > r.amount AND i.price < r.amount + 1 AND i.id < r.item AND i.id > r.item - 500`,
  ),
  q(
    'ranges_and_others',
    `SELECT COUNT(*) FROM returns r JOIN few f ON r.amount > f.w AND r.amount < f.w + 20 AND (r.quantity = 3 OR f.w > 50) AND r.quantity <> f.id4`,
  ),
];

import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Taxi rides: fares and tips by zone and hour, speeds, round numbers, gaps between rides. */
export const RIDES: readonly Question[] = [
  q('ride_payment', `SELECT payment, COUNT(*), AVG(fare + tip), AVG(tip / fare) FROM rides GROUP BY 1 ORDER BY 2 DESC, 1`),
  q('ride_hour_passengers', `SELECT passengers, EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM rides GROUP BY 1, 2 ORDER BY 1, 2`),
  q('ride_pass_dist', `SELECT passengers, CAST(ROUND(distance) AS BIGINT) AS d, COUNT(*) FROM rides GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`),
  q(
    'ride_duration',
    `SELECT FLOOR((dropoff - TIMESTAMP_TO_MILLIS(__time)) / 600000) AS b, COUNT(*), AVG(distance) FROM rides GROUP BY 1 ORDER BY 1`,
    `SELECT (dropoff - epoch_ms(__time)) // 600000 AS b, COUNT(*), AVG(distance) FROM rides GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'ride_speed',
    `SELECT pickupZone, AVG(distance / ((dropoff - TIMESTAMP_TO_MILLIS(__time)) / 3600000.0)) AS mph, COUNT(*) FROM rides WHERE dropoff > TIMESTAMP_TO_MILLIS(__time) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT pickupZone, AVG(distance / ((dropoff - epoch_ms(__time)) / 3600000.0)) AS mph, COUNT(*) FROM rides WHERE dropoff > epoch_ms(__time) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ride_zone_pairs',
    `SELECT p.name, d.name, COUNT(*), AVG(t.fare) FROM rides t JOIN zones p ON t.pickupZone = p.zone JOIN zones d ON t.dropoffZone = d.zone GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'ride_borough_hour',
    `SELECT z.borough, FLOOR(t.__time TO HOUR) AS h, COUNT(*), SUM(t.fare) FROM rides t JOIN zones z ON t.pickupZone = z.zone GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT z.borough, date_trunc('HOUR', t.__time) AS h, COUNT(*), SUM(t.fare) FROM rides t JOIN zones z ON t.pickupZone = z.zone GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'ride_tip_bucket',
    `SELECT CASE WHEN tip = 0 THEN 'none' WHEN tip / fare < 0.1 THEN 'low' WHEN tip / fare < 0.2 THEN 'mid' ELSE 'high' END AS b, COUNT(*), AVG(fare) FROM rides GROUP BY 1 ORDER BY 1`,
  ),
  q('ride_total', `SELECT SUM(fare), SUM(tip), SUM(COALESCE(surcharge, 0)), SUM(fare + tip + COALESCE(surcharge, 0)) FROM rides`),
  q(
    'ride_quarter',
    `SELECT TIME_FLOOR(__time, 'PT15M') AS q, COUNT(*), MAX(fare), MIN(fare) FROM rides WHERE payment = 'card' GROUP BY 1 ORDER BY 1 LIMIT 500`,
    `SELECT time_bucket(INTERVAL 15 MINUTE, __time) AS q, COUNT(*), MAX(fare), MIN(fare) FROM rides WHERE payment = 'card' GROUP BY 1 ORDER BY 1 LIMIT 500`,
  ),
  q(
    'ride_long_rides',
    `SELECT __time, pickupZone, dropoffZone, distance, fare FROM rides WHERE distance > 28 AND fare > 70 ORDER BY fare DESC, __time, distance, pickupZone, dropoffZone LIMIT 50`,
  ),
  q('ride_round', `SELECT ROUND(fare) AS f, COUNT(*) FROM rides GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`),
  q('ride_cents', `SELECT MOD(CAST(ROUND(fare * 100) AS BIGINT), 100) AS c, COUNT(*) FROM rides GROUP BY 1 ORDER BY 1`),
  q(
    'ride_cum',
    `SELECT d, SUM(s) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) FROM (SELECT FLOOR(__time TO DAY) AS d, SUM(fare) AS s FROM rides GROUP BY 1) ORDER BY 1`,
    `SELECT d, SUM(s) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) FROM (SELECT date_trunc('DAY', __time) AS d, SUM(fare) AS s FROM rides GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'ride_rank_zones',
    `SELECT borough, name, n, r FROM (SELECT z.borough AS borough, z.name AS name, COUNT(*) AS n, RANK() OVER (PARTITION BY z.borough ORDER BY COUNT(*) DESC, z.name) AS r FROM rides t JOIN zones z ON t.pickupZone = z.zone GROUP BY 1, 2) WHERE r <= 5 ORDER BY 1, 4`,
  ),
  q('ride_airport', `SELECT isAirport, vendor, COUNT(*), AVG(distance) FROM rides GROUP BY 1, 2 ORDER BY 1, 2`),
  q(
    'ride_weekend',
    `SELECT CASE WHEN EXTRACT(DOW FROM __time) IN (6, 7) THEN 'weekend' ELSE 'weekday' END AS w, EXTRACT(HOUR FROM __time) AS h, AVG(fare), COUNT(*) FROM rides GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT CASE WHEN isodow(__time) IN (6, 7) THEN 'weekend' ELSE 'weekday' END AS w, EXTRACT(HOUR FROM __time) AS h, AVG(fare), COUNT(*) FROM rides GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q('ride_above_zone', `SELECT COUNT(*) FROM rides t WHERE t.fare > (SELECT 2 * AVG(fare) FROM rides)`),
  q(
    'ride_gap',
    `SELECT vendor, AVG(g), MAX(g) FROM (SELECT vendor, TIMESTAMP_TO_MILLIS(__time) - LAG(TIMESTAMP_TO_MILLIS(__time)) OVER (PARTITION BY vendor, pickupZone ORDER BY __time) AS g FROM rides) GROUP BY 1 ORDER BY 1`,
    `SELECT vendor, AVG(g), MAX(g) FROM (SELECT vendor, epoch_ms(__time) - LAG(epoch_ms(__time)) OVER (PARTITION BY vendor, pickupZone ORDER BY __time) AS g FROM rides) GROUP BY 1 ORDER BY 1`,
  ),
];

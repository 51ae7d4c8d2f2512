import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Delays and routes of real flights: histograms, pairs of airports whichever way, the busiest days, gaps between flights. */
export const FLIGHTS: readonly Question[] = [
  q('flight_origin_delay', `SELECT origin, COUNT(*), AVG(delay), MAX(delay) FROM flights GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`),
  q(
    'flight_route',
    `SELECT origin, destination, COUNT(*) AS n, AVG(delay) FROM flights GROUP BY 1, 2 HAVING COUNT(*) > 500 ORDER BY 4 DESC, 1, 2 LIMIT 25`,
  ),
  q(
    'flight_route_any_way',
    `SELECT LEAST(origin, destination) AS a, GREATEST(origin, destination) AS b, COUNT(*) FROM flights GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 25`,
  ),
  q(
    'flight_hist',
    `SELECT FLOOR(delay / 15) * 15 AS bin, COUNT(*) FROM flights GROUP BY 1 ORDER BY 1`,
    `SELECT (delay // 15) * 15 AS bin, COUNT(*) FROM flights GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'flight_hist2d',
    `SELECT FLOOR(delay / 10.0) AS x, FLOOR(distance / 100.0) AS y, COUNT(*) FROM flights WHERE delay BETWEEN -60 AND 180 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'flight_hour',
    `SELECT EXTRACT(HOUR FROM __time) AS h, COUNT(*), AVG(delay), SUM(CASE WHEN delay > 15 THEN 1 ELSE 0 END) * 1.0 / COUNT(*) FROM flights GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'flight_dow_origin',
    `SELECT EXTRACT(DOW FROM __time) AS d, origin, COUNT(*) FROM flights WHERE origin IN ('ATL','ORD','DFW','LAX','JFK') GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT isodow(__time) AS d, origin, COUNT(*) FROM flights WHERE origin IN ('ATL','ORD','DFW','LAX','JFK') GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'flight_airports',
    `SELECT a.state, COUNT(*), AVG(f.delay) FROM flights f JOIN airports a ON f.origin = a.iata GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 60`,
  ),
  q(
    'flight_airports2',
    `SELECT a.state, b.state, COUNT(*), SUM(f.distance) FROM flights f JOIN airports a ON f.origin = a.iata JOIN airports b ON f.destination = b.iata WHERE a.state <> b.state GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'flight_lat',
    `SELECT FLOOR(a.latitude / 5) * 5 AS lat, COUNT(*), AVG(f.delay) FROM flights f JOIN airports a ON f.origin = a.iata GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'flight_busiest_day',
    `SELECT origin, d, n FROM (SELECT origin, FLOOR(__time TO DAY) AS d, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY COUNT(*) DESC, FLOOR(__time TO DAY)) AS r FROM flights GROUP BY 1, 2) WHERE r = 1 ORDER BY 3 DESC, 1 LIMIT 20`,
    `SELECT origin, d, n FROM (SELECT origin, date_trunc('DAY', __time) AS d, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY COUNT(*) DESC, date_trunc('DAY', __time)) AS r FROM flights GROUP BY 1, 2) WHERE r = 1 ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'flight_share',
    `SELECT origin, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM flights GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'flight_first_delay',
    `SELECT origin, COUNT(*) FROM (SELECT origin, delay, LAG(delay) OVER (PARTITION BY origin ORDER BY __time, destination, delay) AS p FROM flights) WHERE delay > 60 AND p <= 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  ),
  q(
    'flight_vs_average',
    `SELECT COUNT(*) FROM flights f JOIN (SELECT origin, AVG(delay) AS a, STDDEV_POP(delay) AS s FROM flights GROUP BY 1) m ON f.origin = m.origin WHERE f.delay > m.a + 3 * m.s`,
  ),
  q('flight_hubs', `SELECT origin, COUNT(DISTINCT destination) AS n, COUNT(*) FROM flights GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q(
    'flight_moving',
    `SELECT d, n, AVG(n) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM (SELECT FLOOR(__time TO DAY) AS d, COUNT(*) AS n FROM flights GROUP BY 1) ORDER BY 1`,
    `SELECT d, n, AVG(n) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM (SELECT date_trunc('DAY', __time) AS d, COUNT(*) AS n FROM flights GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'flight_no_return',
    `SELECT COUNT(*) FROM (SELECT DISTINCT origin, destination FROM flights) a LEFT JOIN (SELECT DISTINCT origin, destination FROM flights) b ON a.origin = b.destination AND a.destination = b.origin WHERE b.origin IS NULL`,
  ),
  q(
    'flight_corr',
    `SELECT COUNT(*), SUM(delay * distance), SUM(delay * delay), SUM(distance * distance), AVG(delay), VAR_POP(delay) FROM flights WHERE delay > 0`,
  ),
];

import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Quotes of stocks: bars, weighted means, moving averages, gaps, spreads, bits of flags. */
export const QUOTES: readonly Question[] = [
  q(
    'quotes_bars',
    `SELECT ticker, TIME_FLOOR(__time, 'PT5M') AS t, EARLIEST(bid) AS o, MAX(bid) AS h, MIN(bid) AS l, LATEST(bid) AS c, SUM(bidSize) AS v FROM quotes GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 100`,
    'SELECT ticker, time_bucket(INTERVAL 5 MINUTE, __time) AS t, arg_min_null(bid, __time) AS o, MAX(bid) AS h, MIN(bid) AS l, arg_max_null(bid, __time) AS c, SUM(bidSize) AS v FROM quotes GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 100',
  ),
  q(
    'quotes_bars_one',
    `SELECT TIME_FLOOR(__time, 'PT1M') AS t, EARLIEST(ask) AS o, MAX(ask), MIN(ask), LATEST(ask), COUNT(*) FROM quotes WHERE ticker = 'T7' GROUP BY 1 ORDER BY 1`,
    `SELECT time_bucket(INTERVAL 1 MINUTE, __time) AS t, arg_min_null(ask, __time) AS o, MAX(ask), MIN(ask), arg_max_null(ask, __time), COUNT(*) FROM quotes WHERE ticker = 'T7' GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'quotes_vwap',
    'SELECT ticker, SUM(bid * bidSize + ask * askSize) / SUM(bidSize + askSize) AS vwap, AVG(ask - bid) AS spread, MAX(ask - bid) FROM quotes GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 40',
  ),
  q(
    'quotes_moving',
    `SELECT ticker, t, c, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 11 PRECEDING AND CURRENT ROW) AS ma, c - LAG(c, 12) OVER (PARTITION BY ticker ORDER BY t) AS d FROM (SELECT ticker, TIME_FLOOR(__time, 'PT15M') AS t, LATEST(bid) AS c FROM quotes WHERE ticker IN ('T0', 'T1', 'T2', 'T30', 'T450') GROUP BY 1, 2) ORDER BY 1, 2`,
    `SELECT ticker, t, c, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 11 PRECEDING AND CURRENT ROW) AS ma, c - LAG(c, 12) OVER (PARTITION BY ticker ORDER BY t) AS d FROM (SELECT ticker, time_bucket(INTERVAL 15 MINUTE, __time) AS t, arg_max_null(bid, __time) AS c FROM quotes WHERE ticker IN ('T0', 'T1', 'T2', 'T30', 'T450') GROUP BY 1, 2) ORDER BY 1, 2`,
  ),
  q(
    'quotes_cross_ma',
    'WITH bars AS (SELECT ticker, FLOOR(__time TO HOUR) AS t, LATEST(bid) AS c FROM quotes GROUP BY 1, 2), ma AS (SELECT ticker, t, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS f, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS s FROM bars), sig AS (SELECT ticker, t, f, s, LAG(f) OVER (PARTITION BY ticker ORDER BY t) AS pf, LAG(s) OVER (PARTITION BY ticker ORDER BY t) AS ps FROM ma) SELECT t, COUNT(*) FILTER (WHERE f - s > 0.0011 AND pf - ps < 0.0011) AS up, COUNT(*) FILTER (WHERE f - s < -0.0011 AND pf - ps > -0.0011) AS down FROM sig GROUP BY 1 ORDER BY 1',
    `WITH bars AS (SELECT ticker, date_trunc('hour', __time) AS t, arg_max_null(bid, __time) AS c FROM quotes GROUP BY 1, 2), ma AS (SELECT ticker, t, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS f, AVG(c) OVER (PARTITION BY ticker ORDER BY t ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS s FROM bars), sig AS (SELECT ticker, t, f, s, LAG(f) OVER (PARTITION BY ticker ORDER BY t) AS pf, LAG(s) OVER (PARTITION BY ticker ORDER BY t) AS ps FROM ma) SELECT t, COUNT(*) FILTER (WHERE f - s > 0.0011 AND pf - ps < 0.0011) AS up, COUNT(*) FILTER (WHERE f - s < -0.0011 AND pf - ps > -0.0011) AS down FROM sig GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'quotes_returns_vol',
    'WITH c AS (SELECT ticker, FLOOR(__time TO HOUR) AS t, LATEST(ask) AS p FROM quotes GROUP BY 1, 2), r AS (SELECT ticker, LN(p / LAG(p) OVER (PARTITION BY ticker ORDER BY t)) AS x FROM c) SELECT ticker, COUNT(x), STDDEV(x) FROM r GROUP BY 1 HAVING COUNT(x) >= 50 ORDER BY 3 DESC, 1 LIMIT 25',
    `WITH c AS (SELECT ticker, date_trunc('hour', __time) AS t, arg_max_null(ask, __time) AS p FROM quotes GROUP BY 1, 2), r AS (SELECT ticker, LN(p / LAG(p) OVER (PARTITION BY ticker ORDER BY t)) AS x FROM c) SELECT ticker, COUNT(x), STDDEV(x) FROM r GROUP BY 1 HAVING COUNT(x) >= 50 ORDER BY 3 DESC, 1 LIMIT 25`,
  ),
  q(
    'quotes_spread_hist',
    'SELECT ROUND((ask - bid) * 100) AS cents, COUNT(*), SUM(bidSize), COUNT(DISTINCT ticker) FROM quotes GROUP BY 1 ORDER BY 1',
  ),
  q(
    'quotes_flags',
    'SELECT exchange, COUNT(*) FILTER (WHERE BITWISE_AND(flags, 4) <> 0) AS a, SUM(BITWISE_AND(flags, 7)), MAX(BITWISE_XOR(flags, 21)) FROM quotes GROUP BY 1 ORDER BY 1',
    'SELECT exchange, COUNT(*) FILTER (WHERE (flags & 4) <> 0) AS a, SUM(flags & 7), MAX(xor(flags, 21)) FROM quotes GROUP BY 1 ORDER BY 1',
  ),
  q(
    'quotes_bits_or',
    'SELECT ticker, exchange, BIT_AND(flags), BIT_OR(flags), BIT_XOR(flags) FROM quotes GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100',
  ),
  q(
    'quotes_open_close_day',
    `SELECT FLOOR(__time TO DAY) AS d, ticker, EARLIEST_BY(bid, __time) AS o, LATEST_BY(ask, __time) AS c, LATEST_BY(exchange, __time) FROM quotes WHERE ticker LIKE 'T1_' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT date_trunc('day', __time) AS d, ticker, arg_min(bid, __time) AS o, arg_max(ask, __time) AS c, arg_max(exchange, __time) FROM quotes WHERE ticker LIKE 'T1_' GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'quotes_hour_profile',
    'SELECT EXTRACT(HOUR FROM __time) AS h, EXTRACT(MINUTE FROM __time) / 15 AS q, COUNT(*), SUM(bidSize), AVG(ask) FROM quotes WHERE EXTRACT(HOUR FROM __time) BETWEEN 9 AND 16 GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT EXTRACT(HOUR FROM __time) AS h, EXTRACT(MINUTE FROM __time) // 15 AS q, COUNT(*), SUM(bidSize), AVG(ask) FROM quotes WHERE EXTRACT(HOUR FROM __time) BETWEEN 9 AND 16 GROUP BY 1, 2 ORDER BY 1, 2',
  ),
  q(
    'quotes_locked',
    `SELECT a.ticker, COUNT(*), MAX(a.bid - b.ask) FROM (SELECT ticker, TIME_FLOOR(__time, 'PT10M') AS t, MAX(bid) AS bid FROM quotes WHERE exchange = 'N' GROUP BY 1, 2) a JOIN (SELECT ticker, TIME_FLOOR(__time, 'PT10M') AS t, MIN(ask) AS ask FROM quotes WHERE exchange = 'Q' GROUP BY 1, 2) b ON a.ticker = b.ticker AND a.t = b.t WHERE a.bid >= b.ask GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT a.ticker, COUNT(*), MAX(a.bid - b.ask) FROM (SELECT ticker, time_bucket(INTERVAL 10 MINUTE, __time) AS t, MAX(bid) AS bid FROM quotes WHERE exchange = 'N' GROUP BY 1, 2) a JOIN (SELECT ticker, time_bucket(INTERVAL 10 MINUTE, __time) AS t, MIN(ask) AS ask FROM quotes WHERE exchange = 'Q' GROUP BY 1, 2) b ON a.ticker = b.ticker AND a.t = b.t WHERE a.bid >= b.ask GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'quotes_gaps',
    'SELECT ticker, MAX(g) AS m, COUNT(*) FILTER (WHERE g > 600000) AS n FROM (SELECT ticker, TIMESTAMP_TO_MILLIS(__time) - TIMESTAMP_TO_MILLIS(LAG(__time) OVER (PARTITION BY ticker ORDER BY __time, sequence)) AS g FROM quotes) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
    'SELECT ticker, MAX(g) AS m, COUNT(*) FILTER (WHERE g > 600000) AS n FROM (SELECT ticker, epoch_ms(__time) - epoch_ms(LAG(__time) OVER (PARTITION BY ticker ORDER BY __time, sequence)) AS g FROM quotes) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ),
  q(
    'quotes_depth_pivot',
    `SELECT FLOOR(__time TO HOUR) AS t, SUM(CASE WHEN exchange = 'N' THEN bidSize ELSE 0 END) AS n, SUM(CASE WHEN exchange = 'Q' THEN bidSize ELSE 0 END) AS q, SUM(CASE WHEN exchange NOT IN ('N', 'Q') THEN bidSize END) AS o, AVG(CASE WHEN condition IS NULL THEN ask - bid END) FROM quotes GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('hour', __time) AS t, SUM(CASE WHEN exchange = 'N' THEN bidSize ELSE 0 END) AS n, SUM(CASE WHEN exchange = 'Q' THEN bidSize ELSE 0 END) AS q, SUM(CASE WHEN exchange NOT IN ('N', 'Q') THEN bidSize END) AS o, AVG(CASE WHEN condition IS NULL THEN ask - bid END) FROM quotes GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'quotes_share',
    'SELECT exchange, v, v * 100.0 / SUM(v) OVER () AS pct, RANK() OVER (ORDER BY v DESC) FROM (SELECT exchange, SUM(askSize) AS v FROM quotes GROUP BY 1) ORDER BY 1',
  ),
  q(
    'quotes_top_per_hour',
    'SELECT t, ticker, v FROM (SELECT t, ticker, v, ROW_NUMBER() OVER (PARTITION BY t ORDER BY v DESC, ticker) AS n FROM (SELECT FLOOR(__time TO HOUR) AS t, ticker, SUM(bidSize) AS v FROM quotes GROUP BY 1, 2)) WHERE n <= 3 ORDER BY 1, 3 DESC, 2',
    `SELECT t, ticker, v FROM (SELECT t, ticker, v, ROW_NUMBER() OVER (PARTITION BY t ORDER BY v DESC, ticker) AS n FROM (SELECT date_trunc('hour', __time) AS t, ticker, SUM(bidSize) AS v FROM quotes GROUP BY 1, 2)) WHERE n <= 3 ORDER BY 1, 3 DESC, 2`,
  ),
  q(
    'quotes_quantiles',
    'SELECT exchange, ABS(APPROX_QUANTILE_DS(bidSize, 0.5) - 600) < 200, APPROX_QUANTILE_DS(askSize, 0.99) > 3000 FROM quotes GROUP BY 1 ORDER BY 1',
    'SELECT exchange, ABS(quantile_cont(bidSize, 0.5) - 600) < 200, quantile_cont(askSize, 0.99) > 3000 FROM quotes GROUP BY 1 ORDER BY 1',
  ),
  q(
    'quotes_two_quantiles',
    'SELECT ticker, APPROX_QUANTILE_DS(ask - bid, 0.5) >= 0, APPROX_QUANTILE_DS(ask - bid, 0.95) >= 0 FROM quotes GROUP BY 1 ORDER BY 1 LIMIT 50',
    'SELECT ticker, quantile_cont(ask - bid, 0.5) >= 0, quantile_cont(ask - bid, 0.95) >= 0 FROM quotes GROUP BY 1 ORDER BY 1 LIMIT 50',
  ),
  q(
    'quotes_grouping_sets',
    'SELECT exchange, condition, EXTRACT(HOUR FROM __time) AS h, COUNT(*), SUM(askSize), GROUPING(exchange, condition) FROM quotes GROUP BY GROUPING SETS ((exchange, condition), (EXTRACT(HOUR FROM __time)), (condition)) ORDER BY 6, 1, 2, 3',
  ),
  q(
    'quotes_last_state',
    `SELECT q.ticker, q.bid, q.ask FROM quotes q JOIN (SELECT ticker, MAX(sequence) AS s FROM quotes WHERE __time < TIMESTAMP '2025-06-04 12:00:00' GROUP BY 1) l ON q.ticker = l.ticker AND q.sequence = l.s ORDER BY 1 LIMIT 100`,
  ),
  q(
    'quotes_twice_as_wide',
    'SELECT COUNT(*), AVG(q.ask - q.bid) FROM quotes q WHERE q.ask - q.bid > (SELECT AVG(ask - bid) * 2 FROM quotes)',
  ),
  q(
    'quotes_condition_text',
    `SELECT COALESCE(UPPER(condition), 'NONE') AS c, COUNT(*), STRING_AGG(DISTINCT exchange, ',', 1000) IS NOT NULL FROM quotes GROUP BY 1 ORDER BY 1`,
    `SELECT COALESCE(UPPER(condition), 'NONE') AS c, COUNT(*), STRING_AGG(DISTINCT exchange, ',') IS NOT NULL FROM quotes GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'quotes_except_all',
    `SELECT COUNT(*) FROM (SELECT ticker, exchange FROM quotes WHERE condition = 'cross' EXCEPT ALL SELECT ticker, exchange FROM quotes WHERE condition = 'derived')`,
    `SELECT COUNT(*) FROM (SELECT ticker, exchange FROM quotes WHERE condition = 'cross' EXCEPT ALL SELECT ticker, exchange FROM quotes WHERE condition = 'derived')`,
  ),
  q(
    'quotes_intersect_all',
    `SELECT COUNT(*), SUM(b) FROM (SELECT ticker, bidSize AS b FROM quotes WHERE exchange = 'N' INTERSECT ALL SELECT ticker, askSize FROM quotes WHERE exchange = 'Q')`,
  ),
];

import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Bars, weighted means, the largest of each, moving sums, accounts without number. */
export const TRADES: readonly Question[] = [
  q(
    'ticks_bars',
    `SELECT symbol, TIME_FLOOR(__time, 'P1D'), EARLIEST(price), MAX(price), MIN(price), LATEST(price), SUM(size) FROM trades GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 50`,
    `SELECT symbol, date_trunc('day', __time), arg_min(price, __time), MAX(price), MIN(price), arg_max(price, __time), SUM(size) FROM trades GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'ticks_hour_bars',
    `SELECT symbol, TIME_FLOOR(__time, 'PT15M'), MAX(price), MIN(price), SUM(size) FROM trades WHERE symbol < 'C' GROUP BY 1, 2 ORDER BY 5 DESC, 1, 2 LIMIT 50`,
    `SELECT symbol, time_bucket(INTERVAL 15 MINUTE, __time), MAX(price), MIN(price), SUM(size) FROM trades WHERE symbol < 'C' GROUP BY 1, 2 ORDER BY 5 DESC, 1, 2 LIMIT 50`,
  ),
  q('ticks_vwap', 'SELECT symbol, SUM(price * size) / SUM(size), COUNT(*), SUM(size) FROM trades GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 40'),
  q(
    'ticks_vwap_all_hours',
    `SELECT TIME_FLOOR(__time, 'PT1H'), venue, SUM(price * size) / SUM(size), SUM(fee) FROM trades GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500`,
    `SELECT date_trunc('hour', __time), venue, SUM(price * size) / SUM(size), SUM(fee) FROM trades GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500`,
  ),
  q(
    'ticks_big_sums',
    'SELECT venue, SUM(notional), AVG(notional), MAX(notional), MIN(notional), STDDEV_POP(notional) FROM trades GROUP BY 1 ORDER BY 1',
  ),
  q(
    'ticks_largest_each',
    `SELECT symbol, tradeId, size, price FROM (SELECT symbol, tradeId, size, price, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY size DESC, tradeId) AS n FROM trades) WHERE n <= 3 ORDER BY 1, 3 DESC, 2 LIMIT 100`,
  ),
  q(
    'ticks_dearest_each',
    `SELECT venue, tradeId, price FROM (SELECT venue, tradeId, price, RANK() OVER (PARTITION BY venue ORDER BY price DESC) AS n FROM trades) WHERE n <= 5 ORDER BY 1, 3 DESC, 2`,
  ),
  q(
    'ticks_last_of_account',
    `SELECT COUNT(*), SUM(size), MAX(price) FROM (SELECT size, price, ROW_NUMBER() OVER (PARTITION BY account ORDER BY __time DESC) AS n FROM trades) WHERE n = 1`,
  ),
  q(
    'ticks_sizes_each',
    `SELECT venue, side, size, COUNT(*) FROM (SELECT venue, side, size, DENSE_RANK() OVER (PARTITION BY venue, side ORDER BY size DESC) AS n FROM trades) WHERE n <= 3 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  ),
  q(
    'ticks_quartiles',
    `SELECT part, COUNT(*), MIN(price), MAX(price) FROM (SELECT price, NTILE(4) OVER (PARTITION BY venue ORDER BY price, tradeId) AS part FROM trades WHERE side = 'B') GROUP BY 1 ORDER BY 1`,
  ),
  q('ticks_top_notional', 'SELECT tradeId, symbol, notional FROM trades ORDER BY notional DESC, tradeId LIMIT 20'),
  q(
    'ticks_top_filtered',
    `SELECT tradeId, account, price * size AS worth FROM trades WHERE side = 'S' AND venue <> 'DARK' ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'ticks_imbalance',
    `SELECT symbol, SUM(CASE WHEN side = 'B' THEN size ELSE -size END) AS net, SUM(CASE WHEN side = 'B' THEN price * size ELSE 0 END) AS bought FROM trades GROUP BY 1 ORDER BY 2, 1 LIMIT 20`,
  ),
  q('ticks_accounts', 'SELECT account, COUNT(*), SUM(size), COUNT(DISTINCT symbol) FROM trades GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 25'),
  q(
    'ticks_account_symbols',
    'SELECT account, symbol, side, COUNT(*), SUM(notional) FROM trades GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 25',
  ),
  q(
    'ticks_account_having',
    `SELECT account, venue, SUM(fee) FROM trades GROUP BY 1, 2 HAVING COUNT(DISTINCT symbol) > 20 AND SUM(size) > 1000 ORDER BY 3 DESC, 1, 2 LIMIT 25`,
  ),
  q('ticks_distinct', 'SELECT COUNT(DISTINCT account), COUNT(DISTINCT tradeId), COUNT(DISTINCT price), COUNT(DISTINCT fee) FROM trades'),
  q(
    'ticks_running_volume',
    `SELECT symbol, MAX(r) FROM (SELECT symbol, SUM(size) OVER (PARTITION BY symbol ORDER BY tradeId) AS r FROM trades WHERE venue = 'XLON') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ticks_moving_high',
    `SELECT COUNT(*) FROM (SELECT price, MAX(price) OVER (PARTITION BY symbol ORDER BY tradeId ROWS BETWEEN 20 PRECEDING AND 1 PRECEDING) AS high FROM trades) WHERE price > high`,
  ),
  q(
    'ticks_returns',
    `SELECT symbol, STDDEV_SAMP(close / before - 1) FROM (SELECT symbol, close, LAG(close) OVER (PARTITION BY symbol ORDER BY d) AS before FROM
     (SELECT symbol, TIME_FLOOR(__time, 'P1D') AS d, LATEST(price) AS close FROM trades GROUP BY 1, 2)) GROUP BY 1 HAVING COUNT(*) > 5 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT symbol, STDDEV_SAMP(close / before - 1) FROM (SELECT symbol, close, LAG(close) OVER (PARTITION BY symbol ORDER BY d) AS before FROM
     (SELECT symbol, date_trunc('day', __time) AS d, arg_max(price, __time) AS close FROM trades GROUP BY 1, 2)) GROUP BY 1 HAVING COUNT(*) > 5 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ticks_yesterday',
    `SELECT a.symbol, a.n, a.v - b.v FROM (SELECT symbol, COUNT(*) AS n, SUM(size) AS v FROM trades WHERE __time >= TIMESTAMP '2025-05-20' AND __time < TIMESTAMP '2025-05-21' GROUP BY 1) a
     JOIN (SELECT symbol, SUM(size) AS v FROM trades WHERE __time >= TIMESTAMP '2025-05-19' AND __time < TIMESTAMP '2025-05-20' GROUP BY 1) b ON a.symbol = b.symbol ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q('ticks_price_band', `SELECT COUNT(*), SUM(size) FROM trades WHERE price BETWEEN 100 AND 105 AND size > 10`),
  q('ticks_one_trade', `SELECT * FROM trades WHERE tradeId = (SELECT MAX(tradeId) FROM trades WHERE venue = 'DARK')`),
  q(
    'ticks_grouping_sets',
    `SELECT venue, side, symbol, SUM(size), COUNT(*), MAX(price) FROM trades GROUP BY GROUPING SETS ((venue, side), (symbol), ()) ORDER BY 4 DESC, 1, 2, 3 LIMIT 100`,
  ),
  q('ticks_log_price', `SELECT FLOOR(LN(price)) AS magnitude, COUNT(*), AVG(size), SUM(SQRT(size)) FROM trades GROUP BY 1 ORDER BY 1`),
  q(
    'ticks_cross_venue',
    `SELECT v.symbol, COUNT(*) FROM trades v JOIN (SELECT symbol, MAX(price) AS high FROM trades WHERE venue = 'XNYS' GROUP BY 1) h ON v.symbol = h.symbol AND v.price > h.high GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
];

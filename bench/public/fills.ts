import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Fills of orders: many conditions and computed sums in one query. */
export const FILLS: readonly Question[] = [
  q(
    'fills_pnl',
    `SELECT symbol, SUM(CASE WHEN side = 'S' THEN quantity * price ELSE -quantity * price END) AS cash, SUM(CASE WHEN side = 'B' THEN quantity ELSE -quantity END) AS pos, SUM(fee) FROM fills WHERE status = 'filled' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_many_conditional',
    `SELECT venue, COUNT(*) FILTER (WHERE side = 'B'), COUNT(*) FILTER (WHERE side = 'S'), SUM(quantity) FILTER (WHERE status = 'filled'), SUM(quantity) FILTER (WHERE status = 'partial'), SUM(quantity) FILTER (WHERE status = 'rejected'), AVG(price) FILTER (WHERE currency = 'USD'), AVG(price) FILTER (WHERE currency = 'EUR'), MAX(latency) FILTER (WHERE latency < 100), SUM(price * quantity) FILTER (WHERE fee IS NULL), COUNT(fee), SUM(CASE WHEN benchmark = 0 THEN 1 ELSE 0 END), SUM(CASE WHEN latency IS NULL THEN 1 ELSE 0 END), AVG(CASE WHEN side = 'B' THEN price END) FROM fills GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'fills_slippage',
    `SELECT symbol, AVG((price - benchmark) / NULLIF(benchmark, 0)) AS slip, COUNT(NULLIF(benchmark, 0)) FROM fills GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_safe_divide',
    `SELECT venue, SUM(SAFE_DIVIDE(price, benchmark)), AVG(SAFE_DIVIDE(quantity * price, benchmark)) FROM fills GROUP BY 1 ORDER BY 1`,
    `SELECT venue, SUM(price / NULLIF(benchmark, 0)), AVG(quantity * price / NULLIF(benchmark, 0)) FROM fills GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'fills_round',
    `SELECT ROUND(price / 10) * 10 AS bucket, COUNT(*), SUM(ROUND(quantity * price)), AVG(ROUND(price, 3)) FROM fills GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'fills_fx',
    `SELECT FLOOR(__time TO DAY) AS d, SUM(quantity * price * CASE currency WHEN 'USD' THEN 1.0 WHEN 'EUR' THEN 1.08 WHEN 'GBP' THEN 1.27 ELSE 0.0067 END - COALESCE(fee, 0)) AS usd FROM fills WHERE status IN ('filled', 'partial') GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('day', __time) AS d, SUM(quantity * price * CASE currency WHEN 'USD' THEN 1.0 WHEN 'EUR' THEN 1.08 WHEN 'GBP' THEN 1.27 ELSE 0.0067 END - COALESCE(fee, 0)) AS usd FROM fills WHERE status IN ('filled', 'partial') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'fills_vwap_hour',
    `SELECT symbol, FLOOR(__time TO HOUR) AS h, SUM(price * quantity) / SUM(quantity) AS vwap, MIN(price), MAX(price) FROM fills WHERE symbol IN ('SYM1', 'SYM2', 'SYM3', 'SYM100') GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 100`,
    `SELECT symbol, date_trunc('hour', __time) AS h, SUM(price * quantity) / SUM(quantity) AS vwap, MIN(price), MAX(price) FROM fills WHERE symbol IN ('SYM1', 'SYM2', 'SYM3', 'SYM100') GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 100`,
  ),
  q(
    'fills_ohlc',
    `SELECT symbol, FLOOR(__time TO DAY) AS d, EARLIEST(price) > 0, MAX(price), MIN(price), LATEST(price) > 0, SUM(quantity) FROM fills WHERE symbol LIKE 'SYM1_' GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 50`,
    `SELECT symbol, date_trunc('day', __time) AS d, arg_min(price, __time) > 0, MAX(price), MIN(price), arg_max(price, __time) > 0, SUM(quantity) FROM fills WHERE symbol LIKE 'SYM1_' GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'fills_accounts',
    `SELECT account, COUNT(*), SUM(quantity * price), COUNT(DISTINCT symbol), MAX(__time) FROM fills GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_latency_bands',
    `SELECT CASE WHEN latency IS NULL THEN 'unknown' WHEN latency < 0 THEN 'negative' WHEN latency < 10 THEN 'fast' WHEN latency < 50 THEN 'normal' WHEN latency < 120 THEN 'slow' ELSE 'stuck' END AS band, venue, COUNT(*), SUM(quantity), AVG(price) FROM fills GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'fills_greatest',
    `SELECT venue, SUM(GREATEST(price, benchmark)), SUM(LEAST(price, benchmark, 300)), SUM(ABS(price - benchmark)), SUM(SIGN(price - benchmark)), SUM(MOD(quantity, 7)) FROM fills GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'fills_log_returns',
    `SELECT symbol, SUM(LN(price / 250.0)), SUM(SQRT(quantity)), SUM(POWER(price - 250, 2)), MAX(EXP(fee / 10)) FROM fills GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_pivot_month',
    `SELECT symbol, SUM(CASE WHEN EXTRACT(MONTH FROM __time) = 1 THEN quantity ELSE 0 END) AS jan, SUM(CASE WHEN EXTRACT(MONTH FROM __time) = 2 THEN quantity ELSE 0 END) AS feb, SUM(CASE WHEN EXTRACT(MONTH FROM __time) = 3 THEN quantity ELSE 0 END) AS mar FROM fills GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_share',
    `SELECT symbol, q, q * 100.0 / t FROM (SELECT symbol, SUM(quantity) AS q FROM fills GROUP BY 1) CROSS JOIN (SELECT SUM(quantity) AS t FROM fills) ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'fills_rollup',
    `SELECT venue, side, currency, SUM(quantity), COUNT(*) FROM fills GROUP BY ROLLUP (venue, side, currency) ORDER BY 1, 2, 3`,
  ),
  q(
    'fills_cube',
    `SELECT venue, status, currency, SUM(quantity), GROUPING(venue, status, currency) FROM fills GROUP BY CUBE (venue, status, currency) ORDER BY 5, 1, 2, 3`,
  ),
  q('fills_distinct_pairs', `SELECT COUNT(DISTINCT account || '/' || symbol), COUNT(DISTINCT venue || side) FROM fills`),
  q(
    'fills_between_or',
    `SELECT COUNT(*), SUM(price) FROM fills WHERE (price BETWEEN 10 AND 20 AND quantity > 500) OR (price BETWEEN 400 AND 410 AND quantity < 3) OR (fee > 8.5 AND latency BETWEEN 0 AND 5)`,
  ),
  q(
    'fills_nested_case',
    `SELECT SUM(CASE WHEN side = 'B' THEN CASE WHEN currency = 'USD' THEN price WHEN currency = 'EUR' THEN price * 1.1 END ELSE CASE WHEN venue = 'DARK' THEN 0 ELSE -price END END), COUNT(CASE WHEN side = 'B' THEN CASE WHEN currency = 'USD' THEN 1 END END) FROM fills`,
  ),
  q(
    'fills_cast_group',
    `SELECT CAST(price AS BIGINT) / 50 AS b, CAST(quantity AS VARCHAR) LIKE '1%' AS x, COUNT(*), SUM(fee) FROM fills GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT CAST(trunc(price) AS BIGINT) // 50 AS b, CAST(quantity AS VARCHAR) LIKE '1%' AS x, COUNT(*), SUM(fee) FROM fills GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'fills_median_many',
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT symbol, APPROX_QUANTILE_DS(price, 0.5) AS q FROM fills GROUP BY 1)`,
    `SELECT COUNT(*), SUM(CASE WHEN q > 0 THEN 1 ELSE 0 END) FROM (SELECT symbol, quantile_disc(price, 0.5) AS q FROM fills GROUP BY 1)`,
  ),
  q('fills_small', `SELECT COUNT(*) FROM fills WHERE account = 'ACC012345' AND symbol = 'SYM3'`),
];

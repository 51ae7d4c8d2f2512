import type { BenchQuery } from './query.js';

const discounted = (id: string, condition: string): BenchQuery => ({
  id,
  orderedBy: [],
  sql: `
      SELECT SUM(lo_extendedprice * lo_discount) AS revenue
      FROM lineorder, dates
      WHERE lo_orderdate = d_datekey AND ${condition}`,
});

const brands = (id: string, condition: string): BenchQuery => ({
  id,
  orderedBy: [1, 2],
  sql: `
      SELECT SUM(lo_revenue) AS revenue, d_year, p_brand1
      FROM lineorder, dates, ssb_part, ssb_supplier
      WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey AND ${condition}
      GROUP BY d_year, p_brand1
      ORDER BY d_year, p_brand1`,
});

const places = (id: string, level: 'nation' | 'city', condition: string): BenchQuery => ({
  id,
  orderedBy: [2, 3],
  sql: `
      SELECT c_${level}, s_${level}, d_year, SUM(lo_revenue) AS revenue
      FROM ssb_customer, lineorder, ssb_supplier, dates
      WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey AND ${condition}
      GROUP BY c_${level}, s_${level}, d_year
      ORDER BY d_year ASC, revenue DESC`,
});

const profits = (id: string, keys: string, condition: string): BenchQuery => ({
  id,
  orderedBy: keys.split(', ').map((_, index) => index),
  sql: `
      SELECT ${keys}, SUM(lo_revenue - lo_supplycost) AS profit
      FROM dates, ssb_customer, ssb_supplier, ssb_part, lineorder
      WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey AND ${condition}
      GROUP BY ${keys}
      ORDER BY ${keys}`,
});

const KINGDOM = (side: string): string => `(${side}_city = 'UNITED KI1' OR ${side}_city = 'UNITED KI5')`;
const MAKERS = "(p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')";
const LATE = '(d_year = 1997 OR d_year = 1998)';

/** The 13 queries of the Star Schema Benchmark in their four flights. */
export const SSB_QUERIES: readonly BenchQuery[] = [
  discounted('ssb1.1', 'd_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25'),
  discounted('ssb1.2', 'd_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35'),
  discounted('ssb1.3', 'd_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35'),
  brands('ssb2.1', "p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
  brands('ssb2.2', "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
  brands('ssb2.3', "p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
  places('ssb3.1', 'nation', "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997"),
  places('ssb3.2', 'city', "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year >= 1992 AND d_year <= 1997"),
  places('ssb3.3', 'city', `${KINGDOM('c')} AND ${KINGDOM('s')} AND d_year >= 1992 AND d_year <= 1997`),
  places('ssb3.4', 'city', `${KINGDOM('c')} AND ${KINGDOM('s')} AND d_yearmonth = 'Dec1997'`),
  profits('ssb4.1', 'd_year, c_nation', `c_region = 'AMERICA' AND s_region = 'AMERICA' AND ${MAKERS}`),
  profits('ssb4.2', 'd_year, s_nation, p_category', `c_region = 'AMERICA' AND s_region = 'AMERICA' AND ${LATE} AND ${MAKERS}`),
  profits(
    'ssb4.3',
    'd_year, s_city, p_brand1',
    `c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND ${LATE} AND p_category = 'MFGR#14'`,
  ),
];

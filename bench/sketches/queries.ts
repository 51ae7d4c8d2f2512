import type { BenchQuery } from '../queries/queries.js';

/**
 * Estimates over the table `wiki`: of texts of a dictionary (10 to 1,000,000 values), of numbers, of all rows and by group.
 * DuckDB answers with what it has of the kind. Either may be off by four of our standard errors, or for quantiles by a
 * rank error of 1.7 % of evenly spread values.
 */
const HLL_ERROR = 4 * 0.0163;
const THETA_ERROR = 4 * 0.0078;
// DuckDB keeps far fewer registers: a quarter off is usual.
const DUCKDB_HLL_ERROR = 0.5;
const MEDIAN_ERROR = 2 * 0.0172;

const distinct = (id: string, about: string, column: string, by = ''): readonly BenchQuery[] => {
  const tail = by === '' ? 'FROM wiki' : `FROM wiki GROUP BY ${by} ORDER BY ${by}`;
  const keys = by === '' ? '' : `${by} AS k, `;
  const duckdb = `SELECT ${keys}approx_count_distinct(${column}) ${tail}`;
  const exact = `SELECT ${keys}COUNT(DISTINCT ${column}) ${tail}`;
  return [
    {
      id: `hll_${id}`,
      about: `HLL of ${about}`,
      sql: `SELECT ${keys}APPROX_COUNT_DISTINCT_DS_HLL(${column}) ${tail}`,
      duckdb,
      estimates: { exact, error: { dolmen: HLL_ERROR, duckdb: DUCKDB_HLL_ERROR } },
    },
    {
      id: `theta_${id}`,
      about: `theta sketch of ${about}`,
      sql: `SELECT ${keys}APPROX_COUNT_DISTINCT_DS_THETA(${column}) ${tail}`,
      duckdb,
      estimates: { exact, error: { dolmen: THETA_ERROR, duckdb: DUCKDB_HLL_ERROR } },
    },
  ];
};

export const SKETCH_QUERIES: readonly BenchQuery[] = [
  ...distinct('city', '5,000 texts', 'city'),
  ...distinct('user', '100,000 texts', '"user"'),
  ...distinct('page', '1,000,000 texts', 'page'),
  ...distinct('user_by', '100,000 texts by 10 groups', '"user"', 'channel'),
  ...distinct('user_city', '100,000 texts by 250 groups', '"user"', 'country'),
  ...distinct('long', 'a column of LONGs', 'delta'),
  ...distinct('double', 'a column of DOUBLEs', 'price'),
  {
    id: 'median',
    about: 'the median of a column of DOUBLEs',
    sql: 'SELECT APPROX_QUANTILE_DS(score, 0.5) FROM wiki',
    duckdb: 'SELECT approx_quantile(score, 0.5) FROM wiki',
    estimates: { exact: 'SELECT quantile_cont(score, 0.5) FROM wiki', error: { dolmen: MEDIAN_ERROR, duckdb: MEDIAN_ERROR } },
  },
  {
    id: 'median_by',
    about: 'medians of a column of DOUBLEs by 10 groups',
    sql: 'SELECT channel, APPROX_QUANTILE_DS(score, 0.5) FROM wiki GROUP BY 1 ORDER BY 1',
    duckdb: 'SELECT channel, approx_quantile(score, 0.5) FROM wiki GROUP BY 1 ORDER BY 1',
    estimates: {
      exact: 'SELECT channel, quantile_cont(score, 0.5) FROM wiki GROUP BY 1 ORDER BY 1',
      error: { dolmen: MEDIAN_ERROR, duckdb: MEDIAN_ERROR },
    },
  },
  {
    id: 'variance_by',
    about: 'variance of a column of DOUBLEs by 10 groups',
    sql: 'SELECT channel, VAR_POP(score) FROM wiki GROUP BY 1 ORDER BY 1',
    duckdb: 'SELECT channel, var_pop(score) FROM wiki GROUP BY 1 ORDER BY 1',
  },
];

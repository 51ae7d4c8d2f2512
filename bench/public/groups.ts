import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Groups and joins of few and of many keys, as benches of data frames ask for them. */
export const GROUPS: readonly Question[] = [
  q('group_1', `SELECT id1, SUM(v1) AS v1 FROM measures GROUP BY id1 ORDER BY 1`),
  q('group_2', `SELECT id1, id2, SUM(v1) AS v1 FROM measures GROUP BY id1, id2 ORDER BY 1, 2 LIMIT 100`),
  q('group_3', `SELECT id3, SUM(v1) AS v1, AVG(v3) AS v3 FROM measures GROUP BY id3 ORDER BY 2 DESC, 1 LIMIT 100`),
  q('group_4', `SELECT id4, AVG(v1), AVG(v2), AVG(v3) FROM measures GROUP BY id4 ORDER BY 1`),
  q('group_5', `SELECT id6, SUM(v1), SUM(v2), SUM(v3) FROM measures GROUP BY id6 ORDER BY 2 DESC, 1 LIMIT 100`),
  q('group_6', `SELECT id4, id5, STDDEV_POP(v3), AVG(v3) FROM measures GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`),
  q('group_7', `SELECT id3, MAX(v1) - MIN(v2) AS r FROM measures GROUP BY id3 ORDER BY 2 DESC, 1 LIMIT 100`),
  q(
    'group_8',
    `SELECT COUNT(*), SUM(v3) FROM (SELECT id6, v3, ROW_NUMBER() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS n FROM measures WHERE v3 IS NOT NULL) WHERE n <= 2`,
  ),
  q(
    'group_10',
    `SELECT COUNT(*), SUM(s), MAX(n) FROM (SELECT id1, id2, id3, id4, id5, id6, SUM(v3) AS s, COUNT(*) AS n FROM measures GROUP BY 1, 2, 3, 4, 5, 6)`,
  ),
  q('group_join_small', `SELECT COUNT(*), SUM(x.v3), SUM(s.w) FROM measures x JOIN few s ON x.id4 = s.id4`),
  q('group_join_left', `SELECT COUNT(*), SUM(x.v3), SUM(s.w) FROM measures x LEFT JOIN few s ON x.id4 = s.id4`),
  q('group_join_big', `SELECT COUNT(*), SUM(x.v3), SUM(s.w) FROM measures x JOIN many s ON x.id6 = s.id6`),
  q('group_join_string', `SELECT COUNT(*), SUM(x.v3), SUM(s.w) FROM measures x JOIN many s ON x.id3 = s.id3`),
  q('group_join_group', `SELECT s.name4, COUNT(*), SUM(x.v3 * s.w) FROM measures x JOIN few s ON x.id4 = s.id4 GROUP BY 1 ORDER BY 1`),
  q(
    'group_median',
    `SELECT id4, id5, APPROX_QUANTILE_DS(v3, 0.5) IS NOT NULL, STDDEV(v3) FROM measures GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
    `SELECT id4, id5, quantile_cont(v3, 0.5) IS NOT NULL, STDDEV(v3) FROM measures GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
  ),
  q(
    'group_corr',
    `SELECT id2, id4, POWER((COUNT(*) * SUM(v1 * v2) - SUM(v1) * SUM(v2)) / SQRT((COUNT(*) * 1.0 * SUM(v1 * v1) - SUM(v1) * 1.0 * SUM(v1)) * (COUNT(*) * 1.0 * SUM(v2 * v2) - SUM(v2) * 1.0 * SUM(v2))), 2) AS r2 FROM measures GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
  ),
  q(
    'group_top2_rows',
    `SELECT id6, v3 FROM (SELECT id6, v3, ROW_NUMBER() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS n FROM measures WHERE v3 IS NOT NULL) WHERE n <= 2 ORDER BY 1, 2 LIMIT 100`,
  ),
  q('group_join_medium', `SELECT COUNT(*), SUM(x.v3), SUM(s.w) FROM measures x LEFT JOIN many s ON x.id3 = s.id3`),
  q(
    'group_join_two',
    `SELECT COUNT(*), SUM(x.v3), SUM(s.w), SUM(f.w) FROM measures x JOIN many s ON x.id6 = s.id6 JOIN few f ON f.id4 = x.id4`,
  ),
  q(
    'group_join_self',
    `SELECT COUNT(*), SUM(a.v1 * b.s) FROM measures a JOIN (SELECT id3, id1, SUM(v2) AS s FROM measures GROUP BY 1, 2) b ON a.id3 = b.id3 AND a.id1 = b.id1`,
  ),
  q('group_range_sum', `SELECT id3, id1, MAX(v1) - MIN(v2), SUM(v3) FROM measures GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT 10`),
];

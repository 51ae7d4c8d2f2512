import type { Examples } from '../function-examples.js';

const NUMBERS = 'FROM (VALUES (2), (4), (4), (4), (5), (5), (7), (9)) AS t(x)';
const TEXTS = "FROM (VALUES ('b'), (CAST(NULL AS VARCHAR)), ('a'), ('b')) AS t(s)";
const EVENTS =
  "FROM (VALUES (TIMESTAMP '2020-01-01 00:00:00', 3, 'a'), (TIMESTAMP '2020-01-03 00:00:00', 1, 'c'), (TIMESTAMP '2020-01-02 00:00:00', 2, 'b')) AS t(__time, n, s)";

export const AGGREGATE_EXAMPLES: Examples = {
  COUNT: [
    [`SELECT COUNT(*), COUNT(s), COUNT(DISTINCT s) ${TEXTS}`, [[4, 3, 2]]],
    [`SELECT COUNT(*) FILTER (WHERE x > 4) ${NUMBERS}`, [[4]]],
  ],
  SUM: [
    [`SELECT SUM(x), SUM(x + 0.5) ${NUMBERS}`, [[40, 44]]],
    [`SELECT SUM(x + 1), SUM(x + 2), SUM(x + 3), SUM(x + 1 + 5), SUM(x + 1 + 6) ${NUMBERS}`, [[48, 56, 64, 88, 96]]],
    [`SELECT SUM(x), COUNT(x), SUM(x + 1), SUM(x + 1 + 2), SUM(x + 1 + 3) ${NUMBERS}`, [[40, 8, 48, 64, 72]]],
  ],
  MIN: [[`SELECT MIN(x) ${NUMBERS}`, [[2]]]],
  MAX: [[`SELECT MAX(x) ${NUMBERS}`, [[9]]]],
  AVG: [[`SELECT AVG(x) ${NUMBERS}`, [[5]]]],
  APPROX_COUNT_DISTINCT: [[`SELECT APPROX_COUNT_DISTINCT(x) ${NUMBERS}`, [[5]]]],
  APPROX_COUNT_DISTINCT_BUILTIN: [[`SELECT APPROX_COUNT_DISTINCT_BUILTIN(s) ${TEXTS}`, [[2]]]],
  VAR_POP: [[`SELECT VAR_POP(x) ${NUMBERS}`, [[4]]]],
  VAR_SAMP: [[`SELECT ROUND(VAR_SAMP(x), 6) ${NUMBERS}`, [[4.571429]]]],
  VARIANCE: [[`SELECT ROUND(VARIANCE(x), 6) ${NUMBERS}`, [[4.571429]]]],
  STDDEV_POP: [[`SELECT STDDEV_POP(x) ${NUMBERS}`, [[2]]]],
  STDDEV_SAMP: [[`SELECT ROUND(STDDEV_SAMP(x), 6) ${NUMBERS}`, [[2.13809]]]],
  STDDEV: [[`SELECT ROUND(STDDEV(x), 6) ${NUMBERS}`, [[2.13809]]]],
  EARLIEST: [[`SELECT EARLIEST(n), EARLIEST(s, 16) ${EVENTS}`, [[3, 'a']]]],
  LATEST: [[`SELECT LATEST(n), LATEST(s, 16) ${EVENTS}`, [[1, 'c']]]],
  EARLIEST_BY: [[`SELECT EARLIEST_BY(s, MILLIS_TO_TIMESTAMP(n), 16) ${EVENTS}`, [['c']]]],
  LATEST_BY: [[`SELECT LATEST_BY(s, MILLIS_TO_TIMESTAMP(n), 16) ${EVENTS}`, [['a']]]],
  ANY_VALUE: [
    ["SELECT ANY_VALUE(s, 16) FROM (VALUES ('a'), ('a')) AS t(s)", [['a']]],
    [
      "SELECT ANY_VALUE(STRING_TO_MV(s, ','), 100, FALSE), ANY_VALUE(STRING_TO_MV(s, ','), 100, TRUE) FROM (VALUES ('b,a')) AS t(s)",
      [['b', '[b, a]']],
    ],
  ],
  GROUPING: [
    [
      `SELECT s, GROUPING(s), COUNT(*) ${TEXTS} WHERE s IS NOT NULL GROUP BY GROUPING SETS ((s), ()) ORDER BY 2, 1`,
      [
        ['a', 0, 1],
        ['b', 0, 2],
        [null, 1, 3],
      ],
    ],
  ],
  GROUPING_ID: [
    [
      `SELECT s, GROUPING_ID(s), COUNT(*) ${TEXTS} WHERE s IS NOT NULL GROUP BY ROLLUP (s) ORDER BY 2, 1`,
      [
        ['a', 0, 1],
        ['b', 0, 2],
        [null, 1, 3],
      ],
    ],
  ],
  ARRAY_AGG: [
    [`SELECT ARRAY_AGG(s) ${TEXTS}`, [[['b', null, 'a', 'b']]]],
    [`SELECT ARRAY_AGG(DISTINCT x) ${NUMBERS}`, [[[2, 4, 5, 7, 9]]]],
  ],
  ARRAY_CONCAT_AGG: [["SELECT ARRAY_CONCAT_AGG(STRING_TO_ARRAY(s, ',')) FROM (VALUES ('a,b'), ('c')) AS t(s)", [[['a', 'b', 'c']]]]],
  STRING_AGG: [
    [`SELECT STRING_AGG(s, ' ') ${TEXTS}`, [['b a b']]],
    [`SELECT STRING_AGG(DISTINCT s, ' ') ${TEXTS}`, [['a b']]],
  ],
  LISTAGG: [[`SELECT LISTAGG(s, '-') ${TEXTS}`, [['b-a-b']]]],
  BIT_AND: [
    ['SELECT BIT_AND(x) FROM (VALUES (12), (10)) AS t(x)', [[8]]],
    // 2^32 is not among the bits of -2^32 - 1, 2^31 is.
    ['SELECT BIT_AND(x) FROM (VALUES (6442450945), (-1), (-4294967297)) AS t(x)', [[2147483649]]],
  ],
  BIT_OR: [
    ['SELECT BIT_OR(x) FROM (VALUES (12), (10)) AS t(x)', [[14]]],
    ['SELECT BIT_OR(x) FROM (VALUES (6442450945), (-8589934592)) AS t(x)', [[-2147483647]]],
  ],
  BIT_XOR: [
    ['SELECT BIT_XOR(x) FROM (VALUES (12), (10)) AS t(x)', [[6]]],
    ['SELECT BIT_XOR(x) FROM (VALUES (6442450945), (CAST(NULL AS BIGINT)), (-1)) AS t(x)', [[-6442450946]]],
    [
      'SELECT k, BIT_XOR(x) FROM (VALUES (1, 5), (2, 7), (1, 4), (2, 7)) AS t(k, x) GROUP BY k ORDER BY k',
      [
        [1, 1],
        [2, 0],
      ],
    ],
  ],
};

import type { Examples } from '../function-examples.js';

const ROWS = "FROM (VALUES ('a', 10), ('b', 20), ('c', 20), ('d', 40)) AS t(k, x)";
/** The keys in order, each with the value of a window function. */
const over = (call: string, values: readonly unknown[], window = 'ORDER BY x'): Examples[string] => [
  [`SELECT k, ${call} OVER (${window}) AS w ${ROWS} ORDER BY k`, values.map((value, index) => ['abcd'[index], value])],
];

export const WINDOW_EXAMPLES: Examples = {
  ROW_NUMBER: over('ROW_NUMBER()', [1, 2, 3, 4], 'ORDER BY k'),
  RANK: over('RANK()', [1, 2, 2, 4]),
  DENSE_RANK: over('DENSE_RANK()', [1, 2, 2, 3]),
  PERCENT_RANK: over('PERCENT_RANK()', [0, 1 / 3, 1 / 3, 1]),
  CUME_DIST: over('CUME_DIST()', [0.25, 0.75, 0.75, 1]),
  NTILE: over('NTILE(2)', [1, 1, 2, 2], 'ORDER BY k'),
  LAG: over('LAG(x)', [null, 10, 20, 20], 'ORDER BY k'),
  LEAD: over('LEAD(x, 2)', [20, 40, null, null], 'ORDER BY k'),
  FIRST_VALUE: over('FIRST_VALUE(k)', ['a', 'b', 'b', 'd'], 'PARTITION BY x ORDER BY k'),
  LAST_VALUE: over(
    'LAST_VALUE(k)',
    ['a', 'c', 'c', 'd'],
    'PARTITION BY x ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
  ),
};

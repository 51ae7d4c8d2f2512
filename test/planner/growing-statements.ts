import { column, type GrowingQuery, type GrowingStatement, list, parts } from './growing-queries.js';

export const GROWING_STATEMENTS: readonly GrowingQuery<GrowingStatement>[] = [
  { name: 'columns of a table, of which one is read', of: (columns) => ({ sql: 'SELECT c0 FROM wide WHERE c1 = 1', columns }) },
  { name: 'columns of SELECT *', of: (columns) => ({ sql: 'SELECT * FROM wide LIMIT 1', columns }) },
  { name: 'columns of SELECT * with an order', of: (columns) => ({ sql: 'SELECT * FROM wide ORDER BY c3 LIMIT 1', columns }) },
  { name: 'columns of SELECT DISTINCT *', of: (columns) => ({ sql: 'SELECT DISTINCT * FROM wide', columns }) },
  {
    name: 'columns of SELECT * of a subquery',
    of: (columns) => ({ sql: 'SELECT * FROM (SELECT * FROM wide WHERE c0 > 1 LIMIT 5) WHERE c1 > 2', columns }),
  },
  {
    name: 'columns of SELECT * of a join',
    of: (columns) => ({ sql: 'SELECT * FROM wide AS a JOIN wide AS b ON a.c0 = b.c0 LIMIT 1', columns }),
  },
  { name: 'columns of SELECT * of a union', of: (columns) => ({ sql: 'SELECT * FROM wide UNION ALL SELECT * FROM wide', columns }) },
  { name: 'columns beside a window', of: (columns) => ({ sql: 'SELECT *, ROW_NUMBER() OVER (ORDER BY c0) AS n FROM wide', columns }) },
  { name: 'columns of INFORMATION_SCHEMA', of: (columns) => ({ sql: 'SELECT * FROM INFORMATION_SCHEMA.COLUMNS', columns }) },
  {
    name: 'expressions of SELECT',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `${column(index)} + ${index} AS e${index}`)} FROM wide` }),
  },
  {
    name: 'expressions of SELECT in an order',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `${column(index)} + ${index} AS e${index}`)} FROM wide ORDER BY e1` }),
  },
  {
    name: 'expressions of a subquery that are read above',
    of: (count) => ({
      sql: `SELECT ${list(count, (index) => `e${index} * 2 AS f${index}`)} FROM (SELECT ${list(count, (index) => `${column(index)} + ${index} AS e${index}`)} FROM wide)`,
    }),
  },
  {
    name: 'aggregators',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `SUM(c${index} + ${index}) AS a${index}`)} FROM wide`, columns: count }),
  },
  {
    name: 'aggregators with FILTER',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `COUNT(*) FILTER (WHERE c0 = ${index}) AS a${index}`)} FROM wide` }),
  },
  {
    name: 'aggregators with HAVING and an order',
    of: (count) => ({
      sql: `SELECT s0, ${list(count, (index) => `SUM(c${index}) AS a${index}`)} FROM wide GROUP BY s0 HAVING SUM(c1) > 1 ORDER BY a2`,
      columns: count,
    }),
  },
  {
    name: 'expressions over aggregators',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `SUM(c${index}) / COUNT(*) AS a${index}`)} FROM wide`, columns: count }),
  },
  {
    name: 'group keys',
    of: (count) => ({
      sql: `SELECT ${list(count, (index) => `c${index}`)}, COUNT(*) FROM wide GROUP BY ${list(count, (index) => `c${index}`)}`,
      columns: count,
    }),
  },
  {
    name: 'group keys by number',
    of: (count) => ({
      sql: `SELECT ${list(count, (index) => `c${index}`)}, COUNT(*) FROM wide GROUP BY ${list(count, (index) => `${index + 1}`)}`,
      columns: count,
    }),
  },
  { name: 'order keys', of: (count) => ({ sql: `SELECT * FROM wide ORDER BY ${list(count, (index) => `c${index}`)}`, columns: count }) },
  { name: 'numbers of IN', of: (count) => ({ sql: `SELECT c0 FROM wide WHERE c0 IN (${list(count, String)})` }) },
  { name: 'strings of IN', of: (count) => ({ sql: `SELECT c0 FROM wide WHERE s0 IN (${list(count, (index) => `'v${index}'`)})` }) },
  { name: 'strings of NOT IN', of: (count) => ({ sql: `SELECT c0 FROM wide WHERE s0 NOT IN (${list(count, (index) => `'v${index}'`)})` }) },
  { name: 'expressions of IN', of: (count) => ({ sql: `SELECT c0 FROM wide WHERE c0 IN (${list(count, (index) => `c1 + ${index}`)})` }) },
  {
    name: 'conditions of OR on one column',
    of: (count) => ({ sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `s0 = 'v${index}'`, ' OR ')}` }),
  },
  {
    name: 'conditions of OR on several columns',
    of: (count) => ({ sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `${column(index)} = ${index}`, ' OR ')}` }),
  },
  {
    name: 'conditions of OR of AND',
    of: (count) => ({ sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `(c0 = ${index} AND c1 > ${index})`, ' OR ')}` }),
  },
  {
    name: 'conditions of AND',
    of: (count) => ({ sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `${column(index)} <> ${index}`, ' AND ')}` }),
  },
  {
    name: 'ranges of __time',
    of: (count) => ({
      sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `(__time >= MILLIS_TO_TIMESTAMP(${index * 10}) AND __time < MILLIS_TO_TIMESTAMP(${index * 10 + 5}))`, ' OR ')}`,
    }),
  },
  {
    name: 'branches of CASE',
    of: (count) => ({ sql: `SELECT CASE ${list(count, (index) => `WHEN c0 = ${index} THEN 'v${index}'`, ' ')} END AS x FROM wide` }),
  },
  {
    name: 'values of a searched CASE that is grouped',
    of: (count) => ({
      sql: `SELECT CASE s0 ${list(count, (index) => `WHEN 'v${index}' THEN 'w${index}'`, ' ')} END AS x, COUNT(*) FROM wide GROUP BY 1`,
    }),
  },
  { name: 'operands of +', count: 100, of: (count) => ({ sql: `SELECT ${list(count, column, ' + ')} AS x FROM wide` }) },
  { name: 'operands of ||', count: 100, of: (count) => ({ sql: `SELECT ${list(count, () => 's0', ' || ')} AS x FROM wide` }) },
  { name: 'operands of COALESCE', of: (count) => ({ sql: `SELECT COALESCE(${list(count, column)}) AS x FROM wide` }) },
  { name: 'operands of CONCAT', of: (count) => ({ sql: `SELECT CONCAT(${list(count, (index) => `s0, '${index}'`)}) AS x FROM wide` }) },
  { name: 'elements of ARRAY', of: (count) => ({ sql: `SELECT ARRAY[${list(count, String)}] AS x FROM wide` }) },
  {
    name: 'joins',
    count: 24,
    of: (count) => ({
      sql: `SELECT t0.c0 FROM wide AS t0 ${list(count, (index) => `JOIN wide AS t${index + 1} ON t${index}.c0 = t${index + 1}.c0`, ' ')}`,
    }),
  },
  {
    name: 'members of UNION ALL',
    count: 100,
    of: (count) => ({ sql: list(count, (index) => `SELECT c0, ${index} FROM wide`, ' UNION ALL ') }),
  },
  {
    name: 'subqueries of WITH',
    count: 100,
    of: (count) => ({
      sql: `WITH ${list(count, (index) => `w${index} AS (SELECT c0 FROM wide WHERE c1 = ${index})`)} ${list(count, (index) => `SELECT c0 FROM w${index}`, ' UNION ALL ')}`,
    }),
  },
  {
    name: 'scalar subqueries',
    count: 40,
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `(SELECT MAX(c${index % 20}) FROM wide) AS x${index}`)}` }),
  },
  {
    name: 'subqueries within each other',
    count: 20,
    of: (count) => ({ sql: `${'SELECT * FROM ('.repeat(count)}SELECT * FROM wide${')'.repeat(count)}` }),
  },
  {
    name: 'rows of VALUES',
    of: (count) => ({ sql: `SELECT a FROM (VALUES ${list(count, (index) => `(${index}, 'x${index}')`)}) AS t (a, b)` }),
  },
  {
    name: 'rows of VALUES with expressions',
    of: (count) => ({ sql: `SELECT a FROM (VALUES ${list(count, (index) => `(${index} + 1, 'x${index}')`)}) AS t (a, b)` }),
  },
  {
    name: 'parameters',
    of: (count) => ({
      sql: `SELECT c0 FROM wide WHERE c0 IN (${list(count, () => '?')})`,
      parameters: parts(count, (value) => ({ type: 'BIGINT', value })),
    }),
  },
  {
    name: 'window functions',
    of: (count) => ({
      sql: `SELECT ${list(count, (index) => `SUM(c${index}) OVER (PARTITION BY s0 ORDER BY __time) AS x${index}`)} FROM wide`,
      columns: count,
    }),
  },
  {
    name: 'windows',
    count: 150,
    of: (count) => ({
      sql: `SELECT ${list(count, (index) => `SUM(c0) OVER (ORDER BY c${index}) AS x${index}`)} FROM wide`,
      columns: count,
    }),
  },
  {
    name: 'columns of PIVOT',
    of: (count) => ({
      sql: `SELECT * FROM (SELECT s0, c0 FROM wide) PIVOT (SUM(c0) FOR s0 IN (${list(count, (index) => `'p${index}'`)}))`,
    }),
  },
  {
    name: 'a list of distinct counts',
    of: (count) => ({ sql: `SELECT ${list(count, (index) => `COUNT(DISTINCT c${index}) AS a${index}`)} FROM wide`, columns: count }),
  },
  {
    name: 'LIKE conditions',
    of: (count) => ({ sql: `SELECT c0 FROM wide WHERE ${list(count, (index) => `s0 LIKE '%v${index}%'`, ' OR ')}` }),
  },
  { name: 'comments and spaces', of: (count) => ({ sql: `SELECT c0 ${list(count, () => '/* x */ -- y\n', ' ')} FROM wide` }) },
];

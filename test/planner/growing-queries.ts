/** Statements and native queries that are made of `count` like parts, for tests of how planning grows with them. */
export interface GrowingQuery<Form> {
  readonly name: string;
  /** Parts of the smaller of the two sizes that are compared, where that is not the usual number. */
  readonly count?: number;
  readonly of: (count: number) => Form;
}

export interface GrowingStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
  /** Columns of the table `wide`; left out: a few. */
  readonly columns?: number;
}

/** Number of columns that every table has in addition to `__time`: `c0`, `c1`, … */
export const FEW_COLUMNS = 20;

const list = (count: number, part: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator);
const parts = <Part>(count: number, part: (index: number) => Part): readonly Part[] =>
  Array.from({ length: count }, (_, index) => part(index));
const column = (index: number): string => `c${index % FEW_COLUMNS}`;

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

const COMMON = { dataSource: 'wide', intervals: 'eternity', granularity: 'all' };
const sums = (count: number) => parts(count, (index) => ({ type: 'longSum', name: `a${index}`, fieldName: `c${index}` }));
const query = (fields: object): object => ({
  queryType: 'timeseries',
  ...COMMON,
  aggregations: [{ type: 'count', name: 'rows' }],
  ...fields,
});
const filtered = (filter: object): object => query({ filter });
const nested = (count: number, wrap: (inner: object) => object, inner: object): object => {
  let made = inner;
  for (let depth = 0; depth < count; depth++) made = wrap(made);
  return made;
};
const equal = (index: number): object => ({ type: 'selector', dimension: column(index), value: `v${index}` });

export const GROWING_NATIVE: readonly GrowingQuery<object>[] = [
  { name: 'aggregators of timeseries', of: (count) => query({ aggregations: sums(count) }) },
  { name: 'aggregators of timeseries by the hour', of: (count) => query({ aggregations: sums(count), granularity: 'hour' }) },
  { name: 'aggregators with a grand total', of: (count) => query({ aggregations: sums(count), context: { grandTotal: true } }) },
  { name: 'aggregators of groupBy', of: (count) => query({ queryType: 'groupBy', dimensions: ['s0'], aggregations: sums(count) }) },
  {
    name: 'aggregators of topN',
    of: (count) => query({ queryType: 'topN', dimension: 's0', metric: 'a0', threshold: 5, aggregations: sums(count) }),
  },
  { name: 'aggregators that are not finished', of: (count) => query({ aggregations: sums(count), context: { finalize: false } }) },
  {
    name: 'filtered aggregators',
    of: (count) =>
      query({
        aggregations: parts(count, (index) => ({
          type: 'filtered',
          aggregator: { type: 'count', name: `a${index}` },
          filter: equal(index),
        })),
      }),
  },
  {
    name: 'aggregators of expressions',
    of: (count) => query({ aggregations: parts(count, (index) => ({ type: 'longSum', name: `a${index}`, expression: `c0 + ${index}` })) }),
  },
  {
    name: 'aggregators of distinct values',
    of: (count) => query({ aggregations: parts(count, (index) => ({ type: 'cardinality', name: `a${index}`, fields: [`c${index}`] })) }),
  },
  {
    name: 'fields of cardinality',
    of: (count) => query({ aggregations: [{ type: 'cardinality', name: 'a', fields: parts(count, (index) => `c${index}`) }] }),
  },
  {
    name: 'post-aggregators',
    of: (count) =>
      query({ postAggregations: parts(count, (index) => ({ type: 'expression', name: `p${index}`, expression: `rows + ${index}` })) }),
  },
  {
    name: 'arithmetic post-aggregators',
    of: (count) =>
      query({
        postAggregations: parts(count, (index) => ({
          type: 'arithmetic',
          name: `p${index}`,
          fn: '+',
          fields: [
            { type: 'fieldAccess', fieldName: 'rows' },
            { type: 'constant', value: index },
          ],
        })),
      }),
  },
  {
    name: 'fields of one post-aggregator',
    of: (count) =>
      query({
        postAggregations: [{ type: 'arithmetic', name: 'p', fn: '+', fields: parts(count, (value) => ({ type: 'constant', value })) }],
      }),
  },
  { name: 'dimensions', of: (count) => query({ queryType: 'groupBy', dimensions: parts(count, (index) => `c${index}`) }) },
  {
    name: 'dimensions with extraction functions',
    of: (count) =>
      query({
        queryType: 'groupBy',
        dimensions: parts(count, (index) => ({
          type: 'extraction',
          dimension: `c${index}`,
          outputName: `d${index}`,
          extractionFn: { type: 'upper' },
        })),
      }),
  },
  {
    name: 'columns of a limit specification',
    of: (count) =>
      query({
        queryType: 'groupBy',
        dimensions: parts(count, (index) => `c${index}`),
        limitSpec: { type: 'default', limit: 5, columns: parts(count, (index) => `c${index}`) },
      }),
  },
  {
    name: 'virtual columns',
    of: (count) =>
      query({
        virtualColumns: parts(count, (index) => ({
          type: 'expression',
          name: `v${index}`,
          expression: `c0 + ${index}`,
          outputType: 'LONG',
        })),
        aggregations: parts(count, (index) => ({ type: 'longSum', name: `a${index}`, fieldName: `v${index}` })),
      }),
  },
  {
    name: 'virtual columns over each other',
    count: 24,
    of: (count) =>
      query({
        virtualColumns: parts(count, (index) => ({
          type: 'expression',
          name: `v${index}`,
          expression: index === 0 ? 'c0' : `v${index - 1} + 1`,
          outputType: 'LONG',
        })),
        aggregations: [{ type: 'longSum', name: 'a', fieldName: `v${count - 1}` }],
      }),
  },
  {
    name: 'columns of scan',
    of: (count) =>
      query({ queryType: 'scan', columns: parts(count, (index) => `c${index}`), aggregations: undefined, granularity: undefined }),
  },
  {
    name: 'order keys of scan',
    of: (count) =>
      query({
        queryType: 'scan',
        columns: parts(count, (index) => `c${index}`),
        orderBy: parts(count, (index) => ({ columnName: `c${index}`, order: 'ascending' })),
        aggregations: undefined,
        granularity: undefined,
      }),
  },
  {
    name: 'searched dimensions',
    of: (count) =>
      query({
        queryType: 'search',
        searchDimensions: parts(count, (index) => `c${index}`),
        query: { type: 'insensitive_contains', value: 'a' },
        aggregations: undefined,
      }),
  },
  {
    name: 'strings of an in filter',
    of: (count) => filtered({ type: 'in', dimension: 's0', values: parts(count, (index) => `v${index}`) }),
  },
  { name: 'numbers of an in filter', of: (count) => filtered({ type: 'in', dimension: 'c0', values: parts(count, String) }) },
  { name: 'values of an inType filter', of: (count) => filtered({ type: 'in', dimension: 'c0', values: parts(count, (index) => index) }) },
  { name: 'fields of an or filter', of: (count) => filtered({ type: 'or', fields: parts(count, equal) }) },
  {
    name: 'fields of an or filter on one column',
    of: (count) => filtered({ type: 'or', fields: parts(count, (index) => ({ type: 'selector', dimension: 's0', value: `v${index}` })) }),
  },
  {
    name: 'fields of an and filter',
    of: (count) => filtered({ type: 'and', fields: parts(count, (index) => ({ type: 'not', field: equal(index) })) }),
  },
  {
    name: 'filters of intervals',
    of: (count) =>
      filtered({
        type: 'or',
        fields: parts(count, (index) => ({ type: 'interval', dimension: '__time', intervals: [`${2000 + (index % 20)}-01-01/P1D`] })),
      }),
  },
  { name: 'intervals', of: (count) => query({ intervals: parts(count, (index) => `${new Date(index * 172_800_000).toISOString()}/P1D`) }) },
  {
    name: 'not filters within each other',
    count: 100,
    of: (count) => filtered(nested(count, (field) => ({ type: 'not', field }), equal(0))),
  },
  {
    name: 'and filters within each other',
    count: 100,
    of: (count) => filtered(nested(count, (field) => ({ type: 'and', fields: [field, equal(1)] }), equal(0))),
  },
  {
    name: 'having within each other',
    count: 100,
    of: (count) =>
      query({
        queryType: 'groupBy',
        dimensions: ['s0'],
        having: nested(count, (havingSpec) => ({ type: 'not', havingSpec }), { type: 'greaterThan', aggregation: 'rows', value: 1 }),
      }),
  },
  {
    name: 'operands of an expression',
    count: 500,
    of: (count) =>
      query({ virtualColumns: [{ type: 'expression', name: 'v', expression: list(count, column, ' + '), outputType: 'LONG' }] }),
  },
  {
    name: 'arguments of a function',
    of: (count) =>
      query({ virtualColumns: [{ type: 'expression', name: 'v', expression: `concat(${list(count, column)})`, outputType: 'STRING' }] }),
  },
  {
    name: 'branches of case_searched',
    of: (count) =>
      query({
        virtualColumns: [
          {
            type: 'expression',
            name: 'v',
            expression: `case_searched(${list(count, (index) => `c0 == ${index}, ${index}`)}, 0)`,
            outputType: 'LONG',
          },
        ],
      }),
  },
  {
    name: 'entries of a lookup in the query',
    of: (count) =>
      query({
        queryType: 'groupBy',
        dimensions: [
          {
            type: 'extraction',
            dimension: 's0',
            outputName: 'd',
            extractionFn: {
              type: 'lookup',
              lookup: { type: 'map', map: Object.fromEntries(parts(count, (index) => [`k${index}`, `v${index}`])) },
            },
          },
        ],
      }),
  },
  {
    name: 'rows of an inline datasource',
    of: (count) =>
      query({
        dataSource: {
          type: 'inline',
          columnNames: ['c0', 's0'],
          columnTypes: ['LONG', 'STRING'],
          rows: parts(count, (index) => [index, `v${index}`]),
        },
      }),
  },
  {
    name: 'columns of an inline datasource',
    of: (count) =>
      query({
        dataSource: {
          type: 'inline',
          columnNames: parts(count, (index) => `c${index}`),
          columnTypes: parts(count, () => 'LONG'),
          rows: [parts(count, (index) => index)],
        },
      }),
  },
  {
    name: 'members of a union',
    count: 100,
    of: (count) => query({ dataSource: { type: 'union', dataSources: parts(count, () => 'wide') } }),
  },
  {
    name: 'joins',
    count: 20,
    of: (count) =>
      query({
        dataSource: nested(
          count,
          (left) => ({ type: 'join', left, right: 'wide', rightPrefix: 'r.', condition: 'c0 == "r.c0"', joinType: 'INNER' }),
          { type: 'table', name: 'wide' },
        ),
      }),
  },
  {
    name: 'queries within each other',
    count: 10,
    of: (count) =>
      nested(
        count,
        (inner) => query({ queryType: 'groupBy', dimensions: ['s0'], dataSource: { type: 'query', query: inner } }),
        query({ queryType: 'groupBy', dimensions: ['s0'] }),
      ),
  },
  {
    name: 'columns of a queried query',
    of: (count) =>
      query({ dataSource: { type: 'query', query: query({ queryType: 'groupBy', dimensions: parts(count, (index) => `c${index}`) }) } }),
  },
  { name: 'unknown keys', of: (count) => query(Object.fromEntries(parts(count, (index) => [`unknown${index}`, 1]))) },
];

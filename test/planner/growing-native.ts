import { column, type GrowingQuery, list, parts } from './growing-queries.js';

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

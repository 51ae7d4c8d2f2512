import type { Question } from '../side-by-side.js';

type Native = Readonly<Record<string, unknown>>;
const TIMES = ['2025-01-01/2025-12-31'];
/** Kinds of queries without times and granularity of their own. */
const BARE = new Set(['scan', 'timeBoundary']);
const COUNT = { type: 'count', name: 'n' };
const sum = (name: string, fieldName: string): Native => ({ type: 'longSum', name, fieldName });
const q = (id: string, columns: readonly string[], query: Native, sql: string): Question => ({
  id,
  sql,
  native: { query: { ...(BARE.has(String(query['queryType'])) ? {} : { intervals: TIMES, granularity: 'all' }), ...query }, columns },
});

/** Native queries of all kinds, over spans, meters, connections and fills. */
export const NATIVE: readonly Question[] = [
  q(
    'native_timeseries_filtered',
    ['timestamp', 'n', 'out', 'denied'],
    {
      queryType: 'timeseries',
      dataSource: 'connections',
      granularity: 'hour',
      filter: { type: 'in', dimension: 'port', values: ['443', '22'] },
      aggregations: [
        COUNT,
        sum('out', 'bytesOut'),
        {
          type: 'filtered',
          filter: { type: 'selector', dimension: 'action', value: 'deny' },
          aggregator: { type: 'count', name: 'denied' },
        },
      ],
    },
    `SELECT date_trunc('hour', __time), COUNT(*), SUM(bytesOut), COUNT(*) FILTER (WHERE action = 'deny') FROM connections WHERE port IN (443, 22) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'native_timeseries_zone',
    ['n', 'mean'],
    {
      queryType: 'timeseries',
      dataSource: 'meters',
      granularity: { type: 'period', period: 'P1D', timeZone: 'America/New_York' },
      aggregations: [COUNT, { type: 'doubleMean', name: 'mean', fieldName: 'temperature' }],
    },
    `SELECT COUNT(*), AVG(temperature) FROM meters GROUP BY date_trunc('day', timezone('America/New_York', timezone('UTC', __time))) ORDER BY MIN(__time)`,
  ),
  q(
    'native_topn_extraction',
    ['first', 'n', 'out'],
    {
      queryType: 'topN',
      dataSource: 'connections',
      dimension: {
        type: 'extraction',
        dimension: 'host',
        outputName: 'first',
        extractionFn: { type: 'regex', expr: '^[^.]+[.](.*)$', index: 1 },
      },
      metric: 'n',
      threshold: 5,
      aggregations: [COUNT, sum('out', 'bytesOut')],
    },
    `SELECT regexp_extract(host, '^[^.]+[.](.*)$', 1), COUNT(*), SUM(bytesOut) FROM connections GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
  ),
  q(
    'native_topn_substring',
    ['p', 'out'],
    {
      queryType: 'topN',
      dataSource: 'connections',
      dimension: { type: 'extraction', dimension: 'agent', outputName: 'p', extractionFn: { type: 'substring', index: 0, length: 4 } },
      metric: 'out',
      threshold: 4,
      aggregations: [sum('out', 'bytesOut')],
    },
    `SELECT substr(agent, 1, 4), SUM(bytesOut) FROM connections GROUP BY 1 ORDER BY 2 DESC LIMIT 4`,
  ),
  q(
    'native_topn_high',
    ['account', 'q'],
    {
      queryType: 'topN',
      dataSource: 'fills',
      dimension: 'account',
      metric: 'q',
      threshold: 20,
      filter: { type: 'bound', dimension: 'price', lower: '100', upper: '400', ordering: 'numeric' },
      aggregations: [sum('q', 'quantity')],
    },
    `SELECT account, SUM(quantity) FROM fills WHERE price BETWEEN 100 AND 400 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'native_group_having',
    ['venue', 'currency', 'n', 'mean'],
    {
      queryType: 'groupBy',
      dataSource: 'fills',
      dimensions: ['venue', 'currency'],
      aggregations: [COUNT, { type: 'doubleSum', name: 'p', fieldName: 'price' }],
      postAggregations: [
        {
          type: 'arithmetic',
          name: 'mean',
          fn: '/',
          fields: [
            { type: 'fieldAccess', fieldName: 'p' },
            { type: 'fieldAccess', fieldName: 'n' },
          ],
        },
      ],
      having: { type: 'greaterThan', aggregation: 'n', value: 50_000 },
      limitSpec: {
        type: 'default',
        columns: [
          { dimension: 'n', direction: 'descending', dimensionOrder: 'numeric' },
          { dimension: 'venue', direction: 'ascending' },
        ],
        limit: 10,
      },
    },
    `SELECT venue, currency, COUNT(*) AS n, SUM(price) / COUNT(*) FROM fills GROUP BY 1, 2 HAVING COUNT(*) > 50000 ORDER BY 3 DESC, 1 LIMIT 10`,
  ),
  q(
    'native_group_subtotals',
    ['venue', 'side', 'q'],
    {
      queryType: 'groupBy',
      dataSource: 'fills',
      dimensions: ['venue', 'side'],
      aggregations: [sum('q', 'quantity')],
      subtotalsSpec: [['venue', 'side'], ['venue'], []],
    },
    `SELECT venue, side, SUM(quantity) FROM fills GROUP BY GROUPING SETS ((venue, side), (venue), ()) ORDER BY venue IS NULL, side IS NULL, 1, 2`,
  ),
  q(
    'native_group_virtual',
    ['bucket', 'n', 'most'],
    {
      queryType: 'groupBy',
      dataSource: 'fills',
      virtualColumns: [{ type: 'expression', name: 'bucket', expression: 'floor(price / 25) * 25', outputType: 'DOUBLE' }],
      dimensions: [{ type: 'default', dimension: 'bucket', outputName: 'bucket', outputType: 'DOUBLE' }],
      aggregations: [COUNT, { type: 'longMax', name: 'most', fieldName: 'quantity' }],
      limitSpec: { type: 'default', columns: [{ dimension: 'bucket', dimensionOrder: 'numeric' }] },
    },
    `SELECT floor(price / 25) * 25, COUNT(*), MAX(quantity) FROM fills GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'native_group_path',
    ['route', 'n'],
    {
      queryType: 'groupBy',
      dataSource: 'spans',
      virtualColumns: [
        { type: 'nested-field', columnName: 'attributes', outputName: 'route', path: '$.http.route', expectedType: 'STRING' },
      ],
      dimensions: ['route'],
      aggregations: [COUNT],
      limitSpec: { type: 'default', columns: [{ dimension: 'n', direction: 'descending', dimensionOrder: 'numeric' }] },
    },
    `SELECT attributes->>'$.http.route', COUNT(*) FROM spans GROUP BY 1 ORDER BY 2 DESC`,
  ),
  q(
    'native_group_listed',
    ['labels', 'n'],
    {
      queryType: 'groupBy',
      dataSource: 'connections',
      dimensions: [{ type: 'listFiltered', delegate: 'labels', values: ['gpu', 'pci', 'eu'] }],
      aggregations: [COUNT],
      filter: { type: 'in', dimension: 'labels', values: ['gpu', 'pci', 'eu'] },
      limitSpec: { type: 'default', columns: [{ dimension: 'labels' }] },
    },
    `SELECT l, COUNT(*) FROM (SELECT unnest(labels) AS l FROM connections) WHERE l IN ('gpu', 'pci', 'eu') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'native_scan_narrow',
    ['__time', 'source', 'target', 'port'],
    {
      queryType: 'scan',
      dataSource: 'connections',
      intervals: ['2025-04-05T03:00/2025-04-05T04:00'],
      columns: ['__time', 'source', 'target', 'port'],
      filter: { type: 'selector', dimension: 'action', value: 'reset' },
      order: 'ascending',
      limit: 5000,
    },
    `SELECT epoch_ms(__time), source, target, port FROM connections WHERE __time >= TIMESTAMP '2025-04-05 03:00:00' AND __time < TIMESTAMP '2025-04-05 04:00:00' AND action = 'reset' ORDER BY 1`,
  ),
  q(
    'native_search',
    ['dimension', 'value', 'count'],
    {
      queryType: 'search',
      dataSource: 'connections',
      searchDimensions: ['host'],
      query: { type: 'insensitive_contains', value: '9999.EVIL' },
      sort: { type: 'lexicographic' },
    },
    `SELECT 'host', host, COUNT(*) FROM connections WHERE host ILIKE '%9999.evil%' GROUP BY 2 ORDER BY 2`,
  ),
  q(
    'native_bounds',
    ['minTime', 'maxTime'],
    { queryType: 'timeBoundary', dataSource: 'meters' },
    `SELECT MIN(__time), MAX(__time) FROM meters`,
  ),
  q(
    'native_like_regex_and',
    ['action', 'n'],
    {
      queryType: 'groupBy',
      dataSource: 'connections',
      dimensions: ['action'],
      aggregations: [COUNT],
      filter: {
        type: 'and',
        fields: [
          { type: 'like', dimension: 'host', pattern: '%7.corp%' },
          { type: 'regex', dimension: 'source', pattern: '^10[.][0-3][.]' },
          { type: 'not', field: { type: 'selector', dimension: 'account', value: null } },
        ],
      },
      limitSpec: { type: 'default', columns: [{ dimension: 'action' }] },
    },
    `SELECT action, COUNT(*) FROM connections WHERE host LIKE '%7.corp%' AND regexp_matches(source, '^10[.][0-3][.]') AND account IS NOT NULL GROUP BY 1 ORDER BY 1`,
  ),
];

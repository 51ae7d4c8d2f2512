/** A request that is large in one way, as it is sent. */
export interface LargeRequest {
  readonly name: string;
  readonly path: string;
  /** The text of its body. */
  readonly body: () => string;
  /** HTTP status expected of the answer. */
  readonly status: number;
}

export const WIDE_COLUMNS = 10_000;
/** Largest number of aggregators that the memory of a query allows, and a larger one, which is refused after planning. */
const AGGREGATORS = 10_000;
const AGGREGATORS_REFUSED = 20_000;
const LISTED = 1_000_000;
const CONDITIONS = 20_000;
const NESTED = 10_000;

const SQL = '/svc/v2/sql';
const NATIVE = '/svc/v2';
const AVATICA = '/svc/v2/sql/avatica/';
const TASK = '/svc/indexer/v1/task';

const list = (count: number, item: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);
const sql = (query: string, fields: object = {}): string => JSON.stringify({ query, ...fields });
const native = (fields: object): string =>
  JSON.stringify({ queryType: 'timeseries', dataSource: 'wide', intervals: 'eternity', granularity: 'all', ...fields });
const nested = `${'['.repeat(NESTED)}${']'.repeat(NESTED)}`;
const sums = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ type: 'longSum', name: `a${index}`, fieldName: `c${index % 100}` }));

export const LARGE_REQUESTS: readonly LargeRequest[] = [
  { name: 'SELECT * of 10,000 columns', path: SQL, status: 200, body: () => sql('SELECT * FROM wide LIMIT 1') },
  { name: 'SELECT * of 10,000 columns, 200 rows', path: SQL, status: 200, body: () => sql('SELECT * FROM wide LIMIT 200') },
  {
    name: 'SELECT * of 10,000 columns as CSV',
    path: SQL,
    status: 200,
    body: () => sql('SELECT * FROM wide LIMIT 200', { resultFormat: 'csv' }),
  },
  { name: 'SELECT DISTINCT * of 10,000 columns, refused', path: SQL, status: 400, body: () => sql('SELECT DISTINCT * FROM wide LIMIT 1') },
  {
    name: 'SELECT DISTINCT of 3,000 columns',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT DISTINCT ${list(3000, (index) => `c${index}`)} FROM wide LIMIT 1`),
  },
  { name: 'EXPLAIN of 10,000 columns', path: SQL, status: 200, body: () => sql('EXPLAIN PLAN FOR SELECT * FROM wide LIMIT 1') },
  {
    name: 'scan of 10,000 columns',
    path: NATIVE,
    status: 200,
    body: () => native({ queryType: 'scan', granularity: undefined, limit: 200 }),
  },
  { name: 'INFORMATION_SCHEMA of 10,000 columns', path: SQL, status: 200, body: () => sql('SELECT * FROM INFORMATION_SCHEMA.COLUMNS') },
  {
    name: 'segmentMetadata of 10,000 columns',
    path: NATIVE,
    status: 200,
    body: () => native({ queryType: 'segmentMetadata', granularity: undefined }),
  },
  { name: '10,000 aggregators', path: NATIVE, status: 200, body: () => native({ aggregations: sums(AGGREGATORS) }) },
  {
    name: '10,000 aggregators by dimension',
    path: NATIVE,
    status: 200,
    body: () => native({ queryType: 'groupBy', dimensions: ['s0'], aggregations: sums(AGGREGATORS) }),
  },
  { name: '20,000 aggregators, refused', path: NATIVE, status: 400, body: () => native({ aggregations: sums(AGGREGATORS_REFUSED) }) },
  {
    name: '2,000 aggregators in SQL',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT ${list(2000, (index) => `SUM(c${index}) AS a${index}`)} FROM wide`),
  },
  {
    name: '1,000,000 strings of IN',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT COUNT(*) FROM wide WHERE s0 IN (${list(LISTED, (index) => `'v${index}'`)})`),
  },
  {
    name: '1,000,000 numbers of IN',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT COUNT(*) FROM wide WHERE c0 IN (${list(LISTED, String)})`),
  },
  {
    name: '1,000,000 strings of IN, of a computed string',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT COUNT(*) FROM wide WHERE UPPER(s0) IN (${list(LISTED, (index) => `'V${index}'`)})`),
  },
  {
    name: '1,000,000 numbers of IN, of a computed number',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT COUNT(*) FROM wide WHERE c0 + 1 IN (${list(LISTED, String)})`),
  },
  {
    name: '1,000,000 strings of a native in filter',
    path: NATIVE,
    status: 200,
    body: () =>
      native({
        aggregations: [{ type: 'count', name: 'n' }],
        filter: { type: 'in', dimension: 's0', values: Array.from({ length: LISTED }, (_, index) => `v${index}`) },
      }),
  },
  {
    name: 'a JDBC connection',
    path: AVATICA,
    status: 200,
    body: () => JSON.stringify({ request: 'openConnection', connectionId: 'bench' }),
  },
  {
    name: '1,000,000 strings of IN, prepared by JDBC',
    path: AVATICA,
    status: 200,
    body: () =>
      JSON.stringify({
        request: 'prepare',
        connectionId: 'bench',
        sql: `SELECT COUNT(*) FROM wide WHERE s0 IN (${list(LISTED, (index) => `'v${index}'`)}) AND c0 > ?`,
        maxRowsTotal: -1,
      }),
  },
  {
    name: '20,000 conditions of OR',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT COUNT(*) FROM wide WHERE ${list(CONDITIONS, (index) => `s0 = 'v${index}'`, ' OR ')}`),
  },
  {
    name: 'a regular expression that is folded',
    path: SQL,
    status: 200,
    body: () => sql(`SELECT REGEXP_REPLACE('${'ab'.repeat(200_000)}', '(a|b)*c', 'x') AS s`),
  },
  {
    name: 'a task of 10,000 dimensions, refused at the last',
    path: TASK,
    status: 400,
    body: () =>
      JSON.stringify({
        type: 'index_parallel',
        spec: {
          ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } },
          dataSchema: {
            dataSource: 'never',
            timestampSpec: { column: 't' },
            dimensionsSpec: { dimensions: Array.from({ length: WIDE_COLUMNS }, (_, index) => ({ type: 'long', name: `c${index}` })) },
            granularitySpec: { segmentGranularity: 'day', queryGranularity: 'month' },
          },
        },
      }),
  },
  {
    name: 'parameters nested 10,000 deep',
    path: SQL,
    status: 400,
    body: () => `{"query":"SELECT ? AS x","parameters":[{"type":"VARCHAR","value":${nested}}]}`,
  },
  {
    name: 'a context nested 10,000 deep',
    path: SQL,
    status: 400,
    body: () => `{"query":"SELECT 1 AS x","context":{"sqlQueryId":${nested}}}`,
  },
  { name: 'a native query nested 10,000 deep', path: NATIVE, status: 400, body: () => `{"queryType":"timeseries","dataSource":${nested}}` },
  {
    name: 'a task nested 10,000 deep',
    path: TASK,
    status: 400,
    body: () => `{"type":"index_parallel","spec":${nested}}`,
  },
];

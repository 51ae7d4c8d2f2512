/**
 * Bodies by `METHOD path` of the routes that read one. `NAME` in a string stands for a name under test. A route that
 * reads its body and is missing here fails `names-from-outside.test.ts`.
 */
const INLINE = { type: 'inline', columnNames: ['__time', 'page'], columnTypes: ['LONG', 'STRING'], rows: [[0, 'NAME']] };
const QUERY = { dataSource: INLINE, intervals: ['1970-01-01/1970-01-02'], granularity: 'all', context: { timeout: 5000, NAME: 'NAME' } };
const COUNT = { type: 'count', name: 'rows' };
const FILTER = {
  type: 'and',
  fields: [
    { type: 'selector', dimension: 'page', value: 'NAME' },
    { type: 'in', dimension: 'NAME', values: ['a'] },
  ],
};

const NATIVE: readonly unknown[] = [
  { queryType: 'timeseries', ...QUERY, filter: FILTER, aggregations: [COUNT, { type: 'longSum', name: 'NAME', fieldName: 'page' }] },
  {
    queryType: 'topN',
    ...QUERY,
    dimension: { type: 'lookup', dimension: 'page', outputName: 'p', name: 'NAME' },
    metric: { type: 'numeric', metric: 'rows' },
    threshold: 3,
    aggregations: [COUNT],
  },
  {
    queryType: 'groupBy',
    ...QUERY,
    virtualColumns: [{ type: 'expression', name: 'v', expression: "lookup(page, 'NAME')", outputType: 'STRING' }],
    dimensions: ['page', { type: 'extraction', dimension: 'page', outputName: 'NAME', extractionFn: { type: 'upper' } }],
    aggregations: [COUNT, { type: 'filtered', filter: FILTER, aggregator: { type: 'hyperUnique', name: 'u', fieldName: 'NAME' } }],
    postAggregations: [{ type: 'arithmetic', name: 'a', fn: '+', fields: [{ type: 'fieldAccess', name: 'f', fieldName: 'NAME' }] }],
    having: { type: 'greaterThan', aggregation: 'NAME', value: 0 },
    limitSpec: { type: 'default', limit: 5, columns: [{ dimension: 'NAME', direction: 'descending', dimensionOrder: 'numeric' }] },
  },
  { queryType: 'scan', ...QUERY, columns: ['__time', 'NAME'], limit: 5, resultFormat: 'list', orderBy: [{ columnName: 'NAME' }] },
  { queryType: 'search', ...QUERY, searchDimensions: ['NAME'], query: { type: 'contains', value: 'NAME' }, sort: { type: 'strlen' } },
  { queryType: 'segmentMetadata', ...QUERY, dataSource: 'NAME', toInclude: { type: 'list', columns: ['NAME'] } },
  { queryType: 'timeBoundary', dataSource: 'NAME', bound: 'maxTime' },
  { queryType: 'dataSourceMetadata', dataSource: { type: 'table', name: 'NAME' } },
  { queryType: 'timeseries', ...QUERY, dataSource: { type: 'lookup', lookup: 'NAME' }, aggregations: [COUNT] },
  {
    queryType: 'timeseries',
    ...QUERY,
    dataSource: { type: 'join', left: INLINE, right: INLINE, rightPrefix: 'NAME.', condition: 'page == "NAME.page"', joinType: 'LEFT' },
    aggregations: [COUNT],
  },
];

const STATEMENTS = [
  'SELECT "NAME" FROM (VALUES (1)) AS t ("NAME") GROUP BY 1',
  'SELECT * FROM "NAME"."NAME"',
  'SELECT NAME(1), "NAME"(2)',
  "SELECT LOOKUP('a', 'NAME')",
  `SELECT JSON_VALUE(PARSE_JSON('{"a":1}'), '$.NAME'), TO_JSON_STRING(JSON_OBJECT('NAME':1)), PARSE_JSON('{"NAME":{"NAME":12345678901234567890}}')`,
  "SELECT CAST('1' AS NAME), TIME_EXTRACT(CURRENT_TIMESTAMP, 'NAME'), INTERVAL '1' NAME",
  `SELECT SUM("NAME") OVER (PARTITION BY "NAME") FROM (VALUES (1)) AS t ("NAME")`,
  `SELECT * FROM TABLE(EXTERN('{"type":"NAME"}', '{"type":"NAME"}')) EXTEND ("NAME" VARCHAR)`,
  'SELECT * FROM INFORMATION_SCHEMA."NAME" WHERE TABLE_NAME = \'NAME\'',
];
const SQL = STATEMENTS.map((query) => ({ query, resultFormat: 'object', header: true, context: { sqlQueryId: 'NAME', NAME: 'NAME' } }));

const LOOKUP = { version: 'v1', lookupExtractorFactory: { type: 'map', map: { NAME: 'a' } } };
const MARK = [{ interval: '2000-01-01/2000-01-02' }, { segmentIds: ['NAME'] }];
const RULES = [
  { type: 'loadForever', tieredReplicants: { NAME: 1, _default_tier: 1 }, useDefaultTierForNull: true },
  { type: 'dropByPeriod', period: 'P1M', includeFuture: true },
  { type: 'loadByInterval', interval: '2000/2001', tieredReplicants: {} },
];
const TASK = {
  type: 'index_parallel',
  id: 'NAME',
  context: { NAME: 'NAME', priority: 1 },
  spec: {
    dataSchema: {
      dataSource: 'NAME',
      timestampSpec: { column: 'NAME', format: 'iso', missingValue: '2000-01-01' },
      dimensionsSpec: { dimensions: ['NAME', { type: 'long', name: 'n' }] },
      metricsSpec: [{ type: 'count', name: 'NAME' }],
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', queryGranularity: 'none', rollup: true },
      transformSpec: { transforms: [{ type: 'expression', name: 'NAME', expression: 'page' }], filter: FILTER },
    },
    ioConfig: {
      type: 'index_parallel',
      inputSource: { type: 'inline', data: '{"NAME":1}' },
      inputFormat: { type: 'json', flattenSpec: { useFieldDiscovery: true, fields: [{ type: 'path', name: 'NAME', expr: '$.NAME' }] } },
    },
    tuningConfig: { type: 'index_parallel', partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 10 }, maxRowsInMemory: 100 },
  },
};
const TASKS = [
  TASK,
  { type: 'compact', dataSource: 'NAME', ioConfig: { type: 'compact', inputSpec: { type: 'interval', interval: '2000/2001' } } },
  { type: 'kill', dataSource: 'NAME', interval: '2000/2001' },
];
/** Read whole, then refused for its limit: a sample that is right is a process. */
const SAMPLE = { type: 'index_parallel', spec: TASK.spec, samplerConfig: { numRows: 5001 } };
const JDBC = [
  { request: 'openConnection', connectionId: 'NAME', info: { NAME: 'NAME' } },
  { request: 'connectionSync', connectionId: 'NAME', connProps: { connProps: 'connPropsImpl', autoCommit: true, schema: 'NAME' } },
  { request: 'createStatement', connectionId: 'NAME' },
  { request: 'prepareAndExecute', connectionId: 'NAME', statementId: 1, sql: 'SELECT 1 AS "NAME"', maxRowCount: -1 },
  { request: 'prepare', connectionId: 'NAME', sql: 'SELECT ?' },
  {
    request: 'execute',
    statementHandle: { connectionId: 'NAME', id: 1 },
    parameterValues: [{ type: 'STRING', value: 'NAME' }],
    maxRowCount: 5,
  },
  { request: 'fetch', connectionId: 'NAME', statementId: 1, offset: 0, fetchMaxRowCount: 5 },
  { request: 'getTables', connectionId: 'NAME', catalog: 'NAME', schemaPattern: 'NAME', tableNamePattern: 'NAME', typeList: ['NAME'] },
  { request: 'getColumns', connectionId: 'NAME', schemaPattern: 'NAME', columnNamePattern: 'NAME' },
  { request: 'NAME', connectionId: 'NAME' },
];
const WORKERS = {
  type: 'default',
  selectStrategy: { type: 'fillCapacityWithCategorySpec', workerCategorySpec: { categoryMap: {}, strong: false } },
};

const COMPACTION = {
  ...{ dataSource: 'NAME', taskPriority: 25, inputSegmentSizeBytes: 1_000_000, skipOffsetFromLatest: 'P1D', taskContext: { NAME: 1 } },
  tuningConfig: { partitionsSpec: { type: 'range', partitionDimensions: ['NAME'], targetRowsPerSegment: 5 } },
  granularitySpec: { segmentGranularity: 'DAY', rollup: true },
  dimensionsSpec: { dimensions: ['NAME'] },
  metricsSpec: [{ type: 'count', name: 'count' }],
  transformSpec: { filter: FILTER },
};
const COMPACTION_CLUSTER = {
  ...{ compactionTaskSlotRatio: 0.5, maxCompactionTaskSlots: 3, engine: 'native' },
  compactionPolicy: { type: 'newestSegmentFirst', priorityDatasource: 'NAME' },
};

/** A supervisor that begins long after its test. */
const SUPERVISOR = {
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: 'NAME',
      timestampSpec: { column: 'NAME', format: 'iso' },
      dimensionsSpec: { dimensions: ['NAME'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: {
      topic: 'NAME',
      inputFormat: { type: 'json' },
      startDelay: 'PT10H',
      consumerProperties: { 'bootstrap.servers': '127.0.0.1:9', 'sasl.jaas.config': 'NAME' },
    },
    tuningConfig: { type: 'kafka' },
  },
  context: { NAME: 1 },
};

export const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  'POST /svc/v2': NATIVE,
  'POST /svc/v2/candidates': NATIVE.slice(0, 2),
  'POST /svc/v2/sql': SQL,
  'POST /svc/v2/sql/task': [
    { query: 'INSERT INTO "NAME" SELECT "NAME" FROM (VALUES (1)) AS t ("NAME") PARTITIONED BY ALL', context: { NAME: 1 } },
  ],
  'POST /svc/v2/sql/statements': [
    { query: 'SELECT "NAME" FROM (VALUES (1)) AS t ("NAME")', context: { executionMode: 'ASYNC', NAME: 1 }, resultFormat: 'csv' },
  ],
  'POST /svc/v2/sql/avatica': JDBC,
  'POST /svc/v2/sql/avatica-protobuf': JDBC.slice(0, 1),
  'POST /svc/coordinator/v1/config/compaction': [COMPACTION],
  'POST /svc/coordinator/v1/config/compaction/cluster': [COMPACTION_CLUSTER],
  'POST /svc/coordinator/v1/compaction/simulate': [COMPACTION_CLUSTER],
  'POST /svc/indexer/v1/compaction/config/cluster': [COMPACTION_CLUSTER],
  'POST /svc/indexer/v1/compaction/config/datasources/{dataSource}': [COMPACTION],
  'POST /svc/indexer/v1/compaction/simulate': [COMPACTION_CLUSTER],
  'POST /svc/indexer/v1/task': TASKS,
  'POST /svc/indexer/v1/taskStatus': [['NAME']],
  'POST /svc/indexer/v1/sampler': [SAMPLE],
  'POST /svc/indexer/v1/supervisor': [SUPERVISOR],
  'POST /svc/indexer/v1/worker': [WORKERS],
  'POST /svc/coordinator/v1/config': [{ maxSegmentsToMove: 100, replicationThrottleLimit: 500, decommissioningNodes: ['NAME'] }],
  'POST /svc/coordinator/v1/lookups/config': [{ NAME: { NAME: LOOKUP }, __default: { NAME: LOOKUP } }],
  'POST /svc/coordinator/v1/lookups/config/{tier}/{name}': [LOOKUP],
  'POST /svc/coordinator/v1/rules/{dataSource}': [RULES],
  'GET /svc/coordinator/v1/metadata/datasources/{dataSource}/segments': [['2000-01-01/2000-01-02']],
  'POST /svc/coordinator/v1/metadata/datasources/{dataSource}/segments': [['2000-01-01/2000-01-02']],
};
for (const path of ['coordinator', 'indexer'])
  for (const mark of ['markUsed', 'markUnused']) Object.assign(BODIES, { [`POST /svc/${path}/v1/datasources/{dataSource}/${mark}`]: MARK });

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { validateTask } from '../../src/ingestion/task.js';
import { parseGranularity } from '../../src/model/granularity.js';

/** A spec with everything in its place; `change` is laid over it, level by level. */
function task(change: Record<string, unknown> = {}): unknown {
  const base = {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'edits',
        timestampSpec: { column: 'time', format: 'iso' },
        dimensionsSpec: { dimensions: ['page', { type: 'long', name: 'delta' }] },
        metricsSpec: [{ type: 'count', name: 'n' }],
        granularitySpec: {
          type: 'uniform',
          segmentGranularity: 'day',
          queryGranularity: 'hour',
          rollup: true,
          intervals: ['2015-09-12T05/2015-09-13'],
        },
      },
      ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } },
      tuningConfig: { type: 'index_parallel' },
    },
  };
  return overlay(base, change);
}

function overlay(base: unknown, change: unknown): unknown {
  if (!isPlain(base) || !isPlain(change)) return change;
  return Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(change)])].map((key) => [
      key,
      key in change ? overlay(base[key], change[key]) : base[key],
    ]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const schema = (change: Record<string, unknown>): Record<string, unknown> => ({ spec: { dataSchema: change } });
const io = (change: Record<string, unknown>): Record<string, unknown> => ({ spec: { ioConfig: change } });
const tuning = (change: Record<string, unknown>): Record<string, unknown> => ({ spec: { tuningConfig: change } });

const DAY = { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) };

const specs = suite('task specs');

specs('a description: datasource, widest publish, defaults written out', () => {
  const description = validateTask(task({ id: 'mine', context: { priority: 7 } }), 0);
  assert.is(description.dataSource, 'edits');
  assert.is(description.id, 'mine');
  assert.is(description.groupId, null);
  assert.equal(description.context, { priority: 7 });
  assert.equal(description.mode, { kind: 'replace', intervals: [DAY] });
  assert.equal((description.spec['ioConfig'] as Record<string, unknown>)['dropExisting'], false);
  assert.equal(validateTask(task(schema({ granularitySpec: { intervals: [] } })), 0).mode, {
    kind: 'replace',
    intervals: [ETERNITY],
  });
  assert.equal(validateTask(task(io({ appendToExisting: true })), 0).mode, { kind: 'append' });
});

specs('the spec with defaults is a spec', () => {
  const { spec, type } = validateTask(task(), 0);
  assert.equal(validateTask({ type, spec }, 0).spec, spec);
});

const accepted: readonly { readonly name: string; readonly change: Record<string, unknown> }[] = [
  {
    name: 'inert keys',
    change: tuning({
      indexSpec: { bitmap: { type: 'roaring' } },
      maxNumConcurrentSubTasks: 4,
      forceGuaranteedRollup: true,
      splitHintSpec: null,
    }),
  },
  { name: 'dynamic partitions', change: tuning({ partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 10, maxTotalRows: 100 } }) },
  {
    name: 'hashed partitions',
    change: tuning({
      partitionsSpec: { type: 'hashed', numShards: 4, partitionDimensions: ['page'], partitionFunction: 'murmur3_32_abs' },
    }),
  },
  { name: 'hashed partitions by size', change: tuning({ partitionsSpec: { type: 'hashed', targetRowsPerSegment: 100, numShards: -1 } }) },
  {
    name: 'range partitions',
    change: tuning({ partitionsSpec: { type: 'range', partitionDimensions: ['page', 'p'], targetRowsPerSegment: 9, assumeGrouped: true } }),
  },
  {
    name: 'partitions by one dimension',
    change: tuning({ partitionsSpec: { type: 'single_dim', partitionDimension: 'page', maxRowsPerSegment: 9 } }),
  },
  { name: 'no limit as -1', change: tuning({ maxParseExceptions: -1, maxBytesInMemory: -1 }) },
  { name: 'nulls as absent', change: tuning({ partitionsSpec: null, numShards: null, maxParseExceptions: null }) },
  { name: 'no tuningConfig', change: { spec: { tuningConfig: null } } },
  {
    name: 'every number metric',
    change: schema({ metricsSpec: ['longSum', 'doubleMin', 'floatMax'].map((type) => ({ type, name: type, fieldName: 'x' })) }),
  },
  {
    name: 'a transform and a filter',
    change: schema({
      transformSpec: { transforms: [{ type: 'expression', name: 'p', expression: 'upper(page)' }], filter: { type: 'true' } },
    }),
  },
  {
    name: 'granularity objects',
    change: schema({ granularitySpec: { segmentGranularity: { type: 'period', period: 'P1M' }, queryGranularity: { type: 'none' } } }),
  },
  { name: 'schema discovery', change: schema({ dimensionsSpec: { dimensions: [], useSchemaDiscovery: true } }) },
  {
    name: 'createBitmapIndex',
    change: schema({
      dimensionsSpec: { dimensions: [{ type: 'string', name: 'p', createBitmapIndex: false, multiValueHandling: 'sorted_set' }] },
    }),
  },
  { name: 'a time that is missing', change: schema({ timestampSpec: { missingValue: '2015-01-01' } }) },
  { name: 'an index task', change: { type: 'index', spec: { ioConfig: { type: 'index' }, tuningConfig: { type: 'index' } } } },
];
for (const { name, change } of accepted) specs(`accepted: ${name}`, () => assert.is(validateTask(task(change), 0).dataSource, 'edits'));

const refused: readonly {
  readonly name: string;
  readonly change: Record<string, unknown>;
  readonly message: RegExp;
  readonly code?: string;
}[] = [
  { name: 'an unknown type', change: { type: 'index_paralel' }, message: /^type: .*did you mean "index_parallel"/ },
  { name: 'an unknown key of the task', change: { specc: 1 }, message: /^the task: unknown key "specc"; did you mean "spec"/ },
  {
    name: 'an unknown key of the spec',
    change: { spec: { dataSchem: 1 } },
    message: /^spec: unknown key "dataSchem"; did you mean "dataSchema"/,
  },
  {
    name: 'an unknown key of dataSchema',
    change: schema({ metricSpec: [] }),
    message: /^spec\.dataSchema: unknown key "metricSpec"; did you mean "metricsSpec"/,
  },
  {
    name: 'an unknown key of a dimension',
    change: schema({ dimensionsSpec: { dimensions: [{ name: 'x', multivalue: true }] } }),
    message: /^spec\.dataSchema\.dimensionsSpec\.dimensions\[0\]: unknown key "multivalue"/,
  },
  {
    name: 'an unknown key of tuningConfig',
    change: tuning({ maxRowsPerSegmnt: 1 }),
    message: /^spec\.tuningConfig: unknown key "maxRowsPerSegmnt"; did you mean "maxRowsPerSegment"/,
  },
  {
    name: 'an unknown key of inputFormat',
    change: io({ inputFormat: { delimitr: ',' } }),
    message: /^spec\.ioConfig\.inputFormat: unknown key "delimitr"/,
  },
  { name: 'no spec', change: { spec: null }, message: /^spec: expected an object, found nothing/ },
  { name: 'no dataSource', change: schema({ dataSource: null }), message: /^spec\.dataSchema\.dataSource: expected a string, found null/ },
  { name: 'a dataSource with a slash', change: schema({ dataSource: '../x' }), message: /dataSource: expected a name/ },
  { name: 'numShards', change: tuning({ numShards: 2 }), message: /numShards: 2 is not supported/, code: 'unsupported' },
  {
    name: 'options of a Java process',
    change: { context: { 'svc.indexer.runner.javaOpts': '-Xmx1g' } },
    message: /^context\.svc\.indexer\.runner\.javaOpts: .* is not supported.*maxHeapBytes/,
    code: 'unsupported',
  },
  {
    name: 'perfect rollup by dynamic partitions',
    change: tuning({ forceGuaranteedRollup: true, partitionsSpec: { type: 'dynamic' } }),
    message: /^spec\.tuningConfig\.forceGuaranteedRollup: cannot be true with dynamic partitions/,
  },
  {
    name: 'appending to a divided chunk',
    change: {
      spec: { ioConfig: { appendToExisting: true }, tuningConfig: { partitionsSpec: { type: 'hashed' } } },
    },
    message: /^spec\.ioConfig\.appendToExisting: cannot be true with hashed/,
  },
  {
    name: 'hashed partitions of a number and a size',
    change: tuning({ partitionsSpec: { type: 'hashed', numShards: 2, targetRowsPerSegment: 10 } }),
    message: /numShards: give one of numShards, targetRowsPerSegment and maxRowsPerSegment/,
  },
  {
    name: 'hashed partitions of two sizes',
    change: tuning({ partitionsSpec: { type: 'hashed', maxRowsPerSegment: 5, targetRowsPerSegment: 10 } }),
    message: /numShards: give one of/,
  },
  {
    name: 'more hashed partitions than there may be',
    change: tuning({ partitionsSpec: { type: 'hashed', numShards: 2e9 } }),
    message: /numShards: expected an integer of at least -1 and at most 100000, found 2000000000/,
  },
  {
    name: 'ranges of no size',
    change: tuning({ partitionsSpec: { type: 'range', partitionDimensions: ['page'] } }),
    message: /targetRowsPerSegment: give either targetRowsPerSegment or maxRowsPerSegment/,
  },
  {
    name: 'ranges of no dimension',
    change: tuning({ partitionsSpec: { type: 'range', maxRowsPerSegment: 10 } }),
    message: /partitionDimensions: name one dimension at least/,
  },
  {
    name: 'a dimension named twice',
    change: tuning({ partitionsSpec: { type: 'hashed', partitionDimensions: ['a', 'b', 'a'] } }),
    message: /partitionDimensions: "a" is named twice/,
  },
  {
    name: 'another function of partitions',
    change: tuning({ partitionsSpec: { type: 'hashed', partitionFunction: 'md5' } }),
    message: /partitionFunction: expected one of murmur3_32_abs, found "md5"/,
  },
  { name: 'rows per segment as text', change: tuning({ maxRowsPerSegment: 'many' }), message: /maxRowsPerSegment: expected an integer/ },
  {
    name: 'a metric of the contributed kind',
    change: schema({ metricsSpec: [{ type: 'tDigestSketch', name: 'x', fieldName: 'x' }] }),
    message: /metricsSpec\[0\]\.type: aggregator "tDigestSketch" is not supported/,
    code: 'unsupported',
  },
  {
    name: 'a metric for queries only, in a filtered one',
    change: schema({
      metricsSpec: [{ type: 'filtered', filter: { type: 'true' }, aggregator: { type: 'doubleMean', name: 'x', fieldName: 'x' } }],
    }),
    message: /metricsSpec\[0\]\.aggregator\.type: aggregator "doubleMean" is for queries only/,
  },
  {
    name: 'a sketch of an impossible size',
    change: schema({ metricsSpec: [{ type: 'thetaSketch', name: 'x', fieldName: 'x', size: 1000 }] }),
    message: /metricsSpec\[0\]\.size: expected a power of 2/,
  },
  {
    name: 'a misspelt metric',
    change: schema({ metricsSpec: [{ type: 'longsum', name: 'x', fieldName: 'x' }] }),
    message: /did you mean "longSum"/,
  },
  {
    name: 'a metric without field',
    change: schema({ metricsSpec: [{ type: 'longSum', name: 'x' }] }),
    message: /metricsSpec\[0\]: expected either a fieldName or an expression/,
  },
  {
    name: 'two columns of one name',
    change: schema({ metricsSpec: [{ type: 'count', name: 'page' }] }),
    message: /two columns are called "page"/,
  },
  {
    name: 'a type that auto cannot be cast to',
    change: schema({ dimensionsSpec: { dimensions: [{ type: 'auto', name: 'x', castToType: 'ARRAY<ARRAY<LONG>>' }] } }),
    message: /castToType: expected STRING, LONG, .* found "ARRAY<ARRAY<LONG>>"/,
  },
  {
    name: 'spatial dimensions',
    change: schema({ dimensionsSpec: { spatialDimensions: [{ dims: ['x', 'y'] }] } }),
    message: /spatialDimensions\[0\]\.dimName/,
  },
  {
    name: 'arbitrary granularity',
    change: schema({ granularitySpec: { type: 'arbitrary' } }),
    message: /"arbitrary" is not supported/,
    code: 'unsupported',
  },
  {
    name: 'an unknown granularity',
    change: schema({ granularitySpec: { segmentGranularity: 'dya' } }),
    message: /granularitySpec\.segmentGranularity: unknown granularity "dya"/,
  },
  {
    name: 'a query granularity above the segment',
    change: schema({ granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'day' } }),
    message: /queryGranularity: day buckets do not fit into segments of hour/,
  },
  {
    name: 'weeks in months',
    change: schema({ granularitySpec: { segmentGranularity: 'month', queryGranularity: 'week' } }),
    message: /week buckets do not fit/,
  },
  {
    name: 'an interval that is none',
    change: schema({ granularitySpec: { intervals: ['2015'] } }),
    message: /intervals: expected intervals such as/,
  },
  { name: 'a time format that is none', change: schema({ timestampSpec: { format: '???' } }), message: /timestampSpec\.format/ },
  {
    name: 'an expression that does not parse',
    change: schema({ transformSpec: { transforms: [{ type: 'expression', name: 'p', expression: 'upper(' }] } }),
    message: /transforms\[0\]\.expression: /,
  },
  { name: 'a filter that is none', change: schema({ transformSpec: { filter: 'bad' } }), message: /transformSpec\.filter: / },
  {
    name: 'a dimension that is excluded',
    change: schema({ dimensionsSpec: { dimensionExclusions: ['page'] } }),
    message: /"page" is among the dimensions too/,
  },
  {
    name: 'append and drop',
    change: io({ appendToExisting: true, dropExisting: true }),
    message: /dropExisting: cannot be true with appendToExisting/,
  },
  {
    name: 'drop without intervals',
    change: { spec: { ioConfig: { dropExisting: true }, dataSchema: { granularitySpec: { intervals: [] } } } },
    message: /dropExisting: needs granularitySpec\.intervals/,
  },
  { name: 'a firehose', change: io({ firehose: { type: 'local' } }), message: /firehose/, code: 'unsupported' },
  {
    name: 'an input format to come',
    change: io({ inputFormat: { type: 'orc' } }),
    message: /inputFormat\.type: "orc" is not supported/,
    code: 'unsupported',
  },
  {
    name: 'CSV without columns',
    change: io({ inputFormat: { type: 'csv' } }),
    message: /inputFormat\.columns: expected the column names, or findColumnsFromHeader/,
  },
  {
    name: 'a delimiter of two characters',
    change: io({ inputFormat: { type: 'tsv', columns: ['a'], delimiter: '||' } }),
    message: /delimiter: expected one ASCII character/,
  },
  {
    name: 'keys of another type of task',
    change: { type: 'query_controller', spec: { query: 'x', dataSchema: 1 } },
    message: /^spec: unknown key "dataSchema"/,
  },
];
for (const { name, change, message, code = 'input_invalid' } of refused) {
  specs(`refused: ${name}`, () => {
    try {
      validateTask(task(change), 0);
    } catch (error) {
      assert.instance(error, ServiceError);
      assert.match((error as ServiceError).message, message);
      assert.is((error as ServiceError).code, code);
      return;
    }
    assert.unreachable('it must be refused');
  });
}

const EXTERN = `TABLE(EXTERN('{"type":"inline","data":""}', '{"type":"json"}', '[{"name":"t","type":"long"},{"name":"a","type":"string"}]'))`;
const SELECT = `SELECT MILLIS_TO_TIMESTAMP(t) AS __time, a FROM ${EXTERN}`;
const DAILY = `${SELECT} PARTITIONED BY DAY`;
const A_DAY = parseGranularity('day', 'PARTITIONED BY');
const statements: readonly { readonly name: string; readonly query: string; readonly mode?: unknown; readonly message?: RegExp }[] = [
  {
    name: 'REPLACE … OVERWRITE ALL',
    query: `REPLACE INTO edits OVERWRITE ALL ${DAILY}`,
    mode: { kind: 'replace', intervals: [ETERNITY], granularity: A_DAY },
  },
  {
    name: 'REPLACE … OVERWRITE WHERE',
    query: `REPLACE INTO edits OVERWRITE WHERE __time >= TIMESTAMP '2015-09-12' AND __time < TIMESTAMP '2015-09-13' ${DAILY}`,
    mode: { kind: 'replace', intervals: [DAY], granularity: A_DAY },
  },
  { name: 'INSERT', query: `INSERT INTO edits ${DAILY}`, mode: { kind: 'append' } },
  { name: 'SELECT', query: SELECT, mode: { kind: 'append' } },
  {
    name: 'a WHERE off the partitions',
    query: `REPLACE INTO edits OVERWRITE WHERE __time >= TIMESTAMP '2015-09-12 00:00:01' AND __time < TIMESTAMP '2015-09-13' ${DAILY}`,
    message: /OVERWRITE WHERE must begin and end where partitions of PARTITIONED BY do/,
  },
  {
    name: 'REPLACE from a table',
    query: 'REPLACE INTO edits OVERWRITE ALL SELECT * FROM other PARTITIONED BY DAY',
    mode: { kind: 'replace', intervals: [ETERNITY], granularity: A_DAY },
  },
  { name: 'no __time', query: `INSERT INTO edits SELECT a FROM ${EXTERN} PARTITIONED BY DAY`, message: /the query needs a column __time/ },
  {
    name: 'a __time that is a string',
    query: `INSERT INTO edits SELECT a AS __time, t FROM ${EXTERN} PARTITIONED BY DAY`,
    message: /__time must be a TIMESTAMP, found VARCHAR/,
  },
  {
    name: 'a column named twice',
    query: `INSERT INTO edits SELECT MILLIS_TO_TIMESTAMP(t) AS __time, a, t AS a FROM ${EXTERN} PARTITIONED BY DAY`,
    message: /two columns named a/,
  },
  { name: 'EXPLAIN', query: `EXPLAIN PLAN FOR ${SELECT}`, message: /EXPLAIN/ },
];
const other = [
  { name: '__time', type: 'LONG' },
  { name: 'a', type: 'STRING' },
];
for (const { name, query, mode, message } of statements) {
  specs(`SQL: ${name}`, () => {
    const payload = { type: 'query_controller', spec: { query, context: { maxNumTasks: 2 }, schema: { tables: { other } } } };
    const validate = (): unknown => validateTask(payload, 0).mode;
    if (message === undefined) assert.equal(validate(), mode);
    else assert.throws(validate, message);
  });
}
specs.run();

// Specs and queries of the original's integration tests: which go together, and what stands for their placeholders.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const RESOURCES = 'embedded-tests/src/test/resources';
const DYNAMIC = { type: 'dynamic', maxRowsPerSegment: 5_000_000, maxTotalRows: null };
const HASHED = { type: 'hashed', targetRowsPerSegment: null, numShards: 2, partitionDimensions: [] };
const SINGLE = {
  type: 'single_dim',
  targetRowsPerSegment: 2,
  maxRowsPerSegment: null,
  partitionDimension: 'namespace',
  assumeGrouped: false,
};

/** Names in the order of their columns, as the tests give it for Avro. */
const AVRO_SCHEMA = {
  namespace: 'org.apache.druid.data.input',
  type: 'record',
  name: 'wikipedia',
  fields: [
    ...[
      'timestamp',
      'page',
      'language',
      'user',
      'unpatrolled',
      'newPage',
      'robot',
      'anonymous',
      'namespace',
      'continent',
      'country',
      'region',
      'city',
    ].map((name) => ({ name, type: 'string' })),
    ...['added', 'deleted', 'delta'].map((name) => ({ name, type: 'int' })),
  ],
};

const local = (format, filter, more = {}) => ({
  PARTITIONS_SPEC: DYNAMIC,
  INPUT_SOURCE_FILTER: filter,
  INPUT_SOURCE_BASE_DIR: `data/${format.type === 'avro_ocf' ? 'avro' : format.type}`,
  INPUT_FORMAT: format,
  APPEND_TO_EXISTING: false,
  DROP_EXISTING: false,
  FORCE_GUARANTEED_ROLLUP: false,
  ...more,
});
const HEADER = { findColumnsFromHeader: true };
const TINY = local({ type: 'json' }, 'tiny_wiki*');
const FORMATS = [
  ['json', TINY],
  ['csv', local({ type: 'csv', ...HEADER }, '*.csv')],
  ['tsv', local({ type: 'tsv', ...HEADER }, '*.tsv')],
  ['parquet', local({ type: 'parquet' }, '*.parquet')],
  ['avro', local({ type: 'avro_ocf' }, '*.avro')],
  ['avro with a schema', local({ type: 'avro_ocf', schema: AVRO_SCHEMA }, '*.avro')],
  ['orc', local({ type: 'orc' }, '*.orc')],
];
const NOT_AWAITED = { SEGMENT_AVAIL_TIMEOUT_MILLIS: '0' };
const PARALLEL = [
  ['dynamic', { PARTITIONS_SPEC: DYNAMIC, FORCE_GUARANTEED_ROLLUP: false }],
  ['hashed', { PARTITIONS_SPEC: HASHED, FORCE_GUARANTEED_ROLLUP: true }],
  ['single_dim', { PARTITIONS_SPEC: SINGLE, FORCE_GUARANTEED_ROLLUP: true }],
];
const index = (spec, queries, values = {}) => [{ load: `indexer/${spec}.json`, values, queries: queries && `indexer/${queries}.json` }];
const msq = (spec, queries, again = undefined, queriesAgain = undefined) => [
  { statement: `multi-stage-query/${spec}.sql`, queries: queries && `multi-stage-query/${queries}.json` },
  ...(again === undefined
    ? []
    : [{ statement: `multi-stage-query/${again}.sql`, again: true, queries: `multi-stage-query/${queriesAgain}.json` }]),
];
const reindex = (spec, queries, values = {}) => [{ load: `indexer/${spec}.json`, again: true, values, queries: `indexer/${queries}.json` }];
const compact = (spec, values, queries) => [{ load: `indexer/${spec}.json`, values, queries: `indexer/${queries}.json` }];
const LOADED = index('wikipedia_index_task', undefined, NOT_AWAITED);

/** Steps by the name of the test. */
const TESTS = {
  'index task': index('wikipedia_index_task', 'wikipedia_index_queries', NOT_AWAITED),
  'index task that waits for its segments': index('wikipedia_index_task', 'wikipedia_index_queries', {
    SEGMENT_AVAIL_TIMEOUT_MILLIS: '600000',
  }),
  'index task that does not wait long': index('wikipedia_index_task', undefined, { SEGMENT_AVAIL_TIMEOUT_MILLIS: '1' }),
  'system tables': index('wikipedia_index_task', 'sys_segment_batch_index_queries', NOT_AWAITED),
  'index task with a column of times': index('wikipedia_with_timestamp_index_task', 'wikipedia_index_queries'),
  'index task with few columns merged at once': index('wikipedia_index_with_merge_column_limit_task', 'wikipedia_index_queries'),
  reindex: [...LOADED, ...reindex('wikipedia_reindex_task', 'wikipedia_reindex_queries')],
  'reindex by the druid source': [...LOADED, ...reindex('wikipedia_reindex_druid_input_source_task', 'wikipedia_reindex_queries')],
  'reindex of nothing': [{ load: 'indexer/wikipedia_reindex_druid_input_source_task.json', again: true }],
  'first and last': index('wikipedia_merge_index_task', 'wikipedia_merge_index_queries'),
  'first and last, reindexed': [
    ...index('wikipedia_merge_index_task', undefined),
    ...reindex('wikipedia_merge_reindex_task', 'wikipedia_merge_index_queries'),
  ],
  'first and last, reindexed by the druid source': [
    ...index('wikipedia_merge_index_task', undefined),
    ...reindex('wikipedia_merge_reindex_druid_input_source_task', 'wikipedia_merge_index_queries'),
  ],
  'functions in paths': index('json_path_index_task', 'json_path_index_queries'),
  transforms: [
    ...index('wikipedia_index_task_with_inputsource_transform', 'wikipedia_index_queries_with_transform'),
    ...reindex('wikipedia_reindex_druid_input_source_task_with_transforms', 'wikipedia_reindex_queries_with_transforms'),
  ],
  ...Object.fromEntries(
    FORMATS.map(([name, values]) => [`local ${name}`, index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries', values)]),
  ),
  ...Object.fromEntries(
    FORMATS.filter(([name]) => !['csv', 'tsv'].includes(name)).map(([name, values]) => [
      `columns found in ${name}`,
      index('wikipedia_local_input_source_index_task_schemaless', 'wikipedia_index_schemaless_queries', {
        ...values,
        USE_NESTED_COLUMN_INDEXER: true,
      }),
    ]),
  ),
  ...Object.fromEntries(
    PARALLEL.map(([name, values]) => [
      `parallel, ${name}`,
      [
        ...index('wikipedia_parallel_index_task', 'wikipedia_parallel_index_queries', { ...values, ...NOT_AWAITED }),
        ...reindex('wikipedia_parallel_ingest_segment_index_task', 'wikipedia_parallel_index_queries', values),
        ...reindex('wikipedia_parallel_druid_input_source_index_task', 'wikipedia_parallel_index_queries', values),
      ],
    ]),
  ),
  combining: [
    ...index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries', TINY),
    {
      load: 'indexer/wikipedia_combining_input_source_index_parallel_task.json',
      combined: true,
      values: { ...TINY, INPUT_SOURCE_BASE_DIR: 'data/json' },
      queries: 'indexer/wikipedia_combining_input_source_index_queries.json',
    },
  ],
  dropExisting: [
    ...index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries', TINY),
    ...index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries_only_data3', {
      ...TINY,
      INPUT_SOURCE_FILTER: 'tiny_wiki_3.json',
      DROP_EXISTING: true,
    }),
  ],
  'no dropExisting': [
    ...index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries', TINY),
    ...index('wikipedia_local_input_source_index_task', 'wikipedia_index_queries', { ...TINY, INPUT_SOURCE_FILTER: 'tiny_wiki_3.json' }),
  ],
  compaction: [...LOADED, ...compact('wikipedia_compaction_task', {}, 'wikipedia_index_queries')],
  'compaction by segmentGranularity': [
    ...LOADED,
    ...compact('wikipedia_compaction_task_with_segment_granularity', { SEGMENT_GRANULARITY: 'DAY' }, 'wikipedia_index_queries'),
  ],
  'compaction by granularitySpec': [
    ...LOADED,
    ...compact(
      'wikipedia_compaction_task_with_granularity_spec',
      { GRANULARITY_SPEC: { segmentGranularity: 'DAY', queryGranularity: 'SECOND' } },
      'wikipedia_index_queries',
    ),
  ],
  'MSQ inline': msq('msq_inline', 'json_path_index_queries'),
  'MSQ sparse columns': msq('sparse_column_msq', 'sparse_column_msq'),
  'MSQ index': msq('wikipedia_index_msq', 'wikipedia_index_queries'),
  'MSQ first and last': msq('wikipedia_merge_index_msq', 'wikipedia_merge_index_queries'),
  'MSQ transforms': msq('wikipedia_index_task_with_transform', 'wikipedia_index_queries_with_transform'),
  'MSQ reindex': msq('wikipedia_index_msq', undefined, 'wikipedia_reindex_msq', 'wikipedia_reindex_queries'),
  'MSQ first and last, reindexed': msq(
    'wikipedia_merge_index_msq',
    undefined,
    'wikipedia_merge_reindex_msq',
    'wikipedia_merge_index_queries',
  ),
  'MSQ transforms, reindexed': msq(
    'wikipedia_index_task_with_transform',
    undefined,
    'wikipedia_reindex_with_transform_msq',
    'wikipedia_reindex_queries_with_transforms',
  ),
};

const TIME_OF_ALL = 'the timestamp of a row under granularity all (docs/differences.md, `all-timestamp`)';

/** Why a test or step that is missed is missed. */
export const CAUSES = [
  { what: /^spec: .*\borc\b/, cause: 'no reader of ORC' },
  { what: /^spec: functions in paths: .*timeseries/, cause: TIME_OF_ALL },
  { what: /^spec: MSQ (inline: .*timeseries|sparse columns: .*roll up ratio)/, cause: TIME_OF_ALL },
  { what: /^update by REPLACE: .*hour/, cause: 'a segment is not replaced in part yet' },
];

/** Statements of tests are written for the original's folder of data. */
export const SPEC_TESTS = Object.fromEntries(
  Object.entries(TESTS).map(([name, steps], number) => [`spec: ${name}`, (t) => runSteps(t, steps, `spec_${number}`)]),
);

async function runSteps(t, steps, table) {
  for (const [at, step] of steps.entries()) {
    const target = step.again === true || step.combined === true ? `${table}_${at}` : table;
    const file = step.load ?? step.statement;
    const text = filled(t, file, {
      DATASOURCE: step.combined === true ? target : table,
      COMBINING_DATASOURCE: table,
      REINDEX_DATASOURCE: target,
      DATA_DIRECTORY: 'data',
      ...step.values,
    });
    if (step.statement === undefined) await t.task(file, JSON.parse(text));
    else await t.load(file, text, undefined, { finalizeAggregations: false, maxNumTasks: 5, groupByEnableMultiValueUnnesting: false });
    if (step.queries === undefined) continue;
    for (const [number, { description, query, expectedResults, fieldsToTest }] of JSON.parse(
      filled(t, step.queries, { DATASOURCE: target }),
    ).entries()) {
      const view = (rows) => pick(rows, fieldsToTest);
      const name = `${step.queries}, ${number}: ${description ?? ''}`;
      if (query.queryType === undefined) await t.sqlLike(name, query.query, view, pick(expectedResults, fieldsToTest));
      else await t.native(name, query, pick(expectedResults, fieldsToTest), view);
    }
  }
}

/** The text of a resource with its placeholders filled: strings in place, other values as JSON. */
function filled(t, file, values) {
  const text = readFileSync(join(t.tree, RESOURCES, file), 'utf8');
  return text.replace(/%%([A-Z_]+)%%/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return name === 'SEGMENT_AVAIL_TIMEOUT_MILLIS' || typeof value !== 'string' ? JSON.stringify(value) : value;
  });
}

/** The tests compare only the fields that they name, if they name any. */
function pick(rows, fields) {
  if (!Array.isArray(rows)) return rows;
  return fields === undefined ? rows : rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])));
}

/** Resources that no test here reads. */
export function unusedResources(tree) {
  const used = new Set(
    Object.values(TESTS).flatMap((steps) => steps.flatMap(({ load, statement, queries }) => [load, statement, queries])),
  );
  return ['indexer', 'multi-stage-query'].flatMap((folder) =>
    readdirSync(join(tree, RESOURCES, folder)).flatMap((file) => (used.has(`${folder}/${file}`) ? [] : [`${folder}/${file}`])),
  );
}

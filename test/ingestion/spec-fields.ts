/** Tables of the fields that the public reference documents of native batch tasks, with a value for each. */

export interface Field {
  readonly name: string;
  /** A value other than the default. */
  readonly value: unknown;
  /** Fate of the field: read, told to be without effect, refused by name, or a hint of the reference that changes nothing that can be told. */
  readonly fate: 'honoured' | 'inert' | 'refused' | 'accepted';
  /** A value that means nothing; left out: every value means something, or the field is refused anyway. */
  readonly wrong?: unknown;
  /** Further fields that the value needs beside it. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

export interface Place {
  /** Path of the object in a spec, elements of lists by number. */
  readonly path: readonly (string | number)[];
  /** Object in its place, if that of `base` is not meant. */
  readonly object?: Readonly<Record<string, unknown>>;
  readonly fields: readonly Field[];
}

export const base = {
  dataSchema: {
    dataSource: 'edits',
    timestampSpec: { column: 'time', format: 'iso' },
    dimensionsSpec: {
      dimensions: [
        { type: 'string', name: 'page' },
        { type: 'long', name: 'delta' },
      ],
    },
    metricsSpec: [{ type: 'count', name: 'n' }],
    granularitySpec: {
      type: 'uniform',
      segmentGranularity: 'day',
      queryGranularity: 'none',
      rollup: true,
      intervals: ['2015-09-12/2015-09-13'],
    },
    transformSpec: { transforms: [{ type: 'expression', name: 'p', expression: 'page' }], filter: null },
  },
  ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } },
  tuningConfig: { type: 'index_parallel' },
};

export const honoured = (name: string, value: unknown, wrong?: unknown, beside?: Field['beside']): Field => ({
  ...{ name, value, fate: 'honoured' },
  ...(wrong === undefined ? {} : { wrong }),
  ...(beside === undefined ? {} : { beside }),
});
export const inert = (name: string, value: unknown, wrong: unknown): Field => ({ name, value, fate: 'inert', wrong });
export const refused = (name: string, value: unknown): Field => ({ name, value, fate: 'refused' });
export const accepted = (name: string, value: unknown, wrong?: unknown): Field => ({
  ...{ name, value, fate: 'accepted' },
  ...(wrong === undefined ? {} : { wrong }),
});

export const INDEX_SPEC = {
  bitmap: { type: 'concise' },
  dimensionCompression: 'zstd',
  stringDictionaryEncoding: { type: 'frontCoded', bucketSize: 16, formatVersion: 1 },
  metricCompression: 'none',
  longEncoding: 'auto',
  complexMetricCompression: 'lz4',
  jsonCompression: 'lzf',
};

export const PLACES: readonly Place[] = [
  {
    path: ['ioConfig'],
    fields: [
      honoured('inputFormat', { type: 'csv', columns: ['time'] }, 'csv'),
      honoured('appendToExisting', true, 'maybe'),
      honoured('dropExisting', true, 'maybe'),
      refused('firehose', { type: 'local' }),
    ],
  },
  {
    path: ['tuningConfig'],
    fields: [
      honoured('maxRowsInMemory', 1000, 'many'),
      honoured('maxBytesInMemory', 1 << 20, 'many'),
      inert('skipBytesInMemoryOverheadCheck', true, 'maybe'),
      inert('maxColumnsToMerge', 10, 'few'),
      inert('maxTotalRows', 1000, 'few'),
      refused('numShards', 3),
      refused('partitionDimensions', ['page']),
      honoured('splitHintSpec', { type: 'maxSize', maxSplitSize: 1000 }, 'small'),
      honoured('partitionsSpec', { type: 'dynamic', maxRowsPerSegment: 10 }, 'dynamic'),
      honoured('maxRowsPerSegment', 10, 'few'),
      inert('indexSpec', INDEX_SPEC, { dimensionCompression: 'gzip' }),
      inert('indexSpecForIntermediatePersists', { bitmap: { type: 'roaring' } }, { bitmap: { type: 'huge' } }),
      inert('appendableIndexSpec', { type: 'onheap', preserveExistingMetrics: false }, { type: 'onheap', preserveExistingMetrics: true }),
      inert('maxPendingPersists', 3, 'three'),
      honoured('forceGuaranteedRollup', true, 'maybe'),
      honoured('reportParseExceptions', true, 'maybe'),
      honoured('logParseExceptions', true, 'maybe'),
      honoured('maxParseExceptions', 7, 'seven'),
      honoured('maxSavedParseExceptions', 7, 'seven'),
      inert('pushTimeout', 1000, 'PT1S'),
      inert('segmentWriteOutMediumFactory', { type: 'tmpFile' }, { type: 'floppy' }),
      honoured('maxNumConcurrentSubTasks', 4, 0),
      honoured('maxRetry', 1, -1),
      inert('maxNumSegmentsToMerge', 7, 'seven'),
      honoured('totalNumMergeTasks', 3, 0),
      honoured('taskStatusCheckPeriodMs', 500, 0),
      inert('chatHandlerTimeout', 'PT10S', 'ten'),
      inert('chatHandlerNumRetries', 5, 'five'),
      honoured('awaitSegmentAvailabilityTimeoutMillis', 1000, 'PT1S'),
      honoured('maxAllowedLockCount', 5, 'five'),
    ],
  },
  {
    path: ['tuningConfig', 'splitHintSpec'],
    object: { type: 'maxSize' },
    fields: [honoured('maxSplitSize', '1MiB', 'small'), honoured('maxNumFiles', 3, 0)],
  },
  {
    path: ['tuningConfig', 'splitHintSpec'],
    object: { type: 'segments' },
    fields: [honoured('maxInputSegmentBytesPerTask', '1MiB', 'small'), honoured('maxNumSegments', 3, 0)],
  },
  {
    path: ['tuningConfig', 'partitionsSpec'],
    object: { type: 'dynamic' },
    fields: [honoured('maxRowsPerSegment', 10, 'few'), inert('maxTotalRows', 10, 'few')],
  },
  {
    path: ['tuningConfig', 'partitionsSpec'],
    object: { type: 'hashed' },
    fields: [
      honoured('numShards', 3, 'three'),
      honoured('targetRowsPerSegment', 10, 'few'),
      honoured('maxRowsPerSegment', 10, 'few'),
      honoured('partitionDimensions', ['page'], 'page'),
      // There is one function, whose name may be written.
      accepted('partitionFunction', 'murmur3_32_abs', 'md5'),
    ],
  },
  {
    path: ['tuningConfig', 'partitionsSpec'],
    object: { type: 'single_dim', partitionDimension: 'page', targetRowsPerSegment: 7 },
    fields: [
      honoured('partitionDimension', 'user', 7),
      honoured('targetRowsPerSegment', 9, 'few'),
      honoured('maxRowsPerSegment', 9, 'few', { targetRowsPerSegment: null }),
      // Rows are counted as they are, grouped or not.
      accepted('assumeGrouped', true, 'maybe'),
    ],
  },
  {
    path: ['tuningConfig', 'partitionsSpec'],
    object: { type: 'range', partitionDimensions: ['page'], targetRowsPerSegment: 7 },
    fields: [
      honoured('partitionDimensions', ['page', 'user'], 'page'),
      honoured('targetRowsPerSegment', 9, 'few'),
      honoured('maxRowsPerSegment', 9, 'few', { targetRowsPerSegment: null }),
      accepted('assumeGrouped', true, 'maybe'),
    ],
  },
  {
    path: ['dataSchema'],
    fields: [
      honoured('dataSource', 'other', 'a/b'),
      honoured('timestampSpec', { column: 'other' }, 'time'),
      honoured('dimensionsSpec', { dimensions: ['page'] }, 'page'),
      honoured('metricsSpec', [], 'count'),
      honoured('granularitySpec', { segmentGranularity: 'hour' }, 'hour'),
      honoured('transformSpec', { transforms: [] }, 'none'),
      refused('projections', [{ type: 'aggregate' }]),
      refused('parser', { type: 'string' }),
    ],
  },
  {
    path: ['dataSchema', 'timestampSpec'],
    // Formats have a table of their own below, by what they make of a text.
    fields: [honoured('column', 'other', 7), accepted('format', 'posix', 'yyyy-QQQQQ['), honoured('missingValue', '2000-01-01', 'never')],
  },
  {
    path: ['dataSchema', 'dimensionsSpec'],
    object: { dimensions: [] },
    fields: [
      honoured('dimensions', ['page'], 'page'),
      honoured('dimensionExclusions', ['user'], 'user'),
      honoured('spatialDimensions', [{ dimName: 'place', dims: ['x', 'y'] }], 'place'),
      honoured('useSchemaDiscovery', true, 'maybe'),
      refused('forceSegmentSortByTime', false),
    ],
  },
  {
    path: ['dataSchema', 'dimensionsSpec'],
    fields: [honoured('includeAllDimensions', true, 'maybe')],
  },
  {
    path: ['dataSchema', 'dimensionsSpec', 'dimensions', 0],
    fields: [
      honoured('type', 'double', 'text'),
      honoured('name', 'user', 7),
      inert('createBitmapIndex', false, 'maybe'),
      honoured('multiValueHandling', 'ARRAY', 'SET'),
      refused('maxStringLength', 10),
    ],
  },
  {
    path: ['dataSchema', 'dimensionsSpec', 'dimensions', 0],
    object: { type: 'auto', name: 'page' },
    fields: [honoured('castToType', 'ARRAY<LONG>', 'DATE'), accepted('multiValueHandling', 'ARRAY', 'SET')],
  },
  {
    path: ['dataSchema', 'granularitySpec'],
    fields: [
      refused('type', 'arbitrary'),
      honoured('segmentGranularity', 'hour', 'moment'),
      honoured('queryGranularity', 'minute', 'moment'),
      honoured('rollup', false, 'maybe'),
      honoured('intervals', ['2015-09-12/2015-09-14'], ['yesterday']),
    ],
  },
  {
    path: ['dataSchema', 'transformSpec'],
    fields: [
      honoured('transforms', [{ type: 'expression', name: 'q', expression: 'page' }], 'page'),
      honoured('filter', { type: 'selector', dimension: 'page', value: 'x' }, { type: 'guess' }),
    ],
  },
  {
    path: ['dataSchema', 'transformSpec', 'transforms', 0],
    fields: [honoured('name', 'q', 7), honoured('expression', 'upper(page)', 'upper('), refused('type', 'javascript')],
  },
];

export const CONTEXT: readonly Field[] = [
  honoured('priority', 7, 'high'),
  honoured('subTaskTimeoutMillis', 1000, 'PT1S'),
  inert('forceTimeChunkLock', false, 'maybe'),
  inert('taskLockTimeout', 300_000, 'PT5M'),
  inert('useLineageBasedSegmentAllocation', true, 'maybe'),
  inert('lookupLoadingMode', 'ONLY_REQUIRED', 'SOME'),
  inert('lookupsToLoad', ['a'], 'a'),
  refused('storeEmptyColumns', false),
  refused('storeCompactionState', true),
];

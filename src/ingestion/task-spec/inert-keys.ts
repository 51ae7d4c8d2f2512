// Keys of task specs that are accepted and have no effect.

import type { ObjectReader } from '../../base/json-reader.js';

/** Reads a value that has no effect, so that one which means nothing is refused all the same. */
type Shape = (fields: ObjectReader, key: string) => unknown;

const boolean: Shape = (fields, key) => fields.boolean(key, false);
/** -1 stands for the default, or for no limit. */
const integer: Shape = (fields, key) => fields.optionalInteger(key, -1);
const bytes: Shape = (fields, key) => (fields.raw(key) === -1 ? undefined : fields.optionalBytes(key));
const text: Shape = (fields, key) => fields.optionalString(key);
const strings: Shape = (fields, key) => fields.strings(key);
/** A period, or milliseconds. */
const duration: Shape = (fields, key) => {
  const value = fields.raw(key);
  if (typeof value === 'number') return fields.optionalInteger(key, 0);
  if (value !== undefined && (typeof value !== 'string' || !/^-?P/i.test(value))) throw fields.mismatch(key, 'a period such as PT10S');
  return value;
};

const COMPRESSIONS = ['lz4', 'lzf', 'zstd', 'uncompressed', 'none'] as const;
const compression: Shape = (fields, key) => fields.has(key) && fields.choice(key, COMPRESSIONS);

/** The form of segments: that of this service is its own, and is not divided by columns of these kinds. */
const INDEX_SPEC: Readonly<Record<string, Shape>> = {
  bitmap: (fields, key) => fields.optionalObject(key)?.type(['roaring', 'concise']),
  dimensionCompression: compression,
  metricCompression: compression,
  complexMetricCompression: compression,
  jsonCompression: compression,
  longEncoding: (fields, key) => fields.has(key) && fields.choice(key, ['auto', 'longs']),
  stringDictionaryEncoding: dictionaryEncoding,
  jsonDictionaryEncoding: dictionaryEncoding,
  segmentLoader: (fields, key) => fields.optionalObject(key),
  autoColumnFormatSpec: (fields, key) => fields.optionalObject(key),
};

function dictionaryEncoding(fields: ObjectReader, key: string): void {
  const encoding = fields.optionalObject(key);
  encoding?.type(['utf8', 'frontCoded'], { otherwise: 'utf8' });
  encoding?.accept(['bucketSize', 'formatVersion']);
  encoding?.optionalInteger('bucketSize', 1, 128);
  encoding?.optionalInteger('formatVersion', 0, 1);
}

function indexSpec(fields: ObjectReader, key: string): void {
  const spec = fields.optionalObject(key);
  if (spec === undefined) return;
  spec.accept(Object.keys(INDEX_SPEC));
  for (const [name, shape] of Object.entries(INDEX_SPEC)) shape(spec, name);
}

function appendableIndexSpec(fields: ObjectReader, key: string): void {
  const spec = fields.optionalObject(key);
  spec?.type(['onheap', 'offheap'], { otherwise: 'onheap' });
  spec?.accept(['preserveExistingMetrics']);
  // Rows whose metrics are there already are read from datasources, which tell what they are.
  if (spec?.boolean('preserveExistingMetrics', false) === true)
    throw spec.unsupported('preserveExistingMetrics', 'read metrics that are there already with a druid inputSource');
}

/**
 * Keys of the public task spec that existing clients send and that have nothing left to do here: they tune machinery
 * (Java heap, codecs) that this service does not have.
 */
export const INERT_KEYS = {
  tuningConfig: {
    appendableIndexSpec,
    skipBytesInMemoryOverheadCheck: boolean,
    maxTotalRows: integer,
    indexSpec,
    indexSpecForIntermediatePersists: indexSpec,
    maxPendingPersists: integer,
    pushTimeout: integer,
    segmentWriteOutMediumFactory: (fields, key) => fields.optionalObject(key)?.type(['tmpFile', 'offHeapMemory', 'onHeapMemory']),
    // Sub-tasks tell what they did through the Overlord, and wait for one that leads.
    chatHandlerTimeout: duration,
    chatHandlerNumRetries: integer,
    maxNumSegmentsToMerge: integer,
    maxColumnsToMerge: integer,
    // Every segment can be added to, unless its chunk is divided.
    forceExtendableShardSpecs: boolean,
  },
  /** Threads, buffers and timeouts of streaming tasks. */
  streamTuning: {
    basePersistDirectory: text,
    numPersistThreads: integer,
    releaseLocksOnHandoff: boolean,
    workerThreads: integer,
    chatThreads: integer,
    chatAsync: boolean,
    httpTimeout: duration,
    shutdownTimeout: duration,
  },
  kinesisTuning: {
    recordBufferSize: integer,
    recordBufferSizeBytes: bytes,
    recordBufferOfferTimeout: integer,
    recordBufferFullWait: integer,
    fetchSequenceNumberTimeout: integer,
    fetchThreads: integer,
    repartitionTransitionDuration: duration,
    useListShards: boolean,
    maxRecordsPerPollPerPartition: integer,
  },
  /** Segments are pushed when all rows are read. */
  dynamicPartitions: { maxTotalRows: integer },
  /** Whether a bitmap index pays is decided by the writer of segments, for each column. */
  dimension: { createBitmapIndex: boolean },
  /** Columns are read as far as the data schema names them; the last key divides the input between sub-tasks. */
  druidSource: { dimensions: strings, metrics: strings, maxInputSegmentBytesPerTask: bytes },
  /** Chunked encoding is one of uploads. */
  s3Client: { disableChunkedEncoding: boolean },
  /** For splitting a file between sub-tasks. */
  inputFormat: { assumeNewlineDelimited: boolean },
  /** Keys of a task's context: locks are of time chunks, and are waited for; lookups travel with plans. */
  taskContext: {
    forceTimeChunkLock: boolean,
    useLineageBasedSegmentAllocation: boolean,
    taskLockTimeout: integer,
    lookupLoadingMode: (fields, key) => fields.has(key) && fields.choice(key, ['ALL', 'NONE', 'ONLY_REQUIRED']),
    lookupsToLoad: strings,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Shape>>>>;

/**
 * Refuses every key but these and `type`, and values of inert ones that mean nothing.
 * @param inert  keys whose values have no effect, which are listed as such
 */
export function acceptWithInert(fields: ObjectReader, keys: readonly string[], inert: Readonly<Record<string, Shape>>): void {
  const shapes = Object.entries(inert).filter(([key]) => !keys.includes(key));
  fields.accept(
    keys,
    shapes.map(([key]) => key),
  );
  for (const [key, shape] of shapes) shape(fields, key);
}

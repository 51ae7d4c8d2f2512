// Every documented context key, and what becomes of it in native queries and in statements.

import { RUN_LIMITS } from '../model/run-limits.js';

/**
 * Treatment of a context key in requests of one language.
 *
 * `honoured`: read, by `readContext`, `readSqlContext` or the query type that it concerns. `nothing`: chooses between ways
 * to the same answer, of which there is one only here, or sizes what is not there: accepted, with nothing left to do.
 * `elsewhere`: concerns SQL statements and ingestion tasks, and a native query is neither. `task`: left to the task that a
 * statement becomes; a query that is answered at once has no use for it. A list: asks for another answer, or a limit that nobody would keep: refused by name, except with these
 * values, which ask for what happens anyway.
 */
type KeyTreatment = 'honoured' | 'nothing' | 'elsewhere' | 'task' | readonly unknown[];

export interface KeyTreatments {
  readonly native: KeyTreatment;
  readonly sql: KeyTreatment;
}

type Row = readonly [keys: string, native: KeyTreatment, sql: KeyTreatment];

/** Every documented context key, those that are treated alike in one row. A key that is not here belongs to the user. */
const ROWS: readonly Row[] = [
  [Object.keys(RUN_LIMITS).join(' '), 'honoured', 'honoured'],
  [
    'timeout priority queryId kernels exactSums profile realtimeSegmentsOnly lane useCache populateCache useResultLevelCache ' +
      'populateResultLevelCache',
    'honoured',
    'honoured',
  ],
  ['skipEmptyBuckets', 'honoured', 'honoured'],
  ['finalize sortByDimsFirst resultAsArray', 'honoured', 'nothing'],
  ['bySegment grandTotal serializeDateTimeAsLong', 'honoured', [false]],
  ['groupByEnableMultiValueUnnesting', 'honoured', 'honoured'],
  ['brokerService', [null], [null]],
  [
    'maxQueuedBytes enableParallelMerge enableParallelMerges ' +
      'parallelMergeParallelism parallelMergeInitialYieldRows parallelMergeSmallBatchRows useFilterCNF secondaryPartitionPruning debug setProcessingThreadNames ' +
      'cloneQueryMode minTopNThreshold enableJoinFilterPushDown enableJoinFilterRewrite enableJoinFilterRewriteValueColumnFilters enableRewriteJoinToFilter ' +
      'joinFilterRewriteMaxSize enableJoinLeftTableScanDirect vectorize vectorSize vectorizeVirtualColumns forceExpressionVirtualColumns groupByIsSingleThreaded ' +
      'bufferGrouperInitialBuckets bufferGrouperMaxLoadFactor forceHashAggregation intermediateCombineDegree numParallelCombineThreads mergeThreadLocal ' +
      'forceLimitPushDown applyLimitPushDownToSegment deferExpressionDimensions maxSegmentPartitionsOrderedInMemory searchStrategy ' +
      'maxSelectorDictionarySize maxMergingDictionarySize maxSpillFileCount serializeDateTimeAsLongInner',
    'nothing',
    'nothing',
  ],
  [
    'sqlQueryId sqlTimeZone sqlOuterLimit plannerRulesOff sqlStringifyArrays useNativeQueryExplain maxRowsMaterializedInWindow',
    'elsewhere',
    'honoured',
  ],
  [
    'rowsPerSegment maxParseExceptions waitUntilSegmentsLoad selectDestination rowsPerPage useConcurrentLocks taskLockType ' +
      'maxNumTasks taskAssignment faultTolerance maxInputFilesPerWorker maxPartitions maxNumSegments finalizeAggregations ' +
      'sqlJoinAlgorithm maxRowsInMemory rowsInMemory durableShuffleStorage skipTypeVerification storeCompactionState includeAllCounters ' +
      'maxFrameSize maxThreads executionMode forceSegmentSortByTime arrayIngestMode segmentSortOrder failOnEmptyInsert removeNullBytes ' +
      'indexSpec includeSegmentSource',
    'elsewhere',
    'task',
  ],
  // Counts of distinct values are exact here, and top lists complete.
  [
    'sqlPlannerBloat useApproximateCountDistinct useGroupingSetForExactDistinct useApproximateTopN useLexicographicTopN ' +
      'enableTimeBoundaryPlanning sqlFinalizeOuterSketches sqlUseBoundAndSelectors sqlUseExtractionFns sqlReverseLookup sqlReverseLookupThreshold ' +
      'sqlPullUpLookup inFunctionThreshold inFunctionExprThreshold inSubQueryThreshold ' +
      'maxConcurrentStages maxNonLeafWorkers targetPartitionsPerWorker engine',
    'elsewhere',
    'nothing',
  ],
  ['maxNumericInFilters', 'elsewhere', [-1]],
];

export const CONTEXT_KEYS: ReadonlyMap<string, KeyTreatments> = new Map(
  ROWS.flatMap(([keys, native, sql]) => keys.split(' ').map((key) => [key, { native, sql }])),
);

/** Names of all rows, a name as often as it stands there: a test sees to it that none does twice. */
export const CONTEXT_KEY_NAMES: readonly string[] = ROWS.flatMap(([keys]) => keys.split(' '));

/** Keys that are refused, with the values that are accepted nevertheless. */
export function refusedKeys(language: keyof KeyTreatments): readonly (readonly [key: string, accepted: readonly unknown[]])[] {
  return [...CONTEXT_KEYS].flatMap(([key, { [language]: treatment }]) => (typeof treatment === 'string' ? [] : [[key, treatment]]));
}

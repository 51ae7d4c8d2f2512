// Context keys of native queries: honoured, of no effect, or refused.

import { RUN_LIMITS } from '../../model/run-limits.js';

/** Lists of the documented context keys by their treatment in native queries. A key outside of all lists belongs to the user. */

/** Read by `readContext` or by the query type it concerns. */
export const HONOURED_KEYS: readonly string[] = [
  ...Object.keys(RUN_LIMITS),
  'timeout',
  'priority',
  'queryId',
  'skipEmptyBuckets',
  'finalize',
  'grandTotal',
  'sortByDimsFirst',
  'serializeDateTimeAsLong',
  'resultAsArray',
  'kernels',
  'exactSums',
  'profile',
  'bySegment',
  'realtimeSegmentsOnly',
  'groupByEnableMultiValueUnnesting',
  'lane',
  'useCache',
  'populateCache',
  'useResultLevelCache',
  'populateResultLevelCache',
];

/**
 * They choose between ways to the same answer, of which there is only one here, or tune one that is not there:
 * accepted, with nothing left to do.
 */
export const NOTHING_TO_DO_KEYS: readonly string[] = (
  'maxQueuedBytes enableParallelMerge enableParallelMerges ' +
  'parallelMergeParallelism parallelMergeInitialYieldRows parallelMergeSmallBatchRows useFilterCNF secondaryPartitionPruning debug setProcessingThreadNames ' +
  'cloneQueryMode minTopNThreshold enableJoinFilterPushDown enableJoinFilterRewrite enableJoinFilterRewriteValueColumnFilters enableRewriteJoinToFilter ' +
  'joinFilterRewriteMaxSize enableJoinLeftTableScanDirect vectorize vectorSize vectorizeVirtualColumns forceExpressionVirtualColumns groupByIsSingleThreaded ' +
  'bufferGrouperInitialBuckets bufferGrouperMaxLoadFactor forceHashAggregation intermediateCombineDegree numParallelCombineThreads mergeThreadLocal ' +
  'forceLimitPushDown applyLimitPushDownToSegment deferExpressionDimensions maxSegmentPartitionsOrderedInMemory searchStrategy ' +
  'maxSelectorDictionarySize maxMergingDictionarySize maxSpillFileCount serializeDateTimeAsLongInner'
).split(' ');

/** They concern SQL statements and ingestion tasks; a native query is neither. */
export const SQL_ONLY_KEYS: readonly string[] = (
  'sqlPlannerBloat plannerRulesOff sqlQueryId sqlTimeZone sqlOuterLimit sqlStringifyArrays useApproximateCountDistinct useGroupingSetForExactDistinct useApproximateTopN useLexicographicTopN ' +
  'enableTimeBoundaryPlanning useNativeQueryExplain sqlFinalizeOuterSketches sqlUseBoundAndSelectors sqlUseExtractionFns sqlReverseLookup sqlReverseLookupThreshold ' +
  'sqlPullUpLookup maxNumericInFilters inFunctionThreshold inFunctionExprThreshold inSubQueryThreshold maxNumTasks taskAssignment finalizeAggregations ' +
  'arrayIngestMode sqlJoinAlgorithm maxRowsInMemory rowsInMemory segmentSortOrder forceSegmentSortByTime maxParseExceptions rowsPerSegment indexSpec ' +
  'durableShuffleStorage faultTolerance selectDestination waitUntilSegmentsLoad includeSegmentSource rowsPerPage skipTypeVerification failOnEmptyInsert ' +
  'storeCompactionState removeNullBytes includeAllCounters maxFrameSize maxInputFilesPerWorker maxPartitions maxThreads maxConcurrentStages maxNonLeafWorkers ' +
  'targetPartitionsPerWorker executionMode engine useConcurrentLocks taskLockType'
).split(' ');

/**
 * They ask for another answer or for a limit that nobody would keep: refused by name, except with the value that asks
 * for what happens anyway.
 */
export const REFUSED_KEYS: Readonly<Record<string, { readonly unless: unknown }>> = {
  brokerService: { unless: null },
};

// Context keys of an SQL ingestion task.

import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { sqlNames } from '../../planner/sql/context.js';
import { MAX_ROWS_IN_MEMORY } from '../task-spec/tuning-config.js';
import { QueryFault } from './query-fault.js';

/** Context keys of a statement that change how its task runs. */
export interface QuerySettings {
  readonly rowsPerSegment: number;
  readonly maxParseExceptions: number;
  readonly maxRowsInMemory: number;
  readonly failOnEmptyInsert: boolean;
  /** Whether the task ends only once its segments are served. */
  readonly waitUntilSegmentsLoad: boolean;
  /** Dimensions that rows are sorted by after their time, before all others; null: those of CLUSTERED BY. */
  readonly segmentSortOrder: readonly string[] | null;
  /** Destination of the results of a SELECT. */
  readonly selectDestination: 'taskReport' | 'durableStorage';
  /** Rows after which a page of durable results ends. */
  readonly rowsPerPage: number;
  /** `mvd`: arrays of strings are stored as strings of several values. */
  readonly arrayIngestMode: 'array' | 'mvd';
  /** Workers beside the controller. */
  readonly workers: number;
  /** `auto`: no more workers than the size of the input asks for. */
  readonly taskAssignment: 'max' | 'auto';
  /** Whether the work of a worker whose process has died is done again. */
  readonly faultTolerance: boolean;
  /** Way to join: `broadcast` holds right sides in memory, `sortMerge` divides both sides by their keys; null: as their size asks for. */
  readonly joinAlgorithm: 'broadcast' | 'sortMerge' | null;
  readonly maxInputFilesPerWorker: number;
  /** Segments that a statement may make. */
  readonly maxPartitions: number;
  /** Segments that it may make in one time chunk; null: as many as in all. */
  readonly maxNumSegments: number | null;
  /** Bytes of a row, and of the rows that are written together between stages; null: rows may be of any size. */
  readonly maxFrameSize: number | null;
  /** Whether strings of EXTERN lose their NUL characters. */
  readonly removeNullBytes: boolean;
  /** Whether reports have the counters that came with version 31 of the original. */
  readonly includeAllCounters: boolean;
}

const ROWS_PER_SEGMENT = 3_000_000;
const ROWS_PER_PAGE = 100_000;
const INPUT_FILES_PER_WORKER = 10_000;
const PARTITIONS = 25_000;
const WORKERS_MAX = 1000;

export const NO_RESULT_STORAGE =
  'context.selectDestination: durableStorage needs svc.msq.intermediate.storage.enable=true; expected taskReport';

/** Keys with one value that means what is done anyway; any other is refused rather than passed over. */
const FIXED: Readonly<Record<string, { readonly value: unknown; readonly because: string }>> = {
  forceSegmentSortByTime: { value: true, because: 'segments are sorted by __time first' },
  includeSegmentSource: { value: 'NONE', because: 'rows of tasks that still run are not read' },
  storeCompactionState: { value: false, because: 'segments do not keep how they were made' },
  uncoveredIntervalsLimit: { value: 0, because: 'a task has no answer whose header could tell them' },
};

/** The context is open: keys that are not named here belong to the planner or to the user. */
export function parseQuerySettings(context: ObjectReader): QuerySettings {
  for (const [key, { value, because }] of Object.entries(FIXED)) {
    if (context.has(key) && String(context.raw(key)).toLowerCase() !== String(value).toLowerCase())
      throw context.unsupported(key, `expected ${String(value)}: ${because}`);
  }
  checkHints(context);
  const maxParseExceptions = context.optionalInteger('maxParseExceptions', -1) ?? 0;
  // An older name of the same.
  const rowsInMemory = context.optionalInteger('rowsInMemory', 1) ?? MAX_ROWS_IN_MEMORY;
  return {
    rowsPerSegment: context.optionalInteger('rowsPerSegment', 1) ?? ROWS_PER_SEGMENT,
    maxParseExceptions: maxParseExceptions < 0 ? Number.MAX_SAFE_INTEGER : maxParseExceptions,
    maxRowsInMemory: context.optionalInteger('maxRowsInMemory', 1) ?? rowsInMemory,
    failOnEmptyInsert: context.boolean('failOnEmptyInsert', false),
    waitUntilSegmentsLoad: context.boolean('waitUntilSegmentsLoad', false),
    segmentSortOrder: parseSortOrder(context),
    selectDestination: context.choice('selectDestination', ['taskReport', 'durableStorage'], 'taskReport'),
    rowsPerPage: context.optionalInteger('rowsPerPage', 1) ?? ROWS_PER_PAGE,
    arrayIngestMode: context.choice('arrayIngestMode', ['array', 'mvd'], 'array'),
    workers: parseWorkers(context),
    taskAssignment: context.choice('taskAssignment', ['max', 'auto'], 'max'),
    faultTolerance: parseFaultTolerance(context),
    joinAlgorithm: parseJoinAlgorithm(context),
    maxInputFilesPerWorker: context.optionalInteger('maxInputFilesPerWorker', 1) ?? INPUT_FILES_PER_WORKER,
    maxPartitions: context.optionalInteger('maxPartitions', 1) ?? PARTITIONS,
    maxNumSegments: context.optionalInteger('maxNumSegments', 1) ?? null,
    maxFrameSize: context.optionalInteger('maxFrameSize', 1) ?? null,
    removeNullBytes: context.boolean('removeNullBytes', false),
    includeAllCounters: context.boolean('includeAllCounters', true),
  };
}

/** Keys that change nothing, and still have to be right. */
function checkHints(context: ObjectReader): void {
  // A task computes on one thread, and no limit is lower.
  context.optionalInteger('maxThreads', 1);
  // Columns are compared with those of the datasource when the statement is submitted.
  sqlNames(context.members, 'skipTypeVerification');
  checkIndexSpec(context);
}

/** The one format of segments, in the words of an `indexSpec`. */
const INDEX_SPEC: Readonly<Record<string, unknown>> = {
  dimensionCompression: 'zstd',
  metricCompression: 'zstd',
  complexMetricCompression: 'zstd',
  jsonCompression: 'zstd',
  longEncoding: 'auto',
  stringDictionaryEncoding: { type: 'utf8' },
};

/** @throws ServiceError for an `indexSpec`, or one as JSON, that asks for another format than segments have */
function checkIndexSpec(context: ObjectReader): void {
  const value = context.raw('indexSpec');
  if (value === undefined) return;
  const spec = typeof value === 'string' ? jsonOrNull(value) : value;
  if (!isRecord(spec)) throw context.mismatch('indexSpec', 'an object, or one as JSON');
  const expected = stringifyJson(INDEX_SPEC);
  for (const [key, given] of Object.entries(spec)) {
    const own = new Map(Object.entries(INDEX_SPEC)).get(key);
    if (own === undefined || stringifyJson(given) !== stringifyJson(own))
      throw context.unsupported(
        'indexSpec',
        `segments have one format, in which ${key} is not ${stringifyJson(given)}; accepted: parts of ${expected}`,
      );
  }
}

function parseJoinAlgorithm(context: ObjectReader): QuerySettings['joinAlgorithm'] {
  if (!context.has('sqlJoinAlgorithm')) return null;
  const algorithm: 'broadcast' | 'sortMerge' = context.choice('sqlJoinAlgorithm', ['broadcast', 'sortMerge'], 'broadcast');
  return algorithm;
}

function jsonOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Workers of `maxNumTasks`, which counts the controller; one where rows are not to lie in durable storage, which is the way between workers. */
function parseWorkers(context: ObjectReader): number {
  // An older name of the same.
  const older = context.optionalInteger('numTasks', 2) ?? 2;
  const workers = (context.optionalInteger('maxNumTasks', 2) ?? older) - 1;
  if (workers <= WORKERS_MAX) return context.boolean('durableShuffleStorage', true) ? workers : 1;
  throw new QueryFault('input_invalid', `context.maxNumTasks: found ${workers + 1}, expected at most ${WORKERS_MAX + 1}`, {
    errorCode: 'TooManyWorkers',
    workers,
    maxWorkers: WORKERS_MAX,
  });
}

/** Rows are shuffled through deep storage in any case, so that a failure of a worker loses nothing that others have done. */
function parseFaultTolerance(context: ObjectReader): boolean {
  const isTolerant = context.boolean('faultTolerance', false);
  if (isTolerant && context.has('durableShuffleStorage') && !context.boolean('durableShuffleStorage', true))
    throw context.invalid('faultTolerance', 'true needs durableShuffleStorage, which is set to false');
  return isTolerant;
}

/** Names of columns; `__time` may lead. */
function parseSortOrder(context: ObjectReader): readonly string[] | null {
  const names = sqlNames(context.members, 'segmentSortOrder');
  if (names !== null && names.lastIndexOf(TIME_COLUMN) > 0)
    throw context.unsupported('segmentSortOrder', 'segments are sorted by __time first');
  return names?.filter((name) => name !== TIME_COLUMN) ?? null;
}

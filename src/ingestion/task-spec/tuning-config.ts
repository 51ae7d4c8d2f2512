// Reads the `tuningConfig` of a task.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { acceptWithInert, INERT_KEYS } from './inert-keys.js';
import { type PartitionsSpec, parsePartitionsSpec } from './partitions-spec.js';
import { parseSplitHint, type SplitHint } from './split-hint.js';

/** The part of `tuningConfig` that has an effect here. */
export interface TuningConfig {
  readonly partitions: PartitionsSpec;
  readonly maxRowsInMemory: number;
  /** null: what the middle manager grants. */
  readonly maxBytesInMemory: number | null;
  readonly logParseExceptions: boolean;
  readonly maxParseExceptions: number;
  readonly maxSavedParseExceptions: number;
  /** Time chunks the task may write; null: any number. */
  readonly maxAllowedLockCount: number | null;
  /** Longest wait for published segments to be served; 0: none. */
  readonly loadWaitMs: number;
  readonly subTasks: SubTaskTuning;
}

/** Rules by which the work of a task is divided over sub-tasks. */
export interface SubTaskTuning {
  /** 1: the task does all by itself. */
  readonly maxConcurrent: number;
  /** Times that the work of a sub-task is tried again. */
  readonly maxRetry: number;
  readonly pollMs: number;
  /** Longest time that a sub-task may run; 0: any. The context of a task says it. */
  readonly timeoutMs: number;
  readonly splitHint: SplitHint;
  readonly mergeTasks: number;
}

export const MAX_ROWS_IN_MEMORY = 1_000_000;

/** A worker waits no longer for segments. */
const LOAD_WAIT_MS_MAX = 15 * 60_000;

const KEYS = [
  'partitionsSpec',
  'maxRowsPerSegment',
  'maxRowsInMemory',
  'maxBytesInMemory',
  'logParseExceptions',
  'maxParseExceptions',
  'maxSavedParseExceptions',
  'reportParseExceptions',
  'maxAllowedLockCount',
  'awaitSegmentAvailabilityTimeoutMillis',
  'numShards',
  'partitionDimensions',
  'forceGuaranteedRollup',
  'splitHintSpec',
  'maxNumConcurrentSubTasks',
  'maxRetry',
  'taskStatusCheckPeriodMs',
  'totalNumMergeTasks',
];

export function parseTuningConfig(given: ObjectReader | undefined, taskType: string): TuningConfig {
  const fields = given ?? new ObjectReader({}, 'spec.tuningConfig', readContextOf('input_invalid', 'the task'));
  acceptWithInert(fields, KEYS, INERT_KEYS.tuningConfig);
  fields.type(['index_parallel', 'index'], { otherwise: taskType === 'index' ? 'index' : 'index_parallel' });
  for (const key of ['numShards', 'partitionDimensions']) if (fields.has(key)) throw fields.unsupported(key, 'give a partitionsSpec');
  const reports = fields.boolean('reportParseExceptions', false);
  // -1 and 0 stand for no limit, and for the default, in public specs.
  const limit = <Otherwise>(key: string, otherwise: Otherwise): number | Otherwise => {
    const value = fields.optionalInteger(key, -1);
    return value === undefined || value <= 0 ? otherwise : value;
  };
  const maxParseExceptions = fields.optionalInteger('maxParseExceptions', -1);
  return {
    partitions: parsePartitions(fields, limit('maxRowsPerSegment', undefined)),
    maxRowsInMemory: limit('maxRowsInMemory', MAX_ROWS_IN_MEMORY),
    maxBytesInMemory: limit('maxBytesInMemory', null),
    logParseExceptions: reports || fields.boolean('logParseExceptions', false),
    maxParseExceptions: reports
      ? 0
      : maxParseExceptions === undefined || maxParseExceptions < 0
        ? Number.MAX_SAFE_INTEGER
        : maxParseExceptions,
    maxSavedParseExceptions: fields.optionalInteger('maxSavedParseExceptions', 0, 10_000) ?? (reports ? 1 : 0),
    maxAllowedLockCount: limit('maxAllowedLockCount', null),
    loadWaitMs: fields.optionalInteger('awaitSegmentAvailabilityTimeoutMillis', 0, LOAD_WAIT_MS_MAX) ?? 0,
    subTasks: {
      maxConcurrent: fields.optionalInteger('maxNumConcurrentSubTasks', 1) ?? 1,
      maxRetry: fields.optionalInteger('maxRetry', 0) ?? 3,
      pollMs: fields.optionalInteger('taskStatusCheckPeriodMs', 1) ?? 1000,
      timeoutMs: 0,
      splitHint: parseSplitHint(fields.optionalObject('splitHintSpec')),
      mergeTasks: fields.optionalInteger('totalNumMergeTasks', 1, 1000) ?? 10,
    },
  };
}

/** Dynamic partitions roll up within sub-tasks only, so they are no default where perfect rollup is asked for. */
function parsePartitions(fields: ObjectReader, maxRowsPerSegment: number | undefined): PartitionsSpec {
  const written = fields.optionalObject('partitionsSpec');
  if (!fields.boolean('forceGuaranteedRollup', false)) return parsePartitionsSpec(written, maxRowsPerSegment);
  const hashed = new ObjectReader({ type: 'hashed' }, fields.at('partitionsSpec'), fields.context);
  const partitions = parsePartitionsSpec(written ?? hashed, maxRowsPerSegment);
  if (partitions.kind === 'dynamic')
    throw fields.invalid('forceGuaranteedRollup', 'cannot be true with dynamic partitions: give hashed, single_dim or range ones');
  return partitions;
}

/** @throws ServiceError `resource_limit` when a task would write more time chunks than its spec allows */
export function checkChunkCount({ maxAllowedLockCount }: TuningConfig, count: number): void {
  if (maxAllowedLockCount !== null && count > maxAllowedLockCount)
    throw new ServiceError(
      'resource_limit',
      `the rows fall into ${count} time chunks, more than tuningConfig.maxAllowedLockCount (${maxAllowedLockCount})`,
    );
}

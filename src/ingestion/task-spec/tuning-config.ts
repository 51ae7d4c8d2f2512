// Reads the `tuningConfig` of a task.

import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { INERT_KEYS } from './inert-keys.js';

/** The part of `tuningConfig` that has an effect here. */
export interface TuningConfig {
  readonly maxRowsPerSegment: number;
  readonly maxRowsInMemory: number;
  /** null: what the middle manager grants. */
  readonly maxBytesInMemory: number | null;
  readonly logParseExceptions: boolean;
  readonly maxParseExceptions: number;
  readonly maxSavedParseExceptions: number;
  /** Time chunks the task may write; null: any number. */
  readonly maxAllowedLockCount: number | null;
}

const MAX_ROWS_PER_SEGMENT = 5_000_000;
export const MAX_ROWS_IN_MEMORY = 1_000_000;

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
];

export function parseTuningConfig(given: ObjectReader | undefined, taskType: string): TuningConfig {
  const fields = given ?? new ObjectReader({}, 'spec.tuningConfig', readContextOf('input_invalid', 'the task'));
  fields.accept(KEYS, INERT_KEYS.tuningConfig);
  fields.type(['index_parallel', 'index'], { otherwise: taskType === 'index' ? 'index' : 'index_parallel' });
  for (const key of ['numShards', 'partitionDimensions']) if (fields.has(key)) throw fields.unsupported(key, 'partitions are dynamic');
  if ((fields.optionalInteger('awaitSegmentAvailabilityTimeoutMillis', 0) ?? 0) > 0)
    throw fields.unsupported('awaitSegmentAvailabilityTimeoutMillis', 'a task ends when its segments are published');
  const partitions = fields.optionalObject('partitionsSpec');
  if (partitions !== undefined) {
    partitions.type(['dynamic'], { documented: ['hashed', 'range', 'single_dim'] });
    partitions.accept(['maxRowsPerSegment'], ['maxTotalRows']);
  }
  const reports = fields.boolean('reportParseExceptions', false);
  // -1 and 0 stand for no limit, and for the default, in public specs.
  const limit = (key: string, otherwise: number, from: ObjectReader | undefined = fields): number => {
    const value = from?.optionalInteger(key, -1);
    return value === undefined || value <= 0 ? otherwise : value;
  };
  const maxParseExceptions = fields.optionalInteger('maxParseExceptions', -1);
  return {
    maxRowsPerSegment: limit('maxRowsPerSegment', limit('maxRowsPerSegment', MAX_ROWS_PER_SEGMENT), partitions),
    maxRowsInMemory: limit('maxRowsInMemory', MAX_ROWS_IN_MEMORY),
    maxBytesInMemory: limit('maxBytesInMemory', 0) || null,
    logParseExceptions: reports || fields.boolean('logParseExceptions', false),
    maxParseExceptions: reports
      ? 0
      : maxParseExceptions === undefined || maxParseExceptions < 0
        ? Number.MAX_SAFE_INTEGER
        : maxParseExceptions,
    maxSavedParseExceptions: fields.optionalInteger('maxSavedParseExceptions', 0, 10_000) ?? (reports ? 1 : 0),
    maxAllowedLockCount: limit('maxAllowedLockCount', 0) || null,
  };
}

import { Fields } from './fields.js';
import { INERT_KEYS } from './inert-keys.js';

/** What of `tuningConfig` has a meaning here. */
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

export const MAX_ROWS_PER_SEGMENT = 5_000_000;
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

export function parseTuningConfig(given: Fields | null, taskType: string): TuningConfig {
  const fields = given ?? new Fields({}, 'spec.tuningConfig');
  fields.accept(KEYS, INERT_KEYS.tuningConfig);
  fields.choice('type', ['index_parallel', 'index'], taskType === 'index' ? 'index' : 'index_parallel');
  for (const key of ['numShards', 'partitionDimensions']) if (fields.has(key)) throw fields.unsupported(key, 'partitions are dynamic');
  if (fields.integer('awaitSegmentAvailabilityTimeoutMillis', 0, { min: 0 }) > 0)
    throw fields.unsupported('awaitSegmentAvailabilityTimeoutMillis', 'a task ends when its segments are published');
  const partitions = fields.optionalObject('partitionsSpec');
  if (partitions !== null) {
    partitions.type(['dynamic'], ['hashed', 'range', 'single_dim']);
    partitions.accept(['maxRowsPerSegment'], ['maxTotalRows']);
  }
  const reports = fields.boolean('reportParseExceptions', false);
  // -1 and 0 stand for no limit, and for the default, in public specs.
  const limit = (key: string, otherwise: number, from: Fields | null = fields): number => {
    const value = from?.integer(key, null, { min: -1 }) ?? null;
    return value === null || value <= 0 ? otherwise : value;
  };
  const maxParseExceptions = fields.integer('maxParseExceptions', null, { min: -1 });
  return {
    maxRowsPerSegment: limit('maxRowsPerSegment', limit('maxRowsPerSegment', MAX_ROWS_PER_SEGMENT), partitions),
    maxRowsInMemory: limit('maxRowsInMemory', MAX_ROWS_IN_MEMORY),
    maxBytesInMemory: limit('maxBytesInMemory', 0) || null,
    logParseExceptions: reports || fields.boolean('logParseExceptions', false),
    maxParseExceptions: reports ? 0 : maxParseExceptions === null || maxParseExceptions < 0 ? Number.MAX_SAFE_INTEGER : maxParseExceptions,
    maxSavedParseExceptions: fields.integer('maxSavedParseExceptions', reports ? 1 : 0, { min: 0, max: 10_000 }),
    maxAllowedLockCount: limit('maxAllowedLockCount', 0) || null,
  };
}

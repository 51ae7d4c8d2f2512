// Reads the `tuningConfig` of a supervisor and of its tasks.

import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { acceptWithInert, INERT_KEYS } from '../task-spec/inert-keys.js';
import { durationMs } from './duration.js';

/** The part of `tuningConfig` that has an effect in a streaming task. */
export interface StreamTuning {
  /** Infinity: as many as there is memory for. */
  readonly maxRowsInMemory: number;
  /** null: what the middle manager grants. */
  readonly maxBytesInMemory: number | null;
  /** Rows at which a sequence ends: of one segment, and of all of them. */
  readonly maxRowsPerSegment: number;
  readonly maxTotalRows: number;
  readonly persistPeriodMs: number;
  /** Time after which a sequence ends whatever it has; null: none. */
  readonly handoffPeriodMs: number | null;
  /** Longest wait for published segments to be served; 0: as long as it takes. */
  readonly handoffTimeoutMs: number;
  readonly resetOffsetAutomatically: boolean;
  readonly skipOffsetCheck: boolean;
  readonly logParseExceptions: boolean;
  readonly maxParseExceptions: number;
  readonly maxSavedParseExceptions: number;
  /** Kinesis: most records, and bytes of them, that a task takes at once; null: the default. */
  readonly recordsPerPoll: number | null;
  readonly bytesPerPoll: number | null;
}

/** The part that a supervisor itself keeps to. */
export interface SupervisorTuning {
  readonly chatRetries: number;
  readonly offsetFetchPeriodMs: number;
}

const TASK_KEYS = [
  'maxRowsInMemory',
  'maxBytesInMemory',
  'maxRowsPerSegment',
  'maxTotalRows',
  'intermediatePersistPeriod',
  'intermediateHandoffPeriod',
  'handoffConditionTimeout',
  'resetOffsetAutomatically',
  'skipSequenceNumberAvailabilityCheck',
  'reportParseExceptions',
  'logParseExceptions',
  'maxParseExceptions',
  'maxSavedParseExceptions',
];
const KINESIS_TASK_KEYS = ['maxRecordsPerPoll', 'maxBytesPerPoll'];
const SUPERVISOR_KEYS = ['chatRetries', 'offsetFetchPeriod'];

/** Documented keys with nothing left to do: threads, buffers and timeouts of machinery that is not here. */
const INERT = { ...INERT_KEYS.tuningConfig, ...INERT_KEYS.streamTuning };

const ROWS_PER_SEGMENT = 5_000_000;
const ROWS_TOTAL = 20_000_000;
const PERSIST_PERIOD_MS = 600_000;
const HANDOFF_TIMEOUT_MS = 900_000;
const CHAT_RETRIES = 8;
const OFFSET_FETCH_PERIOD_MS = 30_000;
const OFFSET_FETCH_PERIOD_MIN_MS = 5000;

/** @throws ServiceError naming the field; `of` a task refuses what only supervisors have */
export function parseStreamTuning(
  given: ObjectReader | undefined,
  kind: StreamKind,
  of: 'task' | 'supervisor',
): StreamTuning & SupervisorTuning {
  const fields = given ?? new ObjectReader({}, 'tuningConfig', readContextOf('input_invalid', 'the spec'));
  const isKinesis = kind === 'kinesis';
  const keys = [...TASK_KEYS, ...(isKinesis ? KINESIS_TASK_KEYS : []), ...(of === 'supervisor' ? SUPERVISOR_KEYS : [])];
  acceptWithInert(fields, keys, isKinesis ? { ...INERT, ...INERT_KEYS.kinesisTuning } : INERT);
  fields.type([kind, 'KafkaTuningConfig', 'KinesisTuningConfig'], { otherwise: kind });
  // -1 and 0 stand for no limit, or the default, in public specs.
  const limit = <Otherwise>(key: string, otherwise: Otherwise): number | Otherwise => {
    const value = fields.optionalInteger(key, -1);
    return value === undefined || value <= 0 ? otherwise : value;
  };
  const reports = fields.boolean('reportParseExceptions', false);
  const maxParseExceptions = fields.optionalInteger('maxParseExceptions', -1);
  const maxSaved = fields.optionalInteger('maxSavedParseExceptions', 0, 10_000) ?? 0;
  const handoffPeriodMs = longDurationMs(fields, 'intermediateHandoffPeriod');
  return {
    maxRowsInMemory: limit('maxRowsInMemory', Number.POSITIVE_INFINITY),
    maxBytesInMemory: limit('maxBytesInMemory', null),
    maxRowsPerSegment: limit('maxRowsPerSegment', ROWS_PER_SEGMENT),
    maxTotalRows: limit('maxTotalRows', ROWS_TOTAL),
    persistPeriodMs: durationMs(fields, 'intermediatePersistPeriod') ?? PERSIST_PERIOD_MS,
    handoffPeriodMs,
    handoffTimeoutMs: fields.optionalInteger('handoffConditionTimeout', 0) ?? (isKinesis ? 0 : HANDOFF_TIMEOUT_MS),
    resetOffsetAutomatically: fields.boolean('resetOffsetAutomatically', false),
    skipOffsetCheck: fields.boolean('skipSequenceNumberAvailabilityCheck', false),
    logParseExceptions: reports || fields.boolean('logParseExceptions', false),
    maxParseExceptions: reports
      ? 0
      : maxParseExceptions === undefined || maxParseExceptions < 0
        ? Number.MAX_SAFE_INTEGER
        : maxParseExceptions,
    maxSavedParseExceptions: reports ? Math.min(1, maxSaved) : maxSaved,
    recordsPerPoll: isKinesis ? limit('maxRecordsPerPoll', null) : null,
    bytesPerPoll: isKinesis ? limit('maxBytesPerPoll', null) : null,
    chatRetries: fields.optionalInteger('chatRetries', 0) ?? CHAT_RETRIES,
    offsetFetchPeriodMs: Math.max(OFFSET_FETCH_PERIOD_MIN_MS, durationMs(fields, 'offsetFetchPeriod') ?? OFFSET_FETCH_PERIOD_MS),
  };
}

/** The default of the original, `P2147483647D`, is longer than periods that are read: it stands for none. */
function longDurationMs(fields: ObjectReader, key: string): number | null {
  const text = fields.optionalString(key);
  if (text === undefined || /^P\d{10,}D$/.test(text)) return null;
  return durationMs(fields, key) ?? null;
}

/** The tuning of a supervisor as its tasks are given it. */
export function taskTuningDocument(written: Readonly<Record<string, unknown>>, kind: StreamKind): Readonly<Record<string, unknown>> {
  const ofTask = Object.entries(written).filter(([key]) => !SUPERVISOR_KEYS.includes(key));
  return { ...Object.fromEntries(ofTask), type: kind };
}

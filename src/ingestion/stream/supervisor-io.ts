// Reads the `ioConfig` of a supervisor.

import type { EpochMs } from '../../base/instant.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { type AutoScalerConfig, parseAutoScaler } from './auto-scaler-config.js';
import { durationMs, instantOf } from './duration.js';
import { parseMessageFormat } from './kafka-format.js';
import { parseStreamSource, STREAM_SOURCE_KEYS, type StreamSource } from './stream-source.js';

export interface SupervisorIo {
  readonly source: StreamSource;
  readonly replicas: number;
  /** Groups of tasks that the partitions are divided over. */
  readonly taskCount: number;
  readonly taskDurationMs: number;
  readonly startDelayMs: number;
  readonly periodMs: number;
  readonly completionTimeoutMs: number;
  /** Beginning of partitions that nothing is stored of. */
  readonly useEarliest: boolean;
  /** Rows older than this, when a task is made, are thrown away; null: none are. */
  readonly lateRejectionMs: number | null;
  readonly lateRejectionFrom: EpochMs | null;
  readonly earlyRejectionMs: number | null;
  /** Groups that may be publishing at a time before others end; null: any number. */
  readonly stopTaskCount: number | null;
  readonly autoScaler: AutoScalerConfig | null;
  readonly idle: IdleConfig;
  /** Fields of the ioConfig of tasks that say how the stream is read. */
  readonly taskFields: Readonly<Record<string, unknown>>;
}

interface IdleConfig {
  readonly isEnabled: boolean;
  readonly inactiveAfterMs: number;
}

const KEYS = [
  'inputFormat',
  'replicas',
  'taskCount',
  'taskDuration',
  'startDelay',
  'period',
  'completionTimeout',
  'lateMessageRejectionPeriod',
  'earlyMessageRejectionPeriod',
  'lateMessageRejectionStartDateTime',
  'autoScalerConfig',
  'idleConfig',
  'stopTaskCount',
  'serverPriorityToReplicas',
];
const OWN_KEYS: Readonly<Record<StreamKind, readonly string[]>> = {
  kafka: ['topic', 'topicPattern', 'stream', 'useEarliestOffset', 'useEarliestSequenceNumber', 'lagAggregator', 'emitTimeLagMetrics'],
  kinesis: ['stream', 'useEarliestSequenceNumber'],
};

/** Replicas are made at once, so no more than a cluster has processes. */
const REPLICAS_MAX = 100;
const HOUR_MS = 3_600_000;
const INACTIVE_AFTER_MS = 600_000;

/** Keys of the `ioConfig` beside its type. */
export function supervisorIoKeys(kind: StreamKind): readonly string[] {
  return [...KEYS, ...OWN_KEYS[kind], ...STREAM_SOURCE_KEYS[kind]];
}

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseSupervisorIo(kind: StreamKind, fields: ObjectReader): SupervisorIo {
  fields.accept(supervisorIoKeys(kind));
  fields.type([kind], { otherwise: kind });
  if (fields.has('serverPriorityToReplicas'))
    throw fields.unsupported('serverPriorityToReplicas', 'all tasks answer queries with one priority: give replicas');
  if (kind === 'kinesis' && fields.has('idleConfig'))
    throw fields.unsupported('idleConfig', 'a stream of Kinesis does not tell whether it is read to its end');
  parseMessageFormat(fields.object('inputFormat'));
  const autoScaler = fields.has('autoScalerConfig') ? parseAutoScaler(fields.object('autoScalerConfig')) : null;
  const written = fields.optionalInteger('taskCount', 1);
  const taskCount =
    autoScaler === null
      ? (written ?? 1)
      : ((autoScaler.isEnabled ? autoScaler.taskCountStart : null) ?? written ?? autoScaler.taskCountMin);
  const lateRejectionMs = durationMs(fields, 'lateMessageRejectionPeriod') ?? null;
  const lateRejectionFrom = instantOf(fields, 'lateMessageRejectionStartDateTime');
  if (lateRejectionMs !== null && lateRejectionFrom !== null)
    throw fields.invalid('lateMessageRejectionStartDateTime', 'cannot be given with lateMessageRejectionPeriod');
  const { stream, isPattern } = streamOf(kind, fields);
  const source = parseStreamSource(kind, fields, stream);
  return {
    source: source.kind === 'kafka' ? { ...source, isPattern } : source,
    replicas: fields.optionalInteger('replicas', 1, REPLICAS_MAX) ?? 1,
    taskCount,
    taskDurationMs: durationMs(fields, 'taskDuration') ?? HOUR_MS,
    startDelayMs: durationMs(fields, 'startDelay') ?? 5000,
    periodMs: Math.max(1, durationMs(fields, 'period') ?? 30_000),
    completionTimeoutMs: durationMs(fields, 'completionTimeout') ?? HOUR_MS / 2,
    useEarliest: fields.boolean(
      kind === 'kafka' && fields.has('useEarliestOffset') ? 'useEarliestOffset' : 'useEarliestSequenceNumber',
      false,
    ),
    lateRejectionMs,
    lateRejectionFrom,
    earlyRejectionMs: durationMs(fields, 'earlyMessageRejectionPeriod') ?? null,
    stopTaskCount: fields.optionalInteger('stopTaskCount', 1) ?? null,
    autoScaler,
    idle: parseIdle(fields.optionalObject('idleConfig')),
    taskFields: taskFieldsOf(kind, fields, isPattern),
  };
}

/** The topic, or the pattern of topics; one of them must be there. */
function streamOf(kind: StreamKind, fields: ObjectReader): { readonly stream: string; readonly isPattern: boolean } {
  if (kind === 'kinesis') return { stream: nonEmpty(fields, 'stream'), isPattern: false };
  if (fields.has('topicPattern')) {
    if (fields.has('topic')) throw fields.invalid('topicPattern', 'cannot be given with topic');
    return { stream: nonEmpty(fields, 'topicPattern'), isPattern: true };
  }
  return { stream: nonEmpty(fields, fields.has('topic') ? 'topic' : fields.has('stream') ? 'stream' : 'topic'), isPattern: false };
}

function nonEmpty(fields: ObjectReader, key: string): string {
  const text = fields.string(key);
  if (text === '') throw fields.mismatch(key, 'a name');
  return text;
}

function parseIdle(fields: ObjectReader | undefined): IdleConfig {
  if (fields === undefined) return { isEnabled: false, inactiveAfterMs: INACTIVE_AFTER_MS };
  fields.accept(['enabled', 'inactiveAfterMillis']);
  return {
    isEnabled: fields.boolean('enabled', false),
    inactiveAfterMs: fields.optionalInteger('inactiveAfterMillis', 1) ?? INACTIVE_AFTER_MS,
  };
}

function taskFieldsOf(kind: StreamKind, fields: ObjectReader, isPattern: boolean): Readonly<Record<string, unknown>> {
  const keys = ['inputFormat', ...STREAM_SOURCE_KEYS[kind]].filter((key) => fields.has(key));
  const copied = Object.fromEntries(keys.map((key) => [key, fields.raw(key)]));
  return isPattern ? { ...copied, multiTopic: true } : copied;
}

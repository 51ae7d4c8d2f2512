// Reads the payload of an `index_kafka` or `index_kinesis` task.

import { isRecord, parseJson } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { Offsets, StreamKind } from '../../model/stream/offsets.js';
import { resourcesOfStream } from '../../planner/sql/explain/resources.js';
import type { TaskDescription } from '../contract.js';
import { type DataSchema, parseDataSchema } from '../task-spec/data-schema.js';
import { readCheckpoints } from './chat-control.js';
import type { PollLimits } from './stream-reader.js';
import { parseStreamTuning, type StreamTuning } from './stream-tuning.js';
import { parseStreamTaskIo, type StreamTaskIo } from './task-io.js';

export const STREAM_TASK_TYPES = ['index_kafka', 'index_kinesis'] as const;
export type StreamTaskType = (typeof STREAM_TASK_TYPES)[number];

export interface StreamTaskSpec {
  readonly kind: StreamKind;
  readonly supervisorId: string;
  readonly dataSchema: DataSchema;
  readonly io: StreamTaskIo;
  readonly tuning: StreamTuning;
  /** Starts of its sequences, by number; a task that replaces another begins with the first that is not published. */
  readonly checkpoints: ReadonlyMap<number, Offsets>;
  readonly source: Readonly<Record<string, unknown>>;
}

const KEYS = [
  'id',
  'groupId',
  'resource',
  'context',
  'dataSource',
  'supervisorId',
  'dataSchema',
  'ioConfig',
  'tuningConfig',
  'spec',
  'serverPriority',
];

export function isStreamTaskType(type: string): type is StreamTaskType {
  return STREAM_TASK_TYPES.some((each) => each === type);
}

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseStreamTask(fields: ObjectReader, type: StreamTaskType): StreamTaskSpec {
  fields.accept(KEYS);
  const kind = type === 'index_kafka' ? 'kafka' : 'kinesis';
  const spec = fields.optionalObject('spec') ?? fields;
  const dataSchema = parseDataSchema(spec.object('dataSchema'));
  const io = parseStreamTaskIo(kind, spec.object('ioConfig'));
  return {
    kind,
    supervisorId: fields.optionalString('supervisorId') ?? dataSchema.dataSource,
    dataSchema,
    io,
    tuning: parseStreamTuning(spec.optionalObject('tuningConfig'), kind, 'task'),
    checkpoints: checkpointsOf(kind, fields.optionalObject('context'), io),
    source: {
      dataSchema: spec.raw('dataSchema'),
      ioConfig: spec.raw('ioConfig'),
      tuningConfig: spec.raw('tuningConfig') ?? { type: kind },
    },
  };
}

/** The context has them as JSON text, like the original. */
function checkpointsOf(kind: StreamKind, context: ObjectReader | undefined, { start }: StreamTaskIo): ReadonlyMap<number, Offsets> {
  const written = context?.raw('checkpoints');
  if (written === undefined || context === undefined) return new Map([[0, start.offsets]]);
  const value = typeof written === 'string' ? parseJson(written) : written;
  if (!isRecord(value)) throw context.mismatch('checkpoints', 'offsets by the number of a sequence');
  const checkpoints = readCheckpoints(kind, value);
  if (checkpoints.size === 0) throw context.invalid('checkpoints', 'names no sequence');
  return checkpoints;
}

/** The task as the Overlord keeps it: it appends for as long as it reads. */
export function describeStreamTask(
  fields: ObjectReader,
  type: StreamTaskType,
): Pick<TaskDescription, 'dataSource' | 'mode' | 'spec' | 'resources'> {
  const { kind, dataSchema, source, supervisorId } = parseStreamTask(fields, type);
  return {
    dataSource: dataSchema.dataSource,
    mode: { kind: 'append' },
    spec: { ...source, supervisorId },
    resources: resourcesOfStream(kind),
  };
}

/** Records of a look at the stream; when more wait, the task is behind it. */
const ROWS_PER_POLL = 8192;
const BYTES_PER_POLL = 16 * 2 ** 20;

/** Limits of one look at the stream. */
export function pollLimits({ io, tuning }: Pick<StreamTaskSpec, 'io' | 'tuning'>): PollLimits {
  const { recordsPerPoll, bytesPerPoll } = tuning;
  return { maxRows: recordsPerPoll ?? ROWS_PER_POLL, maxBytes: bytesPerPoll ?? BYTES_PER_POLL, timeoutMs: io.pollTimeoutMs };
}

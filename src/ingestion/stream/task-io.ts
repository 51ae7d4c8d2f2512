// Reads the `ioConfig` of a streaming task.

import type { EpochMs } from '../../base/instant.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { compareOffsets, parsePosition, STREAM_TRAITS, type StreamKind, type StreamPosition } from '../../model/stream/offsets.js';
import { instantOf } from './duration.js';
import { type MessageFormat, parseMessageFormat } from './kafka-format.js';
import { parseStreamSource, STREAM_SOURCE_KEYS, type StreamSource } from './stream-source.js';

/** The `ioConfig` of an `index_kafka` or `index_kinesis` task. */
export interface StreamTaskIo {
  readonly source: StreamSource;
  readonly taskGroupId: number;
  /** Its sequences are named by it and their numbers; replicas have the same. */
  readonly baseSequenceName: string;
  readonly start: StreamPosition;
  /** Ends of the same partitions; `noEnd` until the supervisor sets ends. */
  readonly end: StreamPosition;
  /** Whether the stored offsets are compared and moved on when it publishes. */
  readonly useTransaction: boolean;
  /** Rows before the first, and from the second on, are thrown away; null: none are. */
  readonly minimumMessageTime: EpochMs | null;
  readonly maximumMessageTime: EpochMs | null;
  readonly inputFormat: MessageFormat;
  readonly pollTimeoutMs: number;
}

const KEYS = [
  'taskGroupId',
  'baseSequenceName',
  'startSequenceNumbers',
  'endSequenceNumbers',
  'useTransaction',
  'minimumMessageTime',
  'maximumMessageTime',
  'inputFormat',
  'refreshRejectionPeriodsInMinutes',
  // Names of older clients, and what says the same again.
  'startPartitions',
  'endPartitions',
];

const POLL_TIMEOUT_MS = 100;

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseStreamTaskIo(kind: StreamKind, fields: ObjectReader): StreamTaskIo {
  fields.accept([...KEYS, ...STREAM_SOURCE_KEYS[kind]]);
  fields.type([kind], { otherwise: kind });
  const position = (key: string, older: string) =>
    parsePosition(kind, fields.object(fields.has(key) ? key : fields.has(older) ? older : key));
  const start = position('startSequenceNumbers', 'startPartitions');
  const end = position('endSequenceNumbers', 'endPartitions');
  checkEnds(fields, start, end);
  return {
    source: parseStreamSource(kind, fields, start.stream),
    taskGroupId: fields.optionalInteger('taskGroupId', 0) ?? 0,
    baseSequenceName: fields.string('baseSequenceName'),
    start,
    end,
    useTransaction: fields.boolean('useTransaction', true),
    minimumMessageTime: instantOf(fields, 'minimumMessageTime'),
    maximumMessageTime: instantOf(fields, 'maximumMessageTime'),
    inputFormat: parseMessageFormat(fields.object('inputFormat')),
    pollTimeoutMs: fields.optionalInteger('pollTimeout', 0) ?? POLL_TIMEOUT_MS,
  };
}

function checkEnds(fields: ObjectReader, start: StreamPosition, end: StreamPosition): void {
  if (start.stream !== end.stream)
    throw fields.invalid('endSequenceNumbers', `is of the stream ${end.stream}, and the start of ${start.stream}`);
  if (start.offsets.size !== end.offsets.size) throw fields.invalid('endSequenceNumbers', 'must name the partitions of the start');
  for (const [partition, offset] of end.offsets) {
    const from = start.offsets.get(partition);
    if (from === undefined) throw fields.invalid('endSequenceNumbers', `names partition ${partition}, which the start does not`);
    if (offset !== STREAM_TRAITS[start.kind].noEnd && compareOffsets(offset, from) < 0)
      throw fields.invalid('endSequenceNumbers', `partition ${partition} ends at ${offset}, before its start ${from}`);
  }
}

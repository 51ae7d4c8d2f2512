// Positions in the partitions of a stream, as plain data, and how documents write them.

import type { ObjectReader } from '../../base/json-reader.js';
import { createByName } from '../../base/names.js';

export type StreamKind = 'kafka' | 'kinesis';

/**
 * Offsets by partition. Kafka: the partition's number (`0`; with several topics `topic:0`) and decimal digits; an offset is that of the
 * next message to read. Kinesis: the shard's id and a sequence number; it is that of the last record that was read.
 */
export type Offsets = ReadonlyMap<string, string>;

/** A position in a stream: where tasks begin or end, or what is published. */
export interface StreamPosition {
  readonly kind: StreamKind;
  /** The topic, its pattern, or the stream's name. */
  readonly stream: string;
  readonly offsets: Offsets;
  /** Partitions that are read from behind their offset; Kafka: none. */
  readonly exclusive: ReadonlySet<string>;
}

/** Rules of a kind of stream. */
export interface StreamTraits {
  /** An offset that is never reached: the task reads until it is told where to end. */
  readonly noEnd: string;
  /** Whether the record at an end is still read. */
  readonly endIsInclusive: boolean;
  /** Whether JSON writes offsets as numbers. */
  readonly areNumbers: boolean;
  readonly taskType: 'index_kafka' | 'index_kinesis';
  /** Names of partitions. */
  readonly partition: RegExp;
  readonly partitionNames: string;
}

export const KINESIS_NO_END = 'NO_END_SEQUENCE_NUMBER';
/** The shard is closed, and everything in it was read. */
export const KINESIS_END_OF_SHARD = 'EOS';
/** The shard is gone, with what was in it. */
export const KINESIS_EXPIRED = 'EXPIRED';

export const STREAM_TRAITS: Readonly<Record<StreamKind, StreamTraits>> = {
  kafka: {
    noEnd: '9223372036854775807',
    endIsInclusive: false,
    areNumbers: true,
    taskType: 'index_kafka',
    partition: /^(?:[A-Za-z0-9._-]{1,249}:)?(?:0|[1-9]\d{0,8})$/,
    partitionNames: "a whole number, of several topics 'topic:number'",
  },
  kinesis: {
    noEnd: KINESIS_NO_END,
    endIsInclusive: true,
    areNumbers: false,
    taskType: 'index_kinesis',
    partition: /^[A-Za-z0-9_.-]{1,128}$/,
    partitionNames: 'the id of a shard',
  },
};

const DIGITS = /^\d{1,60}$/;
/** Sequence numbers that are words, by their place behind all digits. */
const WORDS: ReadonlyMap<string, number> = new Map([
  [KINESIS_NO_END, 1],
  [KINESIS_END_OF_SHARD, 2],
  [KINESIS_EXPIRED, 3],
]);

/** Negative when the left offset is before the right one. */
export function compareOffsets(left: string, right: string): number {
  if (left === right) return 0;
  const words = (WORDS.get(left) ?? 0) - (WORDS.get(right) ?? 0);
  if (words !== 0 || WORDS.has(left)) return words;
  const leftDigits = left.replace(/^0+(?=\d)/, '');
  const rightDigits = right.replace(/^0+(?=\d)/, '');
  if (leftDigits.length !== rightDigits.length) return leftDigits.length - rightDigits.length;
  return leftDigits < rightDigits ? -1 : leftDigits > rightDigits ? 1 : 0;
}

/** Offsets as JSON writes them: those of Kafka are numbers. */
export function writtenOffsets(kind: StreamKind, offsets: Offsets): Readonly<Record<string, unknown>> {
  const written = createByName<unknown>();
  for (const [partition, offset] of offsets) written[partition] = STREAM_TRAITS[kind].areNumbers ? exactNumber(offset) : offset;
  return written;
}

function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Reads offsets by partition. @throws ServiceError that names the field */
export function parseOffsets(kind: StreamKind, fields: ObjectReader): Map<string, string> {
  const offsets = new Map<string, string>();
  for (const partition of fields.keys()) {
    const { partition: pattern, partitionNames } = STREAM_TRAITS[kind];
    if (!pattern.test(partition)) throw fields.invalid(partition, `a partition is ${partitionNames}`);
    offsets.set(partition, parseOffset(kind, fields, partition));
  }
  return offsets;
}

function parseOffset(kind: StreamKind, fields: ObjectReader, partition: string): string {
  const value = fields.raw(partition);
  if (STREAM_TRAITS[kind].areNumbers) {
    const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
    const text = isInteger || typeof value === 'string' ? String(value) : '';
    // The largest long comes as a double from clients that have no others.
    if (value === 2 ** 63) return STREAM_TRAITS[kind].noEnd;
    if (!DIGITS.test(text) || compareOffsets(text, STREAM_TRAITS[kind].noEnd) > 0)
      throw fields.mismatch(partition, 'an offset of at least 0');
    return text;
  }
  if (typeof value !== 'string' || !(DIGITS.test(value) || WORDS.has(value)))
    throw fields.mismatch(partition, 'a sequence number as a string');
  return value;
}

/** A position as documents write it: `{type, stream, partitionSequenceNumberMap, exclusivePartitions}`. */
export function writtenPosition(
  type: 'start' | 'end',
  { kind, stream, offsets, exclusive }: StreamPosition,
): Readonly<Record<string, unknown>> {
  const position = { type, stream, partitionSequenceNumberMap: writtenOffsets(kind, offsets) };
  return type === 'start' ? { ...position, exclusivePartitions: [...exclusive] } : position;
}

/** Reads a position; older names of its fields, `topic` and `partitionOffsetMap`, are read as well. */
export function parsePosition(kind: StreamKind, fields: ObjectReader): StreamPosition {
  fields.accept(['stream', 'partitionSequenceNumberMap', 'exclusivePartitions', 'topic', 'partitionOffsetMap', 'partitions']);
  fields.type(['start', 'end'], { otherwise: 'end' });
  const nameKey = fields.has('stream') ? 'stream' : fields.has('topic') ? 'topic' : 'stream';
  const mapKey = fields.has('partitionSequenceNumberMap') ? 'partitionSequenceNumberMap' : 'partitionOffsetMap';
  const offsets = parseOffsets(kind, fields.object(fields.has(mapKey) ? mapKey : 'partitionSequenceNumberMap'));
  const exclusive = new Set(fields.strings('exclusivePartitions'));
  for (const partition of exclusive)
    if (!offsets.has(partition)) throw fields.invalid('exclusivePartitions', `there is no partition ${partition}`);
  return { kind, stream: fields.string(nameKey), offsets, exclusive };
}

/**
 * Whether a task that began at `start` continues what is published: every partition that both have lies at one offset. What a task that
 * reads further partitions began with is new. A position of another stream never continues.
 */
export function continues(published: StreamPosition, start: StreamPosition): boolean {
  if (published.stream !== start.stream || published.kind !== start.kind) return false;
  for (const [partition, offset] of start.offsets) {
    const known = published.offsets.get(partition);
    if (known !== undefined && compareOffsets(known, offset) !== 0) return false;
  }
  return true;
}

/** The published position once a task has ended at `end`. */
export function advance(published: StreamPosition | null, end: StreamPosition): StreamPosition {
  if (published === null || published.stream !== end.stream || published.kind !== end.kind) return end;
  const kept = [...published.exclusive].filter((partition) => !end.offsets.has(partition));
  return { ...end, offsets: new Map([...published.offsets, ...end.offsets]), exclusive: new Set([...kept, ...end.exclusive]) };
}

/** The same position without some partitions. */
export function without(position: StreamPosition, partitions: Iterable<string>): StreamPosition {
  const offsets = new Map(position.offsets);
  for (const partition of partitions) offsets.delete(partition);
  return { ...position, offsets, exclusive: new Set([...position.exclusive].filter((partition) => offsets.has(partition))) };
}

/** Beginning of the task that follows one that ended at `end`. */
export function startAfter(end: StreamPosition): StreamPosition {
  return { ...end, exclusive: STREAM_TRAITS[end.kind].endIsInclusive ? new Set(end.offsets.keys()) : NONE };
}

const NONE: ReadonlySet<string> = new Set();

export function sameOffsets(left: Offsets, right: Offsets): boolean {
  return left.size === right.size && [...left].every(([partition, offset]) => right.get(partition) === offset);
}

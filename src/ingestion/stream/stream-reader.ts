// Interface of the readers of streams.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { compareOffsets, type Offsets, type StreamKind } from '../../model/stream/offsets.js';
import type { Texts } from './line-buffer.js';

export interface StreamRecord {
  /** Name as in `Offsets`: a number, with several topics `topic:number`, or the id of a shard. */
  readonly partition: string;
  /** Its own, in the digits of `Offsets`. */
  readonly offset: string;
  readonly timestampMs: EpochMs;
  readonly topic: string;
  readonly key: Uint8Array | null;
  /** Rows: one, or what the input format makes of the bytes; null: a tombstone. */
  readonly values: readonly (Uint8Array | null)[];
  /** In the order of the record; a name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[];
}

/** The values of messages of a topic, with what stands beside each. */
export interface MessageTexts extends Texts {
  readonly topic: string;
  readonly times: Float64Array;
  readonly keys: Texts;
  headers(at: number): StreamRecord['headers'];
}

/** Messages of one partition, in their order, which lie in the bytes that they came in: no object for each. */
export interface MessageBlock extends MessageTexts {
  /** Name as in `Offsets`. */
  readonly partition: string;
  /** Ascending; integers up to 2^53. */
  readonly offsets: Float64Array;
  /** One message with what stands beside its value. */
  record(at: number): StreamRecord;
  /** Messages `from .. to` of these. */
  part(from: number, to: number): MessageBlock;
}

export interface StreamBatch {
  /** Each partition's in order. Their bytes stay valid. */
  readonly records: readonly StreamRecord[];
  /** The same of readers that are given many messages in one piece. */
  readonly blocks: readonly MessageBlock[];
  /**
   * Positions of partitions beyond their last record, as `Offsets` counts: behind markers and aborted transactions, at the end of a closed
   * shard. An end that is passed without a record is met by these.
   */
  readonly positions: Offsets;
  /** More records wait than were asked for. */
  readonly isFull: boolean;
}

export interface PollLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Returns earlier once there is a record. */
  readonly timeoutMs: number;
}

/** Beginning of a partition's reading. */
export interface ReadFrom {
  readonly offset: string;
  /** The record at that offset was read already. */
  readonly isExclusive: boolean;
}

/** Reads partitions from explicit offsets; belongs to no group and commits nothing. One call of `poll` at a time. */
export interface StreamReader {
  readonly kind: StreamKind;
  /** The partitions that the stream has now, sorted. @throws ServiceError `unavailable`, `not_found` for a stream that is not there */
  partitions(): Promise<readonly string[]>;
  /** First offsets that can be read; Kinesis: numbers before those of the first records. */
  earliest(partitions: readonly string[]): Promise<Offsets>;
  /** Offsets behind the last record that a reader of committed ones is given; Kinesis: that of the last record. */
  latest(partitions: readonly string[]): Promise<Offsets>;
  /** Offsets, of some, that the stream does not have any more, or not yet, by partition. */
  gone(offsets: Offsets): Promise<readonly string[]>;
  /** Milliseconds that places are behind the end, of streams that tell no number of records. */
  behind?(from: ReadonlyMap<string, ReadFrom>): Promise<ReadonlyMap<string, number>>;
  /** Reads these partitions, and no others, from now on. */
  assign(from: ReadonlyMap<string, ReadFrom>): Promise<void>;
  /** @throws OffsetsGone; ServiceError `unavailable` when the stream cannot be reached, `input_unreadable` when it refuses */
  poll(limits: PollLimits): Promise<StreamBatch>;
  close(): Promise<void>;
}

/** Partitions of offsets that are not between two others. */
export function outside(offsets: Offsets, earliest: Offsets, latest: Offsets): readonly string[] {
  return [...offsets].flatMap(([partition, offset]) => {
    const [first, last] = [earliest.get(partition), latest.get(partition)];
    if (first === undefined || last === undefined) return [];
    return compareOffsets(offset, first) < 0 || compareOffsets(offset, last) > 0 ? [partition] : [];
  });
}

/** The stream does not have these offsets any more, or not yet. */
export class OffsetsGone extends ServiceError {
  readonly offsets: Offsets;

  constructor(offsets: Offsets) {
    const places = [...offsets].map(([partition, offset]) => `${offset} of partition ${partition}`).join(', ');
    super('input_unreadable', `the stream does not have offset ${places}`);
    this.offsets = offsets;
  }
}

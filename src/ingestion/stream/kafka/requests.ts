// Requests to brokers of Kafka that a reader sends, each in a version that brokers from 2.3 to 4 answer.

import type { AbortedTransaction } from './record-batches.js';
import type { WireReader, WireWriter } from './wire.js';

/** A request, and how its answer is read. */
export interface BrokerRequest<Value> {
  readonly kind: RequestKind;
  readonly write: (to: WireWriter) => void;
  readonly read: (from: WireReader) => Value;
}

/** Number and version of each request. */
export const REQUEST_KINDS = {
  fetch: { key: 1, version: 11 },
  listOffsets: { key: 2, version: 5 },
  metadata: { key: 3, version: 8 },
  saslHandshake: { key: 17, version: 1 },
  apiVersions: { key: 18, version: 2 },
  saslAuthenticate: { key: 36, version: 1 },
} as const;
export type RequestKind = keyof typeof REQUEST_KINDS;

/** We are no replica, and know no epoch of a leader. */
const NONE = -1;

export interface PartitionOfTopic {
  readonly topic: string;
  readonly partition: number;
}

export interface FetchPlace extends PartitionOfTopic {
  readonly offset: number;
}

export interface SupportedVersions {
  readonly errorCode: number;
  readonly kinds: readonly { readonly key: number; readonly least: number; readonly most: number }[];
}

export function apiVersions(): BrokerRequest<SupportedVersions> {
  return {
    kind: 'apiVersions',
    write: () => undefined,
    read: (from) => ({
      errorCode: from.int16(),
      kinds: from.array((kind) => ({ key: kind.int16(), least: kind.int16(), most: kind.int16() })),
    }),
  };
}

export interface ClusterMetadata {
  readonly brokers: readonly { readonly id: number; readonly host: string; readonly port: number }[];
  readonly topics: readonly {
    readonly errorCode: number;
    readonly name: string;
    /** Each with the broker that leads it; below 0: none does just now. */
    readonly partitions: readonly { readonly partition: number; readonly leader: number }[];
  }[];
}

/** @param topics  null: all of them; none is made that is not there */
export function metadata(topics: readonly string[] | null): BrokerRequest<ClusterMetadata> {
  return {
    kind: 'metadata',
    write(to) {
      to.array(topics, (each, name) => each.string(name));
      // No topics are made, and nobody's rights are told.
      to.int8(0).int8(0).int8(0);
    },
    read(from) {
      from.int32();
      const brokers = from.array((each) => {
        const broker = { id: each.int32(), host: each.string(), port: each.int32() };
        each.nullableString();
        return broker;
      });
      from.nullableString();
      from.int32();
      const topics = from.array((each) => {
        const [errorCode, name] = [each.int16(), each.string()];
        each.int8();
        const partitions = each.array(readPartition);
        each.int32();
        return { errorCode, name, partitions };
      });
      return { brokers, topics };
    },
  };
}

function readPartition(from: WireReader): { readonly partition: number; readonly leader: number } {
  from.int16();
  const [partition, leader] = [from.int32(), from.int32()];
  from.int32();
  // Replicas: all of them, those in sync, and those that are down.
  for (let list = 0; list < 3; list++) from.array((each) => each.int32());
  return { partition, leader };
}

export interface FoundOffset extends PartitionOfTopic {
  readonly errorCode: number;
  readonly offset: number;
}

/**
 * @param time       -2: the first offset, -1: that behind the last message
 * @param isolation  1: behind the last message of transactions that have ended
 */
export function listOffsets(places: readonly PartitionOfTopic[], time: -1 | -2, isolation: number): BrokerRequest<readonly FoundOffset[]> {
  return {
    kind: 'listOffsets',
    write: (to) =>
      to
        .int32(NONE)
        .int8(isolation)
        .array(byTopic(places), (each, [topic, partitions]) =>
          each.string(topic).array(partitions, (of, { partition }) => of.int32(partition).int32(NONE).int64(time)),
        ),
    read(from) {
      from.int32();
      return ofTopics(from, (topic, each) => {
        const [partition, errorCode] = [each.int32(), each.int16()];
        each.int64();
        const offset = each.int64();
        each.int32();
        return { topic, partition, errorCode, offset };
      });
    },
  };
}

export interface FetchLimits {
  /** Time that a broker waits for `minBytes`. */
  readonly waitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly maxBytesEach: number;
  readonly isolation: number;
  readonly rack: string;
}

/** Answer for one partition. */
export interface FetchedPartition extends PartitionOfTopic {
  readonly errorCode: number;
  /** Offset behind the last message; below 0: not told. */
  readonly end: number;
  /** The same of messages whose transactions have ended. */
  readonly stableEnd: number;
  readonly aborted: readonly AbortedTransaction[];
  /** Broker that is to be asked instead; -1: none. */
  readonly preferredReplica: number;
  /** Batches, the last of which may be cut off. */
  readonly records: Buffer;
}

export interface FetchAnswer {
  /** Time for which the broker reads nothing of this connection: a quota is used up. */
  readonly throttleMs: number;
  readonly errorCode: number;
  readonly partitions: readonly FetchedPartition[];
}

export function fetchRecords(
  places: readonly FetchPlace[],
  { waitMs, minBytes, maxBytes, maxBytesEach, isolation, rack }: FetchLimits,
): BrokerRequest<FetchAnswer> {
  return {
    kind: 'fetch',
    write(to) {
      to.int32(NONE).int32(waitMs).int32(minBytes).int32(maxBytes).int8(isolation);
      // No session: each request names all that it wants.
      to.int32(0).int32(NONE);
      to.array(byTopic(places), (each, [topic, partitions]) =>
        each
          .string(topic)
          .array(partitions, (of, { partition, offset }) => of.int32(partition).int32(NONE).int64(offset).int64(NONE).int32(maxBytesEach)),
      );
      to.array([], () => undefined).string(rack);
    },
    read(from) {
      const throttleMs = from.int32();
      const errorCode = from.int16();
      from.int32();
      return { throttleMs, errorCode, partitions: ofTopics(from, readFetched) };
    },
  };
}

function readFetched(topic: string, from: WireReader): FetchedPartition {
  const [partition, errorCode] = [from.int32(), from.int16()];
  const [end, stableEnd] = [from.int64(), from.int64()];
  // The start of the log.
  from.int64();
  const aborted = from.array((each) => ({ producerId: each.bigint64(), firstOffset: each.int64() }));
  return { topic, partition, errorCode, end, stableEnd, aborted, preferredReplica: from.int32(), records: from.bytes() };
}

export interface HandshakeAnswer {
  readonly errorCode: number;
  readonly mechanisms: readonly string[];
}

export function saslHandshake(mechanism: string): BrokerRequest<HandshakeAnswer> {
  return {
    kind: 'saslHandshake',
    write: (to) => to.string(mechanism),
    read: (from) => ({ errorCode: from.int16(), mechanisms: from.array((each) => each.string()) }),
  };
}

export interface AuthenticateAnswer {
  readonly errorCode: number;
  readonly message: string;
  readonly bytes: Buffer;
  /** 0: without end. */
  readonly lifetimeMs: number;
}

export function saslAuthenticate(bytes: Uint8Array): BrokerRequest<AuthenticateAnswer> {
  return {
    kind: 'saslAuthenticate',
    write: (to) => to.bytes(bytes),
    read: (from) => ({ errorCode: from.int16(), message: from.string(), bytes: from.bytes(), lifetimeMs: from.int64() }),
  };
}

function byTopic<Place extends PartitionOfTopic>(
  places: readonly Place[],
): readonly (readonly [topic: string, places: readonly Place[]])[] {
  const topics = new Map<string, Place[]>();
  for (const place of places) {
    const known = topics.get(place.topic);
    if (known === undefined) topics.set(place.topic, [place]);
    else known.push(place);
  }
  return [...topics];
}

function ofTopics<Value>(from: WireReader, read: (topic: string, from: WireReader) => Value): readonly Value[] {
  return from
    .array((each) => {
      const topic = each.string();
      return each.array((of) => read(topic, of));
    })
    .flat();
}

// The client of Kafka, an optional package: loaded when a stream of Kafka is first read.

import { createRequire } from 'node:module';
import { ServiceError } from '../../base/errors.js';
import { onFirstUse } from '../../base/on-first-use.js';

/** A message as the client gives it. */
export interface KafkaMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly value: Buffer | null;
  readonly key?: Buffer | string | null;
  readonly timestamp?: number;
  /** Objects of one member each. */
  readonly headers?: readonly Readonly<Record<string, Buffer | string | null>>[];
}

export interface KafkaPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

interface KafkaFault {
  /** Codes of librdkafka; negative ones are its own, the others the broker's. */
  readonly code: number;
  readonly message: string;
}

type Answer<Value> = (error: KafkaFault | null | undefined, value: Value) => void;

/** Parts of a consumer that are used here. */
export interface KafkaConsumer {
  connect(options: { readonly timeout: number }, done: Answer<unknown>): void;
  disconnect(done: Answer<unknown>): void;
  assign(places: readonly KafkaPlace[]): void;
  unassign(): void;
  setDefaultConsumeTimeout(ms: number): void;
  setDefaultIsTimeoutOnlyForFirstMessage(isSo: boolean): void;
  consume(count: number, done: Answer<readonly KafkaMessage[]>): void;
  getMetadata(
    options: { readonly topic?: string; readonly allTopics?: boolean; readonly timeout: number },
    done: Answer<KafkaMetadata>,
  ): void;
  queryWatermarkOffsets(topic: string, partition: number, timeoutMs: number, done: Answer<Watermarks>): void;
  on(event: 'partition.eof', listener: (place: KafkaPlace) => void): void;
  on(event: 'event.error', listener: (error: KafkaFault) => void): void;
  on(event: 'event.log', listener: (line: unknown) => void): void;
}

export interface Watermarks {
  readonly lowOffset: number;
  readonly highOffset: number;
}

interface KafkaMetadata {
  readonly topics: readonly { readonly name: string; readonly partitions: readonly { readonly id: number }[] }[];
}

interface Library {
  readonly KafkaConsumer: new (settings: Readonly<Record<string, unknown>>, ofTopics: Readonly<Record<string, unknown>>) => KafkaConsumer;
}

const PACKAGE = '@confluentinc/kafka-javascript';

const library = onFirstUse((): Library => {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Library;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new ServiceError(
      'unsupported',
      `streams of Kafka need the optional package ${PACKAGE}, which is not there (${reason}): install its libraries (Debian: libssl-dev libsasl2-dev libzstd-dev libcurl4-openssl-dev zlib1g-dev liblz4-dev libtool) and run CKJS_LINKING=dynamic npm install ${PACKAGE}`,
      error,
    );
  }
});

/** Codes of librdkafka. */
export const KAFKA_FAULT = {
  allDown: -187,
  offsetReset: -140,
  unknownTopic: 3,
  unknownPartition: -190,
  outOfRange: 1,
  timedOut: -185,
} as const;

/** A consumer that is in no group's way: it commits nothing and never begins anywhere but where it is told. */
export function createConsumer(configuration: ReadonlyMap<string, string>, queuedBytesMax: number): KafkaConsumer {
  const { KafkaConsumer: Consumer } = library();
  const settings = {
    ...Object.fromEntries(configuration),
    // The library asks for one; no group is joined by partitions that are assigned.
    'group.id': 'dolmen',
    'enable.auto.commit': false,
    'enable.auto.offset.store': false,
    'enable.partition.eof': true,
    'allow.auto.create.topics': false,
    // Polling pauses as long as its task does.
    'max.poll.interval.ms': 86_400_000,
    'session.timeout.ms': 45_000,
    'queued.max.messages.kbytes': Math.max(1, Math.ceil(queuedBytesMax / 1024)),
    'fetch.wait.max.ms': Number(configuration.get('fetch.wait.max.ms') ?? 100),
    'topic.metadata.refresh.interval.ms': 30_000,
    log_level: 3,
  };
  return new Consumer(settings, { 'auto.offset.reset': 'error' });
}

/** The answer of a call that takes a callback, within a time. */
export function asked<Value>(what: string, timeoutMs: number, call: (done: Answer<Value>) => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ServiceError('unavailable', `${what}: no answer within ${timeoutMs} ms`)), timeoutMs);
    call((error, value) => {
      clearTimeout(timer);
      if (error === null || error === undefined) resolve(value);
      else reject(kafkaError(what, error));
    });
  });
}

/** A fault of the client as an error of ours. */
export function kafkaError(what: string, { code, message }: KafkaFault): ServiceError {
  const isMissing = code === KAFKA_FAULT.unknownTopic || code === KAFKA_FAULT.unknownPartition;
  return new ServiceError(isMissing ? 'not_found' : 'unavailable', `${what}: ${message}`);
}

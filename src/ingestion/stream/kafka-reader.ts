// Reads partitions of topics of Kafka from explicit offsets.

import { ServiceError } from '../../base/errors.js';
import { compileRegularExpression, type RegularExpression } from '../../expression/regular-expression.js';
import type { Offsets } from '../../model/stream/offsets.js';
import { consumerConfiguration } from './consumer-properties.js';
import {
  asked,
  createConsumer,
  KAFKA_FAULT,
  type KafkaConsumer,
  type KafkaMessage,
  type KafkaPlace,
  kafkaError,
  type Watermarks,
} from './kafka-client.js';
import {
  OffsetsGone,
  outside,
  type PollLimits,
  type ReadFrom,
  type StreamBatch,
  type StreamReader,
  type StreamRecord,
} from './stream-reader.js';
import type { StreamSource } from './stream-source.js';

/** Bytes of messages that the client fetches ahead. */
const QUEUED_BYTES_MAX = 32 * 2 ** 20;
const CALL_TIMEOUT_MS = 10_000;
/** A partition that tells nothing for so long may have lost its offset: the client tells of that once, or never. */
const SILENCE_MS = 5000;
/** Size of messages before the first has come. */
const FIRST_SIZE = 16_384;

type KafkaSource = Extract<StreamSource, { kind: 'kafka' }>;

interface Assigned extends KafkaPlace {
  readonly name: string;
  /** Offset of the next message, as far as is known. */
  next: number;
  heardMs: number;
}

export interface KafkaReaderOptions {
  readonly allowedVariables: readonly string[];
  readonly now: () => number;
}

/** Connects to the brokers. @throws ServiceError `unavailable`, `unsupported` without the package */
export async function openKafkaReader(source: KafkaSource, options: KafkaReaderOptions): Promise<KafkaReader> {
  const consumer = createConsumer(consumerConfiguration(source.properties, options.allowedVariables), QUEUED_BYTES_MAX);
  const reader = new KafkaReader(source, consumer, options);
  await reader.connect();
  return reader;
}

export class KafkaReader implements StreamReader {
  readonly kind = 'kafka' as const;
  readonly #source: KafkaSource;
  readonly #consumer: KafkaConsumer;
  readonly #now: () => number;
  readonly #topics: RegularExpression | null;
  /** Assigned partitions by topic and number. */
  readonly #assigned = new Map<string, Map<number, Assigned>>();
  /** Ends that the client met, which it tells before it hands over the messages before them. */
  #ends: KafkaPlace[] = [];
  /** Rejects when no broker can be reached. */
  readonly #refused: Promise<never>;
  #lastFault = '';
  #meanSize = FIRST_SIZE;
  #polling: Promise<unknown> = Promise.resolve();

  constructor(source: KafkaSource, consumer: KafkaConsumer, { now }: KafkaReaderOptions) {
    this.#source = source;
    this.#consumer = consumer;
    this.#now = now;
    this.#topics = source.isPattern ? compileRegularExpression(source.stream, 'input_invalid') : null;
    this.#refused = new Promise((_, reject) => {
      consumer.on('event.error', (fault) => {
        this.#lastFault = fault.message;
        // Said of a connection that was there, this passes.
        if (fault.code === KAFKA_FAULT.allDown) reject(kafkaError('connecting', fault));
      });
    });
    this.#refused.catch(() => undefined);
    consumer.on('event.log', () => undefined);
    consumer.on('partition.eof', (place) => void this.#ends.push(place));
    consumer.setDefaultIsTimeoutOnlyForFirstMessage(true);
  }

  async connect(): Promise<void> {
    try {
      await Promise.race([
        this.#ask('connecting', (done) => this.#consumer.connect({ timeout: CALL_TIMEOUT_MS }, done), CALL_TIMEOUT_MS + 1000),
        this.#refused,
      ]);
    } catch (error) {
      // A client whose connection failed still tries in the background.
      this.#consumer.disconnect(() => undefined);
      const reason = this.#lastFault === '' ? '' : ` (${this.#lastFault})`;
      throw new ServiceError('unavailable', `${this.#servers}: ${error instanceof Error ? error.message : String(error)}${reason}`, error);
    }
  }

  async partitions(): Promise<readonly string[]> {
    const { stream, isPattern } = this.#source;
    const options = isPattern ? { allTopics: true, timeout: CALL_TIMEOUT_MS } : { topic: stream, timeout: CALL_TIMEOUT_MS };
    const { topics } = await this.#ask('topics', (done: Parameters<KafkaConsumer['getMetadata']>[1]) =>
      this.#consumer.getMetadata(options, done),
    );
    const chosen = topics.filter(({ name }) => (this.#topics === null ? name === stream : this.#topics.groups(name) !== null));
    const found = chosen.flatMap(({ name, partitions }) => partitions.map(({ id }) => ({ topic: name, partition: id })));
    if (found.length === 0)
      throw new ServiceError('not_found', `${this.#servers}: there is no topic ${isPattern ? 'that matches ' : ''}${stream}`);
    found.sort((left, right) => (left.topic < right.topic ? -1 : left.topic > right.topic ? 1 : left.partition - right.partition));
    return found.map((place) => this.#nameOf(place));
  }

  async earliest(partitions: readonly string[]): Promise<Offsets> {
    return this.#watermarks(partitions, ({ lowOffset }) => lowOffset);
  }

  async latest(partitions: readonly string[]): Promise<Offsets> {
    return this.#watermarks(partitions, ({ highOffset }) => highOffset);
  }

  async gone(offsets: Offsets): Promise<readonly string[]> {
    const partitions = [...offsets.keys()];
    return outside(offsets, ...(await Promise.all([this.earliest(partitions), this.latest(partitions)])));
  }

  async assign(from: ReadonlyMap<string, ReadFrom>): Promise<void> {
    await this.#polling;
    this.#assigned.clear();
    this.#ends = [];
    const places: Assigned[] = [];
    for (const [name, { offset, isExclusive }] of from) {
      const first = Number(offset) + (isExclusive ? 1 : 0);
      if (!Number.isSafeInteger(first)) throw new ServiceError('input_invalid', `offset ${offset} of partition ${name} is out of range`);
      const place = { ...this.#placeOf(name), name, offset: first, next: first, heardMs: this.#now() };
      places.push(place);
      const ofTopic = this.#assigned.get(place.topic) ?? new Map<number, Assigned>();
      this.#assigned.set(place.topic, ofTopic.set(place.partition, place));
    }
    if (places.length === 0) this.#consumer.unassign();
    else this.#consumer.assign(places.map(({ topic, partition, offset }) => ({ topic, partition, offset })));
  }

  poll(limits: PollLimits): Promise<StreamBatch> {
    const polled = this.#polling.then(() => this.#poll(limits));
    this.#polling = polled.catch(() => undefined);
    return polled;
  }

  async close(): Promise<void> {
    await this.#polling;
    await this.#ask('disconnecting', (done) => this.#consumer.disconnect(done)).catch(() => undefined);
  }

  async #poll({ maxRows, maxBytes, timeoutMs }: PollLimits): Promise<StreamBatch> {
    this.#consumer.setDefaultConsumeTimeout(Math.max(1, timeoutMs));
    const count = Math.max(1, Math.min(maxRows, Math.floor(maxBytes / this.#meanSize)));
    const messages = await this.#consume(count);
    const records: StreamRecord[] = [];
    let bytes = 0;
    const nowMs = this.#now();
    for (const message of messages) {
      const place = this.#assigned.get(message.topic)?.get(message.partition);
      // Messages of an assignment before this one may still come.
      if (place === undefined || message.offset < place.next) continue;
      place.next = message.offset + 1;
      place.heardMs = nowMs;
      bytes += (message.value?.length ?? 0) + (message.key?.length ?? 0);
      records.push(recordOf(message, place.name));
    }
    if (records.length > 0) this.#meanSize = Math.max(1, Math.ceil((this.#meanSize + (3 * bytes) / records.length) / 4));
    const positions = this.#takeEnds();
    await this.#refuseGone(this.#now() - SILENCE_MS);
    return { records, positions, isFull: messages.length >= count };
  }

  async #consume(count: number): Promise<readonly KafkaMessage[]> {
    return new Promise((resolve, reject) => {
      this.#consumer.consume(count, (error, messages) => {
        if (error === null || error === undefined) return resolve(messages);
        if (error.code === KAFKA_FAULT.timedOut) return resolve([]);
        if (error.code !== KAFKA_FAULT.offsetReset && error.code !== KAFKA_FAULT.outOfRange)
          return reject(kafkaError(this.#servers, error));
        this.#refuseGone(Number.POSITIVE_INFINITY).then(() => resolve([]), reject);
      });
    });
  }

  /** Looks whether partitions that were not heard of since a time still have the offsets at which they are read. */
  async #refuseGone(beforeMs: number): Promise<void> {
    const gone = new Map<string, string>();
    for (const ofTopic of this.#assigned.values())
      for (const place of ofTopic.values()) {
        if (place.heardMs >= beforeMs) continue;
        place.heardMs = this.#now();
        const { lowOffset, highOffset } = await this.#watermarksOf(place);
        if (place.next < lowOffset || place.next > highOffset) gone.set(place.name, String(place.next));
      }
    if (gone.size > 0) throw new OffsetsGone(gone);
  }

  #takeEnds(): Offsets {
    const positions = new Map<string, string>();
    for (const { topic, partition, offset } of this.#ends) {
      const place = this.#assigned.get(topic)?.get(partition);
      if (place === undefined) continue;
      place.heardMs = this.#now();
      if (offset < place.next) continue;
      place.next = offset;
      positions.set(place.name, String(offset));
    }
    this.#ends = [];
    return positions;
  }

  async #watermarks(partitions: readonly string[], chosen: (marks: Watermarks) => number): Promise<Offsets> {
    const found = await Promise.all(
      partitions.map(async (name): Promise<[string, string]> => [name, String(chosen(await this.#watermarksOf(this.#placeOf(name))))]),
    );
    return new Map(found);
  }

  #watermarksOf({ topic, partition }: Pick<KafkaPlace, 'topic' | 'partition'>): Promise<Watermarks> {
    return this.#ask(`offsets of ${topic}, partition ${partition}`, (done: Parameters<KafkaConsumer['queryWatermarkOffsets']>[3]) =>
      this.#consumer.queryWatermarkOffsets(topic, partition, CALL_TIMEOUT_MS, done),
    );
  }

  #ask<Value>(
    what: string,
    call: (done: (error: { code: number; message: string } | null | undefined, value: Value) => void) => void,
    timeoutMs = CALL_TIMEOUT_MS + 1000,
  ): Promise<Value> {
    return asked(`${this.#servers}: ${what}`, timeoutMs, call);
  }

  get #servers(): string {
    return this.#source.properties.bootstrapServers;
  }

  #nameOf({ topic, partition }: Pick<KafkaPlace, 'topic' | 'partition'>): string {
    return this.#source.isPattern ? `${topic}:${partition}` : String(partition);
  }

  #placeOf(name: string): Pick<KafkaPlace, 'topic' | 'partition'> {
    const [, topic = this.#source.stream, number = ''] = /^(?:(.+):)?(\d{1,9})$/.exec(name) ?? [];
    if (number === '') throw new ServiceError('input_invalid', `"${name}" is not a partition of Kafka`);
    return { topic, partition: Number(number) };
  }
}

function recordOf({ topic, offset, timestamp, key, value, headers }: KafkaMessage, partition: string): StreamRecord {
  return {
    partition,
    offset: String(offset),
    timestampMs: timestamp ?? 0,
    topic,
    key: bytesOf(key),
    values: [value],
    headers:
      headers === undefined
        ? NO_HEADERS
        : headers.flatMap((each) => Object.entries(each).map(([name, text]) => [name, bytesOf(text)] as const)),
  };
}

const NO_HEADERS: StreamRecord['headers'] = [];

function bytesOf(value: Buffer | string | null | undefined): Uint8Array | null {
  return typeof value === 'string' ? Buffer.from(value) : (value ?? null);
}

// Reads partitions of topics of Kafka from explicit offsets.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import { compileRegularExpression, type RegularExpression } from '../../../expression/regular-expression.js';
import type { Offsets } from '../../../model/stream/offsets.js';
import { outside, type PollLimits, type ReadFrom, type StreamBatch, type StreamReader } from '../stream-reader.js';
import type { StreamSource } from '../stream-source.js';
import { consumerSettings } from './consumer-settings.js';
import { Fetches } from './fetches.js';
import { KafkaClient, PASSING_FAULTS } from './kafka-client.js';
import type { PartitionOfTopic } from './requests.js';

/** Time within which brokers must have told offsets. */
const OFFSETS_TIMEOUT_MS = 10_000;
/** Time between two looks at brokers that have no answer yet. */
const RETRY_MS = 100;

type KafkaSource = Extract<StreamSource, { kind: 'kafka' }>;

export interface KafkaReaderOptions {
  readonly allowedVariables: readonly string[];
  readonly now: () => number;
}

/** Connects to the brokers. @throws ServiceError `unavailable`, `unsupported` for brokers that are too old */
export async function openKafkaReader(source: KafkaSource, options: KafkaReaderOptions): Promise<KafkaReader> {
  const client = new KafkaClient(consumerSettings(source.properties, options.allowedVariables));
  try {
    await client.connect();
    return new KafkaReader(source, client);
  } catch (error) {
    await client.close();
    throw error;
  }
}

export class KafkaReader implements StreamReader {
  readonly kind = 'kafka' as const;
  readonly #source: KafkaSource;
  readonly #client: KafkaClient;
  readonly #topics: RegularExpression | null;
  readonly #fetches: Fetches;

  constructor(source: KafkaSource, client: KafkaClient) {
    this.#source = source;
    this.#client = client;
    this.#topics = source.isPattern ? compileRegularExpression(source.stream, 'input_invalid') : null;
    this.#fetches = new Fetches({
      client,
      bounds: async (place) => {
        const [low] = await this.#offsets([place], -2, 0);
        const [high] = await this.#offsets([place], -1, 0);
        return { low: low ?? 0, high: high ?? 0 };
      },
    });
  }

  async partitions(): Promise<readonly string[]> {
    const { stream, isPattern, properties } = this.#source;
    const { topics } = await this.#client.metadata(isPattern ? null : [stream]);
    const chosen = topics.filter(({ name }) => (this.#topics === null ? name === stream : this.#topics.groups(name) !== null));
    const found = chosen.flatMap(({ name, partitions }) => partitions.map(({ partition }) => ({ topic: name, partition })));
    if (found.length === 0)
      throw new ServiceError('not_found', `${properties.bootstrapServers}: there is no topic ${isPattern ? 'that matches ' : ''}${stream}`);
    found.sort((left, right) => (left.topic < right.topic ? -1 : left.topic > right.topic ? 1 : left.partition - right.partition));
    return found.map((place) => this.#nameOf(place));
  }

  async earliest(partitions: readonly string[]): Promise<Offsets> {
    return this.#named(partitions, -2);
  }

  async latest(partitions: readonly string[]): Promise<Offsets> {
    return this.#named(partitions, -1);
  }

  async gone(offsets: Offsets): Promise<readonly string[]> {
    const partitions = [...offsets.keys()];
    // Messages of open transactions are there, though they are not read yet.
    return outside(offsets, ...(await Promise.all([this.#named(partitions, -2, 0), this.#named(partitions, -1, 0)])));
  }

  async assign(from: ReadonlyMap<string, ReadFrom>): Promise<void> {
    this.#fetches.assign(
      [...from].map(([name, { offset, isExclusive }]) => {
        const next = Number(offset) + (isExclusive ? 1 : 0);
        if (!Number.isSafeInteger(next)) throw new ServiceError('input_invalid', `offset ${offset} of partition ${name} is out of range`);
        return { ...this.#placeOf(name), name, next };
      }),
    );
  }

  async poll(limits: PollLimits): Promise<StreamBatch> {
    return { records: [], ...(await this.#fetches.take(limits)) };
  }

  async close(): Promise<void> {
    this.#fetches.assign([]);
    await this.#client.close();
  }

  async #named(partitions: readonly string[], timestamp: -1 | -2, isolation = this.#client.settings.isolation): Promise<Offsets> {
    const offsets = await this.#offsets(
      partitions.map((name) => this.#placeOf(name)),
      timestamp,
      isolation,
    );
    return new Map(partitions.map((name, at) => [name, String(offsets[at] ?? 0)]));
  }

  /** Offsets of these, asked of the brokers that lead them, until all are told. */
  async #offsets(places: readonly PartitionOfTopic[], timestamp: -1 | -2, isolation: number): Promise<readonly number[]> {
    const found = new Map<string, number>();
    const keyOf = ({ topic, partition }: PartitionOfTopic): string => `${topic}:${partition}`;
    for (const startMs = performance.now(); ; await sleep(RETRY_MS)) {
      const left = places.filter((place) => !found.has(keyOf(place)));
      if (left.length === 0) return places.map((place) => found.get(keyOf(place)) ?? 0);
      const leaders = await this.#client.leaders([...new Set(left.map(({ topic }) => topic))]);
      const missing = left.find((place) => leaders.missing(place));
      if (missing !== undefined)
        throw new ServiceError('not_found', `${this.#source.properties.bootstrapServers}: there is no partition ${keyOf(missing)}`);
      for (const leader of new Set(left.map((place) => leaders.of(place)))) {
        if (leader < 0) continue;
        const ofLeader = left.filter((place) => leaders.of(place) === leader);
        for (const { errorCode, offset, ...place } of await this.#client.offsets(leader, ofLeader, timestamp, isolation)) {
          if (errorCode === 0) found.set(keyOf(place), offset);
          else if (!PASSING_FAULTS.has(errorCode))
            throw new ServiceError(
              'unavailable',
              `${this.#source.properties.bootstrapServers}: offsets of ${keyOf(place)}: code ${errorCode}`,
            );
        }
      }
      if (performance.now() - startMs > OFFSETS_TIMEOUT_MS)
        throw new ServiceError('unavailable', `${this.#source.properties.bootstrapServers}: offsets: no broker leads all partitions`);
    }
  }

  #nameOf({ topic, partition }: PartitionOfTopic): string {
    return this.#source.isPattern ? `${topic}:${partition}` : String(partition);
  }

  #placeOf(name: string): PartitionOfTopic {
    const [, topic = this.#source.stream, number = ''] = /^(?:(.+):)?(\d{1,9})$/.exec(name) ?? [];
    if (number === '') throw new ServiceError('input_invalid', `"${name}" is not a partition of Kafka`);
    return { topic, partition: Number(number) };
  }
}

// Fetches messages of partitions ahead of whoever reads them, from the brokers that lead these.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import type { Offsets } from '../../../model/stream/offsets.js';
import { type MessageBlock, OffsetsGone, type PollLimits } from '../stream-reader.js';
import { type KafkaClient, OUT_OF_RANGE, PASSING_FAULTS } from './kafka-client.js';
import { readRecordBatches } from './record-batches.js';
import type { FetchedPartition, PartitionOfTopic } from './requests.js';

/** Bytes of a partition, fetched and not taken yet, below which more of it are fetched. */
const AHEAD_BYTES = 2 ** 21;
/** The same of all partitions, however many these are. */
const AHEAD_BYTES_ALL = 2 ** 26;
/** Time for which a broker may ask to be left alone at once. */
const THROTTLE_MS_MAX = 30_000;
/** Time between two looks at who leads a partition. */
const RETRY_MS = 100;
/** Time for which brokers may not know a topic: all of them learn of a new one in this time. */
const UNKNOWN_MS = 3000;

export interface AssignedPartition extends PartitionOfTopic {
  /** Name as in `Offsets`. */
  readonly name: string;
  /** Offset of the next message to fetch. */
  next: number;
}

interface Place extends AssignedPartition {
  /** Broker to ask; -1: not known. */
  broker: number;
  aheadBytes: number;
  /** Offset behind the last message that could be read when its broker last answered. */
  end: number;
  /** Number of its last answer with messages: a broker hands out in the order of its partitions, and may never come to the last one. */
  turn: number;
  /** Time since which no broker knows the topic. */
  unknownSinceMs: number | null;
}

/** Messages of one answer, or how far it moved its partition without any. */
interface Ready {
  readonly place: Place;
  block: MessageBlock | null;
  /** Offset behind it. */
  readonly next: number;
  readonly sizeBytes: number;
}

export interface TakenMessages {
  readonly blocks: readonly MessageBlock[];
  readonly positions: Offsets;
  readonly isFull: boolean;
}

export interface FetchesOptions {
  readonly client: KafkaClient;
  /** The first and the end offset of a partition. */
  readonly bounds: (place: PartitionOfTopic) => Promise<{ readonly low: number; readonly high: number }>;
}

/** Keeps one request for messages under way with each broker while a partition that it leads has few messages waiting. */
export class Fetches {
  readonly #options: FetchesOptions;
  #places: Place[] = [];
  /** Answers to what was asked for an assignment before this one are dropped. */
  #assignment = 0;
  #ready: Ready[] = [];
  #underWay = new Set<number>();
  #turns = 0;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;

  constructor(options: FetchesOptions) {
    this.#options = options;
  }

  /** Fetches these, and no others, from now on. */
  assign(places: readonly AssignedPartition[]): void {
    this.#assignment++;
    this.#ready = [];
    this.#underWay = new Set();
    this.#failure = null;
    this.#places = places.map((place) => ({ ...place, broker: -1, aheadBytes: 0, end: 0, turn: 0, unknownSinceMs: null }));
    this.#wake();
  }

  /** Messages that have come, or come within a time. @throws OffsetsGone; ServiceError `unavailable`, `not_found`, `input_unreadable` */
  async take(limits: PollLimits): Promise<TakenMessages> {
    const endMs = performance.now() + Math.max(1, limits.timeoutMs);
    for (;;) {
      this.#fetch();
      if (this.#ready.length > 0) return this.#takeReady(limits);
      if (this.#failure !== null) {
        const { error } = this.#failure;
        this.#failure = null;
        throw error;
      }
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return { blocks: [], positions: new Map(), isFull: false };
      await this.#arrival(leftMs);
    }
  }

  async #arrival(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  #takeReady({ maxRows, maxBytes }: PollLimits): TakenMessages {
    const blocks: MessageBlock[] = [];
    const positions = new Map<string, string>();
    let [rows, bytes] = [0, 0];
    while (rows < Math.max(1, maxRows) && bytes < maxBytes) {
      const [first] = this.#ready;
      if (first === undefined) break;
      const { place, block, sizeBytes, next } = first;
      if (block !== null) {
        const mean = Math.max(1, sizeBytes / block.count);
        const count = Math.max(1, Math.min(block.count, maxRows - rows, Math.ceil((maxBytes - bytes) / mean)));
        blocks.push(block.part(0, count));
        rows += count;
        bytes += count * mean;
        if (count < block.count) {
          place.aheadBytes -= count * mean;
          this.#ready[0] = { place, block: block.part(count, block.count), next, sizeBytes: sizeBytes - count * mean };
          break;
        }
      }
      this.#ready.shift();
      place.aheadBytes -= sizeBytes;
      positions.set(place.name, String(next));
    }
    this.#fetch();
    const isFull = this.#ready.length > 0 || this.#places.some(({ next, end }) => next < end);
    return { blocks, positions, isFull };
  }

  get #isFull(): boolean {
    return this.#places.reduce((sum, { aheadBytes }) => sum + aheadBytes, 0) >= AHEAD_BYTES_ALL;
  }

  /** Asks each broker, with which nothing is under way, for the partitions of which few messages wait. */
  #fetch(): void {
    const wanted = this.#failure !== null || this.#isFull ? [] : this.#places.filter(({ aheadBytes }) => aheadBytes < AHEAD_BYTES);
    for (const broker of new Set(wanted.map((place) => place.broker))) {
      if (this.#underWay.has(broker)) continue;
      const places = wanted.filter((place) => place.broker === broker).sort((one, other) => one.turn - other.turn);
      const assignment = this.#assignment;
      this.#underWay.add(broker);
      const asked = broker < 0 ? this.#findLeaders(places, assignment) : this.#ask(broker, places, assignment);
      asked
        .catch((error: unknown) => {
          if (assignment === this.#assignment) this.#failure ??= { error };
        })
        .finally(() => {
          if (assignment !== this.#assignment) return;
          this.#underWay.delete(broker);
          this.#fetch();
          this.#wake();
        });
    }
  }

  async #findLeaders(places: readonly Place[], assignment: number): Promise<void> {
    const leaders = await this.#options.client.leaders([...new Set(places.map(({ topic }) => topic))]);
    const nowMs = performance.now();
    for (const place of places) {
      place.broker = leaders.of(place);
      if (leaders.missing(place)) {
        place.unknownSinceMs ??= nowMs;
        if (nowMs - place.unknownSinceMs >= UNKNOWN_MS)
          throw new ServiceError(
            'not_found',
            `${this.#options.client.settings.servers}: topic ${place.topic} has no partition ${place.partition}`,
          );
      }
    }
    if (places.some(({ broker }) => broker < 0) && assignment === this.#assignment) await sleep(RETRY_MS);
  }

  async #ask(broker: number, places: readonly Place[], assignment: number): Promise<void> {
    let answer: Awaited<ReturnType<KafkaClient['fetch']>>;
    try {
      answer = await this.#options.client.fetch(
        broker,
        places.map(({ topic, partition, next }) => ({ topic, partition, offset: next })),
      );
    } catch (error) {
      // The broker may be gone for good, and others lead.
      for (const place of places) place.broker = -1;
      throw error;
    }
    let pauseMs = Math.min(answer.throttleMs, THROTTLE_MS_MAX);
    for (const each of answer.partitions) {
      // An answer that there is no room for is asked for again.
      if (assignment !== this.#assignment || this.#isFull) break;
      const place = places.find(({ topic, partition }) => topic === each.topic && partition === each.partition);
      if (place !== undefined && !(await this.#receive(place, each, broker))) pauseMs = Math.max(pauseMs, RETRY_MS);
    }
    if (pauseMs === 0 || assignment !== this.#assignment) return;
    this.#wake();
    await sleep(pauseMs, undefined, { ref: false });
  }

  /** Takes in what a broker answers for a partition; false: it is to be asked again, after a while. */
  async #receive(place: Place, answer: FetchedPartition, broker: number): Promise<boolean> {
    const { errorCode, records, aborted, preferredReplica } = answer;
    if (errorCode === OUT_OF_RANGE) await this.#refuseGone(place);
    if (errorCode === OUT_OF_RANGE || PASSING_FAULTS.has(errorCode)) {
      place.broker = -1;
      return false;
    }
    if (errorCode !== 0)
      throw new ServiceError(
        'unavailable',
        `${this.#options.client.settings.servers}: partition ${place.partition} of topic ${place.topic}: the broker refuses with code ${errorCode}`,
      );
    place.unknownSinceMs = null;
    place.end = this.#options.client.settings.isolation === 0 ? answer.end : answer.stableEnd;
    if (preferredReplica >= 0 && preferredReplica !== broker) place.broker = preferredReplica;
    if (records.length === 0) return true;
    place.turn = ++this.#turns;
    const {
      blocks,
      next,
      sizeBytes: allBytes,
    } = readRecordBatches(records, {
      place,
      from: place.next,
      aborted,
      checks: this.#options.client.settings.checksBatches,
    });
    // The first batch is cut off.
    if (next === place.next) return false;
    place.next = next;
    place.aheadBytes += allBytes;
    const sizeBytes = allBytes / Math.max(1, blocks.length);
    if (blocks.length === 0) this.#ready.push({ place, block: null, next, sizeBytes });
    for (const [at, block] of blocks.entries()) {
      const end = at === blocks.length - 1 ? next : (block.offsets[block.count - 1] ?? 0) + 1;
      this.#ready.push({ place, block, next: end, sizeBytes });
    }
    return true;
  }

  /** Brokers refuse an offset that the partition has no more, or not yet; a replica may be behind. */
  async #refuseGone(place: Place): Promise<void> {
    const { low, high } = await this.#options.bounds(place);
    if (place.next < low || place.next > high) throw new OffsetsGone(new Map([[place.name, String(place.next)]]));
  }
}

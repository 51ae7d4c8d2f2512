// Reads shards of a stream of Kinesis from explicit sequence numbers.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import { lowest } from '../../../base/lists.js';
import { compareOffsets, KINESIS_END_OF_SHARD, KINESIS_EXPIRED, type Offsets } from '../../../model/stream/offsets.js';
import { OffsetsGone, type PollLimits, type ReadFrom, type StreamBatch, type StreamReader, type StreamRecord } from '../stream-reader.js';
import {
  IteratorExpired,
  type KinesisAccess,
  KinesisClient,
  type KinesisSource,
  ShardGone,
  type ShardPlace,
  TooFast,
} from './kinesis-client.js';
import { userRecords } from './user-records.js';

/** Bytes that one answer of Kinesis may have. */
const ANSWER_BYTES = 10 * 2 ** 20;
/** Bytes of records that wait to be taken, those that answers under way may bring among them. */
const BYTES_AHEAD = 64 * 2 ** 20;
const ANSWER_RECORDS = 10_000;
/** Pause between two calls over a shard that had nothing more: it may be asked five times a second. */
const IDLE_PAUSE_MS = 200;
/** Pause after the service asked for fewer calls. */
const TOO_FAST_PAUSE_MS = 3000;
/** Answers without records that are passed over to find the first record of a place. */
const EMPTY_ANSWERS_MAX = 100;
/** Stretches in which the last record is looked for, shortest first. */
const LOOK_BACK_MS = [60_000, 8 * 60_000, 3_600_000, 8 * 3_600_000];

interface Reading {
  readonly shard: string;
  place: ShardPlace;
  iterator: string | null;
  /** Records of one number, which stay together. */
  readonly ready: (readonly StreamRecord[])[];
  readyBytes: number;
  isAsking: boolean;
  /** The shard is closed, and all of it came. */
  isEnded: boolean;
  isEndTold: boolean;
  /** Time of the next call. */
  dueMs: number;
  error: unknown;
}

/** @throws ServiceError `forbidden` for an endpoint that may not be connected to */
export async function openKinesisReader(source: KinesisSource, access: KinesisAccess, now: () => number): Promise<KinesisReader> {
  // An address that is written out is not looked up again.
  if (!source.isOfAws) await access.addressesOf(new URL(source.endpoint));
  return new KinesisReader(source, access, now);
}

export class KinesisReader implements StreamReader {
  readonly kind = 'kinesis' as const;
  readonly #source: KinesisSource;
  readonly #client: KinesisClient;
  readonly #now: () => number;
  #readings: Reading[] = [];
  #stopped = new AbortController();
  #wake: () => void = () => undefined;
  /** The shard that the next poll takes of first. */
  #turn = 0;

  constructor(source: KinesisSource, access: KinesisAccess, now: () => number) {
    this.#source = source;
    this.#client = new KinesisClient(source, access);
    this.#now = now;
  }

  async partitions(): Promise<readonly string[]> {
    const shards = await this.#client.shards();
    return shards.map(({ id }) => id).sort();
  }

  /** Numbers before those of the first records; a shard that is gone is at its end. */
  async earliest(partitions: readonly string[]): Promise<Offsets> {
    const starts = await this.#starts();
    return new Map(partitions.map((partition) => [partition, starts.get(partition) ?? KINESIS_END_OF_SHARD]));
  }

  async latest(partitions: readonly string[]): Promise<Offsets> {
    const starts = await this.#starts();
    const found = await Promise.all(
      partitions.map(async (partition): Promise<[string, string]> => {
        const start = starts.get(partition);
        return [partition, start === undefined ? KINESIS_END_OF_SHARD : ((await this.#lastOf(partition)) ?? start)];
      }),
    );
    return new Map(found);
  }

  async gone(offsets: Offsets): Promise<readonly string[]> {
    const starts = await this.#starts();
    const looked = await Promise.all(
      [...offsets].map(async ([shard, offset]) => {
        const start = starts.get(shard);
        if (offset === KINESIS_END_OF_SHARD || offset === KINESIS_EXPIRED || offset === start) return null;
        return start !== undefined && (await this.#has(shard, offset)) ? null : shard;
      }),
    );
    return looked.filter((shard) => shard !== null);
  }

  async behind(from: ReadonlyMap<string, ReadFrom>): Promise<ReadonlyMap<string, number>> {
    const found = await Promise.all(
      [...from].map(async ([shard, place]): Promise<[string, number]> => {
        if (place.offset === KINESIS_END_OF_SHARD) return [shard, 0];
        const iterator = await this.#client.iterator(shard, placeOf(place));
        const { records, behindMs } = await this.#client.records(shard, iterator, 1, this.#stopped.signal);
        const [first] = records;
        return [shard, first === undefined ? behindMs : Math.max(0, this.#now() - first.arrivedMs)];
      }),
    ).catch((error: unknown) => {
      throw refusalOf(error, this.#source);
    });
    return new Map(found);
  }

  async assign(from: ReadonlyMap<string, ReadFrom>): Promise<void> {
    this.#stop();
    this.#stopped = new AbortController();
    this.#readings = [...from].map(([shard, place]) => ({
      shard,
      place: placeOf(place),
      iterator: null,
      ready: [],
      readyBytes: 0,
      isAsking: false,
      isEnded: place.offset === KINESIS_END_OF_SHARD,
      isEndTold: false,
      dueMs: 0,
      error: null,
    }));
  }

  async poll({ maxRows, maxBytes, timeoutMs }: PollLimits): Promise<StreamBatch> {
    const untilMs = this.#now() + timeoutMs;
    for (;;) {
      this.#ask();
      const batch = this.#take(maxRows, maxBytes);
      const restMs = untilMs - this.#now();
      if (batch.records.length > 0 || batch.positions.size > 0 || restMs <= 0) return batch;
      const dueMs = lowest(this.#readings.filter(({ isAsking, isEnded }) => !isAsking && !isEnded).map((each) => each.dueMs));
      await this.#woken(Math.max(1, Math.min(restMs, dueMs - this.#now())));
    }
  }

  async close(): Promise<void> {
    this.#stop();
    this.#client.close();
  }

  #stop(): void {
    this.#stopped.abort();
    this.#readings = [];
    this.#wake();
  }

  /** Asks for records of the shards that have none waiting, as many as there is memory for. */
  #ask(): void {
    const nowMs = this.#now();
    let ahead = 0;
    for (const { isAsking, readyBytes } of this.#readings) ahead += isAsking ? ANSWER_BYTES : readyBytes;
    for (const reading of this.#readings) {
      const { isAsking, isEnded, dueMs, ready, error } = reading;
      if (isAsking || isEnded || ready.length > 0 || dueMs > nowMs || error !== null) continue;
      if (ahead > 0 && ahead + ANSWER_BYTES > BYTES_AHEAD) return;
      ahead += ANSWER_BYTES;
      reading.isAsking = true;
      void this.#fetch(reading, this.#stopped.signal);
    }
  }

  async #fetch(reading: Reading, signal: AbortSignal): Promise<void> {
    const { shard } = reading;
    const { fetchDelayMs, recordsPerFetch } = this.#source;
    let pauseMs = fetchDelayMs;
    try {
      reading.iterator ??= await this.#client.iterator(shard, reading.place);
      const answer = await this.#client.records(shard, reading.iterator, recordsPerFetch ?? ANSWER_RECORDS, signal);
      if (signal.aborted) return;
      for (const { sequence, partitionKey, arrivedMs, data } of answer.records) {
        reading.ready.push(
          userRecords(partitionKey, data).map((record) => ({
            partition: shard,
            offset: sequence,
            timestampMs: arrivedMs,
            topic: this.#source.stream,
            key: Buffer.from(record.partitionKey),
            values: [record.data],
            headers: NO_HEADERS,
          })),
        );
        reading.readyBytes += data.length;
        reading.place = { kind: 'after', sequence };
      }
      reading.iterator = answer.next;
      reading.isEnded = answer.next === null;
      if (answer.records.length === 0 || answer.behindMs === 0) pauseMs = Math.max(pauseMs, IDLE_PAUSE_MS);
    } catch (error) {
      if (signal.aborted) return;
      // A number that was taken from the stream itself is in it, or has been.
      if (error instanceof ShardGone) reading.error = new OffsetsGone(new Map([[shard, writtenPlace(reading.place)]]));
      else if (error instanceof TooFast) pauseMs = Math.max(pauseMs, TOO_FAST_PAUSE_MS);
      else if (error instanceof IteratorExpired) reading.iterator = null;
      else reading.error = error;
    } finally {
      reading.isAsking = false;
      reading.dueMs = this.#now() + pauseMs;
      this.#wake();
    }
  }

  /** Records that have come, of one shard after the other: records until a limit is reached, one number at least. */
  #take(maxRows: number, maxBytes: number): StreamBatch {
    const records: StreamRecord[] = [];
    const positions = new Map<string, string>();
    let bytes = 0;
    let isFull = false;
    this.#turn++;
    for (let at = 0; at < this.#readings.length && !isFull; at++) {
      const reading = this.#readings[(this.#turn + at) % this.#readings.length];
      if (reading === undefined) continue;
      const taken = takenOf(reading, maxRows - records.length, maxBytes - bytes, records.length === 0);
      for (const each of taken.records) records.push(each);
      bytes += taken.bytes;
      isFull = reading.ready.length > 0;
      if (reading.ready.length > 0) continue;
      if (reading.error !== null && records.length === 0) {
        const { error } = reading;
        reading.error = null;
        throw error;
      }
      if (reading.isEnded && !reading.isEndTold) {
        reading.isEndTold = true;
        positions.set(reading.shard, KINESIS_END_OF_SHARD);
      }
    }
    return { records, blocks: [], positions, isFull };
  }

  async #woken(timeoutMs: number): Promise<void> {
    const ended = new AbortController();
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#wake = resolve;
      }),
      sleep(timeoutMs, undefined, { signal: ended.signal }).catch(() => undefined),
    ]);
    ended.abort();
  }

  async #starts(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#client.shards()).map(({ id, start }) => [id, start]));
  }

  /** Number of the last record of a shard; undefined: it has none. */
  async #lastOf(shard: string): Promise<string | undefined> {
    const nowMs = this.#now();
    const places: ShardPlace[] = LOOK_BACK_MS.map((each) => ({ kind: 'time', timeMs: nowMs - each }));
    for (const place of [...places, { kind: 'earliest' } as const]) {
      let last: string | undefined;
      for await (const answer of this.#answers(shard, place, ANSWER_RECORDS)) {
        last = answer.records.at(-1)?.sequence ?? last;
        if (answer.behindMs === 0) break;
      }
      if (last !== undefined) return last;
    }
    return undefined;
  }

  /** Whether the record of a number is still there. */
  async #has(shard: string, sequence: string): Promise<boolean> {
    try {
      let empty = 0;
      for await (const { records, behindMs } of this.#answers(shard, { kind: 'at', sequence }, 1)) {
        const [first] = records;
        if (first !== undefined) return compareOffsets(first.sequence, sequence) === 0;
        if (behindMs === 0 || ++empty > EMPTY_ANSWERS_MAX) return false;
      }
      return false;
    } catch (error) {
      if (error instanceof ShardGone) return false;
      throw error;
    }
  }

  async *#answers(shard: string, place: ShardPlace, limit: number) {
    const { signal } = this.#stopped;
    let iterator: string | null = await this.#client.iterator(shard, place);
    while (iterator !== null) {
      try {
        const answer: Awaited<ReturnType<KinesisClient['records']>> = await this.#client.records(shard, iterator, limit, signal);
        yield answer;
        iterator = answer.next;
      } catch (error) {
        if (!(error instanceof TooFast)) throw refusalOf(error, this.#source);
        await sleep(TOO_FAST_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
    }
  }
}

const NO_HEADERS: StreamRecord['headers'] = [];

/** Takes records of a shard that fit; with `atLeastOne` those of its first number whatever their size. */
function takenOf(reading: Reading, maxRows: number, maxBytes: number, atLeastOne: boolean) {
  const { ready } = reading;
  const records: StreamRecord[] = [];
  let [count, bytes] = [0, 0];
  for (const group of ready) {
    const size = sizeOf(group);
    const fits = records.length + group.length <= maxRows && bytes + size <= maxBytes;
    if (!fits && !(atLeastOne && count === 0)) break;
    for (const record of group) records.push(record);
    bytes += size;
    count++;
  }
  ready.splice(0, count);
  reading.readyBytes = ready.length === 0 ? 0 : Math.max(0, reading.readyBytes - bytes);
  return { records, bytes };
}

function sizeOf(group: readonly StreamRecord[]): number {
  let bytes = 0;
  for (const { values } of group) bytes += values[0]?.length ?? 0;
  return bytes;
}

function placeOf({ offset, isExclusive }: ReadFrom): ShardPlace {
  return { kind: isExclusive ? 'after' : 'at', sequence: offset };
}

function writtenPlace(place: ShardPlace): string {
  return place.kind === 'at' || place.kind === 'after' ? place.sequence : place.kind;
}

/** The error of a call as others are given it. */
function refusalOf(error: unknown, { endpoint }: KinesisSource): unknown {
  if (error instanceof TooFast || error instanceof IteratorExpired)
    return new ServiceError('unavailable', `${endpoint}: ${error.message}`, error);
  if (error instanceof ShardGone) return new ServiceError('input_unreadable', `${endpoint}: ${error.message}`, error);
  return error;
}

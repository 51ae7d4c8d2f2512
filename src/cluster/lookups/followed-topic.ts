// Follows a topic whose messages are entries of a lookup.

import { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { type MessageBlock, OffsetsGone, type StreamBatch, type StreamReader } from '../../ingestion/stream/stream-reader.js';
import { ChangingEntries } from '../../model/lookup/changing-entries.js';
import { compareOffsets, type Offsets } from '../../model/stream/offsets.js';
import type { SourceState } from './lookup-source.js';

export interface FollowedTopicOptions {
  readonly open: () => Promise<StreamReader>;
  /** Time within which the first reading must come to the end; null: any. */
  readonly connectMs: number | null;
  /** Keys and values together (`svc.lookup.maxBytes`). */
  readonly bytesMax: number;
}

const POLL = { maxRows: 65_536, maxBytes: 2 ** 23 };
/** Time that messages are waited for when more of them are known to be there. */
const ARRIVAL_MS = 100;
/** Time that one look reads on for. */
const READ_ON_MS = 1000;
/** Time between two looks at the partitions of the topic. */
const PARTITIONS_MS = 10_000;
/** Rest between two tables, in times of what the last one took. */
const REST_FACTOR = 4;
const ENTRIES_PER_LOOK = 128;

/** The entries of a topic, read from its beginning and then on, with one look at a time. */
export class FollowedTopic {
  readonly #options: FollowedTopicOptions;
  #reader: StreamReader | undefined;
  #isClosed = false;
  #entries: ChangingEntries;
  /** Offsets of the next messages. */
  #next = new Map<string, string>();
  #assigned: readonly string[] = [];
  #partitionsMs = 0;
  /** All messages were read that were there when the first reading began. */
  #isWhole = false;
  /** There is no table of the entries as they are. */
  #isChanged = true;
  #restUntilMs = 0;

  constructor(options: FollowedTopicOptions) {
    this.#options = options;
    this.#entries = new ChangingEntries(options.bytesMax);
  }

  /**
   * Reads what there is, the first time to the end; null: the entries are the same, or a table of them was made just now.
   * @throws ServiceError when the topic cannot be read: the next look goes on where this one ended, or begins anew where it cannot
   */
  async read(signal: AbortSignal): Promise<SourceState | null> {
    try {
      await this.#read(signal);
    } catch (error) {
      await this.#leave();
      if (error instanceof OffsetsGone || (error instanceof ServiceError && error.code === 'resource_limit')) this.#beginAnew();
      throw error;
    }
    const startMs = performance.now();
    if (!this.#isChanged || startMs < this.#restUntilMs) return null;
    const version = [...this.#next].map(([partition, offset]) => `${partition}:${offset}`).join(' ');
    const table = await this.#entries.table();
    this.#isChanged = false;
    const endMs = performance.now();
    this.#restUntilMs = endMs + (endMs - startMs) * REST_FACTOR;
    return { version, table };
  }

  close(): void {
    this.#isClosed = true;
    void this.#leave();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { connectMs } = this.#options;
    const endMs = this.#isWhole || connectMs === null ? Infinity : performance.now() + connectMs;
    const check = (): void => {
      if (signal.aborted || this.#isClosed) throw new ServiceError('unavailable', 'the lookup is no longer followed');
      if (performance.now() > endMs)
        throw new ServiceError('timeout', `the end of the topic was not reached within connectTimeout (${connectMs} ms)`);
    };
    const reader = await this.#open();
    check();
    await this.#assign(reader);
    if (this.#isWhole) await this.#readOn(reader, check);
    else await this.#readToEnd(reader, check);
    this.#isWhole = true;
  }

  async #open(): Promise<StreamReader> {
    if (this.#reader !== undefined) return this.#reader;
    const reader = await this.#options.open();
    this.#reader = reader;
    this.#assigned = [];
    this.#partitionsMs = 0;
    return reader;
  }

  /** Reads the partitions that there are now. */
  async #assign(reader: StreamReader): Promise<void> {
    if (this.#assigned.length > 0 && performance.now() < this.#partitionsMs) return;
    const partitions = await reader.partitions();
    this.#partitionsMs = performance.now() + PARTITIONS_MS;
    if (partitions.join() === this.#assigned.join()) return;
    // The topic is another one of the same name.
    if ([...this.#next.keys()].some((partition) => !partitions.includes(partition))) this.#beginAnew();
    const earliest = await reader.earliest(partitions.filter((partition) => !this.#next.has(partition)));
    for (const [partition, offset] of earliest) this.#next.set(partition, offset);
    await reader.assign(
      new Map(partitions.map((partition) => [partition, { offset: this.#next.get(partition) ?? '0', isExclusive: false }])),
    );
    this.#assigned = partitions;
  }

  async #readToEnd(reader: StreamReader, check: () => void): Promise<void> {
    const ends: Offsets = await reader.latest(this.#assigned);
    const isBehind = (): boolean => [...ends].some(([partition, end]) => compareOffsets(this.#next.get(partition) ?? '0', end) < 0);
    while (isBehind()) {
      check();
      await this.#take(await reader.poll({ ...POLL, timeoutMs: ARRIVAL_MS }));
    }
  }

  async #readOn(reader: StreamReader, check: () => void): Promise<void> {
    const untilMs = performance.now() + READ_ON_MS;
    for (let isFull = false; ; ) {
      const batch = await reader.poll({ ...POLL, timeoutMs: isFull ? ARRIVAL_MS : 1 });
      check();
      await this.#take(batch);
      isFull = batch.isFull;
      if (!isFull || performance.now() > untilMs) return;
    }
  }

  async #take({ blocks, positions }: StreamBatch): Promise<void> {
    for (const block of blocks) {
      await this.#takeBlock(block);
      this.#next.set(block.partition, String((block.offsets[block.count - 1] ?? 0) + 1));
    }
    for (const [partition, offset] of positions) this.#next.set(partition, offset);
  }

  /** The last message of a key counts; one without a value takes it away, and one without a key is passed over. */
  async #takeBlock({ count, bytes, starts, ends, keys }: MessageBlock): Promise<void> {
    const turns = new LoopTurns();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const keyText = Buffer.from(keys.bytes.buffer, keys.bytes.byteOffset, keys.bytes.byteLength);
    for (let row = 0; row < count; row++) {
      if (row % ENTRIES_PER_LOOK === 0) {
        await this.#entries.makeRoom(ENTRIES_PER_LOOK, turns);
        if (turns.isDue) await turns.give();
      }
      const [keyEnd, end] = [keys.ends[row] ?? -1, ends[row] ?? -1];
      if (keyEnd < 0) continue;
      const key = keyText.toString('utf8', keys.starts[row], keyEnd);
      const isChange = end < 0 ? this.#entries.remove(key) : this.#entries.set(key, text.toString('utf8', starts[row], end));
      if (isChange) this.#isChanged = true;
    }
  }

  #beginAnew(): void {
    this.#entries = new ChangingEntries(this.#options.bytesMax);
    this.#next = new Map();
    this.#isWhole = false;
    this.#isChanged = true;
  }

  async #leave(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }
}

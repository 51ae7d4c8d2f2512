import {
  OffsetsGone,
  outside,
  type PollLimits,
  type ReadFrom,
  type StreamBatch,
  type StreamReader,
  type StreamRecord,
} from '../../src/ingestion/stream/stream-reader.js';
import type { Offsets } from '../../src/model/stream/offsets.js';

/** A message; a marker or an aborted one is skipped by readers. */
export type FakeMessage = string | Uint8Array | null | typeof SKIPPED;
export const SKIPPED = Symbol('a marker, or a message of an aborted transaction');

/** A topic in memory, and readers of it. */
export class FakeStream {
  readonly partitions: FakeMessage[][];
  /** First offset that is there. */
  readonly earliest: number[];
  /** Thrown by the next polls, one after the other. */
  readonly faults: unknown[] = [];
  /** Records of one poll. */
  pollRows = Number.MAX_SAFE_INTEGER;
  #woken: (() => void)[] = [];

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, () => []);
    this.earliest = this.partitions.map(() => 0);
  }

  send(partition: number, ...messages: readonly FakeMessage[]): void {
    for (const message of messages) this.partitions[partition]?.push(message);
    const woken = this.#woken;
    this.#woken = [];
    for (const wake of woken) wake();
  }

  async arrival(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#woken.push(resolve);
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  reader(): StreamReader {
    return new FakeReader(this);
  }
}

class FakeReader implements StreamReader {
  readonly kind = 'kafka' as const;
  readonly #stream: FakeStream;
  readonly #next = new Map<string, number>();

  constructor(stream: FakeStream) {
    this.#stream = stream;
  }

  async partitions(): Promise<readonly string[]> {
    return this.#stream.partitions.map((_, at) => String(at));
  }

  async earliest(partitions: readonly string[]): Promise<Offsets> {
    return new Map(partitions.map((partition) => [partition, String(this.#stream.earliest[Number(partition)] ?? 0)]));
  }

  async latest(partitions: readonly string[]): Promise<Offsets> {
    return new Map(partitions.map((partition) => [partition, String(this.#stream.partitions[Number(partition)]?.length ?? 0)]));
  }

  async gone(offsets: Offsets): Promise<readonly string[]> {
    const partitions = [...offsets.keys()];
    return outside(offsets, ...(await Promise.all([this.earliest(partitions), this.latest(partitions)])));
  }

  async assign(from: ReadonlyMap<string, ReadFrom>): Promise<void> {
    this.#next.clear();
    for (const [partition, { offset }] of from) this.#next.set(partition, Number(offset));
  }

  async poll({ maxRows, timeoutMs }: PollLimits): Promise<StreamBatch> {
    if (this.#stream.faults.length > 0) throw this.#stream.faults.shift();
    let batch = this.#take(maxRows);
    if (batch.records.length > 0 || batch.positions.size > 0) return batch;
    await this.#stream.arrival(timeoutMs);
    batch = this.#take(maxRows);
    return batch;
  }

  async close(): Promise<void> {
    this.#next.clear();
  }

  #take(maxRows: number): StreamBatch {
    const records: StreamRecord[] = [];
    const positions = new Map<string, string>();
    const most = Math.min(maxRows, this.#stream.pollRows);
    for (const [partition, start] of this.#next) {
      if (start < (this.#stream.earliest[Number(partition)] ?? 0)) throw new OffsetsGone(new Map([[partition, String(start)]]));
      const messages = this.#stream.partitions[Number(partition)] ?? [];
      let at = start;
      for (; at < messages.length && records.length < most; at++) {
        const message = messages[at];
        if (message === SKIPPED || message === undefined) continue;
        const value = typeof message === 'string' ? Buffer.from(message) : message;
        records.push({ partition, offset: String(at), timestampMs: 0, topic: 't', key: null, values: [value], headers: [] });
      }
      if (at > start && messages[at - 1] === SKIPPED) positions.set(partition, String(at));
      this.#next.set(partition, at);
    }
    return { records, blocks: [], positions, isFull: records.length >= maxRows };
  }
}

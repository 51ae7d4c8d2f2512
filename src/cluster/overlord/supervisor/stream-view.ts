// The stream as its supervisor sees it: partitions, where they begin and end, and how far tasks are behind.

import type { EpochMs } from '../../../base/instant.js';
import type { StreamReader } from '../../../ingestion/stream/stream-reader.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import { findOffsets } from '../../../metadata/stream-offsets.js';
import { KINESIS_END_OF_SHARD, type Offsets } from '../../../model/stream/offsets.js';
import type { SupervisorHost } from './contract.js';

/** Records that tasks are behind; Kinesis: milliseconds. */
export interface Lag {
  readonly byPartition: ReadonlyMap<string, number>;
  readonly sum: number;
  readonly max: number;
  readonly average: number;
}

export class StreamView {
  readonly #spec: SupervisorSpec;
  readonly #host: SupervisorHost;
  #reader: Promise<StreamReader> | null = null;
  /** In the order in which they were found. */
  readonly #partitions: string[] = [];
  /** Found after the first look: they are read from their beginning. */
  readonly #late = new Set<string>();
  /** Shards that are closed, and published to their end. */
  #ended: ReadonlySet<string> = new Set();
  #latest: Offsets = new Map();
  #behind: ReadonlyMap<string, number> = new Map();
  #latestMs: EpochMs | null = null;

  constructor(spec: SupervisorSpec, host: SupervisorHost) {
    this.#spec = spec;
    this.#host = host;
  }

  get partitions(): readonly string[] {
    return this.#partitions;
  }

  /** Partitions that have something to read, or may get it. */
  get open(): readonly string[] {
    return this.#partitions.filter((partition) => !this.#ended.has(partition));
  }

  get latest(): Offsets {
    return this.#latest;
  }

  /** When the offsets were last looked at; null: never. */
  get latestMs(): EpochMs | null {
    return this.#latestMs;
  }

  /** Looks for partitions. @throws ServiceError when the stream cannot be reached */
  async look(): Promise<void> {
    const reader = await this.#open();
    const found = await this.#orReopen(reader.partitions());
    const known = new Set(this.#partitions);
    const isFirst = known.size === 0;
    for (const partition of found) {
      if (known.has(partition)) continue;
      this.#partitions.push(partition);
      if (!isFirst) this.#late.add(partition);
    }
    const { kind, id } = this.#spec;
    const stored = kind === 'kinesis' ? await findOffsets(this.#host.database, id) : undefined;
    this.#ended = new Set([...(stored?.offsets ?? [])].flatMap(([shard, offset]) => (offset === KINESIS_END_OF_SHARD ? [shard] : [])));
  }

  /** Looks at the ends of partitions, or how long the furthest tasks are behind them. @param current  where these are */
  async lookAtEnds(current: Offsets): Promise<void> {
    const reader = await this.#open();
    if (reader.behind === undefined) this.#latest = await this.#orReopen(reader.latest(this.#partitions));
    else {
      const from = new Map([...current].map(([partition, offset]) => [partition, { offset, isExclusive: true }]));
      this.#behind = await this.#orReopen(reader.behind(from));
    }
    this.#latestMs = this.#host.now();
  }

  /** First offset to read in partitions that nothing is stored of. */
  async firstOffsets(partitions: readonly string[]): Promise<Offsets> {
    const reader = await this.#open();
    const isEarly = (partition: string): boolean => this.#spec.io.useEarliest || this.#late.has(partition);
    const [early, late] = await this.#orReopen(
      Promise.all([reader.earliest(partitions.filter(isEarly)), reader.latest(partitions.filter((each) => !isEarly(each)))]),
    );
    return new Map([...early, ...late]);
  }

  /** Partitions whose offset the stream does not have any more, or not yet: a topic was made anew. */
  async gone(offsets: Offsets): Promise<readonly string[]> {
    const reader = await this.#open();
    return this.#orReopen(reader.gone(offsets));
  }

  /** Records between tasks and the ends, or milliseconds of streams that tell no number. @param current  the furthest that some task is, by partition */
  lag(current: Offsets): Lag | null {
    if (this.#latestMs === null) return null;
    const byPartition = new Map<string, number>();
    for (const [partition, at] of current) {
      const latest = this.#latest.get(partition);
      const behind = latest === undefined ? this.#behind.get(partition) : Math.max(0, Number(latest) - Number(at));
      if (behind !== undefined) byPartition.set(partition, behind);
    }
    const lags = [...byPartition.values()];
    const sum = lags.reduce((total, each) => total + each, 0);
    return {
      byPartition,
      sum,
      max: lags.reduce((most, each) => Math.max(most, each), 0),
      average: lags.length === 0 ? 0 : sum / lags.length,
    };
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    await (await reader?.catch(() => null))?.close();
  }

  #open(): Promise<StreamReader> {
    if (this.#reader !== null) return this.#reader;
    const opening = this.#host.openReader(this.#spec.io.source);
    this.#reader = opening;
    opening.catch(() => {
      if (this.#reader === opening) this.#reader = null;
    });
    return opening;
  }

  /** A client that does not answer is given up: the next call opens another. */
  async #orReopen<Value>(asked: Promise<Value>): Promise<Value> {
    try {
      return await asked;
    } catch (error) {
      void this.close().catch(() => undefined);
      throw error;
    }
  }
}

/** Group that a partition belongs to. */
export function groupOf(partition: string, position: number, { kind, io }: SupervisorSpec, taskCount: number): number {
  if (kind === 'kinesis') return position % taskCount;
  const colon = partition.lastIndexOf(':');
  const number = Number(partition.slice(colon + 1));
  if (io.source.kind === 'kafka' && !io.source.isPattern) return number % taskCount;
  let hash = 0;
  for (const character of partition.slice(0, colon)) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return Math.abs((Math.imul(hash, 31) + number) % taskCount);
}

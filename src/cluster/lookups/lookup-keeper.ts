// Keeps the entries of one lookup as its source has them.

import { TIMER_MS_MAX } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { formatInstant } from '../../base/time.js';
import { LookupBuilder, type LookupTable } from '../../model/lookup/lookup-table.js';
import type { Lookup } from '../coordinator/lookups.js';
import type { Batches, LookupSettings, LookupSource } from './lookup-source.js';

/** A lookup as a process holds it for queries. */
export interface LoadedLookup {
  readonly lookup: Lookup;
  readonly table: LookupTable;
  /** State of the source that the entries are of. */
  readonly sourceVersion: string;
  readonly loadedMs: number;
}

/** Why the entries are not those of the source. */
export interface LookupFailure {
  readonly message: string;
  /** Time of the first of the looks at the source that failed. */
  readonly sinceMs: number;
}

const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;
/** Rest between two loads, in times of what the last one took: loading must not be all that a process does. */
const REST_FACTOR = 1;

/** Loads a lookup, looks again as often as it asks for, and keeps the last good copy when a look fails. */
export class LookupKeeper {
  readonly #name: string;
  readonly #source: LookupSource;
  readonly #settings: LookupSettings;
  #isStopped = false;
  /** Aborts the look that is under way. */
  #looking: AbortController | undefined;
  /** The version before, which answers until this one is loaded. */
  #before: LoadedLookup | undefined;
  #held: LoadedLookup | undefined;
  #failure: LookupFailure | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = RETRY_MS_MIN;
  readonly lookup: Lookup;

  constructor(name: string, lookup: Lookup, source: LookupSource, settings: LookupSettings, before?: LoadedLookup) {
    this.#name = name;
    this.#before = before;
    this.lookup = lookup;
    this.#source = source;
    this.#settings = settings;
  }

  get held(): LoadedLookup | undefined {
    return this.#held ?? this.#before;
  }

  get failure(): LookupFailure | undefined {
    return this.#failure;
  }

  /** Resolves after the first look, however it ended. */
  async start(): Promise<void> {
    await this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
    this.#looking?.abort();
    this.#source.close?.();
  }

  async #look(): Promise<void> {
    const { log, now } = this.#settings;
    const startedMs = now();
    const { goesOn, isInline, pollMs } = this.#source;
    const isFirst = this.#held === undefined;
    try {
      const isNew = await this.#load();
      if (this.#isStopped) return;
      if (isNew && this.#held !== undefined && !isInline && (isFirst || !goesOn))
        log.info('lookup loaded', { lookup: this.#name, entries: this.#held.table.length, bytes: this.#held.table.packed.length });
      if (this.#failure !== undefined) log.info('lookup can be loaded again', { lookup: this.#name });
      this.#failure = undefined;
      this.#retryMs = RETRY_MS_MIN;
      if (pollMs > 0) this.#schedule(goesOn ? pollMs : Math.max(pollMs, (now() - startedMs) * REST_FACTOR));
    } catch (error) {
      if (this.#isStopped) return;
      const message = error instanceof Error ? error.message : String(error);
      this.#failure = { message, sinceMs: this.#failure?.sinceMs ?? startedMs };
      const since = formatInstant(this.#failure.sinceMs);
      const copy = this.held === undefined ? 'none' : formatInstant(this.held.loadedMs);
      log.warn('lookup cannot be loaded', { lookup: this.#name, reason: message, since, copyOf: copy });
      if (isInline) return;
      this.#schedule(pollMs > 0 && !goesOn ? Math.min(pollMs, this.#retryMs) : this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
    }
  }

  #schedule(delayMs: number): void {
    const { jitterMs } = this.#source;
    this.#timer = setTimeout(() => void this.#look(), Math.min(delayMs + this.#settings.random() * jitterMs, TIMER_MS_MAX));
    this.#timer.unref();
  }

  /** Whether there are other entries than before. */
  async #load(): Promise<boolean> {
    const { timeoutMs } = this.#source;
    const looking = new AbortController();
    this.#looking = looking;
    const timer = timeoutMs === null ? undefined : setTimeout(() => looking.abort(), timeoutMs);
    try {
      return await this.#read(looking.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const { maxHeapPercentage } = this.#source;
    const { bytesMax, heapBytes, log, now } = this.#settings;
    const state = await this.#source.read(this.#held?.sourceVersion ?? null, signal);
    if (state === null) return false;
    const table = 'table' in state ? state.table : await tableOf(state.batches, bytesMax, signal);
    if (this.#isStopped) return false;
    const known = this.#held?.table;
    const isSame = known?.digest === table.digest;
    this.#held = {
      lookup: this.lookup,
      table: isSame && known !== undefined ? known : table,
      sourceVersion: state.version,
      loadedMs: now(),
    };
    this.#before = undefined;
    if (table.packed.length * 100 > heapBytes * maxHeapPercentage)
      log.warn('lookup is larger than its maxHeapPercentage', { lookup: this.#name, bytes: table.packed.length, maxHeapPercentage });
    return !isSame;
  }
}

const ENTRIES_PER_LOOK = 128;

async function tableOf(batches: Batches, bytesMax: number, signal: AbortSignal): Promise<LookupTable> {
  const builder = new LookupBuilder(bytesMax);
  const turns = new LoopTurns();
  for await (const batch of batches) {
    if (signal.aborted) throw new ServiceError('timeout', 'it took longer than it may');
    for (const [index, [key, value]] of batch.entries()) {
      if (index % ENTRIES_PER_LOOK === 0) {
        await builder.makeRoom(ENTRIES_PER_LOOK, turns);
        if (turns.isDue) await turns.give();
      }
      builder.add(key, value);
    }
    if (turns.isDue) await turns.give();
  }
  return builder.finish();
}

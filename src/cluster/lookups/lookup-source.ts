// Interface of where the entries of a lookup come from.

import type { Log } from '../../base/log.js';
import type { InputLimits } from '../../ingestion/format/format-kind.js';
import type { SourceLimits } from '../../ingestion/source/source-kind.js';
import type { LookupTable } from '../../model/lookup/lookup-table.js';

/** Key and value. */
export type Entry = readonly [string, string];

/** Entries as they are read, a few hundred at a time; the memory of a batch is the reader's. */
export type Batches = AsyncIterable<readonly Entry[]>;

/** One state of a source: its entries as they are read, or the table of them that the source keeps. */
export type SourceState = {
  /** Tells states apart, as far as the source can: the time of a file, the newest row of a table, the time of reading. */
  readonly version: string;
} & ({ readonly batches: Batches } | { readonly table: LookupTable });

/** A source of entries with its options read. */
export interface LookupSource {
  /** The entries are in the configuration: they are there as soon as it is read. */
  readonly isInline: boolean;
  /** Time between two looks at the source; 0: one look. */
  readonly pollMs: number;
  /** Longest random delay before a look. */
  readonly jitterMs: number;
  /** Time that one look may take; null: any. */
  readonly timeoutMs: number | null;
  /** Each look goes on where the one before ended: a retry after a failure waits longer than `pollMs`, a good look no longer. */
  readonly goesOn: boolean;
  /** Part of the heap from which on the size of the lookup is told in the log. */
  readonly maxHeapPercentage: number;
  /**
   * The state of the source, or null when that is still `known`.
   * @throws ServiceError that says why it cannot be read, and names no secret
   */
  read(known: string | null, signal: AbortSignal): Promise<SourceState | null>;
  /** Lets go what is kept between two looks. */
  close?(): void;
}

/** Settings of the process that lookups are loaded by. */
export interface LookupSettings {
  readonly sourceLimits: Omit<SourceLimits, 'signal'>;
  readonly inputLimits: InputLimits;
  /** Keys and values of one lookup together (`svc.lookup.maxBytes`). */
  readonly bytesMax: number;
  /** Hosts that `jdbc` lookups may connect to, `*.` before those whose subdomains are meant; empty: every host. */
  readonly jdbcHosts: readonly string[];
  readonly heapBytes: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

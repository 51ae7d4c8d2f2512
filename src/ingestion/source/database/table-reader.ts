// Interface of a client that reads rows of another database.

import type { Connection } from '../../../configuration/connection-uri.js';

/** Parts of a connection, and who connects. */
export interface ConnectOptions {
  readonly connection: Connection;
  readonly user: string;
  readonly password: string;
  /** Time of one statement; the database ends it a little later by itself, where it can be told to. */
  readonly timeoutMs: number;
  /** Ends the connection at once, whatever it waits for. */
  readonly signal: AbortSignal;
}

/** A column of the rows of a statement; times are written in UTC. */
export interface TableColumn {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'time' | 'bytes';
}

/** A connection that reads. */
export interface TableReader {
  /**
   * Rows of a statement, all values as the strings that the database writes of them, a few at a time.
   * @param described  told of the columns before the first rows
   */
  rows(statement: string, described?: (columns: readonly TableColumn[]) => void): AsyncIterable<readonly (readonly (string | null)[])[]>;
  close(): Promise<void>;
}

/** Time to connect and to be let in. */
export const CONNECT_MS = 10_000;
/** Rows that are fetched at a time. */
export const FETCHED_ROWS = 500;

/** Options of `tls.connect`; undefined: without TLS. */
export function tlsOptions({
  tls,
  host,
}: Connection): { rejectUnauthorized: boolean; servername?: string; checkServerIdentity?: () => undefined } | undefined {
  if (tls === 'off') return undefined;
  const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  return {
    rejectUnauthorized: tls !== 'encrypted',
    ...named,
    ...(tls === 'verified' ? {} : { checkServerIdentity: () => undefined }),
  };
}

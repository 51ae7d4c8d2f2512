// One connection to PostgreSQL: statements, and what its failures mean.

import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../base/errors.js';
import type { Binding } from '../database.js';
import { postgresqlStatement } from './dialect.js';
import { postgresqlDriver } from './driver.js';

/** Address and account of the database, as plain data that threads are given. */
export interface PostgresqlSettings {
  readonly host: string;
  readonly port: number;
  readonly databaseName: string;
  readonly user: string;
  readonly password: string;
  /** Schema of the tables. */
  readonly schema: string;
  readonly tls: PostgresqlTls | null;
  /** False: the tables must be there. */
  readonly createsTables: boolean;
  /** Name under which the server lists the connections of this process. */
  readonly applicationName: string;
}

export interface PostgresqlTls {
  /** `encrypted`: whoever answers; `trusted`: its certificate is checked; `verified`: the name of the host in it too. */
  readonly mode: 'encrypted' | 'trusted' | 'verified';
  /** Files in PEM; null: none. */
  readonly rootCertificate: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  readonly keyPassword: string;
}

const CONNECT_MS = 5000;
const GOODBYE_MS = 1000;
/** Longest statement. */
const STATEMENT_MS = 60_000;
const LATER_MS = 1000;
/** Time that the server waits for the next statement of a transaction, whose locks others wait for. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Types whose values are numbers: int8, int2, int4, float4, float8, numeric. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);
const asText = (text: string): string => text;

export interface PostgresqlConnection {
  /** @throws ServiceError `unavailable` when the connection is lost or the server gives up on the statement */
  rows<Row extends object>(sql: string, bindings?: readonly Binding[]): Promise<readonly Row[]>;
  /** Ends a transaction. @throws ServiceError when one of its statements has failed: PostgreSQL rolls it back, and calls that no error */
  commit(): Promise<void>;
  /** Whether it was lost or closed. */
  readonly isLost: boolean;
  /** Calls back for each NOTIFY on a channel that this connection listens to, and once when it is lost. */
  onNews(listener: () => void): void;
  close(): Promise<void>;
}

/**
 * @param statementMs  longest statement
 * @throws ServiceError `unavailable` when nobody answers, else what the server says
 */
export async function connectPostgresql(settings: PostgresqlSettings, statementMs = STATEMENT_MS): Promise<PostgresqlConnection> {
  const { Client } = postgresqlDriver();
  // Every option is given: what is left out comes from the environment of the process.
  const socket = new Socket();
  const client = new Client({
    stream: () => socket,
    host: settings.host,
    port: settings.port,
    database: settings.databaseName,
    user: settings.user,
    password: () => settings.password,
    ssl: settings.tls === null ? false : tlsOptions(settings.host, settings.tls),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    statement_timeout: statementMs,
    // A server that has vanished does not even say so.
    query_timeout: statementMs + LATER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    application_name: settings.applicationName,
    options: '',
    types: { getTypeParser: ((type: number) => (NUMBER_TYPES.has(type) ? Number : asText)) as never },
  });
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    tell();
  };
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', tell);
  const close = async (): Promise<void> => {
    const wasLost = isLost;
    isLost = true;
    listeners.clear();
    const ended = client.end().catch(() => undefined);
    // Nobody answers a goodbye on a connection that is lost.
    if (!wasLost) await Promise.race([ended, sleep(GOODBYE_MS, undefined, { ref: false })]);
    socket.destroy();
  };
  const ask = async <Row extends object>(sql: string, bindings: readonly Binding[] = []) => {
    const unfit = bindings.find((binding) => typeof binding === 'string' && binding.includes('\0'));
    if (unfit !== undefined)
      throw new ServiceError('unsupported', `metadata: PostgreSQL stores no character U+0000, found in ${JSON.stringify(unfit)}`);
    try {
      return await client.query<Row>(postgresqlStatement(sql), [...bindings]);
    } catch (error) {
      const failure = asFailure(error, settings);
      // Whatever the server thinks of a connection that failed: it is not used again.
      if (failure instanceof ServiceError) lose();
      throw failure;
    }
  };
  try {
    await client.connect();
    await client.query(`SET search_path TO ${quoteName(settings.schema)}`);
    await client.query("SET client_encoding TO 'UTF8'");
  } catch (error) {
    await close();
    throw asFailure(error, settings);
  }
  return {
    rows: async <Row extends object>(sql: string, bindings?: readonly Binding[]) => (await ask<Row>(sql, bindings)).rows,
    async commit() {
      const { command } = await ask('COMMIT');
      if (command !== 'COMMIT')
        throw new ServiceError('internal', 'metadata: a transaction went on after one of its statements had failed');
    },
    close,
    get isLost() {
      return isLost;
    },
    onNews: (listener) => void listeners.add(listener),
  };
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function tlsOptions(host: string, { mode, rootCertificate, certificate, key, keyPassword }: PostgresqlTls): object {
  return {
    rejectUnauthorized: mode !== 'encrypted',
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    ...(mode === 'verified' ? {} : { checkServerIdentity: () => undefined }),
    ...(rootCertificate === null ? {} : { ca: readFileSync(rootCertificate) }),
    ...(certificate === null ? {} : { cert: readFileSync(certificate) }),
    ...(key === null ? {} : { key: readFileSync(key) }),
    ...(keyPassword === '' ? {} : { passphrase: keyPassword }),
  };
}

/** SQLSTATEs, by their first characters, after which the same may succeed on another connection or a little later. */
const PASSING = ['08', '53', '57', '58', '25P03', '40', '55P03', '25006'];

/** Codes of Node that speak of the network. */
const OF_NETWORK = /^(E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_)|ENOTFOUND)/;

/** A failure that may pass as a `ServiceError`, and any other as it is. */
function asFailure(error: unknown, { host, port }: PostgresqlSettings): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const text = typeof code === 'string' ? code : '';
  const isOfNetwork =
    OF_NETWORK.test(text) ||
    /^(Connection terminated|Query read timeout|timeout expired|Client (was closed|has encountered))/.test(message ?? '');
  if (!isOfNetwork && !PASSING.some((prefix) => text.startsWith(prefix))) return error;
  return new ServiceError('unavailable', `metadata: PostgreSQL at ${host}:${port}: ${message || text}`, error);
}

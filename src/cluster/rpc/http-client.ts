// HTTP client for calls between roles.

import { createRequire } from 'node:module';
import type { ConnectionOptions } from 'node:tls';
import type { Pool } from 'undici';
import { type CancelSignal, platformSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { createByName } from '../../base/names.js';
import { onFirstUse } from '../../base/on-first-use.js';

const CONNECT_TIMEOUT_MS = 5000;

export interface ClientRequest {
  /** `host:port`. */
  readonly host: string;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as a process of this cluster, which proves that it is one. Else it is as good as its headers. */
  readonly asProcess?: boolean;
  /** Goes over connections of its own, so that it does not queue behind answers that take long. */
  readonly isShort?: boolean;
  readonly body: Uint8Array | null;
  readonly signal: CancelSignal;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end or closed early; it is read no faster than it is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Certificates and rules of calls with TLS. */
export type ClientTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'checkServerIdentity'>;

export interface HttpClientOptions {
  /** Headers of requests that are sent as a process of this cluster: its key, and the credentials of the escalator. */
  readonly processHeaders?: Readonly<Record<string, string>>;
  /** Certificates and rules of TLS to the other processes; undefined: without TLS. */
  readonly tls?: ClientTls | undefined;
}

/** Connections to the other processes, two pools for each: one for short calls. Deadlines are the caller's signal alone. */
export class HttpClient {
  readonly #pools = new Map<string, Pool>();
  readonly #processHeaders: Readonly<Record<string, string>>;
  readonly #tls: ClientTls | undefined;

  constructor({ processHeaders = {}, tls }: HttpClientOptions = {}) {
    this.#processHeaders = processHeaders;
    this.#tls = tls;
  }

  /** @throws ServiceError `unavailable` when the peer cannot be reached; the signal's reason once it is aborted */
  async send(request: ClientRequest): Promise<ClientResponse> {
    const { host, method, path, asProcess = false, isShort = false, body, signal } = request;
    const headers = asProcess ? { ...request.headers, ...this.#processHeaders } : request.headers;
    try {
      const key = isShort ? `${host} short` : host;
      const pool = this.#pools.get(key) ?? this.#open(key, host);
      const response = await library().request.call(pool, { method: method as 'GET', path, headers, body, signal: platformSignal(signal) });
      return { status: response.statusCode, headers: flatten(response.headers), body: chunksOf(response.body, host, signal) };
    } catch (error) {
      throw translate(error, host, signal);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
    this.#pools.clear();
  }

  #open(key: string, host: string): Pool {
    const [scheme, connect] = this.#tls === undefined ? (['http', {}] as const) : (['https', { connect: this.#tls }] as const);
    const timeouts = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: CONNECT_TIMEOUT_MS };
    const pool = new (library().Pool)(`${scheme}://${host}`, { connections: 64, ...timeouts, ...connect });
    this.#pools.set(key, pool);
    return pool;
  }
}

/**
 * Loaded when another process is first called: one that has all roles rarely does, and starts sooner. These two parts of the library, of
 * the one version that package.json names, load in a third of the time that all of it takes.
 */
const library = onFirstUse(() => {
  const load = createRequire(import.meta.url);
  return {
    Pool: load('undici/lib/dispatcher/pool.js') as typeof Pool,
    request: load('undici/lib/api/api-request.js') as Pool['request'],
  };
});

async function* chunksOf(body: AsyncIterable<Buffer>, host: string, signal: CancelSignal): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw translate(error, host, signal);
  }
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat = createByName<string>();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}

function translate(error: unknown, host: string, signal: CancelSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new ServiceError('unavailable', `cannot reach ${host}: ${error instanceof Error ? error.message : String(error)}`, error);
}

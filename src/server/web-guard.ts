// Refuses requests of foreign web pages by Host and Origin.

import { ServiceError } from '../base/errors.js';
import type { HttpRequest } from './http.types.js';

export interface WebGuardOptions {
  /** The address that is listened on. */
  readonly host: string;
  /** `svc.server.http.allowedHosts`. */
  readonly allowedHosts: readonly string[];
}

/** Names of the own machine; a page of the web cannot make its own name one of them. */
const LOOPBACK = /^(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Methods that change nothing: a page cannot read their answer, for no answer here allows it to. */
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Keeps pages of other sites from using the browser of somebody who can reach this server: their requests carry the name
 * of the page (`Origin`), or at least that it is of another site (`Sec-Fetch-Site`), and after DNS rebinding the name
 * under which the page was found (`Host`). Programs send none of the first two.
 */
export class WebGuard {
  readonly #allowed: ReadonlySet<string>;
  readonly #isLoopback: boolean;
  /** The header `Host` that was last found to be known: clients send the same one again and again. */
  #knownHost: string | undefined;

  constructor({ host, allowedHosts }: WebGuardOptions) {
    const ours = host.includes(':') ? `[${host}]` : host;
    this.#isLoopback = LOOPBACK.test(ours.toLowerCase());
    this.#allowed = new Set([ours, ...allowedHosts].map((name) => name.toLowerCase()));
  }

  /** Undefined: the request may be answered. Else `forbidden`, naming the header and what it may be. */
  refusal({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>): ServiceError | undefined {
    const host = headers['host'];
    if (this.#isLoopback && host !== undefined && host !== this.#knownHost) {
      if (!this.#isKnown(host.toLowerCase()))
        return forbidden('Host', host.toLowerCase(), 'a name of this machine, as the server listens on it alone');
      this.#knownHost = host;
    }
    if (READING_METHODS.has(method)) return undefined;
    const origin = headers['origin']?.toLowerCase();
    if (origin !== undefined) {
      const from = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
      return from !== undefined && (from === host?.toLowerCase() || this.#allowed.has(nameOf(from)))
        ? undefined
        : forbidden('Origin', origin, 'the host that the request is sent to');
    }
    return headers['sec-fetch-site'] === 'cross-site' ? forbidden('Sec-Fetch-Site', 'cross-site', 'same-origin') : undefined;
  }

  #isKnown(host: string): boolean {
    const name = nameOf(host);
    return LOOPBACK.test(name) || this.#allowed.has(name);
  }
}

/** Name or address without its port: `name:port`, `[address]:port`. */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, '');
}

function forbidden(header: string, found: string, accepted: string): ServiceError {
  return new ServiceError(
    'forbidden',
    `${header}: found ${found.slice(0, 200)}, expected ${accepted}, or a name out of svc.server.http.allowedHosts`,
  );
}

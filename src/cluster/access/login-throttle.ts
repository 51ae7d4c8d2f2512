// Slows down who tries passwords.

import { isIPv6 } from 'node:net';
import { BoundedCache } from '../../base/bounded-cache.js';
import { ServiceError } from '../../base/errors.js';

export interface LoginThrottleOptions {
  /** `svc.auth.login.maxFailures`. */
  readonly failuresMax: number;
  /** `svc.auth.login.failureWindow`. */
  readonly windowMs: number;
  now(): number;
}

interface Bucket {
  /** Attempts that are left. */
  left: number;
  atMs: number;
}

/** Buckets that are kept of each kind; the ones that were used least recently give way. */
const BUCKETS_MAX = 10_000;
/** A user at all addresses, or an address with all users, may fail so many times as often as one user at one address. */
const WIDE_FACTOR = 10;

/**
 * Attempts are taken from three buckets, of the user at this address, of the user and of the address, which fill up again over
 * the window. A right password puts its attempt back. Names that exist and names that do not are treated alike.
 */
export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  readonly #pairs = new BoundedCache<string, Bucket>(BUCKETS_MAX);
  readonly #users = new BoundedCache<string, Bucket>(BUCKETS_MAX);
  readonly #addresses = new BoundedCache<string, Bucket>(BUCKETS_MAX);

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
  }

  /** @returns puts the attempt back. @throws ServiceError `capacity_exceeded` when none is left */
  take(user: string, address: string): () => void {
    const { failuresMax } = this.#options;
    const network = networkOf(address);
    // Names of any length are sent; buckets keep a part of them.
    const name = user.slice(0, 200);
    const buckets = [
      this.#filled(this.#pairs, `${network} ${name}`, failuresMax),
      this.#filled(this.#users, name, failuresMax * WIDE_FACTOR),
      this.#filled(this.#addresses, network, failuresMax * WIDE_FACTOR),
    ];
    if (buckets.some(({ left }) => left < 1))
      throw new ServiceError('capacity_exceeded', 'too many failed logins (svc.auth.login.maxFailures); try again later');
    for (const bucket of buckets) bucket.left--;
    return () => {
      for (const bucket of buckets) bucket.left++;
    };
  }

  #filled(buckets: BoundedCache<string, Bucket>, key: string, max: number): Bucket {
    const nowMs = this.#options.now();
    const known = buckets.find(key);
    if (known === undefined) {
      const made = { left: max, atMs: nowMs };
      buckets.keep(key, made);
      return made;
    }
    const passedMs = Math.max(0, nowMs - known.atMs);
    known.left = Math.min(max, known.left + (passedMs / this.#options.windowMs) * max);
    known.atMs = nowMs;
    return known;
  }
}

/** An IPv6 client has at least 2^64 addresses of its own: they count as one. IPv4 addresses may come in IPv6 form. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.toLowerCase().split('::');
  const [front, back] = [groupsOf(head), groupsOf(tail)];
  const groups = [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return (isMapped ? groups : groups.slice(0, 4)).join(':');
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}

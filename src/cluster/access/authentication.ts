// Finds out who sent a request: the chain of authenticators.

import { hash, randomBytes } from 'node:crypto';
import { BoundedCache } from '../../base/bounded-cache.js';
import { ALLOW_ALL_IDENTITY, type Identity } from '../../model/access/identity.js';
import { type CredentialsValidator, readBasic, refusedLogin, type UserPassword } from './credentials.js';
import type { LoginThrottle } from './login-throttle.js';

/** One of the chain. The last two need no credentials. */
export type Authenticator =
  | {
      readonly type: 'basic';
      readonly name: string;
      readonly authorizer: string;
      readonly validator: CredentialsValidator;
      /** Whether the next is asked about users that are unknown here. */
      readonly skipOnFailure: boolean;
      readonly trust: Trust;
    }
  | { readonly type: 'anonymous'; readonly name: string; readonly authorizer: string; readonly identity: string }
  | { readonly type: 'allowAll' };

/** Time for which checked credentials are trusted. */
export interface Trust {
  /** Since they were last sent. */
  readonly idleMs: number;
  /** Since they were checked. */
  readonly maxMs: number;
}

export interface AuthenticationOptions {
  readonly chain: readonly Authenticator[];
  readonly throttle: LoginThrottle;
  /** Checked credentials that are kept. */
  readonly keptMax: number;
  now(): number;
  onUndecided(authenticator: string): void;
}

/** The parts of a request that tell who sent it. */
export interface Sender {
  readonly headers: Readonly<Record<string, string>>;
  readonly remoteAddress: string;
}

interface Known {
  readonly identity: Identity;
  readonly idleMs: number;
  readonly endMs: number;
  untilMs: number;
}

/** Time for which headers themselves are kept, which are recognised at a tenth of what their keyed hash costs, and how many. */
const RECENT_MS = 2000;
const RECENT_MAX = 1000;

/** Length of a keyed hash of credentials, under which they are kept. */
const KEY_BYTES = 32;

/**
 * Shows a request to the authenticators in turn. Checked credentials are kept under a keyed hash and recognised at once, without
 * throttling: nobody can lock out a user who works.
 */
export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #key = randomBytes(KEY_BYTES).toString('base64');
  #known: BoundedCache<string, Known>;
  /** Credentials of headers that were sent within the last moments; emptied as a whole. */
  #recent = new Map<string, Known>();
  #recentSinceMs = 0;
  /** Checks under way: the same credentials are checked once. */
  readonly #checks = new Map<string, Promise<Identity>>();
  /** Grows when users change: what was checked before counts no more. */
  #generation = 0;
  /** The first of the chain needs no credentials, so that nobody's are looked at. */
  readonly #everybody: Identity | undefined;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
    this.#known = new BoundedCache(options.keptMax);
    const [first] = options.chain;
    this.#everybody = first === undefined || first.type === 'basic' ? undefined : identityWithout(first);
  }

  /** The sender of a request like one a moment ago; undefined for others, who may be known as well. */
  recall(sender: Sender): Identity | undefined {
    if (this.#everybody !== undefined) return this.#everybody;
    const header = sender.headers['authorization'];
    const known = header === undefined ? undefined : this.#recent.get(header);
    if (known === undefined) return undefined;
    const nowMs = this.#options.now();
    if (nowMs - this.#recentSinceMs > RECENT_MS || nowMs >= known.untilMs || nowMs >= known.endMs) {
      this.#recent.clear();
      return undefined;
    }
    known.untilMs = nowMs + known.idleMs;
    return known.identity;
  }

  /** @throws ServiceError `unauthorized`, `capacity_exceeded` */
  identify(sender: Sender): Identity | Promise<Identity> {
    if (this.#everybody !== undefined) return this.#everybody;
    const header = sender.headers['authorization'];
    if (header === undefined) return this.#stranger();
    const key = hash('sha256', `${this.#key}${header}`, 'base64');
    const known = this.#recognise(key);
    if (known !== undefined) {
      this.#remember(header, known);
      return known.identity;
    }
    const credentials = readBasic(header);
    return credentials === undefined ? this.#stranger() : this.#check(key, credentials, sender.remoteAddress);
  }

  /** Credentials that came otherwise than in a header: those of a JDBC connection. @throws ServiceError, as above */
  login(credentials: UserPassword, remoteAddress: string): Identity | Promise<Identity> {
    if (this.#everybody !== undefined) return this.#everybody;
    const key = hash('sha256', `${this.#key}${JSON.stringify([credentials.user, credentials.password])}`, 'base64');
    return this.#recognise(key)?.identity ?? this.#check(key, credentials, remoteAddress);
  }

  /** Forgets all credentials that were checked, since users have changed. */
  forget(): void {
    this.#generation++;
    this.#known = new BoundedCache(this.#options.keptMax);
    this.#recent.clear();
    this.#checks.clear();
  }

  /** Nobody has to say who he is where one of the chain takes everybody. */
  #stranger(): Identity {
    for (const authenticator of this.#options.chain) if (authenticator.type !== 'basic') return identityWithout(authenticator);
    throw refusedLogin();
  }

  #remember(header: string, known: Known): void {
    const nowMs = this.#options.now();
    if (nowMs - this.#recentSinceMs > RECENT_MS || this.#recent.size >= RECENT_MAX) {
      this.#recent.clear();
      this.#recentSinceMs = nowMs;
    }
    this.#recent.set(header, known);
  }

  #recognise(key: string): Known | undefined {
    const known = this.#known.find(key);
    if (known === undefined) return undefined;
    const nowMs = this.#options.now();
    if (nowMs >= Math.min(known.untilMs, known.endMs)) {
      this.#known.delete(key);
      return undefined;
    }
    known.untilMs = nowMs + known.idleMs;
    return known;
  }

  #check(key: string, credentials: UserPassword, remoteAddress: string): Promise<Identity> {
    const running = this.#checks.get(key);
    if (running !== undefined) return running;
    const giveBack = this.#options.throttle.take(credentials.user, remoteAddress);
    const check = this.#askChain(key, credentials, giveBack).finally(() => {
      if (this.#checks.get(key) === check) this.#checks.delete(key);
    });
    this.#checks.set(key, check);
    return check;
  }

  async #askChain(key: string, credentials: UserPassword, giveBack: () => void): Promise<Identity> {
    const generation = this.#generation;
    const { chain, now, onUndecided } = this.#options;
    for (const authenticator of chain) {
      if (authenticator.type !== 'basic') return identityWithout(authenticator);
      const { name, authorizer, validator, skipOnFailure, trust } = authenticator;
      const checked = await validator.check(credentials).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      if (checked.outcome === 'right') {
        giveBack();
        const identity: Identity = { user: checked.user, authenticator: name, authorizer, groups: checked.groups };
        const nowMs = now();
        const known = { identity, idleMs: trust.idleMs, endMs: nowMs + trust.maxMs, untilMs: nowMs + trust.idleMs };
        if (generation === this.#generation) this.#known.keep(key, known);
        return identity;
      }
      if (checked.outcome === 'undecided') {
        onUndecided(name);
        if (!skipOnFailure) giveBack();
      }
      if (checked.outcome === 'wrong' || !skipOnFailure) throw refusedLogin();
    }
    throw refusedLogin();
  }
}

function identityWithout(authenticator: Exclude<Authenticator, { type: 'basic' }>): Identity {
  if (authenticator.type === 'allowAll') return ALLOW_ALL_IDENTITY;
  const { name, authorizer, identity } = authenticator;
  return { user: identity, authenticator: name, authorizer, groups: [] };
}

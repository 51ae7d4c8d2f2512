// Checks passwords against hashes in the metadata store.

import type { Checked, CredentialsValidator, UserPassword } from './credentials.js';
import type { Logins } from './directory.js';
import { nobodysCredentials, type PasswordHasher } from './password-hash.js';

export interface MetadataCredentialsOptions {
  logins(): Logins;
  readonly hasher: PasswordHasher;
  /** Rounds of hashing for users that are not there. */
  readonly iterations: number;
}

export class MetadataCredentials implements CredentialsValidator {
  readonly #options: MetadataCredentialsOptions;
  readonly #nobody;
  readonly #roundsOf = new WeakMap<Logins, number>();

  constructor(options: MetadataCredentialsOptions) {
    this.#options = options;
    this.#nobody = nobodysCredentials(options.iterations);
  }

  /** Takes as long for users that are not there, and as long for all that are. */
  async check({ user, password }: UserPassword): Promise<Checked> {
    const { logins, hasher } = this.#options;
    const all = logins();
    const known = all.get(user)?.credentials ?? undefined;
    const isRight = await hasher.matches(password, known ?? this.#nobody, this.#rounds(all));
    if (known === undefined) return { outcome: 'unknown' };
    return isRight ? { outcome: 'right', user, groups: [] } : { outcome: 'wrong' };
  }

  /** The most rounds that anybody's password has: with fewer for some, the time of an answer would tell who they are. */
  #rounds(logins: Logins): number {
    const found = this.#roundsOf.get(logins);
    if (found !== undefined) return found;
    let rounds = this.#options.iterations;
    for (const { credentials } of logins.values()) rounds = Math.max(rounds, credentials?.iterations ?? 0);
    this.#roundsOf.set(logins, rounds);
    return rounds;
  }
}

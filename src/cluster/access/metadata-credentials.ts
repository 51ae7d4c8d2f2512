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

  constructor(options: MetadataCredentialsOptions) {
    this.#options = options;
    this.#nobody = nobodysCredentials(options.iterations);
  }

  /** Takes as long for users that are not there. */
  async check({ user, password }: UserPassword): Promise<Checked> {
    const { logins, hasher } = this.#options;
    const known = logins().get(user)?.credentials ?? undefined;
    const isRight = await hasher.matches(password, known ?? this.#nobody);
    if (known === undefined) return { outcome: 'unknown' };
    return isRight ? { outcome: 'right', user, groups: [] } : { outcome: 'wrong' };
  }
}

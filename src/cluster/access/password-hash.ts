// Hashes passwords on the threads of the platform, few at a time.

import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '../../base/errors.js';
import type { Credentials } from './records.js';

const deriveByPlatform = promisify(pbkdf2);
const SALT_BYTES = 32;
const HASH_BYTES = 64;
/** The platform has four threads, which files and the metadata store need as well. */
const RUNNING_MAX = 2;

/** PBKDF2 with HMAC-SHA-512. At most two are computed at a time, and a bounded number waits. */
export class PasswordHasher {
  readonly #queuedMax: number;
  readonly #deriveKey: typeof deriveByPlatform;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param queuedMax  `svc.auth.login.maxQueued` */
  constructor(queuedMax: number, deriveKey = deriveByPlatform) {
    this.#queuedMax = queuedMax;
    this.#deriveKey = deriveKey;
  }

  async hash(password: string, iterations: number): Promise<Credentials> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#derive(password, salt, iterations);
    return { salt: salt.toString('base64'), hash: hash.toString('base64'), iterations };
  }

  /**
   * Takes as long for a wrong password as for the right one, and so many rounds whatever the credentials have.
   * @param rounds  at least those of the credentials
   * @throws ServiceError `capacity_exceeded`
   */
  async matches(password: string, { salt, hash, iterations }: Credentials, rounds = iterations): Promise<boolean> {
    const computed = await this.#derive(password, Buffer.from(salt, 'base64'), iterations, rounds - iterations);
    const stored = Buffer.from(hash, 'base64');
    return stored.length === computed.length && timingSafeEqual(stored, computed);
  }

  /** @param further  rounds whose result is dropped */
  async #derive(password: string, salt: Buffer, iterations: number, further = 0): Promise<Buffer> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= this.#queuedMax)
        throw new ServiceError(
          'capacity_exceeded',
          `${this.#queuedMax} passwords wait to be checked (svc.auth.login.maxQueued); try again`,
        );
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      const derived = await this.#deriveKey(password, salt, iterations, HASH_BYTES, 'sha512');
      if (further > 0) await this.#deriveKey(password, salt, further, HASH_BYTES, 'sha512');
      return derived;
    } finally {
      // The place goes to the next in line, if there is one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Credentials that no password has: checking one against them takes as long as against those of a user. */
export function nobodysCredentials(iterations: number): Credentials {
  return { salt: randomBytes(SALT_BYTES).toString('base64'), hash: randomBytes(HASH_BYTES).toString('base64'), iterations };
}

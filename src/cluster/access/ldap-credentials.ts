// Checks users and passwords against a directory (LDAP); the only file that calls ldapts.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions, SecureVersion } from 'node:tls';
import type { Client, Entry } from 'ldapts';
import { ServiceError } from '../../base/errors.js';
import type { Checked, CredentialsValidator, UserPassword } from './credentials.js';

export interface LdapOptions {
  /** `ldap://host:port` or `ldaps://host:port`. */
  readonly url: string;
  readonly startTls: boolean;
  readonly bindUser: string;
  readonly bindPassword: string;
  readonly baseDn: string;
  /** Filter with `%s` for the name of the user. */
  readonly userSearch: string;
  readonly userAttribute: string;
  readonly groupBaseDn: string;
  /** Filter with `%s` for the distinguished name of the user and `%u` for its name; empty: `memberOf` tells the groups. */
  readonly groupSearch: string;
  readonly timeoutMs: number;
  readonly tls: {
    /** File of certificates in PEM; null: those that Node knows. */
    readonly trustStorePath: string | null;
    readonly minVersion: SecureVersion;
  };
  /** Checks that wait for the directory; more are refused. */
  readonly queuedMax: number;
  /** Told why the directory could not be asked. */
  onFailure(error: unknown): void;
}

/** Checks at a time, each with up to two connections to the directory. */
const RUNNING_MAX = 8;
/** Groups of one user that are read. */
const GROUPS_MAX = 10_000;
const MEMBER_OF = 'memberOf';

type Library = typeof import('ldapts');
let library: Promise<Library> | undefined;
/** Loaded when the first password is checked. */
const load = (): Promise<Library> => (library ??= import('ldapts'));

/** Searches for the user as the service's own user, then binds as the entry that was found. */
export class LdapCredentials implements CredentialsValidator {
  readonly #options: LdapOptions;
  readonly #tls: ConnectionOptions;
  /** Distinguished name of an entry that is not there. */
  readonly #nobody: string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: LdapOptions) {
    this.#options = options;
    this.#nobody = `cn=${randomUUID()},${options.baseDn}`;
    const { hostname } = new URL(options.url);
    const host = hostname.replace(/^\[|\]$/g, '');
    const { trustStorePath, minVersion } = options.tls;
    this.#tls = {
      host,
      minVersion,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(trustStorePath === null ? {} : { ca: readFileSync(trustStorePath) }),
    };
  }

  async check(credentials: UserPassword): Promise<Checked> {
    // A directory takes a bind without a password for one without a name, and lets it in.
    if (credentials.user === '' || credentials.password === '' || /\0/.test(credentials.user + credentials.password))
      return { outcome: 'unknown' };
    await this.#takePlace();
    try {
      return await this.#ask(credentials);
    } catch (error) {
      this.#options.onFailure(error);
      return { outcome: 'undecided' };
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async #takePlace(): Promise<void> {
    if (this.#running < RUNNING_MAX) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= this.#options.queuedMax)
      throw new ServiceError(
        'capacity_exceeded',
        `${this.#options.queuedMax} passwords wait to be checked (svc.auth.login.maxQueued); try again`,
      );
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #ask({ user, password }: UserPassword): Promise<Checked> {
    const { bindUser, bindPassword, userAttribute } = this.#options;
    return this.#connected(async (client) => {
      await client.bind(bindUser, bindPassword);
      const entry = await this.#findUser(client, user);
      if (entry === undefined) {
        // A name that is not there takes the same steps: the time of an answer does not tell which are.
        await this.#binds(this.#nobody, password).catch(() => false);
        return { outcome: 'unknown' };
      }
      if (!(await this.#binds(entry.dn, password))) return { outcome: 'wrong' };
      return { outcome: 'right', user: textsOf(entry, userAttribute)[0] ?? user, groups: await this.#groupsOf(client, entry, user) };
    });
  }

  /** Whether the directory takes the password for that of an entry. */
  async #binds(dn: string, password: string): Promise<boolean> {
    return this.#connected(async (client, { InvalidCredentialsError }) => {
      try {
        await client.bind(dn, password);
        return true;
      } catch (error) {
        if (error instanceof InvalidCredentialsError) return false;
        throw error;
      }
    });
  }

  async #findUser(client: Client, user: string): Promise<Entry | undefined> {
    const { baseDn, userSearch, userAttribute } = this.#options;
    const filter = await filterWith(userSearch, { '%s': user });
    const { searchEntries } = await client.search(baseDn, { scope: 'sub', filter, attributes: [userAttribute, MEMBER_OF], sizeLimit: 2 });
    if (searchEntries.length > 1) throw new Error(`the filter ${userSearch} finds several entries for one name`);
    return searchEntries[0];
  }

  async #groupsOf(client: Client, entry: Entry, user: string): Promise<readonly string[]> {
    const { groupSearch, groupBaseDn } = this.#options;
    const told = textsOf(entry, MEMBER_OF);
    if (groupSearch === '') return told.slice(0, GROUPS_MAX);
    const filter = await filterWith(groupSearch, { '%s': entry.dn, '%u': user });
    const { searchEntries } = await client.search(groupBaseDn, { scope: 'sub', filter, attributes: ['1.1'], sizeLimit: GROUPS_MAX });
    return [...new Set([...told, ...searchEntries.map(({ dn }) => dn)])];
  }

  async #connected<Result>(work: (client: Client, library: Library) => Promise<Result>): Promise<Result> {
    const library = await load();
    const { url, startTls, timeoutMs } = this.#options;
    // With options of TLS the library speaks TLS at once, whatever the address says.
    const secure = url.startsWith('ldaps:') ? { tlsOptions: this.#tls } : {};
    const client = new library.Client({ url, timeout: timeoutMs, connectTimeout: timeoutMs, ...secure });
    try {
      if (startTls) await client.startTLS(this.#tls);
      return await work(client, library);
    } finally {
      await client.unbind().catch(() => undefined);
    }
  }
}

/** A filter with values in place of its marks. The library escapes the values, so that they stay values. */
export async function filterWith(pattern: string, values: Readonly<Record<string, string>>): Promise<string> {
  const { Filter } = await load();
  const byMark = new Map(Object.entries(values));
  return pattern.replace(/%[su]/g, (mark) => {
    const value = byMark.get(mark);
    return value === undefined ? mark : Filter.escape(value);
  });
}

function textsOf(entry: Entry, attribute: string): readonly string[] {
  // Attribute names do not distinguish upper and lower case.
  const found = Object.entries(entry).find(([name]) => name.toLowerCase() === attribute.toLowerCase())?.[1];
  return (Array.isArray(found) ? found : found === undefined ? [] : [found]).map(String);
}

// Users, roles and group mappings as this process knows them, and how it hears of changes.

import { own } from '../../base/names.js';
import { type AccessRecord, accessRevision, allAccessRecords } from '../../metadata/access-records.js';
import type { Database } from '../../metadata/database.js';
import type { Permission } from '../../model/access/basic-authorizer.js';
import { type GroupMapping, type Login, parseGroupMapping, parseLogin, parsePermissions, parseUserRoles } from './records.js';

/** Records of one authorizer. */
export interface AuthorizerRecords {
  /** Names of roles by user. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  readonly roles: ReadonlyMap<string, readonly Permission[]>;
  readonly groupMappings: ReadonlyMap<string, GroupMapping>;
}

/** Users by name of one authenticator. */
export type Logins = ReadonlyMap<string, Login>;

interface Snapshot {
  readonly revision: number;
  readonly authorizers: ReadonlyMap<string, AuthorizerRecords>;
  readonly logins: ReadonlyMap<string, Logins>;
}

export interface AccessDirectoryOptions {
  readonly database: Database;
  /** Time until the next look at the metadata store. */
  nextLookMs(): number;
  onError(error: unknown): void;
}

const NOBODY: AuthorizerRecords = { users: new Map(), roles: new Map(), groupMappings: new Map() };
const NO_LOGINS: Logins = new Map();

/** All records, in memory: a request is decided without asking anybody. Maps are never altered; a change is another map. */
export class AccessDirectory {
  readonly #options: AccessDirectoryOptions;
  readonly #listeners: (() => void)[] = [];
  #snapshot: Snapshot | undefined;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AccessDirectoryOptions) {
    this.#options = options;
  }

  authorizer(name: string): AuthorizerRecords {
    return this.#snapshot?.authorizers.get(name) ?? NOBODY;
  }

  logins(authenticator: string): Logins {
    return this.#snapshot?.logins.get(authenticator) ?? NO_LOGINS;
  }

  get isLoaded(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Calls back after every change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the records if they have changed; what was written before the call is seen after it. */
  async refresh(): Promise<void> {
    // A look that is under way may have begun before the change.
    while (this.#reading !== undefined) await this.#reading.catch(() => undefined);
    this.#reading = this.#read();
    try {
      await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  /** Looks for changes from time to time, beside those that this process is told of. */
  start(): void {
    this.#timer = setTimeout(() => {
      void this.refresh()
        .catch((error: unknown) => this.#options.onError(error))
        .finally(() => this.#timer !== undefined && this.start());
    }, this.#options.nextLookMs());
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #read(): Promise<void> {
    const { database } = this.#options;
    // The revision is read first: a change in between is seen now, and looked at once more later.
    const revision = await accessRevision(database);
    if (revision === this.#snapshot?.revision) return;
    this.#snapshot = snapshotOf(revision, await allAccessRecords(database), database);
    for (const listener of this.#listeners) listener();
  }
}

type Mutable = { readonly [Part in keyof AuthorizerRecords]: Map<string, unknown> };

/** Records that cannot be read are set aside, and give nobody anything. */
function snapshotOf(revision: number, records: readonly AccessRecord[], { faults }: Pick<Database, 'faults'>): Snapshot {
  const authorizers = new Map<string, Mutable>();
  const logins = new Map<string, Map<string, Login>>();
  for (const { kind, owner, name, payload } of records) {
    const place = { table: 'access_records', column: 'payload', key: `${kind}/${owner}/${name}` };
    if (kind === 'login') {
      const login = faults.read(place, payload, parseLogin);
      const known = logins.get(owner) ?? new Map<string, Login>();
      logins.set(owner, known);
      if (login !== undefined) known.set(name, login);
      continue;
    }
    const of = authorizers.get(owner) ?? { users: new Map(), roles: new Map(), groupMappings: new Map() };
    authorizers.set(owner, of);
    const [part, parse] = PARTS[kind];
    const value = faults.read(place, payload, (json) => parse(json, name));
    if (value !== undefined) of[part].set(name, value);
  }
  // Each part was filled by the parser of its own row of the table.
  return { revision, authorizers: authorizers as unknown as Snapshot['authorizers'], logins };
}

const PARTS = {
  user: ['users', parseUserRoles],
  role: ['roles', (value: unknown) => parsePermissions(own(value as Readonly<Record<string, unknown>>, 'permissions'))],
  groupMapping: ['groupMappings', parseGroupMapping],
} as const satisfies Readonly<
  Record<Exclude<AccessRecord['kind'], 'login'>, readonly [keyof AuthorizerRecords, (value: unknown, name: string) => unknown]>
>;

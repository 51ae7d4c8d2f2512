// Changes of users, passwords, roles and group mappings, each with its line in the audit trail.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles, stringifyJson } from '../../base/json.js';
import {
  type AccessKind,
  type AccessRecord,
  allAccessRecords,
  findAccessRecord,
  removeAccessRecord,
  writeAccessRecord,
} from '../../metadata/access-records.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { type Author, audit } from '../../metadata/settings.js';
import type { Permission } from '../../model/access/basic-authorizer.js';
import { type Credentials, checkName, type GroupMapping, parseGroupMapping, parseUserRoles, permissionBody } from './records.js';

export interface AccessStoreOptions {
  /** Runs work in a transaction; that of the leader on a Coordinator. */
  transact<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** Called after a change, before its caller is answered. */
  changed(owner: string): Promise<void>;
  readonly now: () => number;
}

/** The store of the leading Coordinator, whose changes end with its epoch. */
export function leaderStore(database: Database, fence: () => Fence, changed: AccessStoreOptions['changed']): AccessStore {
  return new AccessStore({ transact: (work) => fencedTransaction(database, fence(), work), changed, now: Date.now });
}

/** Sender of a change: the user that was recognised, beside what its headers say. */
export interface Changer extends Author {
  readonly identity: string;
}

const WORDS: Readonly<Record<AccessKind, string>> = { login: 'User', user: 'User', role: 'Role', groupMapping: 'Group mapping' };

type Subject = Omit<AccessRecord, 'payload'>;

/** Users and group mappings have roles. */
type RoleHolder = 'user' | 'groupMapping';

/** Writes records. Errors are `input_invalid` where the original answers 400: names that exist, and names that do not. */
export class AccessStore {
  readonly #options: AccessStoreOptions;

  constructor(options: AccessStoreOptions) {
    this.#options = options;
  }

  createLogin(authenticator: string, name: string, by: Changer): Promise<void> {
    return this.#create({ kind: 'login', owner: authenticator, name }, '{}', by);
  }

  setCredentials(authenticator: string, name: string, credentials: Credentials, by: Changer): Promise<void> {
    const subject: Subject = { kind: 'login', owner: authenticator, name };
    return this.#change(subject, by, 'Set credentials', async (queries) => {
      await present(queries, subject);
      await writeAccessRecord(queries, { ...subject, payload: JSON.stringify({ credentials }) });
    });
  }

  createUser(authorizer: string, name: string, by: Changer): Promise<void> {
    return this.#create({ kind: 'user', owner: authorizer, name }, JSON.stringify({ roles: [] }), by);
  }

  createRole(authorizer: string, name: string, by: Changer): Promise<void> {
    return this.#create({ kind: 'role', owner: authorizer, name }, JSON.stringify({ permissions: [] }), by);
  }

  createGroupMapping(authorizer: string, { name, groupPattern, roles }: GroupMapping, by: Changer): Promise<void> {
    return this.#create({ kind: 'groupMapping', owner: authorizer, name }, JSON.stringify({ groupPattern, roles }), by);
  }

  setPermissions(authorizer: string, name: string, permissions: readonly Permission[], by: Changer): Promise<void> {
    const subject: Subject = { kind: 'role', owner: authorizer, name };
    return this.#change(subject, by, 'Set permissions', async (queries) => {
      await present(queries, subject);
      await writeAccessRecord(queries, { ...subject, payload: stringifyJson({ permissions: permissions.map(permissionBody) }) });
    });
  }

  async remove(kind: AccessKind, owner: string, name: string, by: Changer): Promise<void> {
    const subject: Subject = { kind, owner, name };
    await this.#change(subject, by, 'Delete', async (queries) => {
      if (!(await removeAccessRecord(queries, subject))) throw absent(subject);
      if (kind === 'role') await takeFromAll(queries, owner, name);
    });
  }

  assignRole(kind: RoleHolder, authorizer: string, name: string, role: string, by: Changer): Promise<void> {
    return this.#alterRoles({ kind, owner: authorizer, name }, role, by, 'Assign', (roles) => {
      if (roles.includes(role)) throw invalid(`${WORDS[kind]} [${name}] already has role [${role}].`);
      return [...roles, role];
    });
  }

  unassignRole(kind: RoleHolder, authorizer: string, name: string, role: string, by: Changer): Promise<void> {
    return this.#alterRoles({ kind, owner: authorizer, name }, role, by, 'Unassign', (roles) => {
      if (!roles.includes(role)) throw invalid(`${WORDS[kind]} [${name}] does not have role [${role}].`);
      return roles.filter((each) => each !== role);
    });
  }

  #alterRoles(
    subject: Subject,
    role: string,
    by: Changer,
    verb: string,
    alter: (roles: readonly string[]) => readonly string[],
  ): Promise<void> {
    return this.#change(subject, by, `${verb} role [${role}]`, async (queries) => {
      await present(queries, { kind: 'role', owner: subject.owner, name: role });
      await writeRoles(queries, subject, await present(queries, subject), alter);
    });
  }

  #create(subject: Subject, payload: string, by: Changer): Promise<void> {
    checkName(WORDS[subject.kind], subject.name);
    return this.#change(subject, by, 'Create', async (queries) => {
      if ((await findAccessRecord(queries, subject)) !== undefined)
        throw invalid(`${WORDS[subject.kind]} [${subject.name}] already exists.`);
      await writeAccessRecord(queries, { ...subject, payload });
    });
  }

  /** Makes a change together with its line in the audit trail, which tells what was there before and is now, passwords apart. */
  async #change(subject: Subject, by: Changer, what: string, work: (queries: Queries) => Promise<void>): Promise<void> {
    const { transact, changed, now } = this.#options;
    const { kind, owner, name } = subject;
    const { identity, ...author } = by;
    await transact(async (queries) => {
      const before = shown(kind, await findAccessRecord(queries, subject));
      await work(queries);
      const after = shown(kind, await findAccessRecord(queries, subject));
      const payload = stringifyJson({ change: `${what} ${WORDS[kind].toLowerCase()} [${name}]`, identity, before, after });
      const type = kind === 'login' ? 'basic.authenticator' : 'basic.authorizer';
      await audit(queries, { type, key: owner }, author, payload, now());
    });
    await changed(owner);
  }
}

/** Hashes of passwords stay out of the audit trail. */
function shown(kind: AccessKind, payload: string | undefined): unknown {
  if (payload === undefined) return null;
  return kind === 'login' ? {} : parseJsonWithDoubles(payload);
}

/** @throws ServiceError `input_invalid` when it is not there */
async function present(queries: Queries, subject: Subject): Promise<string> {
  const payload = await findAccessRecord(queries, subject);
  if (payload === undefined) throw absent(subject);
  return payload;
}

async function writeRoles(
  queries: Queries,
  subject: Subject,
  payload: string,
  alter: (roles: readonly string[]) => readonly string[],
): Promise<void> {
  const json = parseJsonWithDoubles(payload);
  if (subject.kind === 'user') {
    await writeAccessRecord(queries, { ...subject, payload: JSON.stringify({ roles: alter(parseUserRoles(json)) }) });
    return;
  }
  const { groupPattern, roles } = parseGroupMapping(json, subject.name);
  await writeAccessRecord(queries, { ...subject, payload: JSON.stringify({ groupPattern, roles: alter(roles) }) });
}

/** A role that is deleted leaves its users and group mappings: one of that name made later is not theirs. */
async function takeFromAll(queries: Queries, authorizer: string, role: string): Promise<void> {
  for (const { kind, owner, name, payload } of await allAccessRecords(queries)) {
    if (owner !== authorizer || (kind !== 'user' && kind !== 'groupMapping')) continue;
    if (payload.includes(JSON.stringify(role)))
      await writeRoles(queries, { kind, owner, name }, payload, (roles) => roles.filter((each) => each !== role));
  }
}

function absent({ kind, name }: Subject): ServiceError {
  return invalid(`${WORDS[kind]} [${name}] does not exist.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError('input_invalid', message);
}

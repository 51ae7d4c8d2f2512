// Users, passwords, roles and group mappings in the metadata store.

import type { Queries } from './database.js';

/** `login`: a user of an authenticator. The others belong to an authorizer. */
export type AccessKind = 'login' | 'user' | 'role' | 'groupMapping';

export interface AccessRecord {
  readonly kind: AccessKind;
  /** Name of the authenticator or authorizer. */
  readonly owner: string;
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
}

/** Grows with every change of a record. */
export async function accessRevision(queries: Queries): Promise<number> {
  const rows = await queries.rows<{ value: number }>('SELECT value FROM access_revision');
  return rows[0]?.value ?? 0;
}

export async function allAccessRecords(queries: Queries): Promise<readonly AccessRecord[]> {
  return queries.rows<AccessRecord>('SELECT kind, owner, name, payload FROM access_records ORDER BY kind, owner, name');
}

export async function findAccessRecord(
  queries: Queries,
  { kind, owner, name }: Omit<AccessRecord, 'payload'>,
): Promise<string | undefined> {
  const rows = await queries.rows<{ payload: string }>('SELECT payload FROM access_records WHERE kind = ? AND owner = ? AND name = ?', [
    kind,
    owner,
    name,
  ]);
  return rows[0]?.payload;
}

/** To be called in a transaction, as those below. */
export async function writeAccessRecord(queries: Queries, { kind, owner, name, payload }: AccessRecord): Promise<void> {
  await queries.rows(
    `INSERT INTO access_records (kind, owner, name, payload) VALUES (?, ?, ?, ?)
     ON CONFLICT (kind, owner, name) DO UPDATE SET payload = excluded.payload`,
    [kind, owner, name, payload],
  );
  await countChange(queries);
}

/** Whether there was one. */
export async function removeAccessRecord(queries: Queries, { kind, owner, name }: Omit<AccessRecord, 'payload'>): Promise<boolean> {
  const removed = await queries.rows<{ name: string }>(
    'DELETE FROM access_records WHERE kind = ? AND owner = ? AND name = ? RETURNING name',
    [kind, owner, name],
  );
  if (removed.length > 0) await countChange(queries);
  return removed.length > 0;
}

async function countChange(queries: Queries): Promise<void> {
  await queries.rows('UPDATE access_revision SET value = value + 1');
}

// Leases of leaders in the metadata store.

import { ServiceError } from '../base/errors.js';
import type { EpochMs } from '../base/instant.js';
import type { Database, Queries } from './database.js';

export interface Leader {
  readonly role: string;
  /** Grows by one whenever leadership changes hands; every transaction of a leader is checked against it. */
  readonly epoch: number;
  readonly host: string;
  readonly expiresMs: EpochMs;
}

export interface LeaseRequest {
  readonly role: string;
  readonly host: string;
  /** The epoch this candidate already holds, or null. */
  readonly heldEpoch: number | null;
  readonly nowMs: EpochMs;
  readonly leaseMs: number;
  /** Whether this candidate may take the lease, whatever it says; asked in the transaction that takes it. */
  readonly mayTake?: (queries: Queries) => Promise<boolean>;
}

/** Told of a role that nobody leads. */
export function noLeader(role: string): Leader {
  return { role, epoch: 0, host: '', expiresMs: 0 };
}

/**
 * Renews a held lease, or takes one that may be taken; without `mayTake`: one that nobody holds, that has run out, or that an earlier
 * process of the same address held (two processes cannot listen at one address, so that one has ended). Returns who leads afterwards.
 */
export async function takeLease(database: Pick<Database, 'transaction'>, request: LeaseRequest): Promise<Leader> {
  const { role, host, heldEpoch, nowMs, leaseMs } = request;
  return database.transaction(async (queries) => {
    const current = await findLeader(queries, role);
    if (current !== undefined && heldEpoch === current.epoch) {
      await queries.rows('UPDATE leaders SET expires_ms = ? WHERE role = ?', [nowMs + leaseMs, role]);
      return { ...current, expiresMs: nowMs + leaseMs };
    }
    const isFree = current === undefined || current.host === host || current.expiresMs <= nowMs;
    // A row of this address is of a process before this one.
    if (!(await (request.mayTake?.(queries) ?? isFree))) return current === undefined || current.host === host ? noLeader(role) : current;
    const taken: Leader = { role, epoch: (current?.epoch ?? 0) + 1, host, expiresMs: nowMs + leaseMs };
    await queries.rows(
      `INSERT INTO leaders (role, epoch, host, expires_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (role) DO UPDATE SET epoch = excluded.epoch, host = excluded.host, expires_ms = excluded.expires_ms`,
      [role, taken.epoch, host, taken.expiresMs],
    );
    return taken;
  });
}

/** Further ahead than a renewal that was held up can be behind another one. */
const AHEAD_MS_MAX = 60_000;

/**
 * Renews leases that are still held; one that another candidate has taken stays theirs. A renewal that comes late shortens none, but
 * one that is far ahead was written before the clock stepped back, and would keep a leader that is paused.
 */
export async function renewLeases(
  queries: Queries,
  leases: readonly { readonly role: string; readonly epoch: number }[],
  expiresMs: EpochMs,
): Promise<void> {
  for (const { role, epoch } of leases)
    await queries.rows('UPDATE leaders SET expires_ms = ? WHERE role = ? AND epoch = ? AND (expires_ms < ? OR expires_ms > ?)', [
      expiresMs,
      role,
      epoch,
      expiresMs,
      expiresMs + AHEAD_MS_MAX,
    ]);
}

/** Lets the next candidate in at once; nothing happens when the epoch is no longer held. */
export async function giveUpLease(database: Pick<Database, 'transaction'>, role: string, epoch: number): Promise<void> {
  await database.transaction((queries) => queries.rows('UPDATE leaders SET expires_ms = 0 WHERE role = ? AND epoch = ?', [role, epoch]));
}

export async function findLeader(queries: Queries, role: string): Promise<Leader | undefined> {
  const rows = await queries.rows<{ epoch: number; host: string; expires_ms: number }>(
    'SELECT epoch, host, expires_ms FROM leaders WHERE role = ?',
    [role],
  );
  const row = rows[0];
  return row === undefined ? undefined : { role, epoch: row.epoch, host: row.host, expiresMs: row.expires_ms };
}

/** Identity of an acting leader: the role and the epoch under which it was elected. */
export interface Fence {
  readonly role: string;
  readonly epoch: number;
}

/**
 * A transaction that only the leader may make. Checked inside the transaction, which holds the write lock: a leader
 * that was paused and replaced cannot commit anything, however late it wakes.
 * @throws ServiceError `not_leader`
 */
export async function fencedTransaction<Result>(
  database: Database,
  fence: Fence,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (queries) => {
    const leader = await findLeader(queries, fence.role);
    if (leader?.epoch !== fence.epoch)
      throw new ServiceError(
        'not_leader',
        `${fence.role}: epoch ${fence.epoch} has ended; ${leader?.host ?? 'nobody'} leads with epoch ${leader?.epoch ?? 0}`,
      );
    return work(queries);
  });
}

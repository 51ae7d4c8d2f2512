// Membership over PostgreSQL: announcements of processes that are connected, leaders by advisory locks and leases.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  liveAnnouncements,
  removeAnnouncement,
  removeAnnouncements,
  renewAnnouncements,
  writeAnnouncements,
} from '../../metadata/announcements.js';
import type { Binding, Database, Queries } from '../../metadata/database.js';
import { findLeader, giveUpLease, type Leader, type LeaseRequest, noLeader, renewLeases, takeLease } from '../../metadata/leadership.js';
import { connectPostgresql, type PostgresqlConnection, type PostgresqlSettings } from '../../metadata/postgresql/connection.js';
import type { Announcement, HeldLease, MembershipStore } from './membership-store.js';

/** First number of the advisory locks of leaders; the second one is a hash of the schema and the role. */
const ELECTION_LOCK = 1_146_047_558;
const ROLE_LOCK = '(hashtext(current_schema() || ?) & 2147483647)';
const IS_LOCK_OF_ROLE = `locks.locktype = 'advisory' AND locks.granted AND locks.classid::bigint = ? AND locks.objid::bigint = ${ROLE_LOCK}
  AND locks.objsubid = 2 AND holders.datname = current_database()`;
const CHANNEL = 'dolmen_membership';
/** A beat that takes longer fails; the next one connects anew. */
const STATEMENT_MS = 5000;
/** Leases that whoever holds the lock without one gets to take it: it may have got the lock just now. */
const LEASES_TO_BEGIN = 2;
/** Time for the sessions of a paused leader to end once they are told to. */
const TERMINATION_MS = 500;
const PAUSE_MS = 20;

/** Who holds the lock of a role that this process stands for. */
interface Holder {
  /** Process and start of its session in the database: another session is another holder. */
  readonly session: string;
  /** Whether a statement of its process waits for a lock of the database, as before it can take the lease. */
  waits: boolean;
  /** Since when this process has seen it hold the lock; by `performance.now`. */
  sinceMs: number;
  /** End of the lease when it was seen last; undefined: not seen yet. */
  expiresMs: number | undefined;
  /** The lease was renewed meanwhile: it is that of this holder. */
  leads: boolean;
}

/**
 * Membership by a session of its own, beside the transactions of metadata, so that no long transaction holds it up.
 *
 * A process is there while it is connected and sends heartbeats, by the clock of the database. A leader holds an advisory lock in
 * its session, which ends with its process or machine, and a lease, which it renews. Another candidate takes over when the lock is
 * free; when the lease has run out while the same session has held the lock for some time, the leader is paused: its sessions are
 * ended first, with whatever transaction they are in. One that got the lock a moment ago is about to take the lease. The epoch is
 * raised under the write lock, so every transaction of the old leader is over, or fails.
 */
export class PostgresqlMembership implements MembershipStore {
  readonly #settings: PostgresqlSettings;
  readonly #database: Pick<Database, 'transaction' | 'faults'>;
  #connection: PostgresqlConnection | undefined;
  #connecting: Promise<PostgresqlConnection> | undefined;
  #offsetMs = 0;
  /** Roles whose lock the session holds. */
  readonly #locked = new Set<string>();
  /** Holders of locks that others have, by role. */
  readonly #holders = new Map<string, Holder>();
  #told = '';
  #listener: () => void = () => undefined;
  #isClosed = false;

  constructor(settings: PostgresqlSettings, database: Pick<Database, 'transaction' | 'faults'>) {
    this.#settings = settings;
    this.#database = database;
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  async prepare(): Promise<void> {
    const queries = await this.#queries();
    const beforeMs = Date.now();
    const [row] = await queries.rows<{ now_ms: number }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms');
    if (row !== undefined) this.#offsetMs = Math.round(row.now_ms - (beforeMs + Date.now()) / 2);
  }

  async announce(announcements: readonly Announcement[]): Promise<void> {
    const heartbeatMs = this.now();
    await writeAnnouncements(
      await this.#queries(),
      announcements.map((each) => ({ ...each, heartbeatMs })),
    );
    const text = JSON.stringify(announcements);
    if (text !== this.#told) await this.#tell();
    this.#told = text;
  }

  async live(sinceMs: number): ReturnType<MembershipStore['live']> {
    const queries = await this.#queries();
    const connected = await queries.rows<{ name: string }>(
      'SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database()',
    );
    const names = new Set(connected.map(({ name }) => name));
    return (await liveAnnouncements(queries, sinceMs)).filter(({ session }) => names.has(applicationName(session)));
  }

  async withdraw(announcement: Parameters<MembershipStore['withdraw']>[0]): Promise<void> {
    await removeAnnouncement(await this.#queries(), announcement);
    await this.#tell();
  }

  async stand(request: Omit<LeaseRequest, 'nowMs'>): Promise<Leader> {
    const { role, host, heldEpoch, leaseMs } = request;
    const queries = await this.#queries();
    if (heldEpoch !== null) {
      await renewLeases(queries, [{ role, epoch: heldEpoch }], this.now() + leaseMs);
      const leader = await findLeader(queries, role);
      // Its lock may have ended with an earlier session. Somebody who has it is about to lead.
      if (leader?.epoch === heldEpoch) {
        await this.#lock(role);
        return leader;
      }
    }
    if (!(await this.#lock(role))) {
      const holder = await this.#holder(role);
      const leader = await findLeader(queries, role);
      if (holder !== undefined) noteLease(holder, leader?.expiresMs ?? 0);
      if (leader !== undefined && leader.expiresMs > this.now()) return leader;
      if (holder !== undefined) await this.#endPaused(role, holder, LEASES_TO_BEGIN * leaseMs);
      // A row of this address is of a process before this one.
      if (!(await this.#lock(role))) return leader === undefined || leader.host === host ? noLeader(role) : leader;
    }
    // Its session may have been ended since, and the lock be that of another candidate.
    const mayTake = (transaction: Queries): Promise<boolean> => this.#holdsLock(transaction, role);
    const taken = await takeLease(this.#database, { role, host, heldEpoch: null, nowMs: this.now(), leaseMs, mayTake });
    await this.#tell();
    return taken;
  }

  async leader(role: string): Promise<Leader | undefined> {
    return findLeader(await this.#queries(), role);
  }

  async giveUp(role: string, epoch: number): Promise<void> {
    const queries = await this.#queries();
    // First the lock: who has it without a lease is taken for one that is paused.
    if (this.#locked.delete(role)) await queries.rows(`SELECT pg_advisory_unlock(?, ${ROLE_LOCK})`, [ELECTION_LOCK, role]);
    await giveUpLease(this.#database, role, epoch);
    await this.#tell();
  }

  async renew(session: string, leases: readonly HeldLease[], leaseMs: number): Promise<void> {
    await this.prepare();
    const queries = await this.#queries();
    await renewAnnouncements(queries, session, this.now());
    await renewLeases(queries, leases, this.now() + leaseMs);
  }

  onNews(listener: () => void): void {
    this.#listener = listener;
  }

  async withdrawAll(session: string): Promise<void> {
    await removeAnnouncements(await this.#queries(), session);
    await this.#tell();
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  /** True when this session holds the lock of the role. */
  async #lock(role: string): Promise<boolean> {
    const queries = await this.#queries();
    if (this.#locked.has(role)) return true;
    const [row] = await queries.rows<{ locked: string }>(
      `SELECT CASE WHEN pg_try_advisory_lock(?, ${ROLE_LOCK}) THEN 'yes' ELSE 'no' END AS locked`,
      [ELECTION_LOCK, role],
    );
    if (row?.locked !== 'yes') return false;
    this.#locked.add(role);
    return true;
  }

  /** Whether the lock is that of this process in the eyes of the database, which may have ended its session. */
  async #holdsLock(queries: Queries, role: string): Promise<boolean> {
    const found = await queries.rows(
      `SELECT 1 FROM pg_locks AS locks JOIN pg_stat_activity AS holders ON holders.pid = locks.pid
       WHERE ${IS_LOCK_OF_ROLE} AND holders.application_name = ?`,
      [ELECTION_LOCK, role, this.#settings.applicationName],
    );
    return found.length > 0;
  }

  /** Who holds the lock of a role, and since when as this process has seen it; undefined: nobody. */
  async #holder(role: string): Promise<Holder | undefined> {
    const queries = await this.#queries();
    const [found] = await queries.rows<{ session: string; waits: string }>(
      `SELECT holders.pid || ' ' || holders.backend_start AS session, CASE WHEN EXISTS (
         SELECT 1 FROM pg_stat_activity AS own WHERE own.datname = holders.datname
           AND own.application_name = holders.application_name AND own.wait_event_type = 'Lock') THEN 'yes' ELSE 'no' END AS waits
       FROM pg_locks AS locks JOIN pg_stat_activity AS holders ON holders.pid = locks.pid WHERE ${IS_LOCK_OF_ROLE}`,
      [ELECTION_LOCK, role],
    );
    if (found === undefined) {
      this.#holders.delete(role);
      return undefined;
    }
    const known = this.#holders.get(role);
    const first = { session: found.session, waits: false, sinceMs: performance.now(), expiresMs: undefined, leads: false };
    const holder: Holder = known?.session === found.session ? known : first;
    holder.waits = found.waits === 'yes';
    this.#holders.set(role, holder);
    return holder;
  }

  /**
   * Ends all sessions of a holder whose lease has run out, or that has had time to take one, and waits until its lock is free. One that
   * waits for the transaction of another process before it has a lease is not paused, and gets that time afterwards.
   */
  async #endPaused(role: string, holder: Holder, momentMs: number): Promise<void> {
    if (holder.waits) holder.sinceMs = performance.now();
    if (!holder.leads && performance.now() - holder.sinceMs < momentMs) return;
    const queries = await this.#queries();
    await queries.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> ? AND application_name IN (
         SELECT holders.application_name FROM pg_locks AS locks JOIN pg_stat_activity AS holders ON holders.pid = locks.pid
         WHERE ${IS_LOCK_OF_ROLE} AND holders.pid || ' ' || holders.backend_start = ?)`,
      [this.#settings.applicationName, ELECTION_LOCK, role, holder.session],
    );
    for (const untilMs = performance.now() + TERMINATION_MS; performance.now() < untilMs; await sleep(PAUSE_MS))
      if (await this.#lock(role)) return;
  }

  async #tell(): Promise<void> {
    await (await this.#queries()).rows("SELECT pg_notify(?, '')", [CHANNEL]);
  }

  /** The statements of a session that is there. */
  async #queries(): Promise<Queries> {
    const connection = await this.#session();
    const { faults } = this.#database;
    return {
      rows: <Row extends object>(sql: string, bindings?: readonly Binding[]) => connection.rows<Row>(sql, bindings),
      faults,
    };
  }

  async #session(): Promise<PostgresqlConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<PostgresqlConnection> {
    await this.#connection?.close();
    this.#locked.clear();
    const connection = await connectPostgresql(this.#settings, STATEMENT_MS);
    connection.onNews(() => {
      if (!this.#isClosed) this.#listener();
    });
    this.#connection = connection;
    await connection.rows(`LISTEN ${CHANNEL}`);
    return connection;
  }
}

/** Only who has the lease renews it. */
function noteLease(holder: Holder, expiresMs: number): void {
  holder.leads ||= holder.expiresMs !== undefined && expiresMs > holder.expiresMs;
  holder.expiresMs = expiresMs;
}

/** Name under which PostgreSQL lists the connections of a process. */
export function applicationName(session: string): string {
  return `dolmen ${session}`;
}

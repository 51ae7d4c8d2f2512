// Records of members and leaders that processes share, and how a database keeps them.

import type { EpochMs } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import {
  type AnnouncementRecord,
  liveAnnouncements,
  removeAnnouncement,
  removeAnnouncements,
  renewAnnouncements,
  writeAnnouncements,
} from '../../metadata/announcements.js';
import type { Database } from '../../metadata/database.js';
import { findLeader, giveUpLease, type Leader, type LeaseRequest, renewLeases, takeLease } from '../../metadata/leadership.js';

export interface HeldLease {
  readonly role: string;
  readonly epoch: number;
}

export type Announcement = Omit<AnnouncementRecord, 'heartbeatMs'>;

/** Announcements and leases, by one clock for all processes. */
export interface MembershipStore {
  /** The clock that heartbeats and leases are written by. */
  now(): EpochMs;
  /** Begins a beat: the connection is there, and the clock is right. */
  prepare(): Promise<void>;
  /** Writes or renews what a process announces. */
  announce(announcements: readonly Announcement[]): Promise<void>;
  /** Announcements with a heartbeat since then whose processes are there. */
  live(sinceMs: EpochMs): Promise<readonly AnnouncementRecord[]>;
  withdraw(announcement: Pick<Announcement, 'role' | 'host' | 'session'>): Promise<void>;
  /** Renews a lease or takes one that may be taken; returns who leads afterwards. */
  stand(request: Omit<LeaseRequest, 'nowMs'>): Promise<Leader>;
  leader(role: string): Promise<Leader | undefined>;
  giveUp(role: string, epoch: number): Promise<void>;
  /** Renews all that a process announced and leads, whatever its event loop does. */
  renew(session: string, leases: readonly HeldLease[], leaseMs: number): Promise<void>;
  /** Calls back when another process has changed something, where the database tells. */
  onNews(listener: () => void): void;
  /** Takes back what the process announced. */
  withdrawAll(session: string): Promise<void>;
  /** Ends the connection; nothing is asked afterwards. */
  disconnect(): Promise<void>;
}

/** Membership in the tables of a database, by the clock of the machine, which processes over one file share. */
export function membershipOver(database: Database, now: () => EpochMs): MembershipStore {
  return {
    now,
    async prepare() {},
    announce: (announcements) =>
      database.transaction((queries) =>
        writeAnnouncements(
          queries,
          announcements.map((each) => extended(each, { heartbeatMs: now() })),
        ),
      ),
    live: (sinceMs) => liveAnnouncements(database, sinceMs),
    withdraw: (announcement) => removeAnnouncement(database, announcement),
    stand: (request) => takeLease(database, extended(request, { nowMs: now() })),
    leader: (role) => findLeader(database, role),
    giveUp: (role, epoch) => giveUpLease(database, role, epoch),
    renew: (session, leases, leaseMs) =>
      database.transaction(async (queries) => {
        await renewAnnouncements(queries, session, now());
        await renewLeases(queries, leases, now() + leaseMs);
      }),
    onNews() {},
    withdrawAll: (session) => removeAnnouncements(database, session),
    async disconnect() {},
  };
}

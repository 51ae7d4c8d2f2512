import type { EpochMs } from '../model/interval.js';
import type { Queries } from './database.js';

export interface AnnouncementRecord {
  readonly role: string;
  readonly host: string;
  /** Made anew by every start of a process. */
  readonly session: string;
  /** JSON text. */
  readonly details: string;
  readonly heartbeatMs: EpochMs;
}

/** Writes or renews announcements; one of an earlier process at the same address gives way. */
export async function writeAnnouncements(queries: Queries, records: readonly AnnouncementRecord[]): Promise<void> {
  for (const { role, host, session, details, heartbeatMs } of records) {
    await queries.rows(
      `INSERT INTO announcements (role, host, session, details, heartbeat_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (role, host) DO UPDATE SET session = excluded.session, details = excluded.details, heartbeat_ms = excluded.heartbeat_ms`,
      [role, host, session, details, heartbeatMs],
    );
  }
}

/** Renews what this session announced and nobody replaced. */
export async function renewAnnouncements(queries: Queries, session: string, heartbeatMs: EpochMs): Promise<void> {
  await queries.rows('UPDATE announcements SET heartbeat_ms = ? WHERE session = ? AND heartbeat_ms < ?', [
    heartbeatMs,
    session,
    heartbeatMs,
  ]);
}

export async function removeAnnouncements(queries: Queries, session: string): Promise<void> {
  await queries.rows('DELETE FROM announcements WHERE session = ?', [session]);
}

/** Those with a heartbeat after `sinceMs`, by role and host. */
export async function liveAnnouncements(queries: Queries, sinceMs: EpochMs): Promise<readonly AnnouncementRecord[]> {
  const rows = await queries.rows<{ role: string; host: string; session: string; details: string; heartbeat_ms: number }>(
    'SELECT role, host, session, details, heartbeat_ms FROM announcements WHERE heartbeat_ms > ? ORDER BY role, host',
    [sinceMs],
  );
  return rows.map((row) => ({ role: row.role, host: row.host, session: row.session, details: row.details, heartbeatMs: row.heartbeat_ms }));
}

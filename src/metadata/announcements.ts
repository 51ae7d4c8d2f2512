// Announcements of processes in the metadata store.

import type { EpochMs } from '../base/instant.js';
import { isRecord, stringifyJson } from '../base/json.js';
import type { Queries } from './database.js';

export interface AnnouncementRecord {
  readonly role: string;
  readonly host: string;
  /** Id that every start of a process makes for itself. */
  readonly session: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly heartbeatMs: EpochMs;
}

/** Writes or renews announcements; one of an earlier process at the same address gives way. */
export async function writeAnnouncements(queries: Queries, records: readonly AnnouncementRecord[]): Promise<void> {
  for (const { role, host, session, details, heartbeatMs } of records) {
    await queries.rows(
      `INSERT INTO announcements (role, host, session, details, heartbeat_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (role, host) DO UPDATE SET session = excluded.session, details = excluded.details, heartbeat_ms = excluded.heartbeat_ms`,
      [role, host, session, stringifyJson(details), heartbeatMs],
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

/** Removes one of this session. */
export async function removeAnnouncement(
  queries: Queries,
  { role, host, session }: Pick<AnnouncementRecord, 'role' | 'host' | 'session'>,
): Promise<void> {
  await queries.rows('DELETE FROM announcements WHERE role = ? AND host = ? AND session = ?', [role, host, session]);
}

/** Announcements with a heartbeat after `sinceMs`, by role and host. */
export async function liveAnnouncements(queries: Queries, sinceMs: EpochMs): Promise<readonly AnnouncementRecord[]> {
  const rows = await queries.rows<{ role: string; host: string; session: string; details: string; heartbeat_ms: number }>(
    'SELECT role, host, session, details, heartbeat_ms FROM announcements WHERE heartbeat_ms > ? ORDER BY role, host',
    [sinceMs],
  );
  return rows.map(({ role, host, session, details, heartbeat_ms }) => ({
    role,
    host,
    session,
    // Only the details are lost: an announced process is there, whatever they say.
    details: queries.faults.read({ table: 'announcements', column: 'details', key: `${role} ${host}` }, details, parseDetails) ?? {},
    heartbeatMs: heartbeat_ms,
  }));
}

function parseDetails(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new Error('it is not an object');
  return value;
}

// Specs of supervisors: each version of them, the newest of which counts.

import type { EpochMs } from '../base/instant.js';
import type { Queries } from './database.js';
import { bumpRevision } from './segments.js';

export interface SupervisorVersion {
  readonly id: string;
  readonly dataSource: string;
  /** JSON text; null: the supervisor was terminated. */
  readonly document: string | null;
  readonly createdMs: EpochMs;
}

interface Row {
  readonly id: string;
  readonly data_source: string;
  readonly payload: string;
  readonly created_ms: number;
}

/** Stands for a terminated supervisor, in place of a document. */
const TOMBSTONE = '';

/** Adds a version; null ends the supervisor and keeps its history. */
export async function writeSupervisor(
  queries: Queries,
  { id, dataSource, document }: Omit<SupervisorVersion, 'createdMs'>,
  nowMs: EpochMs,
): Promise<void> {
  await queries.rows('INSERT INTO supervisors (id, data_source, payload, created_ms) VALUES (?, ?, ?, ?)', [
    id,
    dataSource,
    document ?? TOMBSTONE,
    nowMs,
  ]);
  // Brokers are told with the next snapshot whether it runs.
  await bumpRevision(queries);
}

/** The newest version of each supervisor that was not terminated, by id. */
export async function activeSupervisors(queries: Queries): Promise<readonly SupervisorVersion[]> {
  const rows = await queries.rows<Row>(
    `SELECT id, data_source, payload, created_ms FROM supervisors
     WHERE sequence IN (SELECT MAX(sequence) FROM supervisors GROUP BY id) AND payload <> ? ORDER BY id`,
    [TOMBSTONE],
  );
  return rows.map(versionOf);
}

/** All versions, newest first, of one supervisor or of all of them. */
export async function supervisorHistory(queries: Queries, id: string | null): Promise<readonly SupervisorVersion[]> {
  const rows = await queries.rows<Row>(
    `SELECT id, data_source, payload, created_ms FROM supervisors ${id === null ? '' : 'WHERE id = ?'} ORDER BY id, sequence DESC`,
    id === null ? [] : [id],
  );
  return rows.map(versionOf);
}

function versionOf({ id, data_source, payload, created_ms }: Row): SupervisorVersion {
  return { id, dataSource: data_source, document: payload === TOMBSTONE ? null : payload, createdMs: created_ms };
}

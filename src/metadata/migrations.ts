// Schema of the metadata database, as a list of migrations.

import { ServiceError } from '../base/errors.js';
import type { Database, Queries } from './database.js';

/**
 * The schema's history. A migration never changes once released: the next change is a new entry at the end. All that
 * are missing run in one transaction, so a process killed half-way leaves the schema it found.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    // Grows by one with every transaction that changes which segments are used.
    'CREATE TABLE revision (value INTEGER NOT NULL)',
    'INSERT INTO revision VALUES (0)',
    `CREATE TABLE segments (
      id TEXT PRIMARY KEY, data_source TEXT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL,
      version TEXT NOT NULL, partition_number INTEGER NOT NULL, used INTEGER NOT NULL, load_path TEXT NOT NULL,
      payload TEXT NOT NULL, created_ms BIGINT NOT NULL, used_changed_ms BIGINT NOT NULL, revision INTEGER NOT NULL)`,
    'CREATE INDEX segments_by_use ON segments (used, data_source, start_ms)',
    'CREATE INDEX segments_by_path ON segments (load_path)',
    'CREATE INDEX segments_by_revision ON segments (revision)',
    // Lock versions of a datasource only ever grow, also when the clock steps back.
    'CREATE TABLE data_sources (name TEXT PRIMARY KEY, last_version_ms BIGINT NOT NULL)',
    `CREATE TABLE tasks (
      id TEXT PRIMARY KEY, group_id TEXT NOT NULL, type TEXT NOT NULL, data_source TEXT NOT NULL, state TEXT NOT NULL,
      priority INTEGER NOT NULL, created_ms BIGINT NOT NULL, queued_ms BIGINT NOT NULL, started_ms BIGINT, finished_ms BIGINT,
      worker_host TEXT, worker_session TEXT, error TEXT, report TEXT, payload TEXT NOT NULL)`,
    'CREATE INDEX tasks_by_state ON tasks (state, created_ms)',
    `CREATE TABLE locks (
      task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE, data_source TEXT NOT NULL,
      start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL)`,
    'CREATE INDEX locks_by_task ON locks (task_id)',
    'CREATE INDEX locks_by_data_source ON locks (data_source)',
    // A task publishes once; a repeated request finds its own answer here.
    'CREATE TABLE publications (task_id TEXT PRIMARY KEY, load_paths TEXT NOT NULL, segment_ids TEXT NOT NULL, published_ms BIGINT NOT NULL)',
    'CREATE TABLE rules (data_source TEXT PRIMARY KEY, payload TEXT NOT NULL)',
    'CREATE TABLE config (name TEXT PRIMARY KEY, payload TEXT NOT NULL)',
    `CREATE TABLE audit (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, audit_key TEXT NOT NULL, author TEXT NOT NULL,
      comment TEXT NOT NULL, ip TEXT NOT NULL, payload TEXT NOT NULL, time_ms BIGINT NOT NULL)`,
    'CREATE INDEX audit_by_key ON audit (type, audit_key, time_ms)',
    `CREATE TABLE announcements (
      role TEXT NOT NULL, host TEXT NOT NULL, session TEXT NOT NULL, details TEXT NOT NULL, heartbeat_ms BIGINT NOT NULL,
      PRIMARY KEY (role, host))`,
    'CREATE TABLE leaders (role TEXT PRIMARY KEY, epoch INTEGER NOT NULL, host TEXT NOT NULL, expires_ms BIGINT NOT NULL)',
  ],
  [
    // Files of a task are named by a hash of its id; those of tasks from before by the percent-encoded id.
    'ALTER TABLE tasks ADD COLUMN file_name TEXT',
    'CREATE INDEX tasks_by_file_name ON tasks (file_name)',
  ],
  [
    // Changes are read in parts, in this order.
    'CREATE INDEX segments_by_change ON segments (revision, id)',
    'DROP INDEX segments_by_revision',
  ],
  [
    // The longest interval bounds the search for segments that overlap another one.
    'CREATE INDEX segments_by_length ON segments (used, data_source, (end_ms - start_ms))',
  ],
  [
    // A segment that a publish has replaced does not come back with all others of an interval, also where nothing took its place.
    'ALTER TABLE segments ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0',
  ],
  [
    // Runs of a task that were begun, and those that were lost with their worker.
    'ALTER TABLE tasks ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE tasks ADD COLUMN losses INTEGER NOT NULL DEFAULT 0',
  ],
  [
    // A task that another one has submitted, and that ends with it.
    'ALTER TABLE tasks ADD COLUMN parent TEXT',
    'CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL',
  ],
  [
    // Segments that were appended within the lock of a task that replaces: it has not read them, and carries them along.
    `CREATE TABLE carried_segments (
      task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE, segment_id TEXT NOT NULL, PRIMARY KEY (task_id, segment_id))`,
  ],
  [
    // Rules of datasources that are gone age out.
    'ALTER TABLE rules ADD COLUMN changed_ms BIGINT NOT NULL DEFAULT 0',
    "UPDATE rules SET changed_ms = COALESCE((SELECT MAX(time_ms) FROM audit WHERE type = 'rules' AND audit_key = rules.data_source), 0)",
  ],
  [
    // Number of the run of its parent that does a child itself; null: a worker runs it as a task of its own.
    'ALTER TABLE tasks ADD COLUMN claimed_by INTEGER',
  ],
  [
    // Numbers of removed segments are not given again while others of their chunk are there.
    `CREATE TABLE killed_partitions (
      data_source TEXT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, version TEXT NOT NULL, last INTEGER NOT NULL,
      PRIMARY KEY (data_source, start_ms, end_ms, version))`,
  ],
  [
    // Versions of a supervisor's spec, the newest of which counts; the last one of a terminated supervisor is a tombstone.
    `CREATE TABLE supervisors (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, data_source TEXT NOT NULL, payload TEXT NOT NULL, created_ms BIGINT NOT NULL)`,
    'CREATE INDEX supervisors_by_id ON supervisors (id, sequence)',
    // Published positions in streams.
    'CREATE TABLE stream_offsets (supervisor_id TEXT PRIMARY KEY, data_source TEXT NOT NULL, payload TEXT NOT NULL)',
    // Sequences of rows of streams that are published; replicas of their task find their answer here.
    `CREATE TABLE stream_publications (
      sequence TEXT PRIMARY KEY, supervisor_id TEXT NOT NULL, task_id TEXT NOT NULL, segment_ids TEXT NOT NULL, published_ms BIGINT NOT NULL)`,
    'CREATE INDEX stream_publications_by_task ON stream_publications (task_id)',
    'CREATE INDEX stream_publications_by_supervisor ON stream_publications (supervisor_id, published_ms)',
  ],
  [
    // Segments of sequences of rows that are not published yet: the same for whoever reads the sequence, now or after others have failed.
    `CREATE TABLE pending_segments (
      data_source TEXT NOT NULL, sequence TEXT NOT NULL, asked_start_ms BIGINT NOT NULL, asked_end_ms BIGINT NOT NULL,
      start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, version TEXT NOT NULL, partition_number INTEGER NOT NULL, created_ms BIGINT NOT NULL,
      PRIMARY KEY (data_source, sequence, asked_start_ms, asked_end_ms))`,
    'CREATE INDEX pending_segments_by_start ON pending_segments (data_source, start_ms)',
  ],
  [
    // Users and their passwords by authenticator; users, roles and group mappings by authorizer. The revision grows with every change.
    `CREATE TABLE access_records (
      kind TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (kind, owner, name))`,
    'CREATE TABLE access_revision (value INTEGER NOT NULL)',
    'INSERT INTO access_revision VALUES (0)',
  ],
  [
    // A sequence is published once, with one end.
    'ALTER TABLE stream_publications ADD COLUMN end_offsets TEXT',
    // Resets of a supervisor's offsets: sequences after one have other names than those before it.
    'CREATE TABLE stream_resets (supervisor_id TEXT PRIMARY KEY, count INTEGER NOT NULL)',
  ],
  [
    // The user who made a change, beside the author that the request named, and the document that was there before.
    "ALTER TABLE audit ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE audit ADD COLUMN previous TEXT',
  ],
  [
    // The length of all time is more than 64 bits hold.
    'DROP INDEX segments_by_length',
    'CREATE INDEX segments_by_length ON segments (used, data_source, (CAST(end_ms AS DOUBLE PRECISION) - CAST(start_ms AS DOUBLE PRECISION)))',
  ],
];

/** Brings the schema up to date. Safe when several processes start at once: the first to get the write lock does it. */
export async function migrate(database: Database): Promise<void> {
  await database.transaction(async (queries) => {
    if (database.createsTables)
      await queries.rows(database.schemaStatement('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)'));
    const present = await schemaVersion(queries);
    if (present > MIGRATIONS.length)
      throw new ServiceError(
        'unsupported',
        `the metadata store is of a newer version of this program: its schema is ${present}, this one knows ${MIGRATIONS.length}; start that version, or another svc.data.directory`,
      );
    if (present === MIGRATIONS.length) return;
    if (!database.createsTables) throw otherSchema(present, ', and svc.metadata.storage.connector.createTables is false');
    for (const statement of MIGRATIONS.slice(present).flat()) await queries.rows(database.schemaStatement(statement));
    await queries.rows('DELETE FROM schema_version');
    await queries.rows('INSERT INTO schema_version VALUES (?)', [MIGRATIONS.length]);
  });
}

/** @throws ServiceError `unsupported` when the store is not of this version */
export async function requireCurrentSchema(queries: Queries): Promise<void> {
  const present = await schemaVersion(queries);
  if (present !== MIGRATIONS.length) throw otherSchema(present, '; start a server over it first');
}

function otherSchema(present: number, reason: string): ServiceError {
  return new ServiceError('unsupported', `the schema of the metadata store is ${present}, expected ${MIGRATIONS.length}${reason}`);
}

async function schemaVersion(queries: Queries): Promise<number> {
  const rows = await queries.rows<{ version: number }>('SELECT version FROM schema_version');
  return rows[0]?.version ?? 0;
}

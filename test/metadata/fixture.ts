import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Interval } from '../../src/base/instant.js';
import type { Database, Queries } from '../../src/metadata/database.js';
import { acquireLocks, type LockKind } from '../../src/metadata/locks.js';
import { migrate } from '../../src/metadata/migrations.js';
import { type MetadataSettings, openDatabase } from '../../src/metadata/open-database.js';
import type { PostgresqlSettings } from '../../src/metadata/postgresql/connection.js';
import { insertTask, moveTask, startTask } from '../../src/metadata/tasks.js';
import type { PushedSegment } from '../../src/model/publication.js';
import type { Service } from '../services.js';

export const DAY = 86_400_000;
export const day = (number: number): Interval => ({ start: number * DAY, end: (number + 1) * DAY });

/** A metadata store of a test's own. */
export interface TestStore {
  readonly database: Database;
  /** The SQLite file; not there over PostgreSQL. */
  readonly file: string;
  readonly settings: MetadataSettings;
  /** A further connection, as another process has. */
  open(): Promise<Database>;
  /** Removes the store. */
  close(): Promise<void>;
}

/** Set by `over-postgresql.test.ts`: the service, as JSON, in which stores are made. */
const SERVICE = process.env['DOLMEN_TEST_POSTGRESQL'];

let stores = 0;

/**
 * A new store without tables.
 * @param below  folder of the file
 */
export function openStore(below = tmpdir()): Promise<TestStore> {
  return openOver(SERVICE, below);
}

/** A new file with its tables, also where stores are in PostgreSQL. */
export async function openSqliteStore(): Promise<TestStore> {
  const store = await openOver(undefined, tmpdir());
  await migrate(store.database);
  return store;
}

async function openOver(postgresql: string | undefined, below: string): Promise<TestStore> {
  const folder = mkdtempSync(join(below, 'dolmen-metadata-'));
  const file = join(folder, 'metadata.sqlite');
  const settings: MetadataSettings =
    postgresql === undefined
      ? { type: 'sqlite', file }
      : { type: 'postgresql', postgresql: postgresqlSettings(JSON.parse(postgresql) as Service, `store_${process.pid}_${stores++}`) };
  const open = () => openDatabase(settings);
  const database = await open();
  return {
    database,
    file,
    settings,
    open,
    async close() {
      if (settings.type === 'postgresql') await database.rows(`DROP SCHEMA ${settings.postgresql.schema} CASCADE`);
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Connections to a service that runs for a test. */
export function postgresqlSettings(service: Service, schema: string): PostgresqlSettings {
  return {
    host: service.host,
    port: service.port,
    databaseName: service.database,
    user: service.user,
    password: service.password,
    schema,
    tls: null,
    createsTables: true,
    applicationName: `dolmen ${schema}`,
  };
}

/** The same with its tables. */
export async function openMetadata(below = tmpdir()): Promise<TestStore> {
  const store = await openStore(below);
  await migrate(store.database);
  return store;
}

let files = 0;

/** A segment file that was pushed to a path of its own. */
export function pushed(interval: Interval, rowCount = 10): PushedSegment {
  return {
    interval,
    part: null,
    loadSpec: { type: 'local', path: `task/${files++}` },
    sizeBytes: 100,
    rowCount,
    dimensions: ['page'],
    metrics: ['added'],
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
      { name: 'page', type: 'STRING', multiValue: false, hasNulls: false },
    ],
  };
}

/** A running task that holds a lock. */
export async function runningTask(
  database: Database,
  id: string,
  kind: LockKind,
  intervals: readonly Interval[],
  dataSource = 'ds',
  nowMs = 1000,
): Promise<void> {
  await database.transaction(async (queries: Queries) => {
    await insertTask(queries, { id, groupId: id, type: 'index', dataSource, priority: 0, payload: '{}' }, nowMs);
    if ((await acquireLocks(queries, { taskId: id, dataSource, kind, intervals }, nowMs)) === undefined)
      throw new Error(`no lock for ${id}`);
    await moveTask(queries, id, 'WAITING', 'PENDING');
    await startTask(queries, id, { host: 'worker:1', session: 's' }, nowMs);
  });
}

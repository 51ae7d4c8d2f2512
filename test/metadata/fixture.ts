import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Interval } from '../../src/base/instant.js';
import { type Database, openSqlite, type Queries } from '../../src/metadata/database.js';
import { acquireLocks, type LockKind } from '../../src/metadata/locks.js';
import { migrate } from '../../src/metadata/migrations.js';
import { insertTask, moveTask, startTask } from '../../src/metadata/tasks.js';
import type { PushedSegment } from '../../src/model/publication.js';

export const DAY = 86_400_000;
export const day = (number: number): Interval => ({ start: number * DAY, end: (number + 1) * DAY });

/** An own metadata file; `close` removes it. */
/** @param below  folder of the file */
export async function openMetadata(below = tmpdir()): Promise<{ database: Database; file: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(below, 'dolmen-metadata-'));
  const file = join(folder, 'metadata.sqlite');
  const database = await openSqlite(file);
  await migrate(database);
  return {
    database,
    file,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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

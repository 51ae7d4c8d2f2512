// Removes files of deep storage that no segment refers to.

import type { EpochMs } from '../../base/instant.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Database } from '../../metadata/database.js';
import { referencedPaths } from '../../metadata/segments.js';
import { findTaskByFileName, type TaskRecord } from '../../metadata/tasks.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { Ownership } from '../storage-owner.js';

export interface CleanupOptions {
  readonly database: Database;
  readonly storage: DeepStorage;
  /** Ownership of the deep storage; nothing is removed while it is unconfirmed. */
  readonly ownership: Ownership;
  readonly nowMs: EpochMs;
  /** A file of a task that nobody knows is kept for so long. */
  readonly orphanAgeMs: number;
}

/** Result of a run. `kept`: files that no segment refers to but an unseen publish may own. */
export interface CleanupReport {
  readonly removed: number;
  readonly kept: number;
  readonly keptBytes: number;
}

/** Files whose references are looked up in one statement. */
const FILES_PER_LOOKUP = 200;

interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/**
 * Removes files of deep storage that no segment, used or not, refers to and no task can publish any more: those of a
 * finished task at once, those of an unknown task after the orphan age and only if a person confirmed the metadata store
 * since they were written. Tasks push to paths whose first part names them (`taskStorage`), and only a running task may
 * publish.
 */
export async function removeOrphans(options: CleanupOptions): Promise<CleanupReport> {
  const total = { removed: 0, kept: 0, keptBytes: 0 };
  const add = async (files: readonly StoredFile[]): Promise<void> => {
    const { removed, kept, keptBytes } = await removeOrphansAmong(files, options);
    total.removed += removed;
    total.kept += kept;
    total.keptBytes += keptBytes;
  };
  let batch: StoredFile[] = [];
  for await (const file of options.storage.list()) {
    batch.push(file);
    if (batch.length < FILES_PER_LOOKUP) continue;
    await add(batch);
    batch = [];
  }
  await add(batch);
  return total;
}

async function removeOrphansAmong(files: readonly StoredFile[], options: CleanupOptions): Promise<CleanupReport> {
  // The task is read before the references: one that publishes in between was running, so its files stay.
  const tasks = new Map<string, TaskRecord | undefined>();
  for (const { path } of files) {
    const folder = folderOf(path);
    if (!tasks.has(folder)) tasks.set(folder, await findTaskByFileName(options.database, folder));
  }
  const referenced = await referencedPaths(
    options.database,
    files.map((file) => file.path),
  );
  const verdicts = files
    .filter(({ path }) => !referenced.has(path))
    .map((file) => ({ file, verdict: judge(file, tasks.get(folderOf(file.path)), options) }));
  const orphans = verdicts.filter(({ verdict }) => verdict === 'remove');
  for (const { file } of orphans) {
    await options.storage.remove({ type: options.storage.type, path: file.path });
    failpoint('orphans.removed');
  }
  const kept = verdicts.filter(({ verdict }) => verdict === 'keep');
  return { removed: orphans.length, kept: kept.length, keptBytes: kept.reduce((bytes, { file }) => bytes + file.sizeBytes, 0) };
}

/** `wait`: its task may still publish it, or it is not old enough. */
function judge(
  { modifiedMs }: StoredFile,
  task: TaskRecord | undefined,
  { ownership, nowMs, orphanAgeMs }: CleanupOptions,
): 'remove' | 'keep' | 'wait' {
  if (task !== undefined && task.state !== 'SUCCESS' && task.state !== 'FAILED') return 'wait';
  if (ownership.state === 'unconfirmed') return 'keep';
  if (task !== undefined) return ownership.unsettledTasks.includes(task.id) ? 'keep' : 'remove';
  if (modifiedMs >= ownership.confirmedMs) return 'keep';
  return modifiedMs < nowMs - orphanAgeMs ? 'remove' : 'wait';
}

/** The first part of the path that `taskStorage` pushes under. */
function folderOf(path: string): string {
  return path.split('/')[0] ?? '';
}

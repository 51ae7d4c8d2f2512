import type { Database } from '../../metadata/database.js';
import { referencedPaths } from '../../metadata/segments.js';
import { findTask, type TaskState } from '../../metadata/tasks.js';
import type { EpochMs } from '../../model/interval.js';
import type { DeepStorage } from '../../storage/contract.js';

export interface CleanupOptions {
  readonly database: Database;
  readonly storage: DeepStorage;
  readonly nowMs: EpochMs;
  /** A file whose task nobody knows is kept for so long. */
  readonly safetyAgeMs: number;
}

/** Files whose references are looked up in one statement. */
const FILES_PER_LOOKUP = 200;

interface StoredFile {
  readonly path: string;
  readonly modifiedMs: number;
}

/**
 * Removes files of deep storage that no segment, used or not, refers to and no task can publish any more: those of a
 * finished task at once, those of an unknown origin after the safety age. Tasks push to paths whose first part is
 * their id (`taskStorage`), and only a running task may publish.
 * @returns how many were removed
 */
export async function removeOrphans(options: CleanupOptions): Promise<number> {
  let removed = 0;
  let batch: StoredFile[] = [];
  for await (const file of options.storage.list()) {
    batch.push(file);
    if (batch.length < FILES_PER_LOOKUP) continue;
    removed += await removeOrphansAmong(batch, options);
    batch = [];
  }
  return removed + (await removeOrphansAmong(batch, options));
}

async function removeOrphansAmong(files: readonly StoredFile[], options: CleanupOptions): Promise<number> {
  // The state of the task is read before the references: a task that publishes in between was running, so its files stay.
  const states = new Map<string, TaskState | undefined>();
  for (const { path } of files) {
    const taskId = taskOf(path);
    if (!states.has(taskId)) states.set(taskId, (await findTask(options.database, taskId))?.state);
  }
  const referenced = await referencedPaths(
    options.database,
    files.map((file) => file.path),
  );
  const orphans = files.filter(({ path, modifiedMs }) => {
    if (referenced.has(path)) return false;
    const state = states.get(taskOf(path));
    return state === undefined ? modifiedMs < options.nowMs - options.safetyAgeMs : state === 'SUCCESS' || state === 'FAILED';
  });
  for (const { path } of orphans) await options.storage.remove({ type: 'local', path });
  return orphans.length;
}

/** Inverse of the key that `taskStorage` pushes under. */
function taskOf(path: string): string {
  const [first = ''] = path.split('/');
  try {
    return decodeURIComponent(first);
  } catch {
    return first;
  }
}

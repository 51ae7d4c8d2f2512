// Deep storage as one run of a task sees it.

import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';

/** Run of a task that stores files. */
interface StorageRun {
  readonly taskId: string;
  /** Number of the run, from 1. */
  readonly attempt: number;
  /** The task that publishes what this one makes, in whose folder its files lie; null: itself. */
  readonly parentId: string | null;
}

/**
 * Deep storage as one run of a task sees it: what it pushes lies in a folder of the task, so that the files of a task that
 * never published can be told from those of one that still may (`removeOrphans`), and there in a folder of the run, so
 * that a run whose worker was taken for gone writes into none of a later one. A child's folder is within that of its parent,
 * which publishes its files or leaves them to be removed.
 */
export function taskStorage(storage: DeepStorage, { taskId, attempt, parentId }: StorageRun): Pick<DeepStorage, 'push' | 'pull' | 'read'> {
  const folder = parentId === null ? `${taskFileName(taskId)}/${attempt}` : `${taskFileName(parentId)}/${taskFileName(taskId)}-${attempt}`;
  return {
    push: (files) => storage.push(files.map(({ localFile, key }) => ({ localFile, key: `${folder}/${key}` }))),
    pull: (loadSpec, localFile) => storage.pull(loadSpec, localFile),
    read: (loadSpec, range) => storage.read(loadSpec, range),
  };
}

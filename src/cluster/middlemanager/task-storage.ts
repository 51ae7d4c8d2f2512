// Deep storage as one task sees it.

import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';

/**
 * Deep storage as one task sees it: what it pushes lies in a folder of its own, so that the files of a task that never
 * published can be told from those of one that still may (`removeOrphans`).
 */
export function taskStorage(storage: DeepStorage, taskId: string): Pick<DeepStorage, 'push'> {
  const folder = taskFileName(taskId);
  return { push: (files) => storage.push(files.map(({ localFile, key }) => ({ localFile, key: `${folder}/${key}` }))) };
}

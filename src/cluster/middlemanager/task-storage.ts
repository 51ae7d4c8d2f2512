// Deep storage as one run of a task sees it.

import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';

/**
 * Deep storage as one run of a task sees it: what it pushes lies in a folder of the task, so that the files of a task that
 * never published can be told from those of one that still may (`removeOrphans`), and there in a folder of the run, so
 * that a run whose worker was taken for gone writes into none of a later one.
 * @param attempt  number of the run, from 1
 */
export function taskStorage(storage: DeepStorage, taskId: string, attempt: number): Pick<DeepStorage, 'push' | 'pull'> {
  const folder = `${taskFileName(taskId)}/${attempt}`;
  return {
    push: (files) => storage.push(files.map(({ localFile, key }) => ({ localFile, key: `${folder}/${key}` }))),
    pull: (loadSpec, localFile) => storage.pull(loadSpec, localFile),
  };
}

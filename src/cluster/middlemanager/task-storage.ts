import type { DeepStorage } from '../../storage/contract.js';

/**
 * Deep storage as one task sees it: what it pushes lies under its own id, so that the files of a task that never
 * published can be told from those of one that still may (`removeOrphans`).
 */
export function taskStorage(storage: DeepStorage, taskId: string): DeepStorage {
  return {
    push: (localFile, key) => storage.push(localFile, `${encodeURIComponent(taskId)}/${key}`),
    pull: (loadSpec, localFile) => storage.pull(loadSpec, localFile),
    remove: (loadSpec) => storage.remove(loadSpec),
    list: () => storage.list(),
  };
}

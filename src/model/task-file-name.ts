// File names for tasks.

import { createHash } from 'node:crypto';

/**
 * The name under which files of a task are kept: its folder in deep storage, its working directory, its log. A hash,
 * because an id may be longer than a file name, or one that a file system takes for another's.
 */
export function taskFileName(taskId: string): string {
  return createHash('sha256').update(taskId).digest('hex');
}

// Runs a child in the process of its parent.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { ChildPayload, TaskContext, TaskOutcome, TaskProgress } from '../../ingestion/contract.js';
import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';
import { taskStorage } from './task-storage.js';

interface ChildRunOptions {
  /** Context of the parent. */
  readonly parent: TaskContext;
  readonly storage: DeepStorage;
  readonly run: (payload: unknown, context: TaskContext) => Promise<TaskOutcome>;
  /** Takes the progress of the child. */
  readonly progress?: ((update: TaskProgress) => void) | undefined;
}

/** Runs a child that waits for a worker, as one would: under its name, with files of its own. */
export async function runHere(
  payload: ChildPayload,
  { parent, storage, run, progress = () => undefined }: ChildRunOptions,
): Promise<boolean> {
  const taskId = payload.id;
  const attempt = await parent.children.claim(taskId);
  if (attempt === null) return false;
  const workDirectory = join(parent.workDirectory, taskFileName(taskId));
  parent.log(`no worker has room for ${taskId}: it runs here, attempt ${attempt}`);
  await rm(workDirectory, { recursive: true, force: true });
  await mkdir(workDirectory, { recursive: true });
  try {
    const outcome = await run(payload, {
      ...parent,
      taskId,
      attempt,
      workDirectory,
      storage: taskStorage(storage, { taskId, attempt, parentId: parent.taskId }),
      progress,
      // Requests name the parent, whose process this is.
      serveChat: () => undefined,
      publish: refusePublish,
    });
    await parent.children.ended(taskId, attempt, outcome);
    return true;
  } finally {
    await rm(workDirectory, { recursive: true, force: true });
  }
}

export async function refusePublish(): Promise<never> {
  throw new ServiceError('internal', 'a child publishes nothing: its parent does');
}

// Runs a sub-task of an `index_parallel` task.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { ServiceError } from '../../base/errors.js';
import type { PushedSegment } from '../../model/publication.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { indexReport } from '../report/index-report.js';
import type { CountedRows } from '../report/row-statistics.js';
import { failureOf } from '../report/task-failure.js';
import { RowLoad } from './row-load.js';
import type { SubTaskSpec } from './sub-task-spec.js';

/** Output of a sub-task that reads a split. */
export interface LoadOutput {
  readonly counts: CountedRows;
  readonly segments: readonly PushedSegment[];
}

/** Does the work of one sub-task and leaves its output in deep storage, where its report says. Never throws. */
export async function runSubTask({ spec }: SubTaskSpec, context: TaskContext): Promise<TaskOutcome> {
  const load = new RowLoad(spec, context);
  const { statistics, progress } = load;
  try {
    await load.read();
    const segments = await load.build();
    const output = await store({ counts: statistics.counted(), segments } satisfies LoadOutput, context);
    progress.phase('completed');
    return { succeeded: true, errorMessage: null, report: { ...indexReport(context.taskId, statistics, 'COMPLETED', null, 0), output } };
  } catch (error) {
    const { errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, progress.indexPhase, errorMessage, 0) };
  } finally {
    await load.close();
  }
}

/** Leaves data for the supervisor task: in V8's structured clone format, since only this service reads it. */
async function store(output: unknown, { storage, workDirectory }: TaskContext): Promise<{ readonly type: string; readonly path: string }> {
  const localFile = join(workDirectory, 'output');
  await writeFile(localFile, serialize(output));
  const [loadSpec] = await storage.push([{ localFile, key: 'output' }]);
  if (loadSpec === undefined) throw new ServiceError('internal', 'the output of the sub-task was not stored');
  return loadSpec;
}

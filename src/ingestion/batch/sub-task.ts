// Runs a sub-task of an `index_parallel` task.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { ServiceError } from '../../base/errors.js';
import type { PushedSegment } from '../../model/publication.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { indexReport } from '../report/index-report.js';
import { type CountedRows, RowStatistics } from '../report/row-statistics.js';
import { failureOf } from '../report/task-failure.js';
import { serveLoadChat } from './load-chat.js';
import { mergeParts } from './merge-parts.js';
import { type PartialFile, writeParts } from './partial-write.js';
import { RowLoad } from './row-load.js';
import type { ChunkSample } from './row-sample.js';
import { sampleRows } from './row-sampling.js';
import type { LoadSpec, ReadSpec, SubTaskSpec } from './sub-task-spec.js';

/** Output of a sub-task that reads a split and builds segments. */
export interface LoadOutput {
  readonly counts: CountedRows;
  readonly segments: readonly PushedSegment[];
}

/** Output of a sub-task that reads a split to see how its rows lie. */
export interface SampleOutput {
  readonly samples: readonly ChunkSample[];
}

/** Output of a sub-task that reads a split and divides its rows. */
export interface PartialOutput {
  readonly counts: CountedRows;
  readonly files: readonly PartialFile[];
}

/** Output of a sub-task that merges parts: their segments, each with its place in its chunk. */
export interface MergeOutput {
  readonly segments: readonly { readonly at: number; readonly segment: PushedSegment }[];
}

/** Does the work of one sub-task and leaves its output in deep storage, where its report says. Never throws. */
export async function runSubTask(subTask: SubTaskSpec, context: TaskContext): Promise<TaskOutcome> {
  if (subTask.type !== 'partial_index_generic_merge') return runReader(subTask, context);
  const statistics = new RowStatistics(subTask.tuning, context.log, context.now);
  try {
    const output = await stored({ segments: await mergeParts(subTask, context) } satisfies MergeOutput, context);
    return { succeeded: true, errorMessage: null, report: { ...indexReport(context.taskId, statistics, 'COMPLETED', null, 0), output } };
  } catch (error) {
    const { errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, 'BUILD_SEGMENTS', errorMessage, 0) };
  }
}

async function runReader(subTask: ReadSpec, context: TaskContext): Promise<TaskOutcome> {
  const load = new RowLoad(subTask.spec, context);
  const { statistics, progress } = load;
  serveLoadChat(context, { statistics, progress, runs: null });
  try {
    await load.read();
    const output = await stored(await outputOf(subTask, load, context), context);
    progress.phase('completed');
    return { succeeded: true, errorMessage: null, report: { ...indexReport(context.taskId, statistics, 'COMPLETED', null, 0), output } };
  } catch (error) {
    const { errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, progress.indexPhase, errorMessage, 0) };
  } finally {
    await load.close();
  }
}

async function outputOf(subTask: ReadSpec, load: RowLoad, context: TaskContext): Promise<LoadOutput | SampleOutput | PartialOutput> {
  const counts = load.statistics.counted();
  switch (subTask.type) {
    case 'single_phase_sub_task':
      return { counts, segments: await load.build() };
    case 'partial_dimension_cardinality':
    case 'partial_dimension_distribution':
      return { samples: await sampleRows(subTask.spec, load, context.taskId) };
    case 'partial_index_generate':
    case 'partial_range_index_generate':
      return { counts, files: await writeParts(subTask, load, context) };
  }
}

/** Leaves data for the supervisor task: in V8's structured clone format, since only this service reads it. */
async function stored(output: unknown, { storage, workDirectory }: TaskContext): Promise<LoadSpec> {
  const localFile = join(workDirectory, 'output');
  await writeFile(localFile, serialize(output));
  const [loadSpec] = await storage.push([{ localFile, key: 'output' }]);
  if (loadSpec === undefined) throw new ServiceError('internal', 'the output of the sub-task was not stored');
  return loadSpec;
}

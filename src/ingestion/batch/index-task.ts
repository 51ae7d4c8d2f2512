// Runs an `index_parallel` or `index` task.

import { condenseIntervals } from '../../base/interval.js';
import type { PublishRequest, PushedSegment } from '../../model/publication.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { indexReport } from '../report/index-report.js';
import type { ProgressReporter } from '../report/progress.js';
import { NOT_AWAITED, publishSegments } from '../report/publication.js';
import { failureOf } from '../report/task-failure.js';
import { splitsOf } from '../source/splits.js';
import { alignedIntervals, type IndexSpec } from '../task-spec/index-spec.js';
import { serveLoadChat } from './load-chat.js';
import { runParallel } from './parallel.js';
import { RowLoad } from './row-load.js';
import { SubTaskRuns } from './sub-task-runs.js';

/** Reads, rolls up, builds, publishes: one `index_parallel` or `index` task. Never throws. */
export async function runIndexTask(spec: IndexSpec, context: TaskContext): Promise<TaskOutcome> {
  const load = new RowLoad(spec, context);
  const { statistics, progress } = load;
  serveLoadChat(context, { statistics, progress, runs: null });
  try {
    const segments = await segmentsOf(spec, context, load);
    statistics.store(segments);
    const { ids, availability } = await publish(spec, context, segments, progress);
    progress.phase('completed');
    const report = indexReport(context.taskId, statistics, 'COMPLETED', null, ids.length, { availability });
    return { succeeded: true, errorMessage: null, report };
  } catch (error) {
    const { errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, progress.indexPhase, errorMessage, 0) };
  } finally {
    await load.close();
  }
}

/** Work that would be that of one sub-task is done here. */
async function segmentsOf(spec: IndexSpec, context: TaskContext, load: RowLoad): Promise<readonly PushedSegment[]> {
  const { maxConcurrent, splitHint } = spec.tuning.subTasks;
  if (spec.isParallel && maxConcurrent > 1) {
    const splits = await splitsOf(spec.inputSource, splitHint, context);
    if (splits.length > 1) {
      const { statistics, progress } = load;
      const runs = new SubTaskRuns(context, spec.dataSchema.dataSource, spec.tuning.subTasks);
      serveLoadChat(context, { statistics, progress, runs });
      return runParallel({ spec, context, splits, statistics, progress, runs });
    }
  }
  await load.read();
  return load.build();
}

async function publish(
  spec: IndexSpec,
  context: TaskContext,
  segments: readonly PushedSegment[],
  progress: ProgressReporter,
): ReturnType<typeof publishSegments> {
  progress.phase('publishing');
  const mode = publishMode(spec, segments);
  if (segments.length === 0 && (mode.kind === 'append' || mode.intervals.length === 0)) {
    context.log('no rows were kept, nothing to publish');
    return { ids: [], availability: NOT_AWAITED };
  }
  const request = { taskId: context.taskId, dataSource: spec.dataSchema.dataSource, segments, mode };
  const published = await publishSegments(context, request, spec.tuning.loadWaitMs);
  context.log(`published ${published.ids.length} segments`);
  return published;
}

/** Replaces the chunks that rows were found for, or with `dropExisting` all the intervals of the spec. */
function publishMode(
  { appendToExisting, dropExisting, dataSchema }: IndexSpec,
  segments: readonly PushedSegment[],
): PublishRequest['mode'] {
  if (appendToExisting) return { kind: 'append' };
  const { granularity } = dataSchema;
  if (dropExisting) return { kind: 'replace', intervals: alignedIntervals(granularity), granularity: granularity.segmentGranularity };
  return { kind: 'replace', intervals: condenseIntervals(segments.map(({ interval }) => interval)) };
}

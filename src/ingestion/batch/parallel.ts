// Divides the work of an `index_parallel` task over sub-tasks.

import type { PushedSegment } from '../../model/publication.js';
import type { TaskContext } from '../contract.js';
import type { ProgressReporter } from '../report/progress.js';
import type { RowStatistics } from '../report/row-statistics.js';
import type { Split } from '../source/splits.js';
import type { IndexSpec } from '../task-spec/index-spec.js';
import type { LoadOutput } from './sub-task.js';
import { SubTaskRuns } from './sub-task-runs.js';

export interface ParallelOptions {
  readonly spec: IndexSpec;
  readonly context: TaskContext;
  readonly splits: readonly Split[];
  /** Takes what the sub-tasks count. */
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
}

/** The segments that sub-tasks made of the splits; they are in deep storage, and the task publishes them. */
export async function runParallel({ spec, context, splits, statistics, progress }: ParallelOptions): Promise<readonly PushedSegment[]> {
  const runs = new SubTaskRuns(context, spec.dataSchema.dataSource, spec.tuning.subTasks);
  const sizes = splits.map(({ sizeBytes }) => sizeBytes);
  progress.bytesTotal = sizes.includes(null) ? null : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
  progress.phase('reading');
  const works = splits.map(({ source }) => ({ spec: specOver(spec, source) }));
  const outputs = await runs.run<LoadOutput>('single_phase_sub_task', works, ({ counts }) => {
    statistics.addCounted(counts);
    progress.tick();
  });
  return outputs.flatMap(({ segments }) => segments);
}

/** The spec of a task over another source. */
function specOver({ source }: IndexSpec, inputSource: Split['source']): Readonly<Record<string, unknown>> {
  return { ...source, ioConfig: { ...(source['ioConfig'] as object), inputSource } };
}

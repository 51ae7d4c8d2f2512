// Answers requests to a batch task while it runs: how far it is, and its sub-tasks.

import { ServiceError } from '../../base/errors.js';
import { isRecord } from '../../base/json.js';
import type { ChatRequest, TaskContext } from '../contract.js';
import { savedEvents } from '../report/index-report.js';
import type { ProgressReporter } from '../report/progress.js';
import type { RowStatistics } from '../report/row-statistics.js';
import type { Phase, SubTaskRuns, Work } from './sub-task-runs.js';
import type { SubTaskType } from './sub-task-types.js';

export interface ChattyLoad {
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  /** null: the task does all the work itself. */
  readonly runs: SubTaskRuns | null;
}

/** Names of phases in the public interface. */
const PHASE_NAMES: Readonly<Record<SubTaskType, string>> = {
  single_phase_sub_task: 'segment generation',
  partial_dimension_cardinality: 'partial dimension cardinality',
  partial_dimension_distribution: 'partial dimension distribution',
  partial_index_generate: 'partial segment generation',
  partial_range_index_generate: 'partial segment generation',
  partial_index_generic_merge: 'partial segment merge',
};

/** Has requests to the task answered from the state of a load. */
export function serveLoadChat(context: TaskContext, load: ChattyLoad): void {
  context.serveChat(async (request) => answer(request, context, load));
}

async function answer({ method, path }: ChatRequest, context: TaskContext, load: ChattyLoad): Promise<unknown> {
  const name = path.join('/');
  if (method !== 'GET') throw new ServiceError('method_not_allowed', `${name} of a batch task answers GET only`);
  const { runs } = load;
  switch (name) {
    case 'mode':
      return runs === null ? 'sequential' : 'parallel';
    case 'liveReports':
      return liveReports(context.taskId, load);
    case 'rowStats':
      return rowStats(load);
    case 'unparseableEvents':
      return { buildSegments: savedEvents(load.statistics) };
    case 'phase':
      if (runs === null) throw new ServiceError('input_invalid', 'task is running in the sequential mode');
      return PHASE_NAMES[phaseOf(runs).type];
    case 'progress':
      return progressOf(phaseOf(runs));
    case 'subtasks/running':
      return phaseOf(runs).works.flatMap(({ current }) => current ?? []);
    case 'subtaskspecs':
      return specsOf(context, phaseOf(runs), () => true);
    case 'subtaskspecs/running':
      return specsOf(context, phaseOf(runs), ({ current }) => current !== null);
    case 'subtaskspecs/complete':
      return specsOf(context, phaseOf(runs), ({ isDone }) => isDone);
  }
  const [first, id = '', part = 'spec', ...more] = path;
  if (first !== 'subtaskspec' || more.length > 0) throw new ServiceError('not_found', `a batch task has no path ${name}`);
  return subTaskSpec(context, phaseOf(runs), id, part);
}

/** The parts of one piece of work: `spec`, `state` or `history`. */
async function subTaskSpec(context: TaskContext, { works }: Phase, id: string, part: string): Promise<unknown> {
  const work = works.find(({ specId }) => specId === id);
  if (work === undefined) throw new ServiceError('not_found', `no subtaskspec ${id} in this phase`);
  const { children } = context;
  const look = async (ids: readonly string[]) => (await children.look(ids)).map(({ status }) => status);
  switch (part) {
    case 'spec':
      return specOf(context, work);
    case 'state': {
      const [currentStatus = null] = work.current === null ? [] : await look([work.current]);
      return { spec: specOf(context, work), currentStatus, taskHistory: await look(work.ended) };
    }
    case 'history':
      // A history is that of work which is done.
      if (!work.isDone) throw new ServiceError('not_found', `subtaskspec ${id} is not complete`);
      return look(work.ended);
    default:
      throw new ServiceError('not_found', `a subtaskspec has no ${part}, only state and history`);
  }
}

function phaseOf(runs: SubTaskRuns | null): Phase {
  const phase = runs?.phase ?? null;
  if (phase === null) throw new ServiceError('unavailable', runs === null ? 'the task has no sub-tasks' : 'task is not running yet');
  return phase;
}

function progressOf({ works }: Phase): Readonly<Record<string, number>> {
  const running = works.filter(({ current }) => current !== null).length;
  const succeeded = works.filter(({ isDone }) => isDone).length;
  // Work that fails for good ends the task, and with it its answers.
  return { running, succeeded, failed: 0, complete: succeeded, total: running + succeeded, estimatedExpectedSucceeded: works.length };
}

function specsOf(context: TaskContext, { works }: Phase, picks: (work: Work) => boolean): readonly unknown[] {
  return works.filter(picks).map((work) => specOf(context, work));
}

function specOf({ taskId }: TaskContext, { specId, fields }: Work): Readonly<Record<string, unknown>> {
  const { spec } = fields;
  const ioConfig = isRecord(spec) && isRecord(spec['ioConfig']) ? spec['ioConfig'] : {};
  const split = ioConfig['inputSource'] ?? ioConfig['partitionLocations'] ?? null;
  return { id: specId, supervisorTaskId: taskId, context: {}, inputSplit: { split }, ingestionSpec: spec };
}

function rowStats({ statistics }: ChattyLoad): Readonly<Record<string, unknown>> {
  const { bytesRead: processedBytes, ...counts } = statistics.soFar();
  return { totals: { buildSegments: { ...counts, processedBytes } } };
}

function liveReports(taskId: string, load: ChattyLoad): Readonly<Record<string, unknown>> {
  return {
    ingestionStatsAndErrors: {
      type: 'ingestionStatsAndErrors',
      taskId,
      payload: {
        ingestionState: load.progress.indexPhase,
        unparseableEvents: { buildSegments: savedEvents(load.statistics) },
        rowStats: rowStats(load),
        errorMsg: null,
        segmentAvailabilityConfirmed: false,
        segmentAvailabilityWaitTimeMs: 0,
        recordsProcessed: null,
        segmentsRead: null,
        segmentsPublished: null,
      },
    },
  };
}

// Stages of a statement in its report: what they do, how far they are, and the counters of their workers.

import { formatInstant } from '../../base/time.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { PlannedQuery } from '../../model/statement.js';
import { withoutSecrets } from '../source/secrets.js';
import { plannedQuery, type QueryTask } from '../sql/query-task.js';
import type { StageKind, WorkCounts } from '../sql/stages/contract.js';
import { queryAt } from '../sql/stages/plan-parts.js';

/** Counts of one worker in a stage; what is left out was not counted. */
export type StageCounts = Pick<WorkCounts, 'rowsIn' | 'rowsOut'> & Partial<WorkCounts>;

export interface StageRun {
  readonly kind: StageKind;
  /** Subquery that it is a part of, as `queryAt` counts them. */
  readonly level: number;
  readonly workerCount: number;
  readonly startMs: number;
  /** null: it goes on, or has failed. */
  endMs: number | null;
  counts: readonly StageCounts[];
  /** Counts of its workers while it goes on. */
  readonly soFar: () => Promise<readonly StageCounts[]>;
}

export interface StageTime {
  readonly taskId: string;
  readonly nowMs: number;
  /** Phase of a stage that has not ended. */
  readonly unended: 'READING_INPUT' | 'FAILED';
}

/** Entry of a stage in the report of its statement. */
export function stageBody(
  { kind, level, workerCount, startMs, endMs }: StageRun,
  stageNumber: number,
  { task, taskId, nowMs, unended }: StageTime & { readonly task: QueryTask },
): Readonly<Record<string, unknown>> {
  const isLast = kind === 'write';
  const { columns } = plannedQuery(task);
  const { plan } = queryAt(plannedQuery(task), level);
  return {
    stageNumber,
    definition: {
      id: `${taskId}_${stageNumber}`,
      input: [stageNumber === 0 ? inputOf(queryAt(plannedQuery(task), level)) : { type: 'stage', stage: stageNumber - 1 }],
      processor: processorOf(kind, task, plan),
      signature: columns.map(({ name, nativeType }) => ({ name, type: nativeType })),
      ...(isLast ? {} : { shuffleSpec: { type: kind === 'read' && plan.operator === 'group' ? 'hash' : 'mix' } }),
      maxWorkerCount: task.settings.workers,
      shuffleCheckHasMultipleValues: true,
    },
    phase: endMs === null ? unended : 'FINISHED',
    workerCount,
    partitionCount: workerCount,
    startTime: formatInstant(startMs),
    duration: (endMs ?? nowMs) - startMs,
    ...(isLast ? {} : { output: workerCount === 1 ? 'localStorage' : 'durableStorage' }),
    sort: false,
  };
}

function inputOf({ source }: PlannedQuery): Readonly<Record<string, unknown>> {
  if (source.kind !== 'external') return { type: source.kind };
  const { inputSource, inputFormat, signature } = source;
  return { type: 'external', inputSource: withoutSecrets(inputSource), inputFormat, signature };
}

function processorOf(kind: StageKind, { statement }: QueryTask, plan: RowsPlan): Readonly<Record<string, unknown>> {
  if (kind === 'merge') return { type: 'groupByPostShuffle' };
  if (kind === 'post') return { type: plan.post.some(({ step }) => step === 'window') ? 'window' : 'limit' };
  if (kind === 'read' || statement.kind === 'select') return { type: plan.operator === 'group' ? 'groupByPreShuffle' : 'scan' };
  if (statement.kind !== 'export') return { type: 'segmentGenerator', dataSource: statement.dataSource, clusterBy: statement.clusteredBy };
  return { type: 'export', exportStorageProvider: { type: 'local', exportPath: statement.exportPath }, resultFormat: statement.format };
}

/**
 * Counters of a stage by worker.
 * @param isAll  whether those are among them that the original has since version 31
 */
export function countersOf(
  kind: StageKind,
  counts: readonly StageCounts[],
  { statement, settings: { includeAllCounters: isAll } }: QueryTask,
): Readonly<Record<string, unknown>> {
  const isTable = statement.kind === 'insert' || statement.kind === 'replace';
  return Object.fromEntries(
    counts.map(({ rowsIn, rowsOut, bytesRead, bytesOut, filesRead, cpuNs, wallNs, ...rows }, worker) => {
      const files = kind !== 'read' || filesRead === undefined ? {} : { files: [filesRead], totalFiles: [filesRead] };
      const input0 = {
        type: 'channel',
        rows: [rowsIn],
        ...(kind !== 'read' || bytesRead === undefined ? {} : { bytes: [bytesRead] }),
        ...files,
      };
      const output = { type: 'channel', rows: [rowsOut], ...(bytesOut === undefined ? {} : { bytes: [bytesOut] }) };
      const segmentGenerationProgress = {
        type: 'segmentGenerationProgress',
        rowsProcessed: rowsIn,
        rowsPersisted: rowsIn,
        rowsMerged: rowsIn,
        rowsPushed: rowsOut,
      };
      const unread = (rows.unparseable ?? 0) + (rows.processedWithError ?? 0);
      return [
        worker,
        {
          input0,
          ...(kind === 'write' && isTable ? { segmentGenerationProgress } : { output }),
          ...(unread > 0 ? { warnings: { type: 'warnings', CannotParseExternalData: unread } } : {}),
          ...(isAll && cpuNs !== undefined ? { cpu: { type: 'cpus', main: { type: 'cpu', cpu: cpuNs, wall: wallNs } } } : {}),
        },
      ];
    }),
  );
}

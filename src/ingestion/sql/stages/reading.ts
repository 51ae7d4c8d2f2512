// Means by which a stage reads.

import type { RowSource } from '../../../model/row-source.js';
import type { ColumnSchema } from '../../../model/schema.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { StageProgress, TaskContext } from '../../contract.js';
import type { ProgressReporter } from '../../report/progress.js';
import type { RowStatistics } from '../../report/row-statistics.js';
import type { LazyEngine } from '../../task-engine.js';
import type { QuerySettings } from '../query-settings.js';

export interface Reading {
  readonly query: PlannedQuery;
  readonly context: TaskContext;
  readonly engine: LazyEngine;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  /** Known columns of what is read. */
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
  /** Way to join asked for; null: any. */
  readonly joinAlgorithm: QuerySettings['joinAlgorithm'];
  /** Whether strings of EXTERN lose their NUL characters. */
  readonly removeNullBytes: boolean;
  /** Counts of what goes through, but for the rows of the input, which `statistics` has. */
  readonly counts: StageCounter;
  /** All counts so far. */
  readonly stage: () => StageProgress;
}

export interface StageCounter {
  /** Rows of the stage before. */
  rowsIn: number;
  rowsOut: number;
  bytesOut: number;
  /** Files and segments. */
  filesRead: number;
}

const NS_PER_MS = 1_000_000;
const NS_PER_US = 1000;

/** Begins to measure the time that is spent; a process works on one stage at a time. */
export function stageClock(now: () => number): () => Pick<StageProgress, 'cpuNs' | 'wallNs'> {
  const startedMs = now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { cpuNs: (user + system) * NS_PER_US, wallNs: (now() - startedMs) * NS_PER_MS };
  };
}

// Means by which a stage reads.

import type { RowSource } from '../../../model/row-source.js';
import type { ColumnSchema } from '../../../model/schema.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { TaskContext } from '../../contract.js';
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
  /** Counts files and segments. */
  filesRead: number;
}

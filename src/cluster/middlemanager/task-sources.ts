// Runs plans over sources among which are files in the process of a task.

import { ETERNITY } from '../../base/instant.js';
import type { TableQuery, TaskContext } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { RowSource } from '../../model/row-source.js';
import { scanOf } from '../sources/source-plans.js';
import { SourceRunner } from '../sources/source-runner.js';

interface TaskSourcesOptions {
  readonly kernels: string;
  readonly signal: AbortSignal;
  /** Rows of datasources, read by a broker, one query at a time. */
  readonly readTables: (query: TableQuery) => AsyncIterable<Frame>;
}

/** All entries of a lookup. */
const ENTRIES = scanOf(['k', 'v'], [ETERNITY], []);

/** Runs plans by the engine of a task: datasources and lookups are read by a broker, and sides of joins lie in the memory of the task. */
export function taskSources({ kernels, signal, readTables }: TaskSourcesOptions): TaskContext['runSource'] {
  return ({ plan, source }, { engine, external, columnsOf }) => {
    const runner = new SourceRunner({
      engine,
      external,
      columnsOf,
      runTables: (tablesPlan, tables) => readTables({ plan: tablesPlan, source: tableSource(tables) }),
      isServedHere: () => false,
      rowsOfTable: () => null,
      // A Broker holds the lookups of the cluster. The number of their rows is not known before they are read.
      lookup: (name) => ({ rowCount: null, frames: () => readTables({ plan: ENTRIES, source: { kind: 'lookup', name } }) }),
      runOptions: { deadlineMs: Number.MAX_SAFE_INTEGER, kernels, batchRows: null },
      signal,
    });
    return runner.run(plan, source);
  };
}

function tableSource(tables: readonly string[]): RowSource {
  const [first = '', second] = tables;
  return second === undefined
    ? { kind: 'table', name: first }
    : { kind: 'union', sources: tables.map((name) => ({ kind: 'table', name })) };
}

// Runs plans over sources among which are files in the process of a task.

import { ServiceError } from '../../base/errors.js';
import type { TableQuery, TaskContext } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { RowSource } from '../../model/row-source.js';
import { SourceRunner } from '../sources/source-runner.js';

interface TaskSourcesOptions {
  readonly kernels: string;
  readonly signal: AbortSignal;
  /** Rows of datasources, read by a broker, one query at a time. */
  readonly readTables: (query: TableQuery) => AsyncIterable<Frame>;
}

/** Runs plans by the engine of a task: datasources are read by a broker, and sides of joins lie in the memory of the task. */
export function taskSources({ kernels, signal, readTables }: TaskSourcesOptions): TaskContext['runSource'] {
  return ({ plan, source }, { engine, external, columnsOf }) => {
    const runner = new SourceRunner({
      engine,
      external,
      columnsOf,
      runTables: (tablesPlan, tables) => readTables({ plan: tablesPlan, source: tableSource(tables) }),
      isServedHere: () => false,
      rowsOfTable: () => null,
      lookup: (name) => {
        throw new ServiceError('unsupported', `lookup ${name} beside TABLE(EXTERN(...)) is not supported: load it into a datasource first`);
      },
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

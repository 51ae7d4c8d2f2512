// Reads all entities of an input source as blocks of rows.

import { ServiceError } from '../../base/errors.js';
import type { TaskContext } from '../contract.js';
import type { ProgressReporter } from '../report/progress.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { inputEntities } from '../source/input-source.js';
import type { InputSource } from '../source/source-kind.js';
import type { InputFormat } from './format-kind.js';
import type { InputBlock } from './input-block.js';

export interface InputReading {
  readonly source: InputSource;
  readonly format: InputFormat;
  /** Columns that somebody reads; null: any. */
  readonly columns: ReadonlySet<string> | null;
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly samples?: boolean;
}

/** The blocks of all entities of a source, in order; what is read and rejected is counted. */
export async function* readBlocks({
  source,
  format,
  columns,
  context,
  statistics,
  progress,
  samples = false,
}: InputReading): AsyncGenerator<InputBlock> {
  const entities = await inputEntities(source, context);
  const sizes = entities.map(({ sizeBytes }) => sizeBytes);
  progress.bytesTotal = sizes.some((size) => size === null) ? null : sizes.reduce((total: number, size) => total + (size ?? 0), 0);
  context.log(`reading ${entities.length === 1 ? entities[0]?.name : `${entities.length} inputs, ${entities[0]?.name} first`}`);
  const reading = {
    columns,
    workDirectory: context.workDirectory,
    inputLimits: context.inputLimits,
    samples,
    read(bytes: number) {
      statistics.bytesRead += bytes;
    },
    reject: (reason: string, sample: string) => statistics.reject(reason, sample),
  };
  for (const entity of entities) {
    for await (const block of format.read(entity, reading)) {
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      yield block;
      progress.tick();
    }
  }
}

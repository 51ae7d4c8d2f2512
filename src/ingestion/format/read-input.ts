// Reads all entities of an input source as blocks of rows.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { ColumnType } from '../../model/schema.js';
import type { TaskContext } from '../contract.js';
import type { ProgressReporter } from '../report/progress.js';
import { NONE_PASSED, RecordCount } from '../report/row-place.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { filesOf } from '../source/archive.js';
import { inputParts } from '../source/input-source.js';
import { type InputPart, type InputSource, isStored } from '../source/source-kind.js';
import { storedBlocks } from '../source/stored-rows.js';
import type { InputFormat } from './format-kind.js';
import type { InputBlock } from './input-block.js';
import { JSON_FORMAT } from './json.js';

/** Format of entities that are lines of JSON. */
const JSON_LINES = JSON_FORMAT.open(new ObjectReader({}, 'inputFormat', readContextOf('internal', 'the format of rows')));

export interface InputReading {
  readonly source: InputSource;
  /** null: the source needs none. */
  readonly format: InputFormat | null;
  /** Columns that somebody reads; null: any. */
  readonly columns: ReadonlySet<string> | null;
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly samples?: boolean;
  /** Parts that are read; absent: all of them. */
  readonly chosen?: (parts: readonly InputPart[]) => readonly InputPart[];
  /** Told of the types of stored columns; throws for one that cannot be read. */
  readonly checkTypes?: (types: ReadonlyMap<string, ColumnType>) => void;
}

/** The blocks of all parts of a source, in order; what is read and rejected is counted. */
export async function* readBlocks({
  source,
  format,
  columns,
  context,
  statistics,
  progress,
  samples = false,
  chosen = (parts) => parts,
  checkTypes = () => undefined,
}: InputReading): AsyncGenerator<InputBlock> {
  const parts = chosen(await inputParts(source, context));
  const sizes = parts.map((part) => (isStored(part) ? null : part.sizeBytes));
  progress.bytesTotal = sizes.some((size) => size === null) ? null : sizes.reduce((total: number, size) => total + (size ?? 0), 0);
  context.log(`reading ${parts.length === 1 ? parts[0]?.name : `${parts.length} inputs, ${parts[0]?.name} first`}`);
  async function* blocksOf(part: InputPart): AsyncGenerator<InputBlock> {
    if (isStored(part)) return yield* storedBlocks(part, { columns, context, checkTypes });
    const own = part.isJsonLines === true ? JSON_LINES : format;
    if (own === null) throw new ServiceError('internal', `${part.name} has no input format`);
    for await (const { entity, read } of filesOf(part, reading)) {
      // Records of a part of a file are not counted from its beginning.
      records = new RecordCount(entity.name, entity.isContinued === true ? null : NONE_PASSED);
      yield* own.read(entity, { ...reading, read });
    }
  }
  const reading = {
    columns,
    workDirectory: context.workDirectory,
    inputLimits: context.inputLimits,
    kernels: context.kernels,
    samples,
    read(bytes: number) {
      statistics.bytesRead += bytes;
    },
    reject: (reason: string, sample: string, before = 0, line?: number) =>
      statistics.rejectRead(reason, sample, before, records.rejected(before, line)),
  };
  let records = new RecordCount('', null);
  for (const part of parts) {
    if (isStored(part)) records = new RecordCount(part.name, null);
    for await (const block of blocksOf(part)) {
      block.placeOf = records.block(block.rowCount, block.lineOf);
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const constants = isStored(part) ? undefined : part.systemFields;
      yield constants === undefined || constants.size === 0 ? block : { ...block, constants };
      progress.tick();
      failpoint('task.read');
    }
  }
}

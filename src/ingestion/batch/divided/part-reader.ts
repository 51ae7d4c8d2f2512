// Reads parts of files into a store of its own, on whatever thread.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type ErrorCode, ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { failpoint } from '../../../configuration/failpoint.js';
import { bucketsOf } from '../../../model/granularity.js';
import type { HandedChunk, HandedFile } from '../../builder/chunk-store.js';
import { TimeRange } from '../../builder/row-collector.js';
import { RowStore } from '../../builder/row-store.js';
import type { TaskRules } from '../../contract.js';
import type { InputFormat, PartReading } from '../../format/format-kind.js';
import type { InputBlock } from '../../format/input-block.js';
import { NONE_PASSED, type Passed, RecordCount } from '../../report/row-place.js';
import { type CountedRows, type ReadCounts, RowStatistics } from '../../report/row-statistics.js';
import { diskFull } from '../../report/task-failure.js';
import { filesOf } from '../../source/archive.js';
import { checkUnchanged } from '../../source/file-part.js';
import { rangeOf } from '../../source/line-range.js';
import { openLocal } from '../../source/local.js';
import type { InputEntity } from '../../source/source-kind.js';
import { type IndexSpec, parseIndexSpec } from '../../task-spec/index-spec.js';
import { openStages } from '../row-stages.js';
import type { WorkPart } from './file-parts.js';

/** Limits and places of the readers of a task, of which each gets its share; plain data. */
export type ReaderRules = Pick<TaskRules, 'workDirectory' | 'maxBytesInMemory' | 'inputLimits' | 'kernels'>;

/** Setting of a reader; plain data. */
export interface ReaderSetting {
  /** Spec with defaults written out. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly isParallel: boolean;
  readonly rules: ReaderRules;
  /** Number of readers that share the limits, and which of them this one is. */
  readonly share: { readonly of: number; readonly number: number };
}

/** A part to read; plain data. */
export interface ReadOrder {
  readonly work: WorkPart;
  /** Rows with exceptions that were counted before. */
  readonly exceptionsBefore: number;
  /** Records and lines of the file before the part, as far as they are known. */
  readonly passed: Passed;
}

/** Outcome of reading a part; plain data. */
export interface PartOutput {
  /** Positions in the file of the first row and of the one behind the last; null: it did not get there. */
  readonly began: number | null;
  readonly ended: number | null;
  /** Places are those behind what the order told of. */
  readonly counts: CountedRows;
  /** Line feeds that were passed. */
  readonly lines: number;
  /** Rows in the file of the reader. */
  readonly chunks: readonly HandedChunk[];
  readonly failure: ReadFailure | null;
}

/** An error on its way to another thread; plain data. */
export interface ReadFailure {
  /** null: an error that is not ours. */
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly stack: string;
}

export function failureOf(error: unknown): ReadFailure {
  const known = diskFull(error) ?? error;
  const { message, stack = '' } = known instanceof Error ? known : new Error(String(known));
  return { code: known instanceof ServiceError ? known.code : null, message, stack };
}

export function errorOf({ code, message, stack }: ReadFailure): Error {
  return code === null ? Object.assign(new Error(message), { stack }) : new ServiceError(code, message);
}

/** Reads parts of files, one after the other. */
export interface PartReaderPort {
  /** @param counted  told now and then of what is read */
  read(order: ReadOrder, counted: (counts: ReadCounts) => void): Promise<PartOutput>;
  /** Its file, when all is read. */
  finish(): Promise<HandedFile>;
  close(): Promise<void>;
}

/** A reader on the thread that this is. */
export function openPartReader({ spec: fields, isParallel, rules, share }: ReaderSetting, signal: AbortSignal): PartReader {
  const written = new ObjectReader(fields, 'spec', readContextOf('input_invalid', 'the task'));
  return new PartReader(parseIndexSpec(written, isParallel ? 'index_parallel' : 'index'), rules, share, signal);
}

/** Reads parts of files into a store of its own, whose rows stay in its file. */
export class PartReader implements PartReaderPort {
  readonly #spec: IndexSpec;
  readonly #format: InputFormat;
  readonly #rules: ReaderRules;
  readonly #signal: AbortSignal;
  readonly #store: RowStore;
  #isHandedOver = false;

  constructor(spec: IndexSpec, rules: ReaderRules, share: ReaderSetting['share'], signal: AbortSignal) {
    if (spec.inputFormat === null) throw new ServiceError('internal', 'files are read by a format');
    this.#spec = spec;
    this.#format = spec.inputFormat;
    this.#signal = signal;
    const workDirectory = path.join(rules.workDirectory, `reader-${share.number}`);
    mkdirSync(workDirectory, { recursive: true });
    this.#rules = { ...rules, workDirectory };
    const { dataSchema, tuning } = spec;
    this.#store = new RowStore({
      dataSource: dataSchema.dataSource,
      dimensions: dataSchema.dimensions.declared,
      metrics: dataSchema.metrics,
      rollup: false,
      buckets: bucketsOf(dataSchema.granularity.segmentGranularity),
      maxRowsInMemory: Math.max(1, Math.floor(tuning.maxRowsInMemory / share.of)),
      maxBytesInMemory: Math.min(tuning.maxBytesInMemory ?? Number.MAX_SAFE_INTEGER, rules.maxBytesInMemory) / share.of,
      workDirectory,
      engine: noEngine,
      kernels: rules.kernels,
      handsOver: true,
    });
  }

  async read({ work, exceptionsBefore, passed }: ReadOrder, counted: (counts: ReadCounts) => void): Promise<PartOutput> {
    const { dataSchema, tuning } = this.#spec;
    const statistics = new RowStatistics(tuning, () => undefined, Date.now, exceptionsBefore);
    const places = { began: null as number | null, ended: null as number | null, lines: 0 };
    const store = this.#store;
    const ended = (chunks: readonly HandedChunk[], failure: PartOutput['failure']): PartOutput => ({
      ...places,
      counts: statistics.counted(),
      chunks,
      failure,
    });
    try {
      const { intervals, queryGranularity } = dataSchema.granularity;
      const { maxColumns } = this.#rules.inputLimits;
      const range = new TimeRange(intervals, queryGranularity);
      const stages = openStages({ dataSchema, range, maxColumns, statistics, engine: { get: noEngine }, store });
      const { systemFields } = work.file;
      for await (const block of this.#blocks({ work, passed }, stages.columnsRead, statistics, places)) {
        if (this.#signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        stages.collector.add(systemFields === undefined || systemFields.size === 0 ? block : { ...block, constants: systemFields });
        await stages.relieve();
        counted(statistics.soFar());
        failpoint('task.read');
      }
      return ended(store.handOverRows(), null);
    } catch (error) {
      store.discardRows();
      return ended([], failureOf(error));
    }
  }

  async finish(): Promise<HandedFile> {
    this.#isHandedOver = true;
    return this.#store.handOver();
  }

  async close(): Promise<void> {
    if (!this.#isHandedOver) this.#store.close();
  }

  async *#blocks(
    { work: { file, part, isWhole }, passed }: Pick<ReadOrder, 'work' | 'passed'>,
    columns: ReadonlySet<string> | null,
    statistics: RowStatistics,
    places: { began: number | null; ended: number | null; lines: number },
  ): AsyncGenerator<InputBlock> {
    const { inputLimits, kernels, workDirectory } = this.#rules;
    const format = this.#format;
    const entity = entityOf(file, part.fileBytes);
    let records = new RecordCount(file.name, passed);
    async function* placed(blocks: AsyncIterable<InputBlock>): AsyncGenerator<InputBlock> {
      for await (const block of blocks) {
        block.placeOf = records.block(block.rowCount, block.lineOf);
        yield block;
      }
    }
    const reading: PartReading = {
      columns,
      workDirectory,
      inputLimits,
      kernels,
      part,
      read(bytes) {
        statistics.bytesRead += bytes;
      },
      reject: (reason, sample, before = 0, line) => statistics.rejectRead(reason, sample, before, records.rejected(before, line)),
      passed(lines) {
        places.lines += lines;
      },
      began(at) {
        places.began = at;
      },
      ended(at) {
        places.ended = at;
      },
    };
    if (!isWhole && format.readPart !== undefined) return yield* placed(format.readPart(entity, reading));
    // Every line feed ends a row, and there is nothing that the part before would know better.
    places.began = part.from;
    const { part: _, ...whole } = reading;
    if (isWhole) {
      for await (const { entity: content, read } of filesOf(entity, whole)) {
        records = new RecordCount(content.name, NONE_PASSED);
        yield* placed(format.read(content, { ...whole, read }));
      }
      await checkUnchanged(file, part);
    } else yield* placed(format.read(rangeOf(entity, part), whole));
    places.ended = part.to;
  }
}

function entityOf({ name, path: file }: WorkPart['file'], sizeBytes: number): InputEntity {
  return { name, sizeBytes, localFile: file, open: () => openLocal(file) };
}

function noEngine(): never {
  throw new ServiceError('internal', 'rows that several threads read are stored as they come');
}

// Divides the reading of a task over threads.

import { availableParallelism } from 'node:os';
import type { RowStore } from '../../builder/row-store.js';
import type { TaskContext } from '../../contract.js';
import type { ProgressReporter } from '../../report/progress.js';
import { NONE_PASSED, type Passed } from '../../report/row-place.js';
import type { ReadCounts, RowStatistics } from '../../report/row-statistics.js';
import { inputParts } from '../../source/input-source.js';
import type { IndexSpec } from '../../task-spec/index-spec.js';
import { type DividingOptions, type LocalFile, type WorkPart, workParts } from './file-parts.js';
import { errorOf, type PartOutput, PartReader, type PartReaderPort, type ReaderRules, type ReaderSetting } from './part-reader.js';
import { ReaderThread } from './reader-thread.js';

export interface DividedLoad {
  readonly spec: IndexSpec;
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly store: RowStore;
}

const THREADS_MAX = 4;

/** Division of an input, and who reads it beside this thread. */
export interface Division extends DividingOptions {
  readonly open: (setting: ReaderSetting, signal: AbortSignal) => PartReaderPort;
}

/** Division of the input of a task that nobody has set up otherwise. */
export function usualDivision(): Division {
  return {
    ...{ threads: Math.min(THREADS_MAX, availableParallelism()), bytesMin: 48e6, partBytesMin: 8e6, partBytesMax: 128e6 },
    open: (setting, signal) => new ReaderThread(setting, signal),
  };
}

/**
 * Reads the input on several threads, if it is local files worth it and rows are stored as they come.
 * @returns whether it did
 * @throws ServiceError as one thread would that reads part after part
 */
export async function readDivided(load: DividedLoad, options: Division): Promise<boolean> {
  const { spec, context, store } = load;
  const parts = await partsOf(load, options);
  if (parts === null || spec.inputFormat === null) return false;
  const { workDirectory, maxBytesInMemory, inputLimits, kernels, log, signal } = context;
  const names = [...new Set(parts.map(({ file }) => file.name))];
  const threads = Math.min(options.threads, parts.length);
  log(
    `reading ${names.length === 1 ? names[0] : `${names.length} inputs, ${names[0]} first`} in ${parts.length} parts on ${threads} threads`,
  );
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const rules: ReaderRules = { workDirectory, maxBytesInMemory, inputLimits, kernels };
  const readers: PartReaderPort[] = [];
  for (let number = 1; number < threads; number++)
    readers.push(options.open({ spec: spec.source, isParallel: spec.isParallel, rules, share: { of: threads, number } }, ended.signal));
  readers.push(new PartReader(spec, rules, { of: threads, number: 0 }, ended.signal));
  try {
    const outputs = await new Readings(load, parts, readers, stop).all();
    // Threads first: the reader that is here takes this one.
    const finished = await Promise.all(readers.map(async (reader) => [reader, await reader.finish()] as const));
    const files = new Map(finished.map(([reader, file]) => [reader, store.openFile(file)]));
    for (const { reader, chunks } of outputs) {
      const file = files.get(reader);
      if (file !== undefined) store.addHanded(chunks, file);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    for (const reader of readers) await reader.close();
  }
  return true;
}

async function partsOf({ spec, context, store, progress }: DividedLoad, options: DividingOptions): Promise<readonly WorkPart[] | null> {
  const { inputSource, inputFormat, dataSchema, tuning } = spec;
  const { transforms, filter, dimensions } = dataSchema;
  if (options.threads < 2 || inputSource.type !== 'local' || inputFormat === null) return null;
  // A row is logged with its number in the input, which only who reads all of it knows.
  if (tuning.logParseExceptions) return null;
  if (!store.isDivisible || transforms.length > 0 || filter !== null || dimensions.discovery !== 'none') return null;
  const inputs = await inputParts(inputSource, context);
  const parts = await workParts(inputs, inputFormat, options);
  if (parts !== null)
    progress.bytesTotal = [...new Map(parts.map(({ file, part }) => [file, part.fileBytes])).values()].reduce(
      (sum, bytes) => sum + bytes,
      0,
    );
  return parts;
}

type Read = PartOutput & { readonly reader: PartReaderPort; readonly exceptionsBefore: number; readonly passed: Passed };

/**
 * The readings of all parts. Each thread takes the next part when it is through with one. Where a part begins is a guess
 * (a line feed may stand in a quoted field) until the part before is known to have ended there; a part that was read from
 * elsewhere is read again.
 */
class Readings {
  readonly #load: DividedLoad;
  readonly #parts: readonly WorkPart[];
  readonly #readers: readonly PartReaderPort[];
  readonly #stop: () => void;
  readonly #read: (Read | undefined)[];
  readonly #running = new Map<PartReaderPort, ReadCounts>();
  #next = 0;
  /** Parts before it are known to be right, and are counted. */
  #settled = 0;
  /** The next part to be settled is to be read from here. */
  #again: WorkPart | null = null;
  #failure: unknown = null;
  /** Rows and lines of a file that have been settled. */
  #passed: (Passed & { readonly file: LocalFile }) | null = null;

  constructor(load: DividedLoad, parts: readonly WorkPart[], readers: readonly PartReaderPort[], stop: () => void) {
    this.#load = load;
    this.#parts = parts;
    this.#readers = readers;
    this.#stop = stop;
    this.#read = parts.map(() => undefined);
  }

  /** Outputs of all parts, in order. */
  async all(): Promise<readonly Read[]> {
    const { statistics } = this.#load;
    statistics.running = () => [
      ...this.#running.values(),
      ...this.#read.slice(this.#settled).flatMap((read) => (read === undefined ? [] : [read.counts])),
    ];
    try {
      do await Promise.all(this.#readers.map((reader) => this.#serve(reader)));
      while (this.#failure === null && this.#settled < this.#parts.length);
    } finally {
      statistics.running = () => [];
    }
    if (this.#failure !== null) throw this.#failure;
    return this.#read.flatMap((read) => (read === undefined ? [] : [read]));
  }

  /** Has a reader read parts while there are any. */
  async #serve(reader: PartReaderPort): Promise<void> {
    try {
      for (let at = this.#take(); at !== null; at = this.#take()) {
        const work = at.work;
        const { exceptions } = this.#load.statistics;
        const [exceptionsBefore, passed] = at.number === this.#settled ? [exceptions, this.#passedBefore()] : [0, NONE_PASSED];
        const output = await reader.read({ work, exceptionsBefore, passed }, (counts) => {
          this.#running.set(reader, counts);
          this.#load.progress.tick();
        });
        this.#running.delete(reader);
        this.#read[at.number] = { ...output, reader, exceptionsBefore, passed };
        this.#settle();
        this.#load.progress.tick();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(): { readonly number: number; readonly work: WorkPart } | null {
    if (this.#failure !== null) return null;
    if (this.#again !== null) {
      const work = this.#again;
      this.#again = null;
      return { number: this.#settled, work };
    }
    const work = this.#parts[this.#next];
    return work === undefined ? null : { number: this.#next++, work };
  }

  /** Counts the parts that are known to be right now. */
  #settle(): void {
    const { statistics } = this.#load;
    for (;;) {
      const [work, read] = [this.#parts[this.#settled], this.#read[this.#settled]];
      if (work === undefined || read === undefined || this.#failure !== null) return;
      const before = this.#parts[this.#settled - 1];
      const begins = before?.file === work.file ? (this.#read[this.#settled - 1]?.ended ?? 0) : 0;
      if (read.began !== null && read.began !== begins)
        return this.#readAgain({ ...work, part: { ...work.part, from: begins, isAtRow: true } });
      const exceptions = statistics.exceptions;
      const isOver =
        read.exceptionsBefore !== exceptions &&
        exceptions + read.counts.processedWithError + read.counts.unparseable > this.#load.spec.tuning.maxParseExceptions;
      const passed = this.#passedBefore();
      const isMisplaced = read.failure !== null && (read.passed.records !== passed.records || read.passed.lines !== passed.lines);
      // The one row too many is found by who knows how many there were before, and where it is by who knows what stands before it.
      if (isOver || isMisplaced) return this.#readAgain({ ...work, part: { ...work.part, from: begins, isAtRow: true } });
      statistics.take(read.counts, { records: passed.records - read.passed.records, lines: passed.lines - read.passed.lines });
      if (read.failure !== null) return this.#fail(errorOf(read.failure));
      this.#passed = { file: work.file, records: passed.records + rowsOf(read.counts), lines: passed.lines + read.lines };
      this.#settled++;
    }
  }

  /** Records and lines of its file before the next part to be settled. */
  #passedBefore(): Passed {
    return this.#passed !== null && this.#passed.file === this.#parts[this.#settled]?.file ? this.#passed : NONE_PASSED;
  }

  #readAgain(work: WorkPart): void {
    this.#read[this.#settled] = undefined;
    this.#again = work;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop();
  }
}

function rowsOf({ processed, processedWithError, thrownAway, unparseable }: ReadCounts): number {
  return processed + processedWithError + thrownAway + unparseable;
}

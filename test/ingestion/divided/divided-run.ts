import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServiceError } from '../../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import type { Division } from '../../../src/ingestion/batch/divided/divided-load.js';
import { openPartReader } from '../../../src/ingestion/batch/divided/part-reader.js';
import { ReaderThread } from '../../../src/ingestion/batch/divided/reader-thread.js';
import { RowLoad } from '../../../src/ingestion/batch/row-load.js';
import type { TaskContext } from '../../../src/ingestion/contract.js';
import { placeText } from '../../../src/ingestion/report/row-place.js';
import { type IndexSpec, parseIndexSpec } from '../../../src/ingestion/task-spec/index-spec.js';
import { taskContext } from '../run-task.js';

export const MINUTE = 60_000;

/** Files of an input, and how a task reads them. */
export interface DividedInput {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly inputFormat: Readonly<Record<string, unknown>>;
  readonly tuning?: Readonly<Record<string, unknown>>;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly maxRowBytes?: number;
  /** Called when the input is divided and nothing of it is read yet. */
  readonly begins?: (files: readonly string[]) => void;
  readonly signal?: AbortSignal;
}

/** Outcome of a load, with nothing that a clock or the number of threads may change. */
export interface LoadOutcome {
  /** Digest of each segment file, in order. */
  readonly segments: readonly (readonly [start: number, rows: number, digest: string])[];
  readonly counts: Readonly<Record<string, number>>;
  readonly saved: readonly (readonly [type: string, input: string, reason: string, place: string])[];
  /** Only of a load that succeeded. */
  readonly bytesRead: number | null;
  readonly balance: unknown;
  readonly failure: readonly [code: string, message: string] | null;
}

/** One reader, then two, three, two and so on, each time with parts of another size: all on this thread, which takes turns, or on threads. */
export function divisions(partBytes: readonly number[], on: 'here' | 'threads' = 'here'): readonly Division[] {
  const open: Division['open'] = on === 'here' ? openPartReader : (setting, signal) => new ReaderThread(setting, signal);
  const of = (threads: number, bytes: number): Division => ({ threads, bytesMin: 0, partBytesMin: bytes, partBytesMax: bytes, open });
  return [of(1, 1), ...partBytes.map((bytes, at) => of(2 + (at % 2), bytes))];
}

export function specOf(files: readonly string[], { inputFormat, tuning = {}, schema = {} }: DividedInput): IndexSpec {
  const fields = {
    dataSchema: {
      dataSource: 'divided',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: ['s', { name: 'n', type: 'long' }, { name: 'd', type: 'double' }, '__file_uri'] },
      granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'none', rollup: false },
      ...schema,
    },
    ioConfig: { type: 'index_parallel', inputSource: { type: 'local', files, systemFields: ['__file_uri'] }, inputFormat },
    tuningConfig: { type: 'index_parallel', ...tuning },
  };
  return parseIndexSpec(new ObjectReader(fields, 'spec', readContextOf('input_invalid', 'the task')), 'index_parallel');
}

/** The outcomes of one input under several divisions. */
export async function loadDivided(input: DividedInput, options: readonly Division[]): Promise<LoadOutcome[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'dolmen-divided-'));
  try {
    const outcomes: LoadOutcome[] = [];
    for (const [at, each] of options.entries()) {
      const files = input.files.map(({ name, bytes }) => {
        writeFileSync(path.join(root, name), bytes);
        return path.join(root, name);
      });
      const folder = path.join(root, `task-${at}`);
      mkdirSync(folder);
      outcomes.push(await load(input, files, folder, root, each));
    }
    return outcomes;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function load(input: DividedInput, files: readonly string[], folder: string, root: string, options: Division): Promise<LoadOutcome> {
  const base = taskContext(folder, []);
  const context: TaskContext = {
    ...base,
    allowedDirectories: [root],
    inputLimits: { ...base.inputLimits, maxRowBytes: input.maxRowBytes ?? base.inputLimits.maxRowBytes },
    kernels: 'simd',
    signal: input.signal ?? base.signal,
    log: (line) => {
      if (line.startsWith('reading ')) input.begins?.(files);
    },
  };
  const loading = new RowLoad(specOf(files, input), context, options);
  const { statistics } = loading;
  let segments: LoadOutcome['segments'] = [];
  let failure: LoadOutcome['failure'] = null;
  try {
    await loading.read();
    const pushed = await loading.build();
    statistics.store(pushed);
    segments = pushed.map(({ interval, rowCount, loadSpec }) => [
      interval.start,
      rowCount,
      createHash('sha256').update(readFileSync(loadSpec.path)).digest('hex'),
    ]);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    failure = [error.code, error.message];
  } finally {
    await loading.close();
  }
  return {
    segments,
    counts: { ...statistics.counts() },
    saved: statistics.saved.map(({ type, input: row, details, place }) => [
      type,
      row,
      details.join(),
      place === null ? '' : placeText(place),
    ]),
    bytesRead: failure === null ? statistics.bytesRead : null,
    balance: statistics.balance(),
    failure,
  };
}

// Samples an input: reads its first rows as a load would, and shows what becomes of each.

import { type ErrorCode, ServiceError } from '../../base/errors.js';
import { createByName } from '../../base/names.js';
import { bucketsOf } from '../../model/granularity.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import { plainFrame } from '../../storage/columns/packed-column.js';
import { openStages } from '../batch/row-stages.js';
import { refuseStatesAsValues } from '../batch/state-columns.js';
import { INPUT_ROW } from '../builder/rollup.js';
import { TimeRange } from '../builder/row-collector.js';
import { RowStore } from '../builder/row-store.js';
import { columnPlan, timesOf } from '../builder/run-buffer.js';
import { inputCell } from '../column/text-reading.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import type { InputBlock } from '../format/input-block.js';
import { readBlocks } from '../format/read-input.js';
import { ProgressReporter } from '../report/progress.js';
import { openStreamReader } from '../stream/open-reader.js';
import { readerOptions } from '../stream/stream-access.js';
import type { StreamReader } from '../stream/stream-reader.js';
import type { StreamSource } from '../stream/stream-source.js';
import { LazyEngine } from '../task-engine.js';
import type { DataSchema } from '../task-spec/data-schema.js';
import type { Metric } from '../task-spec/metric.js';
import { columnsOf } from './sample-columns.js';
import { readSampleSpec, type SampleSpec, TIMEOUT_MS_MAX } from './sample-spec.js';
import { sampleText } from './sample-text.js';
import { firstRows, SampledRows } from './sampled-rows.js';
import { assignAll, streamBlocks } from './sampled-stream.js';

/** Report of the sampler's outcome: the answer, or the code of the error. */
export interface SamplerReport extends Readonly<Record<string, unknown>> {
  readonly answer?: string;
  readonly errorCode?: ErrorCode;
}

type OpenReader = (source: StreamSource) => Promise<StreamReader>;

/** Answers a request to the sampler. Never throws. */
export async function runSampler(
  body: Uint8Array,
  context: TaskContext,
  openReader: OpenReader = (source) => openStreamReader(source, readerOptions(context)),
): Promise<TaskOutcome & { readonly report: SamplerReport }> {
  try {
    return { succeeded: true, errorMessage: null, report: { answer: await sample(readSampleSpec(body), context, openReader) } };
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error);
    context.log(`failed: ${errorMessage}`);
    if (!(error instanceof ServiceError) && error instanceof Error) context.log(error.stack ?? '');
    return { succeeded: false, errorMessage, report: { errorCode: error instanceof ServiceError ? error.code : 'internal' } };
  }
}

/** The least number of its rows tells the place of a row that others are rolled up into. */
const FIRST_ROW: Metric = {
  name: INPUT_ROW,
  type: 'LONG',
  aggregator: { name: INPUT_ROW, kind: 'min', column: INPUT_ROW, type: 'LONG', filter: null },
  virtualColumns: [],
  inputs: [{ field: INPUT_ROW, column: columnPlan(INPUT_ROW, 'LONG'), isConsumed: true }],
};

/** Rows that are filtered at once. */
const FILTERED_ROWS_MIN = 256;

/** @returns the text of the answer */
async function sample(spec: SampleSpec, given: TaskContext, openReader: OpenReader): Promise<string> {
  const { input } = spec;
  if (input.kind === 'files') return sampleOf(spec, given, null);
  // A stream that cannot be reached is an error, which its reader's own limits of time tell; only then the time of the sample begins.
  const reader = await openReader(input.source);
  try {
    await assignAll(input, reader);
    return await sampleOf(spec, given, reader);
  } finally {
    await reader.close();
  }
}

async function sampleOf(spec: SampleSpec, given: TaskContext, reader: StreamReader | null): Promise<string> {
  const { limits, dataSchema } = spec;
  const timeout = AbortSignal.timeout(limits.timeoutMs === 0 ? TIMEOUT_MS_MAX : limits.timeoutMs);
  const context = { ...given, signal: AbortSignal.any([given.signal, timeout]) };
  const engine = new LazyEngine(context);
  const rows = new SampledRows(context.now);
  const store = openStore(dataSchema, context, engine);
  try {
    await readRows(spec, { context, engine, rows, store, reader, timeout });
    const columns = columnsOf(spec, store, rows);
    for (const chunk of await store.finish()) {
      for await (const stored of store.frames(chunk, { kind: 'dynamic', maxRowsPerSegment: Math.max(1, limits.numRows) })) {
        const frame = plainFrame(stored.frame);
        const numbers = frame.columns.find(({ name }) => name === INPUT_ROW);
        const shown = columns.map(({ name }) => frame.columns.find((column) => column.name === name));
        const times = timesOf(frame);
        for (let row = 0; row < frame.rowCount; row++) {
          const sampled = rows.numbered(numbers?.kind === 'long' ? Number(numbers.values[row]) : -1);
          if (sampled === undefined) throw new ServiceError('internal', 'a row of the sample has no number');
          const parsed = createByName<unknown>();
          parsed[TIME_COLUMN] = times?.[row] ?? null;
          for (const [at, column] of shown.entries())
            parsed[columns[at]?.name ?? ''] = column === undefined ? null : inputCell(column, row);
          sampled.parsed = parsed;
        }
      }
    }
    return sampleText({ rows: rows.all, columns, dimensions: dataSchema.source.dimensions, limits });
  } finally {
    store.close();
    await engine.close();
  }
}

/** All rows stay in one run: `readRows` ends before there are many. */
function openStore({ dataSource, dimensions, metrics, granularity }: DataSchema, context: TaskContext, engine: LazyEngine): RowStore {
  return new RowStore({
    dataSource,
    dimensions: dimensions.declared,
    metrics: [...metrics, FIRST_ROW],
    rollup: granularity.rollup && metrics.length + dimensions.declared.length > 0,
    buckets: bucketsOf({ kind: 'all' }),
    maxRowsInMemory: Number.MAX_SAFE_INTEGER,
    maxBytesInMemory: Number.MAX_SAFE_INTEGER,
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
    kernels: context.kernels,
  });
}

interface Reading {
  readonly context: TaskContext;
  readonly engine: LazyEngine;
  readonly rows: SampledRows;
  readonly store: RowStore;
  /** null: of files. */
  readonly reader: StreamReader | null;
  /** Aborted once the time of the sample is over. */
  readonly timeout: AbortSignal;
}

/** Reads until there are rows enough, the input or the time is over, or the rows take too much memory. */
async function readRows(spec: SampleSpec, reading: Reading): Promise<void> {
  const { context, engine, rows, store, timeout } = reading;
  const { dataSchema, limits } = spec;
  const { transforms, filter, metrics, granularity } = dataSchema;
  const stages = openStages({
    dataSchema: { ...dataSchema, metrics: [...metrics, FIRST_ROW] },
    // A sample shows rows of all times.
    range: new TimeRange([], granularity.queryGranularity),
    maxColumns: context.inputLimits.maxColumns,
    statistics: rows,
    engine,
    store,
  });
  const decidesLater = transforms.length > 0 || filter !== null;
  const bytesMax = Math.min(limits.maxBytesInMemory, context.maxBytesInMemory);
  const settle = async (): Promise<void> => {
    const before = store.input.rowCount;
    await stages.finish();
    if (decidesLater) rows.settle(storedNumbers(store, before));
  };
  const blocks = inputBlocks(spec, reading);
  let waiting = 0;
  try {
    while (rows.all.length < limits.numRows && Math.max(store.input.sizeBytes, rows.inputBytes) < bytesMax) {
      const next = await unless(timeout, blocks.next());
      if (next === TIME_IS_OVER || next.done === true) break;
      const block: InputBlock = firstRows(next.value, decidesLater ? FILTERED_ROWS_MIN : limits.numRows - rows.all.length);
      rows.add(block);
      stages.collector.add(block);
      waiting += block.rowCount;
      const isEnough = rows.all.length >= limits.numRows || waiting >= FILTERED_ROWS_MIN;
      if (!decidesLater || !isEnough) continue;
      await settle();
      waiting = 0;
    }
  } catch (error) {
    // Who reads is stopped at the end of the time, and says so.
    if (!timeout.aborted) throw error;
  }
  // Who still waits for a source that is silent ends with the process.
  void blocks.return(undefined).catch(() => undefined);
  await settle();
}

function inputBlocks({ input, dataSchema, limits }: SampleSpec, { context, rows, reader, timeout }: Reading): AsyncGenerator<InputBlock> {
  if (input.kind === 'files') {
    const { inputSource: source, inputFormat: format } = input;
    const progress = new ProgressReporter(context, rows);
    const checkTypes = (types: ReadonlyMap<string, ColumnType>): void => refuseStatesAsValues(dataSchema, types);
    return readBlocks({ source, format, columns: null, context, statistics: rows, progress, samples: true, checkTypes });
  }
  if (reader === null) throw new ServiceError('internal', 'the sampled stream has no reader');
  const { workDirectory, inputLimits, kernels } = context;
  const reading = { columns: null, workDirectory, inputLimits, kernels, samples: true };
  return streamBlocks(input, reader, reading, { statistics: rows, maxRows: limits.numRows, signal: timeout });
}

const TIME_IS_OVER = Symbol('the time is over');

function unless<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value | typeof TIME_IS_OVER> {
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(TIME_IS_OVER);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The numbers of the rows that came into the store after the first `before`. */
function storedNumbers(store: RowStore, before: number): ReadonlySet<number> {
  const places = Uint32Array.from({ length: store.input.rowCount - before }, (_, at) => before + at);
  const column = store.input.column(INPUT_ROW)?.toFrameColumn(places);
  return new Set(column?.kind === 'long' ? Array.from(column.values, Number) : []);
}

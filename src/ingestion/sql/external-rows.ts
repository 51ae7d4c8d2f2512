// Rows of EXTERN and of inline sources as frames, through the plan of a statement.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Frame } from '../../model/frame.js';
import type { PlannedQuery, PlannedSource } from '../../model/statement.js';
import type { FrameEngine } from '../builder/frame-engine.js';
import { withArrivalTime } from '../builder/rollup.js';
import { RowCollector } from '../builder/row-collector.js';
import { columnPlan, RunBuffer } from '../builder/run-buffer.js';
import { ByteDictionary } from '../column/byte-dictionary.js';
import type { TaskContext } from '../contract.js';
import { parseInputFormat } from '../format/input-format.js';
import { readBlocks } from '../format/read-input.js';
import type { ProgressReporter } from '../report/progress.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { parseInputSource } from '../source/input-source.js';
import { isRowWise, planOverArrivals } from './external-plan.js';

const BATCH_ROWS = 1 << 17;
const BATCH_DICTIONARY_BYTES = 32 << 20;
/** Groups of batches are joined once so many rows of them wait. */
const MERGE_ROWS = 1 << 19;

type ExternalSource = Extract<PlannedSource, { readonly kind: 'external' }>;

/**
 * The result of a query over an external or inline source, frame by frame; the columns have the order of
 * `query.columns`. What works row by row is computed a batch at a time, the rest in parts that are merged at the end.
 */
export async function* queryFrames(query: PlannedQuery, engine: FrameEngine, source: AsyncGenerator<Frame>): AsyncGenerator<Frame> {
  const plan = planOverArrivals(query.plan);
  if (isRowWise(plan)) {
    for await (const frame of source) yield* engine.run(plan, [frame]);
    return;
  }
  let parts: (readonly Frame[])[] = [];
  let waiting = 0;
  for await (const frame of source) {
    const part = await engine.partial(plan, frame);
    parts.push(part);
    waiting += part.reduce((rows, { rowCount }) => rows + rowCount, 0);
    if (plan.operator !== 'group' || waiting < MERGE_ROWS) continue;
    const merged: Frame[] = [];
    for await (const whole of engine.merge(plan, parts, 'partial')) merged.push(whole);
    parts = [merged];
    waiting = 0;
  }
  yield* engine.merge(plan, parts, 'final');
}

/** The rows of EXTERN in batches, columns as its signature has them; a value that does not fit its type is null. */
export async function* externalFrames(
  source: ExternalSource,
  context: TaskContext,
  statistics: RowStatistics,
  progress: ProgressReporter,
): AsyncGenerator<Frame> {
  const document = readContextOf('input_invalid', 'EXTERN');
  const input = parseInputSource(new ObjectReader(source.inputSource, 'EXTERN inputSource', document));
  if (!input.needsFormat)
    throw new ServiceError('unsupported', `EXTERN inputSource: ${input.type} is not supported; name the datasource after FROM`);
  const format = parseInputFormat(new ObjectReader(source.inputFormat, 'EXTERN inputFormat', document));
  const names = source.signature.map(({ name }) => name);
  const buffer = new RunBuffer(source.signature.map(({ name, type }) => columnPlan(name, type, 'ARRAY')));
  const collector = new RowCollector(
    {
      timestamp: null,
      range: null,
      sources: new Map(),
      discovery: 'none',
      leavesOutNested: false,
      exclusions: [],
      countsRows: false,
      maxColumns: context.inputLimits.maxColumns,
    },
    buffer,
    statistics,
  );
  const reading = { source: input, format, columns: new Set(names), context, statistics, progress };
  for await (const block of readBlocks(reading)) {
    collector.add(block);
    statistics.processed += block.rowCount;
    if (buffer.rowCount >= BATCH_ROWS) yield takeFrame(buffer);
  }
  if (buffer.rowCount > 0) yield takeFrame(buffer);
  if (collector.faultyRows > 0)
    context.log(`${collector.faultyRows} rows have a value that does not fit the type in EXTERN's signature; it was taken as null`);
}

export async function* inlineFrames(frame: Frame): AsyncGenerator<Frame> {
  yield withArrivalTime(frame);
}

function takeFrame(buffer: RunBuffer): Frame {
  const { rowCount, columns } = buffer.toFrame();
  buffer.clear();
  if (buffer.dictionaryBytes > BATCH_DICTIONARY_BYTES)
    for (const { column } of buffer.dictionaries()) column.replaceDictionary(new ByteDictionary());
  // External rows have no time of their own; a column called so is one of the signature.
  return withArrivalTime({ rowCount, columns: columns.slice(1) });
}

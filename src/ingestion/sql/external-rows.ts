// Rows of EXTERN and of inline sources as frames.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Frame } from '../../model/frame.js';
import type { RowSource } from '../../model/row-source.js';
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
import type { InputPart } from '../source/source-kind.js';

const BATCH_ROWS = 1 << 17;
const BATCH_DICTIONARY_BYTES = 32 << 20;

type ExternalSource = Extract<RowSource, { readonly kind: 'external' }>;

/** Settings of a reading of EXTERN. */
export interface ExternalReading {
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  /** Parts of the input source that are read. */
  readonly chosen: (parts: readonly InputPart[]) => readonly InputPart[];
}

/** The rows of EXTERN in batches, columns as its signature has them; a value that does not fit its type is null. */
export async function* externalFrames(
  source: ExternalSource,
  { context, statistics, progress, chosen }: ExternalReading,
): AsyncGenerator<Frame> {
  const document = readContextOf('input_invalid', 'EXTERN');
  const input = parseInputSource(new ObjectReader(source.inputSource, 'EXTERN inputSource', document));
  if (!input.needsFormat && input.bringsFormat !== true)
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
  const reading = { source: input, format, columns: new Set(names), context, statistics, progress, chosen };
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
  // The time that the buffer has of its own is none of the signature's.
  return { rowCount, columns: columns.slice(1) };
}

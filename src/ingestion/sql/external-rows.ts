// Rows of EXTERN and of inline sources as frames.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { type ArrayElement, arrayElements, arrayText } from '../../model/array-text.js';
import type { Frame } from '../../model/frame.js';
import { withArrivalTime } from '../../model/rewrite/arrival-time.js';
import type { RowSource } from '../../model/row-source.js';
import { isArrayType, type TextType } from '../../model/schema.js';
import { RowCollector } from '../builder/row-collector.js';
import { columnPlan, RunBuffer } from '../builder/run-buffer.js';
import { inputBench } from '../column/input-bench.js';
import type { TaskContext } from '../contract.js';
import { parseInputFormat } from '../format/input-format.js';
import { readBlocks } from '../format/read-input.js';
import type { ProgressReporter } from '../report/progress.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { parseInputSource } from '../source/input-source.js';
import type { InputPart } from '../source/source-kind.js';
import { QueryFault } from './query-fault.js';

const BATCH_ROWS = 1 << 17;
const BATCH_DICTIONARY_BYTES = 32 << 20;

type ExternalSource = Extract<RowSource, { readonly kind: 'external' }>;

/** Settings of a reading of EXTERN. */
export interface ExternalReading {
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  /** Whether strings lose their NUL characters. */
  readonly removeNullBytes: boolean;
  /** Parts of the input source that are read. */
  readonly chosen: (parts: readonly InputPart[]) => readonly InputPart[];
}

/** The rows of EXTERN in batches, columns as its signature has them; a value that does not fit its type is null. */
export async function* externalFrames(source: ExternalSource, reading: ExternalReading): AsyncGenerator<Frame> {
  for await (const frame of framesAsTheyCome(source, reading)) yield reading.removeNullBytes ? withoutNulCharacters(frame) : frame;
}

function withoutNulCharacters({ rowCount, columns }: Frame): Frame {
  const cleaned = columns.map((column) => {
    if (column.kind !== 'string' && column.kind !== 'multi') return column;
    const type = column.kind === 'string' ? (column.type ?? 'STRING') : 'STRING';
    return { ...column, dictionary: column.dictionary.map((text) => text && withoutNul(text, type)) };
  });
  return { rowCount, columns: cleaned };
}

function withoutNul(text: string, type: TextType): string {
  if (type === 'STRING') return text.replaceAll('\0', '');
  if (isArrayType(type)) return arrayText(arrayElements(text, type).map(elementWithoutNul), type);
  // Characters of JSON are escaped.
  return text.replaceAll(/\\(?:u0000|.)/gs, (escaped) => (escaped === '\\u0000' ? '' : escaped));
}

function elementWithoutNul(element: ArrayElement): ArrayElement {
  if (typeof element === 'string') return element.replaceAll('\0', '');
  return Array.isArray(element) ? (element as readonly ArrayElement[]).map(elementWithoutNul) : element;
}

async function* framesAsTheyCome(
  source: ExternalSource,
  { context, statistics, progress, chosen }: ExternalReading,
): AsyncGenerator<Frame> {
  const document = readContextOf('input_invalid', 'EXTERN');
  const input = parseInputSource(new ObjectReader(source.inputSource, 'EXTERN inputSource', document));
  if (!input.needsFormat && input.bringsFormat !== true)
    throw new ServiceError('unsupported', `EXTERN inputSource: ${input.type} is not supported; name the datasource after FROM`);
  const format = parseInputFormat(new ObjectReader(source.inputFormat, 'EXTERN inputFormat', document));
  const names = source.signature.map(({ name }) => name);
  const buffer = new RunBuffer(
    source.signature.map(({ name, type }) => columnPlan(name, type, 'ARRAY')),
    inputBench(context.kernels),
  );
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
  // A batch is copied some times on its way through a plan.
  const bytesMax = context.maxBytesInMemory / 16;
  const reading = { source: input, format, columns: new Set(names), context, statistics, progress, chosen };
  try {
    for await (const block of readable(readBlocks(reading))) {
      statistics.processed += collector.add(block);
      if (buffer.rowCount >= BATCH_ROWS || buffer.sizeBytes - buffer.dictionaryBytes >= bytesMax || buffer.dictionaryBytes >= 2 * bytesMax)
        yield takeFrame(buffer, bytesMax);
    }
    if (buffer.rowCount > 0) yield takeFrame(buffer, bytesMax);
  } finally {
    buffer.close();
  }
  if (collector.faultyRows > 0)
    context.log(`${collector.faultyRows} rows have a value that does not fit the type in EXTERN's signature; it was taken as null`);
}

/** Rows, files or archives that are larger than may be read cannot be read. */
async function* readable<Block>(blocks: AsyncIterable<Block>): AsyncGenerator<Block> {
  try {
    yield* blocks;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'resource_limit' || error.details !== null) throw error;
    throw new QueryFault(error.code, error.message, { errorCode: 'CannotParseExternalData' });
  }
}

export async function* inlineFrames(frame: Frame): AsyncGenerator<Frame> {
  yield withArrivalTime(frame);
}

/** @param dictionaryBytesMax  dictionaries that are larger are begun anew */
function takeFrame(buffer: RunBuffer, dictionaryBytesMax: number): Frame {
  const { rowCount, columns } = buffer.toFrame();
  buffer.clear();
  if (buffer.dictionaryBytes > Math.min(BATCH_DICTIONARY_BYTES, dictionaryBytesMax)) buffer.renewDictionaries();
  // The time that the buffer has of its own is none of the signature's.
  return { rowCount, columns: columns.slice(1) };
}

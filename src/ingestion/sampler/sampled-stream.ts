// Reads the messages that a sample of a stream shows.

import { STREAM_TRAITS } from '../../model/stream/offsets.js';
import type { Reading } from '../format/format-kind.js';
import type { InputBlock } from '../format/input-block.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { type MessageFormat, messageBlocks } from '../stream/kafka-format.js';
import type { StreamReader } from '../stream/stream-reader.js';
import type { StreamSource } from '../stream/stream-source.js';

export interface SampledStream {
  readonly kind: 'stream';
  readonly source: StreamSource;
  readonly format: MessageFormat;
  /** Whether it begins with the first messages that are there; else with those that come from now on. */
  readonly useEarliest: boolean;
}

const POLL_TIMEOUT_MS = 100;
const POLL_BYTES_MAX = 1 << 20;

/** Has a reader read all partitions of the stream, from where the sample begins. */
export async function assignAll({ useEarliest }: SampledStream, reader: StreamReader): Promise<void> {
  const partitions = await reader.partitions();
  const offsets = await (useEarliest ? reader.earliest(partitions) : reader.latest(partitions));
  const isExclusive = STREAM_TRAITS[reader.kind].endIsInclusive;
  await reader.assign(new Map([...offsets].map(([partition, offset]) => [partition, { offset, isExclusive }])));
}

/** The rows of messages as they come, until the signal is aborted or nothing but bad ones fill the sample: a stream has no end. */
export async function* streamBlocks(
  { format }: SampledStream,
  reader: StreamReader,
  reading: Omit<Reading, 'read' | 'reject'>,
  { statistics, maxRows, signal }: { readonly statistics: RowStatistics; readonly maxRows: number; readonly signal: AbortSignal },
): AsyncGenerator<InputBlock> {
  const reject: Reading['reject'] = (reason, sample, before) => statistics.rejectRead(reason, sample, before);
  const limits = { maxRows: Math.max(1, maxRows), maxBytes: POLL_BYTES_MAX, timeoutMs: POLL_TIMEOUT_MS };
  while (!signal.aborted && statistics.unparseable < limits.maxRows) {
    yield* messageBlocks(await reader.poll(limits), format, { ...reading, reject }, statistics);
  }
}

// Writes results by segment (`bySegment`).

import { formatInterval } from '../../../base/interval.js';
import { formatInstant } from '../../../base/time.js';
import type { SegmentToRun } from '../../../cluster/broker/contract.js';
import type { WriteOptions } from './write-rows.js';

/**
 * `[{"timestamp": ..., "result": {"results": [...], "segment": ..., "interval": ...}}]`: for each segment the JSON that
 * the query has over it alone.
 */
export async function* writeBySegment(
  segments: AsyncIterable<SegmentToRun>,
  results: (segment: SegmentToRun) => AsyncIterable<string>,
  { timesAsLong }: WriteOptions,
): AsyncIterable<string> {
  let separator = '[';
  for await (const segment of segments) {
    const { id, interval } = segment;
    const time = timesAsLong ? String(interval.start) : `"${formatInstant(interval.start)}"`;
    yield `${separator}{"timestamp":${time},"result":{"results":`;
    yield* results(segment);
    yield `,"segment":${JSON.stringify(id)},"interval":"${formatInterval(interval)}"}}`;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

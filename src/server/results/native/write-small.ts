// Writes results of timeBoundary, dataSourceMetadata and search queries.

import type { EpochMs } from '../../../base/instant.js';
import { stringifyJson } from '../../../base/json.js';
import { formatInstant } from '../../../base/time.js';
import { STRING_ORDERINGS } from '../../../expression/ordering.js';
import { cellAt, type Frame } from '../../../model/frame.js';
import type { SearchQuery, TimeBoundaryQuery } from '../../../model/query.js';
import { bucketColumn } from '../../../planner/inner-names.js';
import { instantReader } from './cells.js';
import { firstInstant, timeWriter, type WriteOptions } from './write-rows.js';

/** The first and last instant of a timeBoundary plan's result; null when no row matched. */
async function readTimeBounds(frames: AsyncIterable<Frame>): Promise<{ readonly minTime: EpochMs; readonly maxTime: EpochMs } | null> {
  for await (const frame of frames) {
    if (frame.rowCount > 0) return { minTime: instantReader(frame, 'minTime')(0), maxTime: instantReader(frame, 'maxTime')(0) };
  }
  return null;
}

const printTime = (ms: EpochMs, { timesAsLong }: WriteOptions): string | number => (timesAsLong ? ms : formatInstant(ms));

/** `[{"timestamp": ..., "result": {"minTime": ..., "maxTime": ...}}]`, or the one bound that was asked for. */
export async function* writeTimeBoundary(
  query: TimeBoundaryQuery,
  frames: AsyncIterable<Frame>,
  options: WriteOptions,
): AsyncIterable<string> {
  const bounds = await readTimeBounds(frames);
  if (bounds === null) return yield '[]';
  const minTime = printTime(bounds.minTime, options);
  const maxTime = printTime(bounds.maxTime, options);
  const result = query.bound === null ? { minTime, maxTime } : query.bound === 'minTime' ? { minTime } : { maxTime };
  yield stringifyJson([{ timestamp: query.bound === 'maxTime' ? maxTime : minTime, result }]);
}

/** `[{"timestamp": ..., "result": {"maxIngestedEventTime": ...}}]`. */
export async function* writeDataSourceMetadata(frames: AsyncIterable<Frame>, options: WriteOptions): AsyncIterable<string> {
  const bounds = await readTimeBounds(frames);
  if (bounds === null) return yield '[]';
  const maxIngestedEventTime = printTime(bounds.maxTime, options);
  yield stringifyJson([{ timestamp: maxIngestedEventTime, result: { maxIngestedEventTime } }]);
}

interface SearchHit {
  readonly dimension: string;
  readonly value: string | null;
  readonly count: number;
}

/**
 * `[{"timestamp": ..., "result": [{"dimension": ..., "value": ..., "count": ...}]}]`: per bucket the hits of all
 * dimensions, ordered by value and then dimension, no more than the limit in all.
 * @param results  of the search's plans, each with the name of its dimension
 */
export async function* writeSearch(
  query: SearchQuery,
  results: Iterable<{ readonly dimension: string; readonly frames: AsyncIterable<Frame> }>,
  options: WriteOptions,
): AsyncIterable<string> {
  const hits = new Map<EpochMs, SearchHit[]>();
  for (const { dimension, frames } of results) {
    for await (const frame of frames) collectHits(query, dimension, frame, hits);
  }
  const compare = STRING_ORDERINGS[query.ordering];
  let left = query.limit;
  const time = timeWriter(options, query);
  const entries: string[] = [];
  for (const [bucket, found] of [...hits].sort(([a], [b]) => a - b)) {
    found.sort((a, b) => nullsFirst(a.value, b.value, compare) || STRING_ORDERINGS.lexicographic(a.dimension, b.dimension));
    const kept = found.slice(0, left);
    left -= kept.length;
    if (kept.length > 0) entries.push(`{"timestamp":${time(bucket)},"result":${stringifyJson(kept)}}`);
  }
  yield `[${entries.join(',')}]`;
}

function nullsFirst(a: string | null, b: string | null, compare: (a: string, b: string) => number): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return compare(a, b);
}

function collectHits(query: SearchQuery, name: string, frame: Frame, hits: Map<EpochMs, SearchHit[]>): void {
  const start = firstInstant(query.intervals);
  const bucket = query.granularity.kind === 'all' ? () => start : instantReader(frame, bucketColumn(name));
  const values = frame.columns.find((column) => column.name === name);
  const counts = frame.columns.at(-1);
  if (values === undefined || counts === undefined) return;
  for (let row = 0; row < frame.rowCount; row++) {
    const value = cellAt(values, row);
    const time = bucket(row);
    const list = hits.get(time) ?? [];
    hits.set(time, list);
    list.push({ dimension: name, value: value === null ? null : String(value), count: Number(cellAt(counts, row)) });
  }
}

// Writes results of timeseries, groupBy, topN and scan queries.

import { findZone, UTC } from '../../../base/calendar.js';
import type { EpochMs, Interval } from '../../../base/instant.js';
import { stringifyJson } from '../../../base/json.js';
import { formatInstantIn } from '../../../base/time.js';
import { compileExpression } from '../../../expression/evaluate.js';
import { plainData, type Value } from '../../../expression/value.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { type Frame, frameColumnType } from '../../../model/frame.js';
import type { Granularity } from '../../../model/granularity.js';
import type { GroupByQuery, ScanQuery, TimeseriesQuery, TopNQuery } from '../../../model/query.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import { bucketColumn } from '../../../planner/inner-names.js';
import { arrayWriter, type CellWriter, instantReader, objectWriter } from './cells.js';
import { TextPieces } from './text-stream.js';

export interface WriteOptions {
  /** Instants as milliseconds rather than ISO text. */
  readonly timesAsLong: boolean;
  /** Rows of a groupBy query as arrays. */
  readonly asArray?: boolean;
}

type Frames = AsyncIterable<Frame>;

/** Prints the start of a bucket as a JSON value, in the time zone of the buckets. */
export function timeWriter({ timesAsLong }: WriteOptions, { granularity }: { readonly granularity: Granularity }): (ms: number) => string {
  if (timesAsLong) return String;
  const zone = (granularity.kind === 'period' ? findZone(granularity.timeZone) : undefined) ?? UTC;
  return (ms) => `"${formatInstantIn(ms, zone)}"`;
}

/** The time of a row's bucket; without buckets, of granularity all, the start of the query's first interval. */
function bucketReader(
  query: TimeseriesQuery | TopNQuery | GroupByQuery,
  frame: Frame,
  column: string = TIME_COLUMN,
): (row: number) => number {
  if (query.granularity.kind !== 'all') return instantReader(frame, column);
  const start = firstInstant(query.intervals);
  return () => start;
}

export function firstInstant(intervals: readonly Interval[]): EpochMs {
  return intervals.reduce((first, { start }) => Math.min(first, start), Infinity);
}

/** An array with one entry per row, and those that are known at the end. */
async function* writeArray(
  frames: Frames,
  entryWriter: (frame: Frame) => CellWriter,
  lastEntries: () => readonly string[] = () => [],
): AsyncIterable<string> {
  const pieces = new TextPieces();
  let separator = '[';
  for await (const frame of frames) {
    const entry = entryWriter(frame);
    for (let row = 0; row < frame.rowCount; row++) {
      pieces.add(separator + entry(row));
      separator = ',';
      if (pieces.isFull) yield await pieces.take();
    }
  }
  for (const entry of lastEntries()) {
    pieces.add(separator + entry);
    separator = ',';
  }
  pieces.add(separator === '[' ? '[]' : ']');
  yield pieces.rest();
}

function outputNames(query: TimeseriesQuery | TopNQuery | GroupByQuery): string[] {
  const groupings = query.queryType === 'groupBy' ? query.groupings : [];
  return [...query.aggregators, ...groupings, ...query.postAggregators].map(({ name }) => name);
}

/**
 * `[{"timestamp": ..., "result": {...}}]`.
 * @param totals  the one row of the grand total, which goes last, without a time; null when none was asked for
 */
export function writeTimeseries(
  query: TimeseriesQuery,
  frames: Frames,
  totals: Frames | null,
  options: WriteOptions,
): AsyncIterable<string> {
  const time = timeWriter(options, query);
  const names = outputNames(query);
  const totalFrames = new Set<Frame>();
  let hasTotals = false;
  return writeArray(
    totals === null ? frames : followedBy(frames, totals, totalFrames),
    (frame) => {
      const result = objectWriter(frame, names);
      if (totalFrames.has(frame)) {
        hasTotals ||= frame.rowCount > 0;
        return (row) => `{"timestamp":null,"result":${result(row)}}`;
      }
      const bucket = bucketReader(query, frame);
      return (row) => `{"timestamp":${time(bucket(row))},"result":${result(row)}}`;
    },
    () => (totals === null || hasTotals ? [] : [totalsOfNothing(query)]),
  );
}

/** The totals of no buckets: numbers of distinct values are 0, all else null; and what the post-aggregators make of that. */
function totalsOfNothing({ aggregators, postAggregators }: TimeseriesQuery): string {
  const counts = (one: Aggregator): boolean =>
    one.kind === 'distinct' || (one.kind === 'state' && (one.aggregateState.type === 'hll' || one.aggregateState.type === 'cardinality'));
  const values = new Map<string, Value>(aggregators.map((one) => [one.name, counts(one) ? 0n : null]));
  for (const { name, expression } of postAggregators)
    values.set(
      name,
      compileExpression(expression, () => undefined)((column) => values.get(column) ?? null),
    );
  return `{"timestamp":null,"result":${stringifyJson(Object.fromEntries([...values].map(([name, value]) => [name, plainData(value)])))}}`;
}

async function* followedBy(frames: Frames, totals: Frames, totalFrames: Set<Frame>): Frames {
  yield* frames;
  for await (const frame of totals) {
    totalFrames.add(frame);
    yield frame;
  }
}

/** `[{"version": "v1", "timestamp": ..., "event": {...}}]`. */
export function writeGroupBy(query: GroupByQuery, frames: Frames, options: WriteOptions): AsyncIterable<string> {
  const time = timeWriter(options, query);
  const names = [...query.dimensions.map(({ name }) => name), ...outputNames(query)];
  return writeArray(frames, (frame) => {
    if (options.asArray === true) return positionalWriter(query, frame, names);
    const bucket = bucketReader(query, frame);
    const event = objectWriter(frame, names);
    return (row) => `{"version":"v1","timestamp":${time(bucket(row))},"event":${event(row)}}`;
  });
}

/** A row as an array, which begins with the start of its bucket in milliseconds if there are buckets. */
function positionalWriter(query: GroupByQuery, frame: Frame, names: readonly string[]): CellWriter {
  const cells = arrayWriter(frame, names);
  if (query.granularity.kind === 'all') return cells;
  const bucket = bucketReader(query, frame);
  return (row) => `[${bucket(row)}${names.length === 0 ? '' : ','}${cells(row).slice(1)}`;
}

/** `[{"timestamp": ..., "result": [{...}, ...]}]`, one entry per bucket; rows of a bucket come together. */
export async function* writeTopN(query: TopNQuery, frames: Frames, options: WriteOptions): AsyncIterable<string> {
  const time = timeWriter(options, query);
  const names = [query.dimension.name, ...outputNames(query)];
  const pieces = new TextPieces();
  let current: number | null = null;
  for await (const frame of frames) {
    const bucket = bucketReader(query, frame, bucketColumn(query.dimension.name));
    const result = objectWriter(frame, names);
    for (let row = 0; row < frame.rowCount; row++) {
      const start = bucket(row);
      if (start === current) pieces.add(',');
      else pieces.add(`${current === null ? '[' : ']},'}{"timestamp":${time(start)},"result":[`);
      current = start;
      pieces.add(result(row));
      if (pieces.isFull) yield await pieces.take();
    }
  }
  pieces.add(current === null ? '[]' : ']}]');
  yield pieces.rest();
}

/**
 * `[{"segmentId": ..., "columns": [...], "events": [...], "rowSignature": [{"name": ..., "type": ...}, ...]}]`: entries of at
 * most `batchSize` rows, as objects or, for compactedList, as arrays. Rows of a frame that names no segment may be of several.
 * @param columns  the columns of the plan, in order
 * @param isKnown  whether there is a column of the name; the type of others is left out
 */
export async function* writeScan(
  query: ScanQuery,
  columns: readonly string[],
  frames: Frames,
  isKnown: (name: string) => boolean,
): AsyncIterable<string> {
  const pieces = new TextPieces();
  let entry: { readonly segmentId: string | null; readonly end: string } | undefined;
  let rowsOfEntry = 0;
  for await (const frame of frames) {
    const event = query.resultFormat === 'list' ? objectWriter(frame, columns) : arrayWriter(frame, columns);
    const segmentId = frame.segmentId ?? null;
    for (let row = 0; row < frame.rowCount; row++) {
      if (entry === undefined || rowsOfEntry === query.batchSize || entry.segmentId !== segmentId) {
        const head = `{"segmentId":${JSON.stringify(segmentId)},"columns":${JSON.stringify(columns)},"events":[`;
        pieces.add(`${entry === undefined ? '[' : `${entry.end},`}${head}`);
        entry = { segmentId, end: `],"rowSignature":${JSON.stringify(rowSignature(columns, frame, isKnown))}}` };
        rowsOfEntry = 0;
      }
      pieces.add((rowsOfEntry++ === 0 ? '' : ',') + event(row));
      if (pieces.isFull) yield await pieces.take();
    }
  }
  pieces.add(entry === undefined ? '[]' : `${entry.end}]`);
  yield pieces.rest();
}

function rowSignature(columns: readonly string[], frame: Frame, isKnown: (name: string) => boolean): readonly object[] {
  const types = new Map(frame.columns.map((column) => [column.name, frameColumnType(column)]));
  return columns.map((name) => (isKnown(name) ? { name, type: types.get(name) } : { name }));
}

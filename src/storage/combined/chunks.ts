// Divides the segments of a query into those that are read one by one and runs of small ones that are read as one.

import type { Interval } from '../../base/instant.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { OpenSegment } from '../open-segment.js';
import type { ReadSegment } from '../read-segment.js';
import type { StoreSegment } from '../store-segment.js';
import { CombinedSegment } from './combined-segment.js';

/** A run of fewer segments is not worth combining. */
const SEGMENTS_MIN = 16;
/** Rows of a run: where they are as many, what each segment costs no longer counts. */
const ROWS_MAX = 1 << 17;
/** One small segment in so many ends a run, so that a segment that comes or goes changes one run and not those behind it. */
const END_IN = 256;
/** One in so many ends runs that are read together. */
const TOGETHER_END_IN = 4096;
/** Rows that are read together: where a segment has more than a quarter of them, what it costs hardly counts. */
const TOGETHER_ROWS = 1 << 19;

/** Segments with time ranges behind each other, whose rows are therefore in order of time one after the other. */
type Chunk = readonly StoreSegment[];

/**
 * The segments in the order given, as chunks: those of one are read by themselves. Gives the event loop its turns.
 * @returns undefined when no chunk has several
 */
export async function chunksOf(segments: readonly StoreSegment[]): Promise<readonly Chunk[] | undefined> {
  if (segments.length < SEGMENTS_MIN) return undefined;
  const turns = new LoopTurns();
  const chunks: StoreSegment[][] = [];
  let current: StoreSegment[] = [];
  let rows = 0;
  const end = (): void => {
    if (current.length >= SEGMENTS_MIN) chunks.push(current);
    else for (const segment of current) chunks.push([segment]);
    current = [];
    rows = 0;
  };
  for (const segment of segments) {
    const last = current.at(-1);
    if (last !== undefined && !continues(last, segment)) end();
    current.push(segment);
    rows += segment.rowCount;
    if (rows > ROWS_MAX || !segment.isSmall || endsIn(END_IN, segment)) end();
    if (turns.isDue) await turns.give();
  }
  end();
  return chunks.some(({ length }) => length > 1) ? chunks : undefined;
}

function continues(before: StoreSegment, segment: StoreSegment): boolean {
  return segment.isSmall && isBehind(before, segment);
}

function isBehind(before: ReadSegment, segment: ReadSegment): boolean {
  return segment.dataSource === before.dataSource && segment.interval.start >= before.interval.end;
}

/** Depends on the segment, not on its place among others. */
function endsIn(count: number, { interval: { start } }: StoreSegment): boolean {
  return Math.imul(Math.floor(start / 60_000) | 0, 0x9e3779b1) >>> 0 < 2 ** 32 / count;
}

/**
 * Runs and segments as they follow each other in what a query reads, in lists of those that may be read as one: runs, and segments with files
 * of which several fit. Gives the event loop its turns.
 */
export async function readsTogether(reads: readonly ReadSegment[]): Promise<readonly (readonly ReadSegment[])[]> {
  const turns = new LoopTurns();
  const lists: ReadSegment[][] = [];
  let current: ReadSegment[] = [];
  let rows = 0;
  for (const read of reads) {
    const before = current.at(-1);
    const follows = before !== undefined && isJoinable(before) && isJoinable(read) && isBehind(before, read);
    if (!follows || rows + read.rowCount > TOGETHER_ROWS) {
      current = [];
      rows = 0;
      lists.push(current);
    }
    current.push(read);
    rows += read.rowCount;
    if (endsTogether(read)) rows = TOGETHER_ROWS;
    if (turns.isDue) await turns.give();
  }
  return lists;
}

/** Whether several like it fit into what is read together. */
function isJoinable(read: ReadSegment): boolean {
  return read instanceof CombinedSegment || (read instanceof OpenSegment && read.rowCount <= TOGETHER_ROWS / 4);
}

/** Depends on what it is alone, so that queries over other stretches of time, and after segments came or went, read the same ones together. */
function endsTogether(read: ReadSegment): boolean {
  if (read instanceof CombinedSegment) return read.segments.slice(-1).some((last) => endsIn(TOGETHER_END_IN, last));
  const together = 2 ** Math.floor(Math.log2(TOGETHER_ROWS / Math.max(1, read.rowCount)));
  return (placeOf(read.interval) + 1) % together === 0;
}

const DAY_MS = 86_400_000;

/** Place of an interval in a row of intervals that are as long: months by the calendar, all others by their length. */
function placeOf({ start, end }: Interval): number {
  const lengthMs = end - start;
  if (lengthMs < 28 * DAY_MS || lengthMs > 31 * DAY_MS) return Math.floor(start / lengthMs);
  const date = new Date(start);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

// Merges the scanned rows of several servers.

import type { Frame, FrameColumn } from '../../model/frame.js';
import type { ScanPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { ascending } from '../block/checked-loops.js';
import { concatFrames } from '../block/concat-frames.js';
import { framesOf, pickRows, tableOf } from '../block/result-table.js';
import { partialColumns } from './operator.js';

/** Joins the streamed rows of several servers; reads each only as far as the order and the limit need. */
export async function* mergeScans(plan: ScanPlan, partials: readonly AsyncIterable<Frame>[], keepsTime: boolean): AsyncGenerator<Frame> {
  const merged = plan.timeOrder === null ? afterEachOther(partials) : byTime(plan, partials);
  const dropsTime = !keepsTime && partialColumns(plan).length > plan.columns.length;
  let toSkip = plan.offset;
  let toTake = plan.limit ?? Infinity;
  if (toTake === 0) return;
  for await (const frame of merged) {
    const skipped = Math.min(toSkip, frame.rowCount);
    toSkip -= skipped;
    const taken = Math.min(toTake, frame.rowCount - skipped);
    toTake -= taken;
    if (taken > 0) {
      const kept = taken === frame.rowCount ? frame : sliceFrame(frame, skipped, skipped + taken);
      yield dropsTime ? { ...kept, columns: kept.columns.slice(0, -1) } : kept;
    }
    if (toTake <= 0) return;
  }
}

async function* afterEachOther(partials: readonly AsyncIterable<Frame>[]): AsyncGenerator<Frame> {
  for (const partial of partials) yield* partial;
}

interface Reader {
  readonly index: number;
  readonly frames: AsyncIterator<Frame>;
  frame: Frame;
  times: BigInt64Array;
  at: number;
}

/** Equal instants come in the order of the servers. */
async function* byTime(plan: ScanPlan, partials: readonly AsyncIterable<Frame>[]): AsyncGenerator<Frame> {
  const timeIndex = partialColumns(plan).indexOf(TIME_COLUMN);
  const sign = plan.timeOrder === 'descending' ? -1 : 1;
  const readers: Reader[] = partials.map((partial, index) => ({
    index,
    frames: partial[Symbol.asyncIterator](),
    frame: { rowCount: 0, columns: [] },
    times: new BigInt64Array(0),
    at: 0,
  }));
  const advance = async (reader: Reader): Promise<boolean> => {
    for (;;) {
      const { value, done } = await reader.frames.next();
      if (done === true) return false;
      if (value.rowCount === 0) continue;
      const time = value.columns[timeIndex];
      reader.frame = value;
      reader.times = time?.kind === 'long' ? time.values : new BigInt64Array(value.rowCount);
      reader.at = 0;
      return true;
    }
  };
  try {
    let active: Reader[] = [];
    for (const reader of readers) if (await advance(reader)) active.push(reader);
    while (active.length > 0) {
      const pieces: Frame[] = [];
      // Rows are taken until some server has to be asked for more.
      for (let current = firstOf(active, sign); ; current = firstOf(active, sign)) {
        const rivals = active.filter((reader) => reader !== current);
        let end = current.at + 1;
        while (end < current.frame.rowCount && rivals.every((rival) => precedes(current, end, rival, sign))) end++;
        pieces.push(sliceFrame(current.frame, current.at, end));
        current.at = end;
        if (end < current.frame.rowCount) continue;
        if (!(await advance(current))) active = rivals;
        break;
      }
      yield concatFrames(pieces);
    }
  } finally {
    for (const reader of readers) await reader.frames.return?.();
  }
}

function firstOf(active: readonly Reader[], sign: number): Reader {
  return active.reduce((best, reader) => (precedes(reader, reader.at, best, sign) ? reader : best));
}

function precedes(reader: Reader, at: number, rival: Reader, sign: number): boolean {
  const left = reader.times[at] ?? 0n;
  const right = rival.times[rival.at] ?? 0n;
  if (left === right) return reader.index < rival.index;
  return sign > 0 ? left < right : left > right;
}

/** No check within a frame: the reader checks between frames whether the query still runs. */
const unchecked = (): void => undefined;

function sliceFrame(frame: Frame, start: number, end: number): Frame {
  const picked = pickRows(tableOf(frame), ascending(end - start, unchecked, start), unchecked);
  const [slice] = framesOf(picked, unchecked, end - start);
  const columns: readonly FrameColumn[] = slice?.columns ?? [];
  return { ...frame, rowCount: end - start, columns };
}

// Merges the scanned rows of several servers.

import { LoopTurns } from '../../base/loop-turns.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import type { ScanPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { ascending } from '../block/checked-loops.js';
import { concatFrames } from '../block/concat-frames.js';
import { framesOf, pickRows, tableOf } from '../block/result-table.js';
import { partialColumns } from './operator.js';

/** Rows of a scan; no time of them is before `firstTime` in the order of time, where that is told. */
export interface PartialRows extends AsyncIterable<Frame> {
  readonly firstTime?: number;
}

/** Joins the streamed rows of several servers; reads each only as far as the order and the limit need. */
export async function* mergeScans(plan: ScanPlan, partials: readonly PartialRows[], keepsTime: boolean): AsyncGenerator<Frame> {
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
  /** One that is not begun stands where its first row may be. */
  isBegun: boolean;
  frame: Frame;
  times: BigInt64Array;
  at: number;
}

/** Equal instants come in the order of the servers. One that tells its first time is begun when that is reached. */
async function* byTime(plan: ScanPlan, partials: readonly PartialRows[]): AsyncGenerator<Frame> {
  const timeIndex = partialColumns(plan).indexOf(TIME_COLUMN);
  const sign = plan.timeOrder === 'descending' ? -1 : 1;
  const readers: Reader[] = partials.map((partial, index) => ({
    index,
    frames: partial[Symbol.asyncIterator](),
    isBegun: partial.firstTime === undefined,
    frame: { rowCount: 0, columns: [] },
    times: BigInt64Array.of(BigInt(partial.firstTime ?? 0)),
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
    for (const reader of readers) if (!reader.isBegun || (await advance(reader))) active.push(reader);
    const turns = new LoopTurns();
    while (active.length > 0) {
      const starts = active.map(({ at }) => at);
      const taken: number[] = [];
      // Rows are taken until some server has to be asked for more.
      let last: Reader;
      do {
        last = firstOf(active, sign);
        if (!last.isBegun) break;
        const number = active.indexOf(last);
        const rivals = active.filter((reader) => reader !== last);
        do {
          taken.push(number);
          last.at++;
        } while (last.at < last.frame.rowCount && rivals.every((rival) => precedes(last, rival, sign)));
      } while (last.at < last.frame.rowCount);
      if (taken.length > 0) yield interleaved(active, starts, taken);
      last.isBegun = true;
      if (!(await advance(last))) active = active.filter((reader) => reader !== last);
      if (turns.isDue) await turns.give();
    }
  } finally {
    for (const reader of readers) await reader.frames.return?.();
  }
}

function firstOf(active: readonly Reader[], sign: number): Reader {
  return active.reduce((best, reader) => (precedes(reader, best, sign) ? reader : best));
}

function precedes(reader: Reader, rival: Reader, sign: number): boolean {
  const left = reader.times[reader.at] ?? 0n;
  const right = rival.times[rival.at] ?? 0n;
  if (left === right) return reader.index < rival.index;
  return sign > 0 ? left < right : left > right;
}

/**
 * Rows that were taken from several frames, whose columns are copied once each.
 * @param starts  first row taken of each reader
 * @param taken   number of the reader of each row
 */
function interleaved(readers: readonly Reader[], starts: readonly number[], taken: readonly number[]): Frame {
  let before = 0;
  const places: number[] = [];
  const pieces = readers.flatMap(({ frame, at }, number): readonly Frame[] => {
    const start = starts[number] ?? 0;
    places.push(before);
    before += at - start;
    return at === start ? [] : [sliceFrame(frame, start, at)];
  });
  const [only, second] = pieces;
  if (only !== undefined && second === undefined) return only;
  const order = Uint32Array.from(taken, (number) => {
    const place = places[number] ?? 0;
    places[number] = place + 1;
    return place;
  });
  return picked(concatFrames(pieces), order);
}

/** No check within a frame: the reader checks between frames whether the query still runs. */
const unchecked = (): void => undefined;

function sliceFrame(frame: Frame, start: number, end: number): Frame {
  return start === 0 && end === frame.rowCount ? frame : picked(frame, ascending(end - start, unchecked, start));
}

function picked(frame: Frame, rows: Uint32Array): Frame {
  const [found] = framesOf(pickRows(tableOf(frame), rows, unchecked), unchecked, rows.length);
  const columns: readonly FrameColumn[] = found?.columns ?? [];
  return { ...frame, rowCount: rows.length, columns };
}

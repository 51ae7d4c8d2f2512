// Pins the columns of a plan, runs it, and releases them.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { isMemoryFull } from '../../kernels/memory.js';
import type { Frame } from '../../model/frame.js';
import type { RowPlan, ScanPlan } from '../../model/plan.js';
import { addStage } from '../../model/profile.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentPin, SegmentStore } from '../../storage/contract.js';
import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import { columnsOfPlan, readsNoTime } from '../expression/columns-of-plan.js';
import { withLookedUp } from '../expression/looked-up.js';
import { findByIndex } from '../filter/find-by-index.js';
import type { PartialRows } from '../scan/merge-scans.js';
import type { Engine, RunOptions } from './engine.js';
import { collect } from './merged.js';
import { partsByTime, type TimePart } from './parts-by-time.js';

interface PinnedRun extends Pick<Engine, 'merge'> {
  /** See `CELLS_AT_ONCE`. */
  readonly cellsAtOnce: number;
  /** Has something let go when a result that was left in memory is released. */
  hold(id: string, letGo: () => void): void;
  /** Runs a plan over columns that are pinned. */
  runOver(
    plan: RowPlan,
    views: readonly SegmentView[],
    dictionaries: Readonly<Record<string, GlobalDictionaryView>>,
    options: RunOptions,
    signal: CancelSignal,
  ): AsyncIterable<Frame>;
}

/** A plan, and the segments it is run over. */
interface PinnedPlan {
  readonly plan: RowPlan;
  readonly store: SegmentStore;
  readonly segmentIds: readonly string[];
  readonly options: RunOptions;
  readonly signal: CancelSignal;
}

/** Pins the columns that a plan reads, runs it over them, and lets them go: in halves where not all fit into memory together. */
export async function* runPinned(engine: PinnedRun, pinned: PinnedPlan): AsyncGenerator<Frame> {
  const { plan, store, segmentIds, options, signal } = pinned;
  const turns = new LoopTurns();
  const read = columnsOfPlan(plan);
  const { columns } = read;
  const wanted = withLookedUp(plan);
  const looksUp = wanted.lookedUp.length > 0;
  const timeCutBy = readsNoTime(plan) ? plan.intervals : undefined;
  const parts = partsByTime(plan, store, segmentIds, { columns: columns.length, cellsAtOnce: engine.cellsAtOnce });
  if (parts.length > 1) {
    yield* runParts(engine, pinned, parts);
    return;
  }
  const { profile } = options;
  const startMs = performance.now();
  const found = await findByIndex(plan, store, segmentIds);
  const { leftOut } = found;
  if (turns.isDue) await turns.give();
  let pin: SegmentPin;
  try {
    pin = await store.pin({
      segmentIds: found.segmentIds,
      columns: timeCutBy === undefined ? columns : columns.filter((name) => name !== TIME_COLUMN),
      globalDictionaries: (looksUp ? columnsOfPlan(wanted.plan) : read).comparable,
      lookedUp: wanted.lookedUp,
      ...(timeCutBy === undefined ? {} : { timeCutBy }),
      ...(leftOut === undefined ? {} : { leftOut }),
      isSeparate: plan.operator === 'scan' && plan.namesSegments === true,
    });
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'resource_limit' && canBeHalved(plan, segmentIds))) throw error;
    yield* runHalves(engine, pinned);
    return;
  }
  if (turns.isDue) await turns.give();
  addStage(profile, 'lease', performance.now() - startMs);
  if (profile !== undefined) {
    profile.bytesRead += pin.bytesRead;
    profile.segments += segmentIds.length - found.segmentIds.length;
    profile.segmentsPrunedByValue += found.prunedByValue;
    profile.segmentsPrunedByBitmap += found.prunedByBitmap;
    profile.rowsByIndex += found.rows;
  }
  const { plan: run } = looksUp ? withLookedUp(plan, pin.lookedUp) : wanted;
  const rows = engine.runOver(run, found.select(pin.segments), pin.dictionaries, options, signal);
  let [isHeld, isBegun] = [false, false];
  try {
    for await (const frame of rows) {
      // A result that stays in memory has dictionaries of the segments.
      if (frame.uploaded !== undefined) engine.hold(frame.uploaded.id, () => pin.release());
      isHeld ||= frame.uploaded !== undefined;
      isBegun = true;
      yield frame;
    }
    return;
  } catch (error) {
    if (isBegun || !isMemoryFull(error) || !canBeHalved(plan, segmentIds)) throw error;
  } finally {
    if (!isHeld) pin.release();
  }
  // All columns fit, but not what is made of them.
  yield* runHalves(engine, pinned);
}

/** Runs a scan in time order over parts that follow each other in time: each when its first row may be the next one. */
async function* runParts(engine: PinnedRun, pinned: PinnedPlan, parts: readonly TimePart[]): AsyncGenerator<Frame> {
  const { plan, options, signal } = pinned;
  if (plan.operator !== 'scan') return;
  const { upload: _, ...rows } = plan;
  const isAscending = plan.timeOrder === 'ascending';
  // Rows of one instant come in the order of the segments, or the other way round.
  const partials = (isAscending ? parts : parts.toReversed()).map(({ segmentIds, timeMin, timeMax }): PartialRows => {
    const frames = runPinned(engine, { ...pinned, plan: rows, segmentIds, options: { ...options, ending: 'partial' } });
    return { firstTime: isAscending ? timeMin : timeMax, [Symbol.asyncIterator]: () => frames };
  });
  yield* engine.merge(options.ending === 'final' ? rows : partOf(rows), partials, options, signal);
}

/** A part still needs the rows before the offset: they are counted once all parts have met. */
function partOf(plan: ScanPlan): ScanPlan {
  const { offset, limit } = plan;
  return { ...plan, offset: 0, limit: limit === null ? null : offset + limit };
}

/** Runs over segments whose columns do not fit into memory together: one half after the other. */
async function* runHalves(engine: PinnedRun, pinned: PinnedPlan): AsyncGenerator<Frame> {
  const { segmentIds, options, signal } = pinned;
  // Halves meet as frames, which is an answer to a plan that asks for an upload too.
  const { upload: _, ...plan } = pinned.plan;
  const middle = Math.ceil(segmentIds.length / 2);
  const halves = [segmentIds.slice(0, middle), segmentIds.slice(middle)];
  const run = (half: readonly string[]): AsyncIterable<Frame> =>
    runPinned(engine, { ...pinned, plan, segmentIds: half, options: { ...options, ending: 'partial' } });
  if (plan.operator === 'scan') {
    const merged = options.ending === 'final' ? plan : partOf(plan);
    // The second begins when the first was read to its end, and is not begun when that is enough.
    const results = halves.map(run);
    yield* engine.merge(merged, plan.timeOrder === null ? results : await inTurn(results), options, signal);
    return;
  }
  yield* engine.merge(plan, await inTurn(halves.map(run)), options, signal);
}

/** Results that are held as frames, one after the other, so that the columns of one alone are in memory at a time. */
async function inTurn(results: readonly AsyncIterable<Frame>[]): Promise<readonly AsyncIterable<Frame>[]> {
  const held: AsyncIterable<Frame>[] = [];
  for (const result of results) held.push(framesAgain(await collect(result)));
  return held;
}

/** Rows that are held as frames where an order of time has them merged. */
const ORDERED_ROWS_MAX = 10_000;

/** Rows in an order of time come from all segments side by side, unless they are few. */
function canBeHalved(plan: RowPlan, segmentIds: readonly string[]): boolean {
  if (segmentIds.length < 2) return false;
  return plan.operator !== 'scan' || plan.timeOrder === null || plan.offset + (plan.limit ?? Infinity) <= ORDERED_ROWS_MAX;
}

async function* framesAgain(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

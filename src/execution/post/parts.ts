// Post-processing of results that come in parts and do not fit in memory at once.

import { append, flatMapped } from '../../base/lists.js';
import type { Frame } from '../../model/frame.js';
import type { PostStep } from '../../model/plan.js';
import { concatFrames } from '../block/concat-frames.js';
import { emptyFrame, framesOf, type ResultTable, tableOf } from '../block/result-table.js';
import type { SpillSpace } from '../spill/spill-space.js';
import type { LeafResult } from './leaf-result.js';
import { SortedRuns } from './sorted-runs.js';
import { runSteps } from './steps.js';
import { isRowWise, StreamedSteps } from './stream.js';

/** Rows of a sort that are held in memory; with more than that sorted runs go to disk. */
const HELD_ROWS_MAX = 1 << 20;

type SortStep = Extract<PostStep, { step: 'sort' }>;

/**
 * Post-processing steps over a result that comes in parts, in no order, of which not all fit into memory at once. Sorts keep the
 * best rows of the parts so far, or merge sorted runs from disk; what only looks at one row at a time streams.
 * @param heldRowsMax  rows that a step which must see all of them may hold
 */
export function* postParts(
  parts: Iterable<ResultTable>,
  steps: readonly PostStep[],
  leaf: LeafResult,
  { spill, heldRowsMax }: { readonly spill: SpillSpace; readonly heldRowsMax: number },
): Generator<Frame> {
  const { whole, decisive, reducing } = reducingStep(steps);
  if (reducing !== undefined) {
    yield* endBest([bestOfParts(parts, steps, leaf)], steps, leaf);
    return;
  }
  const rowWise = whole < 0 ? steps : steps.slice(0, whole);
  const prepared = prepare(parts, rowWise, leaf);
  if (decisive?.step === 'sort') {
    const ending = [{ step: 'limit', offset: decisive.offset, limit: decisive.limit } as const, ...steps.slice(whole + 1)];
    yield* streamed(sortOnDisk(prepared, decisive, leaf, spill), new StreamedSteps(ending, leaf, { heldRowsMax, spill }));
  } else if (decisive !== undefined) {
    yield* streamed(atLeastOne(prepared, leaf), new StreamedSteps(steps.slice(whole), leaf, { heldRowsMax, spill }));
  } else {
    yield* streamed(frames(prepared, leaf), new StreamedSteps([], leaf, { heldRowsMax, spill }));
  }
}

function* prepare(parts: Iterable<ResultTable>, steps: readonly PostStep[], leaf: LeafResult): Generator<ResultTable> {
  for (const part of parts) yield runSteps(part, steps, leaf);
}

function* frames(parts: Iterable<ResultTable>, { check }: LeafResult): Generator<Frame> {
  for (const part of parts) yield* framesOf(part, check);
}

/** A result without rows gives a frame of its columns: buckets may be filled in. */
function* atLeastOne(parts: Iterable<ResultTable>, { check }: LeafResult): Generator<Frame> {
  let none: ResultTable | undefined;
  let hasRows = false;
  for (const part of parts) {
    none ??= part;
    hasRows ||= part.rowCount > 0;
    yield* framesOf(part, check);
  }
  if (!hasRows && none !== undefined) yield emptyFrame(none, check);
}

function* streamed(rows: Iterable<Frame>, steps: StreamedSteps): Generator<Frame> {
  try {
    for (const frame of rows) {
      yield* steps.push(frame);
      if (steps.isFull) break;
    }
    yield* steps.end();
  } finally {
    steps.close();
  }
}

/** The best rows of some parts of a result, and the names of the keys that break ties. */
export interface BestRows {
  readonly frames: readonly Frame[];
  readonly keys: readonly string[];
}

/** Whether the steps begin with one that keeps few rows, and may run over the parts first and over their results again. */
export function keepsBest(steps: readonly PostStep[]): boolean {
  return reducingStep(steps).reducing !== undefined;
}

function reducingStep(steps: readonly PostStep[]): {
  readonly whole: number;
  readonly decisive: PostStep | undefined;
  readonly reducing: PostStep | undefined;
} {
  const whole = steps.findIndex((step) => !isRowWise(step));
  const decisive = whole < 0 ? undefined : steps[whole];
  const wanted = decisive?.step === 'sort' ? decisive.offset + (decisive.limit ?? Infinity) : Infinity;
  if (decisive?.step === 'topPerBucket') return { whole, decisive, reducing: decisive };
  if (decisive?.step !== 'sort' || wanted > HELD_ROWS_MAX) return { whole, decisive, reducing: undefined };
  return { whole, decisive, reducing: { ...decisive, offset: 0, limit: wanted } };
}

/** Runs the steps as far as the one that keeps the best rows (`keepsBest`). */
export function bestOfParts(parts: Iterable<ResultTable>, steps: readonly PostStep[], leaf: LeafResult): BestRows {
  const { whole: at, reducing } = reducingStep(steps);
  const step = reducing === undefined ? [] : [reducing];
  let held: Frame[] = [];
  let keys: readonly string[] = [];
  let [rows, rowsReduced] = [0, 0];
  for (const part of prepare(parts, steps.slice(0, at), leaf)) {
    keys = part.keys;
    const best = [...framesOf(runSteps(part, step, leaf), leaf.check)];
    append(held, best);
    rows += best.reduce((sum, frame) => sum + frame.rowCount, 0);
    if (rows < 2 * rowsReduced + HELD_ROWS_MAX / 16) continue;
    held = [...framesOf(runSteps(tableOfBest({ frames: held, keys }, leaf), step, leaf), leaf.check)];
    rows = rowsReduced = held.reduce((sum, frame) => sum + frame.rowCount, 0);
  }
  return { frames: held, keys };
}

/** Ends the steps over the best rows of all parts. */
export function* endBest(parts: readonly BestRows[], steps: readonly PostStep[], leaf: LeafResult): Generator<Frame> {
  const { whole } = reducingStep(steps);
  const frames = flatMapped(parts, (part) => part.frames);
  const keys = parts.find((part) => part.frames.length > 0)?.keys ?? [];
  if (frames.length > 0) yield* framesOf(runSteps(tableOfBest({ frames, keys }, leaf), steps.slice(whole), leaf), leaf.check);
}

function tableOfBest({ frames, keys }: BestRows, { check }: LeafResult): ResultTable {
  return { ...tableOf(concatFrames(frames, check)), keys };
}

function* sortOnDisk(parts: Iterable<ResultTable>, sort: SortStep, leaf: LeafResult, spill: SpillSpace): Generator<Frame> {
  const runs = new SortedRuns(spill, leaf);
  try {
    for (const part of parts) runs.add(runSteps(part, [{ ...sort, offset: 0, limit: null }], leaf), sort.by);
    yield* runs.merged();
  } finally {
    runs.remove();
  }
}

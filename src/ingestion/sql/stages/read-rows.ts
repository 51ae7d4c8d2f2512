// Rows that a stage reads: of the input of a statement, or of the stage before.

import { ServiceError } from '../../../base/errors.js';
import type { Frame } from '../../../model/frame.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { FrameEngine } from '../../builder/frame-engine.js';
import { withArrivalTime } from '../../builder/rollup.js';
import { rangeOf } from '../../source/line-range.js';
import { type InputPart, isStored } from '../../source/source-kind.js';
import { type ExternalPlan, isRowWise, planOverArrivals } from '../external-plan.js';
import { externalFrames, inlineFrames } from '../external-rows.js';
import type { InputShare } from './contract.js';
import type { Reading } from './reading.js';
import { isJoinedHere, sourceRows } from './source-rows.js';

/** Rows of parts of groups that are merged before they go on. */
const MERGE_ROWS = 1 << 19;

/** The plan whose parts, made by the readers, are merged to the result; null: readers give rows of the result. */
export function mergedPlan({ source, plan }: PlannedQuery): ExternalPlan | null {
  if (source.kind === 'table') return plan.operator === 'group' ? plan : null;
  if (source.kind !== 'external' && source.kind !== 'inline') return null;
  const external = planOverArrivals(plan);
  return isRowWise(external) ? null : external;
}

/** The same where all is read at once: a broker gives whole groups of a table. */
export function mergedPlanOfAll(query: PlannedQuery): ExternalPlan | null {
  return query.source.kind === 'table' ? null : mergedPlan(query);
}

/** Keys by whose hash parts of a plan can be shuffled, each bucket to be merged by itself; 0: all parts are merged together. */
export function shuffledKeys(plan: ExternalPlan): number {
  if (plan.operator !== 'group') return 0;
  const isEachByItself = plan.post.every(({ step }) => step === 'compute' || step === 'filter' || step === 'project');
  return isEachByItself ? plan.keys.length : 0;
}

/** Rows of a share of the input: of the result, or parts of `mergedPlan`. */
export async function* shareRows(share: InputShare, reading: Reading): AsyncGenerator<Frame> {
  const { query, engine } = reading;
  const { source, plan } = query;
  if (isJoinedHere(source, reading)) {
    yield* sourceRows(plan, source, reading);
    return;
  }
  if (source.kind !== 'external' && source.kind !== 'inline') {
    if (share.kind === 'segments') reading.filesRead += share.segments.length;
    yield* tableRows(query, share, reading);
    return;
  }
  const frames =
    source.kind === 'inline'
      ? inlineFrames(source.frame)
      : arrivals(externalFrames(source, { ...reading, chosen: chosenBy(share, reading) }));
  const merged = mergedPlan(query);
  if (merged !== null) yield* partRows(merged, engine.get(), frames);
  else for await (const frame of frames) yield* engine.get().run(planOverArrivals(plan), [frame]);
}

/** External rows have no time of their own; a column called so is one of the signature. */
async function* arrivals(frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
  for await (const frame of frames) yield withArrivalTime(frame);
}

function chosenBy(share: InputShare, reading: Reading): (parts: readonly InputPart[]) => readonly InputPart[] {
  return (parts) => {
    const chosen =
      share.kind !== 'parts'
        ? parts
        : share.parts.map(({ at, name, range }) => {
            const part = parts[at];
            if (part?.name !== name || (range !== null && isStored(part)))
              throw new ServiceError('input_unreadable', `the input has changed since it was divided: it had ${name}`);
            return range === null || isStored(part) ? part : rangeOf(part, range);
          });
    // A file counts where its beginning is read.
    reading.filesRead += share.kind !== 'parts' ? parts.length : share.parts.filter(({ range }) => (range?.from ?? 0) === 0).length;
    return chosen;
  };
}

/** The result as a broker gives it, where nothing is left to compute, or parts of groups of some segments. */
async function* tableRows(
  { plan, source }: PlannedQuery,
  share: InputShare,
  { context, statistics, progress }: Reading,
): AsyncGenerator<Frame> {
  const query =
    share.kind === 'segments'
      ? { plan: { ...plan, segments: share.segments }, source, ...(plan.operator === 'group' ? { ending: 'partial' as const } : {}) }
      : { plan, source };
  for await (const frame of context.readTables(query)) {
    if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
    statistics.processed += frame.rowCount;
    progress.tick();
    yield frame;
  }
}

/** Parts of a plan over each of the frames, those of many frames joined. */
async function* partRows(plan: ExternalPlan, engine: FrameEngine, frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
  let parts: (readonly Frame[])[] = [];
  let waiting = 0;
  for await (const frame of frames) {
    const part = await engine.partial(plan, frame);
    parts.push(part);
    waiting += rowsOf(part);
    if (plan.operator !== 'group' || waiting < MERGE_ROWS) continue;
    const merged: Frame[] = [];
    for await (const whole of engine.merge(plan, parts, 'partial')) merged.push(whole);
    waiting = rowsOf(merged);
    // Joining what stays as much again and again would cost more than it saves.
    const isKept = waiting < MERGE_ROWS / 2;
    parts = isKept ? [merged] : [];
    if (isKept) continue;
    yield* merged;
    waiting = 0;
  }
  for (const part of parts) yield* part;
}

function rowsOf(frames: readonly Frame[]): number {
  return frames.reduce((rows, { rowCount }) => rows + rowCount, 0);
}

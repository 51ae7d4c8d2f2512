// Rows that a stage reads: of the input of a statement, or of the stage before.

import { ServiceError } from '../../../base/errors.js';
import { frameBytes } from '../../../execution/block/frame-bytes.js';
import type { Frame } from '../../../model/frame.js';
import type { GroupPlan } from '../../../model/plan.js';
import { withArrivalTime } from '../../../model/rewrite/arrival-time.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { FrameEngine } from '../../builder/frame-engine.js';
import type { TableQuery } from '../../contract.js';
import { rangeOf } from '../../source/line-range.js';
import { type InputPart, isStored } from '../../source/source-kind.js';
import { externalFrames, inlineFrames } from '../external-rows.js';
import type { InputShare, PartitionSlice, StageOutput } from './contract.js';
import { stageFrames } from './durable-output.js';
import { type PlanParts, planParts, planPartsOfAll } from './plan-parts.js';
import type { Reading } from './reading.js';
import { isJoinedHere, sourceRows } from './source-rows.js';

/** Rows of parts of groups that are merged before they go on. */
const MERGE_ROWS = 1 << 19;

/** Rows of a share of the input, or parts of groups. */
export async function* shareRows(share: InputShare, reading: Reading): AsyncGenerator<Frame> {
  const { query } = reading;
  const { source } = query;
  const { read, merge } = partsOf(share, query);
  if (share.kind === 'rows') {
    yield* framesThrough({ read, merge }, arrivals(stageRows(share.slices, share.inputs, reading)), reading);
    return;
  }
  if (isJoinedHere(source, reading)) {
    yield* sourceRows(read, source, reading);
    return;
  }
  if (source.kind !== 'external' && source.kind !== 'inline') {
    if (share.kind === 'segments') reading.counts.filesRead += share.segments.length;
    yield* tableRows({ plan: read, source, ...(merge === null ? {} : { ending: 'partial' as const }) }, share, reading);
    return;
  }
  const frames =
    source.kind === 'inline'
      ? inlineFrames(source.frame)
      : arrivals(externalFrames(source, { ...reading, chosen: chosenBy(share, reading) }));
  yield* framesThrough({ read, merge }, frames, reading);
}

/** Rows of a plan over frames, or parts of groups. */
async function* framesThrough(
  { read, merge }: Pick<PlanParts, 'read' | 'merge'>,
  frames: AsyncIterable<Frame>,
  { engine, context }: Reading,
): AsyncGenerator<Frame> {
  if (merge !== null) yield* partRows(merge, engine.get(), frames, context.maxBytesInMemory / 8);
  else for await (const frame of frames) yield* engine.get().run(read, [frame]);
}

/** Rows that the stage before has left, counted. */
export async function* stageRows(
  of: readonly PartitionSlice[],
  inputs: readonly StageOutput[],
  { context, counts, progress }: Reading,
): AsyncGenerator<Frame> {
  for await (const frame of stageFrames(inputs, of, context.storage)) {
    counts.rowsIn += frame.rowCount;
    progress.tick();
    if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
    yield frame;
  }
}

/** The parts of a plan, of which one reader of all makes fewer. */
export function partsOf(share: InputShare, query: PlannedQuery): PlanParts {
  return share.kind === 'all' ? planPartsOfAll(query) : planParts(query);
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
    reading.counts.filesRead += share.kind !== 'parts' ? parts.length : share.parts.filter(({ range }) => (range?.from ?? 0) === 0).length;
    return chosen;
  };
}

/** Rows as a broker gives them, or parts of groups of some segments. */
async function* tableRows(whole: TableQuery, share: InputShare, { context, statistics, progress }: Reading): AsyncGenerator<Frame> {
  const query = share.kind === 'segments' ? { ...whole, plan: { ...whole.plan, segments: share.segments } } : whole;
  for await (const frame of context.readTables(query)) {
    if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
    statistics.processed += frame.rowCount;
    progress.tick();
    yield frame;
  }
}

/**
 * Parts of a plan over each of the frames, those of many frames joined.
 * @param bytesMax  parts that take more are merged
 */
async function* partRows(plan: GroupPlan, engine: FrameEngine, frames: AsyncIterable<Frame>, bytesMax: number): AsyncGenerator<Frame> {
  let parts: (readonly Frame[])[] = [];
  let [waiting, bytes] = [0, 0];
  for await (const frame of frames) {
    const part = await engine.partial(plan, frame);
    parts.push(part);
    waiting += rowsOf(part);
    bytes += bytesOf(part);
    if (waiting < MERGE_ROWS && bytes < bytesMax) continue;
    const merged: Frame[] = [];
    for await (const whole of engine.merge(plan, parts, 'partial')) merged.push(whole);
    [waiting, bytes] = [rowsOf(merged), bytesOf(merged)];
    // Joining what stays as much again and again would cost more than it saves.
    const isKept = waiting < MERGE_ROWS / 2 && bytes < bytesMax / 2;
    parts = isKept ? [merged] : [];
    if (isKept) continue;
    yield* merged;
    [waiting, bytes] = [0, 0];
  }
  for (const part of parts) yield* part;
}

function bytesOf(frames: readonly Frame[]): number {
  return frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0);
}

function rowsOf(frames: readonly Frame[]): number {
  return frames.reduce((rows, { rowCount }) => rows + rowCount, 0);
}

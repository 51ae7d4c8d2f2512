// Merges partial results and runs the post-processing steps.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { Plan } from '../../model/plan.js';
import { addStage } from '../../model/profile.js';
import { framesOf } from '../block/result-table.js';
import { NO_EMPTY_VALUES } from '../post/leaf-result.js';
import { runSteps } from '../post/steps.js';
import { mergeScans, type PartialRows } from '../scan/merge-scans.js';
import { boundaryRows } from '../scan/time-boundary.js';
import { ROWS_AHEAD } from './build-store.js';
import type { RunOptions } from './engine.js';
import type { Executors } from './executors.js';
import type { StreamReader } from './read-streams.js';
import { peek } from './row-feed.js';
import { checkOf, endedBy, type RunControls } from './run-controls.js';
import { bucketsToFill, uploadCost } from './work-size.js';

interface MergeRun {
  readonly executors: Executors;
  readonly controls: RunControls;
  readonly reader: StreamReader;
}

/** Merges partial results into one, and runs the post-processing steps on it where that is the end. */
export async function* mergePartials(
  { executors, controls, reader }: MergeRun,
  merged: Plan,
  partials: readonly PartialRows[],
  options: RunOptions,
  signal: CancelSignal,
): AsyncGenerator<Frame> {
  // Partial results went through the stages.
  const plan: Plan = { ...merged, stages: [] };
  switch (plan.operator) {
    case 'segmentMetadata':
      throw new ServiceError('internal', 'segment metadata is merged by the broker, not by execution');
    case 'group': {
      const frames = (await Promise.all(partials.map(collect))).flat();
      yield* controls.during(options, signal, async function* (unsized) {
        const rows = frames.reduce((sum, frame) => sum + frame.rowCount, 0) + bucketsToFill(plan);
        const control = { ...unsized, rows };
        const open = () => executors.forRows(control).open('mergeGroups', { control, plan, ending: options.ending });
        yield* reader.readFed(open, framesOfAll(frames), options.profile);
      });
      return;
    }
    case 'scan': {
      const isFinal = options.ending === 'final';
      const rows = untilAborted(mergeScans(plan, partials, !isFinal), signal);
      if (!isFinal || plan.post.length === 0) {
        for await (const frame of rows) {
          addStage(options.profile, 'merge', 0, frame.rowCount, frame.rowCount);
          yield frame;
        }
        return;
      }
      yield* controls.during(options, signal, async function* (unsized) {
        const source = await peek(rows, ROWS_AHEAD);
        const control = { ...unsized, rows: uploadCost(source.rowCount) };
        yield* reader.readFed(() => executors.forRows(control).open('finishScan', { control, plan }), source.rows, options.profile);
      });
      return;
    }
    case 'timeBoundary': {
      let [min, max] = [Infinity, -Infinity];
      for (const frame of (await Promise.all(partials.map(collect))).flat()) {
        const [first, last] = frame.columns;
        if (frame.rowCount === 0 || first?.kind !== 'long' || last?.kind !== 'long') continue;
        min = Math.min(min, Number(first.values[0]));
        max = Math.max(max, Number(last.values[0]));
      }
      const rows = boundaryRows(min, max);
      const leaf = { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: checkOf(signal) };
      yield* framesOf(options.ending === 'final' ? runSteps(rows, plan.post, leaf) : rows, leaf.check);
    }
  }
}

async function* untilAborted(frames: AsyncIterable<Frame>, signal: CancelSignal): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    if (signal.aborted) throw endedBy(signal);
    yield frame;
  }
}

async function* framesOfAll(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

export async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const collected: Frame[] = [];
  for await (const frame of frames) collected.push(frame);
  return collected;
}

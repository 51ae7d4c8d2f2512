// Joins rows that several tasks have read of one part of a chunk.

import { type Frame, frameColumnType } from '../../model/frame.js';
import { withArrivalTime, withTime } from '../../model/rewrite/arrival-time.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import { plainFrame, type SegmentFrame } from '../../storage/columns/packed-column.js';
import { type InputBench, inputBench } from '../column/input-bench.js';
import { allRows } from '../column/run-column.js';
import type { Metric } from '../task-spec/metric.js';
import type { FrameEngine } from './frame-engine.js';
import { decodeLists, encodeLists, joinPlan } from './rollup.js';
import { type ColumnPlan, columnPlan, RunBuffer, timesOf } from './run-buffer.js';
import { runFrame } from './run-frame.js';

export interface JoinOptions {
  readonly dataSource: string;
  readonly dimensions: readonly ColumnPlan[];
  readonly metrics: readonly Metric[];
  readonly rollup: boolean;
  readonly engine: () => FrameEngine;
  /** Name of the kernel set. */
  readonly kernels: string;
}

export interface JoinedRows {
  readonly frame: SegmentFrame;
  readonly dimensions: readonly string[];
}

/** The rows of the frames, with rollup one of each time and dimensions. Frames may have found different columns. */
export async function joinRows(
  frames: readonly SegmentFrame[],
  { dataSource, dimensions, metrics, rollup, engine, kernels }: JoinOptions,
): Promise<JoinedRows> {
  const plans = dimensionsOf(frames, dimensions, new Set(metrics.map(({ name }) => name)));
  const names = plans.map(({ name }) => name);
  const columns = [...plans, ...metrics.map(({ name, type }) => columnPlan(name, type))];
  const bench = inputBench(kernels);
  const joined = framed(frames, columns, bench);
  if (!rollup || frames.length < 2) return { frame: joined, dimensions: names };
  const all = plainFrame(joined);
  const lists = new Set(all.columns.flatMap(({ kind, name }) => (kind === 'multi' && names.includes(name) ? [name] : [])));
  const plan = joinPlan(dataSource, names, metrics);
  const rolledUp: Frame[] = [];
  for await (const frame of engine().run(plan, [encodeLists(withArrivalTime(all), lists)]))
    rolledUp.push(decodeLists(withTime(frame), lists));
  return { frame: framed(rolledUp, columns, bench), dimensions: names };
}

/** The rows of all frames in one. */
function framed(frames: readonly SegmentFrame[], plans: readonly ColumnPlan[], bench: InputBench): SegmentFrame {
  const run = new RunBuffer(plans, bench);
  try {
    run.reserve(frames.reduce((sum, { rowCount }) => sum + rowCount, 0));
    for (const frame of frames) append(frame, run);
    return runFrame(run, plans);
  } finally {
    run.close();
  }
}

/** Declared ones first, then those that were found; one that was found with several types has that of all its values. */
function dimensionsOf(
  frames: readonly SegmentFrame[],
  declared: readonly ColumnPlan[],
  metrics: ReadonlySet<string>,
): readonly ColumnPlan[] {
  const plans = new Map(declared.map((plan) => [plan.name, { ...plan, multiValueHandling: 'ARRAY' as const }]));
  const found = new Map<string, ColumnType | 'AUTO'>();
  const isFound = ({ name }: SegmentFrame['columns'][number]): boolean => name !== TIME_COLUMN && !metrics.has(name) && !plans.has(name);
  for (const { columns } of frames)
    for (const column of columns.filter(isFound)) {
      const type = column.kind === 'packed' ? column.type : frameColumnType(column);
      found.set(column.name, (found.get(column.name) ?? type) === type ? type : 'AUTO');
    }
  return [...plans.values(), ...[...found].map(([name, type]) => columnPlan(name, type, 'ARRAY'))];
}

function append(frame: SegmentFrame, to: RunBuffer): void {
  const times = timesOf(frame);
  if (times !== undefined) to.appendFrame(frame, times, allRows(frame.rowCount), new Uint8Array(frame.rowCount));
}

// Row counts of a run, for the query profile.

import { addKernels, addStage, type KernelTotals, type Profile } from '../../model/profile.js';
import { ownNow } from './own-time.js';

/** Values of expressions that JavaScript computes rather than kernels. */
export interface ComputedValues {
  /** One for each row that is read. */
  valuesByRow: number;
  /** One for each entry of a dictionary, combination of values or bucket of time, which its rows share. */
  valuesByEntry: number;
}

/** Counts of one thread's work on one query; plain data that crosses threads. */
export interface RowCounts extends ComputedValues {
  rowsScanned: number;
  rowsMatched: number;
  /** Rows of finished tables, before the post-processing steps and after them. */
  rowsToFinish: number;
  rowsFinished: number;
  segmentsPrunedByValue: number;
  bindMs: number;
  filterMs: number;
  /** Grouping, or reading rows. */
  readMs: number;
  mergeMs: number;
  finishMs: number;
  /** Rows of the segments that were sampled. */
  rowsSampled: number;
  kernels: Record<string, KernelTotals>;
}

export function noCounts(): RowCounts {
  return {
    valuesByRow: 0,
    valuesByEntry: 0,
    rowsScanned: 0,
    rowsMatched: 0,
    rowsToFinish: 0,
    rowsFinished: 0,
    segmentsPrunedByValue: 0,
    bindMs: 0,
    filterMs: 0,
    readMs: 0,
    mergeMs: 0,
    finishMs: 0,
    rowsSampled: 0,
    kernels: {},
  };
}

export function addCounts(profile: Profile, counts: RowCounts, reads: 'group' | 'scan' | 'merge'): void {
  profile.segmentsPrunedByValue += counts.segmentsPrunedByValue;
  profile.valuesByRow += counts.valuesByRow;
  profile.valuesByEntry += counts.valuesByEntry;
  addKernels(profile, scaledKernels(counts));
  addStage(profile, 'bind', counts.bindMs);
  // The rows of partial results are no rows of segments.
  if (reads === 'merge')
    addStage(profile, 'merge', counts.filterMs + counts.readMs + counts.mergeMs, counts.rowsScanned, counts.rowsToFinish);
  else {
    addStage(profile, 'filter', counts.filterMs, counts.rowsScanned, counts.rowsMatched);
    addStage(profile, reads, counts.readMs, counts.rowsMatched, counts.rowsToFinish);
    addStage(profile, 'merge', counts.mergeMs);
  }
  addStage(profile, 'finish', counts.finishMs, counts.rowsToFinish, counts.rowsFinished);
}

/** Sampled kernel totals, scaled up to all rows that were read. */
function scaledKernels({ kernels, rowsSampled, rowsScanned }: RowCounts): Record<string, KernelTotals> {
  const factor = rowsSampled > 0 ? rowsScanned / rowsSampled : 0;
  return Object.fromEntries(
    Object.entries(kernels).map(([name, { calls, rows, milliseconds }]) => [
      name,
      { calls: calls * factor, rows: rows * factor, milliseconds: milliseconds * factor },
    ]),
  );
}

/** One block in so many is timed: reading the clock takes as long as a kernel needs for some hundred rows. */
const BLOCKS_PER_SAMPLE = 8;

/** Tells what part of the work on blocks is their filter, from samples. */
export class FilterClock {
  #blocks = 0;
  #samples = 0;
  #filterMs = 0;
  #sampledMs = 0;
  #startMs = -1;

  /** Called before the filter of a block. */
  start(): void {
    const isSample = this.#blocks++ % BLOCKS_PER_SAMPLE === 0;
    this.#startMs = isSample ? ownNow() : -1;
    if (isSample) this.#samples++;
  }

  filtered(): void {
    if (this.#startMs >= 0) this.#filterMs += ownNow() - this.#startMs;
  }

  /** Leaves out time that went to something else since `start`. */
  leaveOut(ms: number): void {
    if (this.#startMs >= 0) this.#startMs += ms;
  }

  /** Called when a block is finished. */
  end(): void {
    if (this.#startMs >= 0) this.#sampledMs += ownNow() - this.#startMs;
  }

  /** Share of the time spent in filters, from 0 to 1; valid after `end`. */
  get share(): number {
    return this.#sampledMs > 0 ? this.#filterMs / this.#sampledMs : 0;
  }

  /** Filter time of all blocks so far. */
  get filterMs(): number {
    return this.#samples > 0 ? (this.#filterMs * this.#blocks) / this.#samples : 0;
  }
}

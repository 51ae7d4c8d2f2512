// The profile of a query: stages, rows, times, kernels.

import { own } from '../base/names.js';
/** The stages a query goes through, in the order in which it meets them. */
export const STAGES = ['plan', 'queue', 'pin', 'cache', 'lease', 'bind', 'filter', 'group', 'scan', 'merge', 'finish', 'write'] as const;

export type Stage = (typeof STAGES)[number];

interface StageTotals {
  /** Processor time; of stages that run on several threads or servers, the sum over them. */
  readonly milliseconds: number;
  readonly rowsIn: number;
  readonly rowsOut: number;
}

/** Totals of a stage that a query did not use. */
const NOTHING: StageTotals = { milliseconds: 0, rowsIn: 0, rowsOut: 0 };

/** Estimated totals of one kernel: some segments are sampled, and some calls in them timed. */
export interface KernelTotals {
  readonly calls: number;
  /** Rows of the blocks that it was called for. */
  readonly rows: number;
  readonly milliseconds: number;
}

/** Profile of a query, or of its part on one server, so far: plain data that grows while it runs. */
export interface Profile {
  readonly stages: Record<Stage, StageTotals>;
  /** Called kernels by name. */
  readonly kernels: Record<string, KernelTotals>;
  segments: number;
  /** Segments left out because their times, or those of their rows, lie outside of the intervals. */
  segmentsPrunedByTime: number;
  /** Segments left out because the values that their chunk is divided by cannot pass the filter. */
  segmentsPrunedByPartition: number;
  /** Segments left out because no value of them (dictionary, range) can pass the filter. */
  segmentsPrunedByValue: number;
  /** Segments left out because their bitmap index shows no row with a value that the filter asks for. */
  segmentsPrunedByBitmap: number;
  /** Rows that a bitmap index gave instead of a scan of the column. */
  rowsByIndex: number;
  /** Values of expressions that JavaScript computed row by row, and once for all rows with the same entry of a dictionary, combination or bucket of time. */
  valuesByRow: number;
  valuesByEntry: number;
  /** Bytes read from segment files; resident columns are not read. */
  bytesRead: number;
  /** Answers for one segment found on a historical, and those that had to be made. */
  segmentCacheHits: number;
  segmentCacheMisses: number;
  /** Answers for a whole plan found on the broker, and those that had to be made. */
  resultCacheHits: number;
  resultCacheMisses: number;
  /** Segments asked for a second time, of another server. */
  segmentsRetried: number;
  /** The most kernel memory that it held at once, beside the columns that it read; of several servers, the most of one. */
  peakMemoryBytes: number;
}

export type ProfileCounter = Exclude<keyof Profile, 'stages' | 'kernels'>;

export const PROFILE_COUNTERS: readonly ProfileCounter[] = [
  'segments',
  'segmentsPrunedByTime',
  'segmentsPrunedByPartition',
  'segmentsPrunedByValue',
  'segmentsPrunedByBitmap',
  'rowsByIndex',
  'valuesByRow',
  'valuesByEntry',
  'bytesRead',
  'segmentCacheHits',
  'segmentCacheMisses',
  'resultCacheHits',
  'resultCacheMisses',
  'segmentsRetried',
  'peakMemoryBytes',
];

export function newProfile(): Profile {
  return {
    // Spelled out: every query makes one, and a record of known shape costs a tenth of one made from a list.
    stages: {
      plan: NOTHING,
      queue: NOTHING,
      pin: NOTHING,
      cache: NOTHING,
      lease: NOTHING,
      bind: NOTHING,
      filter: NOTHING,
      group: NOTHING,
      scan: NOTHING,
      merge: NOTHING,
      finish: NOTHING,
      write: NOTHING,
    },
    kernels: {},
    segments: 0,
    segmentsPrunedByTime: 0,
    segmentsPrunedByPartition: 0,
    segmentsPrunedByValue: 0,
    segmentsPrunedByBitmap: 0,
    rowsByIndex: 0,
    valuesByRow: 0,
    valuesByEntry: 0,
    bytesRead: 0,
    segmentCacheHits: 0,
    segmentCacheMisses: 0,
    resultCacheHits: 0,
    resultCacheMisses: 0,
    segmentsRetried: 0,
    peakMemoryBytes: 0,
  };
}

export function addStage(profile: Profile | undefined, stage: Stage, milliseconds: number, rowsIn = 0, rowsOut = 0): void {
  if (profile === undefined) return;
  profile.stages[stage] = sumOf(profile.stages[stage], { milliseconds, rowsIn, rowsOut });
}

function sumOf(one: StageTotals, other: StageTotals): StageTotals {
  if (one === NOTHING) return other;
  if (other === NOTHING) return one;
  return {
    milliseconds: one.milliseconds + other.milliseconds,
    rowsIn: one.rowsIn + other.rowsIn,
    rowsOut: one.rowsOut + other.rowsOut,
  };
}

export function addProfile(into: Profile, other: Profile): void {
  for (const stage of STAGES) {
    const more = other.stages[stage];
    if (more !== NOTHING) into.stages[stage] = sumOf(into.stages[stage], more);
  }
  addKernels(into, other.kernels);
  const peakMemoryBytes = Math.max(into.peakMemoryBytes, other.peakMemoryBytes);
  for (const counter of PROFILE_COUNTERS) {
    const more = other[counter];
    if (more !== 0) into[counter] += more;
  }
  into.peakMemoryBytes = peakMemoryBytes;
}

export function addKernels(profile: Profile, kernels: Readonly<Record<string, KernelTotals>>): void {
  for (const [name, { calls, rows, milliseconds }] of Object.entries(kernels)) {
    const known = own(profile.kernels, name) ?? { calls: 0, rows: 0, milliseconds: 0 };
    profile.kernels[name] = { calls: known.calls + calls, rows: known.rows + rows, milliseconds: known.milliseconds + milliseconds };
  }
}

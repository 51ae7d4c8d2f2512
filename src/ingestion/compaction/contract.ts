// A `compact` task as its parts pass it on.

import type { Interval } from '../../base/instant.js';
import type { Filter } from '../../model/filter.js';
import type { Granularity } from '../../model/granularity.js';
import type { ColumnPlan } from '../builder/run-buffer.js';
import type { Metric } from '../task-spec/metric.js';
import type { TuningConfig } from '../task-spec/tuning-config.js';

/** A `compact` task: what it reads, and what it writes in its place. What is null stays as the segments have it. */
export interface CompactSpec {
  readonly dataSource: string;
  readonly input: CompactInput;
  readonly segmentGranularity: Granularity | null;
  readonly queryGranularity: Granularity | null;
  /** The granularity as written, for segment files. */
  readonly queryGranularityText: unknown;
  readonly rollup: boolean | null;
  readonly dimensions: readonly ColumnPlan[] | null;
  readonly dimensionExclusions: readonly string[];
  readonly metrics: readonly Metric[] | null;
  /** `metricsSpec` as sent. */
  readonly aggregators: readonly unknown[] | null;
  readonly filter: Filter | null;
  readonly engine: CompactionEngine;
  readonly tuning: TuningConfig;
  /** Whether segments keep how they were made (`storeCompactionState` of the context). */
  readonly storesState: boolean;
  /** The parts of the state of its segments that the payload decides; the others follow from its input. */
  readonly state: Readonly<Record<string, unknown>>;
}

export type CompactionEngine = 'native' | 'msq';

/** `intervals` is locked and replaced as a whole. */
export interface CompactInput {
  readonly intervals: readonly Interval[];
  /** Ids that the used segments of the intervals must be; null: any. */
  readonly segments: readonly string[] | null;
  /** Digest of these ids, sorted; null: not checked. */
  readonly digest: string | null;
}

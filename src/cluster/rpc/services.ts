import type { Frame } from '../../model/frame.js';
import type { Plan } from '../../model/plan.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';

/**
 * What the roles ask of each other. A role holds these interfaces only; `cluster/rpc` gives it the local object when
 * the peer lives in this process and an HTTP client (`/internal/v1/...`, bodies by v8.serialize) when it does not.
 * Errors cross as `ServiceError` with their code.
 */
export interface RunPlanRequest {
  readonly queryId: string;
  readonly plan: Plan;
  /** Printed segment ids, all of which this server announced. */
  readonly segmentIds: readonly string[];
  /** `final`: every segment of the query is here, so run the finish steps too. Else give partial states. */
  readonly ending: 'final' | 'partial';
  /** Absolute; work past it ends with `timeout`. */
  readonly deadlineMs: number;
  readonly priority: number;
  /** Name of a kernel set, or null for the configured one. */
  readonly kernels: string | null;
}

/** What a partial or final run reports once its frames are through. */
export interface RunStatistics {
  readonly rowsScanned: number;
  readonly rowsMatched: number;
  readonly segments: number;
  readonly milliseconds: number;
}

export interface HistoricalService {
  /** Ends when the last frame was taken; closing the iterator early cancels the work. */
  runPlan(request: RunPlanRequest, signal: AbortSignal): AsyncIterable<Frame>;
  analyzeSegments(request: RunPlanRequest, signal: AbortSignal): Promise<readonly SegmentAnalysis[]>;
  /** Segments that are verified and can be queried now. `generation` changes whenever the list does. */
  inventory(): Promise<ServerInventory>;
  loadSegments(descriptors: readonly SegmentDescriptor[]): Promise<void>;
  dropSegments(segmentIds: readonly string[]): Promise<void>;
}

export interface ServerInventory {
  readonly host: string;
  readonly tier: string;
  readonly priority: number;
  readonly maxSizeBytes: number;
  readonly currentSizeBytes: number;
  readonly generation: string;
  readonly segmentIds: readonly string[];
  /** Loads asked for and not yet done, and those that failed with their reason. */
  readonly loading: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
}

export interface CoordinatorService {
  /** All visible (used, not overshadowed) segments of one metadata revision. */
  snapshot(): Promise<SegmentsSnapshot>;
  /** A publish happened: look at metadata now rather than at the next tick. */
  wake(): Promise<void>;
}

export interface SegmentsSnapshot {
  /** Grows with every metadata transaction that changes used segments. */
  readonly revision: number;
  readonly segments: readonly SegmentDescriptor[];
}

// Answers queries over the live segments of a task, in the process of the task.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Engine } from '../../execution/run/engine.js';
import type { LiveSource } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import { newProfile } from '../../model/profile.js';
import type { SegmentAnalysis } from '../../model/segment.js';
import type { LiveInventory, ReachReport, RunPlanRequest, RunReport, TaskService } from '../rpc/services.js';
import { withReport } from '../run-report.js';

/** Rows of the last moments wait for no query; all of those before are read. */
const SETTLED_EVERY_MS = 20;
/** Longest time that a query waits for the last rows, which wait for the Overlord when their time chunk is new. */
const SETTLE_WAIT_MS = 250;

/** Serves the live segments of a task like a Historical serves published ones. */
export class LiveServer implements TaskService {
  /** `host:port` that it is announced under. */
  host = '';
  readonly #session: string;
  readonly #live: LiveSource;
  #changes = 0;
  #settledMs = Number.NEGATIVE_INFINITY;

  /** @param session  of the process: tells its generations from those of another one at the same address */
  constructor(session: string, live: LiveSource) {
    this.#session = session;
    this.#live = live;
  }

  /** Its segments are others now, or have other columns. */
  changed(): void {
    this.#changes++;
  }

  async liveAfter(generation: string | null): Promise<LiveInventory | null> {
    // Who asks for all of it may wait for rows.
    if (generation === null) await this.#settle();
    const now = this.#generation;
    return generation === now
      ? null
      : { host: this.host, generation: now, segments: this.#live.rows.describe(), reach: this.#live.reach() };
  }

  async *runPlan(request: RunPlanRequest, signal: CancelSignal): AsyncGenerator<Frame | RunReport | ReachReport> {
    const { plan, ending, deadlineMs, limits, priority, kernels, segmentIds } = request;
    if (plan.operator === 'segmentMetadata') throw new ServiceError('internal', 'a segmentMetadata plan has no frames');
    await this.#settle();
    const held = this.#hold(segmentIds);
    try {
      yield { generation: this.#generation, reach: this.#live.reach() };
      const names = new Map<string, string>();
      for (const [segment, parts] of held.parts) for (const part of parts) names.set(part, segment);
      const profile = newProfile();
      const options = { ending, deadlineMs, limits, priority, kernels, batchRows: null, profile };
      const { engine, store } = this.#live;
      const frames = engine.run(plan, store, [...names.keys()], options, signal);
      yield* withReport(named(frames, names), profile, plan);
    } finally {
      held.release();
    }
  }

  /** An analysis for each part, all by the id of their segment: their counts add up. */
  async analyzeSegments({ plan, segmentIds }: RunPlanRequest, signal: CancelSignal): Promise<readonly SegmentAnalysis[]> {
    if (plan.operator !== 'segmentMetadata') throw new ServiceError('internal', `a ${plan.operator} plan has no analysis`);
    await this.#settle();
    const held = this.#hold(segmentIds);
    try {
      const columns = plan.columns.kind === 'list' ? plan.columns.names : plan.columns.kind === 'all' ? 'all' : [];
      const analyses: SegmentAnalysis[] = [];
      for (const [id, parts] of held.parts)
        for (const part of parts) {
          signal.throwIfAborted();
          analyses.push({ ...(await this.#live.store.analyze(part, columns, plan.analyses)), id });
        }
      return analyses;
    } finally {
      held.release();
    }
  }

  get #generation(): string {
    return `${this.#session}-${this.#changes}`;
  }

  /** Parts as they are at this moment. */
  #hold(segmentIds: readonly string[]) {
    const held = this.#live.rows.hold(segmentIds);
    const missing = segmentIds.find((id) => !held.parts.has(id));
    if (missing === undefined) return held;
    held.release();
    throw new ServiceError('segments_unavailable', `segment ${missing} is not served by ${this.host} any more`);
  }

  async #settle(): Promise<void> {
    const now = performance.now();
    if (now - this.#settledMs < SETTLED_EVERY_MS) return;
    this.#settledMs = now;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_WAIT_MS);
    });
    // An error of the rows ends the task, which tells it.
    await Promise.race([this.#live.rows.settle().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}

/** Frames that name the segment of their rows name the live one, and not its part. */
async function* named(frames: ReturnType<Engine['run']>, names: ReadonlyMap<string, string>): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    const segmentId = frame.segmentId === undefined ? undefined : names.get(frame.segmentId);
    yield segmentId === undefined ? frame : { ...frame, segmentId };
  }
}

// Runs plans over frames with the query engine, for ingestion.

import { ETERNITY } from '../../base/instant.js';
import type { Engine, RunOptions } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';
import type { PostStep, RowPlan, ScanPlan } from '../../model/plan.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { UploadedFrame } from '../../storage/uploaded-frame.js';

/** A plan over rows that are there already. */
const NO_PLAN: ScanPlan = {
  operator: 'scan',
  dataSource: '',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  columns: [],
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [],
};

/**
 * The engine of queries, run over frames: what ingestion computes (transforms, filters, rollup, the SELECT of a
 * statement) is computed by it and by nothing else.
 */
export class FrameEngine {
  readonly #engine: Engine;
  readonly #place: (frame: Frame) => UploadedFrame;
  readonly #options: Omit<RunOptions, 'ending'>;
  readonly #signal: AbortSignal;

  constructor(engine: Engine, place: (frame: Frame) => UploadedFrame, kernels: string, signal: AbortSignal) {
    this.#engine = engine;
    this.#place = place;
    this.#options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels, batchRows: null };
    this.#signal = signal;
  }

  /** The whole answer over the rows of all frames together. */
  async *run(plan: RowPlan, frames: readonly Frame[]): AsyncGenerator<Frame> {
    yield* this.#runPlaced(plan, frames, 'final');
  }

  /** The answer over open segments. */
  runSegments(plan: RowPlan, store: SegmentStore, segmentIds: readonly string[]): AsyncIterable<Frame> {
    return this.#engine.run(plan, store, segmentIds, { ...this.#options, ending: 'final' }, this.#signal);
  }

  /** A part of an answer, to be joined by `merge`. */
  async partial(plan: RowPlan, frame: Frame): Promise<readonly Frame[]> {
    const parts: Frame[] = [];
    for await (const part of this.#runPlaced(plan, [frame], 'partial')) parts.push(part);
    return parts;
  }

  /** `partial`: the answer is a part again, which keeps their number small. */
  async *merge(plan: RowPlan, parts: readonly (readonly Frame[])[], ending: RunOptions['ending']): AsyncGenerator<Frame> {
    yield* this.#engine.merge(plan, parts.map(asyncOf), { ...this.#options, ending }, this.#signal);
  }

  /** The rows that post-processing steps over all rows leave; more of them than memory holds are sorted on disk. */
  finish(steps: readonly PostStep[], frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
    const plan: ScanPlan = { ...NO_PLAN, post: steps };
    return this.#engine.merge(plan, [frames], { ...this.#options, ending: 'final' }, this.#signal);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async *#runPlaced(plan: RowPlan, frames: readonly Frame[], ending: RunOptions['ending']): AsyncGenerator<Frame> {
    const placed: UploadedFrame[] = [];
    try {
      for (const frame of frames) if (frame.rowCount > 0) placed.push(this.#place(frame));
      const views = placed.map(({ view }) => view);
      yield* this.#engine.runViews(plan, views, { ...this.#options, ending }, this.#signal);
    } finally {
      for (const { release } of placed) release();
    }
  }
}

async function* asyncOf(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

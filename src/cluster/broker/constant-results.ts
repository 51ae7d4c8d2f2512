// Keeps small results of plans over constant rows, such as `SELECT 1`.

import type { Frame } from '../../model/frame.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { QueryOptions, ResultUse } from './contract.js';

/** Results with more rows are not kept: there are as many of them as plans that somebody holds on to. */
const ROWS_MAX = 100;

/**
 * Results of plans over rows that stand in the statement itself (`SELECT 1`, what drivers ask to see whether anyone is
 * there). Nothing that such a result hangs on can change, so it lives as long as the plan, which the plan cache holds.
 */
export class ConstantResults {
  readonly #frames = new WeakMap<RowsPlan, readonly Frame[]>();

  find(plan: RowsPlan, { caching, kernels }: ResultUse): readonly Frame[] | undefined {
    if (caching?.useResultLevelCache === false || kernels !== null) return undefined;
    return this.#frames.get(plan);
  }

  /** The same frames, kept when they are few and have all been read. */
  async *keep(plan: RowsPlan, options: QueryOptions, frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
    if (options.caching?.populateResultLevelCache === false || options.kernels !== null) {
      yield* frames;
      return;
    }
    const kept: Frame[] = [];
    let rows = 0;
    for await (const frame of frames) {
      rows += frame.rowCount;
      if (rows <= ROWS_MAX) kept.push(frame);
      yield frame;
    }
    if (rows <= ROWS_MAX) this.#frames.set(plan, kept);
  }
}

export async function* framesOfAll(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

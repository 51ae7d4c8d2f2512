import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { FinishStep } from '../../model/plan.js';
import { concatFrames } from '../merge/concat.js';
import type { LeafResult } from './steps.js';
import { runSteps } from './steps.js';
import { framesOf, tableOf } from './table.js';

/** Steps that look at one row at a time. */
export const isRowWise = ({ step }: FinishStep): boolean => step === 'compute' || step === 'filter' || step === 'project';

/** Runs finish steps over streamed rows: frame by frame as long as steps look at one row at a time. */
export class StreamedSteps {
  readonly #first: readonly FinishStep[];
  readonly #rest: readonly FinishStep[];
  readonly #leaf: LeafResult;
  readonly #held: Frame[] = [];
  readonly #heldRowsMax: number;
  #heldRows = 0;

  /** @param heldRowsMax  rows that a step which must see all of them (a sort) may hold */
  constructor(steps: readonly FinishStep[], leaf: LeafResult, heldRowsMax: number) {
    this.#heldRowsMax = heldRowsMax;
    const whole = steps.findIndex((step) => !isRowWise(step));
    this.#first = whole < 0 ? steps : steps.slice(0, whole);
    this.#rest = whole < 0 ? [] : steps.slice(whole);
    this.#leaf = leaf;
  }

  /** Frames that can be sent on now. */
  push(frame: Frame): Iterable<Frame> {
    const frames = this.#first.length === 0 ? [frame] : [...framesOf(runSteps(tableOf(frame), this.#first, this.#leaf))];
    if (this.#rest.length === 0) return frames;
    for (const each of frames) {
      this.#held.push(each);
      this.#heldRows += each.rowCount;
    }
    if (this.#heldRows > this.#heldRowsMax)
      throw new ServiceError(
        'resource_limit',
        `ordering needs more than ${this.#heldRowsMax} rows at once; the limit is svc.query.scan.maxRowsQueuedForOrdering`,
      );
    return [];
  }

  /** What was held back. */
  end(): Iterable<Frame> {
    if (this.#held.length === 0) return [];
    return framesOf(runSteps(tableOf(concatFrames(this.#held)), this.#rest, this.#leaf));
  }
}

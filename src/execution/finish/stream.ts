import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { FinishStep } from '../../model/plan.js';
import { concatFrames } from '../merge/concat.js';
import { ascending } from '../pieces.js';
import type { LeafResult } from './steps.js';
import { runSteps } from './steps.js';
import type { ResultTable } from './table.js';
import { framesOf, pickRows, tableOf } from './table.js';

/** Steps that look at one row at a time. */
export const isRowWise = ({ step }: FinishStep): boolean => step === 'compute' || step === 'filter' || step === 'project';

/**
 * Runs finish steps over streamed rows: frame by frame as long as steps look at one row at a time or count rows, and
 * holding them back from the first step on that has to see all of them.
 */
export class StreamedSteps {
  readonly #first: readonly StreamedStep[];
  readonly #rest: readonly FinishStep[];
  readonly #leaf: LeafResult;
  readonly #held: Frame[] = [];
  readonly #heldRowsMax: number;
  #heldRows = 0;

  /** @param heldRowsMax  rows that a step which must see all of them (a sort) may hold */
  constructor(steps: readonly FinishStep[], leaf: LeafResult, heldRowsMax: number) {
    this.#heldRowsMax = heldRowsMax;
    const whole = steps.findIndex((step) => !isRowWise(step) && step.step !== 'limit');
    this.#first = (whole < 0 ? steps : steps.slice(0, whole)).map((step) => streamedStep(step, leaf));
    this.#rest = whole < 0 ? [] : steps.slice(whole);
    this.#leaf = leaf;
  }

  /** No later row can come through any more: a limit is reached. */
  get isFull(): boolean {
    return this.#first.some(({ isFull }) => isFull());
  }

  /** Frames that can be sent on now. */
  push(frame: Frame): Iterable<Frame> {
    const frames =
      this.#first.length === 0
        ? [frame]
        : [
            ...framesOf(
              this.#first.reduce((table, step) => step.run(table), tableOf(frame)),
              this.#leaf.check,
            ),
          ];
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
    return framesOf(runSteps(tableOf(concatFrames(this.#held, this.#leaf.check)), this.#rest, this.#leaf), this.#leaf.check);
  }
}

interface StreamedStep {
  run(table: ResultTable): ResultTable;
  isFull(): boolean;
}

function streamedStep(step: FinishStep, leaf: LeafResult): StreamedStep {
  if (step.step !== 'limit') return { run: (table) => runSteps(table, [step], leaf), isFull: () => false };
  const end = step.limit === null ? Infinity : step.offset + step.limit;
  let seen = 0;
  return {
    run: (table) => {
      const from = Math.min(table.rowCount, Math.max(0, step.offset - seen));
      const to = Math.max(from, Math.min(table.rowCount, end - seen));
      seen += table.rowCount;
      if (from === 0 && to === table.rowCount) return table;
      return pickRows(table, ascending(to - from, leaf.check, from), leaf.check);
    },
    isFull: () => seen >= end,
  };
}

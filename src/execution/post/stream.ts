// Runs post-processing steps over streamed frames.

import { ServiceError } from '../../base/errors.js';
import { type Frame, frameColumnType } from '../../model/frame.js';
import type { PostStep } from '../../model/plan.js';
import { ascending } from '../block/checked-loops.js';
import { concatFrames } from '../block/concat-frames.js';
import { frameBytes } from '../block/frame-bytes.js';
import { framesOf, pickRows, type ResultTable, tableOf } from '../block/result-table.js';
import type { SpillSpace } from '../spill/spill-space.js';
import type { LeafResult } from './leaf-result.js';
import { SortedRuns } from './sorted-runs.js';
import { runSteps } from './steps.js';

/** Steps that look at one row at a time. */
export const isRowWise = ({ step }: PostStep): boolean => step === 'compute' || step === 'filter' || step === 'project';

/** Rows that are held before those that are not wanted are dropped, or all are sorted and put on disk. */
const HELD_ROWS = 1 << 18;

export interface HoldingOptions {
  /** Rows that a step which must see all of them may hold. */
  readonly heldRowsMax: number;
  /** Disk space for rows that a sort need not hold; undefined for none. */
  readonly spill: SpillSpace | undefined;
  /** `HELD_ROWS`, unless a test asks for fewer. */
  readonly heldRows?: number;
}

/**
 * Runs post-processing steps over streamed rows: frame by frame as long as steps look at one row at a time or count rows, and
 * holding them back from the first step on that has to see all of them. A sort holds the best rows so far, or puts sorted
 * runs on disk. `close` when the end is not wanted.
 */
export class StreamedSteps {
  readonly #first: readonly StreamedStep[];
  readonly #rest: readonly PostStep[];
  readonly #leaf: LeafResult;
  readonly #options: HoldingOptions;
  #held: Frame[] = [];
  #heldRows = 0;
  #heldBytes = 0;
  #foldAt: number;
  #foldAtBytes: number;
  #runs: SortedRuns | undefined;
  /** Types of the columns of all frames so far; null: they differ, so that rows cannot be put on disk. */
  #kinds: string | null | undefined;

  constructor(steps: readonly PostStep[], leaf: LeafResult, options: HoldingOptions) {
    const whole = steps.findIndex((step) => !isRowWise(step) && step.step !== 'limit');
    this.#first = (whole < 0 ? steps : steps.slice(0, whole)).map((step) => streamedStep(step, leaf));
    this.#rest = whole < 0 ? [] : steps.slice(whole);
    this.#leaf = leaf;
    this.#options = options;
    this.#foldAt = options.heldRows ?? HELD_ROWS;
    this.#foldAtBytes = options.spill?.sortBytes ?? Infinity;
  }

  /** No later row can come through any more: a limit is reached. */
  get isFull(): boolean {
    return this.#first.some(({ isFull }) => isFull());
  }

  /** Frames that can be sent on now. */
  push(frame: Frame): Iterable<Frame> {
    const { check } = this.#leaf;
    const frames =
      this.#first.length === 0
        ? [frame]
        : [
            ...framesOf(
              this.#first.reduce((table, step) => step.run(table), tableOf(frame)),
              check,
            ),
          ];
    if (this.#rest.length === 0) return frames;
    for (const each of frames) {
      this.#held.push(each);
      this.#heldRows += each.rowCount;
      if (this.#options.spill !== undefined) this.#heldBytes += frameBytes(each);
      this.#noteKinds(each);
    }
    if (this.#heldRows >= this.#foldAt || this.#heldBytes >= this.#foldAtBytes) this.#fold();
    const { heldRowsMax, spill } = this.#options;
    const heldBytes = spill?.heldBytes ?? null;
    if (heldBytes !== null && this.#heldBytes > heldBytes.max)
      throw new ServiceError(
        'resource_limit',
        `a step that has to see all rows at once holds more than ${heldBytes.max} bytes of them; the limit is a part of ${heldBytes.property}`,
      );
    if (this.#heldRows > heldRowsMax)
      throw new ServiceError(
        'resource_limit',
        `ordering needs more than ${heldRowsMax} rows at once; the limits are svc.query.scan.maxRowsQueuedForOrdering and the context key maxRowsQueuedForOrdering`,
      );
    return [];
  }

  /** Rows that were held back. */
  *end(): Generator<Frame> {
    const { check } = this.#leaf;
    const [sort, ...steps] = this.#rest;
    if (this.#runs !== undefined && sort?.step === 'sort') {
      this.#putOnDisk(sort);
      const limit: PostStep = { step: 'limit', offset: sort.offset, limit: sort.limit };
      const ending = new StreamedSteps([limit, ...steps], this.#leaf, this.#options);
      try {
        for (const frame of this.#runs.merged()) {
          yield* ending.push(frame);
          if (ending.isFull) break;
        }
        yield* ending.end();
      } finally {
        ending.close();
        this.close();
      }
    } else if (this.#held.length > 0) yield* framesOf(runSteps(this.#whole(), this.#rest, this.#leaf), check);
  }

  /** Removes what is on disk. */
  close(): void {
    this.#runs?.remove();
    this.#runs = undefined;
  }

  /** Makes what is held less, where the next step is a sort. */
  #fold(): void {
    const [sort] = this.#rest;
    const heldRows = this.#options.heldRows ?? HELD_ROWS;
    if (sort?.step !== 'sort') return;
    const wanted = sort.offset + (sort.limit ?? Infinity);
    if (wanted <= heldRows) {
      const best = runSteps(this.#whole(), [{ ...sort, offset: 0, limit: wanted }], this.#leaf);
      this.#held = [...framesOf(best, this.#leaf.check)];
      this.#heldRows = best.rowCount;
      this.#foldAt = heldRows + best.rowCount;
      const sortBytes = this.#options.spill?.sortBytes ?? Infinity;
      this.#heldBytes = this.#options.spill === undefined ? 0 : this.#held.reduce((sum, frame) => sum + frameBytes(frame), 0);
      this.#foldAtBytes = sortBytes + this.#heldBytes;
      if (this.#heldBytes < sortBytes / 2) return;
    }
    if (this.#options.spill !== undefined && typeof this.#kinds === 'string') this.#putOnDisk(sort);
  }

  #putOnDisk(sort: Extract<PostStep, { step: 'sort' }>): void {
    const { spill } = this.#options;
    if (this.#heldRows === 0 || spill === undefined) return;
    if (typeof this.#kinds !== 'string')
      throw new ServiceError(
        'resource_limit',
        `ordering more than ${this.#options.heldRows ?? HELD_ROWS} rows needs columns to have one type in all segments`,
      );
    this.#runs ??= new SortedRuns(spill, this.#leaf);
    this.#runs.add(runSteps(this.#whole(), [{ ...sort, offset: 0, limit: null }], this.#leaf), sort.by);
    this.#held = [];
    this.#heldRows = 0;
    this.#heldBytes = 0;
    this.#foldAt = this.#options.heldRows ?? HELD_ROWS;
    this.#foldAtBytes = spill.sortBytes;
  }

  #whole(): ResultTable {
    return tableOf(concatFrames(this.#held, this.#leaf.check));
  }

  #noteKinds({ columns }: Frame): void {
    const kinds = columns.map((column) => frameColumnType(column)).join();
    this.#kinds = this.#kinds === undefined || this.#kinds === kinds ? kinds : null;
  }
}

interface StreamedStep {
  run(table: ResultTable): ResultTable;
  isFull(): boolean;
}

function streamedStep(step: PostStep, leaf: LeafResult): StreamedStep {
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

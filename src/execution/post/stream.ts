// Runs post-processing steps over streamed frames.

import { ServiceError } from '../../base/errors.js';
import { type Frame, frameColumnType } from '../../model/frame.js';
import type { PostStep } from '../../model/plan.js';
import type { ColumnType } from '../../model/schema.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { ascending, type Check } from '../block/checked-loops.js';
import { framesOf, pickRows, type ResultTable, tableOf, typeOfResult } from '../block/result-table.js';
import type { SpillSpace } from '../spill/spill-space.js';
import type { LeafResult } from './leaf-result.js';
import { SortedRuns } from './sorted-runs.js';
import { runSteps } from './steps.js';
import { WaitingRows } from './waiting-rows.js';

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
  readonly #held: WaitingRows;
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
    this.#held = new WaitingRows(options.spill !== undefined);
    this.#foldAt = options.heldRows ?? HELD_ROWS;
    this.#foldAtBytes = options.spill?.sortBytes ?? Infinity;
  }

  /** No later row can come through any more: a limit is reached. */
  get isFull(): boolean {
    return this.#first.some(({ isFull }) => isFull());
  }

  /** Whether rows are held back until the last has come. */
  get holdsRows(): boolean {
    return this.#rest.length > 0;
  }

  /** Frames that can be sent on now. */
  push(rows: Frame | ResultTable): Iterable<Frame> {
    if ('keys' in rows) return this.#pushTable(rows);
    if (this.#first.length > 0) return this.#pushTable(tableOf(rows));
    if (this.#rest.length === 0) return [rows];
    this.#held.addFrame(rows);
    this.#noteKinds(rows.columns.map(frameColumnType));
    this.#holdLess();
    return [];
  }

  #pushTable(given: ResultTable): Iterable<Frame> {
    const { check } = this.#leaf;
    const table = this.#first.reduce((rows, step) => step.run(rows), given);
    if (this.#rest.length === 0) return framesOf(table, check);
    this.#held.addTable(table);
    this.#noteKinds(table.columns.map(typeOfResult));
    this.#holdLess();
    return [];
  }

  /** Makes what is held less, or refuses it, where it is too much. */
  #holdLess(): void {
    const held = this.#held;
    if (held.rowCount >= this.#foldAt || held.bytes >= this.#foldAtBytes) this.#fold();
    const { heldRowsMax, spill } = this.#options;
    const heldBytes = spill?.heldBytes ?? null;
    if (heldBytes !== null && this.#held.bytes > heldBytes.max)
      throw new ServiceError(
        'resource_limit',
        `a step that has to see all rows at once holds more than ${heldBytes.max} bytes of them; the limit is a part of ${heldBytes.property}`,
      );
    if (this.#held.rowCount > heldRowsMax)
      throw new ServiceError(
        'resource_limit',
        `ordering needs more than ${heldRowsMax} rows at once; the limits are svc.query.scan.maxRowsQueuedForOrdering and the context key maxRowsQueuedForOrdering`,
      );
  }

  /** Rows that were held back. */
  end(): Generator<Frame> {
    return this.endAs<Frame>(framesOf);
  }

  /** The same. @param toFrames  makes frames of rows that are in memory */
  *endAs<Made extends SegmentFrame>(toFrames: (table: ResultTable, check: Check) => Iterable<Made>): Generator<Made | Frame> {
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
    } else if (!this.#held.isEmpty) yield* toFrames(runSteps(this.#held.whole(check), this.#rest, this.#leaf), check);
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
      const best = runSteps(this.#held.whole(this.#leaf.check), [{ ...sort, offset: 0, limit: wanted }], this.#leaf);
      this.#held.replace(best, this.#leaf.check);
      this.#foldAt = heldRows + best.rowCount;
      const sortBytes = this.#options.spill?.sortBytes ?? Infinity;
      this.#foldAtBytes = sortBytes + this.#held.bytes;
      if (this.#held.bytes < sortBytes / 2) return;
    }
    if (this.#options.spill !== undefined && typeof this.#kinds === 'string') this.#putOnDisk(sort);
  }

  #putOnDisk(sort: Extract<PostStep, { step: 'sort' }>): void {
    const { spill } = this.#options;
    if (this.#held.rowCount === 0 || spill === undefined) return;
    if (typeof this.#kinds !== 'string')
      throw new ServiceError(
        'resource_limit',
        `ordering more than ${this.#options.heldRows ?? HELD_ROWS} rows needs columns to have one type in all segments`,
      );
    this.#runs ??= new SortedRuns(spill, this.#leaf);
    this.#runs.add(runSteps(this.#held.whole(this.#leaf.check), [{ ...sort, offset: 0, limit: null }], this.#leaf), sort.by);
    this.#held.clear();
    this.#foldAt = this.#options.heldRows ?? HELD_ROWS;
    this.#foldAtBytes = spill.sortBytes;
  }

  #noteKinds(types: readonly ColumnType[]): void {
    const kinds = types.join();
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

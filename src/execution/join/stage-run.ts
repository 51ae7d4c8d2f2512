// Runs the stages of a plan (filters, unnesting, joins) over stretches of rows.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { FilterStage, JoinStage, Stage, UnnestStage } from '../../model/stage.js';
import { columnsThrough } from '../../model/stage-columns.js';
import type { SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext } from '../block/context.js';
import { pickRows, sliceView } from '../block/view-rows.js';
import { openScope } from '../expression/open-scope.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { bindFilter } from '../filter/bind.js';
import { ALL, NONE } from '../filter/predicate.js';
import type { BuildSide } from './build-side.js';
import { JoinRun } from './join-run.js';
import { LeadRun, NO_STAGES } from './lead-run.js';
import { unnestRows } from './unnest-rows.js';

/** Rows that go through the stages at a time; a multiple of BLOCK_ROWS. */
const STRETCH_ROWS = 1 << 18;
/** Rows that are left of several stretches go on together: what follows costs something for each piece, whatever its rows. */
const WAITING_ROWS = 1 << 16;

/** One stage on one thread. A piece that it gives is void when the next one is asked for. */
interface StageStep {
  /** Runs the stages over a view of at most STRETCH_ROWS rows. */
  run(view: SegmentView): Generator<SegmentView>;
  /** Rows that come from no row of any view: after the last of them. */
  rest(): Generator<SegmentView>;
  /** The views so far, and what belongs to them, do not come again. */
  forget(): void;
  close(): void;
}

/** The stages of a plan on one thread. */
export class StageRun {
  readonly #steps: readonly StageStep[];
  readonly #context: RunContext;
  readonly #lead: LeadRun;
  readonly #stages: readonly Stage[];
  readonly #wanted: readonly string[];
  /** Columns that are needed once the first conditions are through, by the joins that are done with them. */
  readonly #needed = new Map<ReadonlySet<number>, ReadonlySet<string>>();
  readonly #waits: boolean;
  readonly #arena: Arena;
  /** Numbers of rows, u32, that wait for more of their view; 0: there were none yet. */
  #waitingAt: Address = 0;
  #waitingRows = 0;
  #waitingView: SegmentView | undefined;

  /**
   * @param wanted  columns that are read of the result
   * @param builds  by the ids of build sides
   * @param waits   whether rows may wait for more: whoever wants few of them wants the first ones soon
   */
  constructor(
    context: RunContext,
    stages: readonly Stage[],
    wanted: Iterable<string>,
    builds: Readonly<Record<string, BuildSide>>,
    waits = true,
  ) {
    this.#stages = stages;
    this.#wanted = [...wanted];
    const { after } = columnsThrough(stages, this.#wanted);
    this.#context = context;
    this.#waits = waits;
    this.#arena = context.memory.arena();
    this.#lead = new LeadRun(context, stages, builds);
    this.#steps = stages.map((stage, index) => stepOf(context, stage, after[index] ?? new Set(), builds));
  }

  /** Rows [start, end) of a view, `start` a multiple of BLOCK_ROWS, through all stages. */
  *pieces(view: SegmentView, start = 0, end = view.rowCount): Generator<SegmentView> {
    yield* this.begin(view, start, end);
    yield* this.waiting();
  }

  /** The same, but the last rows may wait for more of the view: until `waiting` is called, which is before another view begins. */
  *begin(view: SegmentView, start = 0, end = view.rowCount): Generator<SegmentView> {
    for (let at = start; at < end; at += STRETCH_ROWS) {
      const to = Math.min(end, at + STRETCH_ROWS);
      const count = this.#lead.select(view, at, to);
      if (count === to - at) {
        yield* this.waiting();
        yield* this.#through(sliceView(view, at, to), this.#lead.stageCount, this.#lead.done(view));
        continue;
      }
      if (this.#waitingRows + count > WAITING_ROWS) yield* this.waiting();
      if (count > WAITING_ROWS) yield* this.#picked(view, count, (out) => this.#lead.list(at, to, out));
      else if (count > 0) {
        this.#wait(view, count, (out) => this.#lead.list(at, to, out));
        if (!this.#waits) yield* this.waiting();
      }
    }
  }

  /** Rows that wait, through the stages. */
  *waiting(): Generator<SegmentView> {
    const [view, count] = [this.#waitingView, this.#waitingRows];
    if (view === undefined || count === 0) return;
    const { memory } = this.#context;
    yield* this.#picked(view, count, (out) => memory.u32(out, count).set(memory.u32(this.#waitingAt, count)));
  }

  #wait(view: SegmentView, count: number, list: (out: Address) => void): void {
    if (this.#waitingAt === 0) this.#waitingAt = this.#arena.take(WAITING_ROWS * 4);
    list(this.#waitingAt + this.#waitingRows * 4);
    this.#waitingView = view;
    this.#waitingRows += count;
  }

  /** Rows of a view that `list` numbers, gathered, through the stages. */
  *#picked(view: SegmentView, count: number, list: (out: Address) => void): Generator<SegmentView> {
    const arena = this.#context.memory.arena();
    try {
      const at = arena.take(count * 4);
      list(at);
      this.#waitingRows = 0;
      const done = this.#lead.done(view);
      yield* this.#through(pickRows(this.#context, arena, view, { at, count }, this.#neededBut(done)), this.#lead.stageCount, done);
    } finally {
      arena.release();
    }
  }

  #neededBut(done: ReadonlySet<number>): ReadonlySet<string> {
    const known = this.#needed.get(done);
    if (known !== undefined) return known;
    const left = this.#stages.filter((_, index) => index >= this.#lead.stageCount && !done.has(index));
    const { before } = columnsThrough(left, this.#wanted);
    this.#needed.set(done, before);
    return before;
  }

  /** Unmatched rows of the build sides; called once, after all rows of all threads. */
  *rest(): Generator<SegmentView> {
    for (const [index, step] of this.#steps.entries()) for (const piece of step.rest()) yield* this.#through(piece, index + 1, NO_STAGES);
  }

  /** Forgets everything that was read from the views, before they are freed. */
  forget(): void {
    this.#lead.forget();
    this.#waitingView = undefined;
    this.#waitingRows = 0;
    for (const step of this.#steps) step.forget();
  }

  close(): void {
    this.#lead.close();
    this.#arena.release();
    for (const step of this.#steps) step.close();
  }

  /** @param done  stages that are passed over */
  *#through(view: SegmentView, from: number, done: ReadonlySet<number>): Generator<SegmentView> {
    const step = this.#steps[from];
    if (view.rowCount === 0) return;
    if (done.has(from)) {
      yield* this.#through(view, from + 1, done);
      return;
    }
    if (step === undefined) {
      yield view;
      return;
    }
    // Joins make more of their rows than came in.
    for (let at = 0; at < view.rowCount; at += STRETCH_ROWS) {
      const stretch = sliceView(view, at, Math.min(view.rowCount, at + STRETCH_ROWS));
      for (const piece of step.run(stretch)) yield* this.#through(piece, from + 1, done);
    }
  }
}

function stepOf(context: RunContext, stage: Stage, needed: ReadonlySet<string>, builds: Readonly<Record<string, BuildSide>>): StageStep {
  switch (stage.kind) {
    case 'filter':
      return filterStep(context, stage, needed);
    case 'unnest':
      return unnestStep(context, stage, needed);
    case 'join':
      return joinStep(context, stage, needed, builds);
  }
}

function filterStep(context: RunContext, { filter }: FilterStage, needed: ReadonlySet<string>): StageStep {
  const arena = context.memory.arena();
  return {
    *run(view) {
      const scope = openScope(context, view, {}, arena);
      try {
        const predicate = bindFilter(scope, filter, false);
        if (predicate.constant === NONE) return;
        if (predicate.constant === ALL) {
          yield view;
          return;
        }
        const at = arena.take(view.rowCount * 4);
        const count = listRows(context, view, at, (block, out) => {
          const match = predicate.test(block);
          if (match === NONE) return 0;
          if (match !== ALL) return context.kernels.bitsToRows(match, 0, block.rows, out);
          const rows = context.memory.u32(out, block.rows);
          for (let row = 0; row < block.rows; row++) rows[row] = row;
          return block.rows;
        });
        if (count > 0) yield count === view.rowCount ? view : pickRows(context, arena, view, { at, count }, needed);
      } finally {
        arena.release();
      }
    },
    *rest() {},
    forget: () => undefined,
    close: () => arena.release(),
  };
}

/** Lists rows block by block; `list` counts rows from the start of its block. */
function listRows(
  { memory, check }: RunContext,
  { rowCount }: SegmentView,
  out: Address,
  list: (block: { readonly start: number; readonly rows: number }, out: Address) => number,
): number {
  let count = 0;
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    check();
    const found = list(blockAt(start, rowCount), out + count * 4);
    if (start > 0) {
      const rows = memory.u32(out + count * 4, found);
      for (let at = 0; at < found; at++) rows[at] = (rows[at] ?? 0) + start;
    }
    count += found;
  }
  return count;
}

function unnestStep(context: RunContext, { column }: UnnestStage, needed: ReadonlySet<string>): StageStep {
  const arena = context.memory.arena();
  return {
    *run(view) {
      try {
        const scope = openScope(context, view, virtualColumnsByName([column]), arena);
        for (const { rows, values } of unnestRows(scope, column.name)) {
          const picked = pickRows(context, arena, view, rows, needed);
          yield { ...picked, columns: { ...picked.columns, [column.name]: values } };
        }
      } finally {
        arena.release();
      }
    },
    *rest() {},
    forget: () => undefined,
    close: () => arena.release(),
  };
}

function joinStep(
  context: RunContext,
  stage: JoinStage,
  needed: ReadonlySet<string>,
  builds: Readonly<Record<string, BuildSide>>,
): StageStep {
  return new JoinRun(context, stage, needed, buildOf(stage, builds));
}

export function buildOf({ build }: JoinStage, builds: Readonly<Record<string, BuildSide>>): BuildSide {
  const found = own(builds, build.id);
  if (found === undefined) throw new Error(`the build side ${build.id} was not placed`);
  return found;
}

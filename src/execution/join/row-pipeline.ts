// Runs a plan over rows that come as frames, chunk by chunk on one thread.

import type { Interval } from '../../base/instant.js';
import { intersect } from '../../base/interval.js';
import { extended } from '../../base/names.js';
import { type Frame, frameColumnType, isNullAt } from '../../model/frame.js';
import type { GroupPlan, RowPlan, ScanPlan } from '../../model/plan.js';
import { arrivalName } from '../../model/rewrite/arrival-time.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import { uploadFrame } from '../../storage/uploaded-frame.js';
import { NO_ROWS, type SegmentView } from '../../storage/view.js';
import { concatFrames } from '../block/concat-frames.js';
import type { RunContext } from '../block/context.js';
import { frameBytes } from '../block/frame-bytes.js';
import { framesOf } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import { columnsRead } from '../expression/columns-of-plan.js';
import { layoutGroups, queryColumns } from '../group/key/layout.js';
import { endGroups } from '../group/operator.js';
import { addView } from '../group/run.js';
import { GroupTable } from '../group/table/group-table.js';
import { NO_EMPTY_VALUES } from '../post/leaf-result.js';
import { runSteps } from '../post/steps.js';
import { StreamedSteps } from '../post/stream.js';
import { boundaryRows } from '../scan/time-boundary.js';
import { asTheyArrive, inArrivalOrder, isOutOfOrder } from './arrival-order.js';
import { POSITION, readable } from './readable-rows.js';
import { findColumn, gatherFrame } from './rows.js';
import { dictionariesAfter, viewAfter, viewOfColumns } from './stage-columns.js';
import { StageRun } from './stage-run.js';
import { type Builds, boundaryOfPieces, scanPieces } from './with-stages.js';

/** Enough rows that placing them costs little beside reading them. */
const CHUNK_ROWS = 1 << 17;
/** First chunk size; chunks grow, so that the first rows of a pass-through leave early. */
const FIRST_CHUNK_ROWS = 1 << 12;
const CHUNK_GROWTH = 4;
/** Wide rows fill a chunk earlier. */
const CHUNK_BYTES = 32 << 20;

export interface PipelineOptions {
  readonly plan: RowPlan;
  readonly builds: Builds;
  /** Known columns of the incoming rows; further columns are taken from the first chunk. */
  readonly columns: readonly ColumnSchema[];
  readonly heldRowsMax: number;
  /** Rows placed at a time; null: as many as is good. For tests. */
  readonly chunkRows: number | null;
}

/**
 * A plan over rows that come as frames, on one thread, from the first row to the result: frames are joined to chunks,
 * uploaded in kernel memory, sent through the stages and read as segments are. Groups stay in one table, which spills
 * where tables do. `add` and `end` are read to their ends before anything else is called; then `close`.
 */
export class RowPipeline {
  readonly #context: RunContext;
  readonly #counts: RowCounts;
  #options: PipelineOptions;
  #stages: StageRun;
  #operator: Operator;
  #hasBegun = false;
  /** Whether rows stay in the order in which they come. */
  #arrives = false;
  #pending: Frame[] = [];
  #pendingRows = 0;
  #pendingBytes = 0;
  #chunkRows: number;
  #span: Interval | undefined;

  constructor(options: PipelineOptions, context: RunContext, counts: RowCounts) {
    this.#options = options;
    this.#context = context;
    this.#counts = counts;
    this.#chunkRows = options.chunkRows ?? (options.plan.operator === 'scan' ? FIRST_CHUNK_ROWS : CHUNK_ROWS);
    this.#stages = stagesOf(options, context);
    this.#operator = operatorOf(options, context, counts);
  }

  /** No further row can change the result. */
  get isDone(): boolean {
    return this.#operator.isDone;
  }

  *add(frame: Frame): Generator<Frame> {
    if (frame.rowCount === 0) return;
    this.#pending.push(frame);
    this.#pendingRows += frame.rowCount;
    this.#pendingBytes += frameBytes(frame);
    if (this.#pendingRows < this.#chunkRows && this.#pendingBytes < CHUNK_BYTES) return;
    if (this.#options.chunkRows === null) this.#chunkRows = Math.min(this.#chunkRows * CHUNK_GROWTH, CHUNK_ROWS);
    yield* this.#runChunk();
  }

  *end(): Generator<Frame> {
    if (this.#pendingRows > 0 && !this.isDone) yield* this.#runChunk();
    if (!this.isDone) yield* this.#operator.read(this.#stages.rest());
    yield* this.#operator.end(this.#span);
  }

  close(): void {
    this.#stages.close();
    this.#operator.close();
  }

  /** Before the first chunk: rows that are not in order of time need not be put in it for every plan. */
  #begin(chunk: Frame): void {
    this.#hasBegun = true;
    const plan = isOutOfOrder(chunk) ? inArrivalOrder(this.#options.plan) : undefined;
    if (plan === undefined) return;
    this.close();
    const columns = this.#options.columns.map((column) => ({ ...column, name: arrivalName(column.name) }));
    this.#options = { ...this.#options, plan, columns };
    this.#arrives = true;
    this.#stages = stagesOf(this.#options, this.#context);
    this.#operator = operatorOf(this.#options, this.#context, this.#counts);
  }

  *#runChunk(): Generator<Frame> {
    const whole = concatFrames(this.#pending);
    [this.#pending, this.#pendingRows, this.#pendingBytes] = [[], 0, 0];
    if (!this.#hasBegun) this.#begin(whole);
    const chunk = this.#arrives ? asTheyArrive(whole) : whole;
    this.#operator.open(chunk);
    if (this.#options.plan.operator === 'group' && this.#options.plan.withinData === true) this.#span = widened(this.#span, chunk);
    for (const { rows, isMoved } of readable(chunk, this.#options.plan)) {
      if (this.isDone) return;
      const placed = uploadFrame(rows, this.#context.memory, this.#context.kernels);
      try {
        const pieces = this.#stages.pieces(placed.view);
        yield* isMoved ? this.#operator.readMoved(pieces) : this.#operator.read(pieces);
      } finally {
        this.#stages.forget();
        placed.release();
      }
    }
  }
}

/** Rows keep their place in the chunk through all stages. */
function stagesOf({ plan, builds }: PipelineOptions, context: RunContext): StageRun {
  return new StageRun(context, plan.stages ?? [], [...columnsRead(plan), POSITION], builds);
}

/** The operator that a pipeline feeds with batches. */
interface Operator {
  readonly isDone: boolean;
  /** Announces the column types of a chunk before its rows. */
  open(chunk: Frame): void;
  read(pieces: Iterable<SegmentView>): Iterable<Frame>;
  /** Pieces of a chunk that was put in order of time; `POSITION` tells the order in which its rows came. */
  readMoved(pieces: Iterable<SegmentView>): Iterable<Frame>;
  end(span: Interval | undefined): Iterable<Frame>;
  close(): void;
}

function operatorOf(options: PipelineOptions, context: RunContext, counts: RowCounts): Operator {
  const { plan } = options;
  switch (plan.operator) {
    case 'group':
      return groupOperator(plan, options, context, counts);
    case 'scan':
      return new ScanOperator(plan, options, context, counts);
    case 'timeBoundary': {
      let [min, max] = [Infinity, -Infinity];
      const read = (pieces: Iterable<SegmentView>): Iterable<Frame> => {
        const [first, last] = boundaryOfPieces(plan, pieces, context, counts).columns;
        if (first?.kind !== 'long' || last?.kind !== 'long' || first.values.length === 0) return [];
        min = Math.min(min, Number(first.values[0]));
        max = Math.max(max, Number(last.values[0]));
        return [];
      };
      const leaf = { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: context.check, context };
      const end = () => framesOf(runSteps(boundaryRows(min, max), plan.post, leaf), context.check);
      return { isDone: false, open: () => undefined, read, readMoved: read, end, close: () => undefined };
    }
  }
}

function groupOperator(plan: GroupPlan, options: PipelineOptions, context: RunContext, counts: RowCounts): Operator {
  let table: GroupTable | undefined;
  const tableFor = (shaped: GroupPlan, columns: readonly ColumnSchema[]): GroupTable => {
    const { builds } = options;
    const stages = plan.stages ?? [];
    const view = { ...NO_ROWS, columns: viewOfColumns(columns) };
    const after = viewAfter(view, stages, builds);
    const shared = dictionariesAfter(stages, builds, [NO_ROWS.id], {});
    return new GroupTable(layoutGroups(shaped, queryColumns(shaped, [after], shared, 'open'), context.groupBytesMax), context);
  };
  const open = (chunk: Frame): void => {
    table ??= tableFor(plan, [...columnsOf(chunk), ...options.columns]);
  };
  const read = (pieces: Iterable<SegmentView>): Iterable<Frame> => {
    for (const piece of pieces) {
      // Rows may come from a build side alone.
      table ??= tableFor(plan, options.columns);
      addView(table, context, piece, 0, counts);
    }
    return [];
  };
  return {
    isDone: false,
    open,
    read,
    readMoved: read,
    *end(span) {
      const within = withinRows(plan, span);
      if (within === undefined) return;
      const full = table ?? tableFor(within, options.columns);
      table = undefined;
      if (within === plan || full.layout.plan === within) yield* endGroups(full, [], 'final', options.heldRowsMax, counts, framesOf);
      else {
        // Buckets are filled, and named, within the intervals of the rows, which are known only now.
        const layout = { ...full.layout, plan: within, keys: full.layout.keys.map((key, index) => keyWithin(key, within, index)) };
        const narrowed = new GroupTable(layout, context);
        yield* endGroups(narrowed, [full.detach()], 'final', options.heldRowsMax, counts, framesOf);
      }
    },
    close: () => table?.free(),
  };
}

/** The one bucket of granularity `all` begins where the intervals do. */
function keyWithin<Key extends GroupTable['layout']['keys'][number]>(key: Key, { keys, intervals }: GroupPlan, index: number): Key {
  const start = intervals[0]?.start;
  if (key.domain.kind !== 'constant' || keys[index]?.kind !== 'time' || start === undefined) return key;
  return { ...key, domain: { ...key.domain, value: BigInt(start) } };
}

function columnsOf(chunk: Frame): readonly ColumnSchema[] {
  return chunk.columns.map((column) => ({ name: column.name, type: frameColumnType(column), multiValue: false, hasNulls: true }));
}

class ScanOperator implements Operator {
  readonly #plan: ScanPlan;
  readonly #context: RunContext;
  readonly #counts: RowCounts;
  readonly #steps: StreamedSteps;
  #toSkip: number;
  #toTake: number;

  constructor(asked: ScanPlan, { heldRowsMax }: PipelineOptions, context: RunContext, counts: RowCounts) {
    const plan = extended(asked, { stages: [] });
    const leaf = { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: context.check, context };
    this.#plan = plan;
    this.#context = context;
    this.#counts = counts;
    this.#steps = new StreamedSteps(plan.post, leaf, { heldRowsMax, spill: context.spill });
    this.#toSkip = plan.offset;
    this.#toTake = plan.limit ?? Infinity;
  }

  get isDone(): boolean {
    return this.#toTake <= 0;
  }

  open(): void {}

  read(pieces: Iterable<SegmentView>): Iterable<Frame> {
    const limit = this.#toTake === Infinity ? null : this.#toSkip + this.#toTake;
    return this.#put(scanPieces({ ...this.#plan, offset: 0, limit }, pieces, this.#context, 'partial', this.#counts));
  }

  *readMoved(pieces: Iterable<SegmentView>): Generator<Frame> {
    const plan = { ...this.#plan, columns: [...this.#plan.columns, POSITION], offset: 0, limit: null };
    const moved = concatFrames([...scanPieces(plan, pieces, this.#context, 'partial', this.#counts)]);
    const position = moved.columns.at(-1);
    if (position?.kind !== 'long') return;
    const places = Float64Array.from(position.values, Number);
    const order = Uint32Array.from(places, (_, row) => row).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0) || a - b);
    yield* this.#put([gatherFrame({ ...moved, columns: moved.columns.slice(0, -1) }, order)]);
  }

  end(): Iterable<Frame> {
    return this.#steps.end();
  }

  close(): void {
    this.#steps.close();
  }

  *#put(frames: Iterable<Frame>): Generator<Frame> {
    for (const frame of frames) {
      const start = Math.min(this.#toSkip, frame.rowCount);
      const end = Math.min(frame.rowCount, start + this.#toTake);
      this.#toSkip -= start;
      this.#toTake -= end - start;
      this.#counts.rowsToFinish += end - start;
      if (start < end) yield* this.#steps.push(start === 0 && end === frame.rowCount ? frame : rowsBetween(frame, start, end));
      if (this.#toTake <= 0) return;
    }
  }
}

function rowsBetween(frame: Frame, start: number, end: number): Frame {
  return gatherFrame(
    frame,
    Uint32Array.from({ length: end - start }, (_, row) => row + start),
  );
}

function widened(span: Interval | undefined, chunk: Frame): Interval | undefined {
  const time = findColumn(chunk, TIME_COLUMN);
  if (time?.kind !== 'long') return span;
  let { start, end } = span ?? { start: Infinity, end: -Infinity };
  time.values.forEach((value, row) => {
    if (isNullAt(time.nulls, row)) return;
    const at = Number(value);
    if (at < start) start = at;
    if (at >= end) end = at + 1;
  });
  return start < end ? { start, end } : span;
}

/** Buckets without rows exist only between the first and the last row; undefined when there are none. */
function withinRows(plan: GroupPlan, span: Interval | undefined): GroupPlan | undefined {
  if (plan.withinData !== true || !plan.keys.some(({ kind }) => kind === 'time')) return plan;
  if (span === undefined) return undefined;
  const intervals = plan.intervals.flatMap((interval) => intersect(interval, span) ?? []);
  return intervals.length === 0 ? undefined : { ...plan, intervals };
}

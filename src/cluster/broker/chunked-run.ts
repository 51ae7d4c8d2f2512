import { ServiceError } from '../../base/errors.js';
import { intersect } from '../../base/interval.js';
import type { Engine, RunOptions } from '../../execution/contract.js';
import { concatFrames } from '../../execution/merge/concat.js';
import { findColumn, gatherFrame, rowsByTime } from '../../execution/source/rows.js';
import type { Frame } from '../../model/frame.js';
import type { Interval } from '../../model/interval.js';
import type { FinishStep, ScanPlan } from '../../model/plan.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/plan-names.js';
import type { RowsPlan } from '../../model/row-source.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentView } from '../../storage/view.js';

/** Puts rows into kernel memory; the caller releases them. */
export type PlaceFrame = (frame: Frame) => { readonly view: SegmentView; release(): void };

export interface ChunkedRunOptions {
  readonly engine: Engine;
  readonly placeFrame: PlaceFrame;
  readonly runOptions: Omit<RunOptions, 'ending'>;
  readonly signal: AbortSignal;
}

/** Rows of partial results that are held before they are merged into fewer. */
const HELD_ROWS = 1 << 18;

/** Where a row stood in its chunk before the chunk was put in order of time. */
const POSITION = 'position in chunk';

/** Runs one plan over rows that come in chunks: each is placed, read by the engine as a segment is, and released. */
export class ChunkedRun {
  readonly #options: ChunkedRunOptions;

  constructor(options: ChunkedRunOptions) {
    this.#options = options;
  }

  run(plan: RowsPlan, chunks: AsyncIterable<Frame>): AsyncIterable<Frame> {
    return plan.operator === 'scan' ? this.#scan(inOrder(plan), chunks) : this.#reduce(plan, chunks);
  }

  #scan(plan: ScanPlan, chunks: AsyncIterable<Frame>): AsyncIterable<Frame> {
    const scanChunk = (chunk: Frame): AsyncIterable<Frame> => this.#scanChunk(plan, chunk);
    async function* rows(): AsyncGenerator<Frame> {
      for await (const chunk of chunks) yield* scanChunk(chunk);
    }
    return this.#options.engine.merge(plan, [rows()], { ...this.#options.runOptions, ending: 'final' }, this.#options.signal);
  }

  async *#scanChunk(plan: ScanPlan, chunk: Frame): AsyncGenerator<Frame> {
    const { rows, isMoved } = readable(chunk, plan);
    if (!isMoved) return yield* this.#partial(plan, rows);
    const columns = [...plan.columns, POSITION];
    const parts: Frame[] = [];
    for await (const part of this.#partial({ ...plan, columns, offset: 0, limit: null }, rows)) parts.push(part);
    const moved = concatFrames(parts);
    const position = moved.columns.at(-1);
    if (position?.kind !== 'long') return;
    const places = Float64Array.from(position.values, Number);
    const order = Uint32Array.from(places, (_, row) => row).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
    yield gatherFrame({ ...moved, columns: moved.columns.slice(0, -1) }, order);
  }

  /** Groups and bounds: what is held is the partial results, merged whenever they have doubled. */
  async *#reduce(plan: Exclude<RowsPlan, ScanPlan>, chunks: AsyncIterable<Frame>): AsyncGenerator<Frame> {
    const { engine, runOptions, signal } = this.#options;
    let parts: Frame[] = [];
    let heldRows = 0;
    let mergeAt = HELD_ROWS;
    let span: Interval | undefined;
    for await (const chunk of chunks) {
      span = widened(span, chunk);
      for await (const part of this.#partial(plan, readable(chunk, plan).rows)) {
        parts.push(part);
        heldRows += part.rowCount;
      }
      if (heldRows < mergeAt) continue;
      const merged: Frame[] = [];
      for await (const part of engine.merge(plan, [each(parts)], { ...runOptions, ending: 'partial' }, signal)) merged.push(part);
      parts = merged;
      heldRows = merged.reduce((rows, { rowCount }) => rows + rowCount, 0);
      mergeAt = Math.max(HELD_ROWS, heldRows * 2);
    }
    const narrowed = withinRows(plan, span);
    if (narrowed !== undefined) yield* engine.merge(narrowed, [each(parts)], { ...runOptions, ending: 'final' }, signal);
  }

  async *#partial(plan: RowsPlan, rows: Frame): AsyncGenerator<Frame> {
    const placed = this.#options.placeFrame(rows);
    try {
      yield* this.#options.engine.runViews(plan, [placed.view], { ...this.#options.runOptions, ending: 'partial' }, this.#options.signal);
    } finally {
      placed.release();
    }
  }
}

/** Chunks are not in time order among each other, so ordering by time is a step after they have met. */
function inOrder(plan: ScanPlan): ScanPlan {
  if (plan.timeOrder === null) return plan;
  const { offset, limit, columns } = plan;
  const by = [{ column: TIME_COLUMN, descending: plan.timeOrder === 'descending', nulls: 'first', ordering: 'numeric' }] as const;
  const steps: FinishStep[] = [{ step: 'sort', by, offset, limit }];
  if (!columns.includes(TIME_COLUMN)) steps.push({ step: 'project', columns: columns.map((name) => ({ name, from: name })) });
  return {
    ...plan,
    columns: columns.includes(TIME_COLUMN) ? columns : [...columns, TIME_COLUMN],
    timeOrder: null,
    offset: 0,
    limit: null,
    finish: [...steps, ...plan.finish],
  };
}

/** The chunk as the engine reads segments: its `__time`, if it has one, ascends and is never null. */
function readable(chunk: Frame, plan: RowsPlan): { readonly rows: Frame; readonly isMoved: boolean } {
  const time = findColumn(chunk, TIME_COLUMN);
  if (time === undefined) return { rows: chunk, isMoved: false };
  if (time.kind !== 'long' || time.nulls !== null) {
    // Rows of an outer join that have no row of the base table have no time either.
    if (time.kind === 'long' && readsTime(plan))
      throw new ServiceError(
        'unsupported',
        `${TIME_COLUMN} of rows that an outer join made without a left row is not supported; leave it out`,
      );
    return { rows: { ...chunk, columns: chunk.columns.filter((column) => column !== time) }, isMoved: false };
  }
  const order = rowsByTime(chunk);
  if (order === null) return { rows: chunk, isMoved: false };
  const sorted = gatherFrame(chunk, order);
  if (plan.operator !== 'scan') return { rows: sorted, isMoved: true };
  const position = { kind: 'long', name: POSITION, values: BigInt64Array.from(order, BigInt), nulls: null } as const;
  return { rows: { ...sorted, columns: [...sorted.columns, position] }, isMoved: true };
}

function readsTime(plan: RowsPlan): boolean {
  if (plan.operator === 'timeBoundary') return true;
  const names = new Set(plan.virtualColumns.flatMap(({ expression }) => [...columnsOfExpression(expression)]));
  if (plan.filter !== null) for (const name of columnsOfFilter(plan.filter)) names.add(name);
  if (plan.operator === 'scan') for (const name of plan.columns) names.add(name);
  else {
    for (const key of plan.keys) names.add(key.kind === 'time' ? TIME_COLUMN : key.column);
    for (const aggregator of plan.aggregators) {
      if (aggregator.filter !== null) for (const name of columnsOfFilter(aggregator.filter)) names.add(name);
      if ('column' in aggregator) names.add(aggregator.column);
    }
  }
  return names.has(TIME_COLUMN);
}

function widened(span: Interval | undefined, chunk: Frame): Interval | undefined {
  const time = findColumn(chunk, TIME_COLUMN);
  if (time?.kind !== 'long') return span;
  let { start, end } = span ?? { start: Infinity, end: -Infinity };
  for (const value of time.values) {
    const at = Number(value);
    if (at < start) start = at;
    if (at >= end) end = at + 1;
  }
  return { start, end };
}

/** Buckets without rows exist only between the first and the last row; undefined when there are none. */
function withinRows(plan: Exclude<RowsPlan, ScanPlan>, span: Interval | undefined): Exclude<RowsPlan, ScanPlan> | undefined {
  if (plan.operator !== 'group' || plan.withinData !== true || !plan.keys.some(({ kind }) => kind === 'time')) return plan;
  if (span === undefined) return undefined;
  const intervals = plan.intervals.flatMap((interval) => intersect(interval, span) ?? []);
  return intervals.length === 0 ? undefined : { ...plan, intervals };
}

async function* each(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

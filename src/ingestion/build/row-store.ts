import type { Frame, FrameColumn } from '../../model/frame.js';
import type { Granularity } from '../../model/granularity.js';
import { AutoColumn } from '../column/auto-column.js';
import { ByteDictionary } from '../column/byte-dictionary.js';
import type { Metric } from '../spec/metric.js';
import { type Chunk, ChunkStore } from './chunk-store.js';
import type { FrameEngine } from './frame-engine.js';
import { decodeLists, encodeLists, rollupPlan, withArrivalTime, withTime } from './rollup.js';
import { allRows, type ColumnPlan, columnPlan, RunBuffer, timesOf } from './run-buffer.js';

export interface RowStoreOptions {
  readonly dataSource: string;
  readonly dimensions: readonly ColumnPlan[];
  /** Columns of input under their own names; with `rollup` they are aggregated, without only cast. */
  readonly metrics: readonly Metric[];
  readonly rollup: boolean;
  readonly segmentGranularity: Granularity;
  readonly maxRowsInMemory: number;
  readonly maxBytesInMemory: number;
  readonly workDirectory: string;
  /** Asked for only when rows are rolled up. */
  readonly engine: () => FrameEngine;
}

/**
 * All rows of a task between reading and segments: rows go into `input`, are rolled up a run at a time, and are kept
 * by time chunk. The order of rows within a chunk is that of arrival, or the engine's after rollup.
 */
export class RowStore {
  /** Where rows are appended; call `relieve` after every block. */
  readonly input: RunBuffer;
  private readonly options: RowStoreOptions;
  private readonly rolledUp: RunBuffer | null;
  private readonly chunks: ChunkStore;
  private readonly lists = new Set<string>();
  private runsRolledUp = 0;

  constructor(options: RowStoreOptions) {
    this.options = options;
    const { dimensions, metrics, rollup, maxBytesInMemory, segmentGranularity, workDirectory } = options;
    const inputs = metrics.filter(({ kind }) => kind !== 'count').map(({ name, type }) => columnPlan(name, type));
    this.input = new RunBuffer([...dimensions, ...inputs]);
    this.rolledUp = rollup
      ? new RunBuffer([...dimensions.map(keepingLists), ...metrics.map(({ name, type }) => columnPlan(name, type))])
      : null;
    // A quarter each for the run of rows, the dictionaries, and what is made of them when a segment is written.
    this.chunks = new ChunkStore({ segmentGranularity, workDirectory, dictionaryBytesMax: maxBytesInMemory / 4 });
  }

  get spilledBytes(): number {
    return this.chunks.spilledBytes;
  }

  /** Makes room when the run has grown to its limit. */
  async relieve(): Promise<void> {
    if (!this.isFull(this.input)) return;
    if (this.rolledUp === null) return this.chunks.add(this.input);
    await this.rollUp(this.rolledUp);
    if (this.isFull(this.rolledUp)) this.chunks.add(this.rolledUp);
  }

  async finish(): Promise<readonly Chunk[]> {
    if (this.rolledUp === null) return this.chunks.finish(this.input);
    await this.rollUp(this.rolledUp);
    return this.chunks.finish(this.rolledUp);
  }

  /** Dimensions that hold any value or were declared, in order, with the types they ended as. */
  dimensions(): readonly ColumnPlan[] {
    const metrics = new Set(this.options.metrics.map(({ name }) => name));
    const plans = new Map(this.options.dimensions.map((plan) => [plan.name, plan]));
    const dimensions: ColumnPlan[] = [];
    for (const column of (this.rolledUp ?? this.input).columns) {
      if (metrics.has(column.name)) continue;
      const declared = plans.get(column.name);
      if (column instanceof AutoColumn) {
        if (column.type !== null || declared !== undefined) dimensions.push(columnPlan(column.name, column.type ?? 'STRING'));
      } else dimensions.push(declared ?? columnPlan(column.name, 'STRING'));
    }
    return dimensions;
  }

  /**
   * The rows of a chunk in frames of at most `maxRows`, evenly cut. Columns: `__time`, dimensions, metrics.
   */
  async *frames(chunk: Chunk, maxRows: number): AsyncGenerator<Frame> {
    const columns = [...this.dimensions(), ...this.storedMetrics()];
    if (this.rolledUp === null || this.runsRolledUp <= 1) {
      for (const [from, to] of evenCuts(chunk.rowCount, maxRows)) yield this.withCounts(this.chunks.frame(chunk, columns, from, to));
      return;
    }
    const joined = new RunBuffer(columns.map(keepingLists));
    const pieces = [...this.chunks.frames(chunk, columns)].map((frame) => this.prepared(frame));
    const plan = rollupPlan(
      this.options.dataSource,
      this.dimensions().map(({ name }) => name),
      this.options.metrics,
      true,
    );
    for await (const frame of this.options.engine().run(plan, pieces)) this.append(frame, joined);
    for (const [from, to] of evenCuts(joined.rowCount, maxRows)) yield joined.toFrame(from, to);
  }

  close(): void {
    this.chunks.close();
  }

  private isFull(run: RunBuffer): boolean {
    return run.rowCount >= this.options.maxRowsInMemory || run.sizeBytes - run.dictionaryBytes >= this.options.maxBytesInMemory / 4;
  }

  private async rollUp(rolledUp: RunBuffer): Promise<void> {
    const { input } = this;
    if (input.rowCount === 0) return;
    this.runsRolledUp++;
    for (const column of input.columns) {
      if (rolledUp.column(column.name) === undefined)
        rolledUp.addColumn(columnPlan(column.name, column instanceof AutoColumn ? 'AUTO' : 'STRING', 'ARRAY'));
    }
    const metrics = new Set(this.options.metrics.map(({ name }) => name));
    const dimensions = input.columns.map(({ name }) => name).filter((name) => !metrics.has(name));
    const plan = rollupPlan(this.options.dataSource, dimensions, this.options.metrics, false);
    for await (const frame of this.options.engine().run(plan, [this.prepared(input.toFrame())])) this.append(frame, rolledUp);
    input.clear();
    if (input.dictionaryBytes < this.options.maxBytesInMemory / 4) return;
    for (const { column } of input.dictionaries()) column.replaceDictionary(new ByteDictionary());
  }

  private prepared(frame: Frame): Frame {
    for (const column of frame.columns) if (column.kind === 'multi') this.lists.add(column.name);
    return encodeLists(withArrivalTime(frame));
  }

  private append(frame: Frame, to: RunBuffer): void {
    const decoded = decodeLists(withTime(frame), this.lists);
    const times = timesOf(decoded);
    if (times !== undefined) to.appendFrame(decoded, times, allRows(frame.rowCount), new Uint8Array(frame.rowCount));
  }

  /** Without rollup a count is 1 and takes no memory until the segment is written. */
  private storedMetrics(): readonly ColumnPlan[] {
    return this.options.metrics
      .filter(({ kind }) => this.rolledUp !== null || kind !== 'count')
      .map(({ name, type }) => columnPlan(name, type));
  }

  private withCounts(frame: Frame): Frame {
    if (this.rolledUp !== null) return frame;
    const counts = this.options.metrics
      .filter(({ kind }) => kind === 'count')
      .map(({ name }): FrameColumn => ({ kind: 'long', name, values: new BigInt64Array(frame.rowCount).fill(1n), nulls: null }));
    return { ...frame, columns: [...frame.columns, ...counts] };
  }
}

/** Lists were ordered when they came in. */
function keepingLists(plan: ColumnPlan): ColumnPlan {
  return { ...plan, multiValueHandling: 'ARRAY' };
}

function* evenCuts(rowCount: number, maxRows: number): Generator<readonly [number, number]> {
  const parts = Math.ceil(rowCount / maxRows);
  for (let part = 0; part < parts; part++) yield [Math.floor((rowCount * part) / parts), Math.floor((rowCount * (part + 1)) / parts)];
}

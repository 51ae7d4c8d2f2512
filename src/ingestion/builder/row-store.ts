// All rows of a task between reading and segments.

import type { Frame, FrameColumn } from '../../model/frame.js';
import type { Buckets } from '../../model/granularity.js';
import { withArrivalTime, withTime } from '../../model/rewrite/arrival-time.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentPart } from '../../model/segment.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { AutoColumn } from '../column/auto-column.js';
import { DICTIONARIES_BYTES_MAX } from '../column/byte-dictionary.js';
import { type InputBench, inputBench } from '../column/input-bench.js';
import { allRows, type RunColumn, rowsBetween } from '../column/run-column.js';
import type { Metric } from '../task-spec/metric.js';
import { type HashedPartitions, maxRowsOf, type PartitionsSpec, type RangePartitions } from '../task-spec/partitions-spec.js';
import { type Chunk, ChunkStore, type HandedChunk, type HandedFile, type OpenedFile } from './chunk-store.js';
import type { FrameEngine } from './frame-engine.js';
import { isDividable, type KeyFrames, keyFrame, type Part, partsOf } from './partitions.js';
import { sortedBounds } from './range-bounds.js';
import { decodeLists, encodeLists, joinPlan, ROW_NUMBER, rollupPlan, rowPlan } from './rollup.js';
import { type ColumnPlan, columnPlan, RunBuffer, timesOf } from './run-buffer.js';

export interface RowStoreOptions {
  readonly dataSource: string;
  readonly dimensions: readonly ColumnPlan[];
  /** Metrics: aggregated by time and dimensions with `rollup`, computed for each row without. */
  readonly metrics: readonly Metric[];
  readonly rollup: boolean;
  /** Time chunks. */
  readonly buckets: Buckets;
  readonly maxRowsInMemory: number;
  readonly maxBytesInMemory: number;
  readonly workDirectory: string;
  /** Engine, requested only when rows are rolled up or metrics computed. */
  readonly engine: () => FrameEngine;
  /** Name of the kernel set; any, unless given. */
  readonly kernels?: string;
  /** Its rows are another store's, and are stored as they come. */
  readonly handsOver?: true;
}

/** Rows of a segment, and the part of their chunk that they are; null: any. */
export interface SegmentRows {
  readonly frame: SegmentFrame;
  /** Place among the parts of the chunk. */
  readonly at: number;
  readonly part: SegmentPart | null;
}

/** The rows of a time chunk, rolled up. */
interface ChunkRows {
  readonly count: number;
  between(from: number, to: number): SegmentFrame;
  /** @param rows  numbers of rows, ascending */
  of(rows: Uint32Array): SegmentFrame;
  /** The time and these columns of all rows, in order. */
  pieces(plans: readonly ColumnPlan[]): Iterable<Frame>;
}

/** Rows of a chunk whose keys are looked at together. */
const KEY_ROWS = 1 << 17;

/**
 * All rows of a task between reading and segments: rows go into `input`, are aggregated a run at a time, and are kept
 * by time chunk. The order of rows within a chunk is that of arrival, or the engine's after rollup. Numbers that are
 * stored as they come need no aggregation.
 */
export class RowStore {
  /** Kernels that its rows are looked up by. */
  readonly bench: InputBench;
  /** Buffer that rows are appended to; call `relieve` after every block. */
  readonly input: RunBuffer;
  readonly #options: RowStoreOptions;
  /** Runs as they are stored; null: as they come. */
  readonly #aggregated: RunBuffer | null;
  /** Columns that metrics read or are. */
  readonly #metricColumns: ReadonlySet<string>;
  readonly #chunks: ChunkStore;
  readonly #lists = new Set<string>();
  #runsRolledUp = 0;

  constructor(options: RowStoreOptions) {
    this.#options = options;
    const { dimensions, metrics, rollup, buckets, workDirectory, kernels, handsOver } = options;
    this.bench = inputBench(kernels);
    const inputs = new Map(metrics.flatMap((metric) => metric.inputs.map(({ column }) => [column.name, column] as const)));
    this.input = new RunBuffer([...dimensions, ...inputs.values()], this.bench);
    this.#metricColumns = new Set([...inputs.keys(), ...metrics.map(({ name }) => name)]);
    this.#aggregated =
      rollup || !metrics.every(isStoredAsItComes)
        ? new RunBuffer([...dimensions.map(keepingLists), ...metrics.map(({ name, type }) => columnPlan(name, type))], this.bench)
        : null;
    // A quarter of the memory each for the run of rows, for the dictionaries, and for the segment being written.
    this.#chunks = new ChunkStore({
      buckets,
      workDirectory,
      dictionaryBytesMax: this.#dictionaryBytesMax,
      ...(handsOver === undefined ? {} : { handsOver }),
    });
  }

  /** Dictionaries that are larger are begun anew. */
  get #dictionaryBytesMax(): number {
    return Math.min(this.#options.maxBytesInMemory / 4, DICTIONARIES_BYTES_MAX);
  }

  /** Whether rows are stored as they come, in columns whose types are known: several stores can then take them. */
  get isDivisible(): boolean {
    return this.#aggregated === null && !this.input.columns.some((column) => column instanceof AutoColumn);
  }

  get spilledBytes(): number {
    return this.#chunks.spilledBytes;
  }

  /** Makes room when the run has grown to its limit. */
  async relieve(): Promise<void> {
    if (!this.#isFull(this.input)) return;
    if (this.#aggregated === null) return this.#chunks.add(this.input);
    await this.#aggregate(this.#aggregated);
    if (this.#isFull(this.#aggregated)) this.#chunks.add(this.#aggregated);
  }

  /** All rows since the last call, out of this store: they stay in its file. */
  handOverRows(): readonly HandedChunk[] {
    if (this.input.rowCount > 0) this.#chunks.add(this.input);
    return this.#chunks.handOverRows();
  }

  /** Forgets the rows since `handOverRows`. */
  discardRows(): void {
    this.input.clear();
    this.#chunks.handOverRows();
  }

  /** Its file, to which nothing is added afterwards. */
  handOver(): HandedFile {
    return this.#chunks.handOver(this.input);
  }

  /** Opens the file of another store, whose rows are to be added. */
  openFile(file: HandedFile): OpenedFile {
    return this.#chunks.openFile(file);
  }

  /** Adds rows of another store behind those that are here. */
  addHanded(chunks: readonly HandedChunk[], file: OpenedFile): void {
    for (const chunk of chunks) this.#chunks.addHanded(chunk, file);
  }

  async finish(): Promise<readonly Chunk[]> {
    if (this.#aggregated === null) return this.#chunks.finish(this.input);
    await this.#aggregate(this.#aggregated);
    return this.#chunks.finish(this.#aggregated);
  }

  /** Dimensions that hold any value or were declared, in order, with the types they ended as. */
  dimensions(): readonly ColumnPlan[] {
    const plans = new Map(this.#options.dimensions.map((plan) => [plan.name, plan]));
    const dimensions: ColumnPlan[] = [];
    for (const column of (this.#aggregated ?? this.input).columns) {
      if (this.#metricColumns.has(column.name)) continue;
      const declared = plans.get(column.name);
      if (column instanceof AutoColumn) {
        if (column.type !== null || declared !== undefined) dimensions.push(columnPlan(column.name, column.type ?? 'STRING'));
      } else dimensions.push(declared ?? columnPlan(column.name, 'STRING'));
    }
    return dimensions;
  }

  /** The rows of a chunk in a frame for each segment. Columns: `__time`, dimensions, metrics. */
  async *frames(chunk: Chunk, partitions: PartitionsSpec): AsyncGenerator<SegmentRows> {
    const rows = await this.#rowsOf(chunk);
    const keys = (): Iterable<Frame> => (partitions.kind === 'dynamic' ? [] : rows.pieces(this.#keyColumns(partitions)));
    if (partitions.kind === 'dynamic' || !isDividable(partitions, keys)) {
      let at = 0;
      for (const [from, to] of evenCuts(rows.count, maxRowsOf(partitions))) yield { frame: rows.between(from, to), at: at++, part: null };
      return;
    }
    for (const { rows: numbers, at, part } of await this.#parts(partitions, rows.count, keys)) yield { frame: rows.of(numbers), at, part };
  }

  /** Parts of a chunk; the bounds of ranges whose keys outgrow memory are found by sorting them on disk. */
  async #parts(partitions: HashedPartitions | RangePartitions, rowCount: number, frames: KeyFrames): Promise<readonly Part[]> {
    const { maxBytesInMemory, engine } = this.#options;
    const parts = partsOf(partitions, rowCount, frames, maxBytesInMemory / 4);
    if (parts !== null || partitions.kind === 'hashed') return parts ?? [];
    const { dimensions } = partitions;
    const bounds = await sortedBounds(partitions, rowCount, keyFrames(frames(), dimensions), engine());
    return partsOf({ ...partitions, bounds }, rowCount, frames) ?? [];
  }

  /** The time and all dimensions of the rows of a chunk, some rows at a time. */
  async keysOf(chunk: Chunk): Promise<Iterable<Frame>> {
    return (await this.#rowsOf(chunk)).pieces(this.dimensions());
  }

  async #rowsOf(chunk: Chunk): Promise<ChunkRows> {
    const columns = [...this.dimensions(), ...this.#storedMetrics()];
    if (this.#aggregated === null || !this.#options.rollup || this.#runsRolledUp <= 1)
      return {
        count: chunk.rowCount,
        between: (from, to) => this.#withCounts(this.#chunks.frame(chunk, columns, from, to)),
        of: (rows) => this.#withCounts(this.#chunks.frameOf(chunk, columns, rows)),
        pieces: (keys) => this.#chunks.frames(chunk, keys),
      };
    const joined = new RunBuffer(columns.map(keepingLists), this.bench);
    const pieces = [...this.#chunks.frames(chunk, columns)].map((frame) => this.#prepared(frame));
    const plan = joinPlan(
      this.#options.dataSource,
      this.dimensions().map(({ name }) => name),
      this.#options.metrics,
    );
    for await (const frame of this.#options.engine().run(plan, pieces)) this.#append(frame, joined);
    return {
      count: joined.rowCount,
      between: (from, to) => joined.toFrame(from, to),
      of: (rows) => joined.frameOf(rows),
      *pieces(keys) {
        const names = new Set([TIME_COLUMN, ...keys.map(({ name }) => name)]);
        for (let from = 0; from < joined.rowCount; from += KEY_ROWS) {
          const frame = joined.toFrame(from, Math.min(joined.rowCount, from + KEY_ROWS));
          yield { ...frame, columns: frame.columns.filter(({ name }) => names.has(name)) };
        }
      },
    };
  }

  /** Columns that rows are divided by, beside the time. */
  #keyColumns({ dimensions }: HashedPartitions | RangePartitions): readonly ColumnPlan[] {
    const all = this.dimensions();
    return dimensions.length === 0 ? all : all.filter(({ name }) => dimensions.includes(name));
  }

  close(): void {
    this.input.close();
    this.#aggregated?.close();
    this.#chunks.close();
  }

  #isFull(run: RunBuffer): boolean {
    return run.rowCount >= this.#options.maxRowsInMemory || run.sizeBytes - run.dictionaryBytes >= this.#options.maxBytesInMemory / 4;
  }

  async #aggregate(into: RunBuffer): Promise<void> {
    const { input } = this;
    if (input.rowCount === 0) return;
    const dimensions = input.columns.filter(({ name }) => !this.#metricColumns.has(name));
    for (const column of dimensions) {
      if (into.column(column.name) === undefined)
        into.addColumn(columnPlan(column.name, column instanceof AutoColumn ? 'AUTO' : 'STRING', 'ARRAY'));
    }
    if (this.#options.rollup) await this.#rollUp(into, dimensions);
    else await this.#computeRows(into, dimensions);
    input.clear();
    if (input.dictionaryBytes < this.#dictionaryBytesMax) return;
    input.renewDictionaries();
  }

  async #rollUp(into: RunBuffer, dimensions: readonly RunColumn[]): Promise<void> {
    this.#runsRolledUp++;
    const names = dimensions.map(({ name }) => name);
    const plan = rollupPlan(this.#options.dataSource, names, this.#options.metrics);
    for await (const frame of this.#options.engine().run(plan, [this.#prepared(this.input.toFrame())])) this.#append(frame, into);
  }

  /** Dimensions stay as they are; the metrics come back with the numbers of their rows. */
  async #computeRows(into: RunBuffer, dimensions: readonly RunColumn[]): Promise<void> {
    const { input } = this;
    const rows = rowsBetween(0, input.rowCount);
    const read = input.columns.filter(({ name }) => this.#metricColumns.has(name)).map((column) => column.toFrameColumn(rows));
    const numbers: FrameColumn = { kind: 'long', name: ROW_NUMBER, values: BigInt64Array.from(rows, BigInt), nulls: null };
    const plan = rowPlan(this.#options.dataSource, this.#options.metrics);
    for await (const { rowCount, columns } of this.#options.engine().run(plan, [{ rowCount: rows.length, columns: [numbers, ...read] }])) {
      const [number, ...metrics] = columns;
      const found = number?.kind === 'long' ? Uint32Array.from(number.values, Number) : new Uint32Array(0);
      const frame = { rowCount, columns: [...dimensions.map((column) => column.toFrameColumn(found)), ...metrics] };
      into.appendFrame(frame, input.timesOf(found), allRows(rowCount), new Uint8Array(rowCount));
    }
  }

  #prepared(frame: Frame): Frame {
    const isList = ({ kind, name }: FrameColumn): boolean => kind === 'multi' && !this.#metricColumns.has(name);
    for (const column of frame.columns) if (isList(column)) this.#lists.add(column.name);
    return encodeLists(withArrivalTime(frame), this.#lists);
  }

  #append(frame: Frame, to: RunBuffer): void {
    const decoded = decodeLists(withTime(frame), this.#lists);
    const times = timesOf(decoded);
    if (times !== undefined) to.appendFrame(decoded, times, allRows(frame.rowCount), new Uint8Array(frame.rowCount));
  }

  /** Stored metrics. Without rollup a count is always 1 and takes no memory until the segment is written. */
  #storedMetrics(): readonly ColumnPlan[] {
    return this.#options.metrics
      .filter(({ aggregator }) => this.#aggregated !== null || aggregator.kind !== 'count')
      .map(({ name, type }) => columnPlan(name, type));
  }

  #withCounts(frame: SegmentFrame): SegmentFrame {
    if (this.#aggregated !== null) return frame;
    const counts = this.#options.metrics
      .filter(({ aggregator }) => aggregator.kind === 'count')
      .map(({ name }): FrameColumn => ({ kind: 'long', name, values: new BigInt64Array(frame.rowCount).fill(1n), nulls: null }));
    return { ...frame, columns: [...frame.columns, ...counts] };
  }
}

/** A count is, and what reads nothing but a column of its name. */
function isStoredAsItComes({ name, aggregator, inputs }: Metric): boolean {
  return aggregator.kind !== 'state' && aggregator.filter === null && inputs.every(({ column }) => column.name === name);
}

/** Lists were ordered when they came in. */
function keepingLists(plan: ColumnPlan): ColumnPlan {
  return { ...plan, multiValueHandling: 'ARRAY' };
}

async function* keyFrames(frames: Iterable<Frame>, dimensions: readonly string[]): AsyncGenerator<Frame> {
  for (const frame of frames) yield keyFrame(frame, dimensions);
}

function* evenCuts(rowCount: number, maxRows: number): Generator<readonly [number, number]> {
  const parts = Math.ceil(rowCount / maxRows);
  for (let part = 0; part < parts; part++) yield [Math.floor((rowCount * part) / parts), Math.floor((rowCount * (part + 1)) / parts)];
}

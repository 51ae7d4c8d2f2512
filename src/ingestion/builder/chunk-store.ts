// Keeps ingested rows by time chunk, in memory and on disk.

import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { type SpillBudget, type SpilledBytes, SpillFile } from '../../execution/spill/spill-file.js';
import type { Frame } from '../../model/frame.js';
import type { Buckets } from '../../model/granularity.js';
import { plainFrame, type SegmentFrame } from '../../storage/columns/packed-column.js';
import { ByteDictionary } from '../column/byte-dictionary.js';
import type { StoredColumn } from '../column/run-column.js';
import { type ChunkPiece, chunkFrame, type PieceColumn } from './chunk-frame.js';
import { DictionaryGeneration } from './dictionary-generation.js';
import type { ColumnPlan, RunBuffer } from './run-buffer.js';

/** The rows of one time chunk, in pieces: one for each run that had any. */
export interface Chunk {
  readonly interval: Interval;
  readonly rowCount: number;
}

export interface ChunkStoreOptions {
  readonly buckets: Buckets;
  readonly workDirectory: string;
  /** A generation of dictionaries that grew beyond it is written out. */
  readonly dictionaryBytesMax: number;
}

interface OpenChunk {
  readonly interval: Interval;
  rowCount: number;
  readonly pieces: (() => ChunkPiece)[];
}

/** A task may fill the disk under its working directory. */
const TASK_SPACE: SpillBudget = { directoryProperty: 'svc.indexer.task.directory', reserve: () => undefined, release: () => undefined };

/**
 * Takes in runs of rows and hands them out again by time chunk. A run is cut by chunk and written to the spill file,
 * the last one is kept in memory; so a small load never touches the disk, and a large one needs memory for one run,
 * the dictionaries, and the chunk being written.
 */
export class ChunkStore {
  readonly #options: ChunkStoreOptions;
  readonly #file: SpillFile;
  readonly #byStart = new Map<EpochMs, OpenChunk>();
  readonly #generations: DictionaryGeneration[] = [];
  #finished = false;

  constructor(options: ChunkStoreOptions) {
    this.#options = options;
    this.#file = new SpillFile(path.join(options.workDirectory, 'runs.spill'), TASK_SPACE);
    this.#generations.push(new DictionaryGeneration(this.#file));
  }

  get spilledBytes(): number {
    return this.#file.sizeBytes;
  }

  /** Takes the rows of `run` and empties it. */
  add(run: RunBuffer): void {
    this.#spill(run);
    if (run.dictionaryBytes > this.#options.dictionaryBytesMax) {
      this.#closeGeneration(run, true);
      this.#generations.push(new DictionaryGeneration(this.#file));
      for (const { column } of run.dictionaries()) column.replaceDictionary(new ByteDictionary());
    }
  }

  /** The last run. Afterwards the chunks can be read. */
  finish(run: RunBuffer): readonly Chunk[] {
    if (this.spilledBytes > 0) this.#spill(run);
    else this.#keep(run);
    run.release();
    this.#closeGeneration(run, this.#generations.length > 1);
    this.#finished = true;
    return [...this.#byStart.values()].sort((a, b) => a.interval.start - b.interval.start);
  }

  /** The pieces of a chunk as frames, each with its rows in order of arrival: for rollup, which joins them. */
  *frames(chunk: Chunk, columns: readonly ColumnPlan[]): Generator<Frame> {
    for (const load of this.#open(chunk).pieces) yield plainFrame(chunkFrame(columns, [load()]));
  }

  /** Rows [from, to) of a chunk as one frame, in order of arrival. */
  frame(chunk: Chunk, columns: readonly ColumnPlan[], from: number, to: number): SegmentFrame {
    const pieces: ChunkPiece[] = [];
    let start = 0;
    for (const load of this.#open(chunk).pieces) {
      if (start >= to) break;
      const piece = load();
      const end = start + piece.rowCount;
      if (end > from) pieces.push(piece.slice(Math.max(0, from - start), Math.min(piece.rowCount, to - start)));
      start = end;
    }
    return chunkFrame(columns, pieces);
  }

  /** These rows of a chunk, ascending, as one frame. */
  frameOf(chunk: Chunk, columns: readonly ColumnPlan[], rows: Uint32Array): SegmentFrame {
    const pieces: ChunkPiece[] = [];
    let start = 0;
    let at = 0;
    for (const load of this.#open(chunk).pieces) {
      if (at >= rows.length) break;
      const piece = load();
      const from = at;
      while (at < rows.length && (rows[at] ?? 0) < start + piece.rowCount) at++;
      if (at > from) pieces.push(at - from === piece.rowCount ? piece : piece.pick(rows.subarray(from, at).map((row) => row - start)));
      start += piece.rowCount;
    }
    return chunkFrame(columns, pieces);
  }

  close(): void {
    this.#file.remove();
  }

  #open(chunk: Chunk): OpenChunk {
    const open = this.#byStart.get(chunk.interval.start);
    if (open === undefined || !this.#finished) throw new ServiceError('internal', `no finished chunk ${formatInterval(chunk.interval)}`);
    return open;
  }

  #closeGeneration(run: RunBuffer, toFile: boolean): void {
    for (const { column, dictionary } of run.dictionaries()) this.#generations.at(-1)?.close(column.name, dictionary, toFile);
  }

  /** Rows of a run to pieces on disk, chunk by chunk. */
  #spill(run: RunBuffer): void {
    const generation = this.#generations.at(-1);
    if (generation === undefined) return;
    for (const [chunk, rows] of this.#rowsByChunk(run)) {
      const columns: readonly StoredColumn[] = [run.timeColumn(rows), ...run.columns.map((column) => column.gather(rows))];
      chunk.pieces.push(spilledPiece(this.#file, rows.length, columns, generation));
      chunk.rowCount += rows.length;
    }
    run.clear();
  }

  /** Rows of the last run to pieces in memory, column by column: each gives up its own once it is cut. */
  #keep(run: RunBuffer): void {
    const generation = this.#generations.at(-1);
    if (generation === undefined) return;
    const kept = this.#rowsByChunk(run).map(([chunk, rows]) => ({ chunk, rows, columns: [run.timeColumn(rows)] as StoredColumn[] }));
    for (const column of run.columns) {
      for (const { rows, columns } of kept) columns.push(column.gather(rows));
      column.release();
    }
    for (const { chunk, rows, columns } of kept) {
      chunk.pieces.push(() => new MemoryPiece(rows.length, columns, generation));
      chunk.rowCount += rows.length;
    }
  }

  /** Rows of each chunk, ascending: a counting sort by the chunks' places among those of this run. */
  #rowsByChunk(run: RunBuffer): readonly (readonly [OpenChunk, Uint32Array])[] {
    const { rowCount } = run;
    const chunks: OpenChunk[] = [];
    const counts: number[] = [];
    const places = new Map<OpenChunk, number>();
    const placeOf = new Uint32Array(rowCount);
    let [place, start, end] = [0, Number.NaN, Number.NaN];
    for (let row = 0; row < rowCount; row++) {
      const time = run.timeAt(row);
      if (!(time >= start && time < end)) {
        const chunk = this.#chunkAt(time);
        ({ start, end } = chunk.interval);
        place = places.get(chunk) ?? chunks.push(chunk) - 1;
        places.set(chunk, place);
      }
      placeOf[row] = place;
      counts[place] = (counts[place] ?? 0) + 1;
    }
    let total = 0;
    const starts = counts.map((count) => (total += count) - count);
    const next = Uint32Array.from(starts);
    const rows = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const of = placeOf[row] ?? 0;
      const at = next[of] ?? 0;
      rows[at] = row;
      next[of] = at + 1;
    }
    return chunks.map((chunk, at) => [chunk, rows.subarray(starts[at], next[at])]);
  }

  /** The chunk of a time. */
  #chunkAt(time: EpochMs): OpenChunk {
    const { buckets } = this.#options;
    const start = buckets.floor(time);
    const known = this.#byStart.get(start);
    if (known !== undefined) return known;
    const chunk = { interval: { start, end: buckets.next(time) }, rowCount: 0, pieces: [] };
    this.#byStart.set(start, chunk);
    return chunk;
  }
}

class MemoryPiece implements ChunkPiece {
  readonly rowCount: number;
  readonly #columns: readonly StoredColumn[];
  readonly #generation: DictionaryGeneration;

  constructor(rowCount: number, columns: readonly StoredColumn[], generation: DictionaryGeneration) {
    this.rowCount = rowCount;
    this.#columns = columns;
    this.#generation = generation;
  }

  column(name: string): PieceColumn | undefined {
    const column = this.#columns.find((candidate) => candidate.name === name);
    return column === undefined ? undefined : { column, generation: this.#generation };
  }

  slice(from: number, to: number): ChunkPiece {
    if (from === 0 && to === this.rowCount) return this;
    return new MemoryPiece(
      to - from,
      this.#columns.map((column) => sliceColumn(column, from, to)),
      this.#generation,
    );
  }

  pick(rows: Uint32Array): ChunkPiece {
    return new MemoryPiece(
      rows.length,
      this.#columns.map((column) => pickColumn(column, rows)),
      this.#generation,
    );
  }
}

function pickColumn(column: StoredColumn, rows: Uint32Array): StoredColumn {
  if (column.kind === 'ids') {
    const { ids, offsets: starts } = column;
    if (starts === null) return { ...column, ids: rows.map((row) => ids[row] ?? 0) };
    const offsets = new Uint32Array(rows.length + 1);
    rows.forEach((row, at) => {
      offsets[at + 1] = (offsets[at] ?? 0) + (starts[row + 1] ?? 0) - (starts[row] ?? 0);
    });
    const picked = new Uint32Array(offsets[rows.length] ?? 0);
    rows.forEach((row, at) => picked.set(ids.subarray(starts[row], starts[row + 1]), offsets[at]));
    return { ...column, ids: picked, offsets };
  }
  const nulls = column.nulls === null ? null : pickBits(column.nulls, rows);
  return column.kind === 'long'
    ? { ...column, values: BigInt64Array.from(rows, (row) => column.values[row] ?? 0n), nulls }
    : { ...column, values: Float64Array.from(rows, (row) => column.values[row] ?? 0), nulls };
}

function pickBits(words: Uint32Array, rows: Uint32Array): Uint32Array {
  const picked = new Uint32Array((rows.length + 31) >>> 5);
  rows.forEach((row, at) => {
    if (((words[row >>> 5] ?? 0) >>> (row & 31)) & 1) picked[at >>> 5] = (picked[at >>> 5] ?? 0) | (1 << (at & 31));
  });
  return picked;
}

function sliceColumn(column: StoredColumn, from: number, to: number): StoredColumn {
  if (column.kind === 'ids') {
    const { offsets } = column;
    if (offsets === null) return { ...column, ids: column.ids.subarray(from, to) };
    const first = offsets[from] ?? 0;
    return {
      ...column,
      ids: column.ids.subarray(first, offsets[to]),
      offsets: offsets.subarray(from, to + 1).map((offset) => offset - first),
    };
  }
  const nulls = column.nulls === null ? null : sliceBits(column.nulls, from, to);
  return column.kind === 'long'
    ? { ...column, values: column.values.slice(from, to), nulls }
    : { ...column, values: column.values.slice(from, to), nulls };
}

function sliceBits(words: Uint32Array, from: number, to: number): Uint32Array {
  const sliced = new Uint32Array((to - from + 31) >>> 5);
  for (let at = from; at < to; at++) {
    if (((words[at >>> 5] ?? 0) >>> (at & 31)) & 1)
      sliced[(at - from) >>> 5] = (sliced[(at - from) >>> 5] ?? 0) | (1 << ((at - from) & 31));
  }
  return sliced;
}

/** Writes the columns of a piece now and reads them back whenever the piece is asked for. */
function spilledPiece(
  file: SpillFile,
  rowCount: number,
  columns: readonly StoredColumn[],
  generation: DictionaryGeneration,
): () => ChunkPiece {
  const write = (array: ArrayBufferView | null): SpilledBytes | null => (array === null ? null : file.append(array));
  const words = (place: SpilledBytes | null): Uint32Array | null => (place === null ? null : new Uint32Array(file.read(place)));
  const loaders = columns.map((column): (() => StoredColumn) => {
    const { name } = column;
    if (column.kind === 'ids') {
      const [ids, offsets] = [file.append(column.ids), write(column.offsets)];
      const { type } = column;
      return () => ({ kind: 'ids', name, type, ids: new Uint32Array(file.read(ids)), offsets: words(offsets) });
    }
    const [values, nulls] = [file.append(column.values), write(column.nulls)];
    if (column.kind === 'long') return () => ({ kind: 'long', name, values: new BigInt64Array(file.read(values)), nulls: words(nulls) });
    const { type } = column;
    return () => ({ kind: 'double', name, type, values: new Float64Array(file.read(values)), nulls: words(nulls) });
  });
  return () =>
    new MemoryPiece(
      rowCount,
      loaders.map((load) => load()),
      generation,
    );
}

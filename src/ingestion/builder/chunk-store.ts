// Keeps ingested rows by time chunk, in memory and on disk.

import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { type SpillBudget, SpillFile } from '../../execution/spill/spill-file.js';
import type { Frame } from '../../model/frame.js';
import type { Buckets } from '../../model/granularity.js';
import { plainFrame, type SegmentFrame } from '../../storage/columns/packed-column.js';
import type { StoredColumn } from '../column/run-column.js';
import { chunkFrame } from './chunk-frame.js';
import { type ChunkPiece, keptPiece, openPiece, type SpilledPiece, spillPiece } from './chunk-piece.js';
import { DictionaryGeneration, type SpilledGeneration } from './dictionary-generation.js';
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
  /** Its rows are another store's (`handOverRows`). */
  readonly handsOver?: true;
}

/** Rows of one time chunk in the file of a store, for another one: plain data. */
export interface HandedChunk {
  readonly interval: Interval;
  readonly pieces: readonly { readonly rows: SpilledPiece; readonly generation: number }[];
}

/** The file of a store that has handed over all of its rows, with the dictionaries in it; plain data. */
export interface HandedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly generations: readonly SpilledGeneration[];
}

/** A file that another store wrote. */
export interface OpenedFile {
  readonly file: SpillFile;
  readonly generations: readonly DictionaryGeneration[];
}

interface OpenChunk {
  readonly interval: Interval;
  rowCount: number;
  readonly pieces: ChunkPiece[];
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
  /** Files of other stores whose rows these are. */
  readonly #opened: OpenedFile[] = [];
  /** Rows in its file that nobody has taken; kept by a store that hands them over. */
  readonly #handed = new Map<EpochMs, { readonly interval: Interval; readonly pieces: HandedChunk['pieces'][number][] }>();
  #openedBytes = 0;
  #finished = false;

  constructor(options: ChunkStoreOptions) {
    this.#options = options;
    this.#file = new SpillFile(path.join(options.workDirectory, 'runs.spill'), TASK_SPACE);
    this.#generations.push(new DictionaryGeneration(this.#file));
  }

  get spilledBytes(): number {
    return this.#file.sizeBytes + this.#openedBytes;
  }

  /** The rows of the last runs, out of this store: they stay in its file. */
  handOverRows(): readonly HandedChunk[] {
    const handed = [...this.#handed.values()];
    this.#handed.clear();
    return handed;
  }

  /** Its file, with the dictionaries of `run`; nothing is added to it afterwards. */
  handOver(run: RunBuffer): HandedFile {
    this.#closeGeneration(run, true);
    const { path: file, sizeBytes } = this.#file;
    this.#file.handOver();
    return { path: file, sizeBytes, generations: this.#generations.map((generation) => generation.spilled()) };
  }

  /** Opens the file of another store, which this one removes in the end. */
  openFile({ path: file, sizeBytes, generations }: HandedFile): OpenedFile {
    const opened = sizeBytes === 0 ? new SpillFile(file, TASK_SPACE) : SpillFile.open(file, TASK_SPACE);
    this.#openedBytes += sizeBytes;
    const made = { file: opened, generations: generations.map((spilled) => new DictionaryGeneration(opened, spilled)) };
    this.#opened.push(made);
    return made;
  }

  /** Adds rows of another store behind those that are here. */
  addHanded({ interval, pieces }: HandedChunk, { file, generations }: OpenedFile): void {
    const chunk = this.#chunkAt(interval.start);
    for (const { rows, generation: number } of pieces) {
      const generation = generations[number];
      if (generation === undefined) throw new ServiceError('internal', `no dictionaries ${number} in ${file.path}`);
      chunk.pieces.push(openPiece(file, rows, generation));
      chunk.rowCount += rows.rowCount;
    }
  }

  /** Takes the rows of `run` and empties it. */
  add(run: RunBuffer): void {
    this.#spill(run);
    if (run.dictionaryBytes > this.#options.dictionaryBytesMax) {
      this.#closeGeneration(run, true);
      this.#generations.push(new DictionaryGeneration(this.#file));
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
    for (const piece of this.#open(chunk).pieces) yield plainFrame(chunkFrame(columns, [piece]));
  }

  /** Rows [from, to) of a chunk as one frame, in order of arrival. */
  frame(chunk: Chunk, columns: readonly ColumnPlan[], from: number, to: number): SegmentFrame {
    const pieces: ChunkPiece[] = [];
    let start = 0;
    for (const piece of this.#open(chunk).pieces) {
      if (start >= to) break;
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
    for (const piece of this.#open(chunk).pieces) {
      if (at >= rows.length) break;
      const from = at;
      while (at < rows.length && (rows[at] ?? 0) < start + piece.rowCount) at++;
      if (at > from) pieces.push(at - from === piece.rowCount ? piece : piece.pick(rows.subarray(from, at).map((row) => row - start)));
      start += piece.rowCount;
    }
    return chunkFrame(columns, pieces);
  }

  close(): void {
    this.#file.remove();
    for (const { file } of this.#opened) file.remove();
  }

  #open(chunk: Chunk): OpenChunk {
    const open = this.#byStart.get(chunk.interval.start);
    if (open === undefined || !this.#finished) throw new ServiceError('internal', `no finished chunk ${formatInterval(chunk.interval)}`);
    return open;
  }

  #closeGeneration(run: RunBuffer, toFile: boolean): void {
    for (const { column, dictionary } of run.dictionaries()) this.#generations.at(-1)?.close(column.name, dictionary, toFile);
    run.renewDictionaries();
  }

  /** Rows of a run to pieces on disk, chunk by chunk. */
  #spill(run: RunBuffer): void {
    const generation = this.#generations.at(-1);
    if (generation === undefined) return;
    for (const [chunk, rows] of this.#rowsByChunk(run)) {
      const columns: readonly StoredColumn[] = [run.timeColumn(rows), ...run.columns.map((column) => column.gather(rows))];
      const spilled = spillPiece(this.#file, rows.length, columns);
      if (this.#options.handsOver === true) {
        this.#hand(chunk.interval, spilled);
        continue;
      }
      chunk.pieces.push(openPiece(this.#file, spilled, generation));
      chunk.rowCount += rows.length;
    }
    run.clear();
  }

  #hand(interval: Interval, rows: SpilledPiece): void {
    const piece = { rows, generation: this.#generations.length - 1 };
    const known = this.#handed.get(interval.start);
    if (known === undefined) this.#handed.set(interval.start, { interval, pieces: [piece] });
    else known.pieces.push(piece);
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
      chunk.pieces.push(keptPiece(rows.length, columns, generation));
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

// Sorts more rows than memory holds, by sorted runs on disk.

import { deserialize, serialize } from 'node:v8';
import { BinaryHeap } from '../../base/binary-heap.js';
import { append } from '../../base/lists.js';
import { cellAt, type Frame, type FrameColumn, isNullAt } from '../../model/frame.js';
import type { SortKey } from '../../model/plan.js';
import { frameBytes } from '../block/frame-bytes.js';
import { framesOf, type ResultTable, tableOf, typed } from '../block/result-table.js';
import type { SpilledBytes, SpillFile } from '../spill/spill-file.js';
import type { SpillSpace } from '../spill/spill-space.js';
import type { LeafResult } from './leaf-result.js';
import { compareCells, sortKeys } from './sort.js';

/** Rows read of a run at a time, and their bytes, about. */
const RUN_FRAME_ROWS = 1024;
const RUN_FRAME_BYTES = 1 << 16;
const OUTPUT_ROWS = 16384;
const OUTPUT_BYTES = 1 << 22;
/** Runs that are read side by side: with more of them they are first merged into one. */
const FAN_IN = 32;

/** Places of the frames of a run. */
type Run = readonly SpilledBytes[];

/** Runs of about the same size, in a file of their own. */
interface Level {
  readonly file: SpillFile;
  readonly runs: Run[];
}

/** A frame being merged from, as far as row `at`. */
interface Reader {
  readonly file: SpillFile;
  readonly run: number;
  readonly rest: SpilledBytes[];
  frame: Frame;
  /** Sort keys, by position. */
  columns: readonly FrameColumn[];
  at: number;
  /** Bytes of a row of the frame, about. */
  rowBytes: number;
}

/**
 * Tables that were sorted one by one, kept on disk, read back as one. All have the same columns. However many tables
 * there are, a few frames per level are in memory: level n holds runs of 32^n tables.
 */
export class SortedRuns {
  readonly #spill: SpillSpace;
  readonly #leaf: LeafResult;
  readonly #levels: (Level | undefined)[] = [];
  #keys: readonly SortKey[] = [];

  constructor(spill: SpillSpace, leaf: LeafResult) {
    this.#spill = spill;
    this.#leaf = leaf;
  }

  /** @param table  sorted by `by` and its keys */
  add(table: ResultTable, by: readonly SortKey[]): void {
    if (table.rowCount === 0) return;
    this.#keys = sortKeys(table, by);
    this.#write(0, this.#runFrames(table));
    for (let number = 0; this.#levels[number]?.runs.length === FAN_IN; number++) {
      const level = this.#levels[number];
      if (level === undefined) return;
      this.#write(number + 1, this.#merge([level], RUN_FRAME_ROWS, RUN_FRAME_BYTES));
      level.file.remove();
      this.#levels[number] = undefined;
    }
  }

  /** Equal rows come in the order of the tables. */
  merged(): Generator<Frame> {
    // Tables go up from level to level: the higher ones were first.
    return this.#merge(this.#levels.flatMap((level) => level ?? []).reverse(), OUTPUT_ROWS, OUTPUT_BYTES);
  }

  remove(): void {
    for (const level of this.#levels) level?.file.remove();
    this.#levels.length = 0;
  }

  /** Frames of few rows where rows are long: one of each run is in memory at a time. */
  *#runFrames(table: ResultTable): Generator<Frame> {
    for (const frame of framesOf(table, this.#leaf.check, RUN_FRAME_ROWS)) {
      const parts = Math.ceil(frameBytes(frame) / RUN_FRAME_BYTES);
      if (parts > 1) yield* framesOf(tableOf(frame), this.#leaf.check, Math.ceil(frame.rowCount / parts));
      else yield frame;
    }
  }

  #write(number: number, frames: Iterable<Frame>): void {
    const level = this.#levels[number] ?? { file: this.#spill.create(), runs: [] };
    this.#levels[number] = level;
    const run: SpilledBytes[] = [];
    for (const frame of frames) {
      this.#leaf.check();
      run.push(level.file.append(serialize(frame)));
    }
    level.runs.push(run);
  }

  *#merge(levels: readonly Level[], frameRows: number, bytesMax: number): Generator<Frame> {
    const readers: Reader[] = [];
    let run = 0;
    for (const { file, runs } of levels) {
      for (const places of runs) {
        const reader: Reader = {
          file,
          run: run++,
          rest: [...places],
          frame: { rowCount: 0, columns: [] },
          columns: [],
          at: 0,
          rowBytes: 0,
        };
        if (this.#advance(reader)) readers.push(reader);
      }
    }
    const heap = readerHeap(readers, this.#keys);
    let picks: Pick[] = [];
    let bytes = 0;
    for (let reader = heap.first; reader !== undefined; reader = heap.first) {
      picks.push({ frame: reader.frame, row: reader.at++ });
      bytes += reader.rowBytes;
      if (reader.at < reader.frame.rowCount || this.#advance(reader)) heap.update();
      else heap.dropFirst();
      if (picks.length % RUN_FRAME_ROWS === 0) this.#leaf.check();
      if (picks.length < frameRows && bytes < bytesMax) continue;
      yield pickedFrame(picks);
      [picks, bytes] = [[], 0];
    }
    if (picks.length > 0) yield pickedFrame(picks);
  }

  #advance(reader: Reader): boolean {
    const place = reader.rest.shift();
    if (place === undefined) return false;
    const frame = deserialize(new Uint8Array(reader.file.read(place))) as Frame;
    reader.frame = frame;
    reader.at = 0;
    reader.rowBytes = frameBytes(frame) / frame.rowCount;
    reader.columns = this.#keys.flatMap(({ column }) => frame.columns.find(({ name }) => name === column) ?? []);
    return true;
  }
}

/** The reader with the next row is the first; of equal rows, that of the earlier run. */
function readerHeap(readers: readonly Reader[], keys: readonly SortKey[]): BinaryHeap<Reader> {
  const comparisons = keys.map((key) => compareCells(key));
  return new BinaryHeap(readers, (left, right) => {
    for (const [index, compare] of comparisons.entries()) {
      const [a, b] = [left.columns[index], right.columns[index]];
      if (a === undefined || b === undefined) continue;
      const order = compare(cellAt(a, left.at), cellAt(b, right.at));
      if (order !== 0) return -order;
    }
    return right.run - left.run;
  });
}

interface Pick {
  readonly frame: Frame;
  readonly row: number;
}

function pickedFrame(picks: readonly Pick[]): Frame {
  const [first] = picks;
  const columns = first === undefined ? [] : first.frame.columns.map((column, index) => pickedColumn(column, index, picks));
  return { rowCount: picks.length, columns };
}

function pickedLists(name: string, index: number, picks: readonly Pick[]): FrameColumn {
  const offsets = new Uint32Array(picks.length + 1);
  const dictionary: (string | null)[] = [];
  picks.forEach(({ frame, row }, at) => {
    const column = frame.columns[index];
    const cell = column === undefined ? null : cellAt(column, row);
    // A null has no values, in a list of one as in none.
    if (Array.isArray(cell)) append(dictionary, cell);
    else if (typeof cell === 'string') dictionary.push(cell);
    offsets[at + 1] = dictionary.length;
  });
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(dictionary, (_, at) => at), dictionary };
}

function pickedColumn(first: FrameColumn, index: number, picks: readonly Pick[]): FrameColumn {
  const { name, kind } = first;
  if (picks.some(({ frame }) => frame.columns[index]?.kind === 'multi')) return pickedLists(name, index, picks);
  if (kind === 'string' || kind === 'multi') {
    const dictionary = picks.map(({ frame, row }) => {
      const column = frame.columns[index];
      return column?.kind === 'string' ? (column.dictionary[column.ids[row] ?? 0] ?? null) : null;
    });
    return {
      kind: 'string',
      name,
      ...typed(kind === 'string' ? first.type : undefined),
      ids: Uint32Array.from(dictionary, (_, row) => row),
      dictionary,
    };
  }
  const nulls = new Uint32Array(Math.ceil(picks.length / 64) * 2);
  let anyNull = false;
  const longs = new BigInt64Array(kind === 'long' ? picks.length : 0);
  const doubles = new Float64Array(kind === 'long' ? 0 : picks.length);
  let type: 'FLOAT' | 'DOUBLE' = 'DOUBLE';
  picks.forEach(({ frame, row }, at) => {
    const column = frame.columns[index];
    if (column === undefined || column.kind === 'string' || column.kind === 'multi') return;
    if (isNullAt(column.nulls, row)) {
      anyNull = true;
      nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
    } else if (column.kind === 'long') longs[at] = column.values[row] ?? 0n;
    else {
      doubles[at] = column.values[row] ?? 0;
      type = column.type;
    }
  });
  const known = anyNull ? nulls : null;
  return kind === 'long' ? { kind, name, values: longs, nulls: known } : { kind, name, type, values: doubles, nulls: known };
}

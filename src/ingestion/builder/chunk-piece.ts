// Consecutive rows of a time chunk, in memory or spilled, column by column.

import type { SpilledBytes, SpillFile } from '../../execution/spill/spill-file.js';
import type { TextType } from '../../model/schema.js';
import type { StoredColumn } from '../column/run-column.js';
import type { DictionaryGeneration } from './dictionary-generation.js';

export interface PieceColumn {
  readonly column: StoredColumn;
  /** Generation of the dictionary that the ids belong to. */
  readonly generation: DictionaryGeneration;
}

type LoadColumn = () => StoredColumn;

/** Consecutive rows of a chunk. A column that was spilled is read whenever it is asked for, and not kept. */
export class ChunkPiece {
  readonly rowCount: number;
  readonly #columns: ReadonlyMap<string, LoadColumn>;
  readonly #generation: DictionaryGeneration;

  constructor(rowCount: number, columns: ReadonlyMap<string, LoadColumn>, generation: DictionaryGeneration) {
    this.rowCount = rowCount;
    this.#columns = columns;
    this.#generation = generation;
  }

  column(name: string): PieceColumn | undefined {
    const load = this.#columns.get(name);
    return load === undefined ? undefined : { column: load(), generation: this.#generation };
  }

  slice(from: number, to: number): ChunkPiece {
    return from === 0 && to === this.rowCount ? this : this.#changed(to - from, (column) => sliceColumn(column, from, to));
  }

  /** @param rows  numbers of rows in this piece, ascending */
  pick(rows: Uint32Array): ChunkPiece {
    return this.#changed(rows.length, (column) => pickColumn(column, rows));
  }

  #changed(rowCount: number, change: (column: StoredColumn) => StoredColumn): ChunkPiece {
    const columns = [...this.#columns].map(([name, load]): [string, LoadColumn] => [name, () => change(load())]);
    return new ChunkPiece(rowCount, new Map(columns), this.#generation);
  }
}

/** A piece whose columns stay in memory. */
export function keptPiece(rowCount: number, columns: readonly StoredColumn[], generation: DictionaryGeneration): ChunkPiece {
  return new ChunkPiece(rowCount, new Map(columns.map((column) => [column.name, () => column])), generation);
}

/** A column of a spilled piece: plain data. */
type SpilledColumn =
  | {
      readonly kind: 'ids';
      readonly name: string;
      readonly type: TextType;
      readonly ids: SpilledBytes;
      readonly offsets: SpilledBytes | null;
    }
  | { readonly kind: 'long'; readonly name: string; readonly values: SpilledBytes; readonly nulls: SpilledBytes | null }
  | {
      readonly kind: 'double';
      readonly name: string;
      readonly type: Extract<StoredColumn, { readonly kind: 'double' }>['type'];
      readonly values: SpilledBytes;
      readonly nulls: SpilledBytes | null;
    };

/** Places of the columns of a piece in a file: plain data, which another thread can open. */
export interface SpilledPiece {
  readonly rowCount: number;
  readonly columns: readonly SpilledColumn[];
}

/** Writes the columns of a piece to the file now. */
export function spillPiece(file: SpillFile, rowCount: number, columns: readonly StoredColumn[]): SpilledPiece {
  const write = (array: ArrayBufferView | null): SpilledBytes | null => (array === null ? null : file.append(array));
  const spill = (column: StoredColumn): SpilledColumn => {
    const { name } = column;
    if (column.kind === 'ids')
      return { kind: 'ids', name, type: column.type, ids: file.append(column.ids), offsets: write(column.offsets) };
    const [values, nulls] = [file.append(column.values), write(column.nulls)];
    return column.kind === 'long' ? { kind: 'long', name, values, nulls } : { kind: 'double', name, type: column.type, values, nulls };
  };
  return { rowCount, columns: columns.map(spill) };
}

/** A piece whose columns are read from the file. */
export function openPiece(file: SpillFile, spilled: SpilledPiece, generation: DictionaryGeneration): ChunkPiece {
  const words = (place: SpilledBytes | null): Uint32Array | null => (place === null ? null : new Uint32Array(file.read(place)));
  const load = (column: SpilledColumn): StoredColumn => {
    const { name } = column;
    if (column.kind === 'ids')
      return { kind: 'ids', name, type: column.type, ids: new Uint32Array(file.read(column.ids)), offsets: words(column.offsets) };
    if (column.kind === 'long')
      return { kind: 'long', name, values: new BigInt64Array(file.read(column.values)), nulls: words(column.nulls) };
    return { kind: 'double', name, type: column.type, values: new Float64Array(file.read(column.values)), nulls: words(column.nulls) };
  };
  const columns = spilled.columns.map((column): [string, LoadColumn] => [column.name, () => load(column)]);
  return new ChunkPiece(spilled.rowCount, new Map(columns), generation);
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

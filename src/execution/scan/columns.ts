// Reads the columns of a scan into frames.

import { BLOCK_ROWS } from '../../base/layout.js';
import { convert, textOfValue, type Value } from '../../expression/value.js';
import type { FrameColumn } from '../../model/frame.js';
import { type ColumnType, isNumberType, type NumberType, type TextType } from '../../model/schema.js';
import { textReader } from '../../storage/columns/read-dictionary.js';
import type { NumberColumnView, StringColumnView } from '../../storage/view.js';
import { type Block, blockAt, kernelFor, takeBits, wordsOf } from '../block/context.js';
import { nullBits, typed } from '../block/result-table.js';
import { listReader } from '../expression/cast-texts.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope, Source } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import type { RowBatch } from './order.js';

/** A scan's column over all segments. */
export interface ScanColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly multiValue: boolean;
}

/** The values of one column for the rows of a frame. Strings are decoded once per distinct value of the frame. */
export function readColumn({ name, type, multiValue }: ScanColumn, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  if (multiValue && type === 'STRING') return readMultiple(name, batches, rowCount);
  if (isNumberType(type)) return readNumbers(name, type, batches, rowCount);
  return readTexts(name, type, batches, rowCount);
}

/** Entries of a frame's dictionary by the ids of a segment's: listed where these are few. */
type KnownEntries = Int32Array | Map<number, number>;
const LISTED_MAX = 1 << 14;

/** The entries of a frame's dictionary: each stored value the frame uses is decoded once. */
class FrameDictionary {
  readonly entries: (string | null)[] = [];
  readonly #computed = new Map<string | null, number>();
  readonly #stored = new Map<StringColumnView, KnownEntries>();

  idOf(text: string | null): number {
    const known = this.#computed.get(text);
    if (known !== undefined) return known;
    const id = this.entries.push(text) - 1;
    this.#computed.set(text, id);
    return id;
  }

  /** For one segment: its dictionary ids to those of the frame. */
  translator(scope: SegmentScope, column: StringColumnView): (id: number) => number {
    const { count } = column.dictionary;
    const known = this.#stored.get(column) ?? (count <= LISTED_MAX ? new Int32Array(count).fill(-1) : new Map<number, number>());
    this.#stored.set(column, known);
    const read = textReader(scope.context.memory, column.dictionary);
    if (known instanceof Int32Array)
      return (id) => {
        const seen = known[id] ?? -1;
        if (seen >= 0) return seen;
        const entry = this.entries.push(read(id)) - 1;
        known[id] = entry;
        return entry;
      };
    return (id) => {
      const seen = known.get(id);
      if (seen !== undefined) return seen;
      const entry = this.entries.push(read(id)) - 1;
      known.set(id, entry);
      return entry;
    };
  }
}

function readTexts(name: string, type: TextType, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  const dictionary = new FrameDictionary();
  const ids = new Uint32Array(rowCount);
  let at = 0;
  for (const { source: rowSource, rows } of batches) {
    const { scope } = rowSource;
    const source = scope.source(name);
    if (source.kind === 'string' && source.column.offsets === 0 && source.column.type === type) {
      const translate = dictionary.translator(scope, source.column);
      const stored = idsView(scope, source.column);
      for (const row of rows) ids[at++] = translate(stored[row] ?? 0);
    } else if (source.kind === 'string' && source.column.offsets !== 0) {
      const list = listReader(scope, source.column);
      for (const row of rows) ids[at++] = dictionary.idOf(textOfValue(list(row), type));
    } else {
      for (const value of values(scope, source, rows)) ids[at++] = dictionary.idOf(textOfValue(value, type));
    }
  }
  return { kind: 'string', name, ...typed(type), ids, dictionary: dictionary.entries };
}

function readMultiple(name: string, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  const dictionary = new FrameDictionary();
  const offsets = new Uint32Array(rowCount + 1);
  const ids: number[] = [];
  let at = 0;
  for (const { source: rowSource, rows } of batches) {
    const { scope } = rowSource;
    const source = scope.source(name);
    if (source.kind === 'string' && source.column.offsets !== 0) {
      const { column } = source;
      const translate = dictionary.translator(scope, column);
      const bounds = scope.context.memory.u32(column.offsets, scope.view.rowCount + 1);
      const stored = idsView(scope, column, bounds[scope.view.rowCount] ?? 0);
      for (const row of rows) {
        for (let value = bounds[row] ?? 0; value < (bounds[row + 1] ?? 0); value++) ids.push(translate(stored[value] ?? 0));
        offsets[++at] = ids.length;
      }
    } else {
      for (const value of values(scope, source, rows)) {
        const text = convert(value, 'STRING');
        if (text !== null) ids.push(dictionary.idOf(text));
        offsets[++at] = ids.length;
      }
    }
  }
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(ids), dictionary: dictionary.entries };
}

function idsView(scope: SegmentScope, column: StringColumnView, count = scope.view.rowCount): Uint8Array | Uint16Array | Uint32Array {
  const { memory } = scope.context;
  return column.physical === 'U8'
    ? memory.u8(column.ids, count)
    : column.physical === 'U16'
      ? memory.u16(column.ids, count)
      : memory.u32(column.ids, count);
}

function readNumbers(name: string, type: NumberType, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  const longs = new BigInt64Array(type === 'LONG' ? rowCount : 0);
  const doubles = new Float64Array(type === 'LONG' ? 0 : rowCount);
  const nulls = new Uint8Array(rowCount);
  let at = 0;
  for (const { source: rowSource, rows } of batches) {
    const { scope } = rowSource;
    const source = scope.source(name);
    if (source.kind === 'number' && (source.column.type === 'LONG' || type !== 'LONG')) {
      const out = type === 'LONG' ? longs.subarray(at, at + rows.length) : doubles.subarray(at, at + rows.length);
      gatherNumbers(scope, source.column, rows, out);
      markNulls(scope, source.column, rows, nulls.subarray(at, at + rows.length), out);
      at += rows.length;
      continue;
    }
    if (source.kind === 'computed' && source.vector.kind === 'number' && isReadAs(source.vector.type, type)) {
      const out = type === 'LONG' ? longs.subarray(at, at + rows.length) : doubles.subarray(at, at + rows.length);
      gatherComputed(scope, source.vector, rows, out, nulls.subarray(at, at + rows.length));
      at += rows.length;
      continue;
    }
    for (const value of values(scope, source, rows)) {
      const converted = value === null ? null : convert(value, type);
      if (converted === null) nulls[at] = 1;
      else if (typeof converted === 'bigint') longs[at] = converted;
      else doubles[at] = Number(converted);
      at++;
    }
  }
  const bits = nullBits(nulls);
  if (type !== 'LONG') return { kind: 'double', name, type, values: doubles, nulls: bits };
  return { kind: 'long', name, values: longs, nulls: bits };
}

/** Stored numbers of some rows, widened by kernel a block at a time. */
function gatherNumbers(scope: SegmentScope, column: NumberColumnView, rows: Uint32Array, out: BigInt64Array | Float64Array): void {
  const { memory, kernels } = scope.context;
  const { physical } = column;
  const arena = memory.arena();
  try {
    const room = Math.min(BLOCK_ROWS, rows.length);
    const selection = arena.take(room * 4);
    const widened = arena.take(room * 8);
    const divisor = arena.take(8);
    memory.f64(divisor, 1)[0] = 10 ** column.power;
    for (let from = 0; from < rows.length; from += room) {
      const n = Math.min(room, rows.length - from);
      memory.u32(selection, n).set(rows.subarray(from, from + n));
      if (out instanceof Float64Array) {
        kernelFor(kernels, 'toF64', physical)(column.values, selection, n, column.base, widened);
        if (column.power > 0) kernels.divideF64(widened, divisor, 1, n, widened);
        out.set(memory.f64(widened, n), from);
      } else if (physical !== 'F32' && physical !== 'F64') {
        kernelFor(kernels, 'toI64', physical)(column.values, selection, n, column.base, widened);
        out.set(memory.i64(widened, n), from);
      }
    }
  } finally {
    arena.release();
  }
}

/** Marks null rows, and sets their values, which as stored are the base, to 0. */
function markNulls(
  scope: SegmentScope,
  column: NumberColumnView,
  rows: Uint32Array,
  out: Uint8Array,
  values: BigInt64Array | Float64Array,
): void {
  if (column.nulls === 0) return;
  const bits = scope.context.memory.u8(column.nulls, Math.ceil(scope.view.rowCount / 8));
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    const isNull = ((bits[row >>> 3] ?? 0) >>> (row & 7)) & 1;
    out[index] = isNull;
    if (isNull === 0) continue;
    if (values instanceof Float64Array) values[index] = 0;
    else values[index] = 0n;
  }
}

/** Whether numbers of a type are those of another by being widened alone. */
function isReadAs(own: NumberType, type: NumberType): boolean {
  return own === 'LONG' ? type !== 'FLOAT' : own === 'DOUBLE' && type === 'DOUBLE';
}

/** Computed numbers of some rows, widened by kernel a block at a time; null rows are marked, and have the value 0. */
function gatherComputed(
  scope: SegmentScope,
  vector: NumberVector,
  rows: Uint32Array,
  out: BigInt64Array | Float64Array,
  nulls: Uint8Array,
): void {
  const { memory, kernels } = scope.context;
  const arena = memory.arena();
  try {
    const room = Math.min(BLOCK_ROWS, rows.length);
    const selection = arena.take(room * 4);
    const widened = arena.take(room * 8);
    for (const { block, from, to } of blocksOf(scope, rows)) {
      const n = to - from;
      const places = memory.u32(selection, n);
      for (let at = 0; at < n; at++) places[at] = (rows[from + at] ?? 0) - block.start;
      const values = vector.values(block);
      const bits = vector.nulls(block);
      if (out instanceof Float64Array) {
        kernelFor(kernels, 'toF64', vector.physical)(values, selection, n, vector.base, widened);
        out.set(memory.f64(widened, n), from);
      } else if (vector.physical !== 'F32' && vector.physical !== 'F64') {
        kernelFor(kernels, 'toI64', vector.physical)(values, selection, n, vector.base, widened);
        out.set(memory.i64(widened, n), from);
      }
      if (bits === 0) continue;
      const [marks, taken] = [memory.u32(bits, Math.ceil(block.rows / 32)), memory.u32(selection, n)];
      for (let at = 0; at < n; at++) {
        const row = taken[at] ?? 0;
        if ((((marks[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 0) continue;
        nulls[from + at] = 1;
        if (out instanceof Float64Array) out[from + at] = 0;
        else out[from + at] = 0n;
      }
    }
  } finally {
    arena.release();
  }
}

/** Values of any source, through blocks. */
function* values(scope: SegmentScope, source: Source, rows: Uint32Array): Generator<Value> {
  const reader = rowReader(scope, source);
  for (const { block, from, to } of blocksOf(scope, rows)) {
    reader.open(block);
    for (let at = from; at < to; at++) yield reader.get((rows[at] ?? 0) - block.start);
  }
}

/** The blocks of rows [from, to), one after the other, which select these. */
function* blocksOf(
  scope: SegmentScope,
  rows: Uint32Array,
): Generator<{ readonly block: Block; readonly from: number; readonly to: number }> {
  const selection = takeBits(scope.arena);
  for (let from = 0; from < rows.length; ) {
    const block = blockAt(rows[from] ?? 0, scope.view.rowCount);
    let to = from;
    scope.context.kernels.bitsFill(selection, wordsOf(block), 0, 0);
    const bits = scope.context.memory.u32(selection, wordsOf(block) * 2);
    for (; to < rows.length; to++) {
      const row = (rows[to] ?? 0) - block.start;
      if (row < 0 || row >= block.rows) break;
      bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
    }
    yield { block: { start: block.start, rows: block.rows, selection }, from, to };
    from = to;
  }
}

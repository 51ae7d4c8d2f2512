import { convert } from '../../expression/value.js';
import type { Value } from '../../expression/value.js';
import type { FrameColumn } from '../../model/frame.js';
import type { ColumnType } from '../../model/schema.js';
import type { NumberColumnView, StringColumnView } from '../../storage/view.js';
import { BLOCK_ROWS } from '../../storage/view.js';
import { blockAt } from '../context.js';
import { textAt } from '../dictionary.js';
import { rowReader } from '../expression/row-reader.js';
import { nullBits } from '../finish/table.js';
import type { SegmentScope, Source } from '../scope.js';
import type { RowBatch } from './order.js';

/** What a column of a scan is over all segments. */
export interface ScanColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly multiValue: boolean;
}

/** The values of one column for the rows of a frame. Strings are decoded once per distinct value of the frame. */
export function readColumn({ name, type, multiValue }: ScanColumn, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  if (multiValue) return readMultiple(name, batches, rowCount);
  if (type === 'STRING') return readTexts(name, batches, rowCount);
  return readNumbers(name, type, batches, rowCount);
}

/** The entries of a frame's dictionary, one per distinct text. */
class FrameDictionary {
  readonly entries: (string | null)[] = [];
  readonly #ids = new Map<string | null, number>();

  idOf(text: string | null): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.entries.length;
    this.entries.push(text);
    this.#ids.set(text, id);
    return id;
  }
}

function readTexts(name: string, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  const dictionary = new FrameDictionary();
  const ids = new Uint32Array(rowCount);
  let at = 0;
  for (const { source: rowSource, rows } of batches) {
    const { scope } = rowSource;
    const source = scope.source(name);
    if (source.kind === 'string' && source.column.offsets === 0) {
      const translate = textIds(scope, source.column, dictionary);
      const stored = idsView(scope, source.column);
      for (const row of rows) ids[at++] = translate(stored[row] ?? 0);
    } else {
      for (const value of values(scope, source, rows)) ids[at++] = dictionary.idOf(asText(value));
    }
  }
  return { kind: 'string', name, ids, dictionary: dictionary.entries };
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
      const translate = textIds(scope, column, dictionary);
      const bounds = scope.context.memory.u32(column.offsets, scope.view.rowCount + 1);
      const stored = idsView(scope, column, bounds[scope.view.rowCount] ?? 0);
      for (const row of rows) {
        for (let value = bounds[row] ?? 0; value < (bounds[row + 1] ?? 0); value++) ids.push(translate(stored[value] ?? 0));
        offsets[++at] = ids.length;
      }
    } else {
      for (const value of values(scope, source, rows)) {
        const text = asText(value);
        if (text !== null) ids.push(dictionary.idOf(text));
        offsets[++at] = ids.length;
      }
    }
  }
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(ids), dictionary: dictionary.entries };
}

function textIds(scope: SegmentScope, column: StringColumnView, dictionary: FrameDictionary): (id: number) => number {
  const known = new Map<number, number>();
  return (id) => {
    const seen = known.get(id);
    if (seen !== undefined) return seen;
    const entry = dictionary.idOf(textAt(scope.context.memory, column.dictionary, id));
    known.set(id, entry);
    return entry;
  };
}

function idsView(scope: SegmentScope, column: StringColumnView, count = scope.view.rowCount): Uint8Array | Uint16Array | Uint32Array {
  const { memory } = scope.context;
  return column.physical === 'U8' ? memory.u8(column.ids, count) : column.physical === 'U16' ? memory.u16(column.ids, count) : memory.u32(column.ids, count);
}

function readNumbers(name: string, type: Exclude<ColumnType, 'STRING'>, batches: readonly RowBatch[], rowCount: number): FrameColumn {
  const longs = new BigInt64Array(type === 'LONG' ? rowCount : 0);
  const doubles = new Float64Array(type === 'LONG' ? 0 : rowCount);
  const nulls = new Uint8Array(rowCount);
  let at = 0;
  for (const { source: rowSource, rows } of batches) {
    const { scope } = rowSource;
    const source = scope.source(name);
    for (const value of source.kind === 'number' ? storedNumbers(scope, source.column, rows) : values(scope, source, rows)) {
      const converted = value === null ? null : convert(value, type);
      if (converted === null) nulls[at] = 1;
      else if (typeof converted === 'bigint') longs[at] = converted;
      else doubles[at] = Number(converted);
      at++;
    }
  }
  const bits = nullBits(nulls);
  return type === 'LONG' ? { kind: 'long', name, values: longs, nulls: bits } : { kind: 'double', name, type, values: doubles, nulls: bits };
}

function* storedNumbers(scope: SegmentScope, column: NumberColumnView, rows: Uint32Array): Generator<Value> {
  const { memory } = scope.context;
  const count = scope.view.rowCount;
  const nulls = column.nulls === 0 ? undefined : memory.u32(column.nulls, Math.ceil(count / 32));
  const isNull = (row: number): boolean => nulls !== undefined && ((nulls[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  if (column.physical === 'I64') {
    const stored = memory.i64(column.values, count);
    for (const row of rows) yield isNull(row) ? null : column.base + (stored[row] ?? 0n);
    return;
  }
  const { physical, values: at } = column;
  const stored = physical === 'U8' ? memory.u8(at, count) : physical === 'U16' ? memory.u16(at, count) : physical === 'U32' ? memory.u32(at, count) : physical === 'F32' ? memory.f32(at, count) : memory.f64(at, count);
  if (column.type !== 'LONG') {
    for (const row of rows) yield isNull(row) ? null : (stored[row] ?? 0);
    return;
  }
  for (const row of rows) yield isNull(row) ? null : column.base + BigInt(stored[row] ?? 0);
}

/** Values of any source, through blocks. */
function* values(scope: SegmentScope, source: Source, rows: Uint32Array): Generator<Value> {
  const reader = rowReader(scope, source);
  let start = -1;
  for (const row of rows) {
    const blockStart = row - (row % BLOCK_ROWS);
    if (blockStart !== start) reader.open(blockAt(row, scope.view.rowCount));
    start = blockStart;
    yield reader.get(row - blockStart);
  }
}

function asText(value: Value): string | null {
  const text = value === null ? null : convert(value, 'STRING');
  return text === null ? null : String(text);
}

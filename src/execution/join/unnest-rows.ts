// Repeats rows for each of the values that UNNEST takes out of them.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { own } from '../../base/names.js';
import { convert, isArrayValue, type Scalar, textOfValue, type Value } from '../../expression/value.js';
import type { FrameColumn } from '../../model/frame.js';
import { type ColumnType, elementType, isArrayType, isNumberType } from '../../model/schema.js';
import { uploadFrame } from '../../storage/uploaded-frame.js';
import type { ColumnView, StringColumnView } from '../../storage/view.js';
import { blockAt } from '../block/context.js';
import { nullBits, typed } from '../block/result-table.js';
import type { RowNumbers } from '../block/view-rows.js';
import { elementOf } from '../expression/lists/list-calls.js';
import { ArrayPieces } from '../expression/lists/list-node.js';
import { type Lists, listsOf } from '../expression/number/list.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope, Source } from '../expression/scope.js';
import { rowsNode } from '../expression/text/text-entries.js';
import { Room, TextWork } from '../expression/text/text-node.js';
import { OwnMemory } from './own-memory.js';
import { narrowNumbers } from './upload-groups.js';

/** Rows of a view, each as often as it has values, and those values. Void when the next one is asked for. */
export interface UnnestedRows {
  readonly rows: RowNumbers;
  readonly values: ColumnView;
}

/** Largest number of values unnested at a time. */
const VALUES_MAX = 1 << 18;
/** Rows whose arrays are looked at together. */
const STRETCH_ROWS = 8 * BLOCK_ROWS;

/** The values of a column, stored or computed: of multi-value texts and of arrays each, of others the value itself. */
export function* unnestRows(scope: SegmentScope, name: string): Generator<UnnestedRows> {
  const source = scope.source(name);
  if (source.kind === 'missing') return;
  const lists = listsIn(scope, source);
  if (lists !== undefined) {
    const listed = hasEmptyRow(scope, lists) ? valuesWithNull(scope, lists.column) : multiValues(scope, lists.column);
    if (listed !== undefined) yield listed;
    return;
  }
  const column = source.kind === 'string' ? source.column : undefined;
  const element = column === undefined ? undefined : elementOf(column);
  if (column !== undefined && (element === 'LONG' || element === 'DOUBLE')) yield* numbersOf(scope, column, element);
  else yield* readValues(scope, source, scope.typeOf(name) ?? 'STRING');
}

/** The elements of arrays of numbers, of as many rows at a time as have so many. */
function* numbersOf(scope: SegmentScope, column: StringColumnView, element: 'LONG' | 'DOUBLE'): Generator<UnnestedRows> {
  const { context, view, arena } = scope;
  const { kernels } = context;
  const work = new TextWork(scope, STRETCH_ROWS, true);
  const node = rowsNode(work, column);
  const arrays = new ArrayPieces(work, element, VALUES_MAX);
  const numbers = new Room(work);
  const texts = arena.take(Math.min(view.rowCount, STRETCH_ROWS) * 8);
  for (let start = 0; start < view.rowCount; start += STRETCH_ROWS) {
    const rows = Math.min(STRETCH_ROWS, view.rowCount - start);
    for (let from = 0; from < rows; from += BLOCK_ROWS) {
      context.check();
      const block = blockAt(start + from, view.rowCount);
      kernels.toI64I64(node.texts(block), 0, block.rows, 0n, texts + from * 8);
    }
    arrays.open(texts, rows);
    for (let piece = arrays.next(); piece !== undefined; piece = arrays.next()) {
      if (piece.count === 0) continue;
      const at = numbers.of(piece.count * 4);
      kernels.listRows(piece.starts, piece.rows, start + piece.from, at);
      const { at: values, nulls } = arrays.values();
      const owner = new OwnMemory(context.memory);
      try {
        yield {
          rows: { at, count: piece.count },
          values: narrowNumbers({ context, arena, owner, rowCount: piece.count }, element, values, nulls),
        };
      } finally {
        owner.free();
      }
    }
  }
}

const VALUES = 'values';

/** A column of values beside their rows, for as long as nobody asks for more. */
function* uploaded({ context }: SegmentScope, rows: RowNumbers, column: FrameColumn): Generator<UnnestedRows> {
  const { view, release } = uploadFrame({ rowCount: rows.count, columns: [column] }, context.memory, context.kernels);
  try {
    const values = own(view.columns, column.name);
    if (values !== undefined) yield { rows, values };
  } finally {
    release();
  }
}

/** The lists whose values are unnested: those of a stored multi-value column, or made of one. */
function listsIn(scope: SegmentScope, source: Source): Lists | undefined {
  if (source.kind === 'string') return source.column.offsets === 0 ? undefined : { column: source.column, isHarmonized: false };
  return source.kind === 'computed' ? listsOf(scope, source.expression) : undefined;
}

/** Whether some row without values is to have a null. */
function hasEmptyRow({ context: { memory }, view }: SegmentScope, { column, isHarmonized }: Lists): boolean {
  if (!isHarmonized) return false;
  const bounds = memory.u32(column.offsets, view.rowCount + 1);
  for (let row = 0; row < view.rowCount; row++) if (bounds[row] === bounds[row + 1]) return true;
  return false;
}

/** The values of each row, or a null where there is none: that is a new entry, and all others move up by one. */
function valuesWithNull({ context, view, arena }: SegmentScope, column: StringColumnView): UnnestedRows {
  const { memory } = context;
  const { dictionary, physical } = column;
  const bounds = memory.u32(column.offsets, view.rowCount + 1);
  const first = bounds[0] ?? 0;
  const valueCount = (bounds[view.rowCount] ?? 0) - first;
  const stored = memory[physical === 'U8' ? 'u8' : physical === 'U16' ? 'u16' : 'u32'](
    column.ids + first * PHYSICAL_BYTES[physical],
    valueCount,
  );
  const room = (valueCount + view.rowCount) * 4;
  const [rowsAt, idsAt, offsets] = [arena.take(room), arena.take(room), arena.take((dictionary.count + 2) * 4)];
  const [rows, ids] = [memory.u32(rowsAt, room / 4), memory.u32(idsAt, room / 4)];
  let count = 0;
  for (let row = 0, value = 0; row < view.rowCount; row++) {
    const end = (bounds[row + 1] ?? 0) - first;
    if (value === end) {
      rows[count] = row;
      ids[count++] = 0;
    }
    for (; value < end; value++) {
      rows[count] = row;
      ids[count++] = (stored[value] ?? 0) + 1;
    }
  }
  const starts = memory.u32(dictionary.offsets, dictionary.count + 1);
  const moved = memory.u32(offsets, dictionary.count + 2);
  moved[0] = starts[0] ?? 0;
  moved.set(starts, 1);
  return {
    rows: { at: rowsAt, count },
    values: {
      ...column,
      physical: 'U32',
      ids: idsAt,
      offsets: 0,
      dictionary: { ...dictionary, count: dictionary.count + 1, hasNull: true, offsets },
      isPart: true,
    },
  };
}

/** The type of the values of a column of this type. */
export function unnestedType(type: ColumnType): ColumnType {
  return isArrayType(type) ? elementType(type) : type;
}

/** The ids lie one after another already; only the numbers of their rows are missing. */
function multiValues({ context, view, arena }: SegmentScope, column: StringColumnView): UnnestedRows | undefined {
  const { memory } = context;
  const bounds = memory.u32(column.offsets, view.rowCount + 1);
  const first = bounds[0] ?? 0;
  const count = (bounds[view.rowCount] ?? 0) - first;
  if (count === 0) return undefined;
  const at = arena.take(count * 4);
  const rows = memory.u32(at, count);
  for (let row = 0, value = 0; row < view.rowCount; row++)
    for (const end = (bounds[row + 1] ?? 0) - first; value < end; value++) rows[value] = row;
  const ids = alignedIds(arena.take(Math.ceil(count / 64) * 64 * PHYSICAL_BYTES[column.physical]));
  return { rows: { at, count }, values: { ...column, offsets: 0, ids, isPart: true } };

  /** Columns begin at multiples of 64 bytes. */
  function alignedIds(room: Address): Address {
    const bytes = PHYSICAL_BYTES[column.physical];
    const from = column.ids + first * bytes;
    if (from % 64 === 0) return from;
    memory.u8(room, count * bytes).set(memory.u8(from, count * bytes));
    return room;
  }
}

/** Row by row, as values: arrays and computed columns have no dictionary of what is in them. */
function* readValues(scope: SegmentScope, source: Source, type: ColumnType): Generator<UnnestedRows> {
  const { context, view, arena } = scope;
  const { memory } = context;
  const reader = rowReader(scope, source);
  const at = arena.take(VALUES_MAX * 4);
  const rows = memory.u32(at, VALUES_MAX);
  let values: Value[] = [];
  for (let row = 0; row < view.rowCount; row++) {
    const block = blockAt(row, view.rowCount);
    if (row === block.start) {
      context.check();
      reader.open(block);
    }
    const value = reader.get(row - block.start);
    if (value === null) continue;
    for (const each of isArrayValue(value) ? value : [value]) {
      rows[values.length] = row;
      values.push(each);
      if (values.length < VALUES_MAX) continue;
      yield* placed();
      reader.open(block);
    }
  }
  if (values.length > 0) yield* placed();

  function* placed(): Generator<UnnestedRows> {
    yield* uploaded(scope, { at, count: values.length }, valuesColumn(values, unnestedType(type)));
    values = [];
  }
}

function valuesColumn(values: readonly Value[], type: ColumnType): FrameColumn {
  const name = VALUES;
  if (!isNumberType(type)) {
    const ids = new Map<string | null, number>();
    const numbers = Uint32Array.from(values, (value) => {
      const text = textOfValue(value, type);
      const id = ids.get(text) ?? ids.size;
      ids.set(text, id);
      return id;
    });
    return { kind: 'string', name, ...typed(type), ids: numbers, dictionary: [...ids.keys()] };
  }
  const converted: Scalar[] = values.map((value) => convert(value, type));
  const nulls = nullBits(Uint8Array.from(converted, (value) => (value === null ? 1 : 0)));
  return type === 'LONG'
    ? { kind: 'long', name, values: BigInt64Array.from(converted, (value) => (typeof value === 'bigint' ? value : 0n)), nulls }
    : { kind: 'double', name, type, values: Float64Array.from(converted, (value) => Number(value ?? 0)), nulls };
}

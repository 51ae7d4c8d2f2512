// Joins string columns whose ids mean different strings.

import { assert } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { type PackedColumn, PackedEntriesBuilder } from '../../storage/columns/packed-column.js';
import { prepareColumns, toPhysical } from '../../storage/columns/physical.js';
import { sortByKernel } from '../../storage/columns/sort-by-kernel.js';
import { uploadColumn } from '../../storage/uploaded-frame.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { ascending, type Check, checkedLoop } from './checked-loops.js';
import { kernelFor, type RunContext } from './context.js';
import type { RowRoom } from './view-rows.js';

/** Rows of one view. */
interface Part {
  readonly column: StringColumnView;
  readonly rowCount: number;
}

/** A dictionary of fewer entries than this for each of its rows is taken as it is; of a larger one what rows have. */
const ENTRIES_PER_ROW = 4;

/**
 * The rows of all parts behind each other, with one dictionary of the strings that they have, or nearly so.
 * @param parts  rows of one value each, all of one type
 */
export function joinTexts(context: RunContext, into: RowRoom, parts: readonly Part[]): StringColumnView {
  const entries = new PackedEntriesBuilder();
  const numbers = parts.map(({ column, rowCount }) => numbersOf(context, column.dictionary, idsOf(context, column, rowCount), entries));
  const type = parts[0]?.column.type ?? 'STRING';
  const merged = mergedEntries(context, into, type, {
    dictionary: entries.entries(false),
    hasNull: parts.some(({ column }) => column.dictionary.hasNull),
  });
  const ids = into.take(Math.max(64, Math.ceil(parts.reduce((sum, { rowCount }) => sum + rowCount, 0) / 64) * 64) * 4);
  let first = 0;
  for (const [at, { column, rowCount }] of parts.entries()) {
    writeIds(context, column, rowCount, idsOfNumbers(numbers[at] ?? new Uint32Array(0), merged, context.check), ids + first * 4);
    first += rowCount;
  }
  return { ...merged.column, physical: 'U32', ids, isPart: true };
}

interface Merged {
  /** A column of the entries, with the dictionary that they make. */
  readonly column: StringColumnView;
  /** Ids of the entries, whose numbers begin with `first`; that of null, 0, is 0. */
  readonly ids: Uint32Array;
  readonly first: number;
}

/** Numbers of entries become their ids, in place; a dictionary has many more than few rows have strings. */
function idsOfNumbers(numbers: Uint32Array, { ids, first }: Merged, check: Check): Uint32Array {
  checkedLoop(numbers.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const number = numbers[at] ?? 0;
      if (number !== 0) numbers[at] = ids[number - first] ?? 0;
    }
  });
  return numbers;
}

/** One sorted dictionary of entries that may be equal. */
function mergedEntries(
  context: RunContext,
  into: RowRoom,
  type: StringColumnView['type'],
  { dictionary, hasNull }: Pick<PackedColumn, 'dictionary'> & { readonly hasNull: boolean },
): Merged {
  const { memory, kernels, check } = context;
  const first = hasNull ? 0 : 1;
  const ids = ascending(dictionary.ends.length - first, check, first);
  const packed: PackedColumn = { kind: 'packed', name: '', type, ids, offsets: null, dictionary };
  const [prepared] = prepareColumns({ rowCount: ids.length, columns: [packed] }, sortByKernel(memory, kernels));
  assert(prepared !== undefined, 'a frame of one column has one');
  const { view } = uploadColumn(toPhysical(prepared, false), ids.length, memory, (size) => into.take(size));
  assert(view.kind === 'string', 'strings stay strings');
  return { column: view, ids: new Uint32Array(idsOf(context, view, ids.length)), first };
}

/** Writes what a table has for the ids of rows. */
function writeIds(context: RunContext, { physical, ids }: StringColumnView, rowCount: number, table: Uint32Array, out: Address): void {
  const { memory, kernels, check } = context;
  const arena = memory.arena();
  try {
    const numbers = arena.take(Math.max(1, table.length) * 4);
    memory.u32(numbers, table.length).set(table);
    const widened = arena.take(BLOCK_ROWS * 4);
    for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
      check();
      const rows = Math.min(BLOCK_ROWS, rowCount - start);
      kernelFor(kernels, 'keyDense', physical)(ids + start * PHYSICAL_BYTES[physical], 0, rows, 1, 0, widened);
      kernels.gather32(numbers, widened, rows, out + start * 4);
    }
  } finally {
    arena.release();
  }
}

/** Ids of the rows of a column of single strings, as they lie there. */
export function idsOf(
  { memory }: Pick<RunContext, 'memory'>,
  { physical, ids }: StringColumnView,
  rows: number,
): Uint8Array | Uint16Array | Uint32Array {
  if (physical === 'U8') return memory.u8(ids, rows);
  return physical === 'U16' ? memory.u16(ids, rows) : memory.u32(ids, rows);
}

/** Numbers of entries among all that were taken, by their ids; 0 for null and for what no row has. */
function numbersOf(
  { memory, check }: RunContext,
  { count, hasNull, offsets, bytes }: DictionaryView,
  stored: Uint8Array | Uint16Array | Uint32Array,
  into: PackedEntriesBuilder,
): Uint32Array {
  const ends = memory.u32(offsets, count + 1).subarray(1);
  const texts = memory.u8(bytes, ends[count - 1] ?? 0);
  const numbers = new Uint32Array(count);
  const from = hasNull ? 1 : 0;
  if (count <= stored.length * ENTRIES_PER_ROW) {
    const behind = into.addRun({ bytes: texts, ends }, from, count) - from;
    for (let id = from; id < count; id++) numbers[id] = id + behind;
    return numbers;
  }
  checkedLoop(stored.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const id = stored[row] ?? 0;
      if (id >= from && numbers[id] === 0) numbers[id] = into.add(texts, ends[id - 1] ?? 0, ends[id] ?? 0);
    }
  });
  return numbers;
}

// Joins string columns whose ids mean different strings.

import { assert } from '../../base/errors.js';
import { type PackedColumn, PackedEntriesBuilder } from '../../storage/columns/packed-column.js';
import { prepareColumns, toPhysical } from '../../storage/columns/physical.js';
import { sortByKernel } from '../../storage/columns/sort-by-kernel.js';
import { uploadColumn } from '../../storage/uploaded-frame.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { checkedLoop } from '../block/checked-loops.js';
import type { RunContext } from '../block/context.js';
import type { OwnMemory } from './own-memory.js';

/** Rows of one view. */
interface Part {
  readonly column: StringColumnView;
  readonly rowCount: number;
}

/** A dictionary of fewer entries than this, or than its rows, is taken as it is; of a larger one what rows have. */
const ENTRIES_FEW = 4096;

/**
 * The rows of all parts behind each other, with one dictionary of the strings that they have, or nearly so.
 * @param parts  rows of one value each, all of one type
 */
export function joinTexts(context: RunContext, into: OwnMemory, parts: readonly Part[]): StringColumnView {
  const { memory, kernels, check } = context;
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const ids = new Uint32Array(rowCount);
  const entries = new PackedEntriesBuilder();
  let first = 0;
  for (const { column, rowCount: rows } of parts) {
    const stored = idsOf(context, column, rows);
    const own = ids.subarray(first, first + rows);
    const numbers = numbersOf(context, column.dictionary, stored, entries);
    checkedLoop(rows, check, (start, end) => {
      for (let row = start; row < end; row++) own[row] = numbers[stored[row] ?? 0] ?? 0;
    });
    first += rows;
  }
  const type = parts[0]?.column.type ?? 'STRING';
  const packed: PackedColumn = { kind: 'packed', name: '', type, ids, offsets: null, dictionary: entries.entries(false) };
  const [prepared] = prepareColumns({ rowCount, columns: [packed] }, sortByKernel(memory, kernels));
  assert(prepared !== undefined, 'a frame of one column has one');
  const { view } = uploadColumn(toPhysical(prepared, false), rowCount, memory, (size) => into.take(size));
  assert(view.kind === 'string', 'strings stay strings');
  return { ...view, isPart: true };
}

function idsOf({ memory }: RunContext, { physical, ids }: StringColumnView, rows: number): Uint8Array | Uint16Array | Uint32Array {
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
  if (count <= Math.max(ENTRIES_FEW, stored.length)) {
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

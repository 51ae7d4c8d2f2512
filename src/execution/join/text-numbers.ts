// Numbers in place of strings that are gathered from several views.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { ColumnView, DictionaryView, NumberColumnView, SegmentView } from '../../storage/view.js';
import { kernelFor, type RunContext } from '../block/context.js';
import type { SegmentData } from '../block/segment-data.js';
import type { OwnMemory } from './own-memory.js';

/** Numbers of a dictionary's entries among those of all segments. */
interface Remap {
  readonly numbers: Address;
  readonly count: number;
}

export type Remaps = ReadonlyMap<DictionaryView, Remap>;

export function remapsOf(views: readonly SegmentView[], dictionaries: SegmentData['dictionaries']): Remaps {
  const found = new Map<DictionaryView, Remap>();
  for (const [name, { count, remaps }] of Object.entries(dictionaries))
    for (const { id, columns } of views) {
      const column = Object.hasOwn(columns, name) ? own(columns, name) : undefined;
      const numbers = Object.hasOwn(remaps, id) ? own(remaps, id) : undefined;
      if (column?.kind === 'string' && numbers !== undefined) found.set(column.dictionary, { numbers, count });
    }
  return found;
}

const REST = { kind: 'number', type: 'LONG', base: 0n, power: 0, nulls: 0, min: 0n, isPart: true, blockRanges: 0 } as const;

/** The numbers of strings among those of all segments, in place of the strings, whose memory is given back; the strings where they have none. */
export function sharedNumbers(context: RunContext, memory: OwnMemory, remaps: Remaps, column: ColumnView, rowCount: number): ColumnView {
  const remap = column.kind === 'string' && column.offsets === 0 ? remaps.get(column.dictionary) : undefined;
  if (column.kind !== 'string' || remap === undefined) return column;
  const { physical, ids } = column;
  const { kernels, check } = context;
  const values = memory.take(Math.max(64, Math.ceil(rowCount / 64) * 64) * 4);
  const arena = context.memory.arena();
  try {
    const widened = arena.take(BLOCK_ROWS * 4);
    for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
      check();
      const rows = Math.min(BLOCK_ROWS, rowCount - start);
      kernelFor(kernels, 'keyDense', physical)(ids + start * PHYSICAL_BYTES[physical], 0, rows, 1, 0, widened);
      kernels.gather32(remap.numbers, widened, rows, values + start * 4);
    }
  } finally {
    arena.release();
  }
  memory.give(ids);
  return { ...REST, physical: 'U32', values, max: BigInt(Math.max(0, remap.count - 1)) };
}

/** The ids of strings that have one dictionary, as their numbers. */
export function ownNumbers(column: ColumnView): NumberColumnView {
  if (column.kind === 'number') return column;
  const { physical, ids, dictionary } = column;
  return { ...REST, physical, values: ids, max: BigInt(Math.max(0, dictionary.count - 1)) };
}

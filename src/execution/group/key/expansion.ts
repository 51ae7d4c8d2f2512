// Repeats rows for each value of their multi-value keys.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { flatMapped } from '../../../base/lists.js';
import { type Block, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { LocalKey } from './local-key.js';

/** Rows repeated once per value of the multi-value keys (per combination when there are several). */
export interface Expansion {
  /** Row of each position. */
  rows: Address;
  /** u32 ids of each position, per key; 0 for keys of one value. */
  readonly ids: Address[];
  n: number;
}

/** @returns undefined when no key has several values */
export function expander(
  scope: SegmentScope,
  keys: readonly LocalKey[],
): ((block: Block, rows: Address, n: number) => Expansion) | undefined {
  const multi = flatMapped(keys, (key, index) => (key.kind === 'multi' ? [{ index, column: key.column, nullId: key.nullId }] : []));
  if (multi.length === 0) return undefined;
  const { arena, context } = scope;
  const { kernels } = context;
  const buffers = new Map<string, { at: Address; room: number }>();
  return (block, rows, n) => {
    const current: Expansion = { rows, ids: keys.map(() => 0), n };
    for (const { index, column, nullId } of multi) {
      const expand = kernelFor(kernels, 'expand', column.physical);
      for (let room = Math.max(BLOCK_ROWS, current.n * 2); ; room *= 2) {
        const out = buffersOf(index, room);
        const count = expand(
          column.ids,
          column.offsets + block.start * 4,
          current.rows,
          current.n,
          nullId,
          out.rows,
          out.positions,
          out.ids,
          room,
        );
        if (count < 0) continue;
        multi.forEach(({ index: earlier }) => {
          const ids = current.ids[earlier] ?? 0;
          if (ids === 0) return;
          const gathered = bufferOf(`${index} ${earlier}`, count);
          kernels.gather32(ids, out.positions, count, gathered);
          current.ids[earlier] = gathered;
        });
        current.rows = out.rows;
        current.ids[index] = out.ids;
        current.n = count;
        break;
      }
    }
    return current;
  };

  function buffersOf(index: number, room: number): { rows: Address; positions: Address; ids: Address } {
    return { rows: bufferOf(`${index} rows`, room), positions: bufferOf(`${index} positions`, room), ids: bufferOf(`${index} ids`, room) };
  }

  function bufferOf(name: string, room: number): Address {
    const known = buffers.get(name);
    if (known !== undefined && known.room >= room) return known.at;
    const at = arena.take(room * 4);
    buffers.set(name, { at, room });
    return at;
  }
}

// Ranks of computed strings that are all known before a row is read.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { SortKey } from '../../model/plan.js';
import { referredText } from '../block/text-references.js';
import type { SegmentScope } from '../expression/scope.js';
import type { StringVector, TextPool } from '../expression/vector.js';
import type { KeyRank } from './key-rank.js';

/** Bytes of room that the kernel `textSort` takes for a text, and for any. */
const ROOM_BYTES = 40;
const ROOM_BYTES_ANY = 1088;

/** @returns null where all rows are null */
export function computedTextRank(scope: SegmentScope, { descending, nulls }: SortKey, vector: StringVector): KeyRank | null {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const { pool } = vector;
  const { count } = pool;
  if (count <= 1) return null;
  // Positions go up with the texts: null has the first or the last one.
  const isNullLow = (nulls === 'first') !== descending;
  const [low, high] = isNullLow ? [1, count - 1] : [0, count - 2];
  const ids = sortedIds(scope, pool);
  const idAt = (position: number): number => (position < low || position > high ? 0 : (ids[position - low] ?? 0));
  const table = arena.take(count * 4);
  const positions = memory.u32(table, count);
  positions[0] = isNullLow ? 0 : count - 1;
  ids.forEach((id, place) => {
    positions[id] = low + place;
  });
  const [rowIds, rowPositions] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
  const offset = descending ? count - 1 : 0;
  const textAt = (position: number): string | null => textOfId(scope, pool, idAt(position));
  return {
    count: BigInt(count),
    isExact: true,
    usesAll: false,
    offset: BigInt(offset),
    sign: descending ? -1n : 1n,
    write(block, rows, n, out) {
      let of: Address = vector.ids(block);
      if (rows !== 0) {
        kernels.gather32(of, rows, n, rowIds);
        of = rowIds;
      }
      kernels.gather32(table, of, n, rowPositions);
      kernels.toI64U32(rowPositions, 0, n, 0n, out);
    },
    valueOf: (rank) => textAt(descending ? offset - Number(rank) : Number(rank)),
    rankOf(value) {
      if (typeof value !== 'string') return undefined;
      let [from, to] = [low, high + 1];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if ((textAt(middle) ?? '') < value) from = middle + 1;
        else to = middle;
      }
      if (descending) return from > high ? undefined : BigInt(offset - from);
      return BigInt(Math.min(from, count - 1));
    },
  };
}

/** Ids of the texts of a pool in the order of their UTF-16 code units, less that of null. */
function sortedIds(scope: SegmentScope, pool: TextPool): Uint32Array {
  const { entries, count } = pool;
  const n = count - 1;
  const ids = Uint32Array.from({ length: n }, (_, index) => index + 1);
  if (entries === undefined) {
    const { values } = pool;
    return ids.sort((a, b) => ((values[a] ?? '') < (values[b] ?? '') ? -1 : 1));
  }
  const { kernels, memory } = scope.context;
  const arena = memory.arena();
  try {
    const texts = entries + 8;
    const [ranks, ends] = [arena.take(n * 4), arena.take((n + 1) * 4)];
    const room = arena.take(n * ROOM_BYTES + ROOM_BYTES_ANY);
    kernels.textSort(texts, n, 0, room, ranks, ends, arena.take(kernels.textBytes(texts, n) + 16));
    const sorted = new Uint32Array(n);
    memory.u32(ranks, n).forEach((rank, index) => {
      sorted[rank] = index + 1;
    });
    return sorted;
  } finally {
    arena.release();
  }
}

function textOfId({ context: { memory } }: SegmentScope, pool: TextPool, id: number): string | null {
  if (id === 0) return null;
  return pool.entries === undefined ? (pool.values[id] ?? null) : referredText(memory, pool.entries + id * 8);
}

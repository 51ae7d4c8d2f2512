// Ranks of texts that are compared as bytes.

import { sortTexts } from '../../storage/columns/sort-texts.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { NumberedTexts } from '../block/result-table.js';
import type { TextOrder } from './text-order.js';

/** For each id the number of different texts that come before its own; no text becomes a string. */
export function packedRanks(ids: Uint32Array, { pack, nullId }: NumberedTexts, order: TextOrder, check: Check): Uint32Array {
  const present = ids.filter((id) => id !== nullId);
  const { bytes, ends } = pack(present, check);
  const sorted = sortTexts({ bytes, ends: ends.subarray(1) }, check);
  const ranks = new Uint32Array(present.length);
  let rank = -1;
  checkedLoop(sorted.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const text = sorted[at] ?? 0;
      if (at === 0 || !areEqual(bytes, ends, text, sorted[at - 1] ?? 0)) rank++;
      ranks[text] = rank;
    }
  });
  const hasNull = present.length < ids.length;
  const first = hasNull && order.nullsFirst ? 1 : 0;
  const rankOfNull = order.nullsFirst ? 0 : rank + 1;
  const found = new Uint32Array(ids.length);
  let next = 0;
  checkedLoop(ids.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      if (ids[at] === nullId) found[at] = rankOfNull;
      else {
        const own = ranks[next++] ?? 0;
        found[at] = first + (order.descending ? rank - own : own);
      }
    }
  });
  return found;
}

/** Whether two texts have the same bytes; the text behind entry `at` of the ends is text `at`. */
function areEqual(bytes: Uint8Array, ends: Uint32Array, one: number, other: number): boolean {
  const [start, from] = [ends[one] ?? 0, ends[other] ?? 0];
  const length = (ends[one + 1] ?? 0) - start;
  if ((ends[other + 1] ?? 0) - from !== length) return false;
  for (let at = 0; at < length; at++) if (bytes[start + at] !== bytes[from + at]) return false;
  return true;
}

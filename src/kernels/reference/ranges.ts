// Reference kernels: joins by ranges.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import type { RangeKernels } from '../range-contract.js';
import { textsOf } from './join.js';
import { hasBit } from './views.js';

const MOST = 2n ** 63n - 1n;
const STEP = 16;
const ABSENT = 0xffffffff;

export function rangeKernels(memory: KernelMemory): RangeKernels {
  const nullsOf = (nulls: Address, n: number): ((row: number) => boolean) => {
    const bits = nulls === 0 ? undefined : memory.u32(nulls, Math.ceil(n / 32));
    return (row) => bits !== undefined && hasBit(bits, row);
  };
  return {
    rangeNarrow(values, nulls, n, ranks, isAbove, isEnd, places) {
      const [numbers, bounds, isNull] = [memory.i64(values, n), memory.u32(places, n * 2), nullsOf(nulls, n)];
      const order = memory.i64(ranks);
      for (let row = 0; row < n; row++) {
        const [from = 0, to = 0, value = 0n] = [bounds[row * 2], bounds[row * 2 + 1], numbers[row]];
        if (from === to) continue;
        let place = from;
        while (!isNull(row) && place < to && ((order[place] ?? 0n) < value || (isAbove === 1 && order[place] === value))) place++;
        bounds[isNull(row) || isEnd === 1 ? row * 2 + 1 : row * 2] = place;
      }
    },
    rangeLimits(values, nulls, n, isFlipped, isStrict, places, out) {
      const [numbers, isNull] = [memory.i64(values, n), nullsOf(nulls, n)];
      const limits = memory.i64(out, n);
      for (let row = 0; row < n; row++) {
        const limit = isFlipped === 1 ? ~(numbers[row] ?? 0n) : (numbers[row] ?? 0n);
        limits[row] = BigInt.asIntN(64, limit + BigInt(isStrict));
        if (!isNull(row) && (isStrict === 0 || limit !== MOST)) continue;
        const bounds = memory.u32(places + row * 8, 2);
        bounds[1] = bounds[0] ?? 0;
      }
    },
    rangeMost(values, n, out) {
      const [numbers, largest] = [memory.i64(values, n), memory.i64(out, Math.ceil(n / STEP))];
      for (let start = 0; start < n; start += STEP)
        largest[start / STEP] = numbers
          .subarray(start, Math.min(n, start + STEP))
          .reduce((most, number) => (number > most ? number : most));
    },
    rangePairs(places, limits, met, n, rows, levels, _levelCount, each, cursor, capacity, outLeft, outRight) {
      const [bounds, least, own] = [memory.u32(places, n * 2), memory.i64(limits, n), memory.u32(rows)];
      const numbers = memory.i64(memory.u32(levels, 1)[0] ?? 0);
      const [lefts, rights, next] = [memory.u32(outLeft, capacity), memory.u32(outRight, capacity), memory.u32(cursor, 1)];
      const marks = met === 0 ? undefined : memory.u8(met, n);
      let [row = 0] = next;
      let count = 0;
      for (; row < n; row++) {
        let [place = 0, end = 0] = [bounds[row * 2], bounds[row * 2 + 1]];
        if (place >= end || (marks?.[row] ?? 0) !== 0) continue;
        for (let left = Math.min(each, capacity - count); place < end && left > 0; place++) {
          if ((numbers[place] ?? 0n) < (least[row] ?? 0n)) continue;
          lefts[count] = row;
          rights[count++] = own[place] ?? 0;
          left--;
        }
        bounds[row * 2] = place;
        if (count === capacity) break;
      }
      next[0] = row;
      return count;
    },
    rangeTexts(bytes, offsets, first, count, otherBytes, otherOffsets, otherFirst, otherCount, out) {
      const others = textsOf(memory, otherBytes, otherOffsets, otherCount);
      const numbers = memory.u32(out, count);
      textsOf(memory, bytes, offsets, count).forEach((text, entry) => {
        let place = otherFirst;
        while (place < otherCount && (others[place] ?? '') < text) place++;
        numbers[entry] = entry < first ? ABSENT : place * 2 + Number(others[place] === text);
      });
    },
  };
}

// Reference kernels: joins.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import type { RangeKernels } from '../range-contract.js';
import { IDS, INTEGERS, perType } from '../signatures.js';
import { hashOf } from './keys.js';
import { hasBit, viewOf, writeBits } from './views.js';

const ABSENT = 0xffffffff;
const MOST = 2n ** 63n - 1n;
/** Numbers of one level for each of the next. */
const STEP = 16;

/** Strings of a dictionary; JavaScript compares them by UTF-16 code units. */
function textsOf(memory: KernelMemory, bytes: Address, offsets: Address, count: number): string[] {
  const bounds = memory.u32(offsets, count + 1);
  const text = Buffer.from(memory.u8(bytes, bounds[count] ?? 0).slice());
  return Array.from({ length: count }, (_, entry) => text.toString('utf8', bounds[entry] ?? 0, bounds[entry + 1] ?? 0));
}

export function joinKernels(memory: KernelMemory) {
  return {
    ...rangeKernels(memory),
    joinTexts(
      bytes: Address,
      offsets: Address,
      first: number,
      count: number,
      otherBytes: Address,
      otherOffsets: Address,
      otherFirst: number,
      otherCount: number,
      out: Address,
    ) {
      const others = new Map<string, number>();
      textsOf(memory, otherBytes, otherOffsets, otherCount).forEach((text, entry) => {
        if (entry >= otherFirst) others.set(text, entry);
      });
      const found = memory.u32(out, count);
      textsOf(memory, bytes, offsets, count).forEach((text, entry) => {
        found[entry] = entry < first ? ABSENT : (others.get(text) ?? ABSENT);
      });
    },
    joinFind(input: Address, n: number, words: number, slots: Address, capacity: number, keys: Address, out: Address) {
      const halves = words * 2;
      const source = memory.u32(input, n * halves);
      const table = memory.u32(slots, capacity);
      const known = memory.u32(keys);
      const numbers = memory.u32(out, n);
      const isSame = (entry: number, i: number): boolean => {
        for (let half = 0; half < halves; half++) if (known[(entry - 1) * halves + half] !== source[i * halves + half]) return false;
        return true;
      };
      for (let i = 0; i < n; i++) {
        let slot = hashOf(source, i * halves, halves) & (capacity - 1);
        while (table[slot] !== 0 && !isSame(table[slot] ?? 0, i)) slot = (slot + 1) & (capacity - 1);
        numbers[i] = table[slot] === 0 ? ABSENT : (table[slot] ?? 0) - 1;
      }
    },
    joinDropNulls(nulls: Address, n: number, numbers: Address) {
      const bits = memory.u32(nulls);
      const found = memory.u32(numbers, n);
      for (let i = 0; i < n; i++) if (hasBit(bits, i)) found[i] = ABSENT;
    },
    joinLists(numbers: Address, n: number, keyCount: number, starts: Address, rows: Address) {
      const found = memory.u32(numbers, n);
      const bounds = memory.u32(starts, keyCount + 1).fill(0);
      for (const number of found) if (number !== ABSENT) bounds[number + 1] = (bounds[number + 1] ?? 0) + 1;
      for (let key = 0; key < keyCount; key++) bounds[key + 1] = (bounds[key + 1] ?? 0) + (bounds[key] ?? 0);
      const listed = bounds[keyCount] ?? 0;
      const next = bounds.slice();
      const lists = memory.u32(rows, listed);
      found.forEach((number, row) => {
        if (number === ABSENT) return;
        const place = next[number] ?? 0;
        lists[place] = row;
        next[number] = place + 1;
      });
      return listed;
    },
    joinOnly(numbers: Address, n: number, keyCount: number, rows: Address) {
      const only = memory.u32(rows, keyCount).fill(ABSENT);
      for (const [row, number] of memory.u32(numbers, n).entries()) {
        if (number === ABSENT) continue;
        if (only[number] !== ABSENT) return 0;
        only[number] = row;
      }
      return 1;
    },
    joinOnlyPairs(numbers: Address, start: number, end: number, rows: Address, kind: number, outLeft: Address, outRight: Address) {
      const found = memory.u32(numbers, end);
      const only = memory.u32(rows);
      const [lefts, rights] = [memory.u32(outLeft, end - start), memory.u32(outRight, end - start)];
      let count = 0;
      for (let row = start; row < end; row++) {
        const number = found[row] ?? ABSENT;
        const other = number === ABSENT ? ABSENT : (only[number] ?? ABSENT);
        const isThere = other !== ABSENT;
        if (kind === 1 ? false : kind === 3 ? isThere : !isThere) continue;
        lefts[count] = row;
        rights[count] = kind < 2 ? other : ABSENT;
        count++;
      }
      return count;
    },
    joinPairs(
      numbers: Address,
      n: number,
      starts: Address,
      rows: Address,
      kind: number,
      cursor: Address,
      capacity: number,
      outLeft: Address,
      outRight: Address,
    ) {
      const found = memory.u32(numbers, n);
      const bounds = memory.u32(starts);
      const lists = memory.u32(rows);
      const state = memory.u32(cursor, 3);
      const lefts = memory.u32(outLeft, capacity);
      const rights = memory.u32(outRight, capacity);
      let [row = 0, place = 0, oneEach = 0] = state;
      let count = 0;
      for (; row < n && count < capacity; row++, place = 0) {
        const number = found[row] ?? ABSENT;
        const list = number === ABSENT ? [] : lists.subarray(bounds[number], bounds[number + 1]);
        const [isSemi, isAnti, keepsAll] = [kind === 2, kind === 3, kind === 1];
        const once = isSemi ? list.length > 0 : isAnti || keepsAll ? list.length === 0 : false;
        const given = once ? [ABSENT] : isSemi || isAnti ? [] : [...list];
        if (given.length !== 1) oneEach = 0;
        for (; place < given.length && count < capacity; place++, count++) {
          lefts[count] = row;
          rights[count] = given[place] ?? ABSENT;
        }
        if (place < given.length) break;
      }
      state.set([row, place, oneEach]);
      return count;
    },
    joinMark(rows: Address, n: number, marks: Address) {
      const marked = memory.u8(marks);
      for (const row of memory.u32(rows, n)) if (row !== ABSENT) marked[row] = 1;
    },
    joinNulls(nulls: Address, rows: Address, n: number, out: Address) {
      const bits = nulls === 0 ? undefined : memory.u32(nulls);
      const gathered = memory.u32(out, Math.ceil(n / 64) * 2).fill(0);
      let found = 0;
      memory.u32(rows, n).forEach((row, i) => {
        if (row !== ABSENT && (bits === undefined || !hasBit(bits, row))) return;
        gathered[i >>> 5] = (gathered[i >>> 5] ?? 0) | (1 << (i & 31));
        found++;
      });
      return found;
    },
    joinOffsets(offsets: Address, rows: Address, n: number, out: Address) {
      const bounds = memory.u32(offsets);
      const gathered = memory.u32(out, n + 1);
      gathered[0] = 0;
      memory.u32(rows, n).forEach((row, i) => {
        gathered[i + 1] = (gathered[i] ?? 0) + (row === ABSENT ? 0 : (bounds[row + 1] ?? 0) - (bounds[row] ?? 0));
      });
      return gathered[n] ?? 0;
    },
    ...perType('joinRange', INTEGERS, (type) => (values: Address, base: bigint, low: bigint, count: number, n: number, out: Address) => {
      const column = type === 'I64' ? memory.i64(values, n) : viewOf(memory, type)(values, n);
      const numbers = memory.u32(out, n);
      for (let i = 0; i < n; i++) {
        const number = BigInt.asUintN(64, BigInt(column[i] ?? 0) + base - low);
        numbers[i] = number < BigInt(count) ? Number(number) : ABSENT;
      }
    }),
    joinShift(bits: Address, low: bigint, count: number, base: bigint, n: number, out: Address) {
      const members = memory.u32(bits, Math.ceil(count / 32));
      writeBits(memory, out, n, (i) => {
        const number = BigInt.asUintN(64, BigInt(i) + base - low);
        return number < BigInt(count) && hasBit(members, Number(number));
      });
    },
    joinBytes(bits: Address, n: number, out: Address) {
      const members = memory.u32(bits, Math.ceil(n / 32));
      const written = memory.u8(out, n);
      for (let i = 0; i < n; i++) written[i] = Number(hasBit(members, i));
    },
    ...perType(
      'joinKeep',
      INTEGERS,
      (type) => (values: Address, base: bigint, low: bigint, count: number, bits: Address, n: number, kept: Address) => {
        const column = type === 'I64' ? memory.i64(values, n) : viewOf(memory, type)(values, n);
        const members = memory.u32(bits, Math.ceil(count / 32));
        const asked = memory.u32(kept, Math.ceil(n / 64) * 2).slice();
        writeBits(memory, kept, n, (row) => {
          const number = BigInt.asUintN(64, BigInt(column[row] ?? 0) + base - low);
          return hasBit(asked, row) && number < BigInt(count) && hasBit(members, Number(number));
        });
      },
    ),
    ...perType('joinKeepBits', IDS, (type) => (values: Address, bits: Address, n: number, kept: Address) => {
      const column = viewOf(memory, type)(values, n);
      const asked = memory.u32(kept, Math.ceil(n / 64) * 2).slice();
      writeBits(memory, kept, n, (row) => hasBit(asked, row) && hasBit(memory.u32(bits, ((column[row] ?? 0) >>> 5) + 1), column[row] ?? 0));
    }),
    ...perType('joinKeepBytes', IDS, (type) => (values: Address, bytes: Address, n: number, kept: Address) => {
      const column = viewOf(memory, type)(values, n);
      const asked = memory.u32(kept, Math.ceil(n / 64) * 2).slice();
      writeBits(memory, kept, n, (row) => hasBit(asked, row) && memory.u8(bytes + (column[row] ?? 0), 1)[0] === 1);
    }),
    ...perType('joinValues', INTEGERS, (type) => (values: Address, rows: Address, n: number, out: Address) => {
      const picked = memory.u32(rows, n);
      if (type === 'I64') {
        const [from, to] = [memory.i64(values), memory.i64(out, n)];
        picked.forEach((row, i) => {
          to[i] = row === ABSENT ? 0n : (from[row] ?? 0n);
        });
        return;
      }
      const [from, to] = [viewOf(memory, type)(values), viewOf(memory, type)(out, n)];
      picked.forEach((row, i) => {
        to[i] = row === ABSENT ? 0 : (from[row] ?? 0);
      });
    }),
    ...perType('joinListValues', IDS, (type) => (ids: Address, offsets: Address, rows: Address, n: number, out: Address) => {
      const bounds = memory.u32(offsets);
      const from = viewOf(memory, type)(ids);
      const to = viewOf(memory, type)(out);
      let at = 0;
      for (const row of memory.u32(rows, n)) {
        if (row === ABSENT) continue;
        for (let value = bounds[row] ?? 0; value < (bounds[row + 1] ?? 0); value++) to[at++] = from[value] ?? 0;
      }
    }),
  };
}

/** Joins by ranges. */
function rangeKernels(memory: KernelMemory): RangeKernels {
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

// Reference kernels: filters.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS, perType } from '../signatures.js';
import { EXACT, hasBit, viewOf, writeBits } from './views.js';

export function filterKernels(memory: KernelMemory) {
  const range = (type: (typeof EXACT)[number]) => (values: Address, rows: number, lower: number, upper: number, out: Address) => {
    const column = viewOf(memory, type)(values, rows);
    writeBits(memory, out, rows, (row) => {
      const value = column[row] ?? Number.NaN;
      return lower <= value && value <= upper;
    });
  };

  const listsOf = (type: (typeof IDS)[number], ids: Address, offsets: Address, rows: number): number[][] => {
    const [values, bounds] = [viewOf(memory, type)(ids), memory.u32(offsets, rows + 1)];
    return Array.from({ length: rows }, (_, row) => Array.from(values.subarray(bounds[row], bounds[row + 1])));
  };

  return {
    ...perType('filterEq', IDS, (type) => (values: Address, rows: number, id: number, out: Address) => {
      const column = viewOf(memory, type)(values, rows);
      writeBits(memory, out, rows, (row) => column[row] === id);
    }),
    ...perType('filterRange', IDS, range),
    ...perType('filterRange', FLOATS, range),
    filterRangeI64(values: Address, rows: number, lower: bigint, upper: bigint, out: Address) {
      const column = memory.i64(values, rows);
      writeBits(memory, out, rows, (row) => {
        const value = column[row] ?? 0n;
        return lower <= value && value <= upper;
      });
    },
    ...perType('filterSet', IDS, (type) => (values: Address, rows: number, set: Address, out: Address) => {
      const column = viewOf(memory, type)(values, rows);
      const members = memory.u32(set);
      writeBits(memory, out, rows, (row) => hasBit(members, column[row] ?? 0));
    }),
    ...perType('filterSorted', EXACT, (type) => (values: Address, rows: number, sorted: Address, count: number, out: Address) => {
      const column = viewOf(memory, type)(values, rows);
      const wanted = viewOf(memory, type)(sorted, count);
      writeBits(memory, out, rows, (row) => isIn(wanted, column[row] ?? Number.NaN));
    }),
    filterSortedI64(values: Address, rows: number, sorted: Address, count: number, out: Address) {
      const column = memory.i64(values, rows);
      const wanted = memory.i64(sorted, count);
      writeBits(memory, out, rows, (row) => isIn(wanted, column[row] ?? 0n));
    },
    ...perType('filterAny', IDS, (type) => (ids: Address, offsets: Address, rows: number, set: Address, out: Address) => {
      const bounds = memory.u32(offsets, rows + 1);
      const values = viewOf(memory, type)(ids, bounds[rows]);
      const members = memory.u32(set);
      writeBits(memory, out, rows, (row) => {
        const end = bounds[row + 1] ?? 0;
        for (let at = bounds[row] ?? 0; at < end; at++) if (hasBit(members, values[at] ?? 0)) return true;
        return false;
      });
    }),
    filterEmpty(offsets: Address, rows: number, out: Address) {
      const bounds = memory.u32(offsets, rows + 1);
      writeBits(memory, out, rows, (row) => bounds[row] === bounds[row + 1]);
    },
    ...perType('listElement', IDS, (type) => (ids: Address, offsets: Address, rows: number, place: number, shift: number, out: Address) => {
      const lists = listsOf(type, ids, offsets, rows);
      memory.u32(out, rows).set(lists.map((list) => (place < list.length ? (list[place] ?? 0) + shift : 0)));
    }),
    ...perType('listPlace', IDS, (type) => (ids: Address, offsets: Address, rows: number, id: number, out: Address) => {
      memory.i64(out, rows).set(listsOf(type, ids, offsets, rows).map((list) => BigInt(list.indexOf(id))));
    }),
  };
}

function isIn<Value extends number | bigint>(sorted: ArrayLike<Value>, value: Value): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = sorted[middle];
    if (at !== undefined && at < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}

// Reference kernels: group keys.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS, perType } from '../signatures.js';
import { hasBit, rowsView, viewOf } from './views.js';

export function keyKernels(memory: KernelMemory) {
  /** Calls `visit` with the run group of each position whose row lies in a run. */
  const eachRunPosition = (runs: Address, runCount: number, rows: Address, n: number, visit: (i: number, group: number) => void): void => {
    const triples = memory.u32(runs, runCount * 3);
    const picked = rowsView(memory, rows, n);
    let at = 0;
    for (let i = 0; i < n; i++) {
      const row = picked === null ? i : (picked[i] ?? 0);
      while (at < triples.length && (triples[at + 2] ?? 0) <= row) at += 3;
      if (at < triples.length && (triples[at + 1] ?? 0) <= row) visit(i, triples[at] ?? 0);
    }
  };

  const expand =
    (type: (typeof IDS)[number]) =>
    (
      ids: Address,
      offsets: Address,
      rows: Address,
      n: number,
      nullId: number,
      outRows: Address,
      outPositions: Address,
      outIds: Address,
      capacity: number,
    ): number => {
      const values = viewOf(memory, type)(ids);
      const bounds = memory.u32(offsets);
      const picked = rowsView(memory, rows, n);
      const resultRows = memory.u32(outRows, capacity);
      const resultPositions = memory.u32(outPositions, capacity);
      const resultIds = memory.u32(outIds, capacity);
      let count = 0;
      for (let i = 0; i < n; i++) {
        const row = picked === null ? i : (picked[i] ?? 0);
        const start = bounds[row] ?? 0;
        const end = bounds[row + 1] ?? 0;
        const emitted = Math.max(1, end - start);
        if (count + emitted > capacity) return -1;
        for (let value = 0; value < emitted; value++) {
          resultRows[count] = row;
          resultPositions[count] = i;
          resultIds[count++] = start === end ? nullId : (values[start + value] ?? 0);
        }
      }
      return count;
    };

  /** One 64-bit word of each key in 32-bit halves: |= value << shift, or = when `assign`. */
  const putWord = (keys: Uint32Array, at: number, low: number, high: number, shift: number, assign: number): void => {
    const shiftedLow = shift === 0 ? low : shift < 32 ? low << shift : 0;
    const shiftedHigh = shift === 0 ? high : shift < 32 ? (high << shift) | (low >>> (32 - shift)) : low << (shift - 32);
    keys[at * 2] = assign !== 0 ? shiftedLow : (keys[at * 2] ?? 0) | shiftedLow;
    keys[at * 2 + 1] = assign !== 0 ? shiftedHigh : (keys[at * 2 + 1] ?? 0) | shiftedHigh;
  };

  const findOrAdd = (
    slots: Uint32Array,
    capacity: number,
    keys: Uint32Array,
    groupCount: number,
    input: Uint32Array,
    at: number,
    halves: number,
  ): number => {
    let slot = hashOf(input, at, halves) & (capacity - 1);
    for (; ; slot = (slot + 1) & (capacity - 1)) {
      const entry = slots[slot] ?? 0;
      if (entry === 0) {
        slots[slot] = groupCount + 1;
        for (let half = 0; half < halves; half++) keys[groupCount * halves + half] = input[at + half] ?? 0;
        return groupCount;
      }
      const known = (entry - 1) * halves;
      let half = 0;
      while (half < halves && keys[known + half] === input[at + half]) half++;
      if (half === halves) return entry - 1;
    }
  };

  return {
    ...perType('keyDense', IDS, (type) => (values: Address, rows: Address, n: number, stride: number, accumulate: number, out: Address) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const keys = memory.u32(out, n);
      for (let i = 0; i < n; i++) {
        const value = Math.imul(column[picked === null ? i : (picked[i] ?? 0)] ?? 0, stride);
        keys[i] = accumulate !== 0 ? (keys[i] ?? 0) + value : value;
      }
    }),
    ...perType(
      'keyWord',
      IDS,
      (type) => (values: Address, rows: Address, n: number, words: number, word: number, shift: number, assign: number, out: Address) => {
        const column = viewOf(memory, type)(values);
        const picked = rowsView(memory, rows, n);
        const keys = memory.u32(out, n * words * 2);
        for (let i = 0; i < n; i++) putWord(keys, i * words + word, column[picked === null ? i : (picked[i] ?? 0)] ?? 0, 0, shift, assign);
      },
    ),
    keyWordI64(values: Address, rows: Address, n: number, words: number, word: number, shift: number, assign: number, out: Address) {
      const column = memory.u32(values);
      const picked = rowsView(memory, rows, n);
      const keys = memory.u32(out, n * words * 2);
      for (let i = 0; i < n; i++) {
        const row = picked === null ? i : (picked[i] ?? 0);
        putWord(keys, i * words + word, column[row * 2] ?? 0, column[row * 2 + 1] ?? 0, shift, assign);
      }
    },
    ...perType('keyWord', FLOATS, (type) => (values: Address, rows: Address, n: number, words: number, word: number, out: Address) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const keys = memory.f64(out, n * words);
      const bits = memory.u64(out, n * words);
      for (let i = 0; i < n; i++) {
        const value = column[picked === null ? i : (picked[i] ?? 0)] ?? 0;
        if (Number.isNaN(value)) bits[i * words + word] = CANONICAL_NAN;
        else keys[i * words + word] = value + 0;
      }
    }),
    keyNulls(nulls: Address, rows: Address, n: number, words: number, word: number, flagWord: number, shift: number, out: Address) {
      const bits = memory.u32(nulls);
      const picked = rowsView(memory, rows, n);
      const keys = memory.u32(out, n * words * 2);
      for (let i = 0; i < n; i++) {
        if (!hasBit(bits, picked === null ? i : (picked[i] ?? 0))) continue;
        putWord(keys, i * words + word, 0, 0, 0, 1);
        putWord(keys, i * words + flagWord, 1, 0, shift, 0);
      }
    },
    keyRuns(runs: Address, runCount: number, rows: Address, n: number, stride: number, accumulate: number, out: Address) {
      const keys = memory.u32(out, n);
      if (accumulate === 0) keys.fill(0);
      eachRunPosition(runs, runCount, rows, n, (i, group) => {
        keys[i] = (keys[i] ?? 0) + Math.imul(group, stride);
      });
    },
    keyWordRuns(
      runs: Address,
      runCount: number,
      rows: Address,
      n: number,
      words: number,
      word: number,
      shift: number,
      assign: number,
      out: Address,
    ) {
      const keys = memory.u32(out, n * words * 2);
      if (assign !== 0) for (let i = 0; i < n; i++) putWord(keys, i * words + word, 0, 0, 0, 1);
      eachRunPosition(runs, runCount, rows, n, (i, group) => putWord(keys, i * words + word, group, 0, shift, 0));
    },
    expandU8: expand('U8'),
    expandU16: expand('U16'),
    expandU32: expand('U32'),
    gather32(source: Address, index: Address, n: number, out: Address) {
      const from = memory.u32(source);
      const at = memory.u32(index, n);
      const to = memory.u32(out, n);
      for (let i = 0; i < n; i++) to[i] = from[at[i] ?? 0] ?? 0;
    },
    gather64(source: Address, index: Address, n: number, out: Address) {
      const from = memory.u32(source);
      const at = memory.u32(index, n);
      const to = memory.u32(out, n * 2);
      for (let i = 0; i < n; i++) {
        const row = at[i] ?? 0;
        to[i * 2] = from[row * 2] ?? 0;
        to[i * 2 + 1] = from[row * 2 + 1] ?? 0;
      }
    },
    hashKeys(input: Address, n: number, words: number, slots: Address, capacity: number, keys: Address, groupCount: number, out: Address) {
      const halves = words * 2;
      const source = memory.u32(input, n * halves);
      const table = memory.u32(slots, capacity);
      const known = memory.u32(keys);
      const groups = memory.u32(out, n);
      let count = groupCount;
      for (let i = 0; i < n; i++) {
        const group = findOrAdd(table, capacity, known, count, source, i * halves, halves);
        if (group === count) count++;
        groups[i] = group;
      }
      return count;
    },
    rehash(keys: Address, groupCount: number, words: number, slots: Address, capacity: number) {
      const halves = words * 2;
      const known = memory.u32(keys, groupCount * halves);
      const table = memory.u32(slots, capacity);
      for (let group = 0; group < groupCount; group++) {
        let slot = hashOf(known, group * halves, halves) & (capacity - 1);
        while (table[slot] !== 0) slot = (slot + 1) & (capacity - 1);
        table[slot] = group + 1;
      }
    },
    numberKeys(input: Address, n: number, shift: number, places: Address, keys: Address, groupCount: number, out: Address) {
      const source = memory.i64(input, n);
      const groups = memory.u32(out, n);
      let count = groupCount;
      for (let i = 0; i < n; i++) {
        const place = memory.u32(places + Number((source[i] ?? 0n) >> BigInt(shift)) * 4, 1);
        if (place[0] === 0) {
          memory.i64(keys + count * 8, 1)[0] = source[i] ?? 0n;
          place[0] = ++count;
        }
        groups[i] = (place[0] ?? 0) - 1;
      }
      return count;
    },
    divideKeys(input: Address, n: number, words: number, bits: number, keys: Address, groupCount: number, starts: Address, out: Address) {
      const halves = words * 2;
      const source = memory.u32(input, n * halves);
      const known = memory.u32(keys);
      const bounds = memory.u32(starts, 2 ** bits + 1);
      const numbers = memory.u32(out, n);
      bounds.fill(0);
      const partAt = (i: number): number => hashOf(source, i * halves, halves) >>> (32 - bits);
      for (let i = 0; i < n; i++) bounds[partAt(i) + 1] = (bounds[partAt(i) + 1] ?? 0) + 1;
      bounds[0] = groupCount;
      for (let part = 1; part < bounds.length; part++) bounds[part] = (bounds[part] ?? 0) + (bounds[part - 1] ?? 0);
      const places = bounds.slice();
      for (let i = 0; i < n; i++) {
        const place = places[partAt(i)] ?? 0;
        places[partAt(i)] = place + 1;
        numbers[i] = place;
        for (let half = 0; half < halves; half++) known[place * halves + half] = source[i * halves + half] ?? 0;
      }
    },
    listRanges(ranges: Address, count: number, stride: number, out: Address) {
      const bounds = memory.u32(ranges);
      const numbers = memory.u32(out);
      let n = 0;
      for (let i = 0; i < count; i++) {
        for (let number = bounds[i * stride] ?? 0; number < (bounds[i * stride + 1] ?? 0); number++) numbers[n++] = number;
      }
      return n;
    },
  };
}

const CANONICAL_NAN = 0x7ff8000000000000n;

/** The same in every set, so that a table made by one can be continued by another. 32-bit steps suit JavaScript too. */
export function hashOf(words: Uint32Array, at: number, halves: number): number {
  let hash = 0;
  for (let half = 0; half < halves; half += 2) {
    hash = Math.imul(hash ^ (words[at + half] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
    hash = Math.imul(hash ^ (words[at + half + 1] ?? 0), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

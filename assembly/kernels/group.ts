import { isAligned } from './lanes';

// Scattered rows: position i belongs to group groups[i], its value is values[rows[i]], or values[i] without `rows`.
// Memory renaming hides the dependency between neighbours of one group, except for floating-point sums: see `copies`.

@inline
function valueAt<T>(values: usize, rows: usize, offset: usize): T {
  if (rows == 0) return load<T>(values + (offset >> 2) * sizeof<T>());
  return load<T>(values + <usize>load<u32>(rows + offset) * sizeof<T>());
}

export function countGroups(groups: usize, n: u32, state: usize): void {
  assert(isAligned<u32>(groups) && isAligned<u64>(state));
  const end = groups + (<usize>n << 2);
  let at = groups;
  for (; at + 16 <= end; at += 16) {
    bump(state, at);
    bump(state, at + 4);
    bump(state, at + 8);
    bump(state, at + 12);
  }
  for (; at < end; at += 4) bump(state, at);
}

@inline
function bump(state: usize, group: usize): void {
  const at = state + (<usize>load<u32>(group) << 3);
  store<u64>(at, load<u64>(at) + 1);
}

export function presentGroups(groups: usize, n: u32, state: usize): void {
  assert(isAligned<u32>(groups));
  for (let at = groups, end = groups + (<usize>n << 2); at < end; at += 4) store<u8>(state + <usize>load<u32>(at), 1);
}

@inline
function foldBits(operation: u32, values: usize, groups: usize, n: u32, state: usize, seen: usize): void {
  let i: usize = 0;
  const end = <usize>n;
  while (i < end) {
    const group = load<u32>(groups + (i << 2));
    const at = state + (<usize>group << 3);
    let bits = load<u64>(at);
    // Rows of one group often follow each other.
    do {
      const value = load<u64>(values + (i << 3));
      bits = operation == 0 ? bits & value : operation == 1 ? bits | value : bits ^ value;
      i++;
    } while (i < end && load<u32>(groups + (i << 2)) == group);
    store<u64>(at, bits);
    store<u8>(seen + <usize>group, 1);
  }
}

export function foldBitsGroupsI64(values: usize, groups: usize, n: u32, operation: u32, state: usize, seen: usize): void {
  assert(isAligned<i64>(values) && isAligned<u32>(groups) && isAligned<i64>(state) && operation <= 2);
  if (operation == 0) foldBits(0, values, groups, n, state, seen);
  else if (operation == 1) foldBits(1, values, groups, n, state, seen);
  else foldBits(2, values, groups, n, state, seen);
}

@inline
function addValue(state: usize, group: u32, value: u64): void {
  const at = state + (<usize>group << 3);
  store<u64>(at, load<u64>(at) + value);
}

// Offsets from a pointer are given as literals: they are then part of the instruction, where adding them would be one more.

/** Loop over positions; without `rows` its pointer moves along unread. */
@inline
function addValues<T>(values: usize, rows: usize, listed: bool, groups: usize, end: usize, state: usize, more: u64): void {
  for (; groups + 16 <= end; groups += 16) {
    if (listed) {
      addValue(state, load<u32>(groups), <u64>load<T>(values + <usize>load<u32>(rows) * sizeof<T>()) + more);
      addValue(state, load<u32>(groups, 4), <u64>load<T>(values + <usize>load<u32>(rows, 4) * sizeof<T>()) + more);
      addValue(state, load<u32>(groups, 8), <u64>load<T>(values + <usize>load<u32>(rows, 8) * sizeof<T>()) + more);
      addValue(state, load<u32>(groups, 12), <u64>load<T>(values + <usize>load<u32>(rows, 12) * sizeof<T>()) + more);
      rows += 16;
    } else {
      addValue(state, load<u32>(groups), <u64>load<T>(values) + more);
      addValue(state, load<u32>(groups, 4), <u64>load<T>(values, sizeof<T>()) + more);
      addValue(state, load<u32>(groups, 8), <u64>load<T>(values, 2 * sizeof<T>()) + more);
      addValue(state, load<u32>(groups, 12), <u64>load<T>(values, 3 * sizeof<T>()) + more);
      values += 4 * sizeof<T>();
    }
  }
  for (; groups < end; groups += 4) {
    addValue(state, load<u32>(groups), <u64>load<T>(listed ? values + <usize>load<u32>(rows) * sizeof<T>() : values) + more);
    if (listed) rows += 4;
    else values += sizeof<T>();
  }
}

export function sumGroups<T>(values: usize, rows: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(state));
  const end = groups + (<usize>n << 2);
  if (rows == 0) addValues<T>(values, 0, false, groups, end, state, 0);
  else addValues<T>(values, rows, true, groups, end, state, 0);
}

// A count in the upper 24 bits of a word and a sum below: where groups are many, reaching their states is what costs.

@inline
const COUNT_SHIFT: u64 = 40;
@inline
const ONE: u64 = 1 << COUNT_SHIFT;

export function countSumGroups<T>(values: usize, rows: usize, groups: usize, n: u32, words: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(words));
  const end = groups + (<usize>n << 2);
  if (rows == 0) addValues<T>(values, 0, false, groups, end, words, ONE);
  else addValues<T>(values, rows, true, groups, end, words, ONE);
}

export function foldCountSums(words: usize, cells: usize, groups: usize, n: u32, counts: usize, sums: usize): void {
  assert(isAligned<u64>(words) && isAligned<u32>(cells) && isAligned<u32>(groups) && isAligned<u64>(counts) && isAligned<u64>(sums));
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const word = valueAt<u64>(words, cells, offset);
    const group = <usize>load<u32>(groups + offset) << 3;
    if (counts != 0) store<u64>(counts + group, load<u64>(counts + group) + (word >> COUNT_SHIFT));
    if (sums != 0) store<u64>(sums + group, load<u64>(sums + group) + (word & (ONE - 1)));
  }
}

@inline
function addFloat<T>(values: usize, rows: usize, groups: usize, offset: usize, state: usize, shift: usize): void {
  const at = state + (<usize>load<u32>(groups + offset) << shift);
  store<f64>(at, load<f64>(at) + <f64>valueAt<T>(values, rows, offset));
}

@inline
function addFloats<T>(values: usize, rows: usize, groups: usize, end: usize, state: usize, shift: usize, step: usize): void {
  let offset: usize = 0;
  for (; offset + 16 <= end; offset += 16) {
    addFloat<T>(values, rows, groups, offset, state, shift);
    addFloat<T>(values, rows, groups, offset + 4, state + step, shift);
    addFloat<T>(values, rows, groups, offset + 8, state + 2 * step, shift);
    addFloat<T>(values, rows, groups, offset + 12, state + 3 * step, shift);
  }
  for (; offset < end; offset += 4) addFloat<T>(values, rows, groups, offset, state + ((offset >> 2) & 3) * step, shift);
}

export function sumGroupsFloat<T>(values: usize, rows: usize, groups: usize, n: u32, state: usize, copies: u32): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(state));
  assert(copies == 1 || copies == 4);
  const end = <usize>n << 2;
  if (copies == 4) {
    if (rows == 0) addFloats<T>(values, 0, groups, end, state, 5, 8);
    else addFloats<T>(values, rows, groups, end, state, 5, 8);
  } else {
    if (rows == 0) addFloats<T>(values, 0, groups, end, state, 3, 0);
    else addFloats<T>(values, rows, groups, end, state, 3, 0);
  }
}

@inline
function bestValues<T, S>(wantMin: bool, values: usize, rows: usize, groups: usize, end: usize, state: usize): void {
  for (let offset: usize = 0; offset < end; offset += 4) {
    const value = <S>valueAt<T>(values, rows, offset);
    const at = state + <usize>load<u32>(groups + offset) * sizeof<S>();
    const kept = load<S>(at);
    const best = select<S>(value, kept, wantMin ? value < kept : value > kept);
    store<S>(at, isFloat<S>() ? best + <S>0 : best); // -0 becomes +0
  }
}

export function minGroups<T, S>(values: usize, rows: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<S>(state));
  if (rows == 0) bestValues<T, S>(true, values, 0, groups, <usize>n << 2, state);
  else bestValues<T, S>(true, values, rows, groups, <usize>n << 2, state);
}

export function maxGroups<T, S>(values: usize, rows: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<S>(state));
  if (rows == 0) bestValues<T, S>(false, values, 0, groups, <usize>n << 2, state);
  else bestValues<T, S>(false, values, rows, groups, <usize>n << 2, state);
}

export function foldSums(state: usize, groupCount: u32, out: usize): void {
  assert(isAligned<u64>(state) && isAligned<u64>(out));
  for (let group: usize = 0, end = <usize>groupCount; group < end; group++) {
    const at = state + (group << 5);
    store<f64>(out + (group << 3), load<f64>(at) + load<f64>(at, 16) + (load<f64>(at, 8) + load<f64>(at, 24)));
  }
}

/** A row and its group, where the next ones that are kept go. */
@inline
function storePosition(row: u32, group: u32, to: usize, outRows: usize, outGroups: usize): void {
  store<u32>(outRows + to, row);
  store<u32>(outGroups + to, group);
}

/** `flip` is all ones to keep rows whose bit is clear. Written without a branch: a refused position is overwritten. */
@inline
function compact(flip: u32, mask: usize, rows: usize, groups: usize, n: u32, outRows: usize, outGroups: usize): u32 {
  let to: usize = 0;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const row = rows == 0 ? <u32>(offset >> 2) : load<u32>(rows + offset);
    const group = load<u32>(groups + offset);
    storePosition(row, group, to, outRows, outGroups);
    to += <usize>((((load<u32>(mask + ((<usize>row >> 5) << 2)) ^ flip) >> (row & 31)) & 1) << 2);
  }
  return <u32>(to >> 2);
}

export function compactMask(mask: usize, rows: usize, groups: usize, n: u32, outRows: usize, outGroups: usize): u32 {
  assert(isAligned<u64>(mask) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u32>(outRows) && isAligned<u32>(outGroups));
  return compact(0, mask, rows, groups, n, outRows, outGroups);
}

export function compactNotMask(mask: usize, rows: usize, groups: usize, n: u32, outRows: usize, outGroups: usize): u32 {
  assert(isAligned<u64>(mask) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u32>(outRows) && isAligned<u32>(outGroups));
  return compact(-1, mask, rows, groups, n, outRows, outGroups);
}

export function compactBestI64(values: usize, rows: usize, groups: usize, n: u32, state: usize, outRows: usize, outGroups: usize): u32 {
  assert(isAligned<u64>(values) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(state));
  assert(isAligned<u32>(outRows) && isAligned<u32>(outGroups));
  let to: usize = 0;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const row = rows == 0 ? <u32>(offset >> 2) : load<u32>(rows + offset);
    const group = load<u32>(groups + offset);
    storePosition(row, group, to, outRows, outGroups);
    to += <usize>(load<i64>(values + (offset << 1)) == load<i64>(state + (<usize>group << 3))) << 2;
  }
  return <u32>(to >> 2);
}

export function compactUnmarked(ids: usize, rows: usize, groups: usize, n: u32, groupCount: u32, stride: u32, marks: usize, outRows: usize, outGroups: usize): u32 {
  assert(isAligned<u32>(ids) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u32>(outRows) && isAligned<u32>(outGroups));
  let to: usize = 0;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const group = load<u32>(groups + offset);
    if (group < groupCount) {
      const mark = marks + <usize>group * <usize>stride + <usize>load<u32>(ids + offset);
      if (load<u8>(mark) != 0) continue;
      store<u8>(mark, 1);
    }
    storePosition(rows == 0 ? <u32>(offset >> 2) : load<u32>(rows + offset), group, to, outRows, outGroups);
    to += 4;
  }
  return <u32>(to >> 2);
}

export function smallestGroupsI64(keys: usize, groups: usize, n: u32, k: u32, state: usize): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(groups) && isAligned<u64>(state) && k > 0);
  const bytes = <usize>k << 3;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const key = load<i64>(keys + (offset << 1));
    const first = state + <usize>load<u32>(groups + offset) * bytes;
    let at = first + bytes - 8;
    if (key >= load<i64>(at)) continue;
    for (; at > first; at -= 8) {
      const before = load<i64>(at - 8);
      if (before <= key) break;
      store<i64>(at, before);
    }
    store<i64>(at, key);
  }
}

export function smallestDistinctGroupsI64(keys: usize, groups: usize, n: u32, k: u32, state: usize): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(groups) && isAligned<u64>(state) && k > 0);
  const bytes = <usize>k << 3;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const key = load<i64>(keys + (offset << 1));
    const first = state + <usize>load<u32>(groups + offset) * bytes;
    const last = first + bytes - 8;
    if (key >= load<i64>(last)) continue;
    let place = last;
    while (place > first && load<i64>(place - 8) >= key) place -= 8;
    if (load<i64>(place) == key) continue;
    for (let at = last; at > place; at -= 8) store<i64>(at, load<i64>(at - 8));
    store<i64>(place, key);
  }
}

export function compactWithinI64(
  keys: usize,
  rows: usize,
  groups: usize,
  n: u32,
  bounds: usize,
  stride: u32,
  outKeys: usize,
  outRows: usize,
  outGroups: usize,
): u32 {
  assert(isAligned<u64>(keys) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(bounds));
  assert(isAligned<u64>(outKeys) && isAligned<u32>(outRows) && isAligned<u32>(outGroups));
  const bytes = <usize>stride << 3;
  let to: usize = 0;
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const row = rows == 0 ? <u32>(offset >> 2) : load<u32>(rows + offset);
    const group = load<u32>(groups + offset);
    const key = load<i64>(keys + (offset << 1));
    store<i64>(outKeys + (to << 1), key);
    storePosition(row, group, to, outRows, outGroups);
    to += <usize>(key <= load<i64>(bounds + <usize>group * bytes)) << 2;
  }
  return <u32>(to >> 2);
}

@inline
const NULL_KEY: u8 = 1;
@inline
const HAS_KEY: u8 = 2;

export function bestAtTimesI64(
  keys: usize,
  nulls: usize,
  rows: usize,
  groups: usize,
  n: u32,
  times: usize,
  largest: u32,
  keyTimes: usize,
  best: usize,
  known: usize,
): void {
  assert(isAligned<u64>(keys) && isAligned<u64>(nulls) && isAligned<u32>(rows) && isAligned<u32>(groups));
  assert(isAligned<u64>(times) && isAligned<u64>(keyTimes) && isAligned<u64>(best));
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const group = <usize>load<u32>(groups + offset);
    const wide = group << 3;
    let was = load<u8>(known + group);
    if (times != 0) {
      const time = load<i64>(times + wide);
      if (load<i64>(keyTimes + wide) != time) was = 0;
      store<i64>(keyTimes + wide, time);
    }
    if (nulls != 0) {
      const row = rows == 0 ? <u32>(offset >> 2) : load<u32>(rows + offset);
      if (((load<u8>(nulls + (row >> 3)) >> <u8>(row & 7)) & 1) != 0) {
        store<u8>(known + group, was == HAS_KEY ? HAS_KEY : NULL_KEY);
        continue;
      }
    }
    const key = load<i64>(keys + (offset << 1));
    const kept = load<i64>(best + wide);
    if (was != HAS_KEY || (largest != 0 ? key > kept : key < kept)) store<i64>(best + wide, key);
    store<u8>(known + group, HAS_KEY);
  }
}

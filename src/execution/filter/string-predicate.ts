// Predicates over strings, by their dictionary ids.

import { type Address, PHYSICAL_BYTES } from '../../base/layout.js';
import type { StringColumnView } from '../../storage/view.js';
import { kernelFor, takeBits, takeZeroed } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { kernelPredicate, MATCH_ALL, MATCH_NONE, orPredicate, type Predicate } from './predicate.js';

/** A set of dictionary ids: a range (inclusive, empty when lower > upper) or one bit per id, padded to 256 at least. */
export type IdSet =
  | { readonly kind: 'range'; readonly lower: number; readonly upper: number }
  | { readonly kind: 'bits'; readonly at: Address };

export const NO_IDS: IdSet = { kind: 'range', lower: 1, upper: 0 };

export function takeIdBits(scope: SegmentScope, count: number): Address {
  return takeZeroed(scope.arena, scope.context, idBitWords(count) * 8);
}

/** Bits of the ids listed, of which there may be any number in any order. */
export function idsOf(scope: SegmentScope, count: number, ids: readonly number[]): IdSet {
  if (ids.length === 0) return NO_IDS;
  if (ids.length === 1) return { kind: 'range', lower: ids[0] ?? 0, upper: ids[0] ?? 0 };
  const at = takeIdBits(scope, count);
  const words = scope.context.memory.u32(at, idBitWords(count) * 2);
  for (const id of ids) words[id >>> 5] = (words[id >>> 5] ?? 0) | (1 << (id & 31));
  return { kind: 'bits', at };
}

/**
 * Rows whose value (any of its values, in a multi-value column) is in `set`. `set` says nothing about null; whether
 * null rows match is `matchNull`.
 */
export function stringPredicate(scope: SegmentScope, column: StringColumnView, set: IdSet, matchNull: boolean): Predicate {
  return column.offsets === 0
    ? plainPredicate(scope, column, withNull(scope, column, set, matchNull))
    : multiPredicate(scope, column, set, matchNull);
}

function plainPredicate(scope: SegmentScope, column: StringColumnView, set: IdSet): Predicate {
  const { kernels } = scope.context;
  const bytes = PHYSICAL_BYTES[column.physical];
  const compact = shrink(scope, column, set);
  if (compact === 'none') return MATCH_NONE;
  if (compact === 'all') return MATCH_ALL;
  const out = takeBits(scope.arena);
  if (compact.kind === 'bits') {
    const filterSet = kernelFor(kernels, 'filterSet', column.physical);
    return kernelPredicate(2, out, ({ start, rows }) => filterSet(column.ids + start * bytes, rows, compact.at, out));
  }
  const { lower, upper } = compact;
  if (lower === upper) {
    const filterEq = kernelFor(kernels, 'filterEq', column.physical);
    return kernelPredicate(1, out, ({ start, rows }) => filterEq(column.ids + start * bytes, rows, lower, out));
  }
  const filterRange = kernelFor(kernels, 'filterRange', column.physical);
  return kernelPredicate(1, out, ({ start, rows }) => filterRange(column.ids + start * bytes, rows, lower, upper, out));
}

function multiPredicate(scope: SegmentScope, column: StringColumnView, set: IdSet, matchNull: boolean): Predicate {
  const { kernels } = scope.context;
  const parts: Predicate[] = [];
  const wanted = withNull(scope, column, set, matchNull);
  if (!(wanted.kind === 'range' && wanted.lower > wanted.upper)) {
    const at = toBits(scope, column, wanted);
    const out = takeBits(scope.arena);
    const filterAny = kernelFor(kernels, 'filterAny', column.physical);
    parts.push(kernelPredicate(6, out, ({ start, rows }) => filterAny(column.ids, column.offsets + start * 4, rows, at, out)));
  }
  if (matchNull) {
    const out = takeBits(scope.arena);
    parts.push(kernelPredicate(3, out, ({ start, rows }) => kernels.filterEmpty(column.offsets + start * 4, rows, out)));
  }
  return orPredicate(scope.context, parts, takeBits(scope.arena));
}

function withNull(scope: SegmentScope, column: StringColumnView, set: IdSet, matchNull: boolean): IdSet {
  const { hasNull } = column.dictionary;
  if (!hasNull) return set;
  if (set.kind === 'range') {
    const lower = Math.max(set.lower, 1);
    if (!matchNull) return { kind: 'range', lower, upper: set.upper };
    if (lower > set.upper) return { kind: 'range', lower: 0, upper: 0 };
    if (lower === 1) return { kind: 'range', lower: 0, upper: set.upper };
  }
  const at = toBits(scope, column, set);
  const first = scope.context.memory.u8(at, 1);
  first[0] = matchNull ? (first[0] ?? 0) | 1 : (first[0] ?? 0) & ~1;
  return { kind: 'bits', at };
}

/** The cheapest form of a set: constants where it holds nothing or everything, a range where it has one or two ends. */
function shrink(scope: SegmentScope, column: StringColumnView, set: IdSet): IdSet | 'none' | 'all' {
  const { count } = column.dictionary;
  if (set.kind === 'range') {
    if (set.lower > set.upper) return 'none';
    return set.lower <= 0 && set.upper >= count - 1 ? 'all' : set;
  }
  const { kernels, memory } = scope.context;
  const words = idBitWords(count);
  const members = kernels.bitsCount(set.at, words);
  if (members === 0) return 'none';
  if (members === count) return 'all';
  const view = memory.u32(set.at, words * 2);
  const first = view.findIndex((word) => word !== 0);
  const last = view.findLastIndex((word) => word !== 0);
  const firstWord = view[first] ?? 0;
  const lower = first * 32 + (31 - Math.clz32(firstWord & -firstWord));
  const upper = last * 32 + (31 - Math.clz32(view[last] ?? 0));
  return upper - lower + 1 === members ? { kind: 'range', lower, upper } : set;
}

function toBits(scope: SegmentScope, column: StringColumnView, set: IdSet): Address {
  if (set.kind === 'bits') return set.at;
  const { count } = column.dictionary;
  const at = takeIdBits(scope, count);
  if (set.lower <= set.upper)
    scope.context.kernels.bitsFill(at, idBitWords(count), Math.max(0, set.lower), Math.min(count - 1, set.upper) + 1);
  return at;
}

/** Words of a bit set of ids: at least 256 bits, which is what the kernels for one-byte ids read. */
function idBitWords(count: number): number {
  return Math.max(4, Math.ceil(count / 64));
}

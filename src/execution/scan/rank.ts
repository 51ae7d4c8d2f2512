// Ranks of rows: sort keys as longs that kernels compare.

import { assert } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { extended } from '../../base/names.js';
import type { SortKey } from '../../model/plan.js';
import type { ColumnType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor, takeBits, wordsOf } from '../block/context.js';
import { lowerBoundText, textAt } from '../block/dictionary.js';
import type { SegmentScope } from '../expression/scope.js';
import { type NumberVector, storedNumbers } from '../expression/vector.js';
import { rangePredicate } from '../filter/number-predicate.js';
import { constantPredicate, notPredicate, type Predicate } from '../filter/predicate.js';
import { computedTextRank } from './computed-text-rank.js';
import type { KeyRank } from './key-rank.js';

export const NULL_FIRST = -(1n << 63n);
export const NULL_LAST = (1n << 63n) - 1n;
const BEYOND_LONGS = 2 ** 64;

/** @returns undefined for a key that has no ranks: then rows are compared elsewhere; null for one that is the same in all rows */
export function keyRank(scope: SegmentScope, key: SortKey, type: ColumnType): KeyRank | null | undefined {
  const source = scope.source(key.column);
  if (source.kind === 'missing') return null;
  if (scope.typeOf(key.column) !== type) return undefined;
  if (source.kind === 'string')
    return type === 'STRING' && source.column.offsets === 0 && key.ordering === 'lexicographic'
      ? textRank(scope, key, source.column)
      : undefined;
  const vector = source.kind === 'number' ? storedNumbers(scope, source.column) : source.vector;
  if (vector.kind === 'number') return numberRank(scope, key, vector);
  return vector.complete && type === 'STRING' && key.ordering === 'lexicographic' ? computedTextRank(scope, key, vector) : undefined;
}

/** Ids of a dictionary go up with its strings. */
function textRank(scope: SegmentScope, { descending, nulls }: SortKey, column: StringColumnView): KeyRank | null {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const { dictionary, physical } = column;
  const { count, hasNull } = dictionary;
  if (count <= 1) return null;
  // Null is id 0. Where it is on the other end, it takes part as the id after the last.
  const movesNull = hasNull && (nulls === 'first') === descending;
  const offset = BigInt(descending ? (movesNull ? count : count - 1) : movesNull ? -1 : 0);
  const sign = descending ? -1n : 1n;
  const widen = kernelFor(kernels, 'toI64', physical);
  const filterRange = kernelFor(kernels, 'filterRange', physical);
  const filterEq = kernelFor(kernels, 'filterEq', physical);
  const bytes = PHYSICAL_BYTES[physical];
  const [zero, last, isNull, out] = [constant(scope, 0n), constant(scope, BigInt(count)), takeBits(arena), takeBits(arena)];
  const idOf = (rank: bigint): number => {
    const id = Number(sign * (rank - offset));
    return id === count ? 0 : id;
  };
  return {
    count: BigInt(count),
    isExact: true,
    usesAll: column.isPart !== true,
    offset,
    sign,
    write(block, rows, n, at) {
      widen(column.ids + block.start * bytes, rows, n, 0n, at);
      if (!movesNull) return;
      kernels.compareI64(at, zero, 1, n, 0, isNull);
      kernels.choose64(isNull, last, 1, at, 0, n, at);
    },
    within(rank) {
      const id = Number(sign * (rank - offset));
      const [low, high] = descending ? [id, count - 1] : [0, id];
      // Null is moved to an end: as the first it is always within, as the last only when all rows are.
      if (rank >= BigInt(count) - 1n) return constantPredicate(true);
      const from = movesNull ? Math.max(1, low) : low;
      const test = (block: Block): Address => {
        const ids = column.ids + block.start * bytes;
        if (from <= high) filterRange(ids, block.rows, from, high, out);
        else kernels.bitsFill(out, wordsOf(block), 0, 0);
        if (movesNull && nulls === 'first') {
          filterEq(ids, block.rows, 0, isNull);
          kernels.bitsOr(out, isNull, wordsOf(block), out);
        }
        return out;
      };
      return { constant: undefined, cost: 1, test };
    },
    valueOf: (rank) => textAt(memory, dictionary, idOf(rank)),
    rankOf(value) {
      if (typeof value !== 'string') return undefined;
      const id = lowerBoundText(memory, dictionary, value);
      if (descending) return id >= count ? undefined : offset - BigInt(Math.max(id, hasNull ? 1 : 0));
      return offset + BigInt(Math.min(id, count - 1));
    },
  };
}

function numberRank(scope: SegmentScope, key: SortKey, vector: NumberVector): KeyRank {
  const integers = vector.decimals ?? (vector.type === 'LONG' ? vector : undefined);
  const physical = integers?.physical;
  if (integers === undefined || physical === undefined || physical === 'F32' || physical === 'F64') return doubleRank(scope, key, vector);
  const given = { physical, base: integers.base, values: integers.values, scale: vector.decimals?.scale };
  return integerRank(scope, key, vector, given, { span: spanOf(vector, given), mayBeNull: vector.mayBeNull });
}

/** Longs from `lowest` on, `width` of them. */
interface Span {
  readonly lowest: bigint;
  readonly width: bigint;
}

/** Facts that the ranks of longs depend on: ranks of segments that have them in common can be compared. `span` is undefined for any longs. */
export interface RankedLongs {
  readonly span: Span | undefined;
  readonly mayBeNull: boolean;
}

/** Ranks of a column of longs, the same in all segments that have `longs` in common. */
export function rankOfLongs(scope: SegmentScope, key: SortKey, vector: NumberVector, longs: RankedLongs): KeyRank {
  const { physical, base, values } = vector;
  assert(physical !== 'F32' && physical !== 'F64', 'longs are stored as integers');
  return integerRank(scope, key, vector, { physical, base, values, scale: undefined }, longs);
}

interface Integers {
  readonly physical: 'U8' | 'U16' | 'U32' | 'I64';
  readonly base: bigint;
  values(block: Block): Address;
  /** Doubles are integers over it; undefined: they are longs. */
  readonly scale: number | undefined;
}

function integerRank(
  scope: SegmentScope,
  { descending, nulls }: SortKey,
  vector: NumberVector,
  { physical, base, values, scale }: Integers,
  { span, mayBeNull: nullable }: RankedLongs,
): KeyRank {
  const { kernels } = scope.context;
  const sign = descending ? -1n : 1n;
  const widen = kernelFor(kernels, 'toI64', physical);
  const lowest = span?.lowest ?? 0n;
  const width = span?.width;
  const shift = nullable && nulls === 'first' ? 1n : 0n;
  // The order of longs of any size is turned bit by bit: the lowest has no opposite.
  const offset = width === undefined ? (descending ? -1n : 0n) : descending ? width - 1n + shift : shift;
  // The part of null, for which its rank is the first or the last.
  const nullPart =
    width === undefined ? ((nulls === 'first') === descending ? NULL_LAST : NULL_FIRST) : (nulls === 'first') === descending ? width : -1n;
  const mend = nullMender(scope, vector, nullPart);
  const nullRank = nullable ? offset + sign * nullPart : undefined;
  const numberOf = (rank: bigint): bigint => sign * (rank - offset) + lowest;
  return {
    count: width === undefined ? undefined : width + (nullable ? 1n : 0n),
    isExact: width !== undefined || !nullable,
    usesAll: false,
    offset,
    sign,
    write(block, rows, n, at) {
      widen(values(block), rows, n, (physical === 'I64' ? 0n : base) - lowest, at);
      mend(block, rows, n, at);
    },
    ...(vector.stored === undefined
      ? {}
      : {
          within(rank: bigint) {
            const matchNull = nullRank !== undefined && nullRank <= rank;
            if (matchNull && nulls === 'last') return constantPredicate(true);
            const number = numberOf(rank);
            const value = scale === undefined ? number : Number(number) / scale;
            const bound = { value, strict: false };
            return rangePredicate(
              scope,
              vector,
              descending ? { lower: bound, upper: undefined } : { lower: undefined, upper: bound },
              matchNull,
            );
          },
        }),
    valueOf: (rank) => (rank === nullRank ? null : scale === undefined ? numberOf(rank) : Number(numberOf(rank)) / scale),
    rankOf(value) {
      if (value === null || typeof value === 'string') return undefined;
      if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
      const scaled = typeof value === 'number' ? Math.max(-BEYOND_LONGS, Math.min(value * (scale ?? 1), BEYOND_LONGS)) : 0;
      // A double may be a step beside the integer that it is made of.
      const number = typeof value === 'bigint' ? value : BigInt(Math.round(scaled)) + sign;
      const rank = offset + sign * (number - lowest);
      if (width === undefined) return rank;
      const [first, last] = [shift, shift + width - 1n];
      return rank < first ? undefined : rank > last ? last : rank;
    },
  };
}

/** Smallest stored value and how many follow it; undefined where they may be any. */
function spanOf(vector: NumberVector, { physical, base }: Integers): Span | undefined {
  const { min, max } = vector.stored ?? {};
  if (typeof min === 'bigint' && typeof max === 'bigint') {
    const width = max - min + 1n;
    return width < 1n << 62n ? { lowest: min, width } : undefined;
  }
  if (physical === 'I64') return undefined;
  return { lowest: base, width: 1n << BigInt(PHYSICAL_BYTES[physical] * 8) };
}

/** The bits of a double go up with it, once those of a negative one are turned. NaN is above every number. */
export function doubleRank(scope: SegmentScope, { descending, nulls }: SortKey, vector: NumberVector): KeyRank {
  const { kernels } = scope.context;
  const { arena } = scope;
  const physical = vector.physical === 'F32' ? 'F32' : 'F64';
  const widen = kernelFor(kernels, 'toF64', physical);
  const [signBit, rest] = [constant(scope, 63n), constant(scope, NULL_LAST)];
  const scratch = arena.take(BLOCK_ROWS * 8);
  const out = takeBits(arena);
  const nullPart = (nulls === 'first') === descending ? NULL_LAST : NULL_FIRST;
  const mend = nullMender(scope, vector, nullPart);
  // Turned bit by bit, as longs are.
  const [offset, sign] = descending ? ([-1n, -1n] as const) : ([0n, 1n] as const);
  const partOf = (rank: bigint): bigint => sign * (rank - offset);
  const numberOf = (rank: bigint): number => {
    const part = partOf(rank);
    const bits = part < 0n ? part ^ NULL_LAST : part;
    return new Float64Array(BigInt64Array.of(bits).buffer)[0] ?? 0;
  };
  const isNull = (rank: bigint): boolean => vector.mayBeNull && partOf(rank) === nullPart;
  return {
    count: undefined,
    isExact: true,
    usesAll: false,
    offset,
    sign,
    write(block, rows, n, at) {
      widen(vector.values(block), rows, n, 0n, scratch);
      kernels.keyWordF64(scratch, 0, n, 1, 0, at);
      kernels.shiftRightI64(at, signBit, 1, n, scratch);
      kernels.andI64(scratch, rest, 1, n, scratch);
      kernels.xorI64(at, scratch, 0, n, at);
      mend(block, rows, n, at);
    },
    ...(vector.stored === undefined
      ? {}
      : {
          within(rank: bigint) {
            const value = isNull(rank) ? Number.NaN : numberOf(rank);
            if (Number.isNaN(value)) return constantPredicate(true);
            const below = (matchNull: boolean): Predicate =>
              rangePredicate(scope, vector, { lower: undefined, upper: { value, strict: descending } }, matchNull);
            // Ranges have no NaN, which is among the rows that are not below.
            return descending ? notPredicate(scope.context, below(nulls === 'last'), out) : below(nulls === 'first');
          },
        }),
    valueOf: (rank) => (isNull(rank) ? null : numberOf(rank)),
    rankOf(value) {
      if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
      const bits = new BigInt64Array(Float64Array.of(value + 0).buffer)[0] ?? 0n;
      return offset + sign * (bits < 0n ? bits ^ NULL_LAST : bits);
    },
  };
}

/** Puts the part of null where rows are null. */
function nullMender(
  scope: SegmentScope,
  vector: NumberVector,
  part: bigint,
): (block: Block, rows: Address, n: number, at: Address) => void {
  if (!vector.mayBeNull) return () => undefined;
  const { kernels } = scope.context;
  const [null_, bits] = [constant(scope, part), takeBits(scope.arena)];
  return (block, rows, n, at) => {
    const nulls = vector.nulls(block);
    if (nulls === 0) return;
    if (rows !== 0) kernels.joinNulls(nulls, rows, n, bits);
    kernels.choose64(rows === 0 ? nulls : bits, null_, 1, at, 0, n, at);
  };
}

function constant({ arena, context: { memory } }: Pick<SegmentScope, 'arena' | 'context'>, value: bigint): Address {
  const at = arena.take(8);
  memory.i64(at, 1)[0] = BigInt.asIntN(64, value);
  return at;
}

/** Sort keys of a segment as one rank. */
export interface Ranks {
  /** Whether rows of one rank are equal in all keys. */
  readonly isExact: boolean;
  /** The first key in which rows of the segment differ, with how far apart its ranks are. */
  readonly first: {
    readonly rank: KeyRank;
    readonly stride: bigint;
    /** Whether no key comes before it: then its values are bounds for other segments, and theirs for it. */
    readonly isFirstKey: boolean;
  };
  /** i64 ranks of n rows of a block. */
  write(block: Block, rows: Address, n: number, out: Address): void;
}

export const RANKS_MAX = 1n << 62n;

/** Ranks by the first sort keys, as many as fit into a long. @returns undefined when the first has no rank; null: all rows are equal */
export function ranksOf(
  scope: SegmentScope,
  keys: readonly { readonly key: SortKey; readonly type: ColumnType }[],
): Ranks | null | undefined {
  const parts: KeyRank[] = [];
  let product = 1n;
  let isExact = true;
  /** Keys before the first that has ranks. */
  let skipped = 0;
  for (const { key, type } of keys) {
    const rank = keyRank(scope, key, type);
    if (rank === null) {
      if (parts.length === 0) skipped++;
      continue;
    }
    const fits = rank !== undefined && (parts.length === 0 || (rank.count !== undefined && product * rank.count <= RANKS_MAX));
    if (!fits || parts.some(({ count }) => count === undefined)) {
      isExact = false;
      break;
    }
    parts.push(rank);
    isExact &&= rank.isExact;
    product *= rank.count ?? 1n;
  }
  if (parts.length === 0) return isExact ? null : undefined;
  const strided = withStrides(parts);
  const [first] = strided;
  if (first === undefined) return undefined;
  return { isExact, first: extended(first, { isFirstKey: skipped === 0 }), write: rankWriter(scope, strided) };
}

/** The part of a key's ranks that writing them needs. */
export type WrittenRank = Pick<KeyRank, 'count' | 'offset' | 'sign' | 'write'>;

/** Ranks with how far apart those of each are; those of the last key are neighbours. */
function withStrides<Rank extends WrittenRank>(parts: readonly Rank[]): { rank: Rank; stride: bigint }[] {
  const strided: { rank: Rank; stride: bigint }[] = [];
  let stride = 1n;
  for (const rank of parts.toReversed()) {
    strided.unshift({ rank, stride });
    stride *= rank.count ?? 1n;
  }
  return strided;
}

/** Writes the ranks of some keys as one. */
export function writerOf(scope: SegmentScope, parts: readonly WrittenRank[]): Ranks['write'] {
  return rankWriter(scope, withStrides(parts));
}

function rankWriter(scope: SegmentScope, parts: readonly { readonly rank: WrittenRank; readonly stride: bigint }[]): Ranks['write'] {
  const { kernels } = scope.context;
  const factors = parts.map(({ rank, stride }) => {
    const factor = rank.sign * stride;
    return { write: rank.write, factor: factor === 1n ? 0 : constant(scope, factor) };
  });
  const offset = parts.reduce((sum, { rank, stride }) => sum + rank.offset * stride, 0n);
  const offsetAt = offset === 0n ? 0 : constant(scope, offset);
  const scratch = parts.length === 1 ? 0 : scope.arena.take(BLOCK_ROWS * 8);
  return (block, rows, n, out) => {
    factors.forEach(({ write, factor }, index) => {
      const at = index === 0 ? out : scratch;
      write(block, rows, n, at);
      if (factor !== 0) kernels.multiplyI64(at, factor, 1, n, at);
      if (index > 0) kernels.addI64(out, scratch, 0, n, out);
    });
    if (offsetAt !== 0) kernels.addI64(out, offsetAt, 1, n, out);
  };
}

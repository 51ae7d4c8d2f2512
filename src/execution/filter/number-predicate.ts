// Predicates over numbers: ranges, lists, nulls.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { type Block, kernelFor, takeBits, takeZeroed, wordsOf } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import type { Decimals, NumberVector } from '../expression/vector.js';
import { type Bounds, doubleRange, exactly, longRange, storedRange } from './number-bounds.js';
import { ALL, constantPredicate, MATCH_ALL, type Match, NONE, notPredicate, orPredicate, type Predicate } from './predicate.js';

/** Rows whose number lies between the bounds; null rows match when `matchNull`. */
export function rangePredicate(scope: SegmentScope, vector: NumberVector, given: Bounds, matchNull: boolean): Predicate {
  const bounds = withoutNaN(given);
  if (bounds === undefined) return nothing(vector, matchNull);
  return vector.type === 'LONG' ? longPredicate(scope, vector, bounds, matchNull) : doublePredicate(scope, vector, bounds, matchNull);
}

/** The same bounds in numbers: NaN is above infinity, and equal to itself. Undefined where nothing is within them. */
function withoutNaN({ lower, upper }: Bounds): Bounds | undefined {
  const [fromNaN, toNaN] = [Number.isNaN(lower?.value), Number.isNaN(upper?.value)];
  if (fromNaN && lower?.strict === true) return undefined;
  const belowNaN = upper?.strict === true ? { value: Infinity, strict: false } : undefined;
  return { lower: fromNaN ? { value: Infinity, strict: true } : lower, upper: toNaN ? belowNaN : upper };
}

function longPredicate(scope: SegmentScope, vector: NumberVector, bounds: Bounds, matchNull: boolean): Predicate {
  const { physical, base } = vector;
  if (physical === 'F32' || physical === 'F64') return constantPredicate(false);
  const range = longRange(bounds);
  const stored = storedRange(range, base, physical);
  const { min, max } = vector.stored ?? {};
  if (stored === undefined || (min != null && max != null && (range.upper < min || range.lower > max))) return nothing(vector, matchNull);
  if (min != null && max != null && range.lower <= min && range.upper >= max) return everything(scope, vector, matchNull);
  const out = takeBits(scope.arena);
  if (physical === 'I64') {
    const { filterRangeI64 } = scope.context.kernels;
    return masked(scope, vector, matchNull, out, Number(range.lower), Number(range.upper), (block, values) =>
      filterRangeI64(values, block.rows, stored.lower, stored.upper, out),
    );
  }
  const filterRange = kernelFor(scope.context.kernels, 'filterRange', physical);
  const [from, to] = [Number(stored.lower), Number(stored.upper)];
  return masked(scope, vector, matchNull, out, Number(range.lower), Number(range.upper), (block, values) =>
    filterRange(values, block.rows, from, to, out),
  );
}

function doublePredicate(scope: SegmentScope, vector: NumberVector, bounds: Bounds, matchNull: boolean): Predicate {
  const { lower, upper } = bounds;
  if (upper === undefined && vector.decimals === undefined) {
    // NaN is above every number, and in no range of the kernels: it is among the rows that are not below.
    if (lower === undefined) return everything(scope, vector, matchNull);
    const below = { lower: undefined, upper: { value: lower.value, strict: !lower.strict } };
    return notPredicate(scope.context, doublePredicate(scope, vector, below, !matchNull), takeBits(scope.arena));
  }
  const range = doubleRange(bounds);
  if (!(range.lower <= range.upper)) return nothing(vector, matchNull);
  const { min, max } = vector.stored ?? {};
  // NaN is beyond both, and in no range.
  if (min != null && max != null && (range.upper < min || range.lower > max)) return nothing(vector, matchNull);
  const out = takeBits(scope.arena);
  const { decimals } = vector;
  if (decimals !== undefined) {
    const [from, to] = [firstAtLeast(decimals, range.lower), firstAtLeast(decimals, range.upper, true) - 1];
    if (from > to) return nothing(vector, matchNull);
    if (min != null && max != null && range.lower <= min && range.upper >= max) return everything(scope, vector, matchNull);
    const filterIntegers = kernelFor(scope.context.kernels, 'filterRange', decimals.physical);
    return masked(scope, asStored(vector, decimals), matchNull, out, range.lower, range.upper, (block, values) =>
      filterIntegers(values, block.rows, from, to, out),
    );
  }
  const filterRange = kernelFor(scope.context.kernels, 'filterRange', vector.physical === 'F32' ? 'F32' : 'F64');
  return masked(scope, vector, matchNull, out, range.lower, range.upper, (block, values) =>
    filterRange(values, block.rows, range.lower, range.upper, out),
  );
}

/** The integers themselves, with the ranges of the doubles. */
function asStored(vector: NumberVector, { values }: Decimals): NumberVector {
  return { ...vector, values };
}

/** The first stored integer whose double is at least `bound`, or above it; one past the last when there is none. */
function firstAtLeast({ physical, base, scale }: Decimals, bound: number, above = false): number {
  const end = 2 ** (PHYSICAL_BYTES[physical] * 8);
  const isBelow = (stored: number): boolean => {
    const value = (Number(base) + stored) / scale;
    return above ? value <= bound : value < bound;
  };
  // Within one of it, but for rounding; far out it is one of the ends.
  let first = Math.min(end, Math.max(0, Math.floor(bound * scale) - Number(base)));
  while (first > 0 && !isBelow(first - 1)) first--;
  while (first < end && isBelow(first)) first++;
  return first;
}

/** Rows whose number is one of `values`. */
export function inPredicate(
  scope: SegmentScope,
  vector: NumberVector,
  values: readonly (bigint | number)[],
  matchNull: boolean,
): Predicate {
  const { arena, context } = scope;
  const { memory } = context;
  const { physical, base } = vector;
  if (values.length <= 1) {
    const [value] = values;
    return value === undefined ? nothing(vector, matchNull) : rangePredicate(scope, vector, exactly(value), matchNull);
  }
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length < values.length) {
    const parts = [rangePredicate(scope, vector, exactly(Number.NaN), matchNull), inPredicate(scope, vector, known, matchNull)];
    return orPredicate(context, parts, takeBits(arena));
  }
  let at: Address;
  let count: number;
  const { decimals } = vector;
  if (decimals !== undefined) {
    const stored = values.flatMap((value) => {
      const first = firstAtLeast(decimals, Number(value));
      return firstAtLeast(decimals, Number(value), true) > first && value == Number(value) ? [first] : [];
    });
    count = stored.length;
    at = uploadNarrow(scope, decimals.physical, stored);
  } else if (vector.type === 'LONG' && physical !== 'F32' && physical !== 'F64') {
    const stored = values.flatMap((value) => {
      const range = storedRange(longRange(exactly(value)), base, physical);
      return range === undefined ? [] : [range.lower];
    });
    count = stored.length;
    if (physical === 'I64') {
      at = arena.take(Math.max(64, count * 8));
      memory.i64(at, count).set(BigInt64Array.from(stored).sort());
    } else at = uploadNarrow(scope, physical, stored.map(Number));
  } else {
    const exact = values
      .map(Number)
      .filter((number, index) => number == values[index] && (physical !== 'F32' || Math.fround(number) === number));
    count = exact.length;
    at = arena.take(Math.max(64, count * 8));
    memory[physical === 'F32' ? 'f32' : 'f64'](at, count).set(Float64Array.from(exact).sort());
  }
  if (count === 0) return nothing(vector, matchNull);
  const numbers = values.map(Number);
  const out = takeBits(arena);
  const stored = decimals?.physical ?? physical;
  const isListed = stored === 'U8' || stored === 'U16' ? byBits(scope, stored, at, count, out) : undefined;
  const filterSorted = kernelFor(context.kernels, 'filterSorted', stored);
  const lowest = numbers.reduce((a, b) => Math.min(a, b));
  const highest = numbers.reduce((a, b) => Math.max(a, b));
  const read = decimals === undefined ? vector : asStored(vector, decimals);
  const search = (block: Block, from: Address): void => filterSorted(from, block.rows, at, count, out);
  return masked(scope, read, matchNull, out, lowest, highest, isListed ?? search);
}

/** Looks narrow values up in the bits of those that are listed. */
function byBits(
  { arena, context }: SegmentScope,
  physical: 'U8' | 'U16',
  at: Address,
  count: number,
  out: Address,
): (block: Block, from: Address) => void {
  const bytes = physical === 'U8' ? 32 : 1 << 13;
  const set = takeZeroed(arena, context, bytes);
  const words = context.memory.u8(set, bytes);
  const listed = physical === 'U8' ? context.memory.u8(at, count) : context.memory.u16(at, count);
  for (const value of listed) words[value >>> 3] = (words[value >>> 3] ?? 0) | (1 << (value & 7));
  const filterSet = kernelFor(context.kernels, 'filterSet', physical);
  return (block, from) => filterSet(from, block.rows, set, out);
}

function uploadNarrow({ arena, context: { memory } }: SegmentScope, physical: Decimals['physical'], stored: readonly number[]): Address {
  const at = arena.take(Math.max(64, stored.length * 4));
  memory[physical === 'U8' ? 'u8' : physical === 'U16' ? 'u16' : 'u32'](at, stored.length).set(Uint32Array.from(stored).sort());
  return at;
}

export function nullPredicate(vector: NumberVector): Predicate {
  if (!vector.mayBeNull) return constantPredicate(false);
  return { constant: undefined, cost: 1, test: (block) => vector.nulls(block) };
}

function nothing(vector: NumberVector, matchNull: boolean): Predicate {
  return matchNull ? nullPredicate(vector) : constantPredicate(false);
}

/** Every row that is not null, and null ones when `matchNull`. */
function everything(scope: SegmentScope, vector: NumberVector, matchNull: boolean): Predicate {
  if (matchNull || !vector.mayBeNull) return MATCH_ALL;
  const out = takeBits(scope.arena);
  return { constant: undefined, cost: 1, test: (block) => complement(scope, vector.nulls(block), block, out) };
}

function complement(scope: SegmentScope, nulls: Address, block: Block, out: Address): Match {
  if (nulls === 0) return ALL;
  scope.context.kernels.bitsNot(nulls, block.rows, out);
  return out;
}

/** Skips blocks by their range; takes null rows (stored as 0) out of what `write` found, or puts them in. */
function masked(
  scope: SegmentScope,
  vector: NumberVector,
  matchNull: boolean,
  out: Address,
  lower: number,
  upper: number,
  write: (block: Block, values: Address) => void,
): Predicate {
  const { kernels, memory } = scope.context;
  const ranges = vector.stored?.blockRanges ?? 0;
  const isOutside = (block: Block): boolean => {
    if (ranges === 0) return false;
    const range = memory.f64(ranges + (block.start / BLOCK_ROWS) * 16, 2);
    // Both ends of either range may be rounded, but never past each other's neighbours: equality is not skipped.
    return (range[1] ?? 0) < lower || (range[0] ?? 0) > upper;
  };
  const test = (block: Block): Match => {
    if (isOutside(block)) return matchNull ? vector.nulls(block) : NONE;
    write(block, vector.values(block));
    const nulls = vector.nulls(block);
    if (nulls === 0) return out;
    if (matchNull) kernels.bitsOr(out, nulls, wordsOf(block), out);
    else kernels.bitsAndNot(out, nulls, wordsOf(block), out);
    return out;
  };
  const cost = vector.stored === undefined ? 10 : 2;
  if (ranges === 0 || matchNull) return { constant: undefined, cost, test };
  return { constant: undefined, cost, known: (block) => (isOutside(block) ? NONE : undefined), test };
}

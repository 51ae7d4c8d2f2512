// Exports of the kernel module: the contract of src/kernels/contract.ts, where every function is described. Suffixes name
// the type of the values; a function without one has no such parameter.
import { maxRuns, minRuns, sumRuns } from './kernels/aggregate';
import { ADD, arithmetic, compare, decimalsAt, DIVIDE, MULTIPLY, SUBTRACT, toF64, toI64 } from './kernels/compute';
import { unpack } from './kernels/decode';
import { filterAny, filterEq, filterRange, filterRangeF32 as rangeF32, filterRangeId, filterSet, filterSorted, listElement, listPlace } from './kernels/filter';
import { sumRunsFloat } from './kernels/float-sums';
import { countSumGroups, maxGroups, minGroups, sumGroups, sumGroupsFloat } from './kernels/group';
import { joinKeep, joinKeepBits, joinKeepBytes, joinListValues, joinRange, joinValues } from './kernels/join';
import { expand, gather, keyDense, keyWord, keyWordFloat } from './kernels/keys';
import { AND, choose, DIVIDE_LONG, longs, OR, REMAINDER_LONG, SHIFT_LEFT, SHIFT_RIGHT, XOR } from './kernels/number';
import { keyNarrow, tally, tallyCounts, tallyF64, tallyPair } from './kernels/tally';
import { lowerBound, timeRuns } from './kernels/time';
import { top } from './kernels/top';

export const KERNEL_CONTRACT_VERSION: i32 = 1;

type at = usize; // an address

// filter.ts
export function filterEqU8(values: at, rows: u32, id: u32, out: at): void { filterEq<u8>(values, rows, id, out); }
export function filterEqU16(values: at, rows: u32, id: u32, out: at): void { filterEq<u16>(values, rows, id, out); }
export function filterEqU32(values: at, rows: u32, id: u32, out: at): void { filterEq<u32>(values, rows, id, out); }
export function filterRangeU8(values: at, rows: u32, lower: u32, upper: u32, out: at): void { filterRangeId<u8>(values, rows, lower, upper, out); }
export function filterRangeU16(values: at, rows: u32, lower: u32, upper: u32, out: at): void { filterRangeId<u16>(values, rows, lower, upper, out); }
export function filterRangeU32(values: at, rows: u32, lower: u32, upper: u32, out: at): void { filterRangeId<u32>(values, rows, lower, upper, out); }
export function filterRangeI64(values: at, rows: u32, lower: i64, upper: i64, out: at): void { filterRange<i64>(values, rows, lower, upper, out); }
export function filterRangeF32(values: at, rows: u32, lower: f64, upper: f64, out: at): void { rangeF32(values, rows, lower, upper, out); }
export function filterRangeF64(values: at, rows: u32, lower: f64, upper: f64, out: at): void { filterRange<f64>(values, rows, lower, upper, out); }
export function filterSetU8(values: at, rows: u32, set: at, out: at): void { filterSet<u8>(values, rows, set, out); }
export function filterSetU16(values: at, rows: u32, set: at, out: at): void { filterSet<u16>(values, rows, set, out); }
export function filterSetU32(values: at, rows: u32, set: at, out: at): void { filterSet<u32>(values, rows, set, out); }
export function filterSortedU8(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<u8>(values, rows, sorted, count, out); }
export function filterSortedU16(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<u16>(values, rows, sorted, count, out); }
export function filterSortedU32(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<u32>(values, rows, sorted, count, out); }
export function filterSortedI64(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<i64>(values, rows, sorted, count, out); }
export function filterSortedF32(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<f32>(values, rows, sorted, count, out); }
export function filterSortedF64(values: at, rows: u32, sorted: at, count: u32, out: at): void { filterSorted<f64>(values, rows, sorted, count, out); }
export function filterAnyU8(ids: at, offsets: at, rows: u32, set: at, out: at): void { filterAny<u8>(ids, offsets, rows, set, out); }
export function filterAnyU16(ids: at, offsets: at, rows: u32, set: at, out: at): void { filterAny<u16>(ids, offsets, rows, set, out); }
export function filterAnyU32(ids: at, offsets: at, rows: u32, set: at, out: at): void { filterAny<u32>(ids, offsets, rows, set, out); }
export { filterEmpty } from './kernels/filter';
export function listElementU8(ids: at, offsets: at, rows: u32, place: u32, shift: u32, out: at): void { listElement<u8>(ids, offsets, rows, place, shift, out); }
export function listElementU16(ids: at, offsets: at, rows: u32, place: u32, shift: u32, out: at): void { listElement<u16>(ids, offsets, rows, place, shift, out); }
export function listElementU32(ids: at, offsets: at, rows: u32, place: u32, shift: u32, out: at): void { listElement<u32>(ids, offsets, rows, place, shift, out); }
export function listPlaceU8(ids: at, offsets: at, rows: u32, id: u32, out: at): void { listPlace<u8>(ids, offsets, rows, id, out); }
export function listPlaceU16(ids: at, offsets: at, rows: u32, id: u32, out: at): void { listPlace<u16>(ids, offsets, rows, id, out); }
export function listPlaceU32(ids: at, offsets: at, rows: u32, id: u32, out: at): void { listPlace<u32>(ids, offsets, rows, id, out); }

// bitmap.ts
export { bitsAnd, bitsAndNot, bitsCount, bitsFill, bitsMark, bitsNot, bitsOr, bitsToRows } from './kernels/bitmap';

// aggregate.ts
export { countRuns, presentRuns } from './kernels/aggregate';
export function sumRunsU8(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRuns<u8>(values, mask, runs, runCount, state); }
export function sumRunsU16(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRuns<u16>(values, mask, runs, runCount, state); }
export function sumRunsU32(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRuns<u32>(values, mask, runs, runCount, state); }
export function sumRunsI64(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRuns<i64>(values, mask, runs, runCount, state); }
export function sumRunsF32(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRunsFloat<f32>(values, mask, runs, runCount, state); }
export function sumRunsF64(values: at, mask: at, runs: at, runCount: u32, state: at): void { sumRunsFloat<f64>(values, mask, runs, runCount, state); }
export function minRunsU8(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<u8, u32>(values, mask, runs, runCount, state); }
export function minRunsU16(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<u16, u32>(values, mask, runs, runCount, state); }
export function minRunsU32(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<u32, u32>(values, mask, runs, runCount, state); }
export function minRunsI64(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<i64, i64>(values, mask, runs, runCount, state); }
export function minRunsF32(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<f32, f64>(values, mask, runs, runCount, state); }
export function minRunsF64(values: at, mask: at, runs: at, runCount: u32, state: at): void { minRuns<f64, f64>(values, mask, runs, runCount, state); }
export function maxRunsU8(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<u8, u32>(values, mask, runs, runCount, state); }
export function maxRunsU16(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<u16, u32>(values, mask, runs, runCount, state); }
export function maxRunsU32(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<u32, u32>(values, mask, runs, runCount, state); }
export function maxRunsI64(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<i64, i64>(values, mask, runs, runCount, state); }
export function maxRunsF32(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<f32, f64>(values, mask, runs, runCount, state); }
export function maxRunsF64(values: at, mask: at, runs: at, runCount: u32, state: at): void { maxRuns<f64, f64>(values, mask, runs, runCount, state); }

// moments.ts
export { addMoments, joinMoments } from './kernels/moments';

// group.ts
export {
  bestAtTimesI64, compactBestI64, compactMask, compactNotMask, compactUnmarked, compactWithinI64, countGroups, foldCountSums, foldSums, foldBitsGroupsI64, presentGroups, smallestDistinctGroupsI64, smallestGroupsI64,
} from './kernels/group';
export function countSumGroupsU8(values: at, rows: at, groups: at, n: u32, words: at): void { countSumGroups<u8>(values, rows, groups, n, words); }
export function countSumGroupsU16(values: at, rows: at, groups: at, n: u32, words: at): void { countSumGroups<u16>(values, rows, groups, n, words); }
export function sumGroupsU8(values: at, rows: at, groups: at, n: u32, state: at): void { sumGroups<u8>(values, rows, groups, n, state); }
export function sumGroupsU16(values: at, rows: at, groups: at, n: u32, state: at): void { sumGroups<u16>(values, rows, groups, n, state); }
export function sumGroupsU32(values: at, rows: at, groups: at, n: u32, state: at): void { sumGroups<u32>(values, rows, groups, n, state); }
export function sumGroupsI64(values: at, rows: at, groups: at, n: u32, state: at): void { sumGroups<i64>(values, rows, groups, n, state); }
export function sumGroupsF32(values: at, rows: at, groups: at, n: u32, state: at, copies: u32): void { sumGroupsFloat<f32>(values, rows, groups, n, state, copies); }
export function sumGroupsF64(values: at, rows: at, groups: at, n: u32, state: at, copies: u32): void { sumGroupsFloat<f64>(values, rows, groups, n, state, copies); }
export function minGroupsU8(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<u8, u32>(values, rows, groups, n, state); }
export function minGroupsU16(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<u16, u32>(values, rows, groups, n, state); }
export function minGroupsU32(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<u32, u32>(values, rows, groups, n, state); }
export function minGroupsI64(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<i64, i64>(values, rows, groups, n, state); }
export function minGroupsF32(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<f32, f64>(values, rows, groups, n, state); }
export function minGroupsF64(values: at, rows: at, groups: at, n: u32, state: at): void { minGroups<f64, f64>(values, rows, groups, n, state); }
export function maxGroupsU8(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<u8, u32>(values, rows, groups, n, state); }
export function maxGroupsU16(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<u16, u32>(values, rows, groups, n, state); }
export function maxGroupsU32(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<u32, u32>(values, rows, groups, n, state); }
export function maxGroupsI64(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<i64, i64>(values, rows, groups, n, state); }
export function maxGroupsF32(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<f32, f64>(values, rows, groups, n, state); }
export function maxGroupsF64(values: at, rows: at, groups: at, n: u32, state: at): void { maxGroups<f64, f64>(values, rows, groups, n, state); }

// tally.ts
export function tallyU8(ids: at, n: u32, groupCount: u32, scratch: at, counts: at): void { tallyCounts<u8>(ids, n, groupCount, scratch, counts); }
export function tallyU8U8(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u8, u8>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU8U16(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u8, u16>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU8U32(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u8, u32>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU8F64(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tallyF64<u8>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyPairU8(ids: at, a: at, b: at, n: u32, groupCount: u32, scratch: at, counts: at, sumsA: at, sumsB: at): void {
  tallyPair<u8>(ids, a, b, n, groupCount, scratch, counts, sumsA, sumsB);
}
export function tallyPairU16(ids: at, a: at, b: at, n: u32, groupCount: u32, scratch: at, counts: at, sumsA: at, sumsB: at): void {
  tallyPair<u16>(ids, a, b, n, groupCount, scratch, counts, sumsA, sumsB);
}
export function tallyU16(ids: at, n: u32, groupCount: u32, scratch: at, counts: at): void { tallyCounts<u16>(ids, n, groupCount, scratch, counts); }
export function tallyU16U8(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u16, u8>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU16U16(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u16, u16>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU16U32(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tally<u16, u32>(ids, values, n, groupCount, scratch, counts, sums);
}
export function tallyU16F64(ids: at, values: at, n: u32, groupCount: u32, scratch: at, counts: at, sums: at): void {
  tallyF64<u16>(ids, values, n, groupCount, scratch, counts, sums);
}
export function keyNarrowU8(values: at, n: u32, stride: u32, accumulate: u32, out: at): void { keyNarrow<u8>(values, n, stride, accumulate, out); }
export function keyNarrowU16(values: at, n: u32, stride: u32, accumulate: u32, out: at): void { keyNarrow<u16>(values, n, stride, accumulate, out); }

// keys.ts
export { divideKeys, hashKeys, keyNulls, keyRuns, keyWordRuns, listRanges, numberKeys, rehash } from './kernels/keys';
export function keyDenseU8(values: at, rows: at, n: u32, stride: u32, accumulate: u32, out: at): void { keyDense<u8>(values, rows, n, stride, accumulate, out); }
export function keyDenseU16(values: at, rows: at, n: u32, stride: u32, accumulate: u32, out: at): void { keyDense<u16>(values, rows, n, stride, accumulate, out); }
export function keyDenseU32(values: at, rows: at, n: u32, stride: u32, accumulate: u32, out: at): void { keyDense<u32>(values, rows, n, stride, accumulate, out); }
export function keyWordU8(values: at, rows: at, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: at): void { keyWord<u8>(values, rows, n, words, word, shift, assign, out); }
export function keyWordU16(values: at, rows: at, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: at): void { keyWord<u16>(values, rows, n, words, word, shift, assign, out); }
export function keyWordU32(values: at, rows: at, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: at): void { keyWord<u32>(values, rows, n, words, word, shift, assign, out); }
export function keyWordI64(values: at, rows: at, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: at): void { keyWord<i64>(values, rows, n, words, word, shift, assign, out); }
export function keyWordF32(values: at, rows: at, n: u32, words: u32, word: u32, out: at): void { keyWordFloat<f32>(values, rows, n, words, word, out); }
export function keyWordF64(values: at, rows: at, n: u32, words: u32, word: u32, out: at): void { keyWordFloat<f64>(values, rows, n, words, word, out); }
export function expandU8(ids: at, offsets: at, rows: at, n: u32, nullId: u32, outRows: at, outPositions: at, outIds: at, capacity: u32): i32 {
  return expand<u8>(ids, offsets, rows, n, nullId, outRows, outPositions, outIds, capacity);
}
export function expandU16(ids: at, offsets: at, rows: at, n: u32, nullId: u32, outRows: at, outPositions: at, outIds: at, capacity: u32): i32 {
  return expand<u16>(ids, offsets, rows, n, nullId, outRows, outPositions, outIds, capacity);
}
export function expandU32(ids: at, offsets: at, rows: at, n: u32, nullId: u32, outRows: at, outPositions: at, outIds: at, capacity: u32): i32 {
  return expand<u32>(ids, offsets, rows, n, nullId, outRows, outPositions, outIds, capacity);
}
export function gather32(source: at, index: at, n: u32, out: at): void { gather<u32>(source, index, n, out); }
export function gather64(source: at, index: at, n: u32, out: at): void { gather<u64>(source, index, n, out); }

// calendar.ts
export {
  addMonthsI64, addStepsI64, calendarI64, clockI64, floorMonthsI64, floorStepsI64, monthsBetweenI64, step32, step64,
} from './kernels/calendar';

// time.ts
export { bucketI64, floorI64 } from './kernels/time';
export function timeRunsU8(values: at, base: i64, start: u32, end: u32, boundaries: at, boundaryCount: u32, out: at): u32 {
  return timeRuns<u8>(values, base, start, end, boundaries, boundaryCount, out);
}
export function timeRunsU16(values: at, base: i64, start: u32, end: u32, boundaries: at, boundaryCount: u32, out: at): u32 {
  return timeRuns<u16>(values, base, start, end, boundaries, boundaryCount, out);
}
export function timeRunsU32(values: at, base: i64, start: u32, end: u32, boundaries: at, boundaryCount: u32, out: at): u32 {
  return timeRuns<u32>(values, base, start, end, boundaries, boundaryCount, out);
}
export function timeRunsI64(values: at, base: i64, start: u32, end: u32, boundaries: at, boundaryCount: u32, out: at): u32 {
  return timeRuns<i64>(values, base, start, end, boundaries, boundaryCount, out);
}
export function lowerBoundU8(values: at, base: i64, start: u32, end: u32, bound: i64): u32 { return lowerBound<u8>(values, base, start, end, bound); }
export function lowerBoundU16(values: at, base: i64, start: u32, end: u32, bound: i64): u32 { return lowerBound<u16>(values, base, start, end, bound); }
export function lowerBoundU32(values: at, base: i64, start: u32, end: u32, bound: i64): u32 { return lowerBound<u32>(values, base, start, end, bound); }
export function lowerBoundI64(values: at, base: i64, start: u32, end: u32, bound: i64): u32 { return lowerBound<i64>(values, base, start, end, bound); }

// compute.ts
export function toI64U8(values: at, rows: at, n: u32, base: i64, out: at): void { toI64<u8>(values, rows, n, base, out); }
export function toI64U16(values: at, rows: at, n: u32, base: i64, out: at): void { toI64<u16>(values, rows, n, base, out); }
export function toI64U32(values: at, rows: at, n: u32, base: i64, out: at): void { toI64<u32>(values, rows, n, base, out); }
export function toI64I64(values: at, rows: at, n: u32, base: i64, out: at): void { toI64<i64>(values, rows, n, base, out); }
export function toF64U8(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<u8>(values, rows, n, base, out); }
export function toF64U16(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<u16>(values, rows, n, base, out); }
export function toF64U32(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<u32>(values, rows, n, base, out); }
export function toF64I64(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<i64>(values, rows, n, base, out); }
export function toF64F32(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<f32>(values, rows, n, base, out); }
export function toF64F64(values: at, rows: at, n: u32, base: i64, out: at): void { toF64<f64>(values, rows, n, base, out); }
export function decimalsAtU8(values: at, rows: at, n: u32, base: i64, scale: f64, out: at): void { decimalsAt<u8>(values, rows, n, base, scale, out); }
export function decimalsAtU16(values: at, rows: at, n: u32, base: i64, scale: f64, out: at): void { decimalsAt<u16>(values, rows, n, base, scale, out); }
export function decimalsAtU32(values: at, rows: at, n: u32, base: i64, scale: f64, out: at): void { decimalsAt<u32>(values, rows, n, base, scale, out); }
export function addI64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<i64>(ADD, a, b, scalar, n, out); }
export function addF64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<f64>(ADD, a, b, scalar, n, out); }
export function subtractI64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<i64>(SUBTRACT, a, b, scalar, n, out); }
export function subtractF64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<f64>(SUBTRACT, a, b, scalar, n, out); }
export function multiplyI64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<i64>(MULTIPLY, a, b, scalar, n, out); }
export function multiplyF64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<f64>(MULTIPLY, a, b, scalar, n, out); }
export function divideF64(a: at, b: at, scalar: u32, n: u32, out: at): void { arithmetic<f64>(DIVIDE, a, b, scalar, n, out); }
export function compareI64(a: at, b: at, scalar: u32, n: u32, operation: u32, out: at): void { compare<i64>(a, b, scalar, n, operation, out); }
export function compareF64(a: at, b: at, scalar: u32, n: u32, operation: u32, out: at): void { compare<f64>(a, b, scalar, n, operation, out); }

// number.ts
export { absI64, bitsToI64, cutF64, mapF64, orderF64, roundF64, sortableF64, truncateF64 } from './kernels/number';
export function divideI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(DIVIDE_LONG, a, b, scalar, n, out); }
export function remainderI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(REMAINDER_LONG, a, b, scalar, n, out); }
export function andI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(AND, a, b, scalar, n, out); }
export function orI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(OR, a, b, scalar, n, out); }
export function xorI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(XOR, a, b, scalar, n, out); }
export function shiftLeftI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(SHIFT_LEFT, a, b, scalar, n, out); }
export function shiftRightI64(a: at, b: at, scalar: u32, n: u32, out: at): void { longs(SHIFT_RIGHT, a, b, scalar, n, out); }
export function choose32(mask: at, a: at, oneA: u32, b: at, oneB: u32, n: u32, out: at): void { choose<u32>(mask, a, oneA, b, oneB, n, out); }
export function choose64(mask: at, a: at, oneA: u32, b: at, oneB: u32, n: u32, out: at): void { choose<u64>(mask, a, oneA, b, oneB, n, out); }

// decode.ts
export function unpackU8(packed: at, rows: u32, width: u32, out: at): void { unpack<u8>(packed, rows, width, out); }
export function unpackU16(packed: at, rows: u32, width: u32, out: at): void { unpack<u16>(packed, rows, width, out); }
export function unpackU32(packed: at, rows: u32, width: u32, out: at): void { unpack<u32>(packed, rows, width, out); }
export { prefixSumI64, prefixSumU32 } from './kernels/decode';

// dictionary.ts
export { dictionaryIntern, dictionaryLike, dictionaryRehash } from './kernels/dictionary';
export { documentElements, documentPart } from './kernels/documents';

// text.ts
export { textAddresses, textOfAddresses } from './kernels/addresses';
export { textBytes, textCompare, textEntries, textFind, textLike, textNulls, textUnits } from './kernels/text';
export { textBest, textIntern, textRehash } from './kernels/text-groups';
export { textSort } from './kernels/text-sort';
export { textCase, textConcat, textPad, textReplace, textReverse } from './kernels/text-made';
export { textIdSlots, textIds } from './kernels/text-ids';
export { textDoubles, textLongs, textOfLongs } from './kernels/text-numbers';
export { textTimes } from './kernels/times-of-texts';
export { textOfDoubles } from './kernels/text-of-doubles';
export { textOfTimes } from './kernels/text-of-times';
export { textExtreme, textFindEach, textSlice, textTrim } from './kernels/text-parts';

// arrays.ts
export { arrayNumbers, arrayStarts, arrayStrings, arrayTexts, listFirst, listJoin, listPick, listRows } from './kernels/arrays';

// made-lists.ts
export { arrayNumberTexts, concatStarts, concatValues, sliceStarts, sliceValues } from './kernels/made-lists';

// stretches.ts
export { placeByGroup, sortStretches } from './kernels/stretches';

// lists.ts
export { listSizes, listSort, listTexts } from './kernels/lists';

// patterns.ts
export { patternExtract, patternReplace, patternTest } from './kernels/patterns';

// top.ts
export function topI64(state: at, present: at, n: u32, k: u32, descending: u32, heap: at, out: at): u32 { return top<i64>(state, present, n, k, descending, heap, out); }
export function textTop(texts: at, n: u32, k: u32, descending: u32, heap: at, out: at): u32 { return top<u64>(texts, 0, n, k, descending, heap, out); }
export function topF64(state: at, present: at, n: u32, k: u32, descending: u32, heap: at, out: at): u32 { return top<f64>(state, present, n, k, descending, heap, out); }

// scan.ts
export { scanJson } from './kernels/scan';

// hash.ts
export { murmurF64, murmurI64, murmurTexts, murmurUtf16 } from './kernels/hash';

// ranges.ts
export { rangeLimits, rangeMost, rangeNarrow, rangePairs } from './kernels/ranges';

// join.ts
export { joinBytes, joinDropNulls, joinFind, joinLists, joinMark, joinNulls, joinOffsets, joinOnly, joinOnlyPairs, joinPairs, joinShift, joinTexts, rangeTexts } from './kernels/join';
export function joinRangeU8(values: at, base: i64, low: i64, count: u32, n: u32, out: at): void { joinRange<u8>(values, base, low, count, n, out); }
export function joinRangeU16(values: at, base: i64, low: i64, count: u32, n: u32, out: at): void { joinRange<u16>(values, base, low, count, n, out); }
export function joinRangeU32(values: at, base: i64, low: i64, count: u32, n: u32, out: at): void { joinRange<u32>(values, base, low, count, n, out); }
export function joinRangeI64(values: at, base: i64, low: i64, count: u32, n: u32, out: at): void { joinRange<i64>(values, base, low, count, n, out); }
export function joinKeepU8(values: at, base: i64, low: i64, count: u32, bits: at, n: u32, kept: at): void { joinKeep<u8>(values, base, low, count, bits, n, kept); }
export function joinKeepU16(values: at, base: i64, low: i64, count: u32, bits: at, n: u32, kept: at): void { joinKeep<u16>(values, base, low, count, bits, n, kept); }
export function joinKeepU32(values: at, base: i64, low: i64, count: u32, bits: at, n: u32, kept: at): void { joinKeep<u32>(values, base, low, count, bits, n, kept); }
export function joinKeepI64(values: at, base: i64, low: i64, count: u32, bits: at, n: u32, kept: at): void { joinKeep<i64>(values, base, low, count, bits, n, kept); }
export function joinKeepBytesU8(values: at, bytes: at, n: u32, kept: at): void { joinKeepBytes<u8>(values, bytes, n, kept); }
export function joinKeepBytesU16(values: at, bytes: at, n: u32, kept: at): void { joinKeepBytes<u16>(values, bytes, n, kept); }
export function joinKeepBytesU32(values: at, bytes: at, n: u32, kept: at): void { joinKeepBytes<u32>(values, bytes, n, kept); }
export function joinKeepBitsU8(values: at, bits: at, n: u32, kept: at): void { joinKeepBits<u8>(values, bits, n, kept); }
export function joinKeepBitsU16(values: at, bits: at, n: u32, kept: at): void { joinKeepBits<u16>(values, bits, n, kept); }
export function joinKeepBitsU32(values: at, bits: at, n: u32, kept: at): void { joinKeepBits<u32>(values, bits, n, kept); }
export function joinValuesU8(values: at, rows: at, n: u32, out: at): void { joinValues<u8>(values, rows, n, out); }
export function joinValuesU16(values: at, rows: at, n: u32, out: at): void { joinValues<u16>(values, rows, n, out); }
export function joinValuesU32(values: at, rows: at, n: u32, out: at): void { joinValues<u32>(values, rows, n, out); }
export function joinValuesI64(values: at, rows: at, n: u32, out: at): void { joinValues<i64>(values, rows, n, out); }
export function joinListValuesU8(ids: at, offsets: at, rows: at, n: u32, out: at): void { joinListValues<u8>(ids, offsets, rows, n, out); }
export function joinListValuesU16(ids: at, offsets: at, rows: at, n: u32, out: at): void { joinListValues<u16>(ids, offsets, rows, n, out); }
export function joinListValuesU32(ids: at, offsets: at, rows: at, n: u32, out: at): void { joinListValues<u32>(ids, offsets, rows, n, out); }

// Parameter counts of all kernels, and the types they come in.

import type { KernelName, KernelSet, Num } from './contract.js';

export const IDS = ['U8', 'U16', 'U32'] as const;
export const INTEGERS = [...IDS, 'I64'] as const;
export const NARROWS = ['U8', 'U16'] as const;
export const FLOATS = ['F32', 'F64'] as const;
export const NUMBERS = [...INTEGERS, ...FLOATS] as const;
export const WIDE = ['I64', 'F64'] as const;
export const LONGS = ['I64'] as const;
/** Values that are summed under narrow keys. */
export const TALLIED = [...IDS, 'F64'] as const;

/** One entry per type of a family: `perType('filterEq', IDS, …)` gives filterEqU8, filterEqU16, filterEqU32. */
export function perType<Name extends string, Type extends Num, const Entry>(
  name: Name,
  types: readonly Type[],
  make: (type: Type) => Entry,
): { readonly [T in Type as `${Name}${T}`]: Entry } {
  return Object.fromEntries(types.map((type) => [`${name}${type}`, make(type)])) as { readonly [T in Type as `${Name}${T}`]: Entry };
}

/**
 * Number of parameters of each kernel in the contract. A kernel that is missing here, or has another number, does not compile.
 */
export const KERNEL_PARAMETERS: { readonly [Name in KernelName]: Parameters<KernelSet[Name]>['length'] } = {
  ...perType('filterEq', IDS, () => 4),
  ...perType('filterRange', NUMBERS, () => 5),
  ...perType('filterSet', IDS, () => 4),
  ...perType('filterSorted', NUMBERS, () => 5),
  ...perType('filterAny', IDS, () => 5),
  filterEmpty: 3,
  bitsAnd: 4,
  bitsOr: 4,
  bitsAndNot: 4,
  bitsNot: 3,
  bitsFill: 4,
  bitsCount: 2,
  bitsToRows: 4,
  bitsMark: 3,
  countRuns: 4,
  presentRuns: 4,
  ...perType('sumRuns', NUMBERS, () => 5),
  ...perType('minRuns', NUMBERS, () => 5),
  ...perType('maxRuns', NUMBERS, () => 5),
  countGroups: 3,
  presentGroups: 3,
  ...perType('sumGroups', INTEGERS, () => 5),
  ...perType('sumGroups', FLOATS, () => 6),
  ...perType('countSumGroups', NARROWS, () => 5),
  foldCountSums: 6,
  ...perType('minGroups', NUMBERS, () => 5),
  ...perType('maxGroups', NUMBERS, () => 5),
  foldSums: 3,
  ...perType('tally', NARROWS, () => 5),
  ...perType('tallyU8', TALLIED, () => 7),
  ...perType('tallyU16', TALLIED, () => 7),
  ...perType('tallyPair', NARROWS, () => 9),
  ...perType('keyNarrow', NARROWS, () => 5),
  compactMask: 6,
  compactNotMask: 6,
  ...perType('keyDense', IDS, () => 6),
  ...perType('keyWord', INTEGERS, () => 8),
  ...perType('keyWord', FLOATS, () => 6),
  keyNulls: 8,
  keyRuns: 7,
  keyWordRuns: 9,
  ...perType('expand', IDS, () => 9),
  gather32: 4,
  gather64: 4,
  hashKeys: 8,
  rehash: 5,
  ...perType('timeRuns', INTEGERS, () => 7),
  bucketI64: 5,
  floorI64: 5,
  ...perType('lowerBound', INTEGERS, () => 5),
  calendarI64: 4,
  clockI64: 5,
  floorMonthsI64: 4,
  addMonthsI64: 5,
  step32: 6,
  step64: 6,
  addStepsI64: 6,
  floorStepsI64: 7,
  ...perType('toI64', INTEGERS, () => 5),
  ...perType('toF64', NUMBERS, () => 5),
  ...perType('add', WIDE, () => 5),
  ...perType('subtract', WIDE, () => 5),
  ...perType('multiply', WIDE, () => 5),
  divideF64: 5,
  ...perType('compare', WIDE, () => 6),
  ...perType('divide', LONGS, () => 5),
  ...perType('remainder', LONGS, () => 5),
  ...perType('and', LONGS, () => 5),
  ...perType('or', LONGS, () => 5),
  ...perType('xor', LONGS, () => 5),
  ...perType('shiftLeft', LONGS, () => 5),
  ...perType('shiftRight', LONGS, () => 5),
  absI64: 3,
  mapF64: 4,
  truncateF64: 3,
  bitsToI64: 3,
  orderF64: 6,
  choose32: 7,
  choose64: 7,
  ...perType('unpack', IDS, () => 4),
  prefixSumU32: 3,
  prefixSumI64: 3,
  dictionaryLike: 7,
  dictionaryIntern: 10,
  dictionaryRehash: 4,
  murmurTexts: 6,
  murmurI64: 4,
  murmurF64: 4,
  joinTexts: 9,
  joinFind: 7,
  joinDropNulls: 3,
  joinLists: 5,
  joinPairs: 9,
  joinMark: 3,
  joinNulls: 4,
  joinOffsets: 4,
  ...perType('joinRange', INTEGERS, () => 6),
  ...perType('joinValues', INTEGERS, () => 4),
  ...perType('joinListValues', IDS, () => 5),
  ...perType('top', WIDE, () => 7),
};

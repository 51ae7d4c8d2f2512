import { assert } from '../../base/errors.js';
import type { Value } from '../../expression/value.js';
import { convert, toDouble, wrapLong } from '../../expression/value.js';
import type { DistinctFold } from '../../model/aggregator.js';
import { addToExactSum, emptyExactSum, exactSumOf } from '../../sketch/exact-sum.js';
import { stateKind } from './kinds.js';

/**
 * What is made of the distinct values of a group; states as texts. Doubles are added exactly, and collectors meet numbers in
 * ascending order, so that the order of the values does not show.
 */
export function distinctFolder(fold: DistinctFold): (values: readonly Value[]) => Value {
  if (fold.kind === 'xor') return xor;
  if (fold.kind === 'sum') return fold.type === 'LONG' ? sumOfLongs : sumOfDoubles;
  const kind = stateKind(fold.collector);
  return (values) => {
    if (values.length === 0) return fold.output === 'state' ? null : kind.emptyValue;
    const state = kind.create();
    assert(kind.addNumber !== undefined, `${fold.collector.type} takes no numbers one by one`);
    for (const number of Float64Array.from(values, (value) => toDouble(value) ?? Number.NaN).sort()) kind.addNumber(state, number);
    return fold.output === 'state' ? kind.encode(state) : kind.value(state);
  };
}

function sumOfLongs(values: readonly Value[]): Value {
  if (values.length === 0) return null;
  return wrapLong(values.reduce((sum: bigint, value) => sum + (convert(value, 'LONG') ?? 0n), 0n));
}

function sumOfDoubles(values: readonly Value[]): Value {
  const sum = emptyExactSum();
  for (const value of values) addToExactSum(sum, toDouble(value) ?? 0);
  return exactSumOf(sum);
}

function xor(values: readonly Value[]): Value {
  return values.length === 0 ? null : values.reduce((bits: bigint, value) => bits ^ (convert(value, 'LONG') ?? 0n), 0n);
}

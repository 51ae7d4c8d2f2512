// Folds the distinct values of a group into a result, such as a sum or a list.

import { assert } from '../../base/errors.js';
import { convert, toDouble, type Value, wrapLong } from '../../expression/value.js';
import type { DistinctFold } from '../../model/aggregator.js';
import { addToExactSum, emptyExactSum, exactSumOf } from '../../sketch/exact-sum.js';
import { stateOperations } from './operations.js';

/** Lists of values, and views of numbers in kernel memory. */
type Values = Iterable<Value> & { readonly length: number };

/**
 * Folds the distinct values of a group; states are base64 strings. Doubles are added exactly, and states meet numbers in
 * ascending order, so that the order of the values does not show.
 */
export function distinctFolder(fold: DistinctFold): (values: Values) => Value {
  if (fold.kind === 'xor') return xor;
  if (fold.kind === 'sum') return fold.type === 'LONG' ? sumOfLongs : sumOfDoubles;
  const kind = stateOperations(fold.aggregateState);
  return (values) => {
    if (values.length === 0) return fold.output === 'state' ? null : kind.emptyValue;
    const state = kind.create();
    assert(kind.addNumber !== undefined, `${fold.aggregateState.type} takes no numbers one by one`);
    for (const number of doublesOf(values).sort()) kind.addNumber(state, number);
    return fold.output === 'state' ? kind.encode(state) : kind.value(state);
  };
}

function doublesOf(values: Values): Float64Array {
  const doubles = new Float64Array(values.length);
  let at = 0;
  for (const value of values) doubles[at++] = toDouble(value) ?? Number.NaN;
  return doubles;
}

function sumOfLongs(values: Values): Value {
  if (values.length === 0) return null;
  let sum = 0n;
  for (const value of values) sum += convert(value, 'LONG') ?? 0n;
  return wrapLong(sum);
}

function sumOfDoubles(values: Values): Value {
  const sum = emptyExactSum();
  for (const value of values) addToExactSum(sum, toDouble(value) ?? 0);
  return exactSumOf(sum);
}

function xor(values: Values): Value {
  if (values.length === 0) return null;
  let bits = 0n;
  for (const value of values) bits ^= convert(value, 'LONG') ?? 0n;
  return bits;
}

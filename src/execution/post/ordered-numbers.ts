// Numbers that stand for the values of a column where only their order counts.

import type { SortKey } from '../../model/plan.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { ResultColumn } from '../block/result-table.js';
import { sortWords } from './sort.js';
import { halvesOf } from './typed-values.js';

const TWO_32 = 2 ** 32;

/**
 * Doubles in the order of the values that are not null, ascending whichever way the key goes; undefined where doubles cannot
 * tell them apart, as for longs that are far from 0, or order them, as for NaN.
 */
export function orderedNumbers(column: ResultColumn, key: SortKey, check: Check): Float64Array | undefined {
  const sign = key.descending ? -1 : 1;
  switch (column.kind) {
    case 'double':
      return ofDoubles(column.values, sign, check);
    case 'long':
      return ofLongs(column.values, sign, check);
    default: {
      const [ranks = new Uint32Array(0)] = sortWords(column, key, check);
      const numbers = new Float64Array(ranks.length);
      checkedLoop(ranks.length, check, (start, end) => {
        for (let row = start; row < end; row++) numbers[row] = ranks[row] ?? 0;
      });
      return numbers;
    }
  }
}

function ofDoubles(values: Float64Array, sign: 1 | -1, check: Check): Float64Array | undefined {
  const numbers = sign === 1 ? values : new Float64Array(values.length);
  let areNumbers = true;
  checkedLoop(values.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const value = values[row] ?? 0;
      if (value !== value) areNumbers = false;
      if (sign === -1) numbers[row] = -value;
    }
  });
  return areNumbers ? numbers : undefined;
}

/** Highest halves of the longs that are doubles without loss. */
const HIGH_MAX = 2 ** 20;

function ofLongs(values: BigInt64Array, sign: 1 | -1, check: Check): Float64Array | undefined {
  const low = halvesOf(values);
  const high = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const numbers = new Float64Array(values.length);
  let areExact = true;
  checkedLoop(values.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const upper = high[row * 2 + 1] ?? 0;
      if (upper >= HIGH_MAX || upper < -HIGH_MAX) areExact = false;
      numbers[row] = sign * (upper * TWO_32 + (low[row * 2] ?? 0));
    }
  });
  return areExact ? numbers : undefined;
}

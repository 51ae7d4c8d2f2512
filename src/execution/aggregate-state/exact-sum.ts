// Aggregate state of exact sums and means of doubles.

import type { AggregateState } from '../../model/aggregate-state.js';
import {
  addToExactSum,
  decodeExactSum,
  type ExactSum,
  emptyExactSum,
  encodeExactSum,
  exactSumOf,
  mergeExactSums,
} from '../../sketch/exact-sum.js';
import { numberFeed } from './number-feed.js';
import type { StateOperations } from './state-operations.js';

export function exactSumState({ result }: Extract<AggregateState, { type: 'exactSum' }>): StateOperations<ExactSum> {
  return {
    isOrdered: false,
    emptyValue: null,
    create: emptyExactSum,
    merge: mergeExactSums,
    bytes: ({ parts, huge }) => 96 + (parts.length + huge.length) * 8,
    encode: encodeExactSum,
    decode: decodeExactSum,
    value(state) {
      const sum = exactSumOf(state);
      if (sum === null) return null;
      return result === 'mean' ? sum / state.count : result === 'FLOAT' ? Math.fround(sum) : sum;
    },
    bind: (scope, [column = '']) => numberFeed(scope, column, addToExactSum),
  };
}

// Aggregate state of means, variances and standard deviations.

import type { AggregateState } from '../../model/aggregate-state.js';
import {
  addToMoments,
  decodeMoments,
  emptyMoments,
  encodeMoments,
  type Moments,
  meanOf,
  mergeMoments,
  varianceOf,
} from '../../sketch/moments.js';
import { numberFeed } from './number-feed.js';
import type { StateOperations } from './state-operations.js';

/** Sums of doubles: their last bits depend on how rows are cut into segments and threads, as those of `sum` do. */
export function momentsState({ result }: Extract<AggregateState, { type: 'moments' }>): StateOperations<Moments> {
  return {
    isOrdered: false,
    emptyValue: null,
    create: emptyMoments,
    merge: mergeMoments,
    bytes: () => 64,
    encode: encodeMoments,
    decode: decodeMoments,
    addNumber: addToMoments,
    value: (state) => (result === 'mean' ? meanOf(state) : varianceOf(state, result === 'populationVariance' ? 'population' : 'sample')),
    bind: (scope, [column = '']) => numberFeed(scope, column, addToMoments),
  };
}

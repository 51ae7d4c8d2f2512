// Aggregate state of means, variances and standard deviations.

import { BLOCK_ROWS } from '../../../base/layout.js';
import type { AggregateState } from '../../../model/aggregate-state.js';
import {
  addToMoments,
  decodeMoments,
  emptyMoments,
  encodeMoments,
  type Moments,
  meanOf,
  mergeMoments,
  varianceOf,
} from '../../../sketch/moments.js';
import type { SegmentScope } from '../../expression/scope.js';
import { widenedNumbers } from '../number-feed.js';
import type { Feed, StateOperations } from '../state-operations.js';
import { MomentGroups } from './moment-groups.js';
import { MomentTable } from './moment-table.js';

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
    store: (context, charge) => new MomentGroups(context, charge),
    bind: (scope, [column = '']) => momentsFeed(scope, column),
  };
}

/** Moments of the groups of a segment, by a kernel. */
function momentsFeed(scope: SegmentScope, column: string): Feed<Moments> | undefined {
  const numbers = widenedNumbers(scope, column);
  if (numbers === undefined) return undefined;
  const { kernels } = scope.context;
  const table = new MomentTable(scope);
  const eachBlock: Feed<Moments>['endMoments'] = (groupOf, groupCount, add) => {
    const count = Math.min(groupCount, table.count);
    for (let from = 0; from < count; from += BLOCK_ROWS)
      add(table.states + from * 32, groupOf + from * 4, Math.min(BLOCK_ROWS, count - from));
  };
  return {
    nulls: numbers.nulls,
    add(block, rows, groups, n) {
      table.reserve(groups, n);
      kernels.addMoments(numbers.read(block, rows, n), groups, n, table.states);
    },
    endMoments: eachBlock,
  };
}

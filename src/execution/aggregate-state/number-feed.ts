// Feeds the numbers of a column to aggregate states.

import { BLOCK_ROWS } from '../../base/layout.js';
import { kernelFor } from '../block/context.js';
import { asNumbers } from '../expression/convert.js';
import type { SegmentScope } from '../expression/scope.js';
import type { Feed } from './state-operations.js';

/** Gives every value of a column that is not null, as a double, to the state of its group, in the order of rows. */
export function numberFeed<State>(
  scope: SegmentScope,
  column: string,
  put: (state: State, value: number) => void,
): Feed<State> | undefined {
  const vector = asNumbers(scope, scope.source(column), 'DOUBLE');
  if (vector === undefined) return undefined;
  const { memory, kernels } = scope.context;
  const widen = kernelFor(kernels, 'toF64', vector.physical);
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    add(block, rows, groups, n, stateOf) {
      widen(vector.values(block), rows, n, vector.base, wide);
      const values = memory.f64(wide, n);
      const numbers = memory.u32(groups, n);
      for (let i = 0; i < n; i++) put(stateOf(numbers[i] ?? 0), values[i] ?? 0);
    },
  };
}

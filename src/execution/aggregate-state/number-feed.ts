// Feeds the numbers of a column to aggregate states.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { type Block, kernelFor } from '../block/context.js';
import { asNumbers } from '../expression/convert.js';
import type { SegmentScope } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import type { Feed } from './state-operations.js';

/** Numbers of rows as doubles: `read` gives the address of n of them, until it is called again. */
export interface WidenedNumbers {
  /** Rows that are null there have none. */
  readonly nulls: NumberVector | undefined;
  read(block: Block, rows: Address, n: number): Address;
}

export function widenedNumbers(scope: SegmentScope, column: string): WidenedNumbers | undefined {
  const vector = asNumbers(scope, scope.source(column), 'DOUBLE');
  if (vector === undefined) return undefined;
  const widen = kernelFor(scope.context.kernels, 'toF64', vector.physical);
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    read(block, rows, n) {
      widen(vector.values(block), rows, n, vector.base, wide);
      return wide;
    },
  };
}

/** Gives every value of a column that is not null, as a double, to the state of its group, in the order of rows. */
export function numberFeed<State>(
  scope: SegmentScope,
  column: string,
  put: (state: State, value: number) => void,
): Feed<State> | undefined {
  const found = widenedNumbers(scope, column);
  if (found === undefined) return undefined;
  const { memory } = scope.context;
  return {
    nulls: found.nulls,
    add(block, rows, groups, n, stateOf) {
      const values = memory.f64(found.read(block, rows, n), n);
      const numbers = memory.u32(groups, n);
      for (let i = 0; i < n; i++) put(stateOf(numbers[i] ?? 0), values[i] ?? 0);
    },
  };
}

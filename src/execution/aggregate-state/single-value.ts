// Aggregate state of the one value that a group may have.

import { ServiceError } from '../../base/errors.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import { firstLastState, valueReader } from './first-last.js';
import type { StateOperations } from './state-operations.js';
import type { TimedValue } from './timed/timed-value.js';

/** The value of the only row, which may be null: that of time 0, while no row has one of another. */
export function singleValueState({ valueType }: Extract<AggregateState, { type: 'single' }>): StateOperations<TimedValue> {
  const first = { type: 'first', valueType, maxStringBytes: Infinity } as const;
  const { merge, addRow: _, store: __, ...rest } = firstLastState(first);
  const refuseSecond = ({ time }: TimedValue): void => {
    if (time === 0n) throw new ServiceError('query_invalid', 'a singleValue aggregator has more than one row in a group');
  };
  return {
    ...rest,
    merge(into, from) {
      if (from.time === 0n) refuseSecond(into);
      merge(into, from);
    },
    bind(scope, [column = '']) {
      const open = valueReader(scope, first, column);
      return {
        nulls: undefined,
        add(block, rows, groups, n, stateOf) {
          const read = open(block, rows, n);
          const numbers = scope.context.memory.u32(groups, n);
          for (let i = 0; i < n; i++) {
            const state = stateOf(numbers[i] ?? 0);
            refuseSecond(state);
            [state.time, state.value] = [0n, read(i)];
          }
        },
      };
    },
  };
}

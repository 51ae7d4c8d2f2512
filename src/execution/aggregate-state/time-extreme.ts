// Aggregate states of `timeMin` and `timeMax`.

import { ServiceError } from '../../base/errors.js';
import { formatInstant } from '../../base/time.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import { numberFeed } from './number-feed.js';
import type { StateOperations } from './state-operations.js';

/** State: earliest or latest time in milliseconds; null before any. */
interface TimeExtreme {
  time: number | null;
}

/** The earliest or latest of times. */
export function timeExtremeState({ type }: Extract<AggregateState, { type: 'timeMin' | 'timeMax' }>): StateOperations<TimeExtreme> {
  const best = type === 'timeMin' ? Math.min : Math.max;
  const put = (state: TimeExtreme, time: number): void => {
    state.time = state.time === null ? time : best(state.time, time);
  };
  return {
    isOrdered: false,
    emptyValue: null,
    create: () => ({ time: null }),
    merge(into, { time }) {
      if (time !== null) put(into, time);
    },
    bytes: () => 16,
    encode: ({ time }) => (time === null ? '' : String(time)),
    decode(encoded) {
      if (!/^(-?\d{1,16})?$/.test(encoded))
        throw new ServiceError('query_invalid', 'a string that should hold a state of timeMin or timeMax does not');
      return { time: encoded === '' ? null : Number(encoded) };
    },
    value: ({ time }) => (time === null ? null : formatInstant(time)),
    bind: (scope, [column = '']) => numberFeed(scope, column, put),
  };
}

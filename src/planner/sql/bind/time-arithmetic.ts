// Instants plus or minus intervals.

import { type Bound, call, integer, NULL, text } from '../relation/bound.js';
import type { IntervalValue } from './interval-literal.js';
import type { Session } from './session.js';

/** An instant plus an interval: months move on the wall clock of the session's time zone, the rest is elapsed time. */
export function addInterval(session: Session, instant: Bound, interval: IntervalValue): Bound {
  const type = instant.type === 'DATE' ? 'DATE' : 'TIMESTAMP';
  const shifted =
    interval.months === 0
      ? instant
      : call(
          type,
          'timestamp_shift',
          instant,
          text(`P${Math.abs(interval.months)}M`),
          integer(Math.sign(interval.months)),
          text(session.timeZone),
        );
  if (interval.milliseconds === 0) return shifted;
  const sum = call(type, '+', shifted, integer(interval.milliseconds));
  // A DATE has no time of day.
  return type === 'DATE' ? call(type, 'timestamp_floor', sum, text('P1D'), NULL, text(session.timeZone)) : sum;
}

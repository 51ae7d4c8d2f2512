// Recognizes group keys that floor `__time`.

import type { Granularity } from '../../../model/granularity.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import type { Bound } from '../relation/bound.js';

/** The granularity of `timestamp_floor(__time, period, origin, zone)`: such a key needs no column, as time is sorted. */
export function granularityOf(bound: Bound): Granularity | undefined {
  if (bound.kind !== 'call' || bound.function !== 'timestamp_floor') return undefined;
  const [column, period, origin, zone] = bound.arguments;
  if (column?.kind !== 'column' || column.name !== TIME_COLUMN) return undefined;
  if (period?.kind !== 'literal' || typeof period.value !== 'string' || zone?.kind !== 'literal' || typeof zone.value !== 'string')
    return undefined;
  if (origin?.kind !== 'literal' || (origin.value !== null && typeof origin.value !== 'bigint')) return undefined;
  return { kind: 'period', period: period.value, timeZone: zone.value, origin: origin.value === null ? null : Number(origin.value) };
}

// Options that all sources of polled lookups have.

import { TIMER_MS_MAX } from '../../base/clock/clock.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parsePeriod } from '../../base/time.js';

const DAY_MS = 86_400_000;

/** `pollPeriod`: an ISO 8601 period, or milliseconds; absent and 0: the source is read once. */
export function readPollMs(reader: ObjectReader): number {
  const value = reader.raw('pollPeriod');
  if (value === undefined) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return Math.min(value, TIMER_MS_MAX);
  const period = typeof value === 'string' ? parsePeriod(value) : undefined;
  if (period === undefined || period.months !== 0)
    throw reader.mismatch('pollPeriod', 'a period without months such as PT5M, or milliseconds');
  const ms = period.days * DAY_MS + period.milliseconds;
  if (ms < 0) throw reader.mismatch('pollPeriod', 'a period that is not negative');
  return Math.min(ms, TIMER_MS_MAX);
}

export function readHeapPercentage(reader: ObjectReader): number {
  return reader.optionalInteger('maxHeapPercentage', 0, 100) ?? 10;
}

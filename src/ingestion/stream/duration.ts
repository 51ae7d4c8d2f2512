// Reads durations and instants of specs of streams.

import { type EpochMs, ETERNITY } from '../../base/instant.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseInstant, parsePeriod } from '../../base/time.js';

const DAY_MS = 86_400_000;

/** A period such as `PT1H` in milliseconds; months have none, and are refused. */
export function durationMs(fields: ObjectReader, key: string): number | undefined {
  const text = fields.optionalString(key);
  if (text === undefined) return undefined;
  const period = parsePeriod(text);
  const ms = period === undefined || period.months !== 0 ? undefined : period.days * DAY_MS + period.milliseconds;
  if (ms === undefined || ms < 0) throw fields.mismatch(key, 'a period of days, hours, minutes and seconds, such as "PT1H"');
  return Math.min(ms, Number.MAX_SAFE_INTEGER);
}

/** An instant as ISO 8601 text or milliseconds; null when absent. */
export function instantOf(fields: ObjectReader, key: string): EpochMs | null {
  const value = fields.raw(key);
  if (value === undefined) return null;
  const ms = typeof value === 'number' ? value : parseInstant(fields.string(key));
  if (ms === undefined || !Number.isInteger(ms) || ms < ETERNITY.start || ms > ETERNITY.end)
    throw fields.mismatch(key, 'an instant: ISO 8601 text, or whole milliseconds since 1970');
  return ms;
}

/** A number between two bounds. */
export function numberOf(fields: ObjectReader, key: string, otherwise: number, min: number, max = Number.POSITIVE_INFINITY): number {
  const value = fields.raw(key) ?? otherwise;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= min && number <= max))
    throw fields.mismatch(key, max === Number.POSITIVE_INFINITY ? `a number of at least ${min}` : `a number from ${min} to ${max}`);
  return number;
}

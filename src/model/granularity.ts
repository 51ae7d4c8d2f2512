// Granularities: reading them, and the buckets they cut time into.

import { DAY_MS, findZone, type Zone } from '../base/calendar.js';
import { type ErrorCode, ServiceError } from '../base/errors.js';
import { type EpochMs, ETERNITY, type Interval } from '../base/instant.js';
import { describeValue } from '../base/json.js';
import { own } from '../base/names.js';
import { addPeriod, formatInstant, type Period, parseInstant, parsePeriod } from '../base/time.js';
import { changeBetween } from '../base/zone-offsets.js';

/**
 * `all`: one bucket; `none`: one per millisecond. A `period` is an ISO 8601 period floored in a time zone,
 * counted from `origin` (null: 1970-01-01 on the zone's wall clock, for one week the Monday before).
 */
export type Granularity =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'duration'; readonly durationMs: number; readonly origin: EpochMs }
  | { readonly kind: 'period'; readonly period: string; readonly timeZone: string; readonly origin: EpochMs | null };

const SIMPLE_PERIODS: Readonly<Record<string, string>> = {
  second: 'PT1S',
  minute: 'PT1M',
  five_minute: 'PT5M',
  ten_minute: 'PT10M',
  fifteen_minute: 'PT15M',
  thirty_minute: 'PT30M',
  hour: 'PT1H',
  six_hour: 'PT6H',
  eight_hour: 'PT8H',
  day: 'P1D',
  week: 'P1W',
  month: 'P1M',
  quarter: 'P3M',
  year: 'P1Y',
};

const SIMPLE_NAMES = ['all', 'none', ...Object.keys(SIMPLE_PERIODS)].join(', ');

/**
 * A granularity as queries and specs spell it: a simple name, or an object of type all, none, duration or period.
 * @param path  names the field in messages
 * @param code  of the ServiceError thrown for anything else
 */
export function parseGranularity(value: unknown, path: string, code: ErrorCode = 'query_invalid'): Granularity {
  const fail = (message: string): never => {
    throw new ServiceError(code, message);
  };
  if (typeof value === 'string')
    return (
      simpleGranularity(value) ??
      fail(`${path}: unknown granularity "${value}"; accepted: ${SIMPLE_NAMES}, or an object of type period or duration`)
    );
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail(`${path}: expected a granularity name or object, found ${describeValue(value)}`);
  const fields = value as Readonly<Record<string, unknown>>;
  const { type } = fields;
  const accepted = typeof type === 'string' ? own(GRANULARITY_FIELDS, type) : undefined;
  if (accepted === undefined) {
    const simple = typeof type === 'string' ? simpleGranularity(type) : undefined;
    if (simple === undefined || Object.keys(fields).length > 1)
      return fail(`${path}.type: unknown granularity type ${describeValue(type)}; accepted: all, none, period, duration`);
    return simple;
  }
  const unknown = Object.keys(fields).find((key) => key !== 'type' && !accepted.includes(key));
  if (unknown !== undefined) return fail(`${path}: unknown key "${unknown}"; accepted: ${['type', ...accepted].join(', ')}`);
  const origin = fields['origin'] === undefined || fields['origin'] === null ? null : instantOf(fields['origin']);
  if (origin === undefined) return fail(`${path}.origin: expected an instant, found ${describeValue(fields['origin'])}`);
  switch (type) {
    case 'all':
    case 'none':
      return { kind: type };
    case 'duration': {
      const { duration } = fields;
      const durationMs = typeof duration === 'number' || typeof duration === 'string' ? Number(duration) : Number.NaN;
      if (!Number.isSafeInteger(durationMs) || durationMs < 1)
        return fail(`${path}.duration: expected milliseconds above 0, found ${describeValue(duration)}`);
      return { kind: 'duration', durationMs, origin: origin ?? 0 };
    }
    default: {
      const { period, timeZone = 'UTC' } = fields;
      const parsed = typeof period === 'string' ? parsePeriod(period) : undefined;
      if (parsed === undefined || typeof period !== 'string' || !movesForward(parsed))
        return fail(`${path}.period: expected an ISO 8601 period longer than nothing, found ${describeValue(period)}`);
      const zone = timeZone === null ? 'UTC' : timeZone;
      if (typeof zone !== 'string' || findZone(zone) === undefined)
        return fail(`${path}.timeZone: unknown time zone ${describeValue(timeZone)}`);
      return { kind: 'period', period, timeZone: zone, origin };
    }
  }
}

const GRANULARITY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  all: [],
  none: [],
  duration: ['duration', 'origin'],
  period: ['period', 'timeZone', 'origin'],
};

function instantOf(value: unknown): EpochMs | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  return typeof value === 'string' ? parseInstant(value) : undefined;
}

function movesForward({ months, days, milliseconds }: Period): boolean {
  return months >= 0 && days >= 0 && milliseconds >= 0 && months + days + milliseconds > 0;
}

function simpleGranularity(name: string): Granularity | undefined {
  const lower = name.toLowerCase();
  if (lower === 'all' || lower === 'none') return { kind: lower };
  const period = Object.hasOwn(SIMPLE_PERIODS, lower) ? own(SIMPLE_PERIODS, lower) : undefined;
  return period === undefined ? undefined : { kind: 'period', period, timeZone: 'UTC', origin: null };
}

/** A granularity as JSON, in the one way in which it is told. */
export function granularityJson(granularity: Granularity): unknown {
  switch (granularity.kind) {
    case 'all':
    case 'none':
      return { type: granularity.kind };
    case 'duration':
      return { type: 'duration', duration: granularity.durationMs, origin: formatInstant(granularity.origin) };
    case 'period': {
      const { period, timeZone, origin } = granularity;
      return { type: 'period', period, timeZone, origin: origin === null ? null : formatInstant(origin) };
    }
  }
}

/** The simple name where there is one (`day`), else the period (with its zone and origin) or the duration in ms. */
export function granularityName(granularity: Granularity): string {
  if (granularity.kind === 'all' || granularity.kind === 'none') return granularity.kind;
  if (granularity.kind === 'duration')
    return `${granularity.durationMs}ms${granularity.origin === 0 ? '' : ` from ${formatInstant(granularity.origin)}`}`;
  const { period, timeZone, origin } = granularity;
  const simple = Object.entries(SIMPLE_PERIODS).find(([, simplePeriod]) => simplePeriod === period);
  if (timeZone === 'UTC' && origin === null) return simple?.[0] ?? period;
  return `${period} in ${timeZone}${origin === null ? '' : ` from ${formatInstant(origin)}`}`;
}

/** Start of the bucket an instant is in; of `all`, the start of eternity. */
export function floorInstant(granularity: Granularity, ms: EpochMs): EpochMs {
  return bucketsOf(granularity).floor(ms);
}

/** Start of the first bucket after the one an instant is in; of `all`, the end of eternity. */
export function nextBucketStart(granularity: Granularity, ms: EpochMs): EpochMs {
  return bucketsOf(granularity).next(ms);
}

/**
 * The starts of all buckets that meet an interval, and the end of the last one: one more than there are buckets.
 * `all` gives the interval itself.
 * @throws ServiceError `resource_limit` when there are more than `maxBuckets`
 */
export function bucketBoundaries(granularity: Granularity, interval: Interval, maxBuckets: number): BigInt64Array {
  if (interval.start >= interval.end) return new BigInt64Array(0);
  if (granularity.kind === 'all') return BigInt64Array.of(BigInt(interval.start), BigInt(interval.end));
  const tooMany = (): never => {
    throw new ServiceError(
      'resource_limit',
      `granularity ${granularityName(granularity)} cuts ${formatInstant(interval.start)}/${formatInstant(interval.end)} into more than ${maxBuckets} buckets; take a coarser granularity or a shorter interval`,
    );
  };
  // Far too many buckets are refused before they are counted.
  if ((interval.end - interval.start) / longestBucketMs(granularity) > maxBuckets) tooMany();
  const { floor, next } = bucketsOf(granularity);
  const boundaries = [BigInt(floor(interval.start))];
  for (let start = floor(interval.start); start < interval.end; ) {
    if (boundaries.length > maxBuckets) tooMany();
    start = next(start);
    boundaries.push(BigInt(start));
  }
  return BigInt64Array.from(boundaries);
}

/** No bucket is longer: months have 31 days, and zones at most a day to change by. */
function longestBucketMs(granularity: Exclude<Granularity, { kind: 'all' }>): number {
  if (granularity.kind === 'none') return 1;
  if (granularity.kind === 'duration') return granularity.durationMs;
  const { months = 0, days = 0, milliseconds = 0 } = parsePeriod(granularity.period) ?? {};
  return (months * 31 + days + (months + days > 0 ? 1 : 0)) * DAY_MS + milliseconds;
}

/** The buckets of a granularity: a partition of time, `floor` giving a bucket's start and `next` its end. */
export interface Buckets {
  floor(ms: EpochMs): EpochMs;
  next(ms: EpochMs): EpochMs;
}

const compiled = new WeakMap<Granularity, Buckets>();

/** For loops: compiled once for a granularity object and kept as long as it. */
export function bucketsOf(granularity: Granularity): Buckets {
  let buckets = compiled.get(granularity);
  if (buckets === undefined) {
    buckets = compileBuckets(granularity);
    compiled.set(granularity, buckets);
  }
  return buckets;
}

/** Cuts of time by a granularity. */
export type BucketShape =
  | { readonly kind: 'all' }
  /** All of one length, counted from an origin. */
  | { readonly kind: 'fixed'; readonly lengthMs: number; readonly origin: EpochMs }
  /** One hour, minute or second of a wall clock each. */
  | { readonly kind: 'wallClock'; readonly unitMs: number; readonly zone: Zone }
  /** Bucket n starts n periods after `start`. */
  | { readonly kind: 'counted'; readonly period: Period; readonly zone: Zone; readonly start: EpochMs };

export function shapeOf(granularity: Granularity): BucketShape {
  switch (granularity.kind) {
    case 'all':
      return { kind: 'all' };
    case 'none':
      return { kind: 'fixed', lengthMs: 1, origin: 0 };
    case 'duration':
      return { kind: 'fixed', lengthMs: granularity.durationMs, origin: granularity.origin };
    case 'period':
      return shapeOfPeriod(granularity.period, granularity.timeZone, granularity.origin);
  }
}

function compileBuckets(granularity: Granularity): Buckets {
  const shape = shapeOf(granularity);
  switch (shape.kind) {
    case 'all':
      return { floor: () => ETERNITY.start, next: () => ETERNITY.end };
    case 'fixed':
      return fixedBuckets(shape.lengthMs, shape.origin);
    case 'wallClock':
      return wallClockBuckets(shape.unitMs, shape.zone);
    case 'counted':
      return remember(countedBuckets(shape.period, shape.zone, shape.start));
  }
}

function shapeOfPeriod(text: string, timeZone: string, origin: EpochMs | null): BucketShape {
  const period = parsePeriod(text);
  const zone = findZone(timeZone);
  if (period === undefined || zone === undefined)
    throw new ServiceError('internal', `a granularity was not parsed: ${text} in ${timeZone}`);
  const { months, days, milliseconds } = period;
  const isOneWeek = months === 0 && milliseconds === 0 && /^P1W$/i.test(text);
  const localOrigin = isOneWeek ? -3 * DAY_MS : 0;
  const start = origin ?? zone.fromLocal(localOrigin);
  if (months === 0 && (days === 0 || zone.fixedOffsetMs !== null)) {
    const isUnit = days === 0 && UNITS_MS.has(milliseconds) && /^PT1[HMS]$/i.test(text);
    if (isUnit && origin === null && zone.fixedOffsetMs === null) return { kind: 'wallClock', unitMs: milliseconds, zone };
    return { kind: 'fixed', lengthMs: days * DAY_MS + milliseconds, origin: start };
  }
  if (months === 0 && milliseconds > 0) return { kind: 'fixed', lengthMs: days * DAY_MS + milliseconds, origin: start };
  return { kind: 'counted', period, zone, start };
}

const UNITS_MS = new Set([1000, 60_000, 3_600_000]);

function fixedBuckets(lengthMs: number, origin: EpochMs): Buckets {
  const phase = ((origin % lengthMs) + lengthMs) % lengthMs;
  const floor = (ms: EpochMs): EpochMs => Math.floor((ms - phase) / lengthMs) * lengthMs + phase;
  return { floor, next: (ms) => floor(ms) + lengthMs };
}

/** One day, hour, minute or second of the wall clock each; a change of offset within it ends the bucket and starts another. */
export function wallClockBuckets(unitMs: number, zone: Zone): Buckets {
  return remember(wallClockUnits(unitMs, zone));
}

function wallClockUnits(unitMs: number, zone: Zone): Buckets {
  const floor = (ms: EpochMs): EpochMs => {
    const offset = zone.offsetAt(ms);
    const start = Math.floor((ms + offset) / unitMs) * unitMs - offset;
    return zone.offsetAt(start) === offset ? start : changeBetween(zone, start, ms);
  };
  const next = (ms: EpochMs): EpochMs => {
    const start = floor(ms);
    const offset = zone.offsetAt(start);
    const end = Math.floor((start + offset) / unitMs) * unitMs + unitMs - offset;
    return zone.offsetAt(end - 1) === offset ? end : changeBetween(zone, start, end - 1);
  };
  return { floor, next };
}

const MEAN_MONTH_MS = (146_097 / 4800) * DAY_MS;

/** Bucket n starts n periods after the origin; n is estimated from the mean length and then corrected. */
function countedBuckets(period: Period, zone: Zone, origin: EpochMs): Buckets {
  const meanMs = period.months * MEAN_MONTH_MS + period.days * DAY_MS + period.milliseconds;
  const startOf = (index: number): EpochMs => addPeriod(origin, period, index, zone);
  const indexOf = (ms: EpochMs): number => {
    let index = Math.floor((ms - origin) / meanMs);
    while (startOf(index) > ms) index--;
    while (startOf(index + 1) <= ms) index++;
    return index;
  };
  return { floor: (ms) => startOf(indexOf(ms)), next: (ms) => startOf(indexOf(ms) + 1) };
}

/** Instants come in runs of one bucket, and the calendar is slow: the last bucket answers first. */
function remember(buckets: Buckets): Buckets {
  let start = 0;
  let end = 0;
  const find = (ms: EpochMs): void => {
    if (ms >= start && ms < end) return;
    start = buckets.floor(ms);
    end = buckets.next(ms);
  };
  return {
    floor(ms) {
      find(ms);
      return start;
    },
    next(ms) {
      find(ms);
      return end;
    },
  };
}

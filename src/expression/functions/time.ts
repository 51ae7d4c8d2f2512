// Functions over instants.

import { BoundedCache } from '../../base/bounded-cache.js';
import { findZone, type Zone } from '../../base/calendar.js';
import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import { addPeriod, formatInstantIn, monthsBetween, type Period, parseInstant, parsePeriod } from '../../base/time.js';
import { type Clock, formatWithPattern, parseWithPattern, readClock } from '../../base/time-pattern.js';
import { type Buckets, bucketsOf, type Granularity, parseGranularity } from '../../model/granularity.js';
import type { ColumnType } from '../../model/schema.js';
import { type Constant, compiledFunction, type ExpressionFunction } from '../function.js';
import { toLong, toText, type Value } from '../value.js';

type Compile = (constants: readonly (Constant | undefined)[]) => (value: Value, values: readonly Value[]) => Value;

/**
 * Functions over instants, LONGs of milliseconds. Periods, units, patterns and zones are constants, but for those that a function
 * also takes from columns.
 * @param fromColumns  places of the arguments that may be columns
 */
function timeFunction(
  name: string,
  argumentCount: readonly [number, number],
  type: ColumnType,
  compile: Compile,
  fromColumns: readonly number[] = [],
): ExpressionFunction {
  return compiledFunction(name, argumentCount, type, (constants) => {
    const varying = fromColumns.filter((at) => at < constants.length && constants[at] === undefined);
    const apply = varying.length === 0 ? compile(constants) : compiledByRow(compile, constants, varying);
    return (values) => {
      const value = values[0] ?? null;
      return value === null ? null : apply(value, values);
    };
  });
}

/** Different zones, periods and origins of a column for which a function stays compiled. */
const COMPILED_KEPT = 256;

/** Compiled for what the varying arguments are in a row; null where they are not what they should be. */
function compiledByRow(compile: Compile, constants: readonly (Constant | undefined)[], varying: readonly number[]): ReturnType<Compile> {
  // The other arguments are refused before the first row.
  if (!varying.includes(1)) compile(constants.map((constant, at) => constant ?? (varying.includes(at) ? { value: null } : undefined)));
  const known = new BoundedCache<string, ReturnType<Compile>>(COMPILED_KEPT);
  const compiled = (values: readonly Value[]): ReturnType<Compile> => {
    try {
      return compile(constants.map((constant, at) => constant ?? (varying.includes(at) ? { value: values[at] ?? null } : undefined)));
    } catch (error) {
      if (error instanceof ServiceError) return () => null;
      throw error;
    }
  };
  return (value, values) => {
    const key = varying.map((at) => `${typeof values[at]} ${toText(values[at] ?? null)}`).join('\n');
    const found = known.find(key) ?? compiled(values);
    known.keep(key, found);
    return found(value, values);
  };
}

/** The text of a constant; undefined when it was left out or is null. */
function optionalText(constants: readonly (Constant | undefined)[], index: number, what: string): string | undefined {
  if (index >= constants.length) return undefined;
  const constant = constants[index];
  if (constant === undefined) throw new ServiceError('query_invalid', `${what} must be a constant`);
  return toText(constant.value) ?? undefined;
}

export function zoneOf(constants: readonly (Constant | undefined)[], index: number, name: string): Zone {
  const id = optionalText(constants, index, `${name}: the time zone`) ?? 'UTC';
  const zone = findZone(id);
  if (zone === undefined) throw new ServiceError('query_invalid', `${name}: unknown time zone '${id}'`);
  return zone;
}

/** Null beyond 2^53 milliseconds, some 285,000 years: doubles do not tell instants apart there. */
const toInstant = (value: Value): number | null => {
  const instant = Number(toLong(value) ?? Number.NaN);
  return Number.isSafeInteger(instant) ? instant : null;
};

const ofInstant = (instant: number): bigint | null => (Number.isSafeInteger(instant) ? BigInt(instant) : null);

/** Takes (instant, period[, origin[, time zone]]). */
export function granularityOfArguments(constants: readonly (Constant | undefined)[], name: string): Granularity {
  const period = optionalText(constants, 1, `${name}: the period`);
  const originValue = constants[2]?.value ?? null;
  const given = typeof originValue === 'bigint' ? Number(originValue) : originValue;
  if (constants.length > 2 && constants[2] === undefined) throw new ServiceError('query_invalid', `${name}: the origin must be a constant`);
  const zone = zoneOf(constants, 3, name);
  // An origin without a zone of its own is one of the zone of the buckets.
  const origin = typeof given === 'string' && given !== '' ? (parseInstant(given.trim(), zone.id) ?? given) : given;
  return parseGranularity({ type: 'period', period, timeZone: zone.id, origin: origin === '' ? null : origin }, name);
}

/** A function of an instant, given the buckets that the other arguments say. */
function bucketFunction(name: string, at: (buckets: Buckets, instant: number) => number): ExpressionFunction {
  return timeFunction(
    name,
    [2, 4],
    'LONG',
    (constants) => {
      const buckets = bucketsOf(granularityOfArguments(constants, name));
      return (value) => {
        const instant = toInstant(value);
        return instant === null ? null : ofInstant(at(buckets, instant));
      };
    },
    [1, 2, 3],
  );
}

const floor = bucketFunction('timestamp_floor', (buckets, instant) => buckets.floor(instant));
const ceil = bucketFunction('timestamp_ceil', (buckets, instant) => {
  const start = buckets.floor(instant);
  return start === instant ? instant : buckets.next(instant);
});

/** Takes (instant, period, steps[, time zone]); null steps are no constant or null. */
export function shiftOfArguments(constants: readonly (Constant | undefined)[]): {
  readonly period: Period;
  readonly steps: number | null;
  readonly zone: Zone;
} {
  const text = optionalText(constants, 1, 'timestamp_shift: the period');
  const period = text === undefined ? undefined : parsePeriod(text);
  if (period === undefined)
    throw new ServiceError('query_invalid', `timestamp_shift: expected an ISO 8601 period, found '${text ?? 'null'}'`);
  return { period, steps: toInstant(constants[2]?.value ?? null), zone: zoneOf(constants, 3, 'timestamp_shift') };
}

const shift = timeFunction(
  'timestamp_shift',
  [3, 4],
  'LONG',
  (constants) => {
    const { period, zone } = shiftOfArguments(constants);
    return (value, values) => {
      const instant = toInstant(value);
      const steps = toLong(values[2] ?? null);
      return instant === null || steps === null ? null : ofInstant(addPeriod(instant, period, Number(steps), zone));
    };
  },
  [1, 3],
);

/** (end, start[, time zone]): whole months between them. */
const subtractMonths = timeFunction('subtract_months', [2, 3], 'LONG', (constants) => {
  const zone = zoneOf(constants, 2, 'subtract_months');
  return (value, values) => {
    const [end, start] = [toInstant(value), toInstant(values[1] ?? null)];
    return end === null || start === null ? null : BigInt(monthsBetween(start, end, zone));
  };
});

/** Centuries and millennia are counted from 1, as SQL does. */
const UNITS: Readonly<Record<string, (clock: Clock, instantMs: number) => number>> = {
  EPOCH: (_, instantMs) => Math.trunc(instantMs / 1000),
  MICROSECOND: ({ millisecond }) => millisecond * 1000,
  MILLISECOND: ({ millisecond }) => millisecond,
  SECOND: ({ second }) => second,
  MINUTE: ({ minute }) => minute,
  HOUR: ({ hour }) => hour,
  DAY: ({ day }) => day,
  DOW: ({ weekday }) => weekday,
  ISODOW: ({ weekday }) => weekday,
  DOY: ({ dayOfYear }) => dayOfYear,
  WEEK: ({ week }) => week,
  MONTH: ({ month }) => month,
  QUARTER: ({ month }) => Math.ceil(month / 3),
  YEAR: ({ year }) => year,
  ISOYEAR: ({ weekYear }) => weekYear,
  DECADE: ({ year }) => Math.trunc(year / 10),
  CENTURY: ({ year }) => Math.ceil(year / 100),
  MILLENNIUM: ({ year }) => Math.ceil(year / 1000),
};

/** Takes (instant, unit[, time zone]). */
export function unitOfArguments(constants: readonly (Constant | undefined)[]): {
  readonly unit: string;
  readonly read: (clock: Clock, instantMs: number) => number;
  readonly zone: Zone;
} {
  const unit = optionalText(constants, 1, 'timestamp_extract: the unit')?.toUpperCase() ?? 'null';
  const read = Object.hasOwn(UNITS, unit) ? own(UNITS, unit) : undefined;
  if (read === undefined)
    throw new ServiceError('query_invalid', `timestamp_extract: unknown unit '${unit}'; accepted: ${Object.keys(UNITS).join(', ')}`);
  return { unit, read, zone: zoneOf(constants, 2, 'timestamp_extract') };
}

const extract = timeFunction(
  'timestamp_extract',
  [2, 3],
  'LONG',
  (constants) => {
    const { read, zone } = unitOfArguments(constants);
    return (value) => {
      // A string is read as ISO 8601 here, not as a number.
      const instant = typeof value === 'string' ? (parseInstant(value, zone.id) ?? null) : toInstant(value);
      return instant === null ? null : BigInt(read(readClock(instant + zone.offsetAt(instant)), instant));
    };
  },
  [2],
);

/** (text[, pattern[, time zone]]): ISO 8601 without a pattern; null for what does not fit. */
const parse = timeFunction('timestamp_parse', [1, 3], 'LONG', (constants) => {
  const pattern = optionalText(constants, 1, 'timestamp_parse: the pattern');
  const zone = zoneOf(constants, 2, 'timestamp_parse');
  const read =
    pattern === undefined
      ? (text: string) => parseInstant(text, zone.id)
      : parseWithPattern(pattern, { timeZone: zone.id, code: 'query_invalid' });
  return (value) => {
    const instant = read(toText(value) ?? '');
    return instant === undefined ? null : BigInt(instant);
  };
});

/** (value[, pattern]): as timestamp_parse in UTC; a number is an instant already. */
function timestampOf(name: string, unitMs: bigint): ExpressionFunction {
  return timeFunction(name, [1, 2], 'LONG', (constants) => {
    const apply = parse.bind(constants);
    return (value, values) => {
      const instant = typeof value === 'string' ? apply(values) : toLong(value);
      return typeof instant === 'bigint' ? instant / unitMs : null;
    };
  });
}

/** Takes (instant[, pattern[, time zone]]): ISO 8601 without a pattern. */
export function patternOfArguments(constants: readonly (Constant | undefined)[]): {
  readonly pattern: string | undefined;
  readonly zone: Zone;
} {
  return { pattern: optionalText(constants, 1, 'timestamp_format: the pattern'), zone: zoneOf(constants, 2, 'timestamp_format') };
}

const format = timeFunction('timestamp_format', [1, 3], 'STRING', (constants) => {
  const { pattern, zone } = patternOfArguments(constants);
  const print =
    pattern === undefined
      ? (ms: number) => formatInstantIn(ms, zone)
      : formatWithPattern(pattern, { timeZone: zone.id, code: 'query_invalid' });
  return (value) => {
    const instant = toInstant(value);
    return instant === null ? null : print(instant);
  };
});

export const TIME_FUNCTIONS: readonly ExpressionFunction[] = [
  floor,
  ceil,
  shift,
  subtractMonths,
  extract,
  parse,
  format,
  timestampOf('timestamp', 1n),
  timestampOf('unix_timestamp', 1000n),
];

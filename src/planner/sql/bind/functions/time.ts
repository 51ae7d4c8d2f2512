// SQL time functions.

import { DAY_MS, findZone } from '../../../../base/calendar.js';
import { parseInterval } from '../../../../base/interval.js';
import { own } from '../../../../base/names.js';
import { placed } from '../../../places/recording.js';
import { and, type Bound, call, integer, literal, NULL, retype, text } from '../../relation/bound.js';
import { castTo } from '../cast.js';
import type { FunctionCall, SqlFunction } from '../function-call.js';
import { intervalValue } from '../interval-literal.js';
import type { Session } from '../session.js';
import { addInterval } from '../time-arithmetic.js';

const UNIT_PERIODS: Readonly<Record<string, string>> = {
  SECOND: 'PT1S',
  MINUTE: 'PT1M',
  HOUR: 'PT1H',
  DAY: 'P1D',
  WEEK: 'P1W',
  MONTH: 'P1M',
  QUARTER: 'P3M',
  YEAR: 'P1Y',
};
const TRUNCATION_PERIODS: Readonly<Record<string, string>> = { ...UNIT_PERIODS, DECADE: 'P10Y', CENTURY: 'P100Y', MILLENNIUM: 'P1000Y' };
const EXTRACT_UNITS =
  'EPOCH MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY DOW ISODOW DOY WEEK MONTH QUARTER YEAR ISOYEAR DECADE CENTURY MILLENNIUM'.split(
    ' ',
  );

/** Pattern of TIME_FORMAT when none is given: ISO 8601 with the offset in digits, in UTC too. */
const DEFAULT_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSZZ";

/** The period one unit is: what FLOOR(x TO unit) rounds to. */
export function unitPeriod(unit: string): string | undefined {
  return Object.hasOwn(UNIT_PERIODS, unit) ? own(UNIT_PERIODS, unit) : undefined;
}

/** FLOOR(instant TO unit) and CEIL(instant TO unit), in the session's time zone. */
export function roundedInstant(bound: FunctionCall, direction: 'floor' | 'ceil'): Bound {
  const period = unitPeriod(bound.unit ?? '');
  if (period === undefined)
    throw bound.error(bound.at, `${bound.name}: unknown unit ${bound.unit}; accepted: ${Object.keys(UNIT_PERIODS).join(', ')}`);
  const instant = bound.instant(0);
  const type = instant.type === 'DATE' ? 'DATE' : 'TIMESTAMP';
  return call(type, `timestamp_${direction}`, instant, text(period), NULL, text(bound.session.timeZone));
}

/** TIME_FLOOR(instant, period[, origin[, zone]]) and TIME_CEIL. */
function rounding(name: string, native: string): SqlFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 4,
    bind(bound) {
      const period = bound.constantText(1, undefined);
      if (period === undefined) throw bound.mismatch(1, 'an ISO 8601 period');
      const origin = bound.count > 2 && bound.any(2).type !== 'NULL' ? bound.instant(2) : NULL;
      return call('TIMESTAMP', native, bound.instant(0), text(period), origin, zone(bound, 3));
    },
  };
}

function zone(bound: FunctionCall, index: number): Bound {
  const id = bound.constantText(index, bound.session.timeZone);
  if (findZone(id) === undefined) throw bound.mismatch(index, 'the name of a time zone');
  return text(id);
}

function extract(bound: FunctionCall, unit: string, zoneIndex: number): Bound {
  if (!EXTRACT_UNITS.includes(unit))
    throw bound.error(bound.at, `${bound.name}: unknown unit ${unit}; accepted: ${EXTRACT_UNITS.join(', ')}`);
  return call('BIGINT', 'timestamp_extract', bound.instant(0), text(unit), zone(bound, zoneIndex));
}

function truncation(bound: FunctionCall): Bound {
  const unit = bound
    .constantText(0, '')
    .toUpperCase()
    .replace(/S$/, '')
    .replace(/^CENTURIE$/, 'CENTURY')
    .replace(/^MILLENNIA$/, 'MILLENNIUM');
  const period = Object.hasOwn(TRUNCATION_PERIODS, unit) ? own(TRUNCATION_PERIODS, unit) : undefined;
  if (period === undefined) throw bound.mismatch(0, `one of ${Object.keys(TRUNCATION_PERIODS).join(', ')}`);
  return call('TIMESTAMP', 'timestamp_floor', bound.instant(1), text(period), NULL, text(bound.session.timeZone));
}

/** TIMESTAMPADD(unit, count, instant). */
function timestampAdd(bound: FunctionCall): Bound {
  const one = intervalValue('1', bound.unit ?? '', null);
  if (one === undefined)
    throw bound.error(bound.at, `TIMESTAMPADD: unknown unit ${bound.unit ?? ''}; accepted: ${Object.keys(UNIT_PERIODS).join(', ')}`);
  const count = bound.integer(0);
  const given = bound.instant(1);
  // Hours after a DATE are no DATE.
  const instant = one.months > 0 || one.milliseconds >= DAY_MS ? given : retype(given, 'TIMESTAMP');
  const type = instant.type === 'DATE' ? 'DATE' : 'TIMESTAMP';
  if (count.kind === 'literal' && typeof count.value === 'bigint') {
    const steps = Number(count.value);
    return addInterval(bound.session, instant, { months: one.months * steps, milliseconds: one.milliseconds * steps });
  }
  if (one.months > 0) return call(type, 'timestamp_shift', instant, text(`P${one.months}M`), count, text(bound.session.timeZone));
  return call(type, '+', instant, call('BIGINT', '*', count, integer(one.milliseconds)));
}

/** TIMESTAMPDIFF(unit, start, end): whole units, of months by the calendar of the session's time zone. */
function timestampDiff(bound: FunctionCall): Bound {
  const one = intervalValue('1', bound.unit ?? '', null);
  if (one === undefined)
    throw bound.error(bound.at, `TIMESTAMPDIFF: unknown unit ${bound.unit ?? ''}; accepted: ${Object.keys(UNIT_PERIODS).join(', ')}`);
  if (one.months > 0) {
    const months = call('INTEGER', 'subtract_months', bound.instant(1), bound.instant(0), text(bound.session.timeZone));
    return one.months === 1 ? months : call('INTEGER', 'div', months, integer(one.months));
  }
  // Seconds and minutes may be more than an INTEGER holds.
  const type = one.milliseconds < 3_600_000 ? 'BIGINT' : 'INTEGER';
  return call(type, 'div', call('BIGINT', '-', bound.instant(1), bound.instant(0)), integer(one.milliseconds));
}

function inInterval(bound: FunctionCall): Bound {
  const interval = parseInterval(bound.constantText(1, ''), bound.session.timeZone);
  if (interval === undefined) throw bound.mismatch(1, 'a literal interval such as 2015-09-12/2015-09-13');
  const instant = bound.instant(0);
  const bounds = { start: literal('TIMESTAMP', BigInt(interval.start)), end: literal('TIMESTAMP', BigInt(interval.end)) };
  return and([
    { kind: 'compare', type: 'BOOLEAN', operator: '>=', domain: 'TIMESTAMP', left: instant, right: bounds.start },
    { kind: 'compare', type: 'BOOLEAN', operator: '<', domain: 'TIMESTAMP', left: instant, right: bounds.end },
  ]);
}

export const TIME_FUNCTIONS: readonly SqlFunction[] = [
  rounding('TIME_FLOOR', 'timestamp_floor'),
  rounding('TIME_CEIL', 'timestamp_ceil'),
  { name: 'DATE_TRUNC', minArguments: 2, maxArguments: 2, bind: truncation },
  { name: 'EXTRACT', minArguments: 1, maxArguments: 1, bind: (bound) => extract(bound, bound.unit ?? '', 1) },
  {
    name: 'TIME_EXTRACT',
    minArguments: 2,
    maxArguments: 3,
    bind: (bound) => extract(bound, bound.constantText(1, 'null').toUpperCase(), 2),
  },
  {
    name: 'TIME_PARSE',
    minArguments: 1,
    maxArguments: 3,
    bind: (bound) => call('TIMESTAMP', 'timestamp_parse', bound.text(0), bound.count > 1 ? bound.any(1) : NULL, zone(bound, 2)),
  },
  {
    name: 'TIME_FORMAT',
    minArguments: 1,
    maxArguments: 3,
    bind: (bound) => call('VARCHAR', 'timestamp_format', bound.instant(0), text(bound.constantText(1, DEFAULT_FORMAT)), zone(bound, 2)),
  },
  {
    name: 'TIME_SHIFT',
    minArguments: 3,
    maxArguments: 4,
    bind: (bound) => call('TIMESTAMP', 'timestamp_shift', bound.instant(0), bound.text(1), bound.integer(2), zone(bound, 3)),
  },
  { name: 'TIME_IN_INTERVAL', minArguments: 2, maxArguments: 2, bind: inInterval },
  { name: 'TIMESTAMPADD', minArguments: 2, maxArguments: 2, bind: timestampAdd },
  { name: 'TIMESTAMPDIFF', minArguments: 2, maxArguments: 2, bind: timestampDiff },
  { name: 'TIMESTAMP_TO_MILLIS', minArguments: 1, maxArguments: 1, bind: (bound) => retype(bound.instant(0), 'BIGINT') },
  { name: 'MILLIS_TO_TIMESTAMP', minArguments: 1, maxArguments: 1, bind: (bound) => retype(bound.integer(0), 'TIMESTAMP') },
  { name: 'CURRENT_TIMESTAMP', minArguments: 0, maxArguments: 0, bind: ({ session }) => currentInstant(session) },
  {
    name: 'CURRENT_DATE',
    minArguments: 0,
    maxArguments: 0,
    bind: ({ session }) => castTo(currentInstant(session), 'DATE', session.timeZone) ?? NULL,
  },
];

function currentInstant({ clock }: Session): Bound {
  return placed(
    clock,
    ({ now }) => BigInt(now),
    (value) => literal('TIMESTAMP', value),
  );
}

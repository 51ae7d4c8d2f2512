// Instants as ISO 8601 text, and ISO 8601 periods.

import { civilFromDays, DAY_MS, daysFromCivil, daysInMonth, findZone, instantAt, UTC, type Zone } from './calendar.js';
import type { EpochMs } from './instant.js';

/** The bounds of eternity: a quarter of the 64-bit range, beyond what doubles count exactly, so they print as constants. */
const MIN_INSTANT = -4611686018427387904;
const MAX_INSTANT = 4611686018427387904;
const MIN_INSTANT_TEXT = '-146136543-09-08T08:23:32.096Z';
const MAX_INSTANT_TEXT = '146140482-04-24T15:36:27.903Z';

const OFFSET = /^(?:z|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * An ISO 8601 instant, whole or cut short anywhere (`2015`, `2015-09-12`, `2015-09-12T00Z`, `2015-W37-6`, `2015-255`); a
 * space may stand for the T, the last of hour, minute and second may have a fraction, and an offset stands behind the T only.
 * @param timeZone  holds when the text names no offset
 * @param skipped  a time that the clock of the zone skips is none, or lies as far behind the gap as into it
 * @returns undefined when it is no such text or no such day, hour or zone; digits beyond milliseconds are cut off
 */
export function parseInstant(text: string, timeZone = 'UTC', skipped: 'none' | 'later' = 'none'): EpochMs | undefined {
  const scan = new Scanner(text);
  const date = scanDate(scan);
  const hasTime = scan.accept('T') || scan.accept(' ');
  const timeOfDay = hasTime ? scanTimeOfDay(scan) : 0;
  const offset = scan.rest();
  if (!hasTime && offset !== '') return undefined;
  const zone = offset === 'Z' ? UTC : offset === '' ? findZone(timeZone) : OFFSET.test(offset) ? findZone(offset) : undefined;
  if (scan.failed || zone === undefined || date === undefined || timeOfDay === undefined) return undefined;
  return toInstant(date, timeOfDay, zone, skipped);
}

interface CivilDate {
  readonly year: number;
  /** Since 1970-01-01. */
  readonly days: number;
}

function scanDate(scan: Scanner): CivilDate | undefined {
  const isNegative = scan.accept('-');
  if (!isNegative) scan.accept('+');
  const size = scan.digits(1, 9);
  const year = isNegative ? -size : size;
  if (!scan.accept('-')) return { year, days: daysFromCivil(year, 1, 1) };
  if (scan.accept('W')) {
    const week = scan.digits(2, 2);
    const weekday = scan.accept('-') ? scan.digits(1, 1) : 1;
    // The week with the fourth of January is the first one; a year has the week of its 28th of December as its last.
    const [first, last] = [mondayOf(daysFromCivil(year, 1, 4)), mondayOf(daysFromCivil(year, 12, 28))];
    const monday = first + (week - 1) * 7;
    return week < 1 || monday > last || weekday < 1 || weekday > 7 ? undefined : { year, days: monday + weekday - 1 };
  }
  if (scan.digitCount() === 3) {
    const dayOfYear = scan.digits(3, 3);
    const days = daysFromCivil(year, 1, 1) + dayOfYear - 1;
    return dayOfYear < 1 || days > daysFromCivil(year, 12, 31) ? undefined : { year, days };
  }
  const month = scan.digits(1, 2);
  const day = scan.accept('-') ? scan.digits(1, 2) : 1;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return { year, days: daysFromCivil(year, month, day) };
}

/** 1970-01-01 was a Thursday. */
function mondayOf(days: number): number {
  return days - ((((days + 3) % 7) + 7) % 7);
}

function scanTimeOfDay(scan: Scanner): number | undefined {
  if (!scan.isDigit()) return 0;
  const hour = scan.digits(1, 2);
  let [minute, second, unit] = [0, 0, 3_600_000];
  if (scan.accept(':')) {
    minute = scan.digits(2, 2);
    unit = 60_000;
    if (scan.accept(':')) {
      second = scan.digits(2, 2);
      unit = 1000;
    }
  }
  const rest = scan.accept('.') || scan.accept(',') ? scan.fraction(unit) : 0;
  return hour > 23 || minute > 59 || second > 59 ? undefined : ((hour * 60 + minute) * 60 + second) * 1000 + rest;
}

function toInstant({ year, days }: CivilDate, timeOfDay: number, zone: Zone, skipped: 'none' | 'later'): EpochMs | undefined {
  if (Math.abs(year) > 280_000) {
    // Beyond 2^53 milliseconds a sum of doubles would round twice.
    const instant = Number(BigInt(days) * BigInt(DAY_MS) + BigInt(timeOfDay) - BigInt(zone.fixedOffsetMs ?? 0));
    return instant < MIN_INSTANT || instant > MAX_INSTANT ? undefined : instant;
  }
  const localMs = days * DAY_MS + timeOfDay;
  return skipped === 'later' ? zone.fromLocal(localMs) : instantAt(zone, localMs);
}

/** Reads a text from left to right; once something is not there as it must be, it has failed for good. */
class Scanner {
  failed = false;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  accept(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  isDigit(): boolean {
    return isDigitAt(this.#text, this.#at);
  }

  /** Digits that come next. */
  digitCount(): number {
    let end = this.#at;
    while (isDigitAt(this.#text, end)) end++;
    return end - this.#at;
  }

  digits(least: number, most: number): number {
    const start = this.#at;
    let value = 0;
    while (this.#at - start < most && this.isDigit()) value = value * 10 + this.#text.charCodeAt(this.#at++) - 48;
    if (this.#at - start < least) this.failed = true;
    return value;
  }

  /** The milliseconds of one to nine digits after the point, as a share of a unit of so many. */
  fraction(unit: number): number {
    const start = this.#at;
    const value = this.digits(1, 9);
    return Math.floor((value * unit) / 10 ** (this.#at - start));
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }
}

function isDigitAt(text: string, at: number): boolean {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9;
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

/** The day formatted last: result rows come in runs of one day. */
let lastDay = Number.NaN;
let lastDayText = '';

/** `2015-09-12T00:00:00.000Z`; an instant outside eternity prints as its bound. */
export function formatInstant(ms: EpochMs): string {
  if (ms <= MIN_INSTANT) return MIN_INSTANT_TEXT;
  if (ms >= MAX_INSTANT) return MAX_INSTANT_TEXT;
  const days = Math.floor(ms / DAY_MS);
  if (days !== lastDay) {
    lastDayText = formatDate(days);
    lastDay = days;
  }
  return `${lastDayText}T${formatTimeOfDay(ms - days * DAY_MS)}Z`;
}

/** An instant in a zone's wall clock time with its offset: `2015-09-12T02:00:00.000+02:00`. */
export function formatInstantIn(ms: EpochMs, zone: Zone): string {
  if (zone === UTC || ms <= MIN_INSTANT || ms >= MAX_INSTANT) return formatInstant(ms);
  const offset = zone.offsetAt(ms);
  const days = Math.floor((ms + offset) / DAY_MS);
  return `${formatDate(days)}T${formatTimeOfDay(ms + offset - days * DAY_MS)}${offset === 0 ? 'Z' : formatOffset(offset, ':')}`;
}

/** `+05:30`, or with another separator; with seconds where there are any, as of local mean times. */
export function formatOffset(offsetMs: number, separator: string): string {
  const seconds = Math.floor(Math.abs(offsetMs) / 1000);
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60 === 0 ? '' : `${separator}${TWO_DIGITS[seconds % 60]}`;
  return `${offsetMs < 0 ? '-' : '+'}${TWO_DIGITS[Math.floor(minutes / 60)]}${separator}${TWO_DIGITS[minutes % 60]}${rest}`;
}

function formatDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const digits = year >= 0 ? String(year).padStart(4, '0') : `-${String(-year).padStart(4, '0')}`;
  return `${digits}-${TWO_DIGITS[month]}-${TWO_DIGITS[day]}`;
}

function formatTimeOfDay(ms: number): string {
  const second = Math.floor(ms / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  return `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute - hour * 60]}:${TWO_DIGITS[second - minute * 60]}.${THREE_DIGITS[ms - second * 1000]}`;
}

/** An ISO 8601 period in the three units that do not convert into each other. All parts may be negative. */
export interface Period {
  readonly months: number;
  readonly days: number;
  readonly milliseconds: number;
}

const PERIOD =
  /^([+-])?P(?:([+-]?\d{1,9})Y)?(?:([+-]?\d{1,9})M)?(?:([+-]?\d{1,9})W)?(?:([+-]?\d{1,9})D)?(?:T(?:([+-]?\d{1,9})H)?(?:([+-]?\d{1,9})M)?(?:([+-]?\d{1,9})(?:[.,](\d{1,9}))?S)?)?$/i;

/** `P1D`, `PT15M`, `P1Y2M3W4DT5H6M7.8S`; undefined when it is not a period or names no unit. */
export function parsePeriod(text: string): Period | undefined {
  const parts = PERIOD.exec(text);
  if (parts === null || !/\d/.test(text) || /T$/i.test(text)) return undefined;
  const [, sign, years = '0', months = '0', weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = parts;
  const direction = sign === '-' ? -1 : 1;
  const fractionMs = Number(fraction.slice(0, 3).padEnd(3, '0')) * (seconds.startsWith('-') ? -1 : 1);
  // Adding 0 turns a negative zero into zero.
  return {
    months: direction * (Number(years) * 12 + Number(months)) + 0,
    days: direction * (Number(weeks) * 7 + Number(days)) + 0,
    milliseconds: direction * (((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + fractionMs) + 0,
  };
}

/**
 * `count` periods after an instant: months and days on the zone's wall clock (a day the month lacks becomes its last, of a time
 * that occurs twice it is the one with the same offset), hours and below as elapsed time.
 */
export function addPeriod(ms: EpochMs, period: Period, count = 1, zone: Zone = UTC): EpochMs {
  const milliseconds = period.milliseconds * count;
  if (period.months === 0 && (period.days === 0 || zone.fixedOffsetMs !== null)) return ms + period.days * count * DAY_MS + milliseconds;
  const offset = zone.offsetAt(ms);
  const local = ms + offset;
  const localDay = Math.floor(local / DAY_MS);
  const timeOfDay = local - localDay * DAY_MS;
  const day = addMonths(localDay, period.months * count) + period.days * count;
  return zone.fromLocal(day * DAY_MS + timeOfDay, offset) + milliseconds;
}

/**
 * Whole months from one instant to another, by the calendar and clock of a zone: the most that `addPeriod` can add to the
 * earlier one without passing the later one. Below 0 when `end` is before `start`.
 */
export function monthsBetween(start: EpochMs, end: EpochMs, zone: Zone = UTC): number {
  if (end < start) return 0 - monthsBetween(end, start, zone);
  const civil = (ms: EpochMs): { readonly year: number; readonly month: number } =>
    civilFromDays(Math.floor((ms + zone.offsetAt(ms)) / DAY_MS));
  const [from, to] = [civil(start), civil(end)];
  const months = (to.year - from.year) * 12 + to.month - from.month;
  return addPeriod(start, { months, days: 0, milliseconds: 0 }, 1, zone) > end ? months - 1 : months;
}

function addMonths(days: number, months: number): number {
  if (months === 0) return days;
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + month - 1 + months;
  const newYear = Math.floor(total / 12);
  const newMonth = total - newYear * 12 + 1;
  return daysFromCivil(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

// Reads and prints timestamps by Joda patterns.

import { civilFromDays, DAY_MS, dayOfWeek, daysFromCivil, daysInMonth, findZone, instantAt, UTC, type Zone } from './calendar.js';
import { type ErrorCode, ServiceError } from './errors.js';
import type { EpochMs } from './instant.js';
import { formatOffset } from './time.js';

/**
 * Time patterns in Joda letters (`yyyy-MM-dd'T'HH:mm:ss.SSSZ`), compiled once. Letters: y Y year, M month (three or
 * more: its English name), d day, D day of year, x week-based year, w week, e day of week, E its name, a half of day,
 * H k K h hour (0-23, 1-24, 0-11, 1-12), m minute, s second, S fraction, Z ZZ offset, ZZZ z zone, 'text', '' quote.
 */
export interface PatternOptions {
  /** Holds when the text names no offset; what is printed is on its clock. */
  readonly timeZone: string;
  /** Code of the ServiceError for an unknown pattern or zone. */
  readonly code: ErrorCode;
}

const DEFAULTS: PatternOptions = { timeZone: 'UTC', code: 'input_invalid' };

/** The function gives undefined for a text that does not fit the pattern to its end, or names no such day or hour. */
export function parseWithPattern(pattern: string, options: Partial<PatternOptions> = {}): (text: string) => EpochMs | undefined {
  const { timeZone, code } = { ...DEFAULTS, ...options };
  const parts = compilePattern(pattern, code);
  const zone = getZone(timeZone, code);
  return (text) => {
    const fields: Fields = {};
    let at = 0;
    for (const part of parts) {
      at = part.kind === 'text' ? (text.startsWith(part.text, at) ? at + part.text.length : -1) : readField(part, text, at, fields);
      if (at < 0) return undefined;
    }
    return at === text.length ? resolve(fields, zone) : undefined;
  };
}

export function formatWithPattern(pattern: string, options: Partial<PatternOptions> = {}): (ms: EpochMs) => string {
  const { timeZone, code } = { ...DEFAULTS, ...options };
  const zone = getZone(timeZone, code);
  const parts = compilePattern(pattern, code);
  const clockParts = parts.map((part) => (part.kind === 'field' ? clockPrinter(part, zone) : undefined));
  // Instants come in runs of one day: what the day alone says is printed once for each.
  let day = Number.NaN;
  let dayTexts: readonly string[] = [];
  return (ms) => {
    const offset = zone.offsetAt(ms);
    const local = ms + offset;
    const today = Math.floor(local / DAY_MS);
    if (today !== day) {
      const clock = readClock(today * DAY_MS);
      dayTexts = parts.map((part) => (part.kind === 'text' ? part.text : printField(part, clock)));
      day = today;
    }
    const timeOfDay = local - today * DAY_MS;
    let text = '';
    for (let index = 0; index < dayTexts.length; index++) text += clockParts[index]?.(timeOfDay, offset) ?? dayTexts[index] ?? '';
    return text;
  };
}

/** Length of the finest unit of the clock that a pattern prints: a millisecond, second, minute, hour or day. */
export function finestUnitMs(pattern: string, { code }: Pick<PatternOptions, 'code'>): number {
  const letters = compilePattern(pattern, code).flatMap((part) => (part.kind === 'field' ? [part.letter] : []));
  const has = (some: string): boolean => letters.some((letter) => some.includes(letter));
  return has('S') ? 1 : has('s') ? 1000 : has('m') ? 60_000 : has('aHkKh') ? 3_600_000 : DAY_MS;
}

function getZone(timeZone: string, code: ErrorCode): Zone {
  const zone = findZone(timeZone);
  if (zone === undefined)
    throw new ServiceError(
      code,
      `unknown time zone "${timeZone}"; accepted: IANA names such as Europe/Berlin, UTC, and offsets such as +05:30`,
    );
  return zone;
}

type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `digits`: the most that are read, bounded when another number follows without a separator. */
  | { readonly kind: 'field'; readonly letter: string; readonly count: number; readonly digits: number };

const LETTERS = 'yYMdDxweEaHkKhmsSZzG';
const NUMBER_LETTERS = 'yYMdDxweHkKhmsS';

/** @throws ServiceError for unknown letters */
export function compilePattern(pattern: string, code: ErrorCode): readonly Part[] {
  const parts: Part[] = [];
  for (const [run] of pattern.matchAll(/''|'(?:[^']|'')*'|'.*|([A-Za-z])\1*|[^A-Za-z']+/gs)) {
    const letter = run.charAt(0);
    if (run === "''") parts.push({ kind: 'text', text: "'" });
    else if (letter === "'") {
      // A quote that is not closed reaches to the end, as in Joda-Time: clients send "'Z".
      const isClosed = run.length > 1 && run.endsWith("'");
      parts.push({ kind: 'text', text: run.slice(1, isClosed ? -1 : undefined).replaceAll("''", "'") });
    } else if (!/[A-Za-z]/.test(letter)) parts.push({ kind: 'text', text: run });
    else if (!LETTERS.includes(letter))
      throw new ServiceError(
        code,
        `time pattern "${pattern}": unknown letter "${letter}"; accepted: ${[...LETTERS].join(' ')}, and text in single quotes`,
      );
    else parts.push({ kind: 'field', letter, count: run.length, digits: letter === 'S' ? run.length : 9 });
  }
  return parts.map((part, index) => {
    const next = parts[index + 1];
    const abuts = part.kind === 'field' && isNumber(part) && next !== undefined && next.kind === 'field' && isNumber(next);
    return abuts ? { ...part, digits: part.count } : part;
  });
}

function isNumber({ letter, count }: { readonly letter: string; readonly count: number }): boolean {
  return NUMBER_LETTERS.includes(letter) && !(letter === 'M' && count > 2);
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

// ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Fields {
  year?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  weekYear?: number;
  week?: number;
  weekday?: number;
  hour?: number;
  halfDayHour?: number;
  isAfternoon?: boolean;
  minute?: number;
  second?: number;
  millisecond?: number;
  isBeforeChrist?: boolean;
  zone?: Zone;
}

/** The position after the field, or -1. */
function readField(part: Extract<Part, { kind: 'field' }>, text: string, at: number, fields: Fields): number {
  switch (part.letter) {
    case 'M':
      if (part.count > 2) return readName(MONTHS, text, at, (index) => (fields.month = index + 1));
      break;
    case 'E':
      return readName(WEEKDAYS, text, at, (index) => (fields.weekday = index + 1));
    case 'a':
      return readName(['AM', 'PM'], text, at, (index) => (fields.isAfternoon = index === 1));
    case 'G':
      return readName(['BC', 'AD'], text, at, (index) => (fields.isBeforeChrist = index === 0));
    case 'Z':
    case 'z': {
      const name = /^(?:[+-]\d{2}(?::?\d{2})?|[A-Za-z][A-Za-z0-9_+\-/]*)/.exec(text.slice(at))?.[0];
      const zone = name === undefined ? undefined : findZone(name);
      if (name === undefined || zone === undefined) return -1;
      fields.zone = zone;
      return at + name.length;
    }
  }
  const negative = 'yYx'.includes(part.letter) && text.charAt(at) === '-';
  const start = negative || ('yYx'.includes(part.letter) && text.charAt(at) === '+') ? at + 1 : at;
  let end = start;
  let value = 0;
  for (; end < start + part.digits; end++) {
    const digit = text.charCodeAt(end) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  if (end === start) return -1;
  setNumber(part, negative ? -value : value, end - start, fields);
  return end;
}

function readName(names: readonly string[], text: string, at: number, found: (index: number) => void): number {
  const here = text.slice(at, at + 9).toLowerCase();
  for (const [index, name] of names.entries()) {
    const lower = name.toLowerCase();
    const length = here.startsWith(lower) ? lower.length : here.startsWith(lower.slice(0, 3)) ? Math.min(3, lower.length) : 0;
    if (length === 0) continue;
    found(index);
    return at + length;
  }
  return -1;
}

function setNumber(
  { letter, count }: { readonly letter: string; readonly count: number },
  value: number,
  digits: number,
  fields: Fields,
): void {
  switch (letter) {
    case 'y':
    case 'Y':
      // Two digits mean the hundred years from 1970.
      fields.year = count === 2 && digits === 2 ? (value < 70 ? 2000 : 1900) + value : value;
      return;
    case 'M':
      fields.month = value;
      return;
    case 'd':
      fields.day = value;
      return;
    case 'D':
      fields.dayOfYear = value;
      return;
    case 'x':
      fields.weekYear = value;
      return;
    case 'w':
      fields.week = value;
      return;
    case 'e':
      fields.weekday = value;
      return;
    case 'H':
      fields.hour = value;
      return;
    case 'k':
      fields.hour = value === 24 ? 0 : value === 0 ? -1 : value;
      return;
    case 'K':
      fields.halfDayHour = value;
      return;
    case 'h':
      fields.halfDayHour = value === 12 ? 0 : value === 0 ? -1 : value;
      return;
    case 'm':
      fields.minute = value;
      return;
    case 's':
      fields.second = value;
      return;
    case 'S':
      fields.millisecond = Math.floor((value * 1000) / 10 ** digits);
      return;
  }
}

function resolve(fields: Fields, zone: Zone): EpochMs | undefined {
  const { minute = 0, second = 0, millisecond = 0, halfDayHour } = fields;
  const hour =
    fields.hour ??
    (halfDayHour === undefined ? 0 : halfDayHour < 0 || halfDayHour > 11 ? -1 : halfDayHour + (fields.isAfternoon === true ? 12 : 0));
  const day = resolveDay(fields);
  if (day === undefined || hour < 0 || hour > 23 || minute > 59 || second > 59) return undefined;
  return instantAt(fields.zone ?? zone, day * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond);
}

function resolveDay(fields: Fields): number | undefined {
  const { month = 1, day = 1, dayOfYear, week, weekday } = fields;
  if (week !== undefined) {
    const weekYear = fields.weekYear ?? fields.year ?? 1970;
    const first = firstWeekStart(weekYear);
    const result = first + (week - 1) * 7 + (weekday ?? 1) - 1;
    return week < 1 || result >= firstWeekStart(weekYear + 1) ? undefined : result;
  }
  const year = fields.isBeforeChrist === true ? 1 - (fields.year ?? 1970) : (fields.year ?? 1970);
  if (dayOfYear !== undefined && fields.month === undefined) {
    const result = daysFromCivil(year, 1, 1) + dayOfYear - 1;
    return dayOfYear < 1 || result >= daysFromCivil(year + 1, 1, 1) ? undefined : result;
  }
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  const result = daysFromCivil(year, month, day);
  return weekday !== undefined && dayOfWeek(result) !== weekday ? undefined : result;
}

/** Day number of the Monday of the ISO week that has the year's 4 January. */
function firstWeekStart(year: number): number {
  const fourth = daysFromCivil(year, 1, 4);
  return fourth - dayOfWeek(fourth) + 1;
}

// ── printing ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** A wall clock read once: what patterns print and what `timestamp_extract` asks for. */
export interface Clock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly dayOfYear: number;
  /** Monday 1 to Sunday 7. */
  readonly weekday: number;
  readonly weekYear: number;
  readonly week: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
}

/** @param localMs  the instant plus its zone's offset */
export function readClock(localMs: number): Clock {
  const days = Math.floor(localMs / DAY_MS);
  const timeOfDay = localMs - days * DAY_MS;
  const { year, month, day } = civilFromDays(days);
  const weekday = dayOfWeek(days);
  // The week belongs to the year its Thursday is in.
  const weekYear = civilFromDays(days - weekday + 4).year;
  return {
    year,
    month,
    day,
    dayOfYear: days - daysFromCivil(year, 1, 1) + 1,
    weekday,
    weekYear,
    week: Math.floor((days - firstWeekStart(weekYear)) / 7) + 1,
    hour: Math.floor(timeOfDay / 3_600_000),
    minute: Math.floor(timeOfDay / 60_000) % 60,
    second: Math.floor(timeOfDay / 1000) % 60,
    millisecond: timeOfDay % 1000,
  };
}

type Field = Extract<Part, { kind: 'field' }>;

/** Prints a field of the time of day, in milliseconds; undefined for a field of the date. */
function clockPrinter({ letter, count }: Field, zone: Zone): ((timeOfDay: number, offset: number) => string) | undefined {
  const hours = (of: (hour: number) => number) => (timeOfDay: number) => padded(of(Math.floor(timeOfDay / 3_600_000)), count);
  switch (letter) {
    case 'a':
      return (timeOfDay) => (timeOfDay < DAY_MS / 2 ? 'AM' : 'PM');
    case 'H':
      return hours((hour) => hour);
    case 'k':
      return hours((hour) => (hour === 0 ? 24 : hour));
    case 'K':
      return hours((hour) => hour % 12);
    case 'h':
      return hours((hour) => (hour % 12 === 0 ? 12 : hour % 12));
    case 'm':
      return (timeOfDay) => padded(Math.floor(timeOfDay / 60_000) % 60, count);
    case 's':
      return (timeOfDay) => padded(Math.floor(timeOfDay / 1000) % 60, count);
    case 'S':
      return (timeOfDay) =>
        padded(timeOfDay % 1000, 3)
          .padEnd(count, '0')
          .slice(0, count);
    case 'Z':
      // Seconds, which local mean times have, are printed without a pattern only.
      return (_, offset) => (count >= 3 ? zone.id : formatOffset(offset - (offset % 60_000), count === 1 ? '' : ':'));
    case 'z':
      return () => (zone === UTC ? 'UTC' : zone.id);
    default:
      return undefined;
  }
}

/** Prints a field of the date. */
function printField({ letter, count }: Field, clock: Clock): string {
  switch (letter) {
    case 'y':
      return printYear(clock.year, count);
    case 'Y':
      return printYear(clock.year > 0 ? clock.year : 1 - clock.year, count);
    case 'x':
      return printYear(clock.weekYear, count);
    case 'G':
      return clock.year > 0 ? 'AD' : 'BC';
    case 'M':
      return count > 2 ? printName(MONTHS[clock.month - 1], count) : padded(clock.month, count);
    case 'd':
      return padded(clock.day, count);
    case 'D':
      return padded(clock.dayOfYear, count);
    case 'w':
      return padded(clock.week, count);
    case 'e':
      return padded(clock.weekday, count);
    case 'E':
      return printName(WEEKDAYS[clock.weekday - 1], count);
    default:
      return '';
  }
}

function printYear(year: number, count: number): string {
  return count === 2 ? padded(Math.abs(year) % 100, 2) : year < 0 ? `-${padded(-year, count)}` : padded(year, count);
}

function printName(name: string | undefined, count: number): string {
  return count > 3 ? (name ?? '') : (name ?? '').slice(0, 3);
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));

function padded(value: number, digits: number): string {
  return digits === 2 && value >= 0 && value < 100 ? (TWO_DIGITS[value] ?? '') : String(value).padStart(digits, '0');
}

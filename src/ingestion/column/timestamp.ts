// Reads timestamps in the formats of `timestampSpec`.

import { Buffer } from 'node:buffer';
import { DAY_MS, daysFromCivil, daysInMonth } from '../../base/calendar.js';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { own } from '../../base/names.js';
import { parseInstant } from '../../base/time.js';
import { parseWithPattern } from '../../base/time-pattern.js';
import { parseDouble } from './number-text.js';

/** Reads the timestamp of a row; NaN when the value is none. Null and the empty string are the caller's. */
export interface TimestampParser {
  fromBytes(bytes: Uint8Array, start: number, end: number): EpochMs;
  fromValue(value: unknown): EpochMs;
}

type TextParser = (text: string) => EpochMs;

/** Milliseconds of one unit of the counting formats; `ruby` counts seconds with decimals. */
const UNIT_MS: Readonly<Record<string, number>> = { posix: 1000, millis: 1, micro: 1e-3, nano: 1e-6, ruby: 1000 };

/** Formats as a message lists them. */
const TIMESTAMP_FORMATS = 'iso, auto, posix, millis, micro, nano, ruby';

/**
 * @param format  a name of `TIMESTAMP_FORMATS`, or a pattern of letters (`yyyy/MM/dd HH:mm`)
 * @throws ServiceError `input_invalid` naming `path` when it is neither
 */
export function timestampParser(format: string, path: string): TimestampParser {
  const unitMs = Object.hasOwn(UNIT_MS, format) ? own(UNIT_MS, format) : undefined;
  if (unitMs !== undefined) return countingParser(unitMs);
  if (format === 'iso') return { fromBytes: isoBytes, fromValue: (value) => (typeof value === 'string' ? isoText(value) : Number.NaN) };
  if (format === 'auto')
    return { fromBytes: autoBytes, fromValue: (value) => (typeof value === 'string' ? autoText(value) : count(value, 1)) };
  if (!/[yYuxMdDHhkKmsSaEeZzX]/.test(format))
    throw new ServiceError(
      'input_invalid',
      `${path}: unknown format "${format}"; accepted: ${TIMESTAMP_FORMATS}, or a pattern such as yyyy-MM-dd HH:mm:ss`,
    );
  const parse = patternParser(format, path);
  return textParser((text) => parse(text) ?? Number.NaN);
}

function patternParser(format: string, path: string): ReturnType<typeof parseWithPattern> {
  try {
    return parseWithPattern(format);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError('input_invalid', `${path}: ${error.message}`, error);
  }
}

function textParser(parse: TextParser): TimestampParser {
  return {
    fromBytes: (bytes, start, end) => parse(textOf(bytes, start, end)),
    fromValue: (value) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? parse(String(value)) : Number.NaN,
  };
}

function countingParser(unitMs: number): TimestampParser {
  return {
    fromBytes: (bytes, start, end) => count(textOf(bytes, start, end), unitMs),
    fromValue: (value) => count(value, unitMs),
  };
}

/** Integers stay exact: nanoseconds do not fit a double. */
function count(value: unknown, unitMs: number): EpochMs {
  if (typeof value === 'number') return floorExact(value, unitMs);
  if (typeof value === 'bigint')
    return unitMs < 1 ? Number(floorDivide(value, BigInt(Math.round(1 / unitMs)))) : Number(value * BigInt(unitMs));
  if (typeof value !== 'string') return Number.NaN;
  const trimmed = value.trim();
  return /^[+-]?\d{16,19}$/.test(trimmed) ? count(BigInt(trimmed.replace('+', '')), unitMs) : floorExact(parseDouble(trimmed), unitMs);
}

function floorExact(value: number, unitMs: number): EpochMs {
  const ms = unitMs < 1 ? Math.floor(value / Math.round(1 / unitMs)) : Math.floor(value * unitMs);
  return Math.abs(ms) <= Number.MAX_SAFE_INTEGER ? ms : Number.NaN;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  return value >= 0n ? value / divisor : -((-value + divisor - 1n) / divisor);
}

function autoBytes(bytes: Uint8Array, start: number, end: number): EpochMs {
  const iso = plainIso(bytes, start, end);
  return Number.isNaN(iso) ? autoText(textOf(bytes, start, end)) : iso;
}

/** Digits alone are milliseconds, also when they could be a year. */
function autoText(text: string): EpochMs {
  const trimmed = text.trim().replace(/^"(.*)"$/, '$1');
  return /^-?\d+$/.test(trimmed) ? count(trimmed, 1) : isoText(trimmed);
}

function isoBytes(bytes: Uint8Array, start: number, end: number): EpochMs {
  const iso = plainIso(bytes, start, end);
  return Number.isNaN(iso) ? isoText(textOf(bytes, start, end)) : iso;
}

function isoText(text: string): EpochMs {
  return parseInstant(text.trim()) ?? Number.NaN;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/** Rows of a file come in runs of one day, so its number is kept. */
let lastDate = -1;
let lastDateMs = 0;

/** `2015-09-12T00:46:58[.771][Z]`, the form nearly every row has; NaN for every other, valid or not. */
function plainIso(bytes: Uint8Array, start: number, end: number): EpochMs {
  const finish = bytes[end - 1] === 90 ? end - 1 : end;
  const length = finish - start;
  if (length !== 19 && length !== 23) return Number.NaN;
  const separator = bytes[start + 10];
  if (
    bytes[start + 4] !== 45 ||
    bytes[start + 7] !== 45 ||
    (separator !== 84 && separator !== 32) ||
    bytes[start + 13] !== 58 ||
    bytes[start + 16] !== 58
  )
    return Number.NaN;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  const hour = twoDigits(bytes, start + 11);
  const minute = twoDigits(bytes, start + 14);
  const second = twoDigits(bytes, start + 17);
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  let millisecond = 0;
  if (length === 23) {
    if (bytes[start + 19] !== 46) return Number.NaN;
    const units = (bytes[start + 22] ?? 0) - 48;
    if (units < 0 || units > 9) return Number.NaN;
    millisecond = twoDigits(bytes, start + 20) * 10 + units;
  }
  const date = (year * 16 + month) * 32 + day;
  if (date !== lastDate) {
    if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return Number.NaN;
    lastDate = date;
    lastDateMs = daysFromCivil(year, month, day) * DAY_MS;
  }
  return lastDateMs + hour * 3_600_000 + minute * 60_000 + second * 1000 + millisecond;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - 48;
  const units = (bytes[at + 1] ?? 0) - 48;
  return tens < 0 || tens > 9 || units < 0 || units > 9 ? Number.NaN : tens * 10 + units;
}

/** The millisecond that an instant in nanoseconds lies in; before 1970 as well. */
export function millisOfNanos(nanos: bigint): EpochMs {
  return Number(nanos / 1_000_000n) - (nanos % 1_000_000n < 0n ? 1 : 0);
}

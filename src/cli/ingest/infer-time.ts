// Infers the timestamp column of a file and its format.

import { timestampParser } from '../../ingestion/column/timestamp.js';
import type { Sample } from './sample-rows.js';

export interface InferredTime {
  readonly column: string;
  /** A format of `timestampSpec`. */
  readonly format: string;
}

const PATTERNS = [
  'yyyy/MM/dd HH:mm:ss',
  'yyyy/MM/dd HH:mm',
  'yyyy/MM/dd',
  'yyyy-MM-dd HH:mm',
  'MM/dd/yyyy HH:mm:ss',
  'MM/dd/yyyy HH:mm',
  'MM/dd/yyyy',
  'M/d/yyyy H:mm',
  'M/d/yyyy',
  'dd.MM.yyyy HH:mm:ss',
  'dd.MM.yyyy HH:mm',
  'dd.MM.yyyy',
  'yyyyMMdd', //
];
const TIME_NAMES = ['__time', 'timestamp', 'time', 'datetime', 'date', 'ts', 'event_time', 'eventtime', 'created_at', 'createdat'];

/** A value in so many may be anything: one broken line does not hide the time column. */
const STRAY_SHARE = 10;

/** The column whose sampled values read as instants; names that speak of time come first. */
export function inferTime(columns: Sample['columns']): InferredTime | undefined {
  const rank = (column: string): number => {
    const known = TIME_NAMES.indexOf(column.toLowerCase());
    if (known >= 0) return known;
    return /time|date|_at$|day/i.test(column) ? TIME_NAMES.length : TIME_NAMES.length + 1;
  };
  const ranked = [...columns.keys()].sort((a, b) => rank(a) - rank(b));
  for (const column of ranked) {
    const format = inferTimeFormat(columns.get(column) ?? [], rank(column) <= TIME_NAMES.length);
    if (format !== undefined) return { column, format };
  }
  return undefined;
}

/** @param namedSo  the column's name speaks of time: only then do bare numbers count as instants */
export function inferTimeFormat(values: readonly (string | number)[], namedSo: boolean): string | undefined {
  const numbers = values.filter((value) => /^-?\d+(\.\d+)?$/.test(String(value)));
  if (isMost(numbers, values)) {
    if (
      isMost(
        numbers.filter((value) => parsesAs('yyyyMMdd', String(value))),
        values,
      )
    )
      return 'yyyyMMdd';
    return namedSo ? countingFormat(numbers.map(Number), values) : undefined;
  }
  return ['iso', ...PATTERNS].find((format) =>
    isMost(
      values.filter((value) => parsesAs(format, String(value))),
      values,
    ),
  );
}

/** Whether a string is a time in one of the formats that are looked for. */
export function readsAsTime(value: string): boolean {
  return ['iso', ...PATTERNS].some((format) => parsesAs(format, value));
}

/** All but a tenth; of a few, all but one. */
function isMost(some: readonly unknown[], all: readonly unknown[]): boolean {
  const stray = all.length - some.length;
  if (all.length < 3) return all.length > 0 && stray === 0;
  return stray <= Math.max(1, Math.floor(all.length / STRAY_SHARE));
}

function parsesAs(format: string, text: string): boolean {
  // A bare year is ISO, and so is a house number.
  if (format === 'iso' && !/\d-\d/.test(text)) return false;
  if (format === 'yyyyMMdd' && !/^(19|20)\d{6}$/.test(text)) return false;
  return !Number.isNaN(timestampParser(format, 'timestampSpec.format').fromValue(text));
}

/** The unit in which the numbers lie between 1980 and 2100. */
function countingFormat(numbers: readonly number[], values: readonly unknown[]): string | undefined {
  const units = [
    ['posix', 1e-3],
    ['millis', 1],
    ['micro', 1e3],
    ['nano', 1e6],
  ] as const;
  const fits = (perMs: number): readonly number[] =>
    numbers.filter((value) => value / perMs >= Date.UTC(1980) && value / perMs < Date.UTC(2100));
  return units.find(([, perMs]) => isMost(fits(perMs), values))?.[0];
}

// Values of Parquet columns that the library reads, as plain ones.

import { Buffer } from 'node:buffer';
import { DAY_MS } from '../../base/calendar.js';
import { ServiceError } from '../../base/errors.js';
import { millisOfNanos } from '../column/timestamp.js';
import { textOrMarked } from './not-text.js';

/** A decimal comes as a double, exact up to so many digits. */
const DECIMAL_DIGITS_MAX = 15;

type Convert = (value: unknown) => unknown;

/** The parts of a file's schema that decide what values mean, under the names of the format. */
interface Element {
  readonly name: string;
  converted_type?: string;
  precision?: number;
  scale?: number;
  readonly logical_type?: { readonly type: string };
}

interface Column {
  readonly element: Element;
  readonly children: readonly Column[];
}

/** Tells lists and maps from other nested columns. */
export interface Shapes {
  isListLike(column: Column): boolean;
  isMapLike(column: Column): boolean;
}

/** Times as milliseconds, which `millis` and `auto` of a timestampSpec read. */
export const PARSERS = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint): number => Math.floor(Number(micros) / 1000),
  timestampFromNanoseconds: millisOfNanos,
  dateFromDays: (days: number): number => days * DAY_MS,
  stringFromBytes: (bytes: Uint8Array | undefined): string | undefined => (bytes === undefined ? undefined : textOrMarked(bytes)),
};

/** Decimals that are annotated in the newer way alone, in the older one too, which is the one that the library reads. */
export function annotateDecimals(elements: readonly Element[]): void {
  for (const element of elements) {
    const logical = element.logical_type as { readonly type: string; readonly precision: number; readonly scale: number } | undefined;
    if (logical?.type !== 'DECIMAL' || element.converted_type !== undefined) continue;
    element.converted_type = 'DECIMAL';
    element.precision = logical.precision;
    element.scale = logical.scale;
  }
}

/** @throws ServiceError `unsupported` for decimals that do not fit a double */
export function checkDecimals({ element, children }: Column, name: string): void {
  if (element.converted_type === 'DECIMAL' && (element.precision ?? 0) > DECIMAL_DIGITS_MAX) {
    throw new ServiceError(
      'unsupported',
      `${name}: column "${element.name}" is DECIMAL(${element.precision}, ${element.scale ?? 0}); decimals of more than ${DECIMAL_DIGITS_MAX} digits are not supported`,
    );
  }
  for (const child of children) checkDecimals(child, name);
}

/** Conversion of the library's values of a column to plain ones. */
export function plainValues(column: Column, shapes: Shapes): Convert {
  return hasDecimals(column) ? eachOf(decimals(column, shapes)) : plain;
}

function hasDecimals({ element, children }: Column): boolean {
  return element.converted_type === 'DECIMAL' || children.some(hasDecimals);
}

/** The members of lists are converted, at any depth. */
function eachOf(convert: Convert): Convert {
  const each: Convert = (value) =>
    value === null || value === undefined ? value : Array.isArray(value) ? value.map(each) : convert(value);
  return each;
}

function decimals(column: Column, shapes: Shapes): Convert {
  const of = (part: Column): Convert => plainValues(part, shapes);
  const { element, children } = column;
  const [child] = children;
  if (child === undefined) return element.converted_type === 'DECIMAL' ? (value) => nearestDecimal(Number(value)) : plain;
  if (shapes.isListLike(column)) return of(child.children.length === 1 ? (child.children[0] ?? child) : child);
  if (shapes.isMapLike(column)) {
    const [key, value] = child.children;
    if (key === undefined || value === undefined) return plain;
    const [nameOf, convert] = [of(key), of(value)];
    return (map) => Object.fromEntries(Object.entries(map as object).map(([name, each]) => [String(nameOf(name)), convert(each)]));
  }
  const converts = new Map(children.map((each) => [each.element.name, of(each)]));
  return (record) => Object.fromEntries(Object.entries(record as object).map(([name, each]) => [name, converts.get(name)?.(each)]));
}

/** The double nearest to the decimal: the library multiplies by a power of ten, which is rounded twice. */
function nearestDecimal(value: number): number {
  return Number(value.toPrecision(DECIMAL_DIGITS_MAX));
}

/** Dates become milliseconds, bytes base64, at any depth. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

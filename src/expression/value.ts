// Values of expressions, and their conversion to and from stored strings.

import { parseJson, stringifyJson } from '../base/json.js';
import { doubleOf, doubleText, integerOf, MAX_LONG, MIN_LONG } from '../base/number-text.js';
import { type ArrayElement, arrayElements, arrayText } from '../model/array-text.js';
import {
  type ArrayType,
  type ColumnType,
  elementType,
  isArrayType,
  JSON_TYPE,
  type NumberType,
  type PrimitiveType,
} from '../model/schema.js';

/**
 * Value of an expression for one row: LONG is bigint, DOUBLE and FLOAT are number, arrays are arrays, JSON is
 * `Structured`, other complex values (sketches) are the base64 of their bytes; null is the absent value of any type.
 */
export type Value = Scalar | readonly Value[] | Structured;

export type Scalar = string | bigint | number | null;

/** A value of COMPLEX<json>, parsed. It is never changed. */
export class Structured {
  readonly data: unknown;

  constructor(data: unknown) {
    this.data = data;
  }
}

/** Tells arrays from other values; `Array.isArray` does not, of read-only ones. */
export function isArrayValue(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** A value from the text that a dictionary keeps of it (decision 11). */
export function valueOfText(text: string | null, type: ColumnType): Value {
  if (text === null) return null;
  if (isArrayType(type)) return elementsOf(arrayElements(text, type), type);
  return type === JSON_TYPE ? new Structured(parseJson(text)) : text;
}

/** JSON values are texts as elements of an array's text. */
function elementsOf(elements: readonly ArrayElement[], type: ArrayType): readonly Value[] {
  const inner = elementType(type);
  if (inner === JSON_TYPE) return elements.map((element) => valueOfText(element === null ? null : String(element), inner));
  if (!isArrayType(inner)) return elements as readonly Scalar[];
  return elements.map((element) => (element === null ? null : elementsOf(element as readonly ArrayElement[], inner)));
}

/** The text that a dictionary keeps of a value of a text type; the value is converted to that type first. */
export function textOfValue(value: Value, type: ColumnType): string | null {
  const converted = convert(value, type);
  if (converted === null) return null;
  if (isArrayValue(converted)) return arrayText(converted.map(elementOf), type as ArrayType);
  return converted instanceof Structured ? stringifyJson(converted.data) : String(converted);
}

function elementOf(value: Value): ArrayElement {
  return isArrayValue(value) ? value.map(elementOf) : value instanceof Structured ? stringifyJson(value.data) : value;
}

export function toLong(value: Value): bigint | null {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return truncateToLong(value);
    case 'string':
      return parseLong(value);
    default:
      return value === null ? null : toLong(onlyElement(value) ?? null);
  }
}

export function toDouble(value: Value): number | null {
  switch (typeof value) {
    case 'bigint':
      return Number(value);
    case 'number':
      return value;
    case 'string':
      return parseDouble(value);
    default:
      return value === null ? null : toDouble(onlyElement(value) ?? null);
  }
}

export function toText(value: Value): string | null {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      return doubleText(value);
    case 'string':
      return value;
    default: {
      if (value === null) return null;
      const only = onlyElement(value);
      return only === undefined ? stringifyJson(plainData(value)) : toText(only);
    }
  }
}

/** The single value of a one-element array, or of a JSON value that is neither object nor array. */
function onlyElement(value: readonly Value[] | Structured): Scalar | undefined {
  const inner = isArrayValue(value) ? (value.length === 1 ? (value[0] ?? null) : undefined) : valueOfJson(value.data);
  return typeof inner === 'object' && inner !== null ? undefined : inner;
}

/** A value as JSON holds it. */
export function plainData(value: Value): unknown {
  return value instanceof Structured ? value.data : isArrayValue(value) ? value.map(plainData) : value;
}

/**
 * The value as a condition: numbers are true above 0, a string is true when it says so, an array when any element is; null is
 * unknown.
 */
export function toTruth(value: Value): boolean | null {
  switch (typeof value) {
    case 'bigint':
      return value > 0n;
    case 'number':
      return value > 0;
    case 'string':
      return value.toLowerCase() === 'true';
    default:
      return value !== null && isArrayValue(value) ? anyTrue(value) : null;
  }
}

function anyTrue(values: readonly Value[]): boolean | null {
  const truths = values.map(toTruth);
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}

export function fromTruth(truth: boolean | null): bigint | null {
  return truth === null ? null : truth ? 1n : 0n;
}

/** The value in another type: a text that is not a number becomes null, a fraction is cut off, a FLOAT loses precision. */
export function convert(value: Value, type: 'LONG'): bigint | null;
export function convert(value: Value, type: 'DOUBLE' | 'FLOAT'): number | null;
export function convert(value: Value, type: NumberType): bigint | number | null;
export function convert(value: Value, type: 'STRING'): string | null;
export function convert(value: Value, type: PrimitiveType): Scalar;
export function convert(value: Value, type: ColumnType): Value;
export function convert(value: Value, type: ColumnType): Value {
  switch (type) {
    case 'LONG':
      return typeof value === 'bigint' ? value : toLong(value);
    case 'DOUBLE':
      return typeof value === 'number' ? value : toDouble(value);
    case 'FLOAT': {
      const double = toDouble(value);
      return double === null ? null : Math.fround(double);
    }
    case 'STRING':
      return toText(value);
    case JSON_TYPE:
      return value === null || value instanceof Structured ? value : new Structured(plainData(value));
    default:
      return isArrayType(type) ? toArray(value, type) : toText(value);
  }
}

/** A value that is no array is the only element of one. */
function toArray(value: Value, type: ArrayType): readonly Value[] | null {
  if (value === null) return null;
  const inner = elementType(type);
  const elements = isArrayValue(value) ? value : value instanceof Structured ? elementsOfJson(value.data) : [value];
  return elements.every((element) => isOfType(element, inner)) ? elements : elements.map((element) => convert(element, inner));
}

function elementsOfJson(data: unknown): readonly Value[] {
  return Array.isArray(data) ? data.map((each: unknown) => (each === null ? null : new Structured(each))) : [new Structured(data)];
}

/** Whether converting changes nothing, where that is cheap to see. */
function isOfType(value: Value, type: ColumnType): boolean {
  switch (typeof value) {
    case 'string':
      return type === 'STRING';
    case 'bigint':
      return type === 'LONG';
    case 'number':
      return type === 'DOUBLE';
    default:
      return value === null || (type === JSON_TYPE && value instanceof Structured);
  }
}

/** A parsed JSON value in expressions: integers are LONG, booleans 1 and 0, lists arrays of one type, objects stay JSON. */
export function valueOfJson(data: unknown): Value {
  switch (typeof data) {
    case 'string':
    case 'bigint':
      return data;
    case 'number':
      return Number.isSafeInteger(data) ? BigInt(data) : data;
    case 'boolean':
      return data ? 1n : 0n;
    default:
      return data === null || data === undefined ? null : Array.isArray(data) ? listOfJson(data) : new Structured(data);
  }
}

/** An array of the elements of a JSON list: beside a string, booleans are the words; beside a double, numbers are doubles. */
function listOfJson(list: readonly unknown[]): readonly Value[] {
  if (list.some((each) => typeof each === 'string'))
    return list.map((each) => valueOfJson(typeof each === 'boolean' ? String(each) : each));
  const values = list.map(valueOfJson);
  return values.some((each) => typeof each === 'number') ? values.map((each) => (typeof each === 'bigint' ? Number(each) : each)) : values;
}

/** Wraps at 64 bits. */
export function wrapLong(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

/** Towards zero; what lies outside of 64 bits becomes the nearest bound, NaN becomes 0. */
export function truncateToLong(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (value >= 2 ** 63) return MAX_LONG;
  if (value <= -(2 ** 63)) return MIN_LONG;
  return BigInt(Math.trunc(value));
}

/** Digits, or a number cut to an integer, the nearest one that 64 bits hold; `true` is 1, `false` 0; null for any other string. */
export function parseLong(text: string): bigint | null {
  const integer = integerOf(text);
  if (integer !== undefined) return integer < MIN_LONG ? MIN_LONG : integer > MAX_LONG ? MAX_LONG : integer;
  const double = parseDouble(text);
  return double === null ? null : truncateToLong(double);
}

/** A decimal number, NaN or an infinity; `true` is 1 and `false` 0, in any case; null for any other string. */
export function parseDouble(text: string): number | null {
  return doubleOf(text) ?? (TRUE.test(text) ? 1 : FALSE.test(text) ? 0 : null);
}

const TRUE = /^true$/i;
const FALSE = /^false$/i;

/**
 * Compares two values that are not null: two strings by UTF-16 code units, two LONGs exactly, arrays element by element
 * (null first, then the shorter one), all else as doubles. NaN equals itself and is above everything. What is not a number,
 * beside a number, gives null.
 */
export function compareValues(a: Exclude<Value, null>, b: Exclude<Value, null>): number | null {
  if (isArrayValue(a) && isArrayValue(b)) return compareArrays(a, b);
  if (typeof a === 'object' || typeof b === 'object') return compareTexts(toText(a) ?? '', toText(b) ?? '');
  if (typeof a === typeof b && typeof a !== 'number') return a < b ? -1 : a > b ? 1 : 0;
  const left = toDouble(a);
  const right = toDouble(b);
  if (left === null || right === null) return null;
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareArrays(a: readonly Value[], b: readonly Value[]): number | null {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const left = a[at] ?? null;
    const right = b[at] ?? null;
    const order = left === null || right === null ? Number(left !== null) - Number(right !== null) : compareValues(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

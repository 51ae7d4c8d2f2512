// Arrays as the strings that columns and results carry (decision 11).

import { ServiceError } from '../base/errors.js';
import { type ArrayType, elementType, isArrayType } from './schema.js';

/** Elements of an array: LONG is bigint, DOUBLE is number, null is absent. */
export type ArrayElement = string | bigint | number | null | readonly ArrayElement[];

/*
 * An array as a text whose order is the order of arrays: element by element, null before all else, a shorter array
 * before one that continues it. So arrays group, sort, and have smallest and largest values as strings do.
 *
 *   array     element*                      the empty array is the empty text
 *   element   U+0001                        null
 *           | U+0002 body U+0000            anything else
 *   body      LONG, DOUBLE: 16 hexadecimal digits of the bits, changed so that they sort as the numbers do
 *             STRING, array: its text, in which U+0000 is U+0001 U+0001 and U+0001 is U+0001 U+0002
 *
 * U+0000 ends a body below anything that could continue it. NaN sorts above all numbers, -0 below 0.
 */
const END = '\u0000';
const NULL = '\u0001';
const PRESENT = '\u0002';

export function arrayText(elements: readonly ArrayElement[], type: ArrayType): string {
  const inner = elementType(type);
  let text = '';
  for (const element of elements) text += element === null ? NULL : `${PRESENT}${bodyOf(element, inner)}${END}`;
  return text;
}

function bodyOf(element: Exclude<ArrayElement, null>, type: string): string {
  if (isArrayType(type as ArrayType)) return escaped(arrayText(element as readonly ArrayElement[], type as ArrayType));
  if (type === 'LONG') {
    longs[0] = BigInt(element as bigint);
    return digitsOf(high() ^ SIGN, halves[LOW] ?? 0);
  }
  if (type === 'DOUBLE') {
    // NaN has many bits, of which one is written.
    doubles[0] = Number.isNaN(element) ? Number.NaN : Number(element);
    const mask = high() >>> 31 === 0 ? 0 : -1;
    return digitsOf(high() ^ (mask | SIGN), (halves[LOW] ?? 0) ^ mask);
  }
  return escaped(String(element));
}

/** @throws ServiceError `internal` for a text that is not an array of this type */
export function arrayElements(text: string, type: ArrayType): readonly ArrayElement[] {
  const inner = elementType(type);
  if (inner === 'LONG' || inner === 'DOUBLE') return numbersIn(text, inner);
  const elements: ArrayElement[] = [];
  for (let at = 0; at < text.length; at++) {
    const mark = text.charCodeAt(at);
    if (mark === NULL_CODE) {
      elements.push(null);
      continue;
    }
    const end = text.indexOf(END, at);
    if (mark !== PRESENT_CODE || end < 0) throw breaksOff(type, at);
    const body = unescaped(text.slice(at + 1, end));
    elements.push(isArrayType(inner) ? arrayElements(body, inner) : body);
    at = end;
  }
  return elements;
}

/** Numbers have as many digits each, so that nothing is looked for. */
function numbersIn(text: string, type: 'LONG' | 'DOUBLE'): readonly ArrayElement[] {
  const elements: ArrayElement[] = [];
  for (let at = 0; at < text.length; at++) {
    const mark = text.charCodeAt(at);
    if (mark === NULL_CODE) {
      elements.push(null);
      continue;
    }
    const end = at + 1 + DIGITS;
    if (mark !== PRESENT_CODE || text.charCodeAt(end) !== 0) throw breaksOff(`ARRAY<${type}>`, at);
    elements.push(type === 'LONG' ? longAt(text, at + 1) : doubleAt(text, at + 1));
    at = end;
  }
  return elements;
}

/** Number of elements of the array of numbers whose text is in UTF-8 at [from, to). */
export function numberCount(bytes: DataView, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += widthAt(bytes, at)) count++;
  return count;
}

/** One of its elements, counted from 0; null for none. */
export function numberAt(bytes: DataView, from: number, to: number, place: number, element: 'LONG' | 'DOUBLE'): bigint | number | null {
  let at = from;
  for (let passed = 0; passed < place && at < to; passed++) at += widthAt(bytes, at);
  return at < to ? numberIn(bytes, at, element) : null;
}

/** Place of the first of its elements that is written as `digits` are, 16 of them; -1 for none. */
export function placeOfNumber(bytes: DataView, from: number, to: number, digits: string): number {
  const [upper, lower] = [halfAt(digits, 0), halfAt(digits, 8)];
  for (let [at, place] = [from, 0]; at < to; at += widthAt(bytes, at), place++) {
    if (bytes.getUint8(at) !== NULL_CODE && halfIn(bytes, at + 9) === lower && halfIn(bytes, at + 1) === upper) return place;
  }
  return -1;
}

/** Its elements as texts, those of null as `ofNull`. */
export function numberTexts(
  bytes: DataView,
  from: number,
  to: number,
  {
    element,
    ofNull,
    textOf,
  }: { readonly element: 'LONG' | 'DOUBLE'; readonly ofNull: string; readonly textOf: (value: bigint | number) => string },
): string[] {
  const texts: string[] = [];
  for (let at = from; at < to; at += widthAt(bytes, at)) {
    const value = numberIn(bytes, at, element);
    texts.push(value === null ? ofNull : textOf(value));
  }
  return texts;
}

function widthAt(bytes: DataView, at: number): number {
  return bytes.getUint8(at) === NULL_CODE ? 1 : DIGITS + 2;
}

function numberIn(bytes: DataView, at: number, element: 'LONG' | 'DOUBLE'): bigint | number | null {
  if (bytes.getUint8(at) === NULL_CODE) return null;
  const upper = halfIn(bytes, at + 1);
  const mask = element === 'LONG' || upper < 0 ? 0 : -1;
  halves[HIGH] = upper ^ (mask | SIGN);
  halves[LOW] = halfIn(bytes, at + 9) ^ mask;
  return element === 'LONG' ? (longs[0] ?? 0n) : (doubles[0] ?? 0);
}

/** Eight hexadecimal digits as 32 bits. */
function halfIn(bytes: DataView, at: number): number {
  return (quarterOf(bytes.getUint32(at, true)) << 16) | quarterOf(bytes.getUint32(at + 4, true));
}

/** Four digits, the first in the lowest byte, as 16 bits: letters are 9 above the lowest bits of their codes. */
function quarterOf(codes: number): number {
  const digits = (codes & 0x0f0f0f0f) + Math.imul((codes >>> 6) & 0x01010101, 9);
  const pairs = (digits << 4) | (digits >>> 8);
  return ((pairs & 0xff) << 8) | ((pairs >>> 16) & 0xff);
}

function breaksOff(type: string, at: number): ServiceError {
  return new ServiceError('internal', `a string is not an ${type}: it breaks off at ${at}`);
}

const NULL_CODE = 1;
const PRESENT_CODE = 2;
/** Hexadecimal digits of a number. */
const DIGITS = 16;
const SIGN = 1 << 31;

/* The 64 bits of a number by halves, which cost no object. */
const halves = new Uint32Array(2);
const longs = new BigInt64Array(halves.buffer);
const doubles = new Float64Array(halves.buffer);
const [LOW, HIGH] = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? [0, 1] : [1, 0];

function high(): number {
  return halves[HIGH] ?? 0;
}

function digitsOf(upper: number, lower: number): string {
  return (upper >>> 0).toString(16).padStart(8, '0') + (lower >>> 0).toString(16).padStart(8, '0');
}

function longAt(text: string, at: number): bigint {
  halves[HIGH] = halfAt(text, at) ^ SIGN;
  halves[LOW] = halfAt(text, at + 8);
  return longs[0] ?? 0n;
}

/** Negative numbers have all bits turned, others the sign bit. */
function doubleAt(text: string, at: number): number {
  const upper = halfAt(text, at);
  const mask = upper < 0 ? 0 : -1;
  halves[HIGH] = upper ^ (mask | SIGN);
  halves[LOW] = halfAt(text, at + 8) ^ mask;
  return doubles[0] ?? 0;
}

/** Eight hexadecimal digits as 32 bits. */
function halfAt(text: string, at: number): number {
  let bits = 0;
  for (let place = at; place < at + 8; place++) {
    const code = text.charCodeAt(place);
    bits = (bits << 4) | (code <= NINE ? code - ZERO : code - LETTERS);
  }
  return bits;
}

const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);
const LETTERS = 'a'.charCodeAt(0) - 10;

function escaped(text: string): string {
  return /[\u0000\u0001]/.test(text) ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001') : text;
}

function unescaped(text: string): string {
  return text.includes('\u0001') ? text.replace(/\u0001([\u0001\u0002])/g, (_, mark) => (mark === '\u0001' ? '\u0000' : '\u0001')) : text;
}

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
  if (type === 'LONG') return digits(BigInt(element as bigint) + SIGN);
  if (type === 'DOUBLE') return doubleDigits(Number(element));
  return escaped(String(element));
}

/** @throws ServiceError `internal` for a text that is not an array of this type */
export function arrayElements(text: string, type: ArrayType): readonly ArrayElement[] {
  const inner = elementType(type);
  const elements: ArrayElement[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === NULL) {
      elements.push(null);
      continue;
    }
    const end = text.indexOf(END, at);
    if (text[at] !== PRESENT || end < 0) throw new ServiceError('internal', `a string is not an ${type}: it breaks off at ${at}`);
    elements.push(elementOf(text.slice(at + 1, end), inner));
    at = end;
  }
  return elements;
}

function elementOf(body: string, type: string): ArrayElement {
  if (isArrayType(type as ArrayType)) return arrayElements(unescaped(body), type as ArrayType);
  if (type === 'LONG') return BigInt.asIntN(64, BigInt(`0x${body}`) - SIGN);
  if (type === 'DOUBLE') return doubleOf(BigInt(`0x${body}`));
  return unescaped(body);
}

const SIGN = 1n << 63n;
const ALL = (1n << 64n) - 1n;
const bits = new DataView(new ArrayBuffer(8));

function digits(value: bigint): string {
  return value.toString(16).padStart(16, '0');
}

/** Negative numbers have all bits turned, others the sign bit. */
function doubleDigits(value: number): string {
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  return digits((raw & SIGN) === 0n ? raw | SIGN : raw ^ ALL);
}

function doubleOf(sortable: bigint): number {
  bits.setBigUint64(0, (sortable & SIGN) === 0n ? sortable ^ ALL : sortable ^ SIGN);
  return bits.getFloat64(0);
}

function escaped(text: string): string {
  return /[\u0000\u0001]/.test(text) ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001') : text;
}

function unescaped(text: string): string {
  return text.includes('\u0001') ? text.replace(/\u0001([\u0001\u0002])/g, (_, mark) => (mark === '\u0001' ? '\u0000' : '\u0001')) : text;
}

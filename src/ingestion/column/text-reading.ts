// Reads input values as the strings that dictionaries keep of arrays, JSON and sketches.

import { shallowJsonText } from '../../expression/functions/json-size.js';
import { plainData, valueOfText } from '../../expression/value.js';
import { type ArrayElement, arrayText } from '../../model/array-text.js';
import { cellAt, type FrameColumn } from '../../model/frame.js';
import { type ArrayType, elementType, isArrayType, isComplexType, JSON_TYPE, type TextType } from '../../model/schema.js';
import { toDouble, toLong, toText } from './coercion.js';

/** A value of parsed input as the text that a dictionary keeps of it (decision 11). `undefined`: it does not fit the type. */
export type ReadText = (value: unknown) => string | null | undefined;

export function textReading(type: TextType): ReadText {
  if (isArrayType(type)) return (value) => arrayReading(value, type);
  if (type === JSON_TYPE) return (value) => (value === null || value === undefined ? null : shallowJsonText(value));
  // Sketches come as the base64 of their bytes; who knows them checks it.
  if (isComplexType(type)) return (value) => (typeof value === 'string' ? value : value === null || value === undefined ? null : undefined);
  return readString;
}

/** A single text: a list of one value is that value, a longer one and an object are none. */
function readString(value: unknown): string | null | undefined {
  if (typeof value !== 'object' || value === null) return toText(value);
  return Array.isArray(value) && value.length <= 1 ? readString(value[0]) : undefined;
}

/** A value that is no list is the only element of one. */
function arrayReading(value: unknown, type: ArrayType): string | null | undefined {
  const elements = elementsOf(value, type);
  return elements === null || elements === undefined ? elements : arrayText(elements, type);
}

function elementsOf(value: unknown, type: ArrayType): readonly ArrayElement[] | null | undefined {
  if (value === null || value === undefined) return null;
  const inner = elementType(type);
  const elements: ArrayElement[] = [];
  for (const each of Array.isArray(value) ? value : [value]) {
    const element = isArrayType(inner)
      ? elementsOf(each, inner)
      : inner === 'LONG'
        ? toLong(each)
        : inner === 'DOUBLE'
          ? toDouble(each)
          : readString(each);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}

/** Value of a stored string, as parsed input holds it: arrays as lists, JSON as its value. */
export function inputValue(text: string | null, type: TextType): unknown {
  return plainData(valueOfText(text, type));
}

/** A cell of a frame as parsed input holds it. */
export function inputCell(column: FrameColumn, row: number): unknown {
  const cell = cellAt(column, row);
  return column.kind === 'string' && column.type !== undefined && typeof cell === 'string' ? inputValue(cell, column.type) : cell;
}

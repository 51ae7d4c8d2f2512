// Writes arrays and doubles as JSON.

import { doubleText } from '../base/number-text.js';
import type { ArrayElement } from '../model/array-text.js';
import { type ArrayType, type ColumnType, elementType, isArrayType, JSON_TYPE } from '../model/schema.js';

/** An array as JSON: LONGs as all of their digits, doubles as in columns of their own, JSON as what it is. */
export function arrayJson(elements: readonly ArrayElement[], type: ArrayType): string {
  const inner = elementType(type);
  return `[${elements.map((element) => elementJson(element, inner)).join(',')}]`;
}

function elementJson(element: ArrayElement, type: ColumnType): string {
  switch (typeof element) {
    case 'string':
      return type === JSON_TYPE ? element : JSON.stringify(element);
    case 'bigint':
      return String(element);
    case 'number':
      return doubleJson(element);
    default:
      return element === null || !isArrayType(type) ? 'null' : arrayJson(element, type);
  }
}

/** A double in its shortest exact form; NaN and infinities, which JSON lacks, as strings. */
export function doubleJson(value: number, print: (value: number) => string = doubleText): string {
  return Number.isFinite(value) ? print(value) : `"${value}"`;
}

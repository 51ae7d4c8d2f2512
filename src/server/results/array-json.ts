import { doubleText } from '../../expression/value.js';
import type { ArrayElement } from '../../model/array-text.js';

/** An array as JSON: LONGs as all of their digits, doubles as in columns of their own. */
export function arrayJson(elements: readonly ArrayElement[]): string {
  return `[${elements.map(elementJson).join(',')}]`;
}

function elementJson(element: ArrayElement): string {
  switch (typeof element) {
    case 'string':
      return JSON.stringify(element);
    case 'bigint':
      return String(element);
    case 'number':
      return doubleJson(element);
    default:
      return element === null ? 'null' : arrayJson(element);
  }
}

/** Its shortest exact form; NaN and infinities, which JSON lacks, as strings. */
export function doubleJson(value: number, print: (value: number) => string = doubleText): string {
  return Number.isFinite(value) ? print(value) : `"${value}"`;
}

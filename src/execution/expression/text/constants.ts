// Constants among the operands of functions of texts.

import { constantOf } from '../../../expression/expression-type.js';
import { toText } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';

/** A constant text that UTF-8 has. */
export function wellFormed(expression: Expression | undefined): string | undefined {
  const constant = constantOf(expression);
  const text = constant === undefined ? null : toText(constant.value);
  return text === null || Buffer.from(text).toString() !== text ? undefined : text;
}

/** A constant of at most 31 bits. */
export function integer(expression: Expression | undefined): number | undefined {
  const value = constantOf(expression)?.value;
  return typeof value === 'bigint' && value >= -(2n ** 31n) && value < 2n ** 31n ? Number(value) : undefined;
}

export function count(expression: Expression | undefined): number | undefined {
  const found = integer(expression);
  return found === undefined || found < 0 ? undefined : found;
}

export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

// Literals in lists.

import type { SqlExpression } from '../syntax.js';

export type Literal = Extract<SqlExpression, { kind: 'literal' }>;

/** Lists of fewer literals are left to the parser. */
export const LIST_MIN = 8;

const INTEGER_MAX = 2147483647n;
/** Digits of a 64-bit integer with its sign; converting digits by the million would take minutes. */
const LONG_DIGITS = 20;
/** A double holds so many. */
const SAFE_DIGITS = 15;

/** Exact numbers stay exact: an integer is INTEGER or BIGINT, a plain fraction DECIMAL, one with an exponent DOUBLE. */
export function numberLiteral(at: number, text: string): Literal {
  if (text.length <= LONG_DIGITS && /^-?\d+$/.test(text)) {
    const value = BigInt(text.length <= SAFE_DIGITS ? Number(text) : text);
    if (value === BigInt.asIntN(64, value))
      return { kind: 'literal', at, type: value <= INTEGER_MAX && value >= -INTEGER_MAX - 1n ? 'INTEGER' : 'BIGINT', value };
  }
  return { kind: 'literal', at, type: /[eE]/.test(text) ? 'DOUBLE' : 'DECIMAL', value: Number(text) };
}

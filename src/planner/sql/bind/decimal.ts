// Exact sums, differences and products of number literals.

import { type Bound, type BoundLiteral, literal } from '../relation/bound.js';

/** A number as `digits` over 10^`scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * Sums, differences and products of numbers that are written out, as exact numbers: `0.06 + 0.01` is 0.07, which in doubles it is not.
 * @returns undefined for other operators and operands
 */
export function decimalResult(operator: string, left: Bound, right: Bound): BoundLiteral | undefined {
  const [one, other] = [decimalOf(left), decimalOf(right)];
  if (one === undefined || other === undefined) return undefined;
  if (operator === '*') return decimalLiteral({ digits: one.digits * other.digits, scale: one.scale + other.scale });
  if (operator !== '+' && operator !== '-') return undefined;
  const scale = Math.max(one.scale, other.scale);
  const [a, b] = [one, other].map((each) => each.digits * 10n ** BigInt(scale - each.scale));
  return a === undefined || b === undefined ? undefined : decimalLiteral({ digits: operator === '+' ? a + b : a - b, scale });
}

/** The decimal of a literal without an exponent: the shortest string of a double is the number as it was written. */
function decimalOf(bound: Bound): Decimal | undefined {
  if (bound.kind !== 'literal' || bound.value === null) return undefined;
  const parts = /^(-?\d+)(?:\.(\d+))?$/.exec(String(bound.value));
  if (parts === null) return undefined;
  const [, whole = '', fraction = ''] = parts;
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

function decimalLiteral({ digits, scale }: Decimal): BoundLiteral {
  return literal('DECIMAL', Number(`${digits}e-${scale}`));
}

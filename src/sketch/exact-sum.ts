// Exact sums of doubles.

import { ServiceError } from '../base/errors.js';

/**
 * The exact sum of doubles: the same for any order and any grouping of the values, and rounded once, when it is read.
 *
 * `parts` and `huge` are expansions after Shewchuk (1997): doubles in ascending magnitude whose bits do not overlap, so
 * that together they are the sum. A value of at least 2^960 goes, times 2^-64, to `huge`: no expansion can overflow
 * before 2^60 values have come. Values that are not finite are added in `rest`; among these, order does not matter.
 */
export interface ExactSum {
  count: number;
  rest: number;
  readonly parts: number[];
  readonly huge: number[];
}

const HUGE = 2 ** 960;
const SCALE = 2 ** 64;

export function emptyExactSum(): ExactSum {
  return { count: 0, rest: 0, parts: [], huge: [] };
}

export function addToExactSum(state: ExactSum, value: number): void {
  state.count++;
  if (!Number.isFinite(value)) state.rest += value;
  else if (Math.abs(value) < HUGE) grow(state.parts, value);
  else grow(state.huge, value / SCALE);
}

export function mergeExactSums(into: ExactSum, from: ExactSum): void {
  into.count += from.count;
  into.rest += from.rest;
  for (const part of from.parts) grow(into.parts, part);
  for (const part of from.huge) grow(into.huge, part);
}

/** Adds a double to an expansion, without any loss. */
function grow(parts: number[], value: number): void {
  let carried = value;
  let kept = 0;
  for (const part of parts) {
    const [large, small] = Math.abs(carried) < Math.abs(part) ? [part, carried] : [carried, part];
    carried = large + small;
    const lost = small - (carried - large);
    if (lost !== 0) parts[kept++] = lost;
  }
  parts.length = kept;
  if (carried !== 0) parts.push(carried);
}

/** Null of no values. */
export function exactSumOf({ count, rest, parts, huge }: ExactSum): number | null {
  if (count === 0) return null;
  if (rest !== 0) return rest;
  if (huge.length === 0) return rounded(parts);
  const scaled = [...huge];
  for (const part of parts) {
    const small = part / SCALE;
    // Bits lost here lie far below the last bit of the sum: they only decide which way a tie is rounded.
    grow(scaled, small * SCALE === part ? small : Math.sign(part) * Number.MIN_VALUE);
  }
  return rounded(scaled) * SCALE;
}

/** The double nearest to an expansion, ties to even. */
function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  let sum = parts[at] ?? 0;
  while (at > 0) {
    const next = parts[--at] ?? 0;
    const whole = sum + next;
    const lost = next - (whole - sum);
    sum = whole;
    if (lost === 0) continue;
    // Rounded at a tie: what lies below says whether it was one.
    const below = at > 0 ? (parts[at - 1] ?? 0) : 0;
    const twice = lost * 2;
    if (lost < 0 === below < 0 && below !== 0 && sum + twice - sum === twice) sum += twice;
    break;
  }
  return sum;
}

/** Count, rest, parts and huge parts, as `decodeExactSum` reads them. */
export function encodeExactSum({ count, rest, parts, huge }: ExactSum): string {
  return `${count} ${rest} ${parts.join(',')} ${huge.join(',')}`;
}

export function decodeExactSum(text: string): ExactSum {
  const [count, rest, parts, huge] = text.split(' ');
  const state = { count: Number(count), rest: Number(rest), parts: numbers(parts), huge: numbers(huge) };
  if (huge === undefined || !(state.count >= 0) || [...state.parts, ...state.huge].some((part) => !Number.isFinite(part)))
    throw new ServiceError('query_invalid', 'a string that should hold an exact sum does not');
  return state;
}

function numbers(text: string | undefined): number[] {
  return text === undefined || text === '' ? [] : text.split(',').map(Number);
}

// Mean and variance, updated value by value.

import { ServiceError } from '../base/errors.js';

/** Count, sum, mean and the sum of squared distances from the mean, kept up by Welford's and joined by Chan's formula. */
export interface Moments {
  count: number;
  sum: number;
  mean: number;
  squares: number;
}

export function emptyMoments(): Moments {
  return { count: 0, sum: 0, mean: 0, squares: 0 };
}

export function addToMoments(state: Moments, value: number): void {
  state.count++;
  state.sum += value;
  const distance = value - state.mean;
  state.mean += distance / state.count;
  state.squares += distance * (value - state.mean);
}

export function mergeMoments(into: Moments, from: Moments): void {
  if (from.count === 0) return;
  // There is no distance from the mean of no value, and its square may be infinite.
  if (into.count === 0) {
    Object.assign(into, from);
    return;
  }
  const count = into.count + from.count;
  const distance = from.mean - into.mean;
  into.squares += from.squares + ((distance * distance * into.count) / count) * from.count;
  into.mean += (distance * from.count) / count;
  into.sum += from.sum;
  into.count = count;
}

export type Estimator = 'population' | 'sample';

/** Null of no values; 0 of a single one, as a sample too. */
export function varianceOf({ count, squares }: Moments, estimator: Estimator): number | null {
  if (count === 0) return null;
  if (count === 1) return 0;
  return squares / (estimator === 'population' ? count : count - 1);
}

export function meanOf({ count, sum }: Moments): number | null {
  return count === 0 ? null : sum / count;
}

/** Four numbers in their shortest exact form, with a blank between. */
export function encodeMoments({ count, sum, mean, squares }: Moments): string {
  return [count, sum, mean, squares].map((value) => (Object.is(value, -0) ? '-0' : String(value))).join(' ');
}

export function decodeMoments(text: string): Moments {
  const [count, sum, mean, squares, more] = text.split(' ').map(parseNumber);
  if (count === undefined || !(count >= 0) || sum === undefined || mean === undefined || squares === undefined || more !== undefined)
    throw new ServiceError('query_invalid', 'a string that should hold a count, a sum, a mean and squared deviations does not');
  return { count, sum, mean, squares };
}

/** NaN by its name only. */
function parseNumber(text: string): number | undefined {
  const number = Number(text);
  return text === '' || (Number.isNaN(number) && text !== 'NaN') ? undefined : number;
}

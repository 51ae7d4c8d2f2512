// Statistical tests: t-test and z-test.

import { type Moments, varianceOf } from './moments.js';
import { normalTwoTailed, studentTwoTailed } from './special-functions.js';

/**
 * Two-sided p-value of Student's t-test of two means whose variances need not be equal (Welch). NaN where there are fewer
 * than two values in a sample, or neither of them varies.
 */
export function tTest(a: Moments, b: Moments): number {
  if (a.count < 2 || b.count < 2) return Number.NaN;
  const left = (varianceOf(a, 'sample') ?? 0) / a.count;
  const right = (varianceOf(b, 'sample') ?? 0) / b.count;
  const spread = left + right;
  const degrees = (spread * spread) / ((left * left) / (a.count - 1) + (right * right) / (b.count - 1));
  return studentTwoTailed((a.mean - b.mean) / Math.sqrt(spread), degrees);
}

/**
 * z of two proportions, each with its own variance. Null for samples that cannot be: of no members, or with more successes
 * than members; NaN where neither proportion varies.
 */
export function zScore(successes1: number, size1: number, successes2: number, size2: number): number | null {
  if (!(size1 > 0 && size2 > 0) || !(successes1 >= 0 && successes1 <= size1) || !(successes2 >= 0 && successes2 <= size2)) return null;
  const p1 = successes1 / size1;
  const p2 = successes2 / size2;
  return (p1 - p2) / Math.sqrt((p1 * (1 - p1)) / size1 + (p2 * (1 - p2)) / size2);
}

/** Two-sided p-value of a z-score. */
export function zTest(z: number): number {
  return normalTwoTailed(z);
}

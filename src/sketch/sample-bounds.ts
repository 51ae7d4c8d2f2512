// Error bounds of counts estimated from samples.

import { normalTwoTailed, regularizedBeta } from './special-functions.js';

/**
 * Bounds of how many keys there are, when each of them was kept with probability `fraction` and `kept` were. They are exact
 * for the binomial distribution: with fewer keys than `lower`, as many as `kept` would come up less often than one side
 * of so many standard deviations of a normal variable does (0.159, 0.023 or 0.0013); and likewise for `upper`.
 */
export function sampleBounds(kept: number, fraction: number, deviations: 1 | 2 | 3): { readonly lower: number; readonly upper: number } {
  if (fraction >= 1) return { lower: kept, upper: kept };
  const tail = normalTwoTailed(deviations) / 2;
  const estimate = kept / fraction;
  // P(X >= kept) of n keys is I_p(kept, n - kept + 1), P(X <= kept) is I_(1-p)(n - kept, kept + 1); both are smooth in n.
  const atLeast = (n: number): number => regularizedBeta(fraction, kept, n - kept + 1);
  const atMost = (n: number): number => (n <= kept ? 1 : regularizedBeta(1 - fraction, n - kept, kept + 1));
  const lower = kept === 0 ? 0 : crossing(kept, estimate, (n) => atLeast(n) >= tail);
  let far = Math.max(estimate, 1 / fraction);
  while (atMost(far) > tail) far *= 2;
  const upper = crossing(Math.max(kept, estimate), far, (n) => atMost(n) < tail);
  return { lower: Math.max(kept, lower), upper };
}

/** The point where a condition that is false at `low` and true at `high` becomes true. */
function crossing(low: number, high: number, isTrue: (value: number) => boolean): number {
  let [below, above] = [low, high];
  if (isTrue(below)) return below;
  while (above - below > 1e-9 * above) {
    const middle = (below + above) / 2;
    if (middle === below || middle === above) break;
    if (isTrue(middle)) above = middle;
    else below = middle;
  }
  return above;
}

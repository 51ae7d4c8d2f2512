// Summaries of sketches as text.

import type { Hll } from './hll.js';
import type { Kll } from './kll.js';
import type { Quantiles } from './quantiles.js';
import type { Theta } from './theta.js';

/** Sketches for people to read: a heading, then a line for each property. */

export function summaryOfHll(sketch: Hll): string {
  return summary('HLL sketch', {
    lgK: sketch.lgK,
    mode: sketch.isExact ? 'coupons' : 'registers',
    estimate: sketch.estimate(),
    'lower bound, 1 standard deviation': sketch.bounds(1).lower,
    'upper bound, 1 standard deviation': sketch.bounds(1).upper,
  });
}

export function summaryOfTheta(sketch: Theta): string {
  return summary('Theta sketch', {
    estimate: sketch.estimate(),
    'retained hashes': sketch.hashes().length,
    theta: sketch.fraction,
    'estimation mode': !sketch.isExact,
  });
}

export function summaryOfQuantiles(sketch: Quantiles): string {
  return summary('Quantiles sketch', { k: sketch.k, ...ofValues(sketch) });
}

export function summaryOfKll(sketch: Kll): string {
  return summary('KLL sketch', { type: sketch.type, k: sketch.k, 'least k': sketch.leastK, ...ofValues(sketch) });
}

function ofValues({ count, retained, min, max }: Quantiles | Kll): Readonly<Record<string, number | boolean>> {
  return { values: count, 'retained values': retained, 'estimation mode': retained < count, min, max };
}

function summary(heading: string, properties: Readonly<Record<string, string | number | boolean>>): string {
  return [`${heading}:`, ...Object.entries(properties).map(([name, value]) => `  ${name}: ${value}`)].join('\n');
}

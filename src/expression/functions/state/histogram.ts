// Functions over histogram states.

import { ApproximateHistogram } from '../../../sketch/approximate-histogram.js';
import { fromBase64 } from '../../../sketch/base64.js';
import { FixedHistogram } from '../../../sketch/fixed-histogram.js';
import type { ExpressionFunction } from '../../function.js';
import { Structured, toDouble, type Value } from '../../value.js';
import { integer, isText, stateFunction } from './state-function.js';

/** All but the buckets take a state and whether it is 'approximate' or 'fixed'. Of no rows, and of no values, null. */
export const HISTOGRAM_FUNCTIONS: readonly ExpressionFunction[] = [
  stateFunction('histogram_min', 'DOUBLE', ([state, kind]) => histogramOf(state, kind)?.min ?? null),
  stateFunction('histogram_max', 'DOUBLE', ([state, kind]) => histogramOf(state, kind)?.max ?? null),
  /** (state, kind, fraction) */
  stateFunction('histogram_quantile', 'DOUBLE', ([state, kind, fraction]) => histogramOf(state, kind)?.quantile(number(fraction)) ?? null),
  /** (state, kind, fractions ...) */
  stateFunction('histogram_quantiles', 'COMPLEX<json>', ([state, kind, ...fractions]) => {
    const histogram = histogramOf(state, kind);
    if (histogram === undefined) return null;
    const probabilities = fractions.map(number);
    const quantiles = probabilities.map((fraction) => histogram.quantile(fraction));
    return new Structured({ probabilities, quantiles, min: histogram.min, max: histogram.max });
  }),
  /** (state, buckets) */
  stateFunction('histogram_equal_buckets', 'COMPLEX<json>', ([state, buckets]) =>
    isText(state) ? new Structured(read(state).equalBuckets(integer(buckets))) : null,
  ),
  /** (state, width, offset, lower limit, upper limit); a limit may be null */
  stateFunction('histogram_buckets', 'COMPLEX<json>', ([state, width, offset, lower, upper]) => {
    if (!isText(state)) return null;
    const histogram = read(state, { lower: toDouble(lower ?? null) ?? -Infinity, upper: toDouble(upper ?? null) ?? Infinity });
    return new Structured(histogram.alignedBuckets(number(width), number(offset)));
  }),
  /** (state, bounds ...) */
  stateFunction('histogram_custom_buckets', 'COMPLEX<json>', ([state, ...breaks]) =>
    isText(state) ? new Structured(read(state).buckets(breaks.map(number))) : null,
  ),
];

/** Undefined of no values. */
function histogramOf(state: Value | undefined, kind: Value | undefined): ApproximateHistogram | FixedHistogram | undefined {
  if (!isText(state)) return undefined;
  const histogram = kind === 'fixed' ? FixedHistogram.decode(fromBase64(state)) : read(state);
  return histogram.count === 0 ? undefined : histogram;
}

function read(state: string, limits?: { readonly lower: number; readonly upper: number }): ApproximateHistogram {
  return ApproximateHistogram.decode(fromBase64(state), limits);
}

function number(value: Value | undefined): number {
  return toDouble(value ?? null) ?? 0;
}

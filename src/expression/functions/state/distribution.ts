// Functions over quantiles sketch states.

import { decodeKll, decodeQuantiles } from '../../../sketch/base64-codec.js';
import { Distribution } from '../../../sketch/distribution.js';
import { summaryOfKll, summaryOfQuantiles } from '../../../sketch/summary.js';
import type { ExpressionFunction } from '../../function.js';
import { toDouble, type Value } from '../../value.js';
import { isText, stateFunction } from './state-function.js';

/**
 * All take a state and its family: 'classic', or the type of numbers of a KLL sketch, DOUBLE or FLOAT; then numbers. Of
 * no values every number is NaN.
 */
export const DISTRIBUTION_FUNCTIONS: readonly ExpressionFunction[] = [
  ofDistribution('quantile', 'DOUBLE', (distribution, [fraction = 0]) => distribution.quantile(fraction)),
  ofDistribution('quantiles', 'ARRAY<DOUBLE>', (distribution, fractions) => fractions.map((fraction) => distribution.quantile(fraction))),
  ofDistribution('rank', 'DOUBLE', (distribution, [value = 0]) => distribution.rank(value)),
  /** Cumulative shares at ascending points. */
  ofDistribution('cdf', 'ARRAY<DOUBLE>', (distribution, points) => distribution.cumulative(points)),
  ofDistribution('histogram', 'ARRAY<DOUBLE>', (distribution, points) => distribution.histogram(points)),
  /** Histogram with this number of bins. */
  ofDistribution('even_histogram', 'ARRAY<DOUBLE>', (distribution, [bins = 1]) => distribution.evenHistogram(bins)),
  stateFunction('distribution_summary', 'STRING', ([state, family]) => {
    if (!isText(state)) return null;
    return family === 'classic' ? summaryOfQuantiles(decodeQuantiles(state)) : summaryOfKll(decodeKll(state, typeOf(family)));
  }),
];

function ofDistribution(
  name: string,
  type: 'DOUBLE' | 'ARRAY<DOUBLE>',
  read: (distribution: Distribution, numbers: readonly number[]) => Value,
): ExpressionFunction {
  return stateFunction(name, type, ([state, family, ...numbers]) =>
    read(
      distributionOf(state, family),
      numbers.map((value) => toDouble(value) ?? 0),
    ),
  );
}

function distributionOf(state: Value | undefined, family: Value | undefined): Distribution {
  if (!isText(state)) return new Distribution([], Number.NaN, Number.NaN);
  return (family === 'classic' ? decodeQuantiles(state) : decodeKll(state, typeOf(family))).distribution();
}

function typeOf(family: Value | undefined): 'DOUBLE' | 'FLOAT' {
  return family === 'FLOAT' ? 'FLOAT' : 'DOUBLE';
}

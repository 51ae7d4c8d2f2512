// Table of the functions over aggregate states.

import type { ExpressionFunction } from '../function.js';
import { DISTRIBUTION_FUNCTIONS } from './state/distribution.js';
import { HISTOGRAM_FUNCTIONS } from './state/histogram.js';
import { HLL_FUNCTIONS } from './state/hll.js';
import { MOMENTS_FUNCTIONS } from './state/moments.js';
import { STATISTICS_FUNCTIONS } from './state/statistics.js';
import { THETA_FUNCTIONS } from './state/theta.js';
import { TUPLE_FUNCTIONS } from './state/tuple.js';

/** Functions of aggregators' states, by family. */
export const STATE_FUNCTIONS: readonly ExpressionFunction[] = [
  ...MOMENTS_FUNCTIONS,
  ...HLL_FUNCTIONS,
  ...THETA_FUNCTIONS,
  ...DISTRIBUTION_FUNCTIONS,
  ...TUPLE_FUNCTIONS,
  ...HISTOGRAM_FUNCTIONS,
  ...STATISTICS_FUNCTIONS,
];

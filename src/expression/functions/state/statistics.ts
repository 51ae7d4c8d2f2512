// Functions for statistical tests.

import { zScore, zTest } from '../../../sketch/statistical-test.js';
import type { ExpressionFunction } from '../../function.js';
import { toDouble } from '../../value.js';
import { stateFunction } from './state-function.js';

/** Tests of statistics over numbers of a result; null when one of them is. */
export const STATISTICS_FUNCTIONS: readonly ExpressionFunction[] = [
  /** (successes and size of the first sample, successes and size of the second) */
  stateFunction('z_score', 'DOUBLE', (values) => {
    const [successes1 = null, size1 = null, successes2 = null, size2 = null] = values.map(toDouble);
    if (successes1 === null || size1 === null || successes2 === null || size2 === null) return null;
    return zScore(successes1, size1, successes2, size2);
  }),
  stateFunction('z_test', 'DOUBLE', ([score = null]) => {
    const z = toDouble(score);
    return z === null ? null : zTest(z);
  }),
];

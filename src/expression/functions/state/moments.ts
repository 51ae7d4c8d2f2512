// Functions over variance states.

import { decodeMoments, varianceOf } from '../../../sketch/moments.js';
import type { ExpressionFunction } from '../../function.js';
import { isText, stateFunction } from './state-function.js';

export const MOMENTS_FUNCTIONS: readonly ExpressionFunction[] = [
  /** (state, 'population' or 'sample') */
  stateFunction('stddev', 'DOUBLE', ([state, estimator]) => {
    if (!isText(state)) return null;
    const variance = varianceOf(decodeMoments(state), estimator === 'population' ? 'population' : 'sample');
    return variance === null ? null : Math.sqrt(variance);
  }),
];

import type { Estimator } from '../../sketch/moments.js';
import { decodeMoments, varianceOf } from '../../sketch/moments.js';
import type { ExpressionFunction } from '../function.js';
import { plainFunction } from '../function.js';
import type { Value } from '../value.js';

/**
 * Functions of aggregators' states, for post-aggregators only: their names begin with a colon, so that no expression
 * anybody writes can name them.
 */
export const STATE_FUNCTIONS: readonly ExpressionFunction[] = [
  plainFunction(':stddev', [2, 2], 'DOUBLE', ([state = null, estimator = null]) => {
    const variance = varianceOf(decodeMoments(textOf(state)), estimator === 'population' ? 'population' : ('sample' satisfies Estimator));
    return variance === null ? null : Math.sqrt(variance);
  }),
];

function textOf(value: Value): string {
  return typeof value === 'string' ? value : '';
}

import { decodeTheta, encodeTheta } from '../../../sketch/text.js';
import { Theta } from '../../../sketch/theta.js';
import type { ExpressionFunction } from '../../function.js';
import { integer, isText, stateFunction } from './state-function.js';

/** No size of a sketch that is only read is too large. */
const SIZE_MAX = 1 << 26;

export const THETA_FUNCTIONS: readonly ExpressionFunction[] = [
  stateFunction('theta_estimate', 'DOUBLE', ([state]) => (isText(state) ? decodeTheta(state, SIZE_MAX).estimate() : 0)),
  /** ('UNION', 'INTERSECT' or 'NOT', size, states ...) */
  stateFunction('theta_set', 'STRING', ([operation, given, ...states]) => {
    const size = integer(given);
    const sketches = states.map((state) => (isText(state) ? decodeTheta(state, SIZE_MAX) : new Theta(size)));
    if (operation === 'INTERSECT') return encodeTheta(Theta.intersect(size, sketches));
    if (operation === 'NOT') return encodeTheta(Theta.subtract(size, sketches));
    const union = new Theta(size);
    for (const sketch of sketches) union.merge(sketch);
    return encodeTheta(union);
  }),
];

// Functions over theta sketch states.

import { decodeTheta, encodeTheta } from '../../../sketch/base64-codec.js';
import { sampleBounds } from '../../../sketch/sample-bounds.js';
import { summaryOfTheta } from '../../../sketch/summary.js';
import { Theta } from '../../../sketch/theta.js';
import type { ExpressionFunction } from '../../function.js';
import { Structured } from '../../value.js';
import { integer, isText, stateFunction } from './state-function.js';

/** No size of a sketch that is only read is too large. */
const SIZE_MAX = 1 << 26;

const DEVIATIONS = [1, 2, 3] as const;

export const THETA_FUNCTIONS: readonly ExpressionFunction[] = [
  stateFunction('theta_estimate', 'DOUBLE', ([state]) => (isText(state) ? decodeTheta(state, SIZE_MAX).estimate() : 0)),
  /** (state, standard deviations) → an object, as the interface spells its keys */
  stateFunction('theta_bounds', 'COMPLEX<json>', ([state, given]) => {
    const sketch = isText(state) ? decodeTheta(state, SIZE_MAX) : new Theta(SIZE_MAX);
    const numStdDev = DEVIATIONS[integer(given) - 1] ?? 1;
    const { lower: lowBound, upper: highBound } = sampleBounds(sketch.hashes().length, sketch.fraction, numStdDev);
    return new Structured({ estimate: sketch.estimate(), highBound, lowBound, numStdDev });
  }),
  stateFunction('theta_summary', 'STRING', ([state]) => (isText(state) ? summaryOfTheta(decodeTheta(state, SIZE_MAX)) : null)),
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

// Functions over HLL sketch states.

import { lowest } from '../../../base/lists.js';
import { decodeHll, encodeHll } from '../../../sketch/base64-codec.js';
import { Hll, LG_K_MIN } from '../../../sketch/hll.js';
import { summaryOfHll } from '../../../sketch/summary.js';
import type { ExpressionFunction } from '../../function.js';
import { integer, isText, stateFunction } from './state-function.js';

export const HLL_FUNCTIONS: readonly ExpressionFunction[] = [
  /** (state, 1 to round) */
  stateFunction(
    'hll_estimate',
    (constants) => (constants[1]?.value === 1n ? 'LONG' : 'DOUBLE'),
    ([state, rounds]) => {
      const estimate = isText(state) ? decodeHll(state).estimate() : 0;
      return rounds === 1n ? BigInt(Math.round(estimate)) : estimate;
    },
  ),
  /** (state, standard deviations) → [estimate, lower bound, upper bound] */
  stateFunction('hll_bounds', 'ARRAY<DOUBLE>', ([state, deviations]) => {
    const sketch = isText(state) ? decodeHll(state) : new Hll(LG_K_MIN);
    const { lower, upper } = sketch.bounds(integer(deviations));
    return [sketch.estimate(), lower, upper];
  }),
  stateFunction('hll_summary', 'STRING', ([state]) => (isText(state) ? summaryOfHll(decodeHll(state)) : null)),
  /** (lgK, bits of a register, states ...) */
  stateFunction('hll_union', 'STRING', ([lgK, target, ...states]) => {
    const sketches = states.filter(isText).map(decodeHll);
    // The union has no more registers than the coarsest of them.
    const union = new Hll(lowest([integer(lgK), ...sketches.map((sketch) => sketch.lgK)]));
    for (const sketch of sketches) union.merge(sketch);
    const width = integer(target);
    return encodeHll(union, width === 6 || width === 8 ? width : 4);
  }),
];

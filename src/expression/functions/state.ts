import { Hll } from '../../sketch/hll.js';
import type { Kll } from '../../sketch/kll.js';
import { decodeMoments, varianceOf } from '../../sketch/moments.js';
import type { Quantiles } from '../../sketch/quantiles.js';
import { decodeHll, decodeKll, decodeQuantiles, decodeTheta, encodeHll, encodeTheta } from '../../sketch/text.js';
import { Theta } from '../../sketch/theta.js';
import type { ExpressionFunction } from '../function.js';
import type { Value } from '../value.js';
import { toDouble, toLong } from '../value.js';

/**
 * Functions of aggregators' states, for post-aggregators only: their names begin with a colon, so that no expression
 * anybody writes can name them. A state that is null is that of no rows.
 */
export const STATE_FUNCTIONS: readonly ExpressionFunction[] = [
  ofState(':stddev', 'DOUBLE', ([state, estimator]) => {
    if (!isText(state)) return null;
    const variance = varianceOf(decodeMoments(state), estimator === 'population' ? 'population' : 'sample');
    return variance === null ? null : Math.sqrt(variance);
  }),
  {
    ...ofState(':hll_estimate', 'DOUBLE', ([state, rounds]) => {
      const estimate = isText(state) ? decodeHll(state).estimate() : 0;
      return rounds === 1n ? BigInt(Math.round(estimate)) : estimate;
    }),
    type: (_, constants) => (constants[1]?.value === 1n ? 'LONG' : 'DOUBLE'),
  },
  ofState(':hll_union', 'STRING', ([lgK, target, ...states]) => {
    const sketches = states.filter(isText).map(decodeHll);
    // The union has no more registers than the coarsest of them.
    const union = new Hll(Math.min(integer(lgK), ...sketches.map((sketch) => sketch.lgK)));
    for (const sketch of sketches) union.merge(sketch);
    const width = integer(target);
    return encodeHll(union, width === 6 || width === 8 ? width : 4);
  }),
  ofState(':theta_estimate', 'DOUBLE', ([state]) => (isText(state) ? decodeTheta(state, THETA_SIZE_MAX).estimate() : 0)),
  ofState(':theta_set', 'STRING', ([operation, given, ...states]) => {
    const size = integer(given);
    const sketches = states.map((state) => (isText(state) ? decodeTheta(state, THETA_SIZE_MAX) : new Theta(size)));
    if (operation === 'INTERSECT') return encodeTheta(Theta.intersect(size, sketches));
    if (operation === 'NOT') return encodeTheta(Theta.subtract(size, sketches));
    const union = new Theta(size);
    for (const sketch of sketches) union.merge(sketch);
    return encodeTheta(union);
  }),
  ofDistribution(':quantiles_quantile', (distribution, fraction) => distribution.quantile(fraction)),
  ofDistribution(':quantiles_rank', (distribution, value) => distribution.rank(value)),
  ofDistribution(':kll_quantile', (distribution, fraction) => distribution.quantile(fraction)),
  ofDistribution(':kll_rank', (distribution, value) => distribution.rank(value)),
];

/** No size of a sketch that is only read is too large. */
const THETA_SIZE_MAX = 1 << 26;

/** (state, number[, type of a KLL sketch's numbers]) */
function ofDistribution(
  name: string,
  read: (distribution: ReturnType<(Quantiles | Kll)['distribution']>, at: number) => number,
): ExpressionFunction {
  return ofState(name, 'DOUBLE', ([state, at = null, type]) => {
    if (!isText(state)) return Number.NaN;
    const sketch = isText(type) ? decodeKll(state, type === 'FLOAT' ? 'FLOAT' : 'DOUBLE') : decodeQuantiles(state);
    return read(sketch.distribution(), toDouble(at) ?? 0);
  });
}

function ofState(name: string, type: 'DOUBLE' | 'STRING', apply: (values: readonly Value[]) => Value): ExpressionFunction {
  return { name, minArguments: 1, maxArguments: Infinity, type: () => type, bind: () => apply };
}

function isText(value: Value | undefined): value is string {
  return typeof value === 'string';
}

function integer(value: Value | undefined): number {
  return Number(toLong(value ?? null) ?? 0n);
}

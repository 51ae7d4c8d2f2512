import type { Distribution } from '../../../sketch/distribution.js';
import { decodeKll, decodeQuantiles } from '../../../sketch/text.js';
import type { ExpressionFunction } from '../../function.js';
import type { Value } from '../../value.js';
import { toDouble } from '../../value.js';
import { isText, stateFunction } from './state-function.js';

/** All take a state and its family: 'classic', or the type of numbers of a KLL sketch, DOUBLE or FLOAT. */
export const DISTRIBUTION_FUNCTIONS: readonly ExpressionFunction[] = [
  /** (state, family, fraction) */
  stateFunction(
    'quantile',
    'DOUBLE',
    ([state, family, fraction]) => distributionOf(state, family)?.quantile(number(fraction)) ?? Number.NaN,
  ),
  /** (state, family, value) */
  stateFunction('rank', 'DOUBLE', ([state, family, value]) => distributionOf(state, family)?.rank(number(value)) ?? Number.NaN),
];

/** Undefined: of no rows. */
function distributionOf(state: Value | undefined, family: Value | undefined): Distribution | undefined {
  if (!isText(state)) return undefined;
  const sketch = family === 'classic' ? decodeQuantiles(state) : decodeKll(state, family === 'FLOAT' ? 'FLOAT' : 'DOUBLE');
  return sketch.distribution();
}

function number(value: Value | undefined): number {
  return toDouble(value ?? null) ?? 0;
}

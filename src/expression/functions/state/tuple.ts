// Functions over tuple sketch states.

import { ServiceError } from '../../../base/errors.js';
import { fromBase64, toBase64 } from '../../../sketch/base64.js';
import { encodeQuantiles } from '../../../sketch/base64-codec.js';
import { varianceOf } from '../../../sketch/moments.js';
import { Quantiles } from '../../../sketch/quantiles.js';
import { sampleBounds } from '../../../sketch/sample-bounds.js';
import { tTest } from '../../../sketch/statistical-test.js';
import { Tuple } from '../../../sketch/tuple.js';
import type { ExpressionFunction } from '../../function.js';
import type { Value } from '../../value.js';
import { integer, isText, stateFunction } from './state-function.js';

/** No size of a sketch that is only read is too large. */
const SIZE_MAX = 1 << 26;

/** All take the numbers of each key after the state, for a state of no rows. */
export const TUPLE_FUNCTIONS: readonly ExpressionFunction[] = [
  stateFunction('tuple_estimate', 'DOUBLE', ([state, width]) => read(state, width).estimate()),
  /** (state, width, standard deviations) → estimate, lower and upper bound */
  stateFunction('tuple_bounds', 'ARRAY<DOUBLE>', ([state, width, deviations]) => {
    const sketch = read(state, width);
    const given = integer(deviations);
    const { lower, upper } = sampleBounds(sketch.entries, sketch.fraction, given === 3 ? 3 : given === 2 ? 2 : 1);
    return [sketch.estimate(), lower, upper];
  }),
  stateFunction('tuple_entries', 'LONG', ([state, width]) => BigInt(read(state, width).entries)),
  stateFunction('tuple_means', 'ARRAY<DOUBLE>', ([state, width]) =>
    read(state, width)
      .moments()
      .map(({ count, mean }) => (count === 0 ? Number.NaN : mean)),
  ),
  stateFunction('tuple_variances', 'ARRAY<DOUBLE>', ([state, width]) =>
    read(state, width)
      .moments()
      .map((moments) => varianceOf(moments, 'sample') ?? Number.NaN),
  ),
  stateFunction('tuple_sums', 'ARRAY<DOUBLE>', ([state, width]) => {
    const sketch = read(state, width);
    return sketch.moments().map(({ sum }) => sum / sketch.fraction);
  }),
  /** (state, width, column from 1 on, k) */
  stateFunction('tuple_quantiles', 'STRING', ([state, width, column, k]) => {
    const sketch = read(state, width);
    const place = integer(column) - 1;
    if (place >= sketch.width)
      throw new ServiceError('query_invalid', `column ${place + 1} of a sketch with ${sketch.width} numbers for each key`);
    const quantiles = new Quantiles(integer(k));
    for (const [, values] of sketch.sorted()) quantiles.add(values[place] ?? 0);
    return encodeQuantiles(quantiles);
  }),
  /** (state, width, state) → p-values */
  stateFunction('tuple_t_test', 'ARRAY<DOUBLE>', ([state, width, other]) => {
    const [a, b] = [read(state, width), read(other, width)];
    if (a.width !== b.width)
      throw new ServiceError('query_invalid', `a t-test of sketches with ${a.width} and ${b.width} numbers for each key`);
    const right = b.moments();
    return a.moments().map((left, place) => tTest(left, right[place] ?? left));
  }),
  /** ('UNION', 'INTERSECT' or 'NOT', width, size, states ...) */
  stateFunction('tuple_set', 'STRING', ([operation, width, size, ...states]) => {
    const [first, ...others] = states.map((state) => read(state, width));
    if (first === undefined) return null;
    if (operation === 'INTERSECT') return write(Tuple.intersect(integer(size), [first, ...others]));
    if (operation === 'NOT') return write(Tuple.subtract(integer(size), [first, ...others]));
    const union = new Tuple(integer(size), first.width);
    for (const sketch of [first, ...others]) union.merge(sketch);
    return write(union);
  }),
  stateFunction('tuple_base64', 'STRING', ([state, width]) => write(read(state, width))),
  stateFunction('tuple_summary', 'STRING', ([state, width]) => {
    const sketch = read(state, width);
    const lines = [
      ['estimate', sketch.estimate()],
      ['retained entries', sketch.entries],
      ['numbers per entry', sketch.width],
      ['sampled fraction', sketch.fraction],
    ];
    return ['array-of-doubles sketch', ...lines.map(([name, value]) => `  ${name}: ${value}`)].join('\n');
  }),
];

function read(state: Value | undefined, width: Value | undefined): Tuple {
  return isText(state) ? Tuple.decode(fromBase64(state), SIZE_MAX) : new Tuple(SIZE_MAX, integer(width));
}

function write(sketch: Tuple): string {
  return toBase64(sketch.encode());
}

// SQL aggregates of histograms, Bloom filters and tuple sketches.

import type { AggregateState } from '../../../../model/aggregate-state.js';
import { toBase64 } from '../../../../sketch/base64.js';
import { FIXED_BUCKETS_MAX, OUTLIER_MODES } from '../../../../sketch/fixed-histogram.js';
import { Tuple } from '../../../../sketch/tuple.js';
import { type Bound, call, literal, text } from '../../relation/bound.js';
import { type AggregateFunction, type AggregateUse, collectStates, numericOperand, stateAggregator } from '../aggregate-list.js';

const RESOLUTION = 50;
const RESOLUTION_MAX = 100_000;
const ENTRIES_MAX = 100_000_000;
const TUPLE = 'COMPLEX<arrayOfDoublesSketch>';
const TUPLE_SIZE = 16384;

/** Histograms, Bloom filters, and sketches of keys with numbers. */
export const DISTRIBUTION_AGGREGATES: Readonly<Record<string, AggregateFunction>> = {
  APPROX_QUANTILE(use) {
    const resolution = use.call.constantInteger(2, RESOLUTION);
    if (resolution < 1 || resolution > RESOLUTION_MAX) throw use.call.mismatch(2, `an integer from 1 to ${RESOLUTION_MAX}`);
    const aggregateState = { type: 'histogram', resolution, buckets: 7, lower: null, upper: null, asBytes: true } as const;
    return quantile(use, aggregateState, 'approximate', 'COMPLEX<approximateHistogram>', 3);
  },
  APPROX_QUANTILE_FIXED_BUCKETS(use) {
    if (use.call.count < 5) throw use.call.error(use.call.at, `${use.call.name} takes 5 to 6 arguments, found ${use.call.count}`);
    const number = use.call.constantInteger(2, 0);
    if (number < 1 || number > FIXED_BUCKETS_MAX) throw use.call.mismatch(2, `an integer from 1 to ${FIXED_BUCKETS_MAX}`);
    const [lower, upper] = [constantNumber(use, 3), constantNumber(use, 4)];
    if (!(lower < upper)) throw use.call.mismatch(4, 'a number above the lower limit');
    const written = use.call.constantText(5, 'ignore').toLowerCase();
    const outliers = OUTLIER_MODES.find((mode) => mode === written);
    if (outliers === undefined) throw use.call.mismatch(5, `one of ${OUTLIER_MODES.join(', ')}`);
    const aggregateState = { type: 'fixedHistogram', shape: { lower, upper, number, outliers }, asBytes: true } as const;
    const found = quantile(use, aggregateState, 'fixed', 'COMPLEX<fixedBucketsHistogram>', 6);
    return call('DOUBLE', 'coalesce', found, literal('DOUBLE', 0));
  },
  BLOOM_FILTER(use) {
    if (use.call.count < 2) throw use.call.error(use.call.at, `${use.call.name} takes 2 arguments, found ${use.call.count}`);
    const entries = use.call.constantInteger(1, 0);
    if (entries < 1 || entries > ENTRIES_MAX) throw use.call.mismatch(1, `an integer from 1 to ${ENTRIES_MAX}`);
    const settings = { operand: () => use.call.any(0), type: 'COMPLEX<bloom>', argumentsMax: 2 } as const;
    return collectStates(use, { type: 'bloom', entries }, settings, 'state');
  },
  DS_TUPLE_DOUBLES: tuples,
};

function quantile(
  use: AggregateUse,
  aggregateState: AggregateState,
  kind: 'approximate' | 'fixed',
  type: 'COMPLEX<approximateHistogram>' | 'COMPLEX<fixedBucketsHistogram>',
  argumentsMax: number,
): Bound {
  const fraction = constantNumber(use, 1);
  if (fraction < 0 || fraction > 1) throw use.call.mismatch(1, 'a literal number from 0 to 1');
  const state = collectStates(use, aggregateState, { operand: () => numericOperand(use), type, argumentsMax }, 'state');
  return call('DOUBLE', ':histogram_quantile', state, text(kind), literal('DOUBLE', fraction));
}

function constantNumber(use: AggregateUse, index: number): number {
  const argument = use.call.number(index);
  if (argument.kind !== 'literal' || argument.value === null) throw use.call.mismatch(index, 'a literal number');
  return Number(argument.value);
}

/** DS_TUPLE_DOUBLES(key, number ...[, size]), or of stored sketches: (sketch[, size]). */
function tuples(use: AggregateUse): Bound {
  const { call: bound } = use;
  const last = bound.count - 1;
  const ending = bound.arguments[last];
  const sized = last > 0 && ending?.kind === 'literal' && typeof ending.value === 'bigint';
  const size = sized ? bound.constantInteger(last, TUPLE_SIZE) : TUPLE_SIZE;
  if (size < 16 || size > 1 << 26 || !Number.isInteger(Math.log2(size))) throw bound.mismatch(last, 'a power of 2 from 16 on');
  const numbers = bound.arguments.slice(1, sized ? last : undefined).map((_, index) => bound.number(index + 1));
  const aggregateState = { type: 'tuple', size, width: Math.max(1, numbers.length) } as const;
  if (numbers.length === 0 && bound.any(0).type !== TUPLE) throw bound.mismatch(0, `a ${TUPLE}, or a key before numbers`);
  const state =
    numbers.length === 0
      ? collectStates(use, aggregateState, { operand: () => bound.any(0), type: TUPLE, argumentsMax: 2 }, 'state')
      : stateAggregator(use, aggregateState, { operands: [bound.any(0), ...numbers], type: TUPLE, argumentsMax: bound.count }, 'state');
  // No rows give an empty state with the same number of values, which readers could not infer.
  return call(TUPLE, 'coalesce', state, literal(TUPLE, toBase64(new Tuple(size, aggregateState.width).encode())));
}

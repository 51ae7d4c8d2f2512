// Native names of histogram aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { double, long, text } from '../../../model/expression.js';
import { BREAKS_MAX } from '../../../sketch/breaks-histogram.js';
import { FIXED_BUCKETS_MAX, OUTLIER_MODES } from '../../../sketch/fixed-histogram.js';
import type { VirtualColumns } from '../column/columns.js';
import { refuse } from '../reader.js';
import { type Computed, computed, merging, overStored, type PostScope, readNumber, type StateFamily, stateAggregator } from './family.js';

const RESOLUTION = 50;
const RESOLUTION_MAX = 100_000;
const BUCKETS = 7;
const BUCKETS_MAX = 1_000_000;
const FIXED_BUCKETS = 10;

/** Histograms whose buckets follow the values, and histograms over buckets that are given. */
export const HISTOGRAMS: StateFamily = {
  aggregators: {
    approxHistogram: (reader, columns) => overStored(readApproximate(reader), columns, reader),
    approxHistogramFold: (reader, columns) => merging(readApproximate(reader), columns, reader),
    histogram: readBreaks,
    fixedBucketsHistogram: (reader, columns) => readFixed(reader, columns),
  },
  queryOnly: ['histogram'],
  postAggregators: {
    min: (reader, scope) => ofAny(reader, scope, (operands) => computed(reader, 'DOUBLE', 'histogram_min', ...operands)),
    max: (reader, scope) => ofAny(reader, scope, (operands) => computed(reader, 'DOUBLE', 'histogram_max', ...operands)),
    quantile: (reader, scope) => {
      const fraction = readFraction(reader.raw('probability'), reader.at('probability'));
      return ofAny(reader, scope, (operands) => computed(reader, 'DOUBLE', 'histogram_quantile', ...operands, double(fraction)));
    },
    quantiles: (reader, scope) => {
      const fractions = reader.list('probabilities', readFraction);
      if (fractions.length === 0) refuse(reader.at('probabilities'), 'at least one number from 0 to 1', reader.raw('probabilities'));
      return ofAny(reader, scope, (operands) =>
        computed(reader, 'COMPLEX<json>', 'histogram_quantiles', ...operands, ...fractions.map(double)),
      );
    },
    equalBuckets: (reader, scope) => {
      const buckets = reader.optionalInteger('numBuckets', 2) ?? refuse(reader.at('numBuckets'), 'an integer of at least 2', undefined);
      if (buckets > BUCKETS_MAX) refuse(reader.at('numBuckets'), `at most ${BUCKETS_MAX}`, buckets);
      return computed(reader, 'COMPLEX<json>', 'histogram_equal_buckets', approximate(reader, scope).expression, long(buckets));
    },
    buckets: (reader, scope) => {
      const width = Math.fround(readNumber(reader, 'bucketSize'));
      if (!(width > 0)) refuse(reader.at('bucketSize'), 'a number above 0', width);
      const offset = Math.fround(reader.has('offset') ? readNumber(reader, 'offset') : 0);
      const { aggregateState, expression } = approximate(reader, scope);
      const limits = [aggregateState.lower, aggregateState.upper].map(double);
      return computed(reader, 'COMPLEX<json>', 'histogram_buckets', expression, double(width), double(offset), ...limits);
    },
    customBuckets: (reader, scope) => {
      const breaks = readBounds(reader, 2);
      return computed(reader, 'COMPLEX<json>', 'histogram_custom_buckets', approximate(reader, scope).expression, ...breaks.map(double));
    },
  },
};

function readApproximate(reader: ObjectReader): Aggregator {
  const resolution = reader.optionalInteger('resolution', 1) ?? RESOLUTION;
  if (resolution > RESOLUTION_MAX) refuse(reader.at('resolution'), `an integer from 1 to ${RESOLUTION_MAX}`, resolution);
  const buckets = reader.optionalInteger('numBuckets', 2) ?? BUCKETS;
  if (buckets > BUCKETS_MAX) refuse(reader.at('numBuckets'), `an integer from 2 to ${BUCKETS_MAX}`, buckets);
  const [lower, upper] = ['lowerLimit', 'upperLimit'].map((key) => (reader.has(key) ? Math.fround(readNumber(reader, key)) : null));
  if (!((lower ?? -Infinity) < (upper ?? Infinity))) refuse(reader.at('upperLimit'), 'a number above lowerLimit', upper);
  const asBytes = reader.boolean('finalizeAsBase64Binary', false);
  const aggregateState = { type: 'histogram', resolution, buckets, lower: lower ?? null, upper: upper ?? null, asBytes } as const;
  return stateAggregator(reader, aggregateState, [reader.string('fieldName')], asBytes ? 'STRING' : 'COMPLEX<json>');
}

function readFixed(reader: ObjectReader, columns: VirtualColumns): Aggregator {
  const number = reader.optionalInteger('numBuckets', 1) ?? FIXED_BUCKETS;
  if (number > FIXED_BUCKETS_MAX) refuse(reader.at('numBuckets'), `an integer from 1 to ${FIXED_BUCKETS_MAX}`, number);
  const [lower, upper] = [readNumber(reader, 'lowerLimit'), readNumber(reader, 'upperLimit')];
  if (!(lower < upper)) refuse(reader.at('upperLimit'), 'a number above lowerLimit', upper);
  const outliers = reader.choice('outlierHandlingMode', OUTLIER_MODES, undefined);
  const asBytes = reader.boolean('finalizeAsBase64Binary', false);
  const column = reader.string('fieldName');
  const shape = { lower, upper, number, outliers };
  const aggregator = stateAggregator(reader, { type: 'fixedHistogram', shape, asBytes }, [column], asBytes ? 'STRING' : 'COMPLEX<json>');
  return overStored(aggregator, columns, reader);
}

function readBreaks(reader: ObjectReader): Aggregator {
  const breaks = readBounds(reader, 1);
  return stateAggregator(reader, { type: 'breaksHistogram', breaks }, [reader.string('fieldName')], 'COMPLEX<json>');
}

/** `breaks`: as floats, ascending, at least as many. */
function readBounds(reader: ObjectReader, least: number): readonly number[] {
  const breaks = reader.list('breaks', (value, path) => Math.fround(numberAt(value, path)));
  if (
    breaks.length < least ||
    breaks.length > BREAKS_MAX ||
    breaks.some((bound, index) => index > 0 && !(bound > (breaks[index - 1] ?? 0)))
  )
    refuse(reader.at('breaks'), `from ${least} to ${BREAKS_MAX} numbers, ascending`, reader.raw('breaks'));
  return breaks;
}

/** A post-aggregator of either kind of histogram, whose functions take the state and its kind first. */
function ofAny(reader: ObjectReader, { states }: PostScope, make: (operands: readonly Computed['expression'][]) => Computed): Computed {
  const found = states.read(reader.string('fieldName'), ['histogram', 'fixedHistogram'], reader.at('fieldName'));
  return make([found.expression, text(found.aggregateState.type === 'fixedHistogram' ? 'fixed' : 'approximate')]);
}

function approximate(reader: ObjectReader, { states }: PostScope) {
  return states.read(reader.string('fieldName'), ['histogram'], reader.at('fieldName'));
}

function readFraction(value: unknown, path: string): number {
  const fraction = numberAt(value, path);
  return fraction >= 0 && fraction <= 1 ? fraction : refuse(path, 'a number from 0 to 1', value);
}

function numberAt(value: unknown, path: string): number {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : refuse(path, 'a number', value);
}

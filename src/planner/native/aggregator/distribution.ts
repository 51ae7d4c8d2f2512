// Native names of quantiles sketch aggregators, classic and KLL.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { double, type Expression, text } from '../../../model/expression.js';
import { refuse } from '../reader.js';
import {
  type Computed,
  computed,
  isPowerOfTwo,
  overStored,
  type PostScope,
  readNumber,
  type StateFamily,
  stateAggregator,
  stateField,
} from './family.js';

/** The quantiles of doubles, classic and KLL, whose post-aggregators differ in their names only. */
export const QUANTILES: StateFamily = {
  aggregators: {
    quantilesDoublesSketch: (reader, columns) => {
      const k = reader.optionalInteger('k', 2) ?? 128;
      if (k > 32768 || !isPowerOfTwo(k)) refuse(reader.at('k'), 'a power of 2 from 2 to 32768', k);
      acceptStreamLength(reader);
      return overStored(stateAggregator(reader, { type: 'quantiles', k }, [reader.string('fieldName')], 'LONG'), columns, reader);
    },
  },
  postAggregators: distributionPostAggregators('quantilesDoublesSketch', (reader, key, scope) => [
    stateField(reader, key, ['quantiles'], scope).expression,
    text('classic'),
  ]),
};

export const KLL_DOUBLES = kllFamily('KllDoublesSketch', 'DOUBLE');
export const KLL_FLOATS = kllFamily('KllFloatsSketch', 'FLOAT');

function kllFamily(name: string, valueType: 'DOUBLE' | 'FLOAT'): StateFamily {
  return {
    aggregators: { [name]: (reader, columns) => overStored(readKll(reader, valueType), columns, reader) },
    postAggregators: distributionPostAggregators(name, (reader, key, scope) => {
      const { aggregateState, expression } = stateField(reader, key, ['kll'], scope);
      if (aggregateState.valueType !== valueType)
        throw new ServiceError(
          'query_invalid',
          `${reader.at(key)}: expected a KLL sketch of ${valueType}s, found one of ${aggregateState.valueType}s`,
        );
      return [expression, text(valueType)];
    }),
  };
}

function readKll(reader: ObjectReader, valueType: 'DOUBLE' | 'FLOAT'): Aggregator {
  const k = reader.optionalInteger('k', 8) ?? 200;
  if (k > 65535) refuse(reader.at('k'), 'an integer from 8 to 65535', k);
  acceptStreamLength(reader);
  return stateAggregator(reader, { type: 'kll', k, valueType }, [reader.string('fieldName')], 'LONG');
}

/** Accepts `maxStreamLength`, a hint for sizing off-heap buffers; sketches here grow as needed, so it changes nothing. */
function acceptStreamLength(reader: ObjectReader): void {
  reader.optionalInteger('maxStreamLength', 1);
}

const BINS_MAX = 1 << 20;

function readPoints(reader: ObjectReader): readonly number[] {
  return readNumbers(reader, 'splitPoints', 'ascending numbers, each once', (points) =>
    points.every((point, index) => index === 0 || point > (points[index - 1] ?? 0)),
  );
}

function readNumbers(
  reader: ObjectReader,
  key: string,
  expected: string,
  isRight: (numbers: readonly number[]) => boolean,
): readonly number[] {
  const list = reader.array(key);
  const numbers = list.flatMap((each) => (typeof each === 'number' || typeof each === 'bigint' ? [Number(each)] : []));
  return numbers.length === list.length && list.length > 0 && isRight(numbers) ? numbers : refuse(reader.at(key), expected, list);
}

/** @param operands  reads the field of a sketch, as the operands that say which sketch it is */
function distributionPostAggregators(
  prefix: string,
  operands: (reader: ObjectReader, key: string, scope: PostScope) => readonly Expression[],
): StateFamily['postAggregators'] {
  const of = (suffix: string, read: (reader: ObjectReader, sketch: readonly Expression[]) => Computed): StateFamily['postAggregators'] => ({
    [`${prefix}${suffix}`]: (reader, scope) => read(reader, operands(reader, 'field', scope)),
  });
  return {
    ...of('ToQuantile', (reader, sketch) => {
      const fraction = readNumber(reader, 'fraction');
      if (fraction < 0 || fraction > 1) refuse(reader.at('fraction'), 'a number from 0 to 1', fraction);
      return computed(reader, 'DOUBLE', 'quantile', ...sketch, double(fraction));
    }),
    ...of('ToQuantiles', (reader, sketch) => {
      const fractions = readNumbers(reader, 'fractions', 'numbers from 0 to 1', (list) => list.every((each) => each >= 0 && each <= 1));
      return computed(reader, 'ARRAY<DOUBLE>', 'quantiles', ...sketch, ...fractions.map(double));
    }),
    ...of('ToCDF', (reader, sketch) => computed(reader, 'ARRAY<DOUBLE>', 'cdf', ...sketch, ...readPoints(reader).map(double))),
    ...of('ToHistogram', (reader, sketch) => {
      if (!reader.has('splitPoints')) {
        const bins = reader.optionalInteger('numBins', 1) ?? 10;
        if (bins > BINS_MAX) refuse(reader.at('numBins'), `an integer from 1 to ${BINS_MAX}`, bins);
        return computed(reader, 'ARRAY<DOUBLE>', 'even_histogram', ...sketch, double(bins));
      }
      if (reader.has('numBins')) refuse(reader.at('numBins'), 'either splitPoints or numBins', 'both');
      return computed(reader, 'ARRAY<DOUBLE>', 'histogram', ...sketch, ...readPoints(reader).map(double));
    }),
    ...of('ToString', (reader, sketch) => computed(reader, 'STRING', 'distribution_summary', ...sketch)),
    ...of('ToRank', (reader, sketch) => computed(reader, 'DOUBLE', 'rank', ...sketch, double(readNumber(reader, 'value')))),
  };
}

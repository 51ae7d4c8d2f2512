import { ServiceError } from '../../../base/errors.js';
import type { Aggregator } from '../../../model/aggregator.js';
import type { Expression } from '../../../model/expression.js';
import type { ObjectReader } from '../reader.js';
import { refuse } from '../reader.js';
import type { Computed, PostScope, StateFamily } from './family.js';
import { collect, computed, double, isPowerOfTwo, readNumber, stateField, text } from './family.js';

/** The quantiles of doubles, classic and KLL, whose post-aggregators differ in their names only. */
export const QUANTILES: StateFamily = {
  aggregators: {
    quantilesDoublesSketch: (reader) => {
      const k = reader.optionalInteger('k', 2) ?? 128;
      if (k > 32768 || !isPowerOfTwo(k)) refuse(reader.at('k'), 'a power of 2 from 2 to 32768', k);
      acceptStreamLength(reader);
      return collect(reader, { type: 'quantiles', k }, [reader.string('fieldName')], 'LONG');
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
    aggregators: { [name]: (reader) => readKll(reader, valueType) },
    postAggregators: distributionPostAggregators(name, (reader, key, scope) => {
      const { collector, expression } = stateField(reader, key, ['kll'], scope);
      if (collector.valueType !== valueType)
        throw new ServiceError(
          'query_invalid',
          `${reader.at(key)}: expected a KLL sketch of ${valueType}s, found one of ${collector.valueType}s`,
        );
      return [expression, text(valueType)];
    }),
  };
}

function readKll(reader: ObjectReader, valueType: 'DOUBLE' | 'FLOAT'): Aggregator {
  const k = reader.optionalInteger('k', 8) ?? 200;
  if (k > 65535) refuse(reader.at('k'), 'an integer from 8 to 65535', k);
  acceptStreamLength(reader);
  return collect(reader, { type: 'kll', k, valueType }, [reader.string('fieldName')], 'LONG');
}

/** How long a stream may get before a sketch moves in memory: here none ever has to. */
function acceptStreamLength(reader: ObjectReader): void {
  reader.optionalInteger('maxStreamLength', 1);
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
    ...of('ToRank', (reader, sketch) => computed(reader, 'DOUBLE', 'rank', ...sketch, double(readNumber(reader, 'value')))),
  };
}

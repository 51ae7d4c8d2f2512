// Native names of variance aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { text } from '../../../model/expression.js';
import type { Estimator } from '../../../sketch/moments.js';
import { computed, merging, overStored, type StateFamily, stateAggregator } from './family.js';

export const MOMENTS: StateFamily = {
  queryOnly: ['doubleMean'],
  aggregators: {
    doubleMean: (reader, columns) =>
      overStored(stateAggregator(reader, { type: 'moments', result: 'mean' }, [reader.string('fieldName')], 'DOUBLE'), columns, reader),
    variance: (reader, columns) => {
      const isInput = reader.choice('inputType', ['float', 'double', 'long', 'variance'], 'double') === 'variance';
      const aggregator = readVariance(reader);
      return isInput ? merging(aggregator, columns, reader) : overStored(aggregator, columns, reader);
    },
    varianceFold: (reader, columns) => merging(readVariance(reader), columns, reader),
  },
  postAggregators: {
    stddev: (reader, { states }) => {
      const { expression } = states.read(reader.string('fieldName'), ['moments'], reader.at('fieldName'));
      return computed(reader, 'DOUBLE', 'stddev', expression, text(readEstimator(reader)));
    },
  },
};

function readVariance(reader: ObjectReader): Aggregator {
  const result = readEstimator(reader) === 'population' ? 'populationVariance' : 'sampleVariance';
  return stateAggregator(reader, { type: 'moments', result }, [reader.string('fieldName')], 'DOUBLE');
}

function readEstimator(reader: ObjectReader): Estimator {
  return reader.choice('estimator', ['population', 'sample'], 'sample');
}

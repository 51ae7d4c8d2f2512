import { ServiceError } from '../../../base/errors.js';
import type { Estimator } from '../../../sketch/moments.js';
import type { ObjectReader } from '../reader.js';
import type { StateFamily } from './family.js';
import { collect, computed, text } from './family.js';

export const MOMENTS: StateFamily = {
  aggregators: {
    doubleMean: (reader) => collect(reader, { type: 'moments', result: 'mean' }, [reader.string('fieldName')], 'DOUBLE'),
    variance: (reader) => {
      if (reader.choice('inputType', ['float', 'double', 'long', 'variance'], 'double') === 'variance')
        throw new ServiceError('unsupported', `${reader.at('inputType')}: stored variances are not supported`);
      const result = readEstimator(reader) === 'population' ? 'populationVariance' : 'sampleVariance';
      return collect(reader, { type: 'moments', result }, [reader.string('fieldName')], 'DOUBLE');
    },
  },
  postAggregators: {
    stddev: (reader, { states }) => {
      const { expression } = states.read(reader.string('fieldName'), ['moments'], reader.at('fieldName'));
      return computed(reader, 'DOUBLE', 'stddev', expression, text(readEstimator(reader)));
    },
  },
};

function readEstimator(reader: ObjectReader): Estimator {
  return reader.choice('estimator', ['population', 'sample'], 'sample');
}

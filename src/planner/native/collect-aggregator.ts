import { ServiceError } from '../../base/errors.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { Collector } from '../../model/collector.js';
import type { ColumnType } from '../../model/schema.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { Estimator } from '../../sketch/moments.js';
import type { ObjectReader } from './reader.js';

type ReadAggregator = (reader: ObjectReader) => Aggregator;

const TYPES = { long: 'LONG', double: 'DOUBLE', float: 'FLOAT', string: 'STRING' } as const;

/** Aggregators whose state is more than a number, and `any`, which is a minimum for numbers. */
export const COLLECT_AGGREGATORS: Readonly<Record<string, ReadAggregator>> = {
  ...Object.fromEntries(
    (['long', 'double', 'float', 'string'] as const).flatMap((prefix) => {
      const type = TYPES[prefix];
      return [
        [`${prefix}First`, (reader: ObjectReader) => readFirstLast(reader, 'first', type)],
        [`${prefix}Last`, (reader: ObjectReader) => readFirstLast(reader, 'last', type)],
        [`${prefix}Any`, (reader: ObjectReader) => readAny(reader, type)],
      ];
    }),
  ),
  doubleMean: (reader) => collect(reader, { type: 'moments', result: 'mean' }, [reader.string('fieldName')], 'DOUBLE'),
  variance: (reader) => {
    if (reader.choice('inputType', ['float', 'double', 'long', 'variance'], 'double') === 'variance')
      throw new ServiceError('unsupported', `${reader.at('inputType')}: stored variances are not supported`);
    const isPopulation = readEstimator(reader) === 'population';
    return collect(
      reader,
      { type: 'moments', result: isPopulation ? 'populationVariance' : 'sampleVariance' },
      [reader.string('fieldName')],
      'DOUBLE',
    );
  },
};

const STRING_BYTES = 1024;

function readFirstLast(reader: ObjectReader, type: 'first' | 'last', valueType: ColumnType): Aggregator {
  const maxStringBytes = valueType === 'STRING' ? (reader.optionalInteger('maxStringBytes', 0) ?? STRING_BYTES) : STRING_BYTES;
  const columns = [reader.string('fieldName'), reader.optionalString('timeColumn') ?? TIME_COLUMN];
  return collect(reader, { type, valueType, maxStringBytes }, columns, valueType);
}

/** Any value: the smallest, so that it is always the same one. */
function readAny(reader: ObjectReader, type: ColumnType): Aggregator {
  const column = reader.string('fieldName');
  if (type !== 'STRING') return { kind: 'min', name: reader.string('name'), filter: null, column, type };
  // Which of several values of a row: rows of several values are refused where they are met.
  reader.boolean('aggregateMultipleValues', true);
  const maxStringBytes = reader.optionalInteger('maxStringBytes', 0) ?? STRING_BYTES;
  return collect(reader, { type: 'first', valueType: type, maxStringBytes }, [column], type);
}

export function readEstimator(reader: ObjectReader): Estimator {
  return reader.choice('estimator', ['population', 'sample'], 'sample');
}

function collect(reader: ObjectReader, collector: Collector, columns: readonly string[], type: ColumnType): Aggregator {
  return { kind: 'collect', name: reader.string('name'), filter: null, collector, columns, input: 'values', output: 'value', type };
}

// Native names of tuple sketch aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { AggregateState } from '../../../model/aggregate-state.js';
import { long, text } from '../../../model/expression.js';
import { fromBase64 } from '../../../sketch/base64.js';
import { Tuple } from '../../../sketch/tuple.js';
import { refuse } from '../reader.js';
import {
  type Computed,
  computed,
  computedState,
  isPowerOfTwo,
  merging,
  type PostScope,
  type StateFamily,
  stateAggregator,
  stateField,
  stateFields,
} from './family.js';

const PREFIX = 'arrayOfDoublesSketch';
const SIZE = 16384;
const SIZE_MAX = 1 << 26;
const WIDTH_MAX = 127;
const QUANTILES_K = 128;

/** Sketches of distinct keys with numbers for each, of raw columns or of stored sketches. */
export const TUPLE: StateFamily = {
  aggregators: {
    [PREFIX]: (reader, columns) => {
      const metrics = reader.has('metricColumns') ? reader.strings('metricColumns') : undefined;
      const width = readWidth(reader) ?? metrics?.length ?? 1;
      if (metrics !== undefined && metrics.length !== width)
        refuse(reader.at('numberOfValues'), `the number of metricColumns, ${metrics.length}`, width);
      const aggregateState = { type: 'tuple', size: readSize(reader), width } as const;
      const aggregator = stateAggregator(reader, aggregateState, [reader.string('fieldName'), ...(metrics ?? [])], 'DOUBLE');
      return metrics === undefined ? merging(aggregator, columns, reader) : aggregator;
    },
  },
  postAggregators: {
    ...ofSketch('ToEstimate', (reader, field) => computed(reader, 'DOUBLE', 'tuple_estimate', ...field)),
    ...ofSketch('ToEstimateAndBounds', (reader, field) => {
      const deviations = reader.optionalInteger('numStdDevs', 1) ?? 1;
      if (deviations > 3) refuse(reader.at('numStdDevs'), '1, 2 or 3', deviations);
      return computed(reader, 'ARRAY<DOUBLE>', 'tuple_bounds', ...field, long(deviations));
    }),
    ...ofSketch('ToNumEntries', (reader, field) => computed(reader, 'LONG', 'tuple_entries', ...field)),
    ...ofSketch('ToMeans', (reader, field) => computed(reader, 'ARRAY<DOUBLE>', 'tuple_means', ...field)),
    ...ofSketch('ToVariances', (reader, field) => computed(reader, 'ARRAY<DOUBLE>', 'tuple_variances', ...field)),
    ...ofSketch('ToMetricsSumEstimate', (reader, field) => computed(reader, 'ARRAY<DOUBLE>', 'tuple_sums', ...field)),
    ...ofSketch('ToString', (reader, field) => computed(reader, 'STRING', 'tuple_summary', ...field)),
    ...ofSketch('ToBase64String', (reader, field) => computed(reader, 'STRING', 'tuple_base64', ...field)),
    ...ofSketch('ToQuantilesSketch', (reader, field) => {
      const column = reader.optionalInteger('column', 1) ?? 1;
      const k = reader.optionalInteger('k', 2) ?? QUANTILES_K;
      if (k > 32768 || !isPowerOfTwo(k)) refuse(reader.at('k'), 'a power of 2 from 2 to 32768', k);
      return computedState(reader, { type: 'quantiles', k }, 'tuple_quantiles', ...field, long(column), long(k));
    }),
    [`${PREFIX}TTest`]: (reader, scope) => {
      const [first, second, third] = stateFields(reader, ['tuple'], scope, 2);
      if (first === undefined || second === undefined || third !== undefined)
        return refuse(reader.at('fields'), 'two sketches', reader.raw('fields'));
      return computed(reader, 'ARRAY<DOUBLE>', 'tuple_t_test', first.expression, long(first.aggregateState.width), second.expression);
    },
    [`${PREFIX}SetOp`]: (reader, scope) => {
      const operation = reader.choice('operation', ['UNION', 'INTERSECT', 'NOT'], undefined);
      const fields = stateFields(reader, ['tuple'], scope, 2);
      const width = readWidth(reader) ?? fields[0]?.aggregateState.width ?? 1;
      const state: AggregateState = { type: 'tuple', size: readSize(reader), width };
      const states = fields.map(({ expression }) => expression);
      return computedState(reader, state, 'tuple_set', text(operation), long(width), long(state.size), ...states);
    },
    [`${PREFIX}Constant`]: (reader) => {
      const value = reader.string('value');
      // Validate now, so that the error names the field.
      const width = ((): number => {
        try {
          return Tuple.decode(fromBase64(value), SIZE_MAX).width;
        } catch {
          return refuse(reader.at('value'), 'a compact array-of-doubles sketch of seed 9001 as base64', value);
        }
      })();
      return {
        name: reader.optionalString('name'),
        type: 'STRING',
        expression: text(value),
        state: { type: 'tuple', size: SIZE_MAX, width },
      };
    },
  },
};

/** A post-aggregator of one sketch, whose functions take the state and its width first. */
function ofSketch(
  suffix: string,
  make: (reader: ObjectReader, field: readonly Computed['expression'][]) => Computed,
): StateFamily['postAggregators'] {
  return {
    [`${PREFIX}${suffix}`]: (reader: ObjectReader, scope: PostScope) => {
      const { aggregateState, expression } = stateField(reader, 'field', ['tuple'], scope);
      return make(reader, [expression, long(aggregateState.width)]);
    },
  };
}

function readWidth(reader: ObjectReader): number | undefined {
  const width = reader.optionalInteger('numberOfValues', 1);
  return width !== undefined && width > WIDTH_MAX ? refuse(reader.at('numberOfValues'), `an integer from 1 to ${WIDTH_MAX}`, width) : width;
}

function readSize(reader: ObjectReader): number {
  const size = reader.optionalInteger('nominalEntries', 16) ?? SIZE;
  return isPowerOfTwo(size) && size <= SIZE_MAX ? size : refuse(reader.at('nominalEntries'), `a power of 2 from 16 to ${SIZE_MAX}`, size);
}

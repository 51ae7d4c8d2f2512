// Native names of HLL sketch aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { long } from '../../../model/expression.js';
import { refuse } from '../reader.js';
import {
  computed,
  computedState,
  flag,
  merging,
  overStored,
  type StateFamily,
  stateAggregator,
  stateField,
  stateFields,
} from './family.js';

export const HLL: StateFamily = {
  aggregators: {
    HLLSketchBuild: (reader, columns) => overStored(readHll(reader), columns, reader),
    HLLSketchMerge: (reader, columns) => merging(readHll(reader), columns, reader),
  },
  postAggregators: {
    HLLSketchEstimate: (reader, scope) => {
      const round = reader.boolean('round', false);
      return computed(
        reader,
        round ? 'LONG' : 'DOUBLE',
        'hll_estimate',
        stateField(reader, 'field', ['hll'], scope).expression,
        flag(round),
      );
    },
    HLLSketchEstimateWithBounds: (reader, scope) => {
      const deviations = reader.optionalInteger('numStdDev', 1) ?? 1;
      if (deviations > 3) refuse(reader.at('numStdDev'), '1, 2 or 3', deviations);
      return computed(reader, 'ARRAY<DOUBLE>', 'hll_bounds', stateField(reader, 'field', ['hll'], scope).expression, long(deviations));
    },
    HLLSketchToString: (reader, scope) => computed(reader, 'STRING', 'hll_summary', stateField(reader, 'field', ['hll'], scope).expression),
    HLLSketchUnion: (reader, scope) => {
      const fields = stateFields(reader, ['hll'], scope, 1);
      const state = { type: 'hll', lgK: readLgK(reader), target: readTarget(reader), round: false, stringEncoding: 'utf16le' } as const;
      return computedState(reader, state, 'hll_union', long(state.lgK), long(state.target), ...fields.map(({ expression }) => expression));
    },
  },
};

function readHll(reader: ObjectReader): Aggregator {
  const round = reader.boolean('round', false);
  const aggregateState = {
    type: 'hll',
    lgK: readLgK(reader),
    target: readTarget(reader),
    round,
    stringEncoding: readEncoding(reader),
  } as const;
  return stateAggregator(reader, aggregateState, [reader.string('fieldName')], round ? 'LONG' : 'DOUBLE');
}

function readEncoding(reader: ObjectReader): 'utf8' | 'utf16le' {
  return reader.choice('stringEncoding', ['utf16le', 'utf8'], 'utf16le');
}

function readLgK(reader: ObjectReader): number {
  const lgK = reader.optionalInteger('lgK', 4) ?? 12;
  return lgK > 21 ? refuse(reader.at('lgK'), 'an integer from 4 to 21', lgK) : lgK;
}

function readTarget(reader: ObjectReader): 4 | 6 | 8 {
  const name = reader.choice('tgtHllType', ['HLL_4', 'HLL_6', 'HLL_8'], 'HLL_4');
  return name === 'HLL_4' ? 4 : name === 'HLL_6' ? 6 : 8;
}

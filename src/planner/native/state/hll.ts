import type { ObjectReader } from '../reader.js';
import { refuse } from '../reader.js';
import type { StateFamily } from './family.js';
import { collect, computed, computedState, flag, long, stateField, stateFields } from './family.js';

export const HLL: StateFamily = {
  aggregators: {
    HLLSketchBuild: (reader) => {
      const round = reader.boolean('round', false);
      const collector = { type: 'hll', lgK: readLgK(reader), target: readTarget(reader), round } as const;
      return collect(reader, collector, [reader.string('fieldName')], round ? 'LONG' : 'DOUBLE');
    },
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
    HLLSketchUnion: (reader, scope) => {
      const fields = stateFields(reader, ['hll'], scope, 1);
      const state = { type: 'hll', lgK: readLgK(reader), target: readTarget(reader), round: false } as const;
      return computedState(reader, state, 'hll_union', long(state.lgK), long(state.target), ...fields.map(({ expression }) => expression));
    },
  },
};

function readLgK(reader: ObjectReader): number {
  const lgK = reader.optionalInteger('lgK', 4) ?? 12;
  return lgK > 21 ? refuse(reader.at('lgK'), 'an integer from 4 to 21', lgK) : lgK;
}

function readTarget(reader: ObjectReader): 4 | 6 | 8 {
  const name = reader.choice('tgtHllType', ['HLL_4', 'HLL_6', 'HLL_8'], 'HLL_4');
  return name === 'HLL_4' ? 4 : name === 'HLL_6' ? 6 : 8;
}

// Native names of the classic cardinality aggregators.

import { isStateType } from '../../../model/state-traits.js';
import { readDimensionSpec } from '../column/dimension.js';
import { refuse } from '../reader.js';
import { computed, flag, overStored, type StateFamily, stateAggregator } from './family.js';

/** The classic estimates of distinct values. */
export const CARDINALITY: StateFamily = {
  aggregators: {
    cardinality: (reader, columns) => {
      // The older name of the list, which clients still send.
      const key = reader.has('fieldNames') && !reader.has('fields') ? 'fieldNames' : 'fields';
      const fields = reader.list(key, (value, path) => readDimensionSpec(value, path, reader, columns).column);
      if (fields.length === 0) refuse(reader.at(key), 'at least one dimension', fields);
      const round = reader.boolean('round', false);
      const aggregateState = { type: 'cardinality', byRow: reader.boolean('byRow', false), round } as const;
      const aggregator = stateAggregator(reader, aggregateState, fields, round ? 'LONG' : 'DOUBLE');
      if (!fields.some((field) => isStateType(columns.typeOf(field)))) return aggregator;
      if (fields.length > 1 || aggregateState.byRow)
        refuse(reader.at(key), 'dimensions, or a single column of COMPLEX<hyperUnique>', fields);
      return overStored(aggregator, columns, reader);
    },
    hyperUnique: (reader, columns) => {
      // It says what rows are that are being ingested, and nothing to a query.
      reader.boolean('isInputHyperUnique', false);
      const round = reader.boolean('round', false);
      const aggregateState = { type: 'cardinality', byRow: false, round } as const;
      return overStored(stateAggregator(reader, aggregateState, [reader.string('fieldName')], round ? 'LONG' : 'DOUBLE'), columns, reader);
    },
  },
  postAggregators: {
    hyperUniqueCardinality: (reader, { states }) => {
      const { aggregateState, expression } = states.read(reader.string('fieldName'), ['cardinality'], reader.at('fieldName'));
      return computed(reader, aggregateState.round ? 'LONG' : 'DOUBLE', 'hll_estimate', expression, flag(aggregateState.round));
    },
  },
};

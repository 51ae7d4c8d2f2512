// Native names of Bloom filter aggregators.

import { readDimensionSpec } from '../column/dimension.js';
import { refuse } from '../reader.js';
import { overStored, type StateFamily, stateAggregator } from './family.js';

const ENTRIES = 1500;
/** A filter for so many takes 80 MB. */
const ENTRIES_MAX = 100_000_000;

/** Bloom filters of the values of a dimension, or of filters that a column holds. */
export const BLOOM: StateFamily = {
  queryOnly: ['bloom'],
  aggregators: {
    bloom: (reader, columns) => {
      const field = reader.raw('field') ?? refuse(reader.at('field'), 'a dimension', undefined);
      const { column } = readDimensionSpec(field, reader.at('field'), reader, columns);
      const entries = reader.optionalInteger('maxNumEntries', 1) ?? ENTRIES;
      if (entries > ENTRIES_MAX) refuse(reader.at('maxNumEntries'), `an integer from 1 to ${ENTRIES_MAX}`, entries);
      const aggregator = stateAggregator(reader, { type: 'bloom', entries }, [column], 'COMPLEX<bloom>');
      return overStored(aggregator, columns, reader);
    },
  },
  postAggregators: {},
};

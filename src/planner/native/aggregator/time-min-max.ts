// Native names of the `timeMin` and `timeMax` aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import { stateColumn } from '../../../model/aggregate-state.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { call } from '../../../model/expression.js';
import { stateType } from '../../../model/state-traits.js';
import type { VirtualColumns } from '../column/columns.js';
import { merging, type StateFamily, stateAggregator } from './family.js';

/** The earliest and latest of times finer than `__time`: of instants, of ISO 8601 strings, or of stored extremes. */
export const TIME_MIN_MAX: StateFamily = {
  aggregators: {
    timeMin: (reader, columns) => readTimeExtreme(reader, columns, 'timeMin'),
    timeMax: (reader, columns) => readTimeExtreme(reader, columns, 'timeMax'),
  },
  postAggregators: {},
};

function readTimeExtreme(reader: ObjectReader, columns: VirtualColumns, type: 'timeMin' | 'timeMax'): Aggregator {
  const [state, field] = [{ type } as const, reader.string('fieldName')];
  const isStored = [field, stateColumn(field)].some((name) => columns.typeOf(name) === stateType(state));
  if (isStored) return merging(stateAggregator(reader, state, [field], 'STRING'), columns, reader);
  const instant = columns.compute(call('timestamp', { kind: 'column', name: field }));
  return stateAggregator(reader, state, [instant], 'STRING');
}

// The `grouping` aggregator.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { Grouping } from '../../../model/query.js';
import { refuse } from '../reader.js';

/** A number says so many dimensions at most. */
const COLUMNS_MAX = 63;

/**
 * A grouping aggregator: it says which dimensions the row's part of the subtotals leaves out. It reads no row, so it is
 * found before the aggregators are.
 * @param outputs  of each dimension, by the name of its column; null in query types that have no subtotals
 */
export function readGrouping(reader: ObjectReader, outputs: ReadonlyMap<string, readonly string[]> | null): Grouping {
  if (outputs === null) throw new ServiceError('query_invalid', `${reader.at('type')}: a grouping aggregator is for groupBy queries`);
  reader.raw('type');
  const name = reader.string('name');
  const columns = reader.strings('groupings');
  if (columns.length === 0 || columns.length > COLUMNS_MAX)
    refuse(reader.at('groupings'), `1 to ${COLUMNS_MAX} dimensions`, reader.raw('groupings'));
  reader.end();
  return { name, columns: columns.map((column) => outputs.get(column) ?? []) };
}

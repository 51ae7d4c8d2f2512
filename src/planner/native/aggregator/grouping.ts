// The `grouping` aggregator.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { DimensionSpec, Grouping } from '../../../model/query.js';
import { refuse } from '../reader.js';

/** A number says so many dimensions at most. */
const COLUMNS_MAX = 63;

/**
 * A grouping aggregator: it says which dimensions the row's part of the subtotals leaves out. It reads no row, so it is
 * found before the aggregators are.
 * @param dimensions  null in query types that have no subtotals
 */
export function readGrouping(reader: ObjectReader, dimensions: readonly DimensionSpec[] | null): Grouping {
  if (dimensions === null) throw new ServiceError('query_invalid', `${reader.at('type')}: a grouping aggregator is for groupBy queries`);
  reader.raw('type');
  const name = reader.string('name');
  const columns = reader.strings('groupings');
  if (columns.length === 0 || columns.length > COLUMNS_MAX)
    refuse(reader.at('groupings'), `1 to ${COLUMNS_MAX} dimensions`, reader.raw('groupings'));
  columns.forEach((column, index) => {
    if (!dimensions.some((dimension) => dimension.name === column))
      refuse(`${reader.at('groupings')}[${index}]`, `one of the dimensions ${dimensions.map((each) => each.name).join(', ')}`, column);
  });
  reader.end();
  return { name, columns };
}

// Reads timeseries queries.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { TimeseriesQuery } from '../../../model/query.js';
import { readAggregation } from '../aggregator/aggregation.js';
import type { ColumnTypes } from '../column/column-types.js';
import type { QueryContext } from '../context.js';

export function readTimeseries(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes, context: QueryContext): TimeseriesQuery {
  const {
    outputType: _,
    columns: _columns,
    dimensions: _none,
    groupings: _no,
    ...aggregation
  } = readAggregation(reader, dataSource, tableTypes, () => []);
  return {
    queryType: 'timeseries',
    ...aggregation,
    descending: reader.boolean('descending', false),
    limit: reader.optionalInteger('limit', 1) ?? null,
    skipEmptyBuckets: context.skipEmptyBuckets,
    grandTotal: context.grandTotal,
  };
}

// Reads topN queries.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { StringOrdering } from '../../../model/filter.js';
import type { TopNMetric, TopNQuery } from '../../../model/query.js';
import { readAggregation } from '../aggregator/aggregation.js';
import type { ColumnTypes } from '../column/column-types.js';
import { readTypedDimension, refuseStructured, rowsWithValues } from '../column/dimension.js';
import { readOrdering } from '../filter/filter.js';
import { readByType, refuse } from '../reader.js';

export function readTopN(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes): TopNQuery {
  const value = reader.raw('dimension') ?? refuse('dimension', 'a dimension', undefined);
  const {
    outputType,
    columns,
    dimensions,
    groupings: _,
    filter,
    ...aggregation
  } = readAggregation(reader, dataSource, tableTypes, (known) => [readTypedDimension(value, 'dimension', reader, known)]);
  const [dimension = refuse('dimension', 'a dimension', value)] = dimensions;
  refuseStructured(dimension, 'dimension', columns);
  const withValues = rowsWithValues(dimension, columns);
  const metric = readMetric(reader);
  if (metric.kind === 'numeric' && (metric.column === dimension.name || outputType(metric.column) === undefined)) {
    throw new ServiceError('query_invalid', `metric: "${metric.column}" is not an aggregator or post-aggregator of this query`);
  }
  return {
    queryType: 'topN',
    ...aggregation,
    filter: withValues === null || filter === null ? (filter ?? withValues) : { kind: 'and', filters: [filter, withValues] },
    dimension,
    threshold: reader.optionalInteger('threshold', 1) ?? refuse('threshold', 'an integer of at least 1', undefined),
    metric,
  };
}

const DEPTH_MAX = 100;

/** A metric's name, or an object of type numeric, dimension or inverted; inverting twice restores. */
function readMetric(reader: ObjectReader, depth = 0): TopNMetric {
  if (depth > DEPTH_MAX) throw new ServiceError('query_invalid', `${reader.path}: metrics are nested deeper than ${DEPTH_MAX} levels`);
  const value = reader.raw('metric');
  if (typeof value === 'string') return { kind: 'numeric', column: value, inverted: false };
  return readByType<TopNMetric>(
    reader.object('metric'),
    {
      numeric: (inner) => ({ kind: 'numeric', column: inner.string('metric'), inverted: false }),
      dimension: (inner) => ofDimension(inner, readOrdering(inner, 'ordering')),
      // Deprecated but accepted: metric types named after the ordering of a dimension.
      lexicographic: (inner) => ofDimension(inner, 'lexicographic'),
      alphaNumeric: (inner) => ofDimension(inner, 'alphanumeric'),
      inverted: (inner) => {
        const metric = readMetric(inner, depth + 1);
        return { ...metric, inverted: !metric.inverted };
      },
    },
    [],
    'topN metric',
  );
}

function ofDimension(reader: ObjectReader, ordering: StringOrdering): TopNMetric {
  return { kind: 'dimension', ordering, previousStop: reader.optionalString('previousStop') ?? null, inverted: false };
}

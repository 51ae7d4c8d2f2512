// Refuses specs that would read the aggregate states of a datasource as if they were values.

import { ServiceError } from '../../base/errors.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import { type ColumnType, isSketchType } from '../../model/schema.js';
import type { DataSchema } from '../task-spec/data-schema.js';

/**
 * Checks the types of stored columns against what the spec makes of them.
 * @throws ServiceError `unsupported` naming the column
 */
export function refuseStatesAsValues(
  { dimensions, metrics, transforms, filter }: Pick<DataSchema, 'dimensions' | 'metrics' | 'transforms' | 'filter'>,
  types: ReadonlyMap<string, ColumnType>,
): void {
  const asValues = new Map<string, string>();
  for (const { name } of dimensions.declared) asValues.set(name, 'a dimension');
  for (const { name, expression } of transforms)
    for (const column of columnsOfExpression(expression)) asValues.set(column, `the transform "${name}"`);
  for (const column of filter === null ? [] : columnsOfFilter(filter)) asValues.set(column, 'the filter');
  for (const { name, inputs, aggregator } of metrics) {
    const takesStates = aggregator.kind === 'state' && aggregator.input !== 'values';
    for (const { field } of inputs) if (!takesStates) asValues.set(field, `the metric "${name}"`);
  }
  for (const [column, reader] of asValues) {
    const type = types.get(column);
    if (type === undefined || !isSketchType(type)) continue;
    throw new ServiceError(
      'unsupported',
      `${reader} reads the column "${column}", which holds states of aggregators (${type}), as values; only a metric that merges such states can read it`,
    );
  }
}

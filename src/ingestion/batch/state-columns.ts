// Aggregate states in the rows of a datasource: metrics of their own kind merge them, nothing else reads them.

import { ServiceError } from '../../base/errors.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import { type ColumnType, isSketchType } from '../../model/schema.js';
import type { TaskContext } from '../contract.js';
import { inputParts } from '../source/input-source.js';
import { isStored } from '../source/source-kind.js';
import type { DataSchema } from '../task-spec/data-schema.js';
import type { IndexSpec } from '../task-spec/index-spec.js';

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

/** The spec with metrics that merge states where all rows come from datasources, whose segments have states of their type in their field. */
export async function withStoredStates(spec: IndexSpec, context: TaskContext): Promise<IndexSpec> {
  const { metrics } = spec.dataSchema;
  if (metrics.every(({ overStates }) => overStates === undefined)) return spec;
  const parts = await inputParts(spec.inputSource, context);
  if (!parts.every(isStored)) return spec;
  const types = new Map<string, Set<ColumnType>>();
  for (const { dataSource, interval } of parts)
    for (const { segment } of await context.visibleSegments(dataSource, [interval]))
      for (const column of segment.columns) {
        const found = types.get(column.name) ?? new Set();
        types.set(column.name, found);
        found.add(column.type);
      }
  const merging = metrics.map((metric) => {
    const field = metric.overStates?.inputs.find(({ isConsumed }) => isConsumed)?.field ?? '';
    const found = types.get(field);
    return metric.overStates !== undefined && found?.size === 1 && found.has(metric.type) ? metric.overStates : metric;
  });
  if (merging.every((metric, at) => metric === metrics[at])) return spec;
  return { ...spec, dataSchema: { ...spec.dataSchema, metrics: merging } };
}

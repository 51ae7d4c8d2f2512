// Reads the fields that aggregating query types share.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { extended } from '../../../base/names.js';
import type { Aggregator, VirtualColumn } from '../../../model/aggregator.js';
import type { Filter } from '../../../model/filter.js';
import { type Granularity, parseGranularity } from '../../../model/granularity.js';
import type { DimensionSpec, Grouping, PostAggregator } from '../../../model/query.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import { isInnerName } from '../../inner-names.js';
import type { ColumnTypes } from '../column/column-types.js';
import { VirtualColumns } from '../column/columns.js';
import { readFilter } from '../filter/filter.js';
import { type QueriedTime, readQueriedTime, refuse } from '../reader.js';
import { aggregatorType, readAggregators } from './aggregator.js';
import { readGrouping } from './grouping.js';
import { readPostAggregators } from './post-aggregator.js';
import { States } from './states.js';

/** Fields of every query type that reads rows. */
export interface Leaf extends QueriedTime {
  readonly dataSource: string;
  readonly filter: Filter | null;
  readonly virtualColumns: readonly VirtualColumn[];
}

/** The fields all query types that read rows share, and the types of the columns they name. */
export function readLeaf(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes): Leaf & { readonly columns: VirtualColumns } {
  const time = readQueriedTime(reader, 'intervals') ?? refuse(reader.at('intervals'), 'an interval or an array of intervals', undefined);
  const columns = new VirtualColumns(tableTypes);
  columns.read(reader);
  const filter = reader.has('filter') ? readFilter(reader.object('filter'), columns) : null;
  return { dataSource, ...time, filter, virtualColumns: columns.list, columns };
}

export interface Aggregation extends Leaf {
  readonly granularity: Granularity;
  readonly groupings: readonly Grouping[];
  readonly aggregators: readonly Aggregator[];
  readonly postAggregators: readonly PostAggregator[];
  /** Types of all columns of the result. */
  readonly outputType: ColumnTypes;
}

/**
 * Reads the fields that timeseries, topN and groupBy share.
 * @param readDimensions  called before aggregators are read: post-aggregators may name dimensions
 * @param named           names of the columns of the dimensions, as the query has them; null where there are no grouping aggregators
 */
export function readAggregation(
  reader: ObjectReader,
  dataSource: string,
  tableTypes: ColumnTypes,
  readDimensions: (columns: VirtualColumns) => readonly DimensionSpec[],
  named: readonly string[] | null = null,
): Aggregation & { readonly dimensions: readonly DimensionSpec[]; readonly columns: VirtualColumns } {
  const { columns, ...leaf } = readLeaf(reader, dataSource, tableTypes);
  const dimensions = readDimensions(columns);
  const granularity = parseGranularity(reader.raw('granularity') ?? refuse('granularity', 'a granularity', undefined), 'granularity');
  const groupings: Grouping[] = [];
  const outputs = named === null ? null : outputsByColumn(dimensions, named);
  const read = readAggregators(reader, columns, (type, inner) => {
    if (type !== 'grouping') return false;
    groupings.push(readGrouping(inner, outputs));
    return true;
  });
  const types = new Map([
    ...dimensions.map(({ name, type }) => [name, type] as const),
    ...read.map((each) => [each.name, aggregatorType(each)] as const),
    ...groupings.map(({ name }) => [name, 'LONG'] as const),
  ]);
  const states = new States(read);
  const postAggregators = readPostAggregators(reader, (name) => types.get(name), states);
  const aggregators = states.aggregators();
  refuseTimeAsName([...aggregators, ...groupings, ...postAggregators]);
  refuseInnerNames([...dimensions, ...read, ...groupings, ...postAggregators]);
  refuseRepeatedNames([...dimensions, ...aggregators, ...groupings, ...postAggregators].map(({ name }) => name));
  for (const { name, type } of postAggregators) types.set(name, type);
  return extended(leaf, {
    columns,
    dimensions,
    granularity,
    aggregators,
    groupings,
    postAggregators,
    outputType: (name: string) => types.get(name),
  });
}

function outputsByColumn(dimensions: readonly DimensionSpec[], named: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const outputs = new Map<string, string[]>();
  for (const [at, { name }] of dimensions.entries()) {
    const column = named[at] ?? name;
    outputs.set(column, [...(outputs.get(column) ?? []), name]);
  }
  return outputs;
}

function refuseTimeAsName(outputs: readonly { readonly name: string }[]): void {
  if (outputs.some(({ name }) => name === TIME_COLUMN))
    throw new ServiceError('query_invalid', `${TIME_COLUMN} cannot be the name of an output`);
}

function refuseInnerNames(outputs: readonly { readonly name: string }[]): void {
  const inner = outputs.find(({ name }) => isInnerName(name));
  if (inner !== undefined)
    throw new ServiceError('query_invalid', `"${inner.name}" cannot be the name of an output: plans use it themselves`);
}

function refuseRepeatedNames(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new ServiceError('query_invalid', `two outputs of the query are called "${name}"`);
    seen.add(name);
  }
}

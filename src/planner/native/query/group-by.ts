// Reads groupBy queries.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { call, type Expression, text } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import type { DimensionSpec, GroupByQuery, OrderBy } from '../../../model/query.js';
import { readAggregation } from '../aggregator/aggregation.js';
import { type ColumnTypes, givenColumns } from '../column/column-types.js';
import { columnToExtract, dimensionNamed, readGroupDimension } from '../column/dimension.js';
import { readExtraction } from '../column/extraction.js';
import type { QueryContext } from '../context.js';
import { readFilter, readOrdering, textOf } from '../filter/filter.js';
import { readByType, refuse } from '../reader.js';

export function readGroupBy(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes, context: QueryContext): GroupByQuery {
  const {
    outputType,
    columns: _,
    dimensions,
    ...aggregation
  } = readAggregation(
    reader,
    dataSource,
    tableTypes,
    (columns) => reader.list('dimensions', (value, path) => readGroupDimension(value, path, reader, columns)),
    reader.list('dimensions', dimensionNamed),
  );
  const subtotals = readSubtotals(reader, dimensions);
  const limits = readLimitSpec(reader.optionalObject('limitSpec'), outputType);
  return {
    queryType: 'groupBy',
    ...aggregation,
    dimensions,
    having: reader.has('having') ? overOutputs(readHaving(reader.object('having'), outputType), outputType) : null,
    ...limits,
    sortByDimensionsFirst: context.sortByDimensionsFirst,
    subtotals,
  };
}

/** Each set names dimensions of the query in the query's order. */
function readSubtotals(reader: ObjectReader, dimensions: readonly DimensionSpec[]): GroupByQuery['subtotals'] {
  const names = dimensions.map(({ name }) => name);
  const places = new Map(names.map((name, place) => [name, place]));
  const sets = reader.list('subtotalsSpec', (value, path) => {
    if (!Array.isArray(value)) refuse(path, 'an array of names of dimensions', value);
    let last = -1;
    return value.map((name: unknown, index) => {
      const at = typeof name === 'string' ? (places.get(name) ?? -1) : -1;
      if (at <= last) refuse(`${path}[${index}]`, `a name of ${names.join(', ')}, in this order and each once`, name);
      last = at;
      return names[at] ?? '';
    });
  });
  return sets.length === 0 ? null : sets;
}

type Limits = Pick<GroupByQuery, 'orderBy' | 'offset' | 'limit'>;

function readLimitSpec(reader: ObjectReader | undefined, outputType: ColumnTypes): Limits {
  if (reader === undefined) return { orderBy: [], offset: 0, limit: null };
  return readByType<Limits>(
    reader,
    {
      default: (inner) => ({
        orderBy: inner.list('columns', (value, path) => readOrderBy(value, path, inner, outputType)),
        offset: inner.optionalInteger('offset', 0) ?? 0,
        limit: inner.optionalInteger('limit', 1) ?? null,
      }),
    },
    [],
    'limit spec',
  );
}

function readOrderBy(value: unknown, path: string, reader: ObjectReader, outputType: ColumnTypes): OrderBy {
  const order =
    typeof value === 'string'
      ? { column: value, descending: false, ordering: 'lexicographic' as const }
      : readOrderObject(reader.reader(value, path));
  if (outputType(order.column) === undefined)
    throw new ServiceError('query_invalid', `${path}: "${order.column}" is not a dimension, aggregator or post-aggregator of this query`);
  return order;
}

function readOrderObject(reader: ObjectReader): OrderBy {
  const order = {
    column: reader.string('dimension'),
    descending: reader.choice('direction', ['ascending', 'descending', 'asc', 'desc'], 'ascending').startsWith('desc'),
    ordering: readOrdering(reader, 'dimensionOrder'),
  };
  reader.end();
  return order;
}

/** Conditions on the rows of the result, as a filter over its columns. */
function readHaving(reader: ObjectReader, outputType: ColumnTypes, depth = 0): Filter {
  if (depth > 500) throw new ServiceError('query_invalid', `${reader.path}: having clauses are nested deeper than 500 levels`);
  const compare =
    (make: (column: string, type: 'LONG' | 'DOUBLE', value: bigint | number) => Filter) =>
    (inner: ObjectReader): Filter => {
      const column = inner.string('aggregation');
      if (outputType(column) === undefined)
        throw new ServiceError(
          'query_invalid',
          `${inner.at('aggregation')}: "${column}" is not an aggregator or post-aggregator of this query`,
        );
      const value = inner.raw('value');
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      if ((typeof number !== 'number' && typeof number !== 'bigint') || Number.isNaN(number)) refuse(inner.at('value'), 'a number', value);
      const isLong = typeof number === 'bigint' || (Number.isSafeInteger(number) && outputType(column) === 'LONG');
      return isLong ? make(column, 'LONG', BigInt(number)) : make(column, 'DOUBLE', Number(number));
    };
  const range = { kind: 'range', ordering: 'numeric', lower: null, upper: null, lowerStrict: true, upperStrict: true } as const;
  return readByType<Filter>(
    reader,
    {
      always: () => ({ kind: 'true' }),
      never: () => ({ kind: 'false' }),
      filter: (inner) => readFilter(inner.object('filter'), givenColumns(outputType)),
      greaterThan: compare((column, type, value) => ({ ...range, column, type, lower: value })),
      lessThan: compare((column, type, value) => ({ ...range, column, type, upper: value })),
      equalTo: compare((column, type, value) => ({ kind: 'equals', column, type, value })),
      dimSelector: (inner) => {
        const column = inner.string('dimension');
        const value = textOf(inner.raw('value'), inner, 'value');
        if (inner.has('extractionFn')) {
          const extracted = readExtraction(inner.object('extractionFn'), columnToExtract(column, outputType));
          const wanted: Expression = text(value);
          return { kind: 'expression', expression: call('notdistinctfrom', extracted, wanted) };
        }
        return value === null ? { kind: 'null', column } : { kind: 'equals', column, type: 'STRING', value };
      },
      and: (inner) => ({ kind: 'and', filters: havingList(inner, outputType, depth) }),
      or: (inner) => ({ kind: 'or', filters: havingList(inner, outputType, depth) }),
      // Having knows true and false only: a comparison with null is false, and its negation true.
      not: (inner) => ({ kind: 'not', filter: { kind: 'isTrue', filter: readHaving(inner.object('havingSpec'), outputType, depth + 1) } }),
    },
    [],
    'having',
  );
}

/** The filter as it is, once every column it compares is known to be one of the result. */
function overOutputs(filter: Filter, outputType: ColumnTypes): Filter {
  if (filter.kind === 'and' || filter.kind === 'or') for (const part of filter.filters) overOutputs(part, outputType);
  else if (filter.kind === 'not' || filter.kind === 'isTrue') overOutputs(filter.filter, outputType);
  else if ('column' in filter && outputType(filter.column) === undefined)
    throw new ServiceError('query_invalid', `having: "${filter.column}" is not a dimension, aggregator or post-aggregator of this query`);
  return filter;
}

function havingList(reader: ObjectReader, outputType: ColumnTypes, depth: number): Filter[] {
  const list = reader.list('havingSpecs', (value, path) => readHaving(reader.reader(value, path), outputType, depth + 1));
  return list.length === 0 ? refuse(reader.at('havingSpecs'), 'at least one having', list) : list;
}

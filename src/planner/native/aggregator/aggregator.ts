// Reads the `aggregations` of a native query.

import { ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import type { Aggregator, DistinctFold, VirtualColumn } from '../../../model/aggregator.js';
import { type Expression, text } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import type { ColumnType } from '../../../model/schema.js';
import { stateType } from '../../../model/state-traits.js';
import { VirtualColumns } from '../column/columns.js';
import { readFilter } from '../filter/filter.js';
import { UNSUPPORTED_AGGREGATORS } from '../names.js';
import { readByType, refuse } from '../reader.js';
import { STATE_AGGREGATORS } from './registry.js';

/** @param readApart  reads those that are no aggregators over rows, and says so */
export function readAggregators(
  reader: ObjectReader,
  virtualColumns: VirtualColumns,
  readApart: (type: unknown, reader: ObjectReader) => boolean,
): Aggregator[] {
  return reader
    .list('aggregations', (value, path) => {
      const inner = reader.reader(value, path);
      return readApart(inner.raw('type'), inner) ? [] : [readAggregator(inner, virtualColumns)];
    })
    .flat();
}

/** The columns whose states the aggregators of a query may merge, before anything else of it is read. */
export function mergedColumns(query: ObjectReader): ReadonlySet<string> {
  const names = new Set<string>();
  const aggregations = query.raw('aggregations');
  for (const each of Array.isArray(aggregations) ? aggregations : []) {
    let inner = membersOf(each);
    while (inner['type'] === 'filtered') inner = membersOf(inner['aggregator']);
    const { type, fieldName } = inner;
    if (typeof type === 'string' && typeof fieldName === 'string' && Object.hasOwn(STATE_AGGREGATORS, type)) names.add(fieldName);
  }
  return names;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return (value ?? {}) as Readonly<Record<string, unknown>>;
}

/** An aggregator outside of a query, over columns whose types are not known, and the columns it computes for itself. */
export function parseAggregator(
  value: unknown,
  path: string,
): { readonly aggregator: Aggregator; readonly virtualColumns: readonly VirtualColumn[] } {
  const columns = new VirtualColumns(() => undefined);
  const aggregator = readAggregator(new ObjectReader(value, path, readContextOf('query_invalid', 'query')), columns);
  return { aggregator, virtualColumns: columns.list };
}

const NUMBER_AGGREGATORS = [
  'longSum',
  'longMin',
  'longMax',
  'doubleSum',
  'doubleMin',
  'doubleMax',
  'floatSum',
  'floatMin',
  'floatMax',
] as const;

const DEPTH_MAX = 100;

function readAggregator(reader: ObjectReader, virtualColumns: VirtualColumns, depth = 0): Aggregator {
  if (depth > DEPTH_MAX) throw new ServiceError('query_invalid', `${reader.path}: aggregators are nested deeper than ${DEPTH_MAX} levels`);
  return readByType<Aggregator>(
    reader,
    {
      count: (inner) => ({ kind: 'count', name: inner.string('name'), filter: null }),
      grouping: (inner) => refuse(inner.at('type'), 'an aggregator over rows, which grouping is not', 'grouping'),
      filtered: (inner) => {
        const filter = readFilter(inner.object('filter'), virtualColumns);
        const name = inner.optionalString('name');
        const aggregator = readAggregator(inner.object('aggregator'), virtualColumns, depth + 1);
        return { ...aggregator, name: name ?? aggregator.name, filter: both(filter, aggregator.filter) };
      },
      ...Object.fromEntries(
        NUMBER_AGGREGATORS.map((type) => [type, (inner: ObjectReader) => readNumberAggregator(inner, type, virtualColumns)]),
      ),
      ...Object.fromEntries(
        Object.entries(STATE_AGGREGATORS).map(([type, read]) => [type, (inner: ObjectReader) => read(inner, virtualColumns)]),
      ),
    },
    UNSUPPORTED_AGGREGATORS,
    'aggregator',
  );
}

function both(a: Filter, b: Filter | null): Filter {
  return b === null ? a : { kind: 'and', filters: [a, b] };
}

function readNumberAggregator(
  reader: ObjectReader,
  written: (typeof NUMBER_AGGREGATORS)[number],
  virtualColumns: VirtualColumns,
): Aggregator {
  const kind = written.endsWith('Sum') ? 'sum' : written.endsWith('Min') ? 'min' : 'max';
  const type = written.startsWith('long') ? 'LONG' : written.startsWith('double') ? 'DOUBLE' : 'FLOAT';
  const fieldName = reader.optionalString('fieldName');
  const expression = reader.optionalString('expression');
  if ((fieldName === undefined) === (expression === undefined))
    refuse(reader.path, 'either a fieldName or an expression', fieldName === undefined ? undefined : 'both');
  const column = fieldName ?? virtualColumns.add(expression ?? '');
  const aggregator = { kind, name: reader.string('name'), filter: null, column, type } as const;
  if (fieldName === undefined || virtualColumns.typeOf(fieldName) !== 'STRING') return aggregator;
  // Each value of a row counts; a string that is not a number counts as what the aggregate begins with.
  const [name, first]: [string, Expression] =
    type === 'LONG'
      ? ['long_of', { kind: 'literal', type, value: FIRST_LONGS[kind] }]
      : ['double_of', { kind: 'literal', type: 'DOUBLE', value: FIRST_DOUBLES[kind] }];
  return {
    ...aggregator,
    column: virtualColumns.compute({ kind: 'call', function: name, arguments: [{ kind: 'column', name: fieldName }, first, text(kind)] }),
  };
}

const FIRST_LONGS = { sum: 0n, min: 2n ** 63n - 1n, max: -(2n ** 63n) } as const;
const FIRST_DOUBLES = { sum: 0, min: Infinity, max: -Infinity } as const;

/** The type of what an aggregator puts out. */
export function aggregatorType(aggregator: Aggregator): ColumnType {
  if (aggregator.kind === 'state') return aggregator.output === 'state' ? stateType(aggregator.aggregateState) : aggregator.type;
  if (aggregator.kind === 'distinct') return distinctType(aggregator.fold);
  return aggregator.kind === 'count' ? 'LONG' : aggregator.type;
}

function distinctType(fold: DistinctFold | undefined): ColumnType {
  if (fold === undefined) return 'LONG';
  return fold.kind === 'state' && fold.output === 'state' ? stateType(fold.aggregateState) : fold.type;
}

import { ServiceError } from '../../base/errors.js';
import { expressionType } from '../../expression/expression-type.js';
import { parseExpression } from '../../expression/parse.js';
import type { Aggregator, VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { DimensionSpec } from '../../model/query.js';
import type { ColumnType } from '../../model/schema.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { ColumnTypes } from './filter.js';
import { readFilter } from './filter.js';
import { UNSUPPORTED_AGGREGATORS, UNSUPPORTED_DIMENSION_SPECS, UNSUPPORTED_VIRTUAL_COLUMNS } from './names.js';
import type { ObjectReader } from './reader.js';
import { readByType, refuse } from './reader.js';

const COLUMN_TYPES: readonly ColumnType[] = ['STRING', 'LONG', 'FLOAT', 'DOUBLE'];

/** Columns computed from expressions. Aggregators over expressions add theirs as they are read. */
export class VirtualColumns {
  readonly list: VirtualColumn[] = [];
  readonly #tableTypes: ColumnTypes;

  constructor(tableTypes: ColumnTypes) {
    this.#tableTypes = tableTypes;
  }

  /** The type of a virtual or stored column. */
  readonly typeOf: ColumnTypes = (name) => {
    const virtual = this.list.find((each) => each.name === name);
    if (virtual === undefined) return this.#tableTypes(name);
    return virtual.outputType ?? expressionType(virtual.expression, (inner) => (inner === name ? undefined : this.typeOf(inner)));
  };

  read(reader: ObjectReader): void {
    reader.list('virtualColumns', (value, path) => {
      const column = readByType(
        reader.reader(value, path),
        {
          expression: (inner): VirtualColumn => ({
            name: inner.string('name'),
            expression: parseExpression(inner.string('expression')),
            outputType: inner.has('outputType') ? inner.choice('outputType', COLUMN_TYPES, undefined) : null,
          }),
        },
        UNSUPPORTED_VIRTUAL_COLUMNS,
        'virtual column',
      );
      if (column.name === TIME_COLUMN) refuse(`${path}.name`, `a name other than ${TIME_COLUMN}`, column.name);
      if (this.list.some(({ name }) => name === column.name))
        throw new ServiceError('query_invalid', `${path}.name: two virtual columns are called "${column.name}"`);
      this.list.push(column);
    });
    // An expression that does not type fails here, with its own message, rather than on a server.
    for (const { name } of this.list) this.typeOf(name);
  }

  /** A column for an expression that has no name of its own. */
  add(expression: string): string {
    const name = `__expression${this.list.length}`;
    this.list.push({ name, expression: parseExpression(expression), outputType: null });
    return name;
  }
}

/** A dimension: its name, or an object of type default. Values are strings unless `outputType` says otherwise. */
export function readDimensionSpec(value: unknown, path: string, reader: ObjectReader): DimensionSpec {
  const spec =
    typeof value === 'string' ? { column: value, name: value, type: 'STRING' as const } : readDimensionObject(reader.reader(value, path));
  if (spec.name === TIME_COLUMN)
    throw new ServiceError('query_invalid', `${path}: ${TIME_COLUMN} cannot be the name of an output; give an outputName`);
  return spec;
}

function readDimensionObject(reader: ObjectReader): DimensionSpec {
  return readByType<DimensionSpec>(
    reader,
    {
      default: (inner) => {
        const column = inner.string('dimension');
        return { column, name: inner.optionalString('outputName') ?? column, type: inner.choice('outputType', COLUMN_TYPES, 'STRING') };
      },
    },
    UNSUPPORTED_DIMENSION_SPECS,
    'dimension spec',
  );
}

export function readAggregators(reader: ObjectReader, virtualColumns: VirtualColumns): Aggregator[] {
  return reader.list('aggregations', (value, path) => readAggregator(reader.reader(value, path), virtualColumns));
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

function readAggregator(reader: ObjectReader, virtualColumns: VirtualColumns): Aggregator {
  return readByType<Aggregator>(
    reader,
    {
      count: (inner) => ({ kind: 'count', name: inner.string('name'), filter: null }),
      filtered: (inner) => {
        const filter = readFilter(inner.object('filter'), virtualColumns.typeOf);
        const name = inner.optionalString('name');
        const aggregator = readAggregator(inner.object('aggregator'), virtualColumns);
        return { ...aggregator, name: name ?? aggregator.name, filter: both(filter, aggregator.filter) };
      },
      ...Object.fromEntries(
        NUMBER_AGGREGATORS.map((type) => [type, (inner: ObjectReader) => readNumberAggregator(inner, type, virtualColumns)]),
      ),
    },
    UNSUPPORTED_AGGREGATORS,
    'aggregator',
  );
}

function both(a: Filter, b: Filter | null): Filter {
  return b === null ? a : { kind: 'and', filters: [a, b] };
}

function readNumberAggregator(reader: ObjectReader, name: (typeof NUMBER_AGGREGATORS)[number], virtualColumns: VirtualColumns): Aggregator {
  const kind = name.endsWith('Sum') ? 'sum' : name.endsWith('Min') ? 'min' : 'max';
  const type = name.startsWith('long') ? 'LONG' : name.startsWith('double') ? 'DOUBLE' : 'FLOAT';
  const fieldName = reader.optionalString('fieldName');
  const expression = reader.optionalString('expression');
  if ((fieldName === undefined) === (expression === undefined))
    refuse(reader.path, 'either a fieldName or an expression', fieldName === undefined ? undefined : 'both');
  const column = fieldName ?? virtualColumns.add(expression ?? '');
  return { kind, name: reader.string('name'), filter: null, column, type };
}

/** The type of what an aggregator puts out. */
export function aggregatorType(aggregator: Aggregator): ColumnType {
  return aggregator.kind === 'count' || aggregator.kind === 'distinct' ? 'LONG' : aggregator.type;
}

// Reads dimension specs.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { call, type Expression, text } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import type { DimensionSpec } from '../../../model/query.js';
import { type ColumnType, isArrayType, isComplexType, isNumberType, JSON_TYPE, TIME_COLUMN } from '../../../model/schema.js';
import type { ColumnTypes, FilterColumns } from '../column/column-types.js';
import { readByType, refuse } from '../reader.js';
import { readWrittenType } from '../typed-value.js';
import type { VirtualColumns } from './columns.js';
import { type Extracted, orMissing, readExtraction, readInlineMap } from './extraction.js';
import { keepsListed, keepsMatching, keepsPrefixed } from './multi-value-filters.js';

type ReadDimension = (reader: ObjectReader, columns: FilterColumns, depth: number) => DimensionSpec;

/** Dimension specs by type. What is not a plain column becomes a virtual one. */
const DIMENSION_SPECS: Readonly<Record<string, ReadDimension>> = {
  default: (reader) => {
    const column = reader.string('dimension');
    return { column, name: reader.optionalString('outputName') ?? column, type: readOutputType(reader) };
  },
  extraction: (reader, columns) => {
    const column = reader.string('dimension');
    return {
      column: columns.compute(readExtraction(reader.object('extractionFn'), columnToExtract(column, columns.typeOf))),
      name: reader.optionalString('outputName') ?? column,
      type: readOutputType(reader),
    };
  },
  lookup: (reader, columns) => {
    const column = reader.string('dimension');
    const registered = reader.optionalString('name');
    if ((registered === undefined) === !reader.has('lookup')) refuse(reader.path, 'either a name or a lookup', reader.raw('lookup'));
    const value: Expression = call('cast', { kind: 'column', name: column }, text('STRING'));
    const found: Expression =
      registered === undefined
        ? call('map_value', value, text(readInlineMap(reader.object('lookup'))))
        : call('lookup', value, text(registered));
    return {
      column: columns.compute(orMissing(reader, found, value)),
      name: reader.optionalString('outputName') ?? column,
      type: 'STRING',
    };
  },
  listFiltered: (reader, columns, depth) => {
    const isAllowList = reader.boolean('isWhitelist', true);
    const values = reader.stringsAndNulls('values');
    return filtered(reader, columns, depth, (column) => keepsListed(column, values, isAllowList));
  },
  regexFiltered: (reader, columns, depth) => {
    const pattern = reader.string('pattern');
    return filtered(reader, columns, depth, (column) => keepsMatching(column, pattern));
  },
  prefixFiltered: (reader, columns, depth) => {
    const prefix = reader.string('prefix');
    return filtered(reader, columns, depth, (column) => keepsPrefixed(column, prefix));
  },
};

const DEPTH_MAX = 100;

/** A dimension: its name, or an object. Values are strings unless `outputType` says otherwise. */
export function readDimensionSpec(value: unknown, path: string, reader: ObjectReader, columns: FilterColumns, depth = 0): DimensionSpec {
  if (depth > DEPTH_MAX) throw new ServiceError('query_invalid', `${path}: dimension specs are nested deeper than ${DEPTH_MAX} levels`);
  const spec =
    typeof value === 'string'
      ? { column: value, name: value, type: 'STRING' as const }
      : readByType(reader.reader(value, path), tableAt(columns, depth), [], 'dimension spec');
  if (spec.type !== 'STRING' || !columns.isComputedArray(spec.column)) return spec;
  // Arrays that expressions give are grouped by their elements, as rows of several values are.
  return {
    ...spec,
    column: columns.compute(call('array_to_mv', { kind: 'column', name: spec.column })),
  };
}

/**
 * A dimension whose `outputType` says what is grouped by. Of strings that are to be numbers each is one, of a row that has several
 * too, and those that are not numbers are null.
 */
export function readTypedDimension(value: unknown, path: string, reader: ObjectReader, columns: FilterColumns): DimensionSpec {
  const spec = readDimensionSpec(value, path, reader, columns);
  const { column, name, type } = spec;
  if (!isNumberType(type) || columns.typeOf(column) !== 'STRING') return spec;
  const strings: Expression = { kind: 'call', function: 'number_text', arguments: [{ kind: 'column', name: column }, text(type)] };
  return { column: columns.compute(strings), name, type, isParsed: true };
}

/** A dimension of a groupBy query, whose rows show their time under its own name. */
export function readGroupDimension(value: unknown, path: string, reader: ObjectReader, columns: FilterColumns): DimensionSpec {
  const spec = readTypedDimension(value, path, reader, columns);
  if (spec.name !== TIME_COLUMN) return spec;
  throw new ServiceError('query_invalid', `${path}: ${TIME_COLUMN} cannot be the name of an output; give an outputName`);
}

/** The name of the column that a dimension spec is about, whatever is computed from it; empty for what is not a dimension. */
export function dimensionNamed(value: unknown): string {
  for (let spec = value; ; ) {
    if (typeof spec === 'string') return spec;
    if (typeof spec !== 'object' || spec === null) return '';
    const { dimension, delegate } = spec as { readonly dimension?: unknown; readonly delegate?: unknown };
    spec = delegate ?? (typeof dimension === 'string' ? dimension : undefined);
  }
}

/**
 * The rows whose dimension has a value left: what a topN looks at, where a groupBy counts the others under null. Null
 * for a dimension that is not filtered.
 */
export function rowsWithValues({ column }: DimensionSpec, columns: VirtualColumns): Filter | null {
  const keeps = columns.find(column)?.keeps;
  return keeps === undefined ? null : { kind: 'expression', expression: keeps };
}

function tableAt(columns: FilterColumns, depth: number): Readonly<Record<string, (reader: ObjectReader) => DimensionSpec>> {
  return Object.fromEntries(
    Object.entries(DIMENSION_SPECS).map(([type, read]) => [type, (reader: ObjectReader) => read(reader, columns, depth)]),
  );
}

function filtered(reader: ObjectReader, columns: FilterColumns, depth: number, keeps: (column: string) => Expression): DimensionSpec {
  const delegate = reader.raw('delegate') ?? refuse(reader.at('delegate'), 'a dimension', undefined);
  const spec = readDimensionSpec(delegate, reader.at('delegate'), reader, columns, depth + 1);
  refuseStructured(spec, reader.at('delegate'), columns);
  return { ...spec, column: columns.compute({ kind: 'column', name: spec.column }, keeps(spec.column)) };
}

/** A column as extraction functions see it. */
export function columnToExtract(name: string, typeOf: ColumnTypes): Extracted {
  const column: Expression = { kind: 'column', name };
  if (typeOf(name) === 'FLOAT') return { expression: floatString(name), number: column, isInstant: false };
  return { expression: column, isInstant: name === TIME_COLUMN };
}

/** A FLOAT as a string of its own digits; expressions read it as a double, which has more. */
function floatString(name: string): Expression {
  return { kind: 'call', function: 'number_text', arguments: [{ kind: 'column', name }, text('FLOAT')] };
}

/** An array is grouped as a whole; as a STRING it is its JSON. */
function readOutputType(reader: ObjectReader): ColumnType {
  const value = reader.raw('outputType');
  if (value === undefined) return 'STRING';
  const type = readWrittenType(value, reader.at('outputType'));
  if (type !== JSON_TYPE) return type;
  throw new ServiceError(
    'unsupported',
    `${reader.at('outputType')}: rows cannot be grouped by ${type}; group by a STRING of it, or by a nested field`,
  );
}

/** Refuses arrays and JSON where only single values or lists of strings work: topN, search, filters on a row's values. */
export function refuseStructured({ column, type }: DimensionSpec, path: string, { typeOf }: FilterColumns): void {
  const found = [type, typeOf(column)].find((each) => isArrayType(each) || isComplexType(each));
  if (found === undefined) return;
  throw new ServiceError(
    'unsupported',
    `${path}: "${column}" is of type ${found}; accepted: strings and numbers. Arrays and JSON are grouped by a groupBy, their elements by an unnest`,
  );
}

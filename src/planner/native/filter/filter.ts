// Reads the filters of native queries.

import { ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { parseLike } from '../../../base/like-pattern.js';
import { parseExpression } from '../../../expression/parse.js';
import { compileRegularExpression } from '../../../expression/regular-expression.js';
import { convert } from '../../../expression/value.js';
import { call, type Expression, text } from '../../../model/expression.js';
import type { Filter, StringOrdering } from '../../../model/filter.js';
import { type ColumnType, isArrayType, isComplexType, isNumberType, JSON_TYPE, type NumberType } from '../../../model/schema.js';
import { type FilterValue, listOf } from '../../../model/value-list.js';
import { type ColumnTypes, type FilterColumns, givenColumns } from '../column/column-types.js';
import { columnToExtract, readDimensionSpec } from '../column/dimension.js';
import { readExtraction } from '../column/extraction.js';
import { UNSUPPORTED_FILTERS } from '../names.js';
import { readByType, readIntervals, refuse } from '../reader.js';
import { readTyped, readWrittenType, type WrittenType } from '../typed-value.js';
import { readBloomFilter, readSpatialFilter } from './membership-filter.js';
import { readSearchTest } from './search-test.js';

/** A filter outside of a query, as ingestion's `transformSpec` has it: strict, and without a table to look at. */
export function parseFilter(value: unknown, path: string): Filter {
  return readFilter(
    new ObjectReader(value, path, readContextOf('query_invalid', 'query')),
    givenColumns(() => undefined),
  );
}

/** Deepest nesting of and, or, not: walking the tree takes stack. */
const DEPTH_MAX = 500;

/**
 * A filter object to the model's filter. The older kinds (selector, in, bound) compare text, whatever the column's
 * type; where the table says that it is a number and the text is one, the comparison is made on numbers.
 */
export function readFilter(reader: ObjectReader, columns: FilterColumns, depth = 0): Filter {
  if (depth > DEPTH_MAX) throw new ServiceError('query_invalid', `${reader.path}: filters are nested deeper than ${DEPTH_MAX} levels`);
  const table = Object.fromEntries(
    Object.entries(FILTERS).map(([type, read]) => [type, (inner: ObjectReader) => read(inner, columns, depth)]),
  );
  return readByType(reader, table, UNSUPPORTED_FILTERS, 'filter');
}

type ReadFilter = (reader: ObjectReader, columns: FilterColumns, depth: number) => Filter;

/** Filters by type. */
const FILTERS: Readonly<Record<string, ReadFilter>> = {
  true: () => ({ kind: 'true' }),
  false: () => ({ kind: 'false' }),
  and: (reader, columns, depth) => ({ kind: 'and', filters: readFields(reader, columns, depth) }),
  or: (reader, columns, depth) => ({ kind: 'or', filters: readFields(reader, columns, depth) }),
  not: (reader, columns, depth) => ({ kind: 'not', filter: readFilter(reader.object('field'), columns, depth + 1) }),
  istrue: (reader, columns, depth) => ({ kind: 'isTrue', filter: readFilter(reader.object('field'), columns, depth + 1) }),
  isfalse: (reader, columns, depth) => ({
    kind: 'isTrue',
    filter: { kind: 'not', filter: readFilter(reader.object('field'), columns, depth + 1) },
  }),
  selector: readSelector,
  extraction: (reader, columns) => {
    if (!reader.has('extractionFn')) refuse(reader.at('extractionFn'), 'an extraction function', undefined);
    return readSelector(reader, columns);
  },
  in: readIn,
  inType: readTypedIn,
  bound: readBound,
  equals: readEquals,
  null: (reader) => ({ kind: 'null', column: reader.string('column') }),
  range: readRange,
  like: readLike,
  regex: readRegex,
  search: readSearch,
  interval: readIntervalFilter,
  columnComparison: readColumnComparison,
  arrayContainsElement: readArrayContainsElement,
  bloom: (reader, columns) => readBloomFilter(reader, readDimension(reader, columns), columns.typeOf),
  spatial: readSpatialFilter,
  expression: (reader) => {
    reader.refuseUnsupported('virtualColumns');
    return { kind: 'expression', expression: parseExpression(reader.string('expression')) };
  },
};

function readFields(reader: ObjectReader, columns: FilterColumns, depth: number): readonly Filter[] {
  return nonEmpty(
    reader,
    reader.list('fields', (value, path) => readFilter(reader.reader(value, path), columns, depth + 1)),
  );
}

function nonEmpty(reader: ObjectReader, filters: readonly Filter[]): readonly Filter[] {
  if (filters.length === 0) refuse(reader.at('fields'), 'at least one filter', reader.raw('fields'));
  return filters;
}

/** The column of `dimension`; with an `extractionFn`, the one computed from it. */
function readDimension(reader: ObjectReader, columns: FilterColumns): string {
  reader.raw('filterTuning'); // says how, not what: indexes are used where they pay
  const column = reader.string('dimension');
  if (!reader.has('extractionFn')) return ofSingleValues(column, reader, columns);
  return columns.compute(readExtraction(reader.object('extractionFn'), columnToExtract(column, columns.typeOf)));
}

/** Filters of the older kinds do not know arrays and JSON. */
function ofSingleValues(column: string, reader: ObjectReader, { typeOf }: FilterColumns): string {
  const type = typeOf(column);
  if (!isArrayType(type) && !isComplexType(type)) return column;
  throw new ServiceError(
    'query_invalid',
    `${reader.path}: "${column}" is of type ${type}; filters that apply to it: equals, range, arrayContainsElement, null, expression`,
  );
}

function readSelector(reader: ObjectReader, columns: FilterColumns): Filter {
  const types = columns.typeOf;
  const column = readDimension(reader, columns);
  const value = textOf(reader.raw('value'), reader, 'value');
  return value === null
    ? { kind: 'null', column }
    : { kind: 'equals', column, ...typed(column, [value], types, (type, [only = null]) => ({ type, value: only })) };
}

function readIn(reader: ObjectReader, columns: FilterColumns): Filter {
  const types = columns.typeOf;
  const column = readDimension(reader, columns);
  if (!reader.has('values')) refuse(reader.at('values'), 'an array', undefined);
  // Lists get long: each value is looked at once, and that one is there twice does no harm.
  const present: string[] = [];
  let hasNull = false;
  const values = reader.array('values');
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    const text = typeof value === 'string' ? value : textOf(value, reader, 'values', index);
    if (text === null) hasNull = true;
    else present.push(text);
  }
  // No value is in an empty list, null neither.
  const filter: Filter =
    present.length === 0
      ? { kind: 'false' }
      : { kind: 'in', column, ...typed(column, present, types, (type, converted) => ({ type, values: listOf(converted) })) };
  // A null row is in a list that names null, where SQL's IN would not know.
  return hasNull ? { kind: 'or', filters: [filter, { kind: 'null', column }] } : filter;
}

/** Like `in`, with values of a type that is given. */
function readTypedIn(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  if (isArrayType(type) || type === JSON_TYPE) refuse(reader.at('matchValueType'), 'one of STRING, LONG, FLOAT, DOUBLE', type);
  const keys = ['values', 'sortedValues'].filter((key) => reader.has(key));
  const [key = 'values'] = keys;
  if (keys.length !== 1) refuse(reader.at(key), 'exactly one of values and sortedValues', reader.raw(key));
  const given = reader.list(key, (value, path) => (value === null ? null : readTyped(value, type, path)));
  const values = given.filter((value) => value !== null);
  const listed: Filter = asFloats(typeOf(column), type)
    ? { kind: 'in', column, type: 'FLOAT', values: listOf(values.map(floatOf)) }
    : { kind: 'in', column, type, values: listOf(values) };
  const filter: Filter = values.length === 0 ? { kind: 'false' } : (equalsNone(typeOf(column), column, type, reader) ?? listed);
  return values.length === given.length ? filter : { kind: 'or', filters: [filter, { kind: 'null', column }] };
}

/** The values as numbers if the column holds numbers and all of them are some that convert without loss; else as text. */
function typed<Result>(
  column: string,
  values: readonly string[],
  types: ColumnTypes,
  make: (type: ColumnType, values: readonly FilterValue[]) => Result,
): Result {
  const type = types(column);
  if (!isNumberType(type)) return make('STRING', values);
  const converted = values.map((value) => numberOf(value, type));
  return converted.includes(null) ? make('STRING', values) : make(type, converted);
}

function numberOf(text: string, type: NumberType): FilterValue {
  if (type === 'LONG' && !/^-?\d+$/.test(text)) return null;
  return convert(text, type);
}

/** A text, number or truth value as text; null for what is left out. */
export function textOf(value: unknown, reader: ObjectReader, key: string, index?: number): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null || value === undefined
        ? null
        : refuse(reader.at(key) + (index === undefined ? '' : `[${index}]`), 'a string, number or null', value);
  }
}

const ORDERINGS: readonly StringOrdering[] = ['lexicographic', 'alphanumeric', 'numeric', 'strlen', 'version'];

export function readOrdering(reader: ObjectReader, key: string, otherwise: StringOrdering = 'lexicographic'): StringOrdering {
  const value = reader.raw(key);
  // Both `"numeric"` and `{"type": "numeric"}` are in use.
  if (typeof value !== 'object') return reader.choice(key, ORDERINGS, otherwise);
  const spec = reader.object(key);
  const ordering = spec.choice('type', ORDERINGS, undefined);
  spec.end();
  return ordering;
}

function readBound(reader: ObjectReader, columns: FilterColumns): Filter {
  const types = columns.typeOf;
  const column = readDimension(reader, columns);
  const lower = textOf(reader.raw('lower'), reader, 'lower');
  const upper = textOf(reader.raw('upper'), reader, 'upper');
  const lowerStrict = reader.boolean('lowerStrict', false);
  const upperStrict = reader.boolean('upperStrict', false);
  const ordering = readOrdering(reader, 'ordering', reader.boolean('alphaNumeric', false) ? 'alphanumeric' : 'lexicographic');
  if (lower === null && upper === null) refuse(reader.path, 'a lower or an upper bound', undefined);
  const range = { kind: 'range', column, ordering, lowerStrict, upperStrict } as const;
  const type = types(column);
  if (ordering === 'numeric' && isNumberType(type)) {
    // A bound that is not a number sorts before all numbers.
    const bounds = [lower, upper].map((bound) =>
      bound === null ? null : (numberOf(bound, type) ?? convert(bound, 'DOUBLE') ?? Number.NEGATIVE_INFINITY),
    );
    const [low = null, high = null] = bounds;
    if (upper !== null && high === Number.NEGATIVE_INFINITY && convert(upper, 'DOUBLE') === null)
      return { kind: 'in', column, type, values: listOf([]) };
    return { ...range, type: bounds.some((bound) => typeof bound === 'number') ? 'DOUBLE' : type, lower: low, upper: high };
  }
  const strings: Filter = { ...range, type: 'STRING', lower, upper };
  // A number that is null is in no bounds; a string that is null comes before all others.
  if (type !== undefined && type !== 'STRING') return strings;
  if (lower === null) return { kind: 'or', filters: [{ kind: 'null', column }, strings] };
  // Only bounds on the strings as they are stored are unknown for null: of all others null is outside.
  if (type === 'STRING' && ordering === 'lexicographic' && !reader.has('extractionFn')) return strings;
  return { kind: 'isTrue', filter: strings };
}

function readMatchType(reader: ObjectReader, key = 'matchValueType'): WrittenType {
  return readWrittenType(reader.raw(key), reader.at(key));
}

function readMatchValue(reader: ObjectReader, key: string, type: WrittenType): FilterValue {
  const value = reader.raw(key);
  return value === undefined ? null : readTyped(value, type, reader.at(key));
}

/** A column that is not an array counts as an array of its value, or of its values. */
function readArrayContainsElement(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader, 'elementMatchValueType');
  const value = readMatchValue(reader, 'elementMatchValue', type);
  if (!isArrayType(typeOf(column)) && !isArrayType(type))
    return value === null ? { kind: 'null', column } : { kind: 'equals', column, type, value };
  return { kind: 'expression', expression: call('array_contains', { kind: 'column', name: column }, { kind: 'literal', type, value }) };
}

/** Rows whose columns are all alike as text; nulls are like nulls. */
function readColumnComparison(reader: ObjectReader, columns: FilterColumns): Filter {
  const operands = reader
    .list('dimensions', (value, path) => readDimensionSpec(value, path, reader, columns))
    .map(({ column }): Expression => call('cast', { kind: 'column', name: column }, text('STRING')));
  const [first, ...others] = operands;
  if (first === undefined || others.length === 0) refuse(reader.at('dimensions'), 'at least two dimensions', reader.raw('dimensions'));
  const tests = others.map((other): Filter => ({ kind: 'expression', expression: call('notdistinctfrom', first, other) }));
  return tests.length === 1 && tests[0] !== undefined ? tests[0] : { kind: 'and', filters: tests };
}

function readEquals(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  const value = readMatchValue(reader, 'matchValue', type);
  if (value === null) refuse(reader.at('matchValue'), 'a value (the filter for nulls is of type null)', value);
  const none = equalsNone(typeOf(column), column, type, reader);
  if (none !== undefined) return none;
  return asFloats(typeOf(column), type)
    ? { kind: 'equals', column, type: 'FLOAT', value: floatOf(value) }
    : { kind: 'equals', column, type, value };
}

/** Whether numbers are rounded to what a FLOAT column can hold before they are looked for in it. */
function asFloats(column: ColumnType | undefined, type: WrittenType): boolean {
  return column === 'FLOAT' && (type === 'DOUBLE' || type === 'LONG');
}

function floatOf(value: FilterValue): number {
  return Math.fround(Number(value));
}

/**
 * A single value is not an array, whatever some segment stores of a column that is one over all of them: where the column is
 * null the answer is unknown, else no.
 */
function equalsNone(found: ColumnType | undefined, column: string, type: WrittenType, reader: ObjectReader): Filter | undefined {
  if (isArrayType(type) || type === JSON_TYPE) return undefined;
  if (isArrayType(found)) return { kind: 'in', column, type: found, values: [] };
  if (!isComplexType(found)) return undefined;
  throw new ServiceError('query_invalid', `${reader.at('matchValueType')}: "${column}" is of type ${found}; found ${type}`);
}

function readRange(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  const lower = readMatchValue(reader, 'lower', type);
  const upper = readMatchValue(reader, 'upper', type);
  if (lower === null && upper === null) refuse(reader.path, 'a lower or an upper bound', undefined);
  if (type === JSON_TYPE) throw new ServiceError('query_invalid', `${reader.at('matchValueType')}: values of type ${type} have no order`);
  const ordering = isNumberType(type) ? 'numeric' : 'lexicographic';
  const lowerStrict = reader.boolean('lowerOpen', false);
  const upperStrict = reader.boolean('upperOpen', false);
  const range = { kind: 'range', column, ordering, lowerStrict, upperStrict } as const;
  // Strings are in numeric order, in which strings that are not numbers come before all numbers.
  if (isNumberType(type) && typeOf(column) === 'STRING')
    return { ...range, type: 'STRING', lower: convert(lower, 'STRING'), upper: convert(upper, 'STRING') };
  if (isArrayType(typeOf(column)) && !isArrayType(type)) return { ...range, ...rangeOfLists(reader, type) };
  return equalsNone(typeOf(column), column, type, reader) ?? { ...range, type, lower, upper };
}

/** Bounds of lists: a single value is the list of it. */
function rangeOfLists(reader: ObjectReader, element: WrittenType): { type: WrittenType; lower: FilterValue; upper: FilterValue } {
  const type = readWrittenType(`ARRAY<${element}>`, reader.at('matchValueType'));
  const [lower, upper] = ['lower', 'upper'].map((key) => {
    const value = reader.raw(key);
    return value === undefined || value === null ? null : readTyped([value], type, reader.at(key));
  });
  return { type, lower: lower ?? null, upper: upper ?? null };
}

function readLike(reader: ObjectReader, columns: FilterColumns): Filter {
  const escape = reader.optionalString('escape') ?? null;
  if (escape !== null && [...escape].length !== 1) refuse(reader.at('escape'), 'one character', escape);
  const pattern = reader.string('pattern');
  parseLike(pattern, escape);
  return { kind: 'like', column: readDimension(reader, columns), pattern, escape };
}

function textCall(name: string, column: string, operand: string): Expression {
  return call(name, { kind: 'column', name: column }, text(operand));
}

function readRegex(reader: ObjectReader, columns: FilterColumns): Filter {
  const pattern = reader.string('pattern');
  compileRegularExpression(pattern);
  return { kind: 'expression', expression: textCall('regexp_like', readDimension(reader, columns), pattern) };
}

function readSearch(reader: ObjectReader, columns: FilterColumns): Filter {
  const column = readDimension(reader, columns);
  const filters = readSearchTest(reader.object('query')).map(
    (test): Filter => ({ kind: 'expression', expression: textCall(test.function, column, test.text) }),
  );
  const [only, second] = filters;
  // A search without a condition matches every value except null.
  if (only === undefined) return { kind: 'not', filter: { kind: 'null', column } };
  return second === undefined ? only : { kind: 'and', filters };
}

function readIntervalFilter(reader: ObjectReader, columns: FilterColumns): Filter {
  const column = readDimension(reader, columns);
  const intervals = readIntervals(reader, 'intervals') ?? refuse(reader.at('intervals'), 'an array of intervals', undefined);
  const range = { kind: 'range', column, ordering: 'numeric', lowerStrict: false, upperStrict: true } as const;
  const isString = columns.typeOf(column) === 'STRING';
  const ranges = intervals.map(({ start, end }): Filter => {
    const [lower, upper] = [longOf(start), longOf(end)];
    return isString ? { ...range, type: 'STRING', lower: String(lower), upper: String(upper) } : { ...range, type: 'LONG', lower, upper };
  });
  return ranges.length === 1 && ranges[0] !== undefined ? ranges[0] : { kind: 'or', filters: ranges };
}

/** The end of eternity as a double is one above what it stands for; both are beyond any row. */
function longOf(instant: number): bigint {
  return BigInt(instant);
}

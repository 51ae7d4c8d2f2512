// Reads the filters of native queries.

import { ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { parseLike } from '../../../base/like-pattern.js';
import { parseExpression } from '../../../expression/parse.js';
import { compileRegularExpression } from '../../../expression/regular-expression.js';
import { convert } from '../../../expression/value.js';
import { call, type Expression, long, text } from '../../../model/expression.js';
import type { Filter, StringOrdering } from '../../../model/filter.js';
import { type ColumnType, isArrayType, isNumberType, type NumberType } from '../../../model/schema.js';
import { type FilterValue, listOf } from '../../../model/value-list.js';
import { type ColumnTypes, type FilterColumns, givenColumns } from '../column/column-types.js';
import { columnToExtract, readDimensionSpec } from '../column/dimension.js';
import { readExtraction } from '../column/extraction.js';
import { UNSUPPORTED_FILTERS } from '../names.js';
import { readByType, readIntervals, refuse } from '../reader.js';
import { readBloomFilter, readSpatialFilter } from './membership-filter.js';
import { readSearchTest } from './search-test.js';
import { ofSingleValues } from './single-values.js';
import { doubleOf, readArrayContainsElement, readEquals, readRange, readTypedIn } from './typed-filter.js';

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
  bloom: (reader, columns) => readBloomFilter(reader, readSingleDimension(reader, columns), columns.typeOf),
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
  if (!reader.has('extractionFn')) return column;
  return columns.compute(
    readExtraction(reader.object('extractionFn'), columnToExtract(ofSingleValues(column, reader, columns.typeOf), columns.typeOf)),
  );
}

/** Filters of the older kinds compare single values: they do not know arrays and JSON. */
function readSingleDimension(reader: ObjectReader, columns: FilterColumns): string {
  return ofSingleValues(readDimension(reader, columns), reader, columns.typeOf);
}

function readSelector(reader: ObjectReader, columns: FilterColumns): Filter {
  const types = columns.typeOf;
  const column = readDimension(reader, columns);
  const value = textOf(reader.raw('value'), reader, 'value');
  if (value === null) return { kind: 'null', column };
  const single = ofSingleValues(column, reader, types);
  return { kind: 'equals', column, ...typed(single, [value], types, (type, [only = null]) => ({ type, value: only })) };
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
      : {
          kind: 'in',
          column,
          ...typed(ofSingleValues(column, reader, types), present, types, (type, converted) => ({ type, values: listOf(converted) })),
        };
  // A null row is in a list that names null, where SQL's IN would not know.
  return hasNull ? { kind: 'or', filters: [filter, { kind: 'null', column }] } : filter;
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
  if (type === 'LONG') return /^-?\d+$/.test(text) ? convert(text, type) : null;
  const double = doubleOf(text);
  return double === null ? null : convert(double, type);
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
  const column = readSingleDimension(reader, columns);
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
      bound === null ? null : (numberOf(bound, type) ?? doubleOf(bound) ?? Number.NEGATIVE_INFINITY),
    );
    const [low = null, high = null] = bounds;
    if (upper !== null && high === Number.NEGATIVE_INFINITY && doubleOf(upper) === null)
      return { kind: 'in', column, type, values: listOf([]) };
    return { ...range, type: bounds.some((bound) => typeof bound === 'number') ? 'DOUBLE' : type, lower: low, upper: high };
  }
  const strings = { ...range, type: 'STRING', lower, upper } as const;
  // A number that is null is in no bounds.
  return type === undefined || type === 'STRING' ? boundsOfStrings(strings, type, reader) : strings;
}

/** Bounds of strings, of which null comes before all others. */
function boundsOfStrings(strings: Extract<Filter, { kind: 'range' }>, type: ColumnType | undefined, reader: ObjectReader): Filter {
  if (strings.lower === null) return { kind: 'or', filters: [{ kind: 'null', column: strings.column }, strings] };
  // Only bounds on the strings as they are stored are unknown for null: of all others null is outside.
  if (type === 'STRING' && strings.ordering === 'lexicographic' && !reader.has('extractionFn')) return strings;
  return { kind: 'isTrue', filter: strings };
}

/** Rows in which each two columns have a value, as a string, in common; nulls are like nulls. */
function readColumnComparison(reader: ObjectReader, columns: FilterColumns): Filter {
  const operands = reader
    .list('dimensions', (value, path) => readDimensionSpec(value, path, reader, columns))
    .map(({ column }) => ({ column, type: columns.typeOf(column) }));
  if (operands.length < 2) refuse(reader.at('dimensions'), 'at least two dimensions', reader.raw('dimensions'));
  const tests = operands.flatMap((left, at) =>
    operands.slice(at + 1).map((right): Filter => ({ kind: 'expression', expression: haveValueInCommon(left, right) })),
  );
  return tests.length === 1 && tests[0] !== undefined ? tests[0] : { kind: 'and', filters: tests };
}

interface ComparedColumn {
  readonly column: string;
  readonly type: ColumnType | undefined;
}

function haveValueInCommon(left: ComparedColumn, right: ComparedColumn): Expression {
  if (!isArrayType(left.type) && !isArrayType(right.type)) return call('notdistinctfrom', asString(left), asString(right));
  const [one, other] = [stringsOf(left), stringsOf(right)];
  const isEmpty = (list: Expression): Expression => call('==', call('array_length', list), long(0));
  return call('||', call('array_overlap', one, other), call('&&', isEmpty(one), isEmpty(other)));
}

function asString({ column }: ComparedColumn): Expression {
  return call('cast', { kind: 'column', name: column }, text('STRING'));
}

/** The values of a row as a list of strings; null is a value. */
function stringsOf(operand: ComparedColumn): Expression {
  if (!isArrayType(operand.type)) return call('mv_harmonize_nulls', asString(operand));
  const strings = call('cast', { kind: 'column', name: operand.column }, text('ARRAY<STRING>'));
  return call('nvl', strings, call('array', text(null)));
}

function readLike(reader: ObjectReader, columns: FilterColumns): Filter {
  const escape = reader.optionalString('escape') ?? null;
  if (escape !== null && [...escape].length !== 1) refuse(reader.at('escape'), 'one character', escape);
  const pattern = reader.string('pattern');
  parseLike(pattern, escape);
  return { kind: 'like', column: readSingleDimension(reader, columns), pattern, escape };
}

function textCall(name: string, column: string, operand: string): Expression {
  return call(name, { kind: 'column', name: column }, text(operand));
}

function readRegex(reader: ObjectReader, columns: FilterColumns): Filter {
  const pattern = reader.string('pattern');
  compileRegularExpression(pattern);
  return { kind: 'expression', expression: textCall('regexp_like', readSingleDimension(reader, columns), pattern) };
}

function readSearch(reader: ObjectReader, columns: FilterColumns): Filter {
  const column = readSingleDimension(reader, columns);
  const tests = readSearchTest(reader.object('query')).map((test) => textCall(test.function, column, test.text));
  // A search without a condition matches every value except null.
  if (tests.length === 0) return { kind: 'not', filter: { kind: 'null', column } };
  // One value has to meet all conditions, so they are one expression.
  return { kind: 'expression', expression: tests.reduce((both, test) => call('&&', both, test)) };
}

function readIntervalFilter(reader: ObjectReader, columns: FilterColumns): Filter {
  const column = readSingleDimension(reader, columns);
  const intervals = readIntervals(reader, 'intervals') ?? refuse(reader.at('intervals'), 'an array of intervals', undefined);
  const range = { kind: 'range', column, ordering: 'numeric', lowerStrict: false, upperStrict: true } as const;
  const type = columns.typeOf(column);
  const ranges = intervals.map(({ start, end }): Filter => {
    const [lower, upper] = [longOf(start), longOf(end)];
    if (type !== undefined && type !== 'STRING') return { ...range, type: 'LONG', lower, upper };
    return boundsOfStrings({ ...range, type: 'STRING', lower: String(lower), upper: String(upper) }, type, reader);
  });
  return ranges.length === 1 && ranges[0] !== undefined ? ranges[0] : { kind: 'or', filters: ranges };
}

/** The end of eternity as a double is one above what it stands for; both are beyond any row. */
function longOf(instant: number): bigint {
  return BigInt(instant);
}

import { ServiceError } from '../../base/errors.js';
import { parseExpression } from '../../expression/parse.js';
import { compileRegularExpression } from '../../expression/regular-expression.js';
import { convert } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import type { Filter, FilterValue, StringOrdering } from '../../model/filter.js';
import type { SearchTest } from '../../model/query.js';
import type { ColumnType } from '../../model/schema.js';
import { UNSUPPORTED_FILTERS } from './names.js';
import { ObjectReader, readByType, readIntervals, refuse } from './reader.js';

/** The type of a column where it is known; undefined otherwise. Comparisons with numbers are then made as numbers. */
export type ColumnTypes = (name: string) => ColumnType | undefined;

/** A filter outside of a query, as ingestion's `transformSpec` has it: strict, and without a table to look at. */
export function parseFilter(value: unknown, path: string): Filter {
  return readFilter(new ObjectReader(value, path, { lenient: false, ignoredKeys: [] }), () => undefined);
}

/** Deepest nesting of and, or, not: walking the tree takes stack. */
const DEPTH_MAX = 500;

/**
 * A filter object to the model's filter. The older kinds (selector, in, bound) compare text, whatever the column's
 * type; where the table says that it is a number and the text is one, the comparison is made on numbers.
 */
export function readFilter(reader: ObjectReader, types: ColumnTypes, depth = 0): Filter {
  if (depth > DEPTH_MAX) throw new ServiceError('query_invalid', `${reader.path}: filters are nested deeper than ${DEPTH_MAX} levels`);
  const nested = (inner: ObjectReader): Filter => readFilter(inner, types, depth + 1);
  const nestedList = (inner: ObjectReader): Filter[] => inner.list('fields', (value, path) => nested(inner.reader(value, path)));
  return readByType<Filter>(
    reader,
    {
      true: () => ({ kind: 'true' }),
      false: () => ({ kind: 'false' }),
      and: (inner) => ({ kind: 'and', filters: nonEmpty(inner, nestedList(inner)) }),
      or: (inner) => ({ kind: 'or', filters: nonEmpty(inner, nestedList(inner)) }),
      not: (inner) => ({ kind: 'not', filter: nested(inner.object('field')) }),
      selector: (inner) => readSelector(inner, types),
      in: (inner) => readIn(inner, types),
      bound: (inner) => readBound(inner, types),
      equals: readEquals,
      null: (inner) => ({ kind: 'null', column: inner.string('column') }),
      range: readRange,
      like: readLike,
      regex: readRegex,
      search: readSearch,
      interval: readIntervalFilter,
      expression: (inner) => {
        inner.unsupported('virtualColumns');
        return { kind: 'expression', expression: parseExpression(inner.string('expression')) };
      },
    },
    UNSUPPORTED_FILTERS,
    'filter',
  );
}

function nonEmpty(reader: ObjectReader, filters: readonly Filter[]): readonly Filter[] {
  if (filters.length === 0) refuse(reader.at('fields'), 'at least one filter', reader.raw('fields'));
  return filters;
}

/** `dimension`, and refusals of what would transform it first. */
function readDimension(reader: ObjectReader): string {
  reader.unsupported('extractionFn');
  reader.raw('filterTuning'); // says how, not what: indexes are used where they pay
  return reader.string('dimension');
}

function readSelector(reader: ObjectReader, types: ColumnTypes): Filter {
  const column = readDimension(reader);
  const value = textOf(reader.raw('value'), reader, 'value');
  return value === null
    ? { kind: 'null', column }
    : { kind: 'equals', column, ...typed(column, [value], types, (type, [only = null]) => ({ type, value: only })) };
}

function readIn(reader: ObjectReader, types: ColumnTypes): Filter {
  const column = readDimension(reader);
  if (!reader.has('values')) refuse(reader.at('values'), 'an array', undefined);
  const values = reader.array('values').map((value, index) => textOf(value, reader, 'values', index));
  const present = [...new Set(values.filter((value) => value !== null))];
  const filter: Filter = { kind: 'in', column, ...typed(column, present, types, (type, converted) => ({ type, values: converted })) };
  // A null row is in a list that names null, where SQL's IN would not know.
  return values.includes(null) ? { kind: 'or', filters: [filter, { kind: 'null', column }] } : filter;
}

/** The values as numbers if the column holds numbers and all of them are some that convert without loss; else as text. */
function typed<Result>(
  column: string,
  values: readonly string[],
  types: ColumnTypes,
  make: (type: ColumnType, values: readonly FilterValue[]) => Result,
): Result {
  const type = types(column);
  if (type === undefined || type === 'STRING') return make('STRING', values);
  const converted = values.map((value) => numberOf(value, type));
  return converted.includes(null) ? make('STRING', values) : make(type, converted);
}

function numberOf(text: string, type: ColumnType): FilterValue {
  if (type === 'LONG' && !/^-?\d+$/.test(text)) return null;
  return convert(text, type);
}

function textOf(value: unknown, reader: ObjectReader, key: string, index?: number): string | null {
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

function readBound(reader: ObjectReader, types: ColumnTypes): Filter {
  const column = readDimension(reader);
  const lower = textOf(reader.raw('lower'), reader, 'lower');
  const upper = textOf(reader.raw('upper'), reader, 'upper');
  const lowerStrict = reader.boolean('lowerStrict', false);
  const upperStrict = reader.boolean('upperStrict', false);
  const ordering = readOrdering(reader, 'ordering', reader.boolean('alphaNumeric', false) ? 'alphanumeric' : 'lexicographic');
  if (lower === null && upper === null) refuse(reader.path, 'a lower or an upper bound', undefined);
  const range = { kind: 'range', column, ordering, lowerStrict, upperStrict } as const;
  const type = types(column);
  if (ordering === 'numeric' && type !== undefined && type !== 'STRING') {
    const bounds = [lower, upper].map((bound) => (bound === null ? null : (numberOf(bound, type) ?? convert(bound, 'DOUBLE'))));
    const [low = null, high = null] = bounds;
    if ((low === null) !== (lower === null) || (high === null) !== (upper === null))
      refuse(reader.path, 'bounds that are numbers', lower === null ? upper : lower);
    return { ...range, type: bounds.some((bound) => typeof bound === 'number') ? 'DOUBLE' : type, lower: low, upper: high };
  }
  return { ...range, type: 'STRING', lower, upper };
}

const MATCH_TYPES: readonly ColumnType[] = ['STRING', 'LONG', 'FLOAT', 'DOUBLE'];

function readMatchType(reader: ObjectReader): ColumnType {
  const type = reader.string('matchValueType');
  if (/^ARRAY|^COMPLEX/i.test(type)) throw new ServiceError('unsupported', `${reader.at('matchValueType')}: ${type} is not supported`);
  return reader.choice('matchValueType', MATCH_TYPES, undefined);
}

function readMatchValue(reader: ObjectReader, key: string, type: ColumnType): FilterValue {
  const value = reader.raw(key);
  if (value === undefined) return null;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') refuse(reader.at(key), `a ${type}`, value);
  if (type === 'LONG' && typeof value === 'number' && !Number.isInteger(value)) refuse(reader.at(key), 'a LONG', value);
  return convert(value, type) ?? refuse(reader.at(key), `a ${type}`, value);
}

function readEquals(reader: ObjectReader): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  const value = readMatchValue(reader, 'matchValue', type);
  if (value === null) refuse(reader.at('matchValue'), 'a value (the filter for nulls is of type null)', value);
  return { kind: 'equals', column, type, value };
}

function readRange(reader: ObjectReader): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  const lower = readMatchValue(reader, 'lower', type);
  const upper = readMatchValue(reader, 'upper', type);
  if (lower === null && upper === null) refuse(reader.path, 'a lower or an upper bound', undefined);
  const ordering = type === 'STRING' ? 'lexicographic' : 'numeric';
  return {
    kind: 'range',
    column,
    type,
    ordering,
    lower,
    upper,
    lowerStrict: reader.boolean('lowerOpen', false),
    upperStrict: reader.boolean('upperOpen', false),
  };
}

function readLike(reader: ObjectReader): Filter {
  const escape = reader.optionalString('escape') ?? null;
  if (escape !== null && [...escape].length !== 1) refuse(reader.at('escape'), 'one character', escape);
  return { kind: 'like', column: readDimension(reader), pattern: reader.string('pattern'), escape };
}

export function textCall(name: string, column: string, text: string): Expression {
  return {
    kind: 'call',
    function: name,
    arguments: [
      { kind: 'column', name: column },
      { kind: 'literal', type: 'STRING', value: text },
    ],
  };
}

function readRegex(reader: ObjectReader): Filter {
  const pattern = reader.string('pattern');
  compileRegularExpression(pattern);
  return { kind: 'expression', expression: textCall('regexp_like', readDimension(reader), pattern) };
}

/** What a search filter or search query looks for, as tests that all must hold. */
export function readSearchTest(reader: ObjectReader): readonly SearchTest[] {
  const contains = (isCaseSensitive: boolean): 'contains_string' | 'icontains_string' =>
    isCaseSensitive ? 'contains_string' : 'icontains_string';
  return readByType<readonly SearchTest[]>(
    reader,
    {
      insensitive_contains: (inner) => [{ function: 'icontains_string', text: inner.string('value') }],
      contains: (inner) => [
        { function: contains(inner.boolean('case_sensitive', inner.boolean('caseSensitive', false))), text: inner.string('value') },
      ],
      fragment: (inner) => {
        const name = contains(inner.boolean('case_sensitive', inner.boolean('caseSensitive', false)));
        const values = inner.strings('values');
        if (values.length === 0) refuse(inner.at('values'), 'at least one text', values);
        return values.map((text) => ({ function: name, text }));
      },
      regex: (inner) => {
        const text = inner.string('pattern');
        compileRegularExpression(text);
        return [{ function: 'regexp_like', text }];
      },
    },
    [],
    'search',
  );
}

function readSearch(reader: ObjectReader): Filter {
  const column = readDimension(reader);
  const filters = readSearchTest(reader.object('query')).map(
    (test): Filter => ({ kind: 'expression', expression: textCall(test.function, column, test.text) }),
  );
  return filters.length === 1 && filters[0] !== undefined ? filters[0] : { kind: 'and', filters };
}

function readIntervalFilter(reader: ObjectReader): Filter {
  const column = readDimension(reader);
  const intervals = readIntervals(reader, 'intervals') ?? refuse(reader.at('intervals'), 'an array of intervals', undefined);
  const ranges = intervals.map(
    ({ start, end }): Filter => ({
      kind: 'range',
      column,
      type: 'LONG',
      ordering: 'numeric',
      lower: longOf(start),
      upper: longOf(end),
      lowerStrict: false,
      upperStrict: true,
    }),
  );
  return ranges.length === 1 && ranges[0] !== undefined ? ranges[0] : { kind: 'or', filters: ranges };
}

/** The end of eternity as a double is one above what it stands for; both are beyond any row. */
function longOf(instant: number): bigint {
  return BigInt(instant);
}

// Reads extraction functions, as expressions.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { append } from '../../../base/lists.js';
import { compileRegularExpression } from '../../../expression/regular-expression.js';
import { call, double, type Expression, long, NULL, text } from '../../../model/expression.js';
import { floorInstant, type Granularity, parseGranularity } from '../../../model/granularity.js';
import { readSearchTest } from '../filter/search-test.js';
import { readByType, refuse } from '../reader.js';

/** An extraction function and its input. */
export interface Extracted {
  /** The column as it is stored, where `expression` is a string made of its numbers. */
  readonly number?: Expression;
  readonly expression: Expression;
  /** Whether the values are instants, which time functions take as they are and all others as the digits of their milliseconds. */
  readonly isInstant: boolean;
}

type ReadExtraction = (reader: ObjectReader, input: Extracted, depth: number) => Expression;

/** Extraction functions by type, each as an expression that gives text: it is then computed once per distinct value. */
const EXTRACTION_FUNCTIONS: Readonly<Record<string, ReadExtraction>> = {
  identity: (_, input) => textOf(input),
  regex: readRegex,
  partial: (reader, input) => when(call('regexp_like', textOf(input), text(readPattern(reader, 'expr'))), textOf(input)),
  searchQuery: (reader, input) => {
    const tests = readSearchTest(reader.object('query')).map((test) => call(test.function, textOf(input), text(test.text)));
    const [first, ...others] = tests;
    return first === undefined ? textOf(input) : when(others.reduce(both, first), textOf(input));
  },
  substring: (reader, input) => {
    const index = reader.optionalInteger('index', 0) ?? refuse(reader.at('index'), 'an integer of at least 0', undefined);
    const length = reader.optionalInteger('length', 1);
    return call('substring', textOf(input), long(index), ...(length === undefined ? [] : [long(length)]));
  },
  /** Null has no length, which is 0. */
  strlen: (_, input) => cast(call('nvl', call('strlen', textOf(input)), long(0)), 'STRING'),
  timeFormat: readTimeFormat,
  time: readTime,
  lookup: (reader, input) => {
    const found = call('map_value', textOf(input), text(readInlineMap(reader.object('lookup'))));
    return orMissing(reader, found, textOf(input));
  },
  registeredLookup: (reader, input) => {
    const found = call('lookup', textOf(input), text(reader.string('lookup')));
    return orMissing(reader, found, textOf(input));
  },
  cascade: readCascade,
  stringFormat: readStringFormat,
  upper: (reader, input) => inCase('upper', reader, input),
  lower: (reader, input) => inCase('lower', reader, input),
  bucket: (reader, input) =>
    call('bucket_start', input.number ?? input.expression, double(readNumber(reader, 'size', 1)), double(readNumber(reader, 'offset', 0))),
};

/** Documented extraction functions that are refused by name: code from outside is not run. */
const UNSUPPORTED_EXTRACTION_FUNCTIONS: readonly string[] = ['javascript'];

const DEPTH_MAX = 100;

/** An extraction function over a column or expression, as an expression of type STRING. */
export function readExtraction(reader: ObjectReader, input: Extracted, depth = 0): Expression {
  if (depth > DEPTH_MAX)
    throw new ServiceError('query_invalid', `${reader.path}: extraction functions are nested deeper than ${DEPTH_MAX} levels`);
  const table = Object.fromEntries(
    Object.entries(EXTRACTION_FUNCTIONS).map(([type, read]) => [type, (inner: ObjectReader) => read(inner, input, depth)]),
  );
  return readByType(reader, table, UNSUPPORTED_EXTRACTION_FUNCTIONS, 'extraction function');
}

/** An inline lookup, `{"type": "map", "map": {...}}`, as the JSON text that `map_value` takes. */
export function readInlineMap(reader: ObjectReader): string {
  return readByType(
    reader,
    {
      map: (inner) => {
        inner.boolean('isOneToOne', false); // says how it may be evaluated, not what it gives
        const map = inner.raw('map');
        if (typeof map !== 'object' || map === null || Array.isArray(map)) refuse(inner.at('map'), 'an object of strings', map);
        for (const [key, value] of Object.entries(map)) {
          if (typeof value !== 'string' && value !== null) refuse(`${inner.at('map')}.${key}`, 'a string', value);
        }
        return JSON.stringify(map);
      },
    },
    [],
    'inline lookup',
  );
}

/** The result for a value that the lookup lacks: null, the value itself, or a string of the query. */
export function orMissing(reader: ObjectReader, found: Expression, original: Expression): Expression {
  // Hints for rewriting the query; the answer is the same.
  reader.boolean('injective', false);
  reader.boolean('optimize', true);
  const replacement = reader.optionalString('replaceMissingValueWith');
  if (!reader.boolean('retainMissingValue', false)) return replacement === undefined ? found : call('nvl', found, text(replacement));
  if (replacement !== undefined && replacement !== '')
    throw new ServiceError('query_invalid', `${reader.path}: retainMissingValue and replaceMissingValueWith exclude each other`);
  return call('nvl', found, original);
}

function readPattern(reader: ObjectReader, key: string): string {
  const pattern = reader.string(key);
  compileRegularExpression(pattern);
  return pattern;
}

/** The group of the first match; what does not match stays, or becomes `replaceMissingValueWith`. */
function readRegex(reader: ObjectReader, input: Extracted): Expression {
  const pattern = readPattern(reader, 'expr');
  const groups = compileRegularExpression(pattern).groupCount;
  const group = reader.optionalInteger('index', 0) ?? 1;
  if (group > groups) refuse(reader.at('index'), `the number of a group of the pattern, 0 to ${groups}`, group);
  const replacement = reader.optionalString('replaceMissingValueWith');
  const value = textOf(input);
  const missing = !reader.boolean('replaceMissingValue', false) ? value : replacement === undefined ? NULL : text(replacement);
  return call(
    'case_searched',
    call('regexp_like', value, text(pattern)),
    call('regexp_extract', value, text(pattern), long(group)),
    missing,
  );
}

function readTimeFormat(reader: ObjectReader, input: Extracted): Expression {
  const format = reader.optionalString('format');
  const zone = text(reader.optionalString('timeZone') ?? 'UTC');
  const asMillis = reader.boolean('asMillis', false);
  refuseLocale(reader);
  const granularity = parseGranularity(reader.raw('granularity') ?? 'none', reader.at('granularity'));
  const instant = input.isInstant ? input.expression : asMillis ? cast(input.expression, 'LONG') : call('timestamp_parse', textOf(input));
  const bucket = floored(instant, granularity);
  if (format === undefined && asMillis) return cast(bucket, 'STRING');
  return call('timestamp_format', bucket, format === undefined ? NULL : text(format), zone);
}

function floored(instant: Expression, granularity: Granularity): Expression {
  switch (granularity.kind) {
    case 'none':
      return instant;
    case 'all':
      return when(call('notnull', instant), long(floorInstant(granularity, 0)));
    case 'duration': {
      const { durationMs, origin } = granularity;
      const size = long(durationMs);
      const past = call('-', instant, long(origin));
      return call('-', instant, call('%', call('+', call('%', past, size), size), size));
    }
    case 'period': {
      const { period, timeZone, origin } = granularity;
      return call('timestamp_floor', instant, text(period), origin === null ? NULL : long(origin), text(timeZone));
    }
  }
}

/** Letters that Joda's and the older date patterns read alike; of fractions only whole milliseconds. */
const COMMON_PATTERN = /^(?:[^A-Za-z']|[yMdHhmsaEDkK]|SSS(?!S)|Z(?!Z)|'[^']*')*$/;

function readTime(reader: ObjectReader, input: Extracted): Expression {
  const formats = ['timeFormat', 'resultFormat'].map((key) => reader.string(key));
  if (!reader.boolean('joda', false)) {
    const other = formats.find((format) => !COMMON_PATTERN.test(format));
    if (other !== undefined)
      throw new ServiceError(
        'unsupported',
        `${reader.path}: the pattern "${other}" is read differently by the older date patterns, which are not supported; set joda to true`,
      );
  }
  const [from = '', to = ''] = formats;
  const value = textOf(input);
  return call('nvl', call('timestamp_format', call('timestamp_parse', value, text(from)), text(to)), value);
}

function readCascade(reader: ObjectReader, input: Extracted, depth: number): Expression {
  const steps = reader.array('extractionFns');
  if (steps.length === 0) refuse(reader.at('extractionFns'), 'at least one extraction function', steps);
  const result = steps.reduce<Extracted>((value, step, index) => {
    const path = `${reader.at('extractionFns')}[${index}]`;
    const expression = readExtraction(reader.reader(step, path), value, depth + 1);
    // A step may name its input several times: the expression grows with the power of their number.
    if (isLarger(expression, PARTS_MAX))
      throw new ServiceError('resource_limit', `${path}: the cascade becomes an expression of more than ${PARTS_MAX} parts`);
    return { expression, isInstant: false };
  }, input);
  return result.expression;
}

const PARTS_MAX = 10_000;

function isLarger(expression: Expression, max: number): boolean {
  const open = [expression];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (++count > max) return true;
    if (next.kind === 'call') append(open, next.arguments);
    else if (next.kind === 'lambda') open.push(next.body);
  }
  return false;
}

function readStringFormat(reader: ObjectReader, input: Extracted): Expression {
  const format = text(reader.string('format'));
  const value = textOf(input);
  switch (reader.choice('nullHandling', ['nullString', 'emptyString', 'returnNull'], 'nullString')) {
    case 'nullString':
      return call('format', format, call('nvl', value, text('null')));
    case 'emptyString':
      return call('format', format, call('nvl', value, text('')));
    case 'returnNull':
      return when(call('notnull', value), call('format', format, value));
  }
}

function inCase(name: 'upper' | 'lower', reader: ObjectReader, input: Extracted): Expression {
  refuseLocale(reader);
  return call(name, textOf(input));
}

/** Names of months and days, and the case of letters, are English. */
function refuseLocale(reader: ObjectReader): void {
  const locale = reader.optionalString('locale');
  if (locale !== undefined && !/^en(?:[-_]|$)/i.test(locale))
    throw new ServiceError('unsupported', `${reader.at('locale')}: "${locale}" is not supported; accepted: en`);
}

function readNumber(reader: ObjectReader, key: string, otherwise: number): number {
  const value = reader.raw(key) ?? otherwise;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || (key === 'size' && number <= 0))
    refuse(reader.at(key), key === 'size' ? 'a number above 0' : 'a number', value);
  return number;
}

function textOf({ expression }: Extracted): Expression {
  return cast(expression, 'STRING');
}

/** Null where the condition does not hold. */
function when(condition: Expression, value: Expression): Expression {
  return call('case_searched', condition, value);
}

function both(a: Expression, b: Expression): Expression {
  return call('&&', a, b);
}

function cast(expression: Expression, type: 'STRING' | 'LONG'): Expression {
  // The result of another extraction is text already.
  return type === 'STRING' && expression.kind === 'call' && TEXT_FUNCTIONS.has(expression.function)
    ? expression
    : call('cast', expression, text(type));
}

const TEXT_FUNCTIONS: ReadonlySet<string> = new Set(['substring', 'upper', 'lower', 'format', 'bucket_start', 'map_value', 'number_text']);

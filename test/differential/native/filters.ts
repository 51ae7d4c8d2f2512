import type { Json } from '../case.js';
import type { Random } from '../random.js';
import { STRINGS } from '../tables.js';
import { condition } from './expressions.js';
import {
  ARRAY_COLUMNS,
  anyColumn,
  DOUBLE_COLUMNS,
  EVERYTHING,
  extractionFn,
  LONG_COLUMNS,
  NUMBER_COLUMNS,
  ORDERINGS,
  timeExtractionFn,
} from './parts.js';

const SHORT = STRINGS.filter((value) => value === null || value.length < 20);
const NUMBERS = [
  '0',
  '1',
  '2',
  '-1',
  '10',
  '1.5',
  '0.1',
  '-0.5',
  '100',
  '1e3',
  '9007199254740993',
  '9223372036854775807',
  '',
  'x',
  '1425797999999',
];

function stringValue(random: Random): string | null {
  return random.chance(0.6) ? random.pick(['a', 'b', 'c', 'A', '', '1', '10', '2', 'abc', null]) : random.pick(SHORT);
}

function isNumberColumn(column: string): boolean {
  return (NUMBER_COLUMNS as readonly string[]).includes(column) || column === '__time' || column === 'w0';
}

function valueFor(random: Random, column: string): string | null {
  return random.chance(isNumberColumn(column) ? 0.85 : 0.1) ? random.pick(NUMBERS) : stringValue(random);
}

/** Small integers may be written as numbers of JSON. */
function asWritten(random: Random, value: string | null): Json {
  return value !== null && /^-?[1-9]\d{0,8}$/.test(value) && random.chance(0.3) ? Number(value) : value;
}

/** Extraction functions of numbers and of virtual columns are not asked for in filters: docs/differences.md. */
function isComputed(column: string): boolean {
  return column === 'v0' || column === 'w0' || (NUMBER_COLUMNS as readonly string[]).includes(column);
}

function isNumberOf(column: string, value: string): boolean {
  const isDouble = (DOUBLE_COLUMNS as readonly string[]).includes(column);
  return (isDouble ? /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?$/i : /^-?\d{1,18}$/).test(value);
}

/** A value to look for; among numbers only a number, and 0 only where there is no -0.0: docs/differences.md. */
function wantedFor(random: Random, column: string): string | null {
  for (;;) {
    const value = valueFor(random, column);
    if (value !== null && withoutZero(column, value) !== value) continue;
    if (!isNumberColumn(column) || value === null || isNumberOf(column, value)) return value;
  }
}

export function filter(random: Random, depth: number): Json {
  const at = random.below(depth > 0 ? 26 : 20);
  const column = anyColumn(random);
  const extraction = (): { readonly [name: string]: Json } =>
    random.chance(0.2) && !isComputed(column)
      ? { extractionFn: column === '__time' ? timeExtractionFn(random) : extractionFn(random) }
      : {};
  switch (at) {
    case 0:
    case 1:
      return { type: 'selector', dimension: column, value: asWritten(random, wantedFor(random, column)), ...extraction() };
    case 2:
    case 3:
      return {
        type: 'in',
        dimension: column,
        values: random.list(0, 4, () => asWritten(random, wantedFor(random, column))),
        ...extraction(),
      };
    case 4:
    case 5:
    case 6:
      return boundFilter(random, column, extraction());
    case 7:
    case 8:
      return equalsFilter(random, column);
    case 9:
    case 10:
      return rangeFilter(random, column);
    case 11:
      return { type: 'null', column };
    case 12: {
      const pattern = random.pick<readonly [string, string?]>([
        ['a%'],
        ['%b%'],
        ['_'],
        ['%'],
        [''],
        ['a\\%'],
        ['a!%', '!'],
        ['%😀%'],
        ['1%'],
        ['!_%', '!'],
        ['%_1%'],
      ]);
      return {
        type: 'like',
        dimension: column,
        pattern: pattern[0],
        ...(pattern[1] === undefined ? {} : { escape: pattern[1] }),
        ...extraction(),
      };
    }
    case 13:
      return {
        type: 'regex',
        dimension: column,
        pattern: random.pick(['^a', '[0-9]+', '.', '^$', '(?i)A', '\\d', 'a|b', '\\.']),
        ...extraction(),
      };
    case 14:
    case 15:
      return { type: 'search', dimension: column, query: searchSpec(random), ...extraction() };
    case 16:
      return {
        type: 'interval',
        dimension: random.pick(['__time', 'ts', column]),
        // 1970 begins at 0, which is not asked for beside -0.0: docs/differences.md.
        intervals: random.list(1, 2, () => random.pick([EVERYTHING, '2015-01-01/2016-01-01', '1969-06-01/2000-01-01', '1971-01-01/P1D'])),
      };
    case 17:
      return { type: 'expression', expression: condition(random) };
    case 18:
      return {
        type: 'columnComparison',
        dimensions: random.some<Json>(['k', 'mv', 's', 'b', 'n', 'x', 'l', column], 2).concat('k').slice(0, 2),
      };
    case 19:
      return random.pick<Json>([
        { type: 'true' },
        { type: 'false' },
        { type: 'arrayContainsElement', column: 'al', elementMatchValueType: 'LONG', elementMatchValue: random.pick([1, 2, null, 9]) },
        { type: 'arrayContainsElement', column: 'ad', elementMatchValueType: 'DOUBLE', elementMatchValue: random.pick([0.1, -2, null]) },
        { type: 'arrayContainsElement', column: 'al', elementMatchValueType: 'DOUBLE', elementMatchValue: random.pick([1, 1.5]) },
        { type: 'arrayContainsElement', column: 'al', elementMatchValueType: 'STRING', elementMatchValue: random.pick(['1', 'x']) },
        { type: 'arrayContainsElement', column: 'as', elementMatchValueType: 'LONG', elementMatchValue: 1 },
        typedIn(random, column),
        typedIn(random, column),
        { type: 'arrayContainsElement', column: 'as', elementMatchValueType: 'STRING', elementMatchValue: random.pick(['a', '', null]) },
      ]);
    case 20:
    case 21:
      return { type: 'not', field: filter(random, depth - 1) };
    case 22:
      return { type: random.pick(['istrue', 'isfalse']), field: filter(random, depth - 1) };
    default:
      return { type: random.pick(['and', 'or']), fields: random.list(1, 3, () => filter(random, depth - 1)) };
  }
}

export function searchSpec(random: Random): Json {
  const caseSensitive = random.chance(0.5);
  return random.pick<Json>([
    { type: 'contains', value: random.pick(['a', 'B', '', '1', 'ß', '😀', 'İ']), caseSensitive },
    { type: 'insensitive_contains', value: random.pick(['a', 'B', 'AB', '1', 'SS', 'ı']) },
    { type: 'fragment', values: random.some(['a', 'b', 'A', '1', ''], 2), caseSensitive },
    { type: 'regex', pattern: random.pick(['^a', '[0-9]', 'b$']) },
  ]);
}

function boundFilter(random: Random, column: string, extraction: { readonly [name: string]: Json }): Json {
  const bound = (): string => {
    const value = valueFor(random, column) ?? '';
    return value === '0' ? String(withoutZero(column, value)) : value;
  };
  return {
    type: 'bound',
    dimension: column,
    ...(random.chance(0.65) ? { lower: bound() } : {}),
    ...(random.chance(0.65) ? { upper: bound() } : {}),
    ...(random.chance(0.4) ? { lowerStrict: random.chance(0.5) } : {}),
    ...(random.chance(0.4) ? { upperStrict: random.chance(0.5) } : {}),
    ...(random.chance(0.7) ? { ordering: random.pick(ORDERINGS) } : {}),
    ...extraction,
  };
}

function isLongColumn(column: string): boolean {
  return (LONG_COLUMNS as readonly string[]).includes(column) || column === '__time' || column === 'w0';
}

/** A typed value that may or may not fit the column. */
function typedValue(random: Random, column: string): { readonly type: string; readonly value: Json } {
  if ((ARRAY_COLUMNS as readonly string[]).includes(column) && random.chance(0.7)) {
    return random.pick<{ readonly type: string; readonly value: Json }>([
      { type: 'ARRAY<LONG>', value: [1, 2] },
      { type: 'ARRAY<LONG>', value: [1] },
      { type: 'ARRAY<STRING>', value: ['a', null] },
      { type: 'ARRAY<STRING>', value: ['a'] },
      { type: 'ARRAY<DOUBLE>', value: [0.1] },
    ]);
  }
  // Numbers and strings are not compared as elements of lists: docs/differences.md.
  const types =
    column === 'as'
      ? ['STRING']
      : (ARRAY_COLUMNS as readonly string[]).includes(column)
        ? ['LONG', 'DOUBLE']
        : ['STRING', 'LONG', 'DOUBLE', 'FLOAT'];
  const type = random.pick(types);
  if (type === 'STRING') return { type, value: withoutZero(column, valueFor(random, column) ?? 'a') };
  if (type === 'LONG')
    return {
      type,
      value: withoutZero(
        column,
        random.pick([0, 1, 2, -1, 10, 100, 1_425_797_999_999, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n]),
      ),
    };
  return { type, value: withoutZero(column, random.pick([0, 1, 0.1, 0.2, 1.5, -0.5, 2.5, 100, 1e15, 9.5, 1 / 3])) };
}

/** Columns with -0.0 are not compared with 0: docs/differences.md. */
function withoutZero<Value>(column: string, value: Value): Value | 4 {
  return (column === 'd' || column === 'f') && (Number(value) === 0 || /^false$/i.test(String(value))) ? 4 : value;
}

/** Not a LONG that a double does not hold, nor a fraction beside lists of LONGs: docs/differences.md. */
function boundValue(random: Random, column: string): ReturnType<typeof typedValue> {
  for (;;) {
    const found = typedValue(random, column);
    const [number] = [found.value].flat();
    const isFraction = typeof number === 'number' && !Number.isInteger(number);
    if (typeof number !== 'bigint' && !(column === 'al' && isFraction)) return found;
  }
}

/** Values of one type to look for in a column of any. */
function typedIn(random: Random, column: string): Json {
  // Fractions are not looked for among LONGs, nor LONGs among the strings of `s`, which has `1.0`: docs/differences.md.
  const list = random
    .list(1, 4, () => typedValue(random, column))
    .filter(
      ({ type, value }) =>
        !type.startsWith('ARRAY') &&
        !(typeof value === 'number' && !Number.isInteger(value) && isLongColumn(column)) &&
        !(column === 's' && type === 'LONG'),
    );
  const [first] = list;
  if (first === undefined) return { type: 'inType', column, matchValueType: 'STRING', values: ['a', null] };
  const values = list.filter(({ type }) => type === first.type).map(({ value }) => value);
  return { type: 'inType', column, matchValueType: first.type, values: random.chance(0.2) ? [...values, null] : values };
}

function equalsFilter(random: Random, column: string): Json {
  const { type, value } = typedValue(random, column);
  return { type: 'equals', column, matchValueType: type, matchValue: value };
}

function rangeFilter(random: Random, column: string): Json {
  const { type, value } = boundValue(random, column);
  let other = boundValue(random, column);
  for (let tries = 0; other.type !== type && tries < 50; tries++) other = boundValue(random, column);
  const both = other.type === type && random.chance(0.5);
  const lowerFirst = random.chance(0.5);
  return {
    type: 'range',
    column,
    matchValueType: type,
    ...(both || lowerFirst ? { lower: value } : {}),
    ...(both ? { upper: other.value } : lowerFirst ? {} : { upper: value }),
    ...(random.chance(0.4) ? { lowerOpen: random.chance(0.5) } : {}),
    ...(random.chance(0.4) ? { upperOpen: random.chance(0.5) } : {}),
  };
}

// JSON functions of the expression language.

import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { doubleText } from '../../base/number-text.js';
import { arrayOf, type ColumnType, isArrayType, JSON_TYPE, parseColumnType } from '../../model/schema.js';
import { type Constant, compiledFunction, type ExpressionFunction, type MaybeType } from '../function.js';
import { findAtPath, type Path, type PathPart, parseJsonPath, printJsonPath } from '../json-path.js';
import { convert, isArrayValue, plainData, Structured, toText, type Value, valueOfJson } from '../value.js';
import { refuseLength } from './array-value.js';
import { isShallowJson, measured } from './json-size.js';

/** The value as JSON functions read it: arrays are lists; a string stays a string and is not parsed. */
function dataOf(value: Value): unknown {
  return plainData(value);
}

function structured(data: unknown): Value {
  return data === undefined || data === null ? null : new Structured(data);
}

/** A function of a JSON value and a path; null where either is. */
function atPath(
  name: string,
  maxArguments: number,
  type: ExpressionFunction['type'],
  compile: (constants: readonly (Constant | undefined)[]) => (found: unknown) => Value,
): ExpressionFunction {
  return {
    name,
    minArguments: 2,
    maxArguments,
    type,
    bind(constants) {
      const [, constant] = constants;
      const fixed = constant === undefined ? undefined : pathOf(constant.value, name);
      const apply = compile(constants);
      return ([value = null, path = null]) =>
        value === null || path === null ? null : apply(findAtPath(dataOf(value), fixed ?? pathOf(path, name)));
    },
  };
}

function pathOf(path: Value, name: string): Path {
  if (typeof path !== 'string')
    throw new ServiceError(
      'query_invalid',
      `${name}: the second argument is a path such as '$.a[0]', found ${path === null ? 'null' : toText(path)}`,
    );
  return parseJsonPath(path);
}

const VALUE_TYPES: readonly ColumnType[] = ['STRING', 'LONG', 'DOUBLE', 'FLOAT', 'ARRAY<STRING>', 'ARRAY<LONG>', 'ARRAY<DOUBLE>'];

function valueType(constants: readonly (Constant | undefined)[]): ColumnType {
  if (constants.length < 3) return 'STRING';
  const name = constants[2]?.value;
  const type = typeof name === 'string' && name.length < 100 ? parseColumnType(name) : undefined;
  if (type === undefined || !VALUE_TYPES.includes(type))
    throw new ServiceError('query_invalid', `json_value: the third argument is a type in quotes, one of ${VALUE_TYPES.join(', ')}`);
  return type;
}

/**
 * json_value(json, path[, type]): strings and numbers, booleans as 1 and 0 (as words in a list with strings); lists of these where
 * an array is asked for, else the element of a list of one; otherwise null.
 */
const jsonValue = atPath(
  'json_value',
  3,
  (_, constants) => valueType(constants),
  (constants) => {
    const type = valueType(constants);
    return (found) => {
      const value = valueOfJson(found);
      if (value instanceof Structured) return null;
      if (!isArrayValue(value)) return convert(value, type);
      if (!isArrayType(type) && value.length !== 1) return null;
      return value.every((each) => typeof each !== 'object' || each === null) ? convert(value, type) : null;
    };
  },
);

const jsonQuery = atPath(
  'json_query',
  2,
  () => JSON_TYPE,
  () => structured,
);

const JSON_ARRAY = arrayOf(JSON_TYPE);

/** json_query_array(json, path): what is no list is the only element of one. */
const jsonQueryArray = atPath(
  'json_query_array',
  2,
  () => JSON_ARRAY,
  () => (found) => (Array.isArray(found) ? found.map(structured) : found === undefined || found === null ? null : [structured(found)]),
);

/** json_keys(json, path): of an object; of a list its positions. */
const jsonKeys = atPath(
  'json_keys',
  2,
  () => 'ARRAY<STRING>',
  () => (found) => {
    return typeof found !== 'object' || found === null ? null : Object.keys(found);
  },
);

/** json_paths(json): of every literal in it, and of every list of literals. What is no JSON is a value itself. */
const jsonPaths = compiledFunction('json_paths', [1, 1], 'ARRAY<STRING>', () => ([value = null]) => {
  if (!(value instanceof Structured)) return [printJsonPath([])];
  const paths: string[] = [];
  collectPaths(dataOf(value), [], paths);
  return paths;
});

function isLiteral(data: unknown): boolean {
  return typeof data !== 'object' || data === null;
}

function collectPaths(data: unknown, path: PathPart[], into: string[]): void {
  if (typeof data !== 'object' || data === null || (Array.isArray(data) && data.every(isLiteral))) {
    refuseLength('json_paths', into.push(printJsonPath(path)));
    return;
  }
  const parts: readonly (readonly [PathPart, unknown])[] = Array.isArray(data)
    ? data.map((member: unknown, index) => [{ kind: 'element', index }, member])
    : Object.entries(data).map(([name, member]) => [{ kind: 'field', name }, member]);
  for (const [part, member] of parts) {
    path.push(part);
    collectPaths(member, path, into);
    path.pop();
  }
}

/** json_object(key, value, ...) */
const jsonObject: ExpressionFunction = {
  name: 'json_object',
  minArguments: 0,
  maxArguments: Infinity,
  type(types) {
    if (types.length % 2 === 1) throw new ServiceError('query_invalid', 'json_object takes pairs of a key and a value');
    types.forEach((type, index) => {
      if (index % 2 === 0 && type !== 'STRING')
        throw new ServiceError('query_invalid', `json_object: the key ${index / 2 + 1} is a ${type ?? 'null'}; accepted: STRING`);
    });
    return JSON_TYPE;
  },
  bind: () => (values) => {
    const members: [string, unknown][] = [];
    for (let index = 0; index + 1 < values.length; index += 2) {
      const key = toText(values[index] ?? null);
      if (key === null) throw new ServiceError('query_invalid', `json_object: the key ${index / 2 + 1} is null`);
      members.push([key, dataOf(values[index + 1] ?? null)]);
    }
    return new Structured(measured('json_object', Object.fromEntries(members)));
  },
};

/** A JSON string as data; `undefined` for a string that is not JSON. */
function parsed(text: string): { readonly data: unknown } | undefined {
  try {
    return isShallowJson(text) ? { data: parseJson(text) } : undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'query_invalid') return undefined;
    throw error;
  }
}

function parseOrRefuse(name: string, text: string): unknown {
  const found = parsed(text);
  if (found === undefined) {
    const shown = text.length > 100 ? `${text.slice(0, 100)}...` : text;
    throw new ServiceError('query_invalid', `${name}: '${shown}' is not JSON; try_parse_json makes null of it`);
  }
  return found.data;
}

/** parse_json(text): an error for what is no JSON text. */
const parseJsonFunction: ExpressionFunction = {
  name: 'parse_json',
  minArguments: 1,
  maxArguments: 1,
  type([type = null]) {
    if (type !== null && type !== 'STRING') throw new ServiceError('query_invalid', `parse_json takes a STRING, found ${type}`);
    return JSON_TYPE;
  },
  bind:
    () =>
    ([value = null]) =>
      typeof value === 'string' ? structured(parseOrRefuse('parse_json', value)) : null,
};

/** try_parse_json(text): null for what is no JSON text. */
const tryParseJson: ExpressionFunction = {
  ...parseJsonFunction,
  name: 'try_parse_json',
  type: () => JSON_TYPE,
  bind:
    () =>
    ([value = null]) =>
      typeof value === 'string' ? structured(parsed(value)?.data) : null,
};

/** json_merge(json, json, ...): JSON or texts of it; a key of several has the value of the last, see `merged`. Null behind the first is passed over. */
const jsonMerge: ExpressionFunction = {
  name: 'json_merge',
  minArguments: 2,
  maxArguments: Infinity,
  type(types: readonly MaybeType[]) {
    for (const type of types) {
      if (type !== null && type !== 'STRING' && type !== JSON_TYPE)
        throw new ServiceError('query_invalid', `json_merge takes COMPLEX<json> and STRING, found ${type}`);
    }
    return JSON_TYPE;
  },
  bind: () => (values) => {
    if (values[0] === null) return null;
    const [first, ...others] = values.map((value) => (typeof value === 'string' ? parseOrRefuse('json_merge', value) : dataOf(value)));
    let result: unknown = first;
    for (const other of others) {
      if (other === null) continue;
      if (kindOf(result) !== kindOf(other))
        throw new ServiceError('query_invalid', `json_merge takes values of one kind; found ${kindOf(result)} and ${kindOf(other)}`);
      result = merged(result, other);
    }
    return structured(measured('json_merge', result));
  },
};

function kindOf(data: unknown): 'an object' | 'a list' | 'a single value' {
  return typeof data !== 'object' || data === null ? 'a single value' : Array.isArray(data) ? 'a list' : 'an object';
}

/** Objects member by member, lists joined; of anything else, and of values of different kinds, the second. */
function merged(one: unknown, other: unknown): unknown {
  if (kindOf(one) !== kindOf(other) || kindOf(other) === 'a single value') return other;
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other];
  const members = new Map<string, unknown>(Object.entries(one as object));
  for (const [name, value] of Object.entries(other as object))
    members.set(name, members.has(name) ? merged(members.get(name), value) : value);
  return Object.fromEntries(members);
}

/** A DOUBLE keeps its fraction, as its text does; numbers inside of JSON are written as JSON.stringify writes them. */
function jsonText(value: Value): string {
  if (isArrayValue(value)) return `[${value.map(jsonText).join(',')}]`;
  return typeof value === 'number' && Number.isFinite(value) ? doubleText(value) : stringifyJson(dataOf(value));
}

export const JSON_FUNCTIONS: readonly ExpressionFunction[] = [
  jsonValue,
  jsonQuery,
  jsonQueryArray,
  jsonKeys,
  jsonPaths,
  jsonObject,
  parseJsonFunction,
  tryParseJson,
  compiledFunction(
    'to_json_string',
    [1, 1],
    'STRING',
    () =>
      ([value = null]) =>
        value === null ? null : jsonText(value),
  ),
  jsonMerge,
];

// Reads the filters that say which type their values have: equals, range, inType, arrayContainsElement.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { convert, textOfValue, type Value, valueOfText } from '../../../expression/value.js';
import { call } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import {
  type ArrayType,
  type ColumnType,
  elementType,
  isArrayType,
  isComplexType,
  isNumberType,
  JSON_TYPE,
  type NumberType,
} from '../../../model/schema.js';
import { type FilterValue, listOf } from '../../../model/value-list.js';
import type { FilterColumns } from '../column/column-types.js';
import { refuse } from '../reader.js';
import { readTyped, readWrittenType, type WrittenType } from '../typed-value.js';
import { ofSingleValues } from './single-values.js';

/** Like `in`, with values of a type that is given. */
export function readTypedIn(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readWrittenType(reader.raw('matchValueType'), reader.at('matchValueType'));
  if (isArrayType(type) || type === JSON_TYPE) refuse(reader.at('matchValueType'), 'one of STRING, LONG, FLOAT, DOUBLE', type);
  const keys = ['values', 'sortedValues'].filter((key) => reader.has(key));
  const [key = 'values'] = keys;
  if (keys.length !== 1) refuse(reader.at(key), 'exactly one of values and sortedValues', reader.raw(key));
  const given = reader.list(key, (value, path) => (value === null ? null : readTyped(value, type, path)));
  const values = given.filter((value) => value !== null);
  const numbers = type === 'STRING' ? values.flatMap((value) => doubleOf(String(value)) ?? []) : values;
  const listed: Filter =
    typeOf(column) === 'FLOAT'
      ? { kind: 'in', column, type: 'FLOAT', values: listOf(numbers.map(floatOf)) }
      : { kind: 'in', column, type, values: listOf(values) };
  const filter: Filter = values.length === 0 ? { kind: 'false' } : listed;
  if (values.length > 0) ofSingleValues(column, reader, typeOf);
  return values.length === given.length ? filter : { kind: 'or', filters: [filter, { kind: 'null', column }] };
}

/** A FLOAT is compared as it is written, with all digits of a DOUBLE, unless the column holds floats. */
function readMatchType(reader: ObjectReader, key = 'matchValueType'): WrittenType {
  const type = readWrittenType(reader.raw(key), reader.at(key));
  return type === 'FLOAT' ? 'DOUBLE' : type;
}

/** The value of a key, in a type; a single value is the list of it where a list is expected. */
function readMatchValue(reader: ObjectReader, key: string, type: WrittenType): FilterValue {
  const value = reader.raw(key);
  if (value === undefined || value === null) return null;
  return readTyped(isArrayType(type) && !Array.isArray(value) ? [value] : value, type, reader.at(key));
}

/** A column that is not an array counts as an array of its value, or of its values. */
export function readArrayContainsElement(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader, 'elementMatchValueType');
  const value = readMatchValue(reader, 'elementMatchValue', type);
  if (!isArrayType(typeOf(column)) && !isArrayType(type))
    return value === null ? { kind: 'null', column } : { kind: 'equals', column, type, value };
  return { kind: 'expression', expression: call('array_contains', { kind: 'column', name: column }, { kind: 'literal', type, value }) };
}

export function readEquals(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const type = readMatchType(reader);
  const value = readMatchValue(reader, 'matchValue', type);
  if (value === null) refuse(reader.at('matchValue'), 'a value (the filter for nulls is of type null)', value);
  const found = typeOf(column);
  const none = equalsNone(found, column, type, reader);
  if (none !== undefined) return none;
  if (isListOfSingles(found) && isListOfSingles(type)) {
    const wanted = listEqualTo(elementsOf(value, type), found);
    return wanted === null ? matchesNone(column, found) : { kind: 'equals', column, type: found, value: wanted };
  }
  if (type === 'STRING' && isNumberType(found)) return equalsNumber(column, found, String(value));
  return asFloats(found, type) ? { kind: 'equals', column, type: 'FLOAT', value: floatOf(value) } : { kind: 'equals', column, type, value };
}

/** A string beside numbers is the number that a cast makes of it, where that loses nothing: `true` is 1. */
function equalsNumber(column: string, type: NumberType, string: string): Filter {
  const double = convert(string, 'DOUBLE');
  if (double === null) return matchesNone(column, type);
  if (type !== 'LONG') return { kind: 'equals', column, type, value: type === 'FLOAT' ? floatOf(double) : double };
  const long = convert(string, 'LONG');
  return long !== null && Number(long) === double ? { kind: 'equals', column, type, value: long } : matchesNone(column, type);
}

/** The double that a string is; the words of truth, which casts take for 1 and 0, are none. */
export function doubleOf(text: string): number | null {
  return /^(true|false)$/i.test(text) ? null : convert(text, 'DOUBLE');
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
  if (isArrayType(found)) return matchesNone(column, found);
  if (!isComplexType(found)) return undefined;
  throw new ServiceError('query_invalid', `${reader.at('matchValueType')}: "${column}" is of type ${found}; found ${type}`);
}

function matchesNone(column: string, type: ColumnType): Filter {
  return { kind: 'in', column, type, values: [] };
}

export function readRange(reader: ObjectReader, { typeOf }: FilterColumns): Filter {
  reader.raw('filterTuning');
  const column = reader.string('column');
  const found = typeOf(column);
  const type = readMatchType(reader);
  if (type === JSON_TYPE) throw new ServiceError('query_invalid', `${reader.at('matchValueType')}: values of type ${type} have no order`);
  // Beside a list a single value is the list of it.
  const bounds = isListOfSingles(found) && !isArrayType(type) ? readWrittenType(`ARRAY<${type}>`, reader.at('matchValueType')) : type;
  const lower = readMatchValue(reader, 'lower', bounds);
  const upper = readMatchValue(reader, 'upper', bounds);
  if (lower === null && upper === null) refuse(reader.path, 'a lower or an upper bound', undefined);
  const ordering = isNumberType(type) ? 'numeric' : 'lexicographic';
  const lowerStrict = reader.boolean('lowerOpen', false);
  const upperStrict = reader.boolean('upperOpen', false);
  const range = { kind: 'range', column, ordering, lowerStrict, upperStrict } as const;
  // Strings are in numeric order, in which strings that are not numbers come before all numbers.
  if (isNumberType(type) && found === 'STRING')
    return { ...range, type: 'STRING', lower: convert(lower, 'STRING'), upper: convert(upper, 'STRING') };
  if (isListOfSingles(found) && isListOfSingles(bounds)) {
    const numeric = elementType(found) === 'STRING' && isNumberType(elementType(bounds));
    const from = lower === null ? null : boundOfLists(elementsOf(lower, bounds), found);
    const to = upper === null ? null : boundOfLists(elementsOf(upper, bounds), found);
    return {
      ...range,
      ordering: numeric ? 'numeric' : 'lexicographic',
      type: found,
      lower: from?.list ?? null,
      upper: to?.list ?? null,
      lowerStrict: lowerStrict && from?.isBetween !== true,
      upperStrict: upperStrict || to?.isBetween === true,
    };
  }
  return equalsNone(found, column, type, reader) ?? { ...range, type, lower, upper };
}

function isListOfSingles(type: ColumnType | undefined): type is ArrayType {
  if (!isArrayType(type)) return false;
  const element = elementType(type);
  return !isArrayType(element) && !isComplexType(element);
}

function elementsOf(written: FilterValue, type: ArrayType): readonly Value[] {
  return valueOfText(String(written), type) as readonly Value[];
}

/** The list of a column's type that equals a list of another one; null when there is none: no LONG equals 1.5. */
function listEqualTo(list: readonly Value[], type: ArrayType): string | null {
  const cast = list.map((each) => elementAs(each, type, Math.trunc));
  const isLong = elementType(type) === 'LONG';
  const isSame = (at: number): boolean => convert(cast[at] ?? null, 'DOUBLE') === convert(list[at] ?? null, 'DOUBLE');
  return isLong && !list.every((_, at) => isSame(at)) ? null : textOfValue(cast, type);
}

/**
 * A bound in the type of a column's elements. No list of LONGs equals one with a fraction: those above it begin with its elements
 * before the fraction and the next LONG, or are more than that.
 */
function boundOfLists(list: readonly Value[], type: ArrayType): { readonly list: string | null; readonly isBetween: boolean } {
  const at = elementType(type) === 'LONG' ? list.findIndex(isFraction) : -1;
  const compared = at < 0 ? list : list.slice(0, at + 1);
  return {
    list: textOfValue(
      compared.map((each) => elementAs(each, type, Math.ceil)),
      type,
    ),
    isBetween: at >= 0,
  };
}

function isFraction(element: Value): boolean {
  const double = convert(element, 'DOUBLE');
  return double !== null && !Number.isInteger(double);
}

/** An element in the type of a column's elements; a string that is not a number is null as one. */
function elementAs(element: Value, type: ArrayType, round: (double: number) => number): Value {
  const inner = elementType(type);
  if (inner !== 'LONG' || typeof element === 'bigint') return convert(element, inner);
  const double = convert(element, 'DOUBLE');
  if (typeof element === 'string' && !isFraction(element)) return convert(element, 'LONG');
  return double === null ? null : convert(round(double), 'LONG');
}

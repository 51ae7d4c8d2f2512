// Arrays as values: types, equality and limits.

import { ServiceError } from '../../base/errors.js';
import { arrayOf, isArrayType, JSON_TYPE } from '../../model/schema.js';
import type { MaybeType } from '../function.js';
import { compareValues, convert, isArrayValue, Structured, type Value } from '../value.js';

/** Elements that one array may have. */
export const ELEMENTS_MAX = 1 << 20;

/** @throws ServiceError `resource_limit` naming the function */
export function refuseLength(name: string, length: number): void {
  if (length > ELEMENTS_MAX)
    throw new ServiceError('resource_limit', `${name}: an array of ${length} elements; up to ${ELEMENTS_MAX} are accepted`);
}

/** The type a value has as an argument that takes arrays: a single value is the only element of one. */
export function arrayTypeOf(type: MaybeType): MaybeType {
  if (type === null || isArrayType(type)) return type;
  return arrayOf(type === 'FLOAT' ? 'DOUBLE' : type);
}

export function asArray(value: Value): readonly Value[] | null {
  if (value === null || isArrayValue(value)) return value;
  return value instanceof Structured ? asArray(convert(value, arrayOf(JSON_TYPE))) : [value];
}

/** Null is the same as null; values of different types are the same when they compare so. */
export function areSameElements(a: Value, b: Value): boolean {
  return a === b || (a !== null && b !== null && compareValues(a, b) === 0);
}

/** Null first. */
export function compareElements(a: Value, b: Value): number {
  return a === null || b === null ? Number(a !== null) - Number(b !== null) : (compareValues(a, b) ?? 0);
}

/** Length below which comparing each element is as fast. */
const SMALL = 8;

/** A test whether an array has an element. */
export function membership(array: readonly Value[]): (element: Value) => boolean {
  const slow = (element: Value): boolean => array.some((each) => areSameElements(each, element));
  if (array.length < SMALL) return slow;
  const values = new Set(array);
  // Equal texts and equal LONGs are the same key of a set; where types differ, or doubles are, only comparing tells.
  const kinds = new Set(array.filter((each) => each !== null).map((each) => typeof each));
  const [kind] = kinds;
  if (kinds.size > 1 || (kind !== 'string' && kind !== 'bigint')) return slow;
  return (element) => (element === null || typeof element === kind ? values.has(element) : slow(element));
}

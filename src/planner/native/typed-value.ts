// Reads values of a written type, such as array literals in filters.

import { ServiceError } from '../../base/errors.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { convert } from '../../expression/value.js';
import { type ArrayElement, arrayText } from '../../model/array-text.js';
import {
  type ArrayType,
  type ColumnType,
  elementType,
  isArrayType,
  JSON_TYPE,
  type PrimitiveType,
  parseColumnType,
} from '../../model/schema.js';
import { refuse } from './reader.js';

/** The types of values that a query can be written with: numbers, strings, arrays of them to any depth, JSON. */
export type WrittenType = PrimitiveType | ArrayType | typeof JSON_TYPE;

/** @throws ServiceError `unsupported` for the types of sketches, `query_invalid` for what is not a type */
export function readWrittenType(value: unknown, path: string): WrittenType {
  const type = typeof value === 'string' ? parseColumnType(value) : undefined;
  if (type === undefined) refuse(path, 'one of STRING, LONG, FLOAT, DOUBLE, COMPLEX<json>, or ARRAY<...> of these', value);
  const innermost = innermostOf(type);
  if (innermost === 'STRING' || innermost === 'LONG' || innermost === 'FLOAT' || innermost === 'DOUBLE' || type === JSON_TYPE)
    return type as WrittenType;
  throw new ServiceError('unsupported', `${path}: values of type ${type} cannot be written in a query`);
}

function innermostOf(type: ColumnType): ColumnType {
  return isArrayType(type) ? innermostOf(elementType(type)) : type;
}

/** A value that is not null, in a type: arrays and JSON as the texts that dictionaries keep of them. */
export function readTyped(value: unknown, type: WrittenType, path: string): string | bigint | number {
  if (isArrayType(type)) return arrayText(readElements(value, type, path), type);
  if (type !== JSON_TYPE) return readScalar(value, type, path);
  return shallowJsonText(value) ?? refuse(path, 'JSON that is nested less deeply', value);
}

function readElements(value: unknown, type: ArrayType, path: string): readonly ArrayElement[] {
  if (!Array.isArray(value)) refuse(path, `an ${type}`, value);
  const inner = elementType(type) as WrittenType;
  return value.map((element: unknown, index): ArrayElement => {
    const at = `${path}[${index}]`;
    if (element === null) return null;
    return isArrayType(inner) ? readElements(element, inner, at) : (readTyped(element, inner, at) as ArrayElement);
  });
}

function readScalar(value: unknown, type: PrimitiveType, path: string): string | bigint | number {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') refuse(path, `a ${type}`, value);
  if (type === 'LONG' && typeof value === 'number' && !Number.isInteger(value)) refuse(path, 'a LONG', value);
  return convert(value, type) ?? refuse(path, `a ${type}`, value);
}

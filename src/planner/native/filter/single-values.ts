// Refuses columns of arrays and JSON where single values are compared.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { isArrayType, isComplexType } from '../../../model/schema.js';
import type { ColumnTypes } from '../column/column-types.js';

/** The column, if its rows hold single values. */
export function ofSingleValues(column: string, reader: ObjectReader, typeOf: ColumnTypes): string {
  const type = typeOf(column);
  if (!isArrayType(type) && !isComplexType(type)) return column;
  throw new ServiceError(
    'query_invalid',
    `${reader.path}: "${column}" is of type ${type}; filters that apply to it: equals, range, arrayContainsElement, null, expression`,
  );
}

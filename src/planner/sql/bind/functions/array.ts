// SQL array functions.

import { arrayOf, commonType, isArray } from '../../parse/sql-type.js';
import { type Bound, call } from '../../relation/bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

const element = (bound: FunctionCall): Bound['type'] => bound.elementType(0);
const sameArray = (bound: FunctionCall): Bound['type'] => bound.arrayType(0);

function ofTwo(name: string, bind: SqlFunction['bind']): SqlFunction {
  return { name, minArguments: 2, maxArguments: 2, bind };
}

/** A value of another kind than the elements is at no position; an array is an element of arrays of arrays only. */
function positionOf(name: string, native: string): SqlFunction {
  return ofTwo(name, (bound) => {
    const { type } = bound.any(1);
    const wanted = type !== 'NULL' && isArray(type) ? bound.element(1, 0) : bound.any(1);
    return call('INTEGER', native, bound.array(0), wanted);
  });
}

function concatenation(bound: FunctionCall): Bound {
  const [type, other] = [bound.elementType(0), bound.elementType(1)];
  const known = [0, 1].every((index) => bound.array(index).type !== 'NULL');
  if (known && type !== 'VARCHAR' && commonType(type, other) === undefined) throw bound.mismatch(1, `an ${arrayOf(type)}`);
  return call(bound.arrayType(0), 'array_concat', bound.array(0), bound.array(1));
}

/** Functions of arrays, beside ARRAY[...] and subscripts, which are syntax; positions are those of their names: OFFSET counts from 0, ORDINAL from 1. */
export const ARRAY_FUNCTIONS: readonly SqlFunction[] = [
  plain('ARRAY_LENGTH', 'array_length', ['values'], 'INTEGER'),
  plain('CARDINALITY', 'array_length', ['values'], 'INTEGER'),
  plain('ARRAY_OFFSET', 'array_offset', ['array', 'integer'], element),
  plain('ARRAY_ORDINAL', 'array_ordinal', ['array', 'integer'], element),
  positionOf('ARRAY_OFFSET_OF', 'array_offset_of'),
  positionOf('ARRAY_ORDINAL_OF', 'array_ordinal_of'),
  plain('ARRAY_CONTAINS', 'array_contains', ['array', 'any'], 'BOOLEAN'),
  plain('ARRAY_OVERLAP', 'array_overlap', ['array', 'array'], 'BOOLEAN'),
  plain('SCALAR_IN_ARRAY', 'scalar_in_array', ['any', 'array'], 'BOOLEAN'),
  ofTwo('ARRAY_APPEND', (bound) => call(bound.arrayType(0), 'array_append', bound.array(0), bound.element(1, 0))),
  ofTwo('ARRAY_PREPEND', (bound) => call(bound.arrayType(1), 'array_prepend', bound.element(0, 1), bound.array(1))),
  ofTwo('ARRAY_CONCAT', concatenation),
  plain('ARRAY_SLICE', 'array_slice', ['array', 'integer', 'integer'], sameArray, 1),
  plain('ARRAY_QUANTILE', 'array_quantile', ['array', 'number'], 'DOUBLE'),
  plain('ARRAY_TO_STRING', 'array_to_string', ['array', 'text'], 'VARCHAR'),
  plain('STRING_TO_ARRAY', 'string_to_array', ['text', 'text'], 'ARRAY<VARCHAR>'),
  plain('ARRAY_TO_MV', 'array_to_mv', ['values'], 'VARCHAR'),
];

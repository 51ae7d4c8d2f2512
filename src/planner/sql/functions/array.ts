import type { Bound } from '../bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

const element = (bound: FunctionCall): Bound['type'] => bound.elementType(0);
const sameArray = (bound: FunctionCall): Bound['type'] => bound.arrayType(0);

/** Functions of arrays, beside ARRAY[...] and subscripts, which are syntax; positions are those of their names: OFFSET counts from 0, ORDINAL from 1. */
export const ARRAY_FUNCTIONS: readonly SqlFunction[] = [
  plain('ARRAY_LENGTH', 'array_length', ['array'], 'BIGINT'),
  plain('CARDINALITY', 'array_length', ['array'], 'BIGINT'),
  plain('ARRAY_OFFSET', 'array_offset', ['array', 'integer'], element),
  plain('ARRAY_ORDINAL', 'array_ordinal', ['array', 'integer'], element),
  plain('ARRAY_OFFSET_OF', 'array_offset_of', ['array', 'any'], 'BIGINT'),
  plain('ARRAY_ORDINAL_OF', 'array_ordinal_of', ['array', 'any'], 'BIGINT'),
  plain('ARRAY_CONTAINS', 'array_contains', ['array', 'any'], 'BOOLEAN'),
  plain('ARRAY_OVERLAP', 'array_overlap', ['array', 'array'], 'BOOLEAN'),
  plain('SCALAR_IN_ARRAY', 'scalar_in_array', ['any', 'array'], 'BOOLEAN'),
  plain('ARRAY_APPEND', 'array_append', ['array', 'any'], sameArray),
  plain('ARRAY_PREPEND', 'array_prepend', ['any', 'array'], (bound) => bound.arrayType(1)),
  plain('ARRAY_CONCAT', 'array_concat', ['array', 'array'], sameArray),
  plain('ARRAY_SLICE', 'array_slice', ['array', 'integer', 'integer'], sameArray),
  plain('ARRAY_TO_STRING', 'array_to_string', ['array', 'text'], 'VARCHAR'),
  plain('STRING_TO_ARRAY', 'string_to_array', ['text', 'text'], 'ARRAY<VARCHAR>'),
  plain('ARRAY_TO_MV', 'array_to_mv', ['array'], 'VARCHAR'),
];

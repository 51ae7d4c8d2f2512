// SQL functions over multi-value strings (`MV_...`).

import { isArray } from '../../parse/sql-type.js';
import { type Bound, call, FALSE, literal, TRUE } from '../../relation/bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

/** A function of the values of a row as an array, whose result is values of a row again. */
function values(name: string, native: string, parameters: Parameters<typeof plain>[2], optional = 0): SqlFunction {
  const ofArrays = plain(name, native, parameters, 'ARRAY<VARCHAR>', optional);
  return { ...ofArrays, bind: (bound) => call('VARCHAR', 'array_to_mv', ofArrays.bind(bound)) };
}

/** MV_FILTER_...: what is kept of the values of a row. */
function kept(name: string, native: string, second: 'array' | 'text'): SqlFunction {
  return plain(name, native, ['text', second], 'VARCHAR');
}

/** The values of a row, of which there is always one: no values, and a null, are the one value null. */
function atLeastOne(bound: FunctionCall, index: number): Bound {
  return call(bound.arrayType(index), 'mv_harmonize_nulls', bound.values(index));
}

function contains(bound: FunctionCall): Bound {
  const wanted = bound.any(1);
  const isList = wanted.type !== 'NULL' && isArray(wanted.type);
  return call('BOOLEAN', 'array_contains', atLeastOne(bound, 0), isList || wanted.type === 'VARCHAR' ? atLeastOne(bound, 1) : wanted);
}

/** A null among the first values that is not among the others may be any of them: unknown unless another value is in both. */
function overlap(bound: FunctionCall): Bound {
  const [first, second] = [atLeastOne(bound, 0), atLeastOne(bound, 1)];
  return call(
    'BOOLEAN',
    'case_searched',
    call('BOOLEAN', 'array_overlap', first, second),
    TRUE,
    call('BOOLEAN', 'array_contains', first, literal('VARCHAR', null)),
    literal('BOOLEAN', null),
    FALSE,
  );
}

export const MULTI_VALUE_FUNCTIONS: readonly SqlFunction[] = [
  kept('MV_FILTER_ONLY', 'mv_filter_only', 'array'),
  kept('MV_FILTER_NONE', 'mv_filter_none', 'array'),
  kept('MV_FILTER_REGEX', 'mv_filter_regex', 'text'),
  kept('MV_FILTER_PREFIX', 'mv_filter_prefix', 'text'),
  plain('MV_LENGTH', 'array_length', ['values'], 'INTEGER'),
  plain('MV_OFFSET', 'array_offset', ['values', 'integer'], 'VARCHAR'),
  plain('MV_ORDINAL', 'array_ordinal', ['values', 'integer'], 'VARCHAR'),
  plain('MV_OFFSET_OF', 'array_offset_of', ['values', 'any'], 'INTEGER'),
  plain('MV_ORDINAL_OF', 'array_ordinal_of', ['values', 'any'], 'INTEGER'),
  { name: 'MV_CONTAINS', minArguments: 2, maxArguments: 2, bind: contains },
  { name: 'MV_OVERLAP', minArguments: 2, maxArguments: 2, bind: overlap },
  values('MV_APPEND', 'array_append', ['values', 'any']),
  values('MV_PREPEND', 'array_prepend', ['any', 'values']),
  values('MV_CONCAT', 'array_concat', ['values', 'values']),
  values('MV_SLICE', 'array_slice', ['values', 'integer', 'integer'], 1),
  plain('MV_TO_STRING', 'array_to_string', ['values', 'text'], 'VARCHAR'),
  plain('STRING_TO_MV', 'string_to_mv', ['text', 'text'], 'VARCHAR'),
  {
    name: 'MV_TO_ARRAY',
    minArguments: 1,
    maxArguments: 1,
    bind(bound) {
      const { type } = bound.any(0);
      return type !== 'NULL' && isArray(type) ? bound.any(0) : call('ARRAY<VARCHAR>', 'mv_to_array', bound.text(0));
    },
  },
];

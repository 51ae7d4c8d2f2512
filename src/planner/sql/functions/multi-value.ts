import { call } from '../bound.js';
import { plain, type SqlFunction } from '../function-call.js';
import { isArray } from '../sql-type.js';

/** A function of the values of a row as an array, whose result is values of a row again. */
function values(name: string, native: string, parameters: Parameters<typeof plain>[2]): SqlFunction {
  const ofArrays = plain(name, native, parameters, 'ARRAY<VARCHAR>');
  return { ...ofArrays, bind: (bound) => call('VARCHAR', 'array_to_mv', ofArrays.bind(bound)) };
}

/** MV_FILTER_...: what is kept of the values of a row. */
function kept(name: string, native: string, second: 'array' | 'text'): SqlFunction {
  return plain(name, native, ['text', second], 'VARCHAR');
}

export const MULTI_VALUE_FUNCTIONS: readonly SqlFunction[] = [
  kept('MV_FILTER_ONLY', 'mv_filter_only', 'array'),
  kept('MV_FILTER_NONE', 'mv_filter_none', 'array'),
  kept('MV_FILTER_REGEX', 'mv_filter_regex', 'text'),
  kept('MV_FILTER_PREFIX', 'mv_filter_prefix', 'text'),
  plain('MV_LENGTH', 'array_length', ['array'], 'BIGINT'),
  plain('MV_OFFSET', 'array_offset', ['array', 'integer'], 'VARCHAR'),
  plain('MV_ORDINAL', 'array_ordinal', ['array', 'integer'], 'VARCHAR'),
  plain('MV_OFFSET_OF', 'array_offset_of', ['array', 'any'], 'BIGINT'),
  plain('MV_ORDINAL_OF', 'array_ordinal_of', ['array', 'any'], 'BIGINT'),
  plain('MV_CONTAINS', 'array_contains', ['array', 'any'], 'BOOLEAN'),
  plain('MV_OVERLAP', 'array_overlap', ['array', 'array'], 'BOOLEAN'),
  values('MV_APPEND', 'array_append', ['array', 'any']),
  values('MV_PREPEND', 'array_prepend', ['any', 'array']),
  values('MV_CONCAT', 'array_concat', ['array', 'array']),
  values('MV_SLICE', 'array_slice', ['array', 'integer', 'integer']),
  plain('MV_TO_STRING', 'array_to_string', ['array', 'text'], 'VARCHAR'),
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

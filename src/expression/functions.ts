import { ServiceError } from '../base/errors.js';
import type { ExpressionFunction } from './function.js';
import { BIT_FUNCTIONS } from './functions/bits.js';
import { CONDITIONAL_FUNCTIONS } from './functions/conditional.js';
import { EXTRACTION_SUPPORT } from './functions/extraction.js';
import { LOOKUP_FUNCTIONS } from './functions/lookup.js';
import { MATH_FUNCTIONS } from './functions/math.js';
import { MEMBERSHIP_FUNCTIONS } from './functions/membership.js';
import { NETWORK_FUNCTIONS } from './functions/network.js';
import { OPERATORS } from './functions/operators.js';
import { READABLE_FUNCTIONS } from './functions/readable.js';
import { STATE_FUNCTIONS } from './functions/state.js';
import { STRING_FUNCTIONS } from './functions/string.js';
import { TIME_FUNCTIONS } from './functions/time.js';

/** Every function and operator of the expression language, by name. */
export const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map(
  [
    ...OPERATORS,
    ...CONDITIONAL_FUNCTIONS,
    ...STRING_FUNCTIONS,
    ...READABLE_FUNCTIONS,
    ...NETWORK_FUNCTIONS,
    ...MATH_FUNCTIONS,
    ...BIT_FUNCTIONS,
    ...TIME_FUNCTIONS,
    ...EXTRACTION_SUPPORT,
    ...LOOKUP_FUNCTIONS,
    ...MEMBERSHIP_FUNCTIONS,
    ...STATE_FUNCTIONS,
  ].map((each) => [each.name, each]),
);

/** Documented and not to be had here: refused by name, told apart from names that do not exist. */
export const UNSUPPORTED_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'array array_length array_offset array_ordinal array_contains array_overlap scalar_in_array array_offset_of array_ordinal_of array_prepend array_append ' +
    'array_concat array_set_add array_set_add_all array_slice array_to_string string_to_array array_quantile map cartesian_map filter fold cartesian_fold any all ' +
    'json_value json_query json_query_array json_object parse_json try_parse_json to_json_string json_keys json_paths json_merge ' +
    'complex_decode_base64 hyper_unique hyper_unique_add hyper_unique_estimate hyper_unique_round_estimate'
  ).split(' '),
);

/** @throws ServiceError for a name that is not there, or a wrong number of arguments */
export function getFunction(name: string, argumentCount: number): ExpressionFunction {
  const found = FUNCTIONS.get(name);
  if (found === undefined) {
    if (UNSUPPORTED_FUNCTIONS.has(name)) throw new ServiceError('unsupported', `expression function ${name} is not supported`);
    throw new ServiceError(
      'query_invalid',
      `unknown expression function "${name}"; accepted: ${[...FUNCTIONS.keys()]
        .filter((each) => /^\w/.test(each))
        .sort()
        .join(', ')}`,
    );
  }
  const { minArguments, maxArguments } = found;
  if (argumentCount < minArguments || argumentCount > maxArguments) {
    const accepted =
      minArguments === maxArguments
        ? `${minArguments}`
        : maxArguments === Infinity
          ? `at least ${minArguments}`
          : `${minArguments} to ${maxArguments}`;
    throw new ServiceError('query_invalid', `expression function ${name} takes ${accepted} arguments, found ${argumentCount}`);
  }
  return found;
}

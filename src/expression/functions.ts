// Table of all functions and operators of the expression language.

import { ServiceError } from '../base/errors.js';
import type { ApplyFunction, ExpressionFunction } from './function.js';
import { APPLY_FUNCTIONS } from './functions/apply.js';
import { ARRAY_FUNCTIONS } from './functions/array.js';
import { BIT_FUNCTIONS } from './functions/bits.js';
import { COMPLEX_FUNCTIONS } from './functions/complex.js';
import { CONDITIONAL_FUNCTIONS } from './functions/conditional.js';
import { EXTRACTION_SUPPORT } from './functions/extraction.js';
import { HYPER_UNIQUE_FUNCTIONS } from './functions/hyper-unique.js';
import { JSON_FUNCTIONS } from './functions/json.js';
import { LOOKUP_FUNCTIONS } from './functions/lookup.js';
import { MATH_FUNCTIONS } from './functions/math.js';
import { MEMBERSHIP_FUNCTIONS } from './functions/membership.js';
import { MULTI_VALUE_FUNCTIONS } from './functions/multi-value.js';
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
    ...HYPER_UNIQUE_FUNCTIONS,
    ...STATE_FUNCTIONS,
    ...ARRAY_FUNCTIONS,
    ...MULTI_VALUE_FUNCTIONS,
    ...JSON_FUNCTIONS,
    ...COMPLEX_FUNCTIONS,
  ].map((each) => [each.name, each]),
);

const APPLY: ReadonlyMap<string, ApplyFunction> = new Map(APPLY_FUNCTIONS.map((each) => [each.name, each]));

/** A function that takes a lambda; undefined when the name is none of them. */
export function findApplyFunction(name: string): ApplyFunction | undefined {
  return APPLY.get(name);
}

/** Every name that calls can have. */
export const FUNCTION_NAMES: readonly string[] = [...FUNCTIONS.keys(), ...APPLY.keys()];

const SPELLINGS: ReadonlyMap<string, string> = new Map(FUNCTION_NAMES.map((name) => [name.toLowerCase(), name]));

/** The name as the table spells it: calls may write it in any case. */
export function spelledName(name: string): string {
  return SPELLINGS.get(name.toLowerCase()) ?? name;
}

/**
 * A function that takes values only.
 * @throws ServiceError for a name that is not there, or a wrong number of arguments
 */
export function getFunction(name: string, argumentCount: number): ExpressionFunction {
  const found = FUNCTIONS.get(name);
  if (found === undefined)
    throw new ServiceError(
      'query_invalid',
      `unknown expression function "${name}"; accepted: ${FUNCTION_NAMES.filter((each) => /^\w/.test(each))
        .sort()
        .join(', ')}`,
    );
  refuseCount(found, argumentCount);
  return found;
}

export function refuseCount(
  { name, minArguments, maxArguments }: Pick<ExpressionFunction, 'name' | 'minArguments' | 'maxArguments'>,
  argumentCount: number,
): void {
  if (argumentCount >= minArguments && argumentCount <= maxArguments) return;
  const accepted =
    minArguments === maxArguments
      ? `${minArguments}`
      : maxArguments === Infinity
        ? `at least ${minArguments}`
        : `${minArguments} to ${maxArguments}`;
  throw new ServiceError('query_invalid', `expression function ${name} takes ${accepted} arguments, found ${argumentCount}`);
}

import { ServiceError } from '../../base/errors.js';
import type { ColumnType } from '../../model/schema.js';
import type { Constant, ExpressionFunction } from '../function.js';
import { commonType, plainFunction } from '../function.js';
import type { Value } from '../value.js';
import { compareValues, convert, fromTruth, toTruth } from '../value.js';

const CAST_TYPES: Readonly<Record<string, ColumnType>> = { LONG: 'LONG', DOUBLE: 'DOUBLE', FLOAT: 'FLOAT', STRING: 'STRING' };

function castType(constant: Constant | undefined): ColumnType {
  const name = constant?.value;
  const type = typeof name === 'string' ? CAST_TYPES[name.toUpperCase()] : undefined;
  if (type === undefined)
    throw new ServiceError(
      'query_invalid',
      `cast: the second argument is a type in quotes, one of ${Object.keys(CAST_TYPES).join(', ')}; found ${typeof name === 'string' ? `'${name}'` : 'something else'}`,
    );
  return type;
}

const cast: ExpressionFunction = {
  name: 'cast',
  minArguments: 2,
  maxArguments: 2,
  type: (_, constants) => castType(constants[1]),
  bind(constants) {
    const type = castType(constants[1]);
    return ([value = null]) => convert(value, type);
  },
};

/** if(condition, then, else): a condition that is null counts as false. */
const ifFunction: ExpressionFunction = {
  name: 'if',
  minArguments: 3,
  maxArguments: 3,
  type: ([, then = null, otherwise = null]) => commonType([then, otherwise]),
  bind:
    () =>
    ([condition = null, then = null, otherwise = null]) =>
      toTruth(condition) === true ? then : otherwise,
};

/** case_searched(condition, result, ..., [else]): the result of the first condition that is true. */
const caseSearched: ExpressionFunction = {
  name: 'case_searched',
  minArguments: 2,
  maxArguments: Infinity,
  type: (types) => commonType(types.filter((_, index) => index % 2 === 1 || index === types.length - 1)),
  bind: () => (values) => {
    let index = 0;
    for (; index + 1 < values.length; index += 2) {
      if (toTruth(values[index] ?? null) === true) return values[index + 1] ?? null;
    }
    return values[index] ?? null;
  },
};

/** case_simple(value, candidate, result, ..., [else]): the result beside the first candidate that equals the value. */
const caseSimple: ExpressionFunction = {
  name: 'case_simple',
  minArguments: 3,
  maxArguments: Infinity,
  type: (types) => commonType(types.filter((_, index) => index > 0 && (index % 2 === 0 || index === types.length - 1))),
  bind: () => (values) => {
    const value = values[0] ?? null;
    let index = 1;
    for (; index + 1 < values.length; index += 2) {
      const candidate = values[index] ?? null;
      if (value !== null && candidate !== null && compareValues(value, candidate) === 0) return values[index + 1] ?? null;
    }
    return values[index] ?? null;
  },
};

function firstNotNull(name: string, maxArguments: number): ExpressionFunction {
  return {
    name,
    minArguments: name === 'nvl' ? 2 : 1,
    maxArguments,
    type: commonType,
    bind: () => (values) => values.find((value) => value !== null) ?? null,
  };
}

/** A question about one or two values that always has an answer, LONG 1 or 0. */
function question(name: string, arity: number, holds: (a: Value, b: Value) => boolean): ExpressionFunction {
  return {
    name,
    minArguments: arity,
    maxArguments: arity,
    type: () => 'LONG',
    bind:
      () =>
      ([a = null, b = null]) =>
        fromTruth(holds(a, b)),
  };
}

function areSame(a: Value, b: Value): boolean {
  return a === null || b === null ? a === b : compareValues(a, b) === 0;
}

/** greatest(...), least(...): nulls take no part; with strings among the arguments all compare as strings. */
function extreme(name: string, direction: 1 | -1): ExpressionFunction {
  return {
    name,
    minArguments: 0,
    maxArguments: Infinity,
    type: commonType,
    bind: () => (values) => {
      const hasText = values.some((value) => typeof value === 'string');
      let best: Value = null;
      for (const value of values) {
        const candidate = hasText ? convert(value, 'STRING') : value;
        if (candidate === null) continue;
        if (best === null || (compareValues(candidate, best) ?? 0) * direction > 0) best = candidate;
      }
      return best;
    },
  };
}

/** max(a, b), min(a, b) of two numbers. */
function extremeOfTwo(name: string, direction: 1 | -1): ExpressionFunction {
  const base = plainFunction(name, [2, 2], 'DOUBLE', ([a = null, b = null]) => {
    const left = typeof a === 'string' ? convert(a, 'DOUBLE') : a;
    const right = typeof b === 'string' ? convert(b, 'DOUBLE') : b;
    if (left === null || right === null) return null;
    return (compareValues(left, right) ?? 0) * direction >= 0 ? left : right;
  });
  return { ...base, type: (types) => (commonType(types) === 'STRING' ? 'DOUBLE' : commonType(types)) };
}

export const CONDITIONAL_FUNCTIONS: readonly ExpressionFunction[] = [
  cast,
  ifFunction,
  caseSearched,
  caseSimple,
  firstNotNull('nvl', 2),
  firstNotNull('coalesce', Infinity),
  question('isnull', 1, (a) => a === null),
  question('notnull', 1, (a) => a !== null),
  question('istrue', 1, (a) => toTruth(a) === true),
  question('isnottrue', 1, (a) => toTruth(a) !== true),
  question('isfalse', 1, (a) => toTruth(a) === false),
  question('isnotfalse', 1, (a) => toTruth(a) !== false),
  question('notdistinctfrom', 2, areSame),
  question('isdistinctfrom', 2, (a, b) => !areSame(a, b)),
  extreme('greatest', 1),
  extreme('least', -1),
  extremeOfTwo('max', 1),
  extremeOfTwo('min', -1),
];

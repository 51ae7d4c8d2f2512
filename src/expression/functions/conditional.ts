// Conditional functions and casts: `if`, `case`, `nvl`, `cast`.

import { ServiceError } from '../../base/errors.js';
import { type ColumnType, JSON_TYPE, parseColumnType } from '../../model/schema.js';
import { type Constant, commonType, type ExpressionFunction, lazyFunction, type Operand, plainFunction } from '../function.js';
import { compareValues, convert, fromTruth, toTruth, type Value } from '../value.js';

/** Further names that casts know, in upper case. */
const ARRAY_NAMES: ReadonlyMap<string, ColumnType> = new Map(
  (['STRING', 'LONG', 'DOUBLE'] as const).map((element) => [`${element}_ARRAY`, `ARRAY<${element}>`]),
);

/** Sketches are not made of other values: `complex_decode_base64` reads them. */
function castType(constant: Constant | undefined): ColumnType {
  const name = constant?.value;
  const type = typeof name === 'string' && name.length < 100 ? (ARRAY_NAMES.get(name.toUpperCase()) ?? parseColumnType(name)) : undefined;
  if (type === undefined || (type.includes('COMPLEX<') && !type.includes(JSON_TYPE)))
    throw new ServiceError(
      'query_invalid',
      `cast: the second argument is a type in quotes, one of LONG, DOUBLE, FLOAT, STRING, COMPLEX<json>, ARRAY<...>; found ${typeof name === 'string' ? `'${name}'` : 'something else'}`,
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

/** condition, result, ..., [else]: the result of the first condition that is true; one that is null is not. */
function branches(operands: readonly Operand[]): Operand {
  const otherwise = operands.length % 2 === 1 ? operands.at(-1) : undefined;
  return () => {
    for (let index = 0; index + 1 < operands.length; index += 2) {
      if (toTruth(operands[index]?.() ?? null) === true) return operands[index + 1]?.() ?? null;
    }
    return otherwise?.() ?? null;
  };
}

const ifFunction = lazyFunction('if', [3, 3], ([, then = null, otherwise = null]) => commonType([then, otherwise]), branches);

const caseSearched = lazyFunction(
  'case_searched',
  [2, Infinity],
  (types) => commonType(types.filter((_, index) => index % 2 === 1 || index === types.length - 1)),
  branches,
);

/** case_simple(value, candidate, result, ..., [else]): the result beside the first candidate that equals the value. */
const caseSimple = lazyFunction(
  'case_simple',
  [3, Infinity],
  (types) => commonType(types.filter((_, index) => index > 0 && (index % 2 === 0 || index === types.length - 1))),
  ([subject, ...cases]) => {
    const otherwise = cases.length % 2 === 1 ? cases.at(-1) : undefined;
    return () => {
      const value = subject?.() ?? null;
      for (let index = 0; index + 1 < cases.length && value !== null; index += 2) {
        const candidate = cases[index]?.() ?? null;
        if (candidate !== null && compareValues(value, candidate) === 0) return cases[index + 1]?.() ?? null;
      }
      return otherwise?.() ?? null;
    };
  },
);

function firstNotNull(name: string, [minArguments, maxArguments]: readonly [number, number]): ExpressionFunction {
  return lazyFunction(name, [minArguments, maxArguments], commonType, (operands) => () => {
    for (const operand of operands) {
      const value = operand();
      if (value !== null) return value;
    }
    return null;
  });
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

/** max(a, b), min(a, b) of two numbers; NaN beside NaN. */
function extremeOfTwo(name: string, direction: 1 | -1): ExpressionFunction {
  const base = plainFunction(name, [2, 2], 'DOUBLE', ([a = null, b = null]) => {
    const left = typeof a === 'string' ? convert(a, 'DOUBLE') : a;
    const right = typeof b === 'string' ? convert(b, 'DOUBLE') : b;
    if (left === null || right === null) return null;
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.NaN;
    return (compareValues(left, right) ?? 0) * direction >= 0 ? left : right;
  });
  return { ...base, type: (types) => (commonType(types) === 'STRING' ? 'DOUBLE' : commonType(types)) };
}

/** value_of_one_row(rows, value): the value of a subquery of SQL that stands for one, which must not have given several rows. */
const valueOfOneRow: ExpressionFunction = {
  name: 'value_of_one_row',
  minArguments: 2,
  maxArguments: 2,
  type: ([, type = null]) => type,
  bind:
    () =>
    ([rows = null, value = null]): Value => {
      if (Number(rows ?? 0) > 1)
        throw new ServiceError('query_invalid', `a subquery that stands for one value gave ${rows} rows; it must give one`);
      return value;
    },
};

export const CONDITIONAL_FUNCTIONS: readonly ExpressionFunction[] = [
  cast,
  ifFunction,
  caseSearched,
  caseSimple,
  valueOfOneRow,
  firstNotNull('nvl', [2, 2]),
  firstNotNull('coalesce', [1, Infinity]),
  question('isnull', 1, (a) => a === null),
  question('notnull', 1, (a) => a !== null),
  question('istrue', 1, (a) => toTruth(a) === true),
  question('isnottrue', 1, (a) => toTruth(a) !== true),
  question('nottrue', 1, (a) => toTruth(a) !== true),
  question('isfalse', 1, (a) => toTruth(a) === false),
  question('isnotfalse', 1, (a) => toTruth(a) !== false),
  question('notfalse', 1, (a) => toTruth(a) !== false),
  question('notdistinctfrom', 2, areSame),
  question('isdistinctfrom', 2, (a, b) => !areSame(a, b)),
  extreme('greatest', 1),
  extreme('least', -1),
  extremeOfTwo('max', 1),
  extremeOfTwo('min', -1),
];

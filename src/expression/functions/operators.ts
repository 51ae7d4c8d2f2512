// Operators of the expression language.

import { ServiceError } from '../../base/errors.js';
import { isArrayType, isComplexType } from '../../model/schema.js';
import { commonType, compiledFunction, type ExpressionFunction, lazyFunction, type MaybeType, nullIfAnyNull } from '../function.js';
import { compareValues, convert, fromTruth, toDouble, toTruth, type Value, wrapLong } from '../value.js';
import { refuseTextLength } from './text-length.js';

/**
 * Arithmetic: two LONGs give a LONG that wraps at 64 bits, anything else a DOUBLE; a STRING beside a number is read as
 * a number. LONG division cuts towards zero; by zero, as the remainder by zero, it is null.
 */
function arithmetic(
  name: string,
  onLongs: (a: bigint, b: bigint) => bigint | null,
  onDoubles: (a: number, b: number) => number,
): ExpressionFunction {
  const apply = nullIfAnyNull(([a = null, b = null]) => {
    if (typeof a === 'bigint' && typeof b === 'bigint') return onLongs(a, b);
    if (typeof a === 'string' && typeof b === 'string') {
      if (name !== '+') return null;
      refuseTextLength('+', a.length + b.length);
      return a + b;
    }
    const left = toDouble(a);
    const right = toDouble(b);
    return left === null || right === null ? null : onDoubles(left, right);
  });
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    type(types) {
      if (types[0] === 'STRING' && types[1] === 'STRING') {
        if (name !== '+')
          throw new ServiceError('query_invalid', `operator ${name} takes numbers, found two strings; cast them to 'LONG' or 'DOUBLE'`);
        return 'STRING';
      }
      return numericType(name, types);
    },
    bind: () => apply,
    ofDoubles: onDoubles,
  };
}

function numericType(name: string, types: readonly MaybeType[]): MaybeType {
  const type = commonType(types);
  if (isArrayType(type) || isComplexType(type))
    throw new ServiceError(
      'query_invalid',
      `operator ${name} takes single values, found ${type}; map((x) -> ..., array) takes each element`,
    );
  return type === 'STRING' ? 'DOUBLE' : type;
}

const minus = arithmetic(
  '-',
  (a, b) => wrapLong(a - b),
  (a, b) => a - b,
);

/** Subtraction; with one argument the sign changes. */
const minusOrNegate: ExpressionFunction = {
  name: '-',
  minArguments: 1,
  maxArguments: 2,
  type: (types, constants) => (types.length === 2 ? minus.type(types, constants) : numericType('-', types)),
  bind(constants) {
    return constants.length === 2
      ? minus.bind(constants)
      : nullIfAnyNull(([a = null]) => {
          if (typeof a === 'bigint') return wrapLong(-a);
          const double = toDouble(a);
          return double === null ? null : -double;
        });
  },
};

function powerOfLongs(base: bigint, exponent: bigint): bigint | null {
  if (exponent < 0n) return null;
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = wrapLong(square * square)) {
    if ((rest & 1n) === 1n) result = wrapLong(result * square);
  }
  return result;
}

/** LONG 1 or 0; null when either side is. Arrays compare as of the type that holds the elements of both. */
function comparison(name: string, holds: (order: number) => boolean): ExpressionFunction {
  const compared = (a: Value, b: Value): Value => {
    const order = a === null || b === null ? null : compareValues(a, b);
    return order === null ? null : fromTruth(holds(order));
  };
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    type: () => 'LONG',
    bind(_, [left = null, right = null] = []) {
      const common = left !== right && isArrayType(left) && isArrayType(right) ? commonType([left, right]) : null;
      return common === null
        ? ([a = null, b = null]) => compared(a, b)
        : ([a = null, b = null]) => compared(convert(a, common), convert(b, common));
    },
  };
}

/** Three-valued: `decisive` wins over null. */
function logical(name: string, decisive: boolean): ExpressionFunction {
  return lazyFunction(
    name,
    [2, 2],
    () => 'LONG',
    (operands) => () => {
      let isUnknown = false;
      for (const operand of operands) {
        const truth = toTruth(operand());
        if (truth === decisive) return fromTruth(decisive);
        if (truth === null) isUnknown = true;
      }
      return isUnknown ? null : fromTruth(!decisive);
    },
  );
}

const not = compiledFunction('!', [1, 1], 'LONG', () => ([value = null]) => {
  const truth = toTruth(value);
  return truth === null ? null : fromTruth(!truth);
});

export const OPERATORS: readonly ExpressionFunction[] = [
  arithmetic(
    '+',
    (a, b) => wrapLong(a + b),
    (a, b) => a + b,
  ),
  minusOrNegate,
  arithmetic(
    '*',
    (a, b) => wrapLong(a * b),
    (a, b) => a * b,
  ),
  arithmetic(
    '/',
    (a, b) => (b === 0n ? null : wrapLong(a / b)),
    (a, b) => a / b,
  ),
  arithmetic(
    '%',
    (a, b) => (b === 0n ? null : a % b),
    (a, b) => a % b,
  ),
  arithmetic('^', powerOfLongs, (a, b) => a ** b),
  comparison('==', (order) => order === 0),
  comparison('!=', (order) => order !== 0),
  comparison('<', (order) => order < 0),
  comparison('<=', (order) => order <= 0),
  comparison('>', (order) => order > 0),
  comparison('>=', (order) => order >= 0),
  logical('&&', false),
  logical('||', true),
  not,
];

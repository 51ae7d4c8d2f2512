// SQL numeric functions.

import { commonType, isNumeric, nativeType } from '../../parse/sql-type.js';
import { type Bound, call, integer, literal, settledType } from '../../relation/bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';
import { roundedInstant } from './time.js';

const DOUBLE_FUNCTIONS =
  'EXP exp|LN log|LOG10 log10|SQRT sqrt|SIN sin|COS cos|TAN tan|COT cot|ASIN asin|ACOS acos|ATAN atan|DEGREES todegrees|RADIANS toradians';
const BITWISE_FUNCTIONS =
  'BITWISE_AND bitwiseAnd|BITWISE_OR bitwiseOr|BITWISE_XOR bitwiseXor|BITWISE_SHIFT_LEFT bitwiseShiftLeft|BITWISE_SHIFT_RIGHT bitwiseShiftRight';

function isLong(bound: Bound): boolean {
  return nativeType(settledType(bound.type)) === 'LONG';
}

/** FLOOR and CEIL: of an instant to a unit, of a number to an integer of the same type. */
function rounding(name: string, native: 'floor' | 'ceil'): SqlFunction {
  return {
    name,
    minArguments: 1,
    maxArguments: 1,
    bind(bound) {
      if (bound.unit !== null) return roundedInstant(bound, native);
      const number = bound.number(0);
      return isLong(number) ? number : call(number.type, native, number);
    },
  };
}

/** TRUNCATE(x, places), towards zero. */
function truncate(bound: FunctionCall): Bound {
  const number = bound.number(0);
  const places = bound.constantInteger(1, 0);
  if (isLong(number)) {
    if (places >= 0) return number;
    const unit = integer(10n ** BigInt(Math.min(18, -places)));
    return call(number.type, '*', call(number.type, '/', number, unit), unit);
  }
  if (Math.abs(places) > 18) throw bound.mismatch(1, 'between -18 and 18');
  return call(number.type, ':truncate', number, literal('DOUBLE', places));
}

function extreme(name: string, native: string): SqlFunction {
  return {
    name,
    minArguments: 1,
    maxArguments: Infinity,
    bind(bound) {
      const { type, arguments: args } = bound.alike(0);
      if (type === 'NULL' || !isNumeric(type)) return call(type, native, ...args);
      return call(nativeType(type) === 'LONG' ? 'BIGINT' : 'DOUBLE', native, ...args);
    },
  };
}

/** Arithmetic under the name of a function. */
function operator(name: string, native: string): SqlFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    bind(bound) {
      const [left, right] = [bound.number(0), bound.number(1)];
      return call(commonType(settledType(left.type), settledType(right.type)) ?? 'DOUBLE', native, left, right);
    },
  };
}

function pairs(list: string): [string, string][] {
  return list.split('|').map((pair) => {
    const [name = '', native = ''] = pair.split(' ');
    return [name, native];
  });
}

export const NUMERIC_FUNCTIONS: readonly SqlFunction[] = [
  ...pairs(DOUBLE_FUNCTIONS).map(([name, native]) => plain(name, native, ['number'], 'DOUBLE')),
  ...pairs(BITWISE_FUNCTIONS).map(([name, native]) => plain(name, native, ['integer', 'integer'], 'BIGINT')),
  plain('BITWISE_CONVERT_DOUBLE_TO_LONG_BITS', 'bitwiseConvertDoubleToLongBits', ['number'], 'BIGINT'),
  plain('BITWISE_CONVERT_LONG_BITS_TO_DOUBLE', 'bitwiseConvertLongBitsToDouble', ['integer'], 'DOUBLE'),
  plain('HUMAN_READABLE_BINARY_BYTE_FORMAT', 'human_readable_binary_byte_format', ['number', 'integer'], 'VARCHAR', 1),
  plain('HUMAN_READABLE_DECIMAL_BYTE_FORMAT', 'human_readable_decimal_byte_format', ['number', 'integer'], 'VARCHAR', 1),
  plain('HUMAN_READABLE_DECIMAL_FORMAT', 'human_readable_decimal_format', ['number', 'integer'], 'VARCHAR', 1),
  plain('BITWISE_COMPLEMENT', 'bitwiseComplement', ['integer'], 'BIGINT'),
  plain('PI', 'pi', [], 'DOUBLE'),
  plain('POWER', 'pow', ['number', 'number'], 'DOUBLE'),
  plain('ATAN2', 'atan2', ['number', 'number'], 'DOUBLE'),
  plain('DIV', 'div', ['number', 'number'], 'BIGINT'),
  {
    name: 'MOD',
    minArguments: 2,
    maxArguments: 2,
    bind(bound) {
      const [left, right] = [bound.number(0), bound.number(1)];
      const type = isLong(left) && isLong(right) ? right.type : commonType(settledType(left.type), settledType(right.type));
      return call(type ?? 'DOUBLE', '%', left, right);
    },
  },
  operator('SAFE_DIVIDE', 'safe_divide'),
  rounding('FLOOR', 'floor'),
  rounding('CEIL', 'ceil'),
  rounding('CEILING', 'ceil'),
  { name: 'TRUNCATE', minArguments: 1, maxArguments: 2, bind: truncate },
  { name: 'TRUNC', minArguments: 1, maxArguments: 2, bind: truncate },
  { name: 'ABS', minArguments: 1, maxArguments: 1, bind: (bound) => call(bound.number(0).type, 'abs', bound.number(0)) },
  { name: 'SIGN', minArguments: 1, maxArguments: 1, bind: (bound) => call('DOUBLE', 'signum', bound.number(0)) },
  {
    name: 'ROUND',
    minArguments: 1,
    maxArguments: 2,
    bind: (bound) => call(bound.number(0).type, 'round', bound.number(0), ...(bound.count > 1 ? [bound.integer(1)] : [])),
  },
  extreme('GREATEST', 'greatest'),
  extreme('LEAST', 'least'),
];

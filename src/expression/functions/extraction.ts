// Functions for extraction functions of native queries, which the expression language lacks.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import { own } from '../../base/names.js';
import { doubleOf, doubleText, floatText, withAsciiDigits } from '../../base/number-text.js';
import type { Constant, ExpressionFunction } from '../function.js';
import { fromTruth, isArrayValue, toDouble, toLong, toText, truncateToLong, type Value } from '../value.js';

/**
 * Functions that native queries need beyond the documented ones: inline lookups, lists of values and buckets of
 * extraction functions and filtered dimensions. Lists and maps are constants, as JSON text.
 */
function ofText(
  name: string,
  argumentCount: number,
  type: 'STRING' | 'LONG' | 'DOUBLE',
  compile: (constants: readonly (Constant | undefined)[]) => (text: string | null) => Value,
): ExpressionFunction {
  return {
    name,
    minArguments: argumentCount,
    maxArguments: argumentCount,
    type: () => type,
    bind(constants) {
      const apply = compile(constants);
      return ([value = null]) => apply(toText(value));
    },
  };
}

/** map_value(value, '{"key": "value"}'): null for what the map does not have, and for null. */
const mapValue = ofText('map_value', 2, 'STRING', (constants) => {
  const map = new Map<string, string | null>();
  const given = constantJson(constants[1], 'map_value', 'an object of strings');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw refusal('map_value', 'an object of strings');
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== 'string' && value !== null) throw refusal('map_value', 'an object of strings');
    map.set(key, value);
  }
  return (text) => (text === null ? null : (map.get(text) ?? null));
});

/** value_in(value, '["a", null]'): LONG 1 or 0; null is in a list that names it. */
const valueIn = ofText('value_in', 2, 'LONG', (constants) => {
  const list = constantJson(constants[1], 'value_in', 'an array of strings');
  if (!Array.isArray(list) || list.some((each) => typeof each !== 'string' && each !== null))
    throw refusal('value_in', 'an array of strings');
  const values = new Set<unknown>(list);
  return (text) => fromTruth(values.has(text));
});

/** bucket_start(value, size, offset): the start of the bucket a number is in, as text; null for what is not a number. */
const bucketStart = ofText('bucket_start', 3, 'STRING', (constants) => {
  const [size, offset] = [constants[1], constants[2]].map((constant) => toDouble(constant?.value ?? null));
  if (size === null || size === undefined || !(size > 0) || offset === null || offset === undefined)
    throw new ServiceError('query_invalid', 'bucket_start: the size is a constant above 0 and the offset a constant');
  return (text) => {
    const number = javaDouble(text?.trim() ?? null);
    if (number === null) return null;
    const start = Math.floor((number - offset) / size) * size + offset;
    const whole = truncateToLong(start);
    return Number(whole) === start ? whole.toString() : toText(start);
  };
});

/** The double that a string is, with the letters too that end Java's literals; no truth values, which are numbers to casts. */
function javaDouble(text: string | null): number | null {
  return text === null ? null : (doubleOf(text.replace(/(?<=[\d.])[fFdD]$/, '')) ?? null);
}

/**
 * double_of(string, other, 'sum'), long_of(string, other, 'sum'): the number that a string is, a long cut off and bounded; `other` for
 * any other string. Of a row of several values it is their sum, `min` or `max`, null being `other` among them.
 */
const doubleFunction = numberOf('double_of', 'DOUBLE', javaDouble, (value) => toDouble(value) ?? 0, {
  sum: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
});
const longFunction = numberOf('long_of', 'LONG', javaLong, (value) => toLong(value) ?? 0n, {
  sum: (a, b) => BigInt.asIntN(64, a + b),
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
});

function javaLong(text: string | null): bigint | null {
  const double = javaDouble(text);
  return double === null || text === null ? null : /^-?\d+$/.test(text) ? toLong(text) : truncateToLong(double);
}

type Folds<Of> = Readonly<Record<'sum' | 'min' | 'max', (a: Of, b: Of) => Of>>;

function numberOf<Of extends number | bigint>(
  name: string,
  type: 'LONG' | 'DOUBLE',
  parse: (text: string | null) => Of | null,
  otherOf: (value: Value) => Of,
  folds: Folds<Of>,
): ExpressionFunction {
  return {
    name,
    minArguments: 3,
    maxArguments: 3,
    arrays: [0],
    type: () => type,
    bind([, given, how]) {
      const other = otherOf(given?.value ?? null);
      const fold = own<Folds<Of>['sum']>(folds, String(how?.value));
      if (fold === undefined) throw new ServiceError('query_invalid', `${name}: the third argument is sum, min or max`);
      const one = (value: Value): Of => parse(toText(value)) ?? other;
      return ([values = null]) => {
        if (!isArrayValue(values)) return values === null ? null : one(values);
        const [first = null, ...rest] = values;
        return first === null && rest.length === 0 ? null : rest.reduce<Of>((all, value) => fold(all, one(value)), one(first));
      };
    },
  };
}

/** number_text(string, 'LONG'): one text for all strings of a number; of LONG only for those that are one exactly. */
const numberText = ofText('number_text', 2, 'STRING', (constants) => {
  const type = constants[1]?.value;
  if (type === 'LONG') return exactLongText;
  if (type !== 'DOUBLE' && type !== 'FLOAT')
    throw new ServiceError('query_invalid', 'number_text: the second argument is LONG, DOUBLE or FLOAT');
  return (text) => {
    const double = javaDouble(text);
    return double === null ? null : type === 'FLOAT' ? floatText(Math.fround(double)) : doubleText(double);
  };
});

const DECIMAL_PARTS = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?$/;

function exactLongText(text: string | null): string | null {
  const [, sign, whole = '', fraction = '', only = '', exponent = '0'] = DECIMAL_PARTS.exec(withAsciiDigits(text ?? '')) ?? [];
  if (sign === undefined) return null;
  const digits = whole + fraction + only;
  const shift = Number(exponent) - fraction.length - only.length;
  const trimmed = digits.replace(/0+$/, '');
  const zeroes = digits.length - trimmed.length + shift;
  if (/^0*$/.test(digits)) return '0';
  if (zeroes < 0 || trimmed.replace(/^0+/, '').length + zeroes > 19) return null;
  const value = BigInt(`${sign === '-' ? '-' : ''}${trimmed}${'0'.repeat(zeroes)}`);
  return BigInt.asIntN(64, value) === value ? value.toString() : null;
}

function constantJson(constant: Constant | undefined, name: string, expected: string): unknown {
  const text = constant?.value;
  if (typeof text !== 'string') throw refusal(name, expected);
  try {
    return parseJsonWithDoubles(text);
  } catch {
    throw refusal(name, expected);
  }
}

function refusal(name: string, expected: string): ServiceError {
  return new ServiceError('query_invalid', `${name}: the second argument is a constant, ${expected} as JSON`);
}

export const EXTRACTION_SUPPORT: readonly ExpressionFunction[] = [mapValue, valueIn, bucketStart, doubleFunction, longFunction, numberText];

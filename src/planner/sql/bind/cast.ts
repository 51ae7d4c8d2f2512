// Binds CAST.

import { decimalOf, integerOf } from '../../../base/number-text.js';
import { parseInstant } from '../../../base/time.js';
import { JSON_TYPE } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { isArray, isComplex, isInstant, isNumeric, nativeType } from '../parse/sql-type.js';
import {
  type Bound,
  type BoundLiteral,
  call,
  computedLiteral,
  FALSE,
  integer,
  literal,
  NULL,
  not,
  retype,
  settledType,
  TRUE,
  text,
} from '../relation/bound.js';

/**
 * CAST(bound AS type). Literals are converted here.
 * @returns undefined when there is no such conversion, or when a literal does not convert
 */
export function castTo(bound: Bound, type: SqlType, timeZone: string): Bound | undefined {
  if (bound.type === type) return bound;
  if (bound.kind === 'literal') {
    const converted = computedLiteral(bound, (each) => castLiteral(each, type, timeZone));
    if (converted !== undefined) return converted;
  }
  const from = settledType(bound.type);
  if (isArray(type) || isArray(from) || isComplex(type) || isComplex(from)) return castStructure(bound, from, type);
  const read = jsonValueAs(bound, type);
  if (read !== undefined) return read;
  const zone = text(timeZone);
  if (type === 'DATE' && from !== 'VARCHAR')
    return from === 'TIMESTAMP' ? call('DATE', 'timestamp_floor', bound, text('P1D'), NULL, zone) : undefined;
  if (nativeType(from) === nativeType(type) && from !== 'VARCHAR' && type !== 'BOOLEAN') return retype(bound, type);
  switch (type) {
    case 'VARCHAR':
      if (from === 'TIMESTAMP') return call(type, 'timestamp_format', bound, text('yyyy-MM-dd HH:mm:ss'), zone);
      if (from === 'DATE') return call(type, 'timestamp_format', bound, text('yyyy-MM-dd'), zone);
      if (from === 'BOOLEAN') return call(type, 'case_searched', bound, text('true'), not(bound), text('false'), NULL);
      return call(type, 'cast', bound, text('STRING'));
    case 'TIMESTAMP':
      return from === 'VARCHAR' ? call(type, 'timestamp_parse', bound, NULL, zone) : undefined;
    case 'DATE':
      return from === 'VARCHAR'
        ? call(type, 'timestamp_floor', call('TIMESTAMP', 'timestamp_parse', bound, NULL, zone), text('P1D'), NULL, zone)
        : undefined;
    case 'BOOLEAN':
      return isNumeric(from) ? isNotZero(bound, from) : from === 'VARCHAR' ? truthOfText(bound) : undefined;
    case 'FLOAT':
      return asFloat(from === 'VARCHAR' ? call('DOUBLE', 'cast', bound, text('DOUBLE')) : bound);
    default:
      return call(type, 'cast', bound, text(nativeType(type)));
  }
}

function isNotZero(bound: Bound, domain: SqlType): Bound {
  const zero = nativeType(domain) === 'LONG' ? integer(0) : literal(domain, 0);
  return { kind: 'compare', type: 'BOOLEAN', operator: '<>', domain, left: bound, right: zero };
}

/** 'true' and 'false' in any letters; a number is true unless it is 0, anything else unknown. */
function truthOfText(bound: Bound): Bound {
  const word = call('VARCHAR', 'lower', call('VARCHAR', 'trim', bound));
  const is = (value: string): Bound => ({
    kind: 'compare',
    type: 'BOOLEAN',
    operator: '=',
    domain: 'VARCHAR',
    left: word,
    right: text(value),
  });
  const number = isNotZero(call('DOUBLE', 'cast', bound, text('DOUBLE')), 'DOUBLE');
  return call('BOOLEAN', 'case_searched', is('true'), TRUE, is('false'), FALSE, number);
}

/** JSON_VALUE is read as the number or truth value it is, rather than as a text that is converted. */
function jsonValueAs(bound: Bound, type: SqlType): Bound | undefined {
  if (bound.kind !== 'call' || bound.function !== 'json_value' || bound.type !== 'VARCHAR') return undefined;
  const [json, path] = bound.arguments;
  const native = nativeType(type);
  if (json === undefined || path === undefined || !(isNumeric(type) || type === 'BOOLEAN')) return undefined;
  if (type === 'FLOAT') return asFloat(call('DOUBLE', 'json_value', json, path, text('DOUBLE')));
  return call(type, 'json_value', json, path, text(native));
}

function isStructure(type: Bound['type']): boolean {
  return isArray(type) || isComplex(type);
}

/** Between arrays, of a single value as an array, and of anything as JSON. */
function castStructure(bound: Bound, from: SqlType, type: SqlType): Bound | undefined {
  if (isArray(type) && isComplex(from)) return undefined;
  if (isArray(type)) return nativeType(from) === nativeType(type) ? retype(bound, type) : call(type, 'cast', bound, text(nativeType(type)));
  return type === JSON_TYPE ? call(type, 'cast', bound, text(JSON_TYPE)) : undefined;
}

/** The expression language computes in doubles: a FLOAT is the double of one. */
function asFloat(bound: Bound): Bound {
  return call('FLOAT', ':float', bound);
}

function castLiteral(bound: BoundLiteral, type: SqlType, timeZone: string): BoundLiteral | undefined {
  const { value } = bound;
  if (value === null) return literal(type, null);
  if (isStructure(type) || isStructure(bound.type)) return undefined;
  if (typeof value === 'string') return castText(value.trim(), value, type, timeZone);
  const from = settledType(bound.type);
  if (isInstant(from) || from === 'BOOLEAN') return isNumeric(type) && typeof value === 'bigint' ? numeric(value, type) : undefined;
  if (isNumeric(type)) return numeric(value, type);
  if (type === 'VARCHAR' && typeof value === 'bigint') return text(String(value));
  if (type === 'TIMESTAMP') return numeric(value, 'TIMESTAMP');
  return undefined;
}

function castText(trimmed: string, value: string, type: SqlType, timeZone: string): BoundLiteral | undefined {
  if (type === 'VARCHAR') return text(value);
  if (type === 'BOOLEAN')
    return /^true$/i.test(trimmed) ? literal('BOOLEAN', 1n) : /^false$/i.test(trimmed) ? literal('BOOLEAN', 0n) : undefined;
  if (isInstant(type)) {
    // A date with a time of day is cut to the day by the general conversion.
    if (type === 'DATE' && !/^[+-]?\d{4,}-\d{1,2}-\d{1,2}$/.test(trimmed)) return undefined;
    const instant = parseInstant(value, timeZone);
    return instant === undefined ? undefined : literal(type, BigInt(instant));
  }
  const number = (nativeType(type) === 'LONG' ? integerOf(value) : undefined) ?? decimalOf(value);
  return number === undefined ? undefined : numeric(number, type);
}

function numeric(value: bigint | number, type: SqlType): BoundLiteral | undefined {
  if (nativeType(type) !== 'LONG') return literal(type, type === 'FLOAT' ? Math.fround(Number(value)) : Number(value));
  const long = typeof value === 'bigint' ? value : Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  return long === undefined || long !== BigInt.asIntN(64, long) ? undefined : literal(type, long);
}

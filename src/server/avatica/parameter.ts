// Parameters of JDBC statements.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { formatInstant } from '../../base/time.js';
import { refuse } from '../../planner/native/reader.js';

/** A value for a `?` as the SQL planner takes it. */
export interface ParameterValue {
  readonly type: string;
  readonly value: unknown;
}

const MS_PER_DAY = 86_400_000;
const CIVIL_MS_MAX = 8_640_000_000_000_000;

/** Instants come as the wall clock of the client: as text they are read in the zone of the statement. */
function wallClock(type: 'DATE' | 'TIMESTAMP', unitMs: number): (value: unknown, path: string) => ParameterValue {
  return (value, path) => {
    const localMs = Number(value) * unitMs;
    if ((typeof value !== 'number' && typeof value !== 'bigint') || !Number.isInteger(localMs) || Math.abs(localMs) > CIVIL_MS_MAX)
      refuse(path, `an integer, ${unitMs === 1 ? 'milliseconds' : 'days'} since 1970-01-01`, value);
    const text = formatInstant(localMs).replace('Z', '');
    return { type, value: type === 'DATE' ? text.slice(0, text.indexOf('T')) : text.replace('T', ' ') };
  };
}

function number(value: unknown): ParameterValue {
  return { type: Number.isInteger(value) || typeof value === 'bigint' ? 'BIGINT' : 'DOUBLE', value };
}

/** A value of a class without a name in the protocol, such as BigInteger. */
function byItself(value: unknown, path: string): ParameterValue {
  if (typeof value === 'number' || typeof value === 'bigint') return number(value);
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value === 'string' ? 'VARCHAR' : 'BOOLEAN', value };
  return refuse(path, 'a string, a number or a boolean', value);
}

/** Kinds of values that are what they are, by the word that the protocol has for them, with their types in SQL. */
const PLAIN_TYPES: Readonly<Record<string, string>> = {
  PRIMITIVE_BOOLEAN: 'BOOLEAN',
  BOOLEAN: 'BOOLEAN',
  PRIMITIVE_CHAR: 'VARCHAR',
  CHARACTER: 'VARCHAR',
  STRING: 'VARCHAR',
  PRIMITIVE_BYTE: 'BIGINT',
  BYTE: 'BIGINT',
  PRIMITIVE_SHORT: 'BIGINT',
  SHORT: 'BIGINT',
  PRIMITIVE_INT: 'BIGINT',
  INTEGER: 'BIGINT',
  PRIMITIVE_LONG: 'BIGINT',
  LONG: 'BIGINT',
  BIG_INTEGER: 'BIGINT',
  PRIMITIVE_FLOAT: 'DOUBLE',
  FLOAT: 'DOUBLE',
  PRIMITIVE_DOUBLE: 'DOUBLE',
  DOUBLE: 'DOUBLE',
  BIG_DECIMAL: 'DOUBLE',
};

const plainType = (name: string): string | undefined => (Object.hasOwn(PLAIN_TYPES, name) ? own(PLAIN_TYPES, name) : undefined);

/** Kinds that have to be looked at. */
const READERS: Readonly<Record<string, (value: unknown, path: string) => ParameterValue>> = {
  NUMBER: number,
  JAVA_SQL_DATE: wallClock('DATE', MS_PER_DAY),
  JAVA_SQL_TIMESTAMP: wallClock('TIMESTAMP', 1),
  JAVA_UTIL_DATE: wallClock('TIMESTAMP', 1),
  OBJECT: byItself,
};

/** Types that a client may send but no statement can use. */
const UNSUPPORTED: readonly string[] = ['BYTE_STRING', 'JAVA_SQL_TIME', 'STRUCT', 'MULTISET'];
/** Element types that need more than their value; only the values of an array are passed on. */
const UNSUPPORTED_ELEMENTS: readonly string[] = [...UNSUPPORTED, 'JAVA_SQL_DATE', 'JAVA_SQL_TIMESTAMP', 'JAVA_UTIL_DATE'];

/** A `TypedValue`; a null needs no type. */
export function readParameter(reader: ObjectReader): ParameterValue {
  const type = reader.string('type');
  const value = reader.raw('value');
  if (value === undefined) return { type: 'NULL', value: null };
  if (type === 'ARRAY') return readArray(reader);
  const plain = plainType(type);
  if (plain !== undefined) return { type: plain, value };
  const read = Object.hasOwn(READERS, type) ? own(READERS, type) : undefined;
  if (read !== undefined) return read(value, reader.at('value'));
  if (UNSUPPORTED.includes(type))
    throw new ServiceError('unsupported', `${reader.at('type')}: a parameter of type ${type} is not supported`);
  return refuse(reader.at('type'), `one of ${[...Object.keys(PLAIN_TYPES), ...Object.keys(READERS), 'ARRAY'].join(', ')}`, type);
}

/** An array parameter. Without a plain element type the planner infers the type from the values. */
function readArray(reader: ObjectReader): ParameterValue {
  const componentType = reader.optionalString('componentType') ?? 'OBJECT';
  if (UNSUPPORTED_ELEMENTS.includes(componentType))
    throw new ServiceError('unsupported', `${reader.at('componentType')}: an array of ${componentType} is not supported`);
  const element = plainType(componentType);
  return { type: element === undefined ? 'ARRAY' : `ARRAY<${element}>`, value: reader.array('value') };
}

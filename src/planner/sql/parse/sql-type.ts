// SQL types by name, and the native types that store them.

import { own } from '../../../base/names.js';
import { type ColumnType, elementType, isArrayType, isComplexType, JSON_TYPE } from '../../../model/schema.js';
import type { ScalarSqlType, SqlArrayType, SqlType } from '../../../model/statement.js';

const SQL_TYPES: Readonly<Record<string, SqlType>> = {
  VARCHAR: 'VARCHAR',
  CHAR: 'VARCHAR',
  CHARACTER: 'VARCHAR',
  'CHAR VARYING': 'VARCHAR',
  'CHARACTER VARYING': 'VARCHAR',
  STRING: 'VARCHAR',
  BIGINT: 'BIGINT',
  LONG: 'BIGINT',
  INTEGER: 'INTEGER',
  INT: 'INTEGER',
  SMALLINT: 'INTEGER',
  TINYINT: 'INTEGER',
  FLOAT: 'FLOAT',
  REAL: 'FLOAT',
  DOUBLE: 'DOUBLE',
  'DOUBLE PRECISION': 'DOUBLE',
  DECIMAL: 'DECIMAL',
  DEC: 'DECIMAL',
  NUMERIC: 'DECIMAL',
  BOOLEAN: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
};

/** Names of scalar types, for messages. */
export const SQL_TYPE_NAMES: readonly string[] = Object.keys(SQL_TYPES);

/** The type a name stands for: of a scalar without precision, of an array (`BIGINT ARRAY`, `ARRAY<LONG>`), of a complex type. */
export function sqlTypeOf(name: string): SqlType | undefined {
  const upper = name.trim().toUpperCase();
  if (Object.hasOwn(SQL_TYPES, upper)) return own(SQL_TYPES, upper);
  if (upper === 'JSON') return JSON_TYPE;
  const [, complex] = /^COMPLEX<\s*([^<>]+?)\s*>$/i.exec(name.trim()) ?? [];
  if (complex !== undefined) return `COMPLEX<${complex.toLowerCase() === 'json' ? 'json' : complex}>`;
  const element = /^ARRAY<(.+)>$/i.exec(name.trim())?.[1] ?? /^(.+?) ARRAY$/i.exec(name.trim())?.[1];
  const inner = element === undefined ? undefined : sqlTypeOf(element);
  return inner === undefined ? undefined : arrayOf(inner);
}

export function arrayOf(element: SqlType): SqlArrayType {
  return `ARRAY<${element}>`;
}

export function isArray(type: SqlType | 'NULL'): type is SqlArrayType {
  return type.startsWith('ARRAY<');
}

/** Type of an array's elements. */
export function elementOf(type: SqlArrayType): SqlType {
  return type.slice('ARRAY<'.length, -1) as SqlType;
}

export function isComplex(type: SqlType | 'NULL'): type is Exclude<SqlType, ScalarSqlType | SqlArrayType> {
  return type.startsWith('COMPLEX<');
}

/** Native type that stores values of a SQL type: instants are milliseconds, truth values 1 and 0. */
export function nativeType(type: SqlType): ColumnType {
  switch (type) {
    case 'VARCHAR':
      return 'STRING';
    case 'FLOAT':
      return 'FLOAT';
    case 'DOUBLE':
    case 'DECIMAL':
      return 'DOUBLE';
    case 'BIGINT':
    case 'INTEGER':
    case 'BOOLEAN':
    case 'TIMESTAMP':
    case 'DATE':
      return 'LONG';
    default: {
      if (!isArray(type)) return type;
      const element = nativeType(elementOf(type));
      return `ARRAY<${element === 'FLOAT' ? 'DOUBLE' : element}>`;
    }
  }
}

export function sqlTypeOfColumn(type: ColumnType, isTime: boolean): SqlType {
  if (isTime) return 'TIMESTAMP';
  if (isArrayType(type)) return arrayOf(sqlTypeOfColumn(elementType(type), false));
  if (isComplexType(type)) return type;
  return type === 'STRING' ? 'VARCHAR' : type === 'LONG' ? 'BIGINT' : type;
}

/** Common element type of two arrays: strings hold the values of both, and truth values are 1 and 0. */
function mixedElement(one: SqlType, other: SqlType): SqlType | undefined {
  if (one === 'VARCHAR' || other === 'VARCHAR') return 'VARCHAR';
  if (one === 'BOOLEAN') return isNumeric(other) ? other : undefined;
  return other === 'BOOLEAN' && isNumeric(one) ? one : undefined;
}

const NUMERIC_RANKS: Readonly<Partial<Record<SqlType, number>>> = { INTEGER: 1, BIGINT: 2, DECIMAL: 3, FLOAT: 4, DOUBLE: 5 };

export function isNumeric(type: SqlType): boolean {
  return NUMERIC_RANKS[type] !== undefined;
}

export function isInstant(type: SqlType): boolean {
  return type === 'TIMESTAMP' || type === 'DATE';
}

/** The type both can be read as without saying so; `undefined` when there is none. */
export function commonType(left: SqlType, right: SqlType): SqlType | undefined {
  if (left === right) return left;
  const [leftRank, rightRank] = [NUMERIC_RANKS[left], NUMERIC_RANKS[right]];
  if (leftRank !== undefined && rightRank !== undefined) {
    // An exact fraction beside a float loses nothing as a double.
    const wider = leftRank > rightRank ? left : right;
    return wider === 'FLOAT' && (left === 'DECIMAL' || right === 'DECIMAL') ? 'DOUBLE' : wider;
  }
  if (isArray(left) && isArray(right)) {
    const [one, other] = [elementOf(left), elementOf(right)];
    const element = commonType(one, other) ?? mixedElement(one, other);
    return element === undefined ? undefined : arrayOf(element);
  }
  return isInstant(left) && isInstant(right) ? 'TIMESTAMP' : undefined;
}

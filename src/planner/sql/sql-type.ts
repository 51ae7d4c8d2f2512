import { ServiceError } from '../../base/errors.js';
import type { ColumnType, PrimitiveType } from '../../model/schema.js';
import { isNumberType } from '../../model/schema.js';
import type { SqlType } from '../../model/statement.js';

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

/** The type an upper-case name without precision stands for. */
export function sqlTypeOf(name: string): SqlType | undefined {
  return Object.hasOwn(SQL_TYPES, name) ? SQL_TYPES[name] : undefined;
}

/** How values of the type are stored and computed: instants are milliseconds, truth values 1 and 0. */
export function nativeType(type: SqlType): PrimitiveType {
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
  }
}

export function sqlTypeOfColumn(type: ColumnType, isTime: boolean): SqlType {
  if (isTime) return 'TIMESTAMP';
  if (type === 'STRING') return 'VARCHAR';
  if (!isNumberType(type)) throw new ServiceError('unsupported', `SQL over columns of type ${type} is not supported`);
  return type === 'LONG' ? 'BIGINT' : type;
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
  return isInstant(left) && isInstant(right) ? 'TIMESTAMP' : undefined;
}

import type { Expression } from '../model/expression.js';
import type { ColumnType } from '../model/schema.js';
import { isArrayType, JSON_TYPE } from '../model/schema.js';
import type { Constant, MaybeType } from './function.js';
import { getFunction } from './functions.js';
import { valueOfText } from './value.js';

/**
 * The type an expression has over columns of the given types; an unknown column is null everywhere. What is null
 * everywhere has type STRING. FLOAT columns compute as DOUBLE.
 * @throws ServiceError for unknown or unsupported functions, and for arguments they are not made for
 */
export function expressionType(expression: Expression, columnType: (name: string) => ColumnType | undefined): ColumnType {
  return inferType(expression, columnType) ?? 'STRING';
}

/** As `expressionType`, with null for what is null everywhere. */
export function inferType(expression: Expression, columnType: (name: string) => ColumnType | undefined): MaybeType {
  switch (expression.kind) {
    case 'literal':
      return expression.type ?? literalType(expression.value);
    case 'column':
      return columnType(expression.name) ?? null;
    case 'call': {
      const called = getFunction(expression.function, expression.arguments.length);
      const types = expression.arguments.map((argument) => inferType(argument, columnType));
      return called.type(types, expression.arguments.map(constantOf));
    }
  }
}

function literalType(value: string | number | bigint | null): MaybeType {
  return value === null ? null : typeof value === 'string' ? 'STRING' : typeof value === 'bigint' ? 'LONG' : 'DOUBLE';
}

/** An argument that is a literal. */
export function constantOf(expression: Expression | undefined): Constant | undefined {
  if (expression?.kind !== 'literal') return undefined;
  const { type, value } = expression;
  if (isArrayType(type) || type === JSON_TYPE) return { value: valueOfText(value === null ? null : String(value), type) };
  // A literal typed LONG or DOUBLE may carry either kind of number.
  if (type === 'LONG' && typeof value === 'number') return { value: BigInt(Math.trunc(value)) };
  return { value: (type === 'DOUBLE' || type === 'FLOAT') && typeof value === 'bigint' ? Number(value) : value };
}

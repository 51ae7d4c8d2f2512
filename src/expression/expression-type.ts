// Infers the types of expressions.

import { ServiceError } from '../base/errors.js';
import type { Expression } from '../model/expression.js';
import { type ColumnType, isArrayType, JSON_TYPE } from '../model/schema.js';
import type { ApplyFunction, Constant, LambdaTypes, MaybeType } from './function.js';
import { findApplyFunction, getFunction, refuseCount } from './functions.js';
import { valueOfText } from './value.js';

/** Types of columns by name. `known`: types of parts of expressions found before, where columns keep theirs. */
export type TypeOf = ((name: string) => ColumnType | undefined) & { readonly known?: Map<Expression, MaybeType> };

/**
 * The type an expression has over columns of the given types; an unknown column is null everywhere. What is null
 * everywhere has type STRING. FLOAT columns compute as DOUBLE. A multi-value column is a STRING, and so is what becomes
 * of each of its values.
 * @throws ServiceError for unknown or unsupported functions, and for arguments they are not made for
 */
export function expressionType(expression: Expression, columnType: TypeOf): ColumnType {
  return inferType(expression, columnType) ?? 'STRING';
}

/** Like `expressionType`, with null for an expression that is always null. */
export function inferType(expression: Expression, columnType: TypeOf): MaybeType {
  switch (expression.kind) {
    case 'literal':
      return expression.type ?? literalType(expression.value);
    case 'column':
      return columnType(expression.name) ?? null;
    case 'call': {
      const known = columnType.known?.get(expression);
      if (known !== undefined) return known;
      const type = typeOfCall(expression, columnType);
      columnType.known?.set(expression, type);
      return type;
    }
    case 'lambda':
      throw strayLambda();
  }
}

function typeOfCall(expression: Call, columnType: TypeOf): MaybeType {
  const apply = findApplyFunction(expression.function);
  if (apply !== undefined) return typesOfCall(apply, expression, columnType).result;
  const called = getFunction(expression.function, expression.arguments.length);
  const types = expression.arguments.map((argument) => inferType(argument, columnType));
  return called.type(types, expression.arguments.map(constantOf));
}

const PARAMETERS_MAX = 32;

type Call = Extract<Expression, { kind: 'call' }>;
type Lambda = Extract<Expression, { kind: 'lambda' }>;

/** The lambda of a call of a function that takes one, checked against the number of arguments. */
export function lambdaOf(apply: ApplyFunction, call: Call): Lambda {
  const [lambda, ...values] = call.arguments;
  refuseCount(apply, call.arguments.length);
  if (lambda?.kind !== 'lambda')
    throw new ServiceError(
      'query_invalid',
      `expression function ${apply.name} takes a lambda as its first argument: ${apply.name}((x) -> ..., ...)`,
    );
  const count = apply.parameterCount(call.arguments.length);
  if (count > PARAMETERS_MAX)
    throw new ServiceError(
      'query_invalid',
      `expression function ${apply.name}: a lambda of ${count} parameters; up to ${PARAMETERS_MAX} are accepted`,
    );
  if (lambda.parameters.length !== count)
    throw new ServiceError(
      'query_invalid',
      `expression function ${apply.name} with ${values.length} arguments behind the lambda takes one of ${count} parameters, found ${lambda.parameters.length}`,
    );
  return lambda;
}

export function typesOfCall(apply: ApplyFunction, call: Call, columnType: TypeOf): LambdaTypes {
  const { parameters, body } = lambdaOf(apply, call);
  const types = call.arguments.slice(1).map((argument) => inferType(argument, columnType));
  return apply.types(types, (ofParameters) => inferType(body, withParameters(columnType, parameters, ofParameters)));
}

/** Parameters hide columns of their names; of several of one name the last counts. */
export function withParameters(columnType: TypeOf, names: readonly string[], types: readonly MaybeType[]): TypeOf {
  return (name) => {
    const index = names.lastIndexOf(name);
    return index < 0 ? columnType(name) : (types[index] ?? undefined);
  };
}

export function strayLambda(): ServiceError {
  return new ServiceError(
    'query_invalid',
    'a lambda (->) is accepted as the first argument of map, filter, fold, any, all and cartesian_ functions only',
  );
}

function literalType(value: Extract<Expression, { kind: 'literal' }>['value']): MaybeType {
  return value === null || typeof value === 'object'
    ? null
    : typeof value === 'string'
      ? 'STRING'
      : typeof value === 'bigint'
        ? 'LONG'
        : 'DOUBLE';
}

/** An argument that is a literal. */
export function constantOf(expression: Expression | undefined): Constant | undefined {
  if (expression?.kind !== 'literal') return undefined;
  const { type, value } = expression;
  if (typeof value === 'object' && value !== null) return { value: null, table: value };
  if (isArrayType(type) || type === JSON_TYPE) return { value: valueOfText(value === null ? null : String(value), type) };
  // A literal typed LONG or DOUBLE may carry either kind of number.
  if (type === 'LONG' && typeof value === 'number') return { value: BigInt(Math.trunc(value)) };
  return { value: (type === 'DOUBLE' || type === 'FLOAT') && typeof value === 'bigint' ? Number(value) : value };
}

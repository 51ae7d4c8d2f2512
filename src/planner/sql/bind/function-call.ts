// Interface of a SQL function, and access to the arguments of a call.

import { ServiceError } from '../../../base/errors.js';
import { foldConstant } from '../../../expression/evaluate.js';
import { MULTI_VALUE_FORMS } from '../../../expression/functions/multi-value.js';
import { getFunction } from '../../../expression/functions.js';
import { textOfValue } from '../../../expression/value.js';
import { JSON_TYPE } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { ask } from '../../places/recording.js';
import { arrayOf, commonType, elementOf, isArray, isComplex, isInstant, isNumeric, nativeType } from '../parse/sql-type.js';
import {
  type Bound,
  type BoundLiteral,
  type BoundType,
  call,
  children,
  computedLiteral,
  literal,
  settledType,
  toExpression,
} from '../relation/bound.js';
import { castTo } from './cast.js';
import type { Session } from './session.js';

/** A SQL function: how a call of it is expressed in the native expression language. */
export interface SqlFunction {
  readonly name: string;
  readonly minArguments: number;
  readonly maxArguments: number;
  /** Kind of each argument; absent where it depends on the others. */
  readonly parameters?: readonly ParameterKind[];
  bind(call: FunctionCall): Bound;
}

/** The accessor of `FunctionCall` that gives an argument its type. */
export type ParameterKind = 'text' | 'string' | 'number' | 'integer' | 'instant' | 'any' | 'array' | 'values';

/** A call whose arguments are bound; each accessor gives one in the type the function needs, or refuses it by position. */
export class FunctionCall {
  readonly name: string;
  readonly at: number;
  readonly session: Session;
  /** Unit of FLOOR(x TO unit) and the like. */
  readonly unit: string | null;
  /** Type of JSON_VALUE(x, path RETURNING type). */
  readonly returning: SqlType | null;
  readonly arguments: readonly Bound[];
  readonly #positions: readonly number[];

  constructor(
    call: { readonly name: string; readonly at: number; readonly unit: string | null; readonly returning: SqlType | null },
    args: readonly Bound[],
    positions: readonly number[],
    session: Session,
  ) {
    this.name = call.name;
    this.at = call.at;
    this.unit = call.unit;
    this.returning = call.returning;
    this.arguments = args;
    this.#positions = positions;
    this.session = session;
  }

  get count(): number {
    return this.arguments.length;
  }

  any(index: number): Bound {
    const argument = this.arguments[index];
    if (argument === undefined) throw this.error(this.at, `${this.name} needs at least ${index + 1} arguments`);
    return argument;
  }

  text(index: number): Bound {
    return this.#as(index, 'VARCHAR');
  }

  number(index: number): Bound {
    const argument = this.any(index);
    if (argument.type === 'NULL') return literal('BIGINT', null);
    if (isNumeric(argument.type)) return argument;
    if (argument.type === 'VARCHAR') return this.#as(index, 'DOUBLE');
    throw this.mismatch(index, 'a number');
  }

  integer(index: number): Bound {
    if (this.any(index).type === 'VARCHAR') return this.#as(index, 'BIGINT');
    const argument = this.number(index);
    return argument.type === 'BIGINT' || argument.type === 'INTEGER' ? argument : this.#as(index, 'BIGINT');
  }

  instant(index: number): Bound {
    const argument = this.any(index);
    if (argument.type !== 'NULL' && isInstant(argument.type)) return argument;
    if (argument.type !== 'NULL' && argument.type !== 'VARCHAR') throw this.mismatch(index, 'a TIMESTAMP or DATE');
    return this.#as(index, 'TIMESTAMP');
  }

  /** A text, without conversion. */
  string(index: number): Bound {
    const argument = this.any(index);
    if (argument.type === 'NULL' || argument.type === 'VARCHAR') return argument;
    throw this.mismatch(index, 'a VARCHAR');
  }

  /** An array; a text may have several values, and JSON may be a list. */
  array(index: number): Bound {
    const { type } = this.any(index);
    if (type === 'NULL' || type === 'VARCHAR' || isArray(type) || type === JSON_TYPE) return this.any(index);
    throw this.mismatch(index, 'an ARRAY');
  }

  /** The values of a row: as an array, and a single value is the only one. */
  values(index: number): Bound {
    const argument = this.any(index);
    if (argument.type === 'NULL' || !isComplex(argument.type) || argument.type === JSON_TYPE) return argument;
    throw this.mismatch(index, 'an ARRAY or a VARCHAR');
  }

  /** Binds an argument that may be an element of another argument's array: it takes the type of the others. */
  element(index: number, arrayIndex: number): Bound {
    const { type } = this.array(arrayIndex);
    const argument = this.any(index);
    if (type === 'NULL' || argument.type === 'NULL') return argument;
    const element = this.elementType(arrayIndex);
    if (commonType(element, argument.type) !== undefined || (element === 'VARCHAR' && !isArray(argument.type))) return argument;
    throw this.mismatch(index, `an element of ${arrayOf(element)}`);
  }

  /** The type of an array's elements. */
  elementType(index: number): SqlType {
    const { type } = this.values(index);
    return type === 'NULL' ? 'VARCHAR' : isArray(type) ? elementOf(type) : type;
  }

  /** The type an argument has as an array. */
  arrayType(index: number): SqlType {
    return arrayOf(this.elementType(index));
  }

  /** An argument that must be a literal text; `otherwise` when it is left out or NULL. */
  constantText<Default>(index: number, otherwise: Default): string | Default {
    const argument = this.arguments[index];
    if (argument === undefined) return otherwise;
    if (argument.kind !== 'literal' || (argument.value !== null && typeof argument.value !== 'string'))
      throw this.mismatch(index, 'a literal string');
    return argument.value ?? otherwise;
  }

  constantInteger(index: number, otherwise: number): number {
    const argument = this.arguments[index];
    if (argument === undefined) return otherwise;
    if (argument.kind !== 'literal' || typeof argument.value !== 'bigint') throw this.mismatch(index, 'a literal integer');
    return Number(argument.value);
  }

  /** All arguments in the one type they share. */
  alike(from: number): { readonly type: BoundType; readonly arguments: readonly Bound[] } {
    return unify(
      this.arguments.slice(from),
      (index, type) => this.error(this.#positions[from + index] ?? this.at, `${this.name}: ${type} does not fit the arguments before it`),
      this.session,
    );
  }

  error(at: number, message: string): ServiceError {
    return this.session.source.error('sql_plan_invalid', at, message);
  }

  mismatch(index: number, expected: string): ServiceError {
    return this.error(
      this.#positions[index] ?? this.at,
      `${this.name}: argument ${index + 1} must be ${expected}, found ${describe(this.any(index))}`,
    );
  }

  #as(index: number, type: SqlType): Bound {
    const cast = castTo(this.any(index), type, this.session.timeZone);
    if (cast === undefined) throw this.mismatch(index, `a ${type}`);
    return cast;
  }
}

/** Converts all to their common type; NULL literals take it too. */
export function unify(
  bounds: readonly Bound[],
  mismatch: (index: number, type: BoundType) => Error,
  session: Session,
): { readonly type: BoundType; readonly arguments: readonly Bound[] } {
  let type: BoundType = 'NULL';
  for (const [index, bound] of bounds.entries()) {
    if (bound.type === 'NULL') continue;
    const common: SqlType | undefined =
      type === 'NULL'
        ? bound.type
        : (commonType(type, bound.type) ?? (type === 'VARCHAR' || bound.type === 'VARCHAR' ? 'VARCHAR' : undefined));
    if (common === undefined) throw mismatch(index, bound.type);
    type = common;
  }
  if (type === 'NULL') return { type, arguments: bounds };
  const target: SqlType = type;
  return {
    type,
    arguments: bounds.map((bound, index) => {
      const cast = castTo(bound, target, session.timeZone);
      if (cast === undefined) throw mismatch(index, bound.type);
      return cast;
    }),
  };
}

export function describe(bound: Bound): string {
  if (bound.kind === 'literal' && (bound.type === 'NULL' || !(isArray(bound.type) || isComplex(bound.type))))
    return typeof bound.value === 'string'
      ? `'${bound.value.slice(0, 40)}'`
      : bound.value === null
        ? 'NULL'
        : `${settledType(bound.type)} ${bound.value}`;
  return settledType(bound.type);
}

/**
 * The value of an expression of literals as a literal. A call that is not constant has its constants checked: a bad
 * pattern, zone or period is reported with its position and not by a server later.
 */
export function folded(bound: Bound, session: Session, at: number): Bound {
  if (bound.kind === 'literal') return bound;
  const operands = children(bound);
  const constant = isConstant(bound);
  if (!constant && bound.kind !== 'call') return bound;
  if (bound.kind === 'call' && bound.function === LOOKUP) return bound;
  try {
    if (!constant) {
      const name = bound.kind === 'call' ? bound.function : '';
      // Calls that return several values are rewritten before they are bound.
      if (bound.kind === 'call' && !MULTI_VALUE_FORMS.has(name))
        ask(operands, (each) => checkConstants(getFunction(name, operands.length), each));
      return bound;
    }
    return computedLiteral(bound, constantOf) ?? bound;
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'internal') throw session.source.error('sql_plan_invalid', at, error.message);
    throw error;
  }
}

/** The value of an expression of literals as a literal; undefined where it is none. */
function constantOf(bound: Bound): BoundLiteral | undefined {
  const { type } = bound;
  const value = foldConstant(toExpression(bound));
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) return literal(type, value);
  // Several values of a multi-value string are not a literal.
  return type !== 'NULL' && (isArray(type) || isComplex(type)) ? literal(type, textOfValue(value, nativeType(type))) : undefined;
}

/** @throws ServiceError for a constant that the function does not take */
function checkConstants(called: ReturnType<typeof getFunction>, operands: readonly Bound[]): true {
  called.bind(operands.map((operand) => (operand.kind === 'literal' ? { value: operand.value } : undefined)));
  return true;
}

/** Function that is never constant, because the planner does not know its rows. */
const LOOKUP = 'lookup';

function isConstant(bound: Bound): boolean {
  if (bound.kind === 'call' && bound.function === LOOKUP) return false;
  return (
    bound.kind === 'literal' ||
    (bound.kind !== 'column' &&
      bound.kind !== 'outer' &&
      bound.kind !== 'window' &&
      bound.kind !== 'aggregate' &&
      children(bound).every(isConstant))
  );
}

/** A function of fixed types with a namesake in the expression language. */
export function plain(
  name: string,
  native: string,
  parameters: readonly ParameterKind[],
  type: SqlType | ((bound: FunctionCall) => BoundType),
  optional = 0,
): SqlFunction {
  return {
    name,
    minArguments: parameters.length - optional,
    maxArguments: parameters.length,
    parameters,
    bind: (bound) =>
      call(
        typeof type === 'function' ? type(bound) : type,
        native,
        ...bound.arguments.map((_, index) => bound[parameters[index] ?? 'text'](index)),
      ),
  };
}

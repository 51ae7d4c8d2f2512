// Binds an expression to columns: compiles it to functions over their values.

import type { Expression } from '../model/expression.js';
import type { ColumnType } from '../model/schema.js';
import { constantOf, inferType, lambdaOf, strayLambda, typesOfCall, withParameters } from './expression-type.js';
import type { ApplyFunction, BoundLambda, MaybeType, Operand } from './function.js';
import { findApplyFunction, getFunction } from './functions.js';
import { convert, type Value } from './value.js';

/** Names in the scope of an expression. */
export interface Names {
  typeOf(name: string): ColumnType | undefined;
  /** Reader of a column, requested once for each place that names it. */
  operand(name: string): Operand;
  /** Called every so often by what takes long within one row; throws to end it. */
  check(): void;
}

/** Runs of a lambda between two checks of the deadline. */
export const RUNS_PER_CHECK = 16;

/**
 * Binds every function of an expression once. The operand it gives computes one row: no list is made and no name looked
 * up on the way, but what functions make themselves. It is not reentrant, and needs not be.
 */
export function bindExpression(expression: Expression, names: Names): Operand {
  switch (expression.kind) {
    case 'literal': {
      const value = constantOf(expression)?.value ?? null;
      return () => value;
    }
    case 'column':
      return names.operand(expression.name);
    case 'call': {
      const apply = findApplyFunction(expression.function);
      return apply === undefined ? bindCall(expression, names) : bindApply(apply, expression, names);
    }
    case 'lambda':
      throw strayLambda();
  }
}

type Call = Extract<Expression, { kind: 'call' }>;

function bindCall(call: Call, names: Names): Operand {
  const called = getFunction(call.function, call.arguments.length);
  const type = inferType(call, (name) => names.typeOf(name));
  const operands = call.arguments.map((argument) => bindExpression(argument, names));
  const types = (): MaybeType[] => call.arguments.map((argument) => inferType(argument, (name) => names.typeOf(name)));
  const bound = called.bindLazy?.(operands) ?? eager(called.bind(call.arguments.map(constantOf), types()), operands);
  return converted(bound, type);
}

/** One list for all rows. */
function eager(apply: (values: readonly Value[]) => Value, operands: readonly Operand[]): Operand {
  const values: Value[] = operands.map(() => null);
  const [first, second, third] = operands;
  if (operands.length === 1 && first !== undefined)
    return () => {
      values[0] = first();
      return apply(values);
    };
  if (operands.length === 2 && first !== undefined && second !== undefined)
    return () => {
      values[0] = first();
      values[1] = second();
      return apply(values);
    };
  if (operands.length === 3 && first !== undefined && second !== undefined && third !== undefined)
    return () => {
      values[0] = first();
      values[1] = second();
      values[2] = third();
      return apply(values);
    };
  return () => {
    let index = 0;
    for (const operand of operands) values[index++] = operand();
    return apply(values);
  };
}

function converted(operand: Operand, type: MaybeType): Operand {
  switch (type) {
    case null:
      return operand;
    case 'LONG':
      return () => {
        const value = operand();
        return typeof value === 'bigint' || value === null ? value : convert(value, 'LONG');
      };
    case 'DOUBLE':
      return () => {
        const value = operand();
        return typeof value === 'number' || value === null ? value : convert(value, 'DOUBLE');
      };
    case 'STRING':
      return () => {
        const value = operand();
        return typeof value === 'string' || value === null ? value : convert(value, 'STRING');
      };
    default:
      return () => convert(operand(), type);
  }
}

function bindApply(apply: ApplyFunction, call: Call, names: Names): Operand {
  const { parameters, body } = lambdaOf(apply, call);
  const types = typesOfCall(apply, call, (name) => names.typeOf(name));
  const lambda = bindLambda(parameters, body, types.parameters, names);
  const run = (values: readonly Value[]): Value => apply.run(lambda, values, types.result);
  const operands = call.arguments.slice(1).map((argument) => bindExpression(argument, names));
  return converted(eager(run, operands), types.result);
}

function bindLambda(parameters: readonly string[], body: Expression, types: readonly MaybeType[], names: Names): BoundLambda {
  const values: Value[] = parameters.map(() => null);
  const inner: Names = {
    typeOf: withParameters((name) => names.typeOf(name), parameters, types),
    operand(name) {
      const index = parameters.lastIndexOf(name);
      return index < 0 ? names.operand(name) : () => values[index] ?? null;
    },
    check: () => names.check(),
  };
  const bound = bindExpression(body, inner);
  let runs = 0;
  return {
    values,
    run() {
      if (++runs % RUNS_PER_CHECK === 0) names.check();
      return bound();
    },
  };
}

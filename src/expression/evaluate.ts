import type { Expression } from '../model/expression.js';
import type { ColumnType } from '../model/schema.js';
import { constantOf, inferType } from './expression-type.js';
import { getFunction } from './functions.js';
import type { Value } from './value.js';
import { convert } from './value.js';

/** Reads a column of the row at hand. */
export type ColumnReader = (name: string) => Value;

/**
 * One row through one expression: for constant folding, for single rows, and as the tests' oracle of the batch engine.
 * Column types are taken from the values. Loops use `compileExpression`.
 */
export function evaluate(expression: Expression, columns: ColumnReader): Value {
  const typeOf = (name: string): ColumnType | undefined => {
    const value = columns(name);
    return value === null ? undefined : typeof value === 'string' ? 'STRING' : typeof value === 'bigint' ? 'LONG' : 'DOUBLE';
  };
  return compileExpression(expression, typeOf)(columns);
}

/** Binds every function once; the result of each is converted to the type it declares. */
export function compileExpression(
  expression: Expression,
  columnType: (name: string) => ColumnType | undefined,
): (columns: ColumnReader) => Value {
  switch (expression.kind) {
    case 'literal': {
      const value = constantOf(expression)?.value ?? null;
      return () => value;
    }
    case 'column': {
      const { name } = expression;
      return (columns) => columns(name);
    }
    case 'call': {
      const type = inferType(expression, columnType);
      const bound = getFunction(expression.function, expression.arguments.length).bind(expression.arguments.map(constantOf));
      const operands = expression.arguments.map((argument) => compileExpression(argument, columnType));
      return (columns) => {
        const value = bound(operands.map((operand) => operand(columns)));
        return type === null ? value : convert(value, type);
      };
    }
  }
}

/** The value of an expression without columns; undefined when it has any. */
export function foldConstant(expression: Expression): Value | undefined {
  return hasColumn(expression) ? undefined : evaluate(expression, () => null);
}

function hasColumn(expression: Expression): boolean {
  return expression.kind === 'column' || (expression.kind === 'call' && expression.arguments.some(hasColumn));
}

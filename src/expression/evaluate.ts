// Evaluates expressions over single rows, and folds constants.

import { ServiceError } from '../base/errors.js';
import { columnsOfExpression } from '../model/columns-read.js';
import type { Expression } from '../model/expression.js';
import { arrayOf, type ColumnType, JSON_TYPE } from '../model/schema.js';
import { bindExpression, RUNS_PER_CHECK } from './bind.js';
import { commonType } from './function.js';
import { eachValueOf } from './multi-value.js';
import { isArrayValue, type Value } from './value.js';

/** Reads a column of the row at hand. */
export type ColumnReader = (name: string) => Value;

/** Limit of lambda runs for one row where nothing can cancel. */
const RUNS_MAX = 1_000_000;

/**
 * One row through one expression: for constant folding, for single rows, and as the tests' oracle of the batch engine.
 * Column types are taken from the values. Loops use `compileExpression`.
 */
export function evaluate(expression: Expression, columns: ColumnReader): Value {
  return compileExpression(expression, (name) => typeOfValue(columns(name)))(columns);
}

function typeOfValue(value: Value): ColumnType | undefined {
  switch (typeof value) {
    case 'string':
      return 'STRING';
    case 'bigint':
      return 'LONG';
    case 'number':
      return 'DOUBLE';
    default:
      if (value === null) return undefined;
      return isArrayValue(value) ? arrayOf(commonType(value.map((each) => typeOfValue(each) ?? null)) ?? 'STRING') : JSON_TYPE;
  }
}

/**
 * Binds every function once; the result of each is converted to the type it declares.
 * @param check  called now and then within one row, throws to end it; left out: one row's lambdas run a million times at most
 */
export function compileExpression(
  expression: Expression,
  columnType: (name: string) => ColumnType | undefined,
  check?: () => void,
): (columns: ColumnReader) => Value {
  let current: ColumnReader = () => null;
  let checks = 0;
  const limit = (): void => {
    if (++checks * RUNS_PER_CHECK > RUNS_MAX)
      throw new ServiceError('resource_limit', `the lambdas of an expression ran more than ${RUNS_MAX} times for one row`);
  };
  const bound = bindExpression(eachValueOf(expression, () => false).expression, {
    typeOf: columnType,
    operand: (name) => () => current(name),
    check: check ?? limit,
  });
  return (columns) => {
    current = columns;
    checks = 0;
    return bound();
  };
}

/** The value of an expression without columns; undefined when it has any. */
export function foldConstant(expression: Expression): Value | undefined {
  return columnsOfExpression(expression).size > 0 ? undefined : evaluate(expression, () => null);
}

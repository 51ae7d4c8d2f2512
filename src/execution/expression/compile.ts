// Chooses the cheapest way to compute an expression over a segment (decision 15).

import { ServiceError } from '../../base/errors.js';
import { expressionType, type TypeOf } from '../../expression/expression-type.js';
import { ONLY_VALUE } from '../../expression/functions/multi-value.js';
import { call, type Expression } from '../../model/expression.js';
import { type ColumnType, isArrayType, isNumberType } from '../../model/schema.js';
import { ValuePool } from '../block/value-pool.js';
import { compileArithmetic } from './arithmetic.js';
import { batchVector } from './batch/batch-vector.js';
import { BatchCompiler } from './batch/compile-batch.js';
import { textVector } from './batch/text-batch.js';
import { codedColumns, codedFunction, combinationCount } from './coded-function.js';
import { dictionaryFunction, onlyDictionary } from './dictionary-function.js';
import { formOf } from './multi-value.js';
import { columnsThere, rowFunction, rowLoop } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { valuesVector } from './values-vector.js';
import type { NumberVector, Vector } from './vector.js';

/**
 * An expression over a segment, as columns of a block: arithmetic by kernels, functions of one dictionary column once per
 * distinct value, of several columns of few values once per combination of these, other numbers by loops over typed
 * arrays, all else row by row.
 * @param outputType  null: the type the expression has
 */
export function compileVector(scope: SegmentScope, expression: Expression, outputType: ColumnType | null): Vector {
  const form = formOf(scope, expression);
  const { typeOf } = form;
  const type = outputType ?? expressionType(form.expression, typeOf);
  const formed = form.isMultiValue && !isArrayType(type) ? onlyValue(form.expression) : form.expression;
  const arithmetic = isNumberType(type) ? compileArithmetic(scope, formed, type) : undefined;
  if (arithmetic !== undefined) return arithmetic;
  const dictionary = onlyDictionary(scope, formed);
  if (dictionary !== undefined)
    return dictionaryFunction(scope, dictionary.column, rowFunction(scope, formed, [dictionary.name], typeOf), {
      type,
      expression: formed,
    });
  return compileBatch(scope, formed, typeOf, type) ?? compileRows(scope, formed, typeOf, type);
}

/** A row has one number, or single string, even where the expression is one of each value: that of its only value, else null. */
function onlyValue(expression: Expression): Expression {
  return call(ONLY_VALUE, expression);
}

/** In fewer rows than this, making room for blocks of numbers takes longer than computing row by row. */
const BATCH_ROWS_MIN = 64;

/** Compiles to loops over numbers, or `undefined` where rows are few or a table of all combinations of values is less work. */
function compileBatch(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector | undefined {
  if (type === 'FLOAT' || (type !== 'STRING' && !isNumberType(type)) || scope.view.rowCount < BATCH_ROWS_MIN) return undefined;
  const coded = codedColumns(scope, columnsThere(scope, expression));
  if (coded !== undefined && combinationCount(coded) * ROWS_PER_COMBINATION <= scope.view.rowCount) return undefined;
  const otherTruth = (condition: Expression): NumberVector => {
    const vector = compileRows(scope, condition, typeOf, 'LONG');
    if (vector.kind === 'number') return vector;
    throw new ServiceError('internal', 'a condition gave texts');
  };
  const compiler = new BatchCompiler(scope, typeOf, otherTruth);
  if (type === 'STRING') {
    const pool = new ValuePool<string>();
    const texts = expressionType(expression, typeOf) === 'STRING' ? compiler.textChoice(expression, pool) : undefined;
    return texts === undefined ? undefined : textVector(scope, texts, pool);
  }
  const batch = compiler.number(expression);
  return batch === undefined || (type === 'LONG' && batch.type === 'DOUBLE') ? undefined : batchVector(scope, batch, type);
}

const ROWS_PER_COMBINATION = 16;

/** Once for each combination of values where there are few, else row by row. */
function compileRows(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector {
  const names = columnsThere(scope, expression);
  const bound = rowFunction(scope, expression, names, typeOf);
  const coded = codedColumns(scope, names);
  return coded === undefined ? valuesVector(scope, type, rowLoop(scope, names, bound)) : codedFunction(scope, coded, bound, type);
}

import { ServiceError } from '../../base/errors.js';
import { expressionType } from '../../expression/expression-type.js';
import type { Expression } from '../../model/expression.js';
import { columnsOfExpression } from '../../model/plan-names.js';
import type { ColumnType } from '../../model/schema.js';
import { isArrayType, isNumberType } from '../../model/schema.js';
import type { SegmentScope } from '../scope.js';
import { compileArithmetic } from './arithmetic.js';
import { codedColumns, codedFunction } from './coded-function.js';
import { dictionaryFunction } from './dictionary-function.js';
import { formOf } from './multi-value.js';
import { columnsThere, rowFunction, rowLoop } from './row-function.js';
import { valuesVector } from './values-vector.js';
import type { Vector } from './vector.js';

/**
 * An expression over a segment, as columns of a block: arithmetic by kernels, functions of one dictionary column once per
 * distinct value, of several columns of few values once per combination of these, all else row by row.
 * @param outputType  null: the type the expression has
 * @throws ServiceError `unsupported` where an expression of each value of multi-value columns would have to be a number
 */
export function compileVector(scope: SegmentScope, expression: Expression, outputType: ColumnType | null): Vector {
  const { expression: formed, isMultiValue, typeOf } = formOf(scope, expression);
  const inferred = expressionType(formed, typeOf);
  const type = outputType ?? inferred;
  if (isMultiValue && !isArrayType(type))
    throw new ServiceError(
      'unsupported',
      `an expression of each value of the multi-value column "${[...columnsOfExpression(expression)].join('", "')}" cannot be read as ${type}; array functions take all values of a row`,
    );
  const arithmetic = isNumberType(type) ? compileArithmetic(scope, formed, type) : undefined;
  if (arithmetic !== undefined) return arithmetic;
  const names = columnsThere(scope, formed);
  const bound = rowFunction(scope, formed, names, typeOf);
  const [only] = names;
  const source = only !== undefined && names.length === 1 ? scope.source(only) : undefined;
  if (source?.kind === 'string' && source.column.offsets === 0) return dictionaryFunction(scope, source.column, bound, type);
  const coded = codedColumns(scope, names);
  return coded === undefined ? valuesVector(scope, type, rowLoop(scope, names, bound)) : codedFunction(scope, coded, bound, type);
}

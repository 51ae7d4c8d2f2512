// Chooses the cheapest way to compute an expression over a segment (decision 15).

import { expressionType, type TypeOf } from '../../expression/expression-type.js';
import { ONLY_VALUE } from '../../expression/functions/multi-value.js';
import { call, type Expression } from '../../model/expression.js';
import { type ColumnType, isArrayType, isNumberType, JSON_TYPE, type NumberType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { ValuePool } from '../block/value-pool.js';
import { codedColumns, codedFunction, combinationCount, reachedDictionaryFunction, reachesMost } from './coded-function.js';
import { dictionaryFunction, hasFewTexts, hasSmallDictionary, isLessWork, onlyDictionary } from './dictionary-function.js';
import { elementOf } from './lists/list-calls.js';
import { columnOfLists } from './lists/listed-lists.js';
import { type Formed, formOf } from './multi-value.js';
import { NumberCompiler } from './number/compile-number.js';
import type { Rooms, TruthNode } from './number/node.js';
import { numberVector } from './number/number-vector.js';
import { textVector } from './number/text-choice.js';
import { asTruth } from './number/truth.js';
import { columnsThere, rowFunction, rowLoop } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { listOfTexts, nodeOfTexts, type Texts, textsOfTexts } from './text/text-vector.js';
import { bucketedVector } from './time/bucketed.js';
import { valuesVector } from './values-vector.js';
import type { Vector } from './vector.js';

/**
 * An expression over a segment, as columns of a block: functions of one dictionary column once per distinct value, numbers, conditions
 * and choices by trees of kernels, what is constant within buckets of time once per bucket, functions of several columns of few values
 * once per combination of these, all else row by row.
 * @param outputType  null: the type the expression has
 */
export function compileVector(scope: SegmentScope, expression: Expression, outputType: ColumnType | null): Vector {
  const form = formOf(scope, expression);
  const { typeOf } = form;
  const type = outputType ?? expressionType(form.expression, typeOf);
  const formed = form.isMultiValue && !isArrayType(type) ? onlyValue(form.expression) : form.expression;
  const dictionary = onlyDictionary(scope, formed);
  const isByEntry = dictionary !== undefined && hasSmallDictionary(scope, dictionary.column);
  const kernels = isByEntry ? undefined : compileKernels(scope, formed, typeOf, type);
  if (kernels !== undefined) return kernels;
  if (dictionary === undefined) return bucketedVector(scope, formed, typeOf, type) ?? compileRows(scope, formed, typeOf, type);
  const bound = rowFunction(scope, formed, [dictionary.name], typeOf);
  const { column } = dictionary;
  const readsMost = (scope.readsEveryRow || column.isPart === true) && reachesMost(column, scope.view.rowCount);
  return isByEntry || readsMost
    ? dictionaryFunction(scope, column, bound, { type, expression: formed })
    : reachedDictionaryFunction(scope, column, bound, { type, expression: formed });
}

/** A row has one number, or single string, even where the expression is one of each value: that of its only value, else null. */
function onlyValue(expression: Expression): Expression {
  return call(ONLY_VALUE, expression);
}

/** Rows below which making room for blocks of numbers takes longer than computing row by row. */
const KERNEL_ROWS_MIN = 64;

/** The multi-value column of the lists of an expression, by kernels; undefined where they make none, or rows are few. */
export function multiValueColumn(scope: SegmentScope, { expression, typeOf }: Formed): StringColumnView | undefined {
  if (scope.view.rowCount < KERNEL_ROWS_MIN) return undefined;
  const made = listOfTexts(textsOf(scope, typeOf), expression);
  return made === undefined ? undefined : columnOfLists(made.work, made.list);
}

/** Compiles to a tree of kernels, or `undefined`: rows are few, it does not fit, or a part has loops and a table of all combinations of values is less work. */
function compileKernels(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector | undefined {
  const isMade = type === 'STRING' || type === JSON_TYPE || isNumberType(type) || elementOf({ type }) !== undefined;
  if (!isMade || scope.view.rowCount < KERNEL_ROWS_MIN) return undefined;
  const compiler = compilerOf(scope, typeOf);
  const vector = isNumberType(type)
    ? numbers(compiler, expression, type)
    : type === 'STRING'
      ? strings(compiler, scope, expression, typeOf)
      : arrays(scope, expression, typeOf, type);
  return vector !== undefined && compiler.hasLoops && hasFewCombinations(scope, expression) ? undefined : vector;
}

/** A condition as bits, by kernels alone; undefined for one that is computed in another way. */
export function compileTruth(
  scope: SegmentScope,
  expression: Expression,
): { readonly rooms: Rooms; readonly truth: TruthNode } | undefined {
  const { expression: formed, isMultiValue, typeOf } = formOf(scope, expression);
  if (isMultiValue || scope.view.rowCount < KERNEL_ROWS_MIN) return undefined;
  const dictionary = onlyDictionary(scope, formed);
  if (dictionary !== undefined && hasSmallDictionary(scope, dictionary.column)) return undefined;
  if (expressionType(formed, typeOf) === 'STRING') return undefined;
  const compiler = compilerOf(scope, typeOf);
  const node = compiler.whole(formed);
  if (node === undefined || compiler.hasLoops) return undefined;
  return { rooms: compiler.rooms, truth: asTruth(compiler.rooms, node) };
}

function compilerOf(scope: SegmentScope, typeOf: TypeOf): NumberCompiler {
  return new NumberCompiler(scope, typeOf, {
    otherwise: (part) => compileRows(scope, part, typeOf, expressionType(part, typeOf)),
    ofTexts: (part, rooms) => nodeOfTexts(textsOf(scope, typeOf), rooms, part),
  });
}

function textsOf(scope: SegmentScope, typeOf: TypeOf): Texts {
  return {
    scope,
    typeOf,
    number(expression) {
      const compiler = compilerOf(scope, typeOf);
      const node = compiler.part(expression);
      return node === undefined ? undefined : { node, rooms: compiler.rooms };
    },
    numberOfTexts(expression, ofTexts) {
      const compiler = new NumberCompiler(scope, typeOf, { otherwise: undefined, ofTexts });
      const node = compiler.part(expression);
      return node === undefined ? undefined : { node, rooms: compiler.rooms };
    },
  };
}

function numbers(compiler: NumberCompiler, expression: Expression, type: NumberType): Vector | undefined {
  const node = compiler.whole(expression);
  return node === undefined ? undefined : numberVector(compiler.rooms, node, type);
}

/** Among few texts a choice is one of ids; of many, what their own functions make of them. */
function strings(compiler: NumberCompiler, scope: SegmentScope, expression: Expression, typeOf: TypeOf): Vector | undefined {
  if (expressionType(expression, typeOf) !== 'STRING') return undefined;
  if (hasFewCombinations(scope, expression)) return choiceOfStrings(compiler, expression);
  const ofTexts = (): Vector | undefined => textsOfTexts(textsOf(scope, typeOf), expression);
  return hasFewTexts(scope, expression)
    ? (choiceOfStrings(compiler, expression) ?? ofTexts())
    : (ofTexts() ?? choiceOfStrings(compiler, expression));
}

function arrays(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector | undefined {
  return expressionType(expression, typeOf) === type ? textsOfTexts(textsOf(scope, typeOf), expression) : undefined;
}

function choiceOfStrings(compiler: NumberCompiler, expression: Expression): Vector | undefined {
  const pool = new ValuePool<string>();
  const node = compiler.textChoice(expression, pool);
  return node === undefined ? undefined : textVector(compiler.rooms, node, pool);
}

function hasFewCombinations(scope: SegmentScope, expression: Expression): boolean {
  const coded = codedColumns(scope, columnsThere(scope, expression));
  return coded !== undefined && isLessWork(scope, combinationCount(coded));
}

/** Once for each combination of values where there are few, else row by row. */
function compileRows(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector {
  const names = columnsThere(scope, expression);
  const bound = rowFunction(scope, expression, names, typeOf);
  const coded = codedColumns(scope, names);
  return coded === undefined ? valuesVector(scope, type, rowLoop(scope, names, bound)) : codedFunction(scope, coded, bound, type);
}

// Computes expressions over the single values of multi-value columns.

import { compileExpression } from '../../expression/evaluate.js';
import { expressionType, type TypeOf } from '../../expression/expression-type.js';
import { EACH_VALUE } from '../../expression/functions/apply.js';
import { type EachValue, eachValueOf } from '../../expression/multi-value.js';
import { convert, toTruth, type Value } from '../../expression/value.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsReadBy } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import { type ColumnType, isArrayType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { codedColumns, codedLoop, combinationCount } from './coded-function.js';
import { isLessWork } from './dictionary-function.js';
import { readingElements } from './element-column.js';
import { listedColumn } from './listed-values.js';
import { mappedColumn, type ValueMapping } from './mapped-values.js';
import { columnsThere, rowFunction, rowLoop } from './row-function.js';
import type { SegmentScope, Source } from './scope.js';

/** An expression as one over arrays, where columns of the segment are multi-value. */
export interface Formed extends EachValue {
  readonly typeOf: TypeOf;
}

export function formOf(scope: SegmentScope, expression: Expression): Formed {
  const isMultiValue = (name: string): boolean => multiValue(scope, name) !== undefined;
  const { expression: ofEach, isMultiValue: isOfEach } = eachValueOf(readingElements(scope, expression), isMultiValue);
  const typeOf = (name: string): ColumnType | undefined => (isMultiValue(name) ? 'ARRAY<STRING>' : scope.typeOf(name));
  return { expression: ofEach, isMultiValue: isOfEach, typeOf: Object.assign(typeOf, { known: new Map() }) };
}

export function multiValue(scope: SegmentScope, name: string): StringColumnView | undefined {
  const source = scope.source(name);
  return source.kind === 'string' && source.column.offsets !== 0 ? source.column : undefined;
}

/** An expression of each value of one multi-value column that reads no other: computed once per distinct value. */
export interface ValueFunction {
  readonly column: StringColumnView;
  /** Computes the value; the argument is null for a row without values. */
  readonly compute: (text: string | null) => Value;
}

/** Undefined for an expression of another shape. */
export function valueFunction(scope: SegmentScope, { expression }: Formed): ValueFunction | undefined {
  if (expression.kind === 'column') {
    const column = multiValue(scope, expression.name);
    return column === undefined ? undefined : { column, compute: (text) => text };
  }
  if (expression.kind !== 'call' || expression.function !== EACH_VALUE) return undefined;
  const [lambda, source, ...others] = expression.arguments;
  if (lambda?.kind !== 'lambda' || source?.kind !== 'column' || others.length > 0 || columnsReadBy(lambda).size > 0) return undefined;
  const column = multiValue(scope, source.name);
  if (column === undefined) return undefined;
  const check = (): void => scope.context.check();
  const compute = compileExpression(lambda.body, () => 'STRING', check);
  return { column, compute: (text) => compute(() => text) };
}

/**
 * A virtual column whose rows have several values: an expression of each value of multi-value columns, or one that gives
 * arrays where STRING is asked for. Undefined when it is neither.
 * @param listsOf  the column of the lists that kernels make; undefined where they make none
 */
export function multiValueSource(
  scope: SegmentScope,
  { expression, outputType, keeps }: VirtualColumn,
  listsOf: (formed: Formed) => StringColumnView | undefined,
): Source | undefined {
  const formed = formOf(scope, expression);
  const type = outputType ?? (formed.isMultiValue ? expressionType(expression, (name) => scope.typeOf(name)) : null);
  if (type !== 'STRING') return undefined;
  const inferred = expressionType(formed.expression, formed.typeOf);
  if (!formed.isMultiValue && !isArrayType(inferred)) return undefined;
  const values = valueFunction(scope, formed);
  const kept = values === undefined && keeps === undefined ? keptValues(scope, formed) : undefined;
  if (kept !== undefined) return { kind: 'string', column: mappedColumn(scope, kept.column, kept.mapping) };
  if (values === undefined) {
    const names = columnsThere(scope, formed.expression);
    const bound = rowFunction(scope, formed.expression, names, formed.typeOf);
    const coded = codedColumns(scope, names);
    const made = coded !== undefined && isLessWork(scope, combinationCount(coded)) ? undefined : listsOf(formed);
    return {
      kind: 'string',
      column: made ?? listedColumn(scope, coded === undefined ? rowLoop(scope, names, bound) : codedLoop(scope, coded, bound)),
    };
  }
  const condition = keeps === undefined ? undefined : valueFunction(scope, formOf(scope, keeps));
  const mapped = mappedColumn(scope, values.column, {
    map: (text) => convert(values.compute(text), 'STRING'),
    keeps: (text) => condition === undefined || toTruth(condition.compute(text)) === true,
  });
  return { kind: 'string', column: mapped };
}

/** The values of one multi-value column that a condition on each keeps; undefined for an expression of another shape. */
function keptValues(
  scope: SegmentScope,
  { expression }: Formed,
): { readonly column: StringColumnView; readonly mapping: ValueMapping } | undefined {
  const list = operandOf(expression, ':values', 0);
  const lambda = operandOf(list, 'filter', 0);
  const source = operandOf(operandOf(list, 'filter', 1), 'mv_to_array', 0);
  if (lambda?.kind !== 'lambda' || lambda.parameters.length !== 1 || source?.kind !== 'column' || columnsReadBy(lambda).size > 0)
    return undefined;
  const column = multiValue(scope, source.name);
  if (column === undefined) return undefined;
  const compute = compileExpression(
    lambda.body,
    () => 'STRING',
    () => scope.context.check(),
  );
  return { column, mapping: { map: (text) => text, keeps: (text) => toTruth(compute(() => text)) === true, dropsLoneNull: true } };
}

function operandOf(expression: Expression | undefined, name: string, place: number): Expression | undefined {
  return expression?.kind === 'call' && expression.function === name ? expression.arguments[place] : undefined;
}

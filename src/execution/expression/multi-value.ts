import { compileExpression } from '../../expression/evaluate.js';
import { expressionType } from '../../expression/expression-type.js';
import { EACH_VALUE } from '../../expression/functions/apply.js';
import { eachValueOf } from '../../expression/multi-value.js';
import type { Value } from '../../expression/value.js';
import { convert, toTruth } from '../../expression/value.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Expression } from '../../model/expression.js';
import { columnsOfExpression } from '../../model/plan-names.js';
import type { StringColumnView } from '../../storage/view.js';
import type { SegmentScope, Source } from '../scope.js';
import { mappedColumn } from './mapped-values.js';

/** An expression of each value of one multi-value column that reads no other: computed once per distinct value. */
export interface ValueFunction {
  readonly column: StringColumnView;
  /** Of null, for a row without values. */
  readonly compute: (text: string | null) => Value;
}

/** Undefined for an expression of another shape. */
export function valueFunction(scope: SegmentScope, expression: Expression): ValueFunction | undefined {
  const formed = eachValueOf(expression, (name) => multiValue(scope, name) !== undefined).expression;
  if (formed.kind === 'column') {
    const column = multiValue(scope, formed.name);
    return column === undefined ? undefined : { column, compute: (text) => text };
  }
  if (formed.kind !== 'call' || formed.function !== EACH_VALUE) return undefined;
  const [lambda, source, ...others] = formed.arguments;
  if (lambda?.kind !== 'lambda' || source?.kind !== 'column' || others.length > 0 || columnsOfExpression(lambda).size > 0) return undefined;
  const column = multiValue(scope, source.name);
  if (column === undefined) return undefined;
  const compute = compileExpression(
    lambda.body,
    () => column.type,
    () => scope.context.check(),
  );
  return { column, compute: (text) => compute(() => text) };
}

export function multiValue(scope: SegmentScope, name: string): StringColumnView | undefined {
  const source = scope.source(name);
  return source.kind === 'string' && source.column.offsets !== 0 ? source.column : undefined;
}

/** A virtual column over a multi-value one as a multi-value column; undefined when it is not, or does not give text. */
export function mapMultiValue(scope: SegmentScope, { expression, outputType, keeps }: VirtualColumn): Source | undefined {
  const values = valueFunction(scope, expression);
  if (values === undefined) return undefined;
  if ((outputType ?? expressionType(expression, (name) => scope.typeOf(name))) !== 'STRING') return undefined;
  const condition = keeps === undefined ? undefined : valueFunction(scope, keeps);
  const mapped = mappedColumn(scope, values.column, {
    map: (text) => convert(values.compute(text), 'STRING'),
    keeps: (text) => condition === undefined || toTruth(condition.compute(text)) === true,
  });
  return { kind: 'string', column: mapped };
}

import { compileExpression } from '../../expression/evaluate.js';
import { expressionType } from '../../expression/expression-type.js';
import type { Value } from '../../expression/value.js';
import { convert, toTruth } from '../../expression/value.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Expression } from '../../model/expression.js';
import { columnsOfExpression } from '../../model/plan-names.js';
import type { StringColumnView } from '../../storage/view.js';
import type { SegmentScope, Source } from '../scope.js';
import { mappedColumn } from './mapped-values.js';

/**
 * The multi-value column among those an expression reads, when it reads no other: such an expression is one of each
 * value, computed once per distinct one.
 */
export function onlyMultiValue(scope: SegmentScope, expression: Expression): StringColumnView | undefined {
  const [name, ...others] = columnsOfExpression(expression);
  if (name === undefined || others.length > 0) return undefined;
  return multiValue(scope, name);
}

export function multiValue(scope: SegmentScope, name: string): StringColumnView | undefined {
  const source = scope.source(name);
  return source.kind === 'string' && source.column.offsets !== 0 ? source.column : undefined;
}

/** An expression over one text, as a function of it. */
export function textFunction(scope: SegmentScope, expression: Expression): (text: string | null) => Value {
  const compute = compileExpression(expression, (name) => scope.typeOf(name));
  return (text) => compute(() => text);
}

/** A virtual column over a multi-value one as a multi-value column; undefined when it is not, or does not give text. */
export function mapMultiValue(scope: SegmentScope, { expression, outputType, keeps }: VirtualColumn): Source | undefined {
  const column = onlyMultiValue(scope, expression);
  if (column === undefined) return undefined;
  if ((outputType ?? expressionType(expression, (name) => scope.typeOf(name))) !== 'STRING') return undefined;
  const compute = textFunction(scope, expression);
  const condition = keeps === undefined ? undefined : textFunction(scope, keeps);
  const mapped = mappedColumn(scope, column, {
    map: (text) => convert(compute(text), 'STRING'),
    keeps: (text) => condition === undefined || toTruth(condition(text)) === true,
  });
  return { kind: 'string', column: mapped };
}

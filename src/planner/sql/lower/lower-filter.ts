import type { Filter, FilterValue } from '../../../model/filter.js';
import { mergeRanges } from '../../rules/merge-ranges.js';
import { nativeType } from '../parse/sql-type.js';
import type { CompareOperator } from '../parse/syntax.js';
import { type Bound, toExpression } from '../relation/bound.js';

/**
 * A condition as a filter: comparisons of a column with constants become the filters that can use its dictionary and
 * indexes, anything else an expression.
 */
export function toFilter(condition: Bound): Filter {
  switch (condition.kind) {
    case 'literal':
      if (condition.value === null) break;
      return { kind: condition.value === 0n ? 'false' : 'true' };
    case 'and': {
      const filters = mergeRanges(condition.operands.map(toFilter));
      const [only] = filters;
      return filters.length === 1 && only !== undefined ? only : { kind: 'and', filters };
    }
    case 'or':
      return { kind: 'or', filters: condition.operands.map(toFilter) };
    case 'not':
      return { kind: 'not', filter: toFilter(condition.operand) };
    case 'compare': {
      const { left, right, domain } = condition;
      if (left.kind === 'column' && right.kind === 'literal' && right.value !== null)
        return comparison(left.name, condition.operator, nativeType(domain), right.value);
      break;
    }
    case 'in':
      if (condition.operand.kind === 'column')
        return { kind: 'in', column: condition.operand.name, type: nativeType(condition.domain), values: condition.values };
      break;
    case 'isNull':
      if (condition.operand.kind === 'column') return { kind: 'null', column: condition.operand.name };
      break;
    case 'like':
      if (condition.operand.kind === 'column')
        return { kind: 'like', column: condition.operand.name, pattern: condition.pattern, escape: condition.escape };
      break;
    default:
      break;
  }
  return { kind: 'expression', expression: toExpression(condition) };
}

function comparison(column: string, operator: CompareOperator, type: ReturnType<typeof nativeType>, value: FilterValue): Filter {
  const range = {
    kind: 'range',
    column,
    type,
    ordering: type === 'STRING' ? 'lexicographic' : 'numeric',
    lower: null,
    upper: null,
    lowerStrict: false,
    upperStrict: false,
  } as const;
  switch (operator) {
    case '=':
      return { kind: 'equals', column, type, value };
    case '<>':
      return { kind: 'not', filter: { kind: 'equals', column, type, value } };
    case '<':
    case '<=':
      return { ...range, upper: value, upperStrict: operator === '<' };
    case '>':
    case '>=':
      return { ...range, lower: value, lowerStrict: operator === '>' };
  }
}

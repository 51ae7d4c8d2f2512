// Lowers SQL conditions to filters.

import type { Filter } from '../../../model/filter.js';
import { listOf } from '../../../model/value-list.js';
import { carried, placed } from '../../places/recording.js';
import { mergeRanges } from '../../rules/merge-ranges.js';
import { nativeType } from '../parse/sql-type.js';
import type { CompareOperator } from '../parse/syntax.js';
import { type Bound, type BoundLiteral, isNullLiteral, literal, mapChildren, NULL, readsStrings, toExpression } from '../relation/bound.js';

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
      return negation(condition.operand);
    case 'compare': {
      const { left, right, domain } = condition;
      if (left.kind === 'column' && right.kind === 'literal' && !isNullLiteral(right))
        return comparison(left.name, condition.operator, nativeType(domain), right);
      break;
    }
    case 'in':
      if (condition.operand.kind === 'column') {
        const { name } = condition.operand;
        const type = nativeType(condition.domain);
        return placed(
          condition,
          ({ values }) => listOf(values),
          (values): Filter => ({ kind: 'in', column: name, type, values }),
        );
      }
      break;
    case 'isNull':
      if (condition.operand.kind === 'column') return { kind: 'null', column: condition.operand.name };
      break;
    case 'like':
      if (condition.operand.kind === 'column') {
        const { escape, operand } = condition;
        return carried(condition, 'pattern', (pattern): Filter => ({ kind: 'like', column: operand.name, pattern, escape }));
      }
      break;
    case 'call': {
      const lowered = truthTest(condition) ?? choice(condition);
      if (lowered !== undefined) return lowered;
      break;
    }
    default:
      break;
  }
  return expanded(condition) ?? { kind: 'expression', expression: toExpression(condition) };
}

const OPPOSITES: Readonly<Partial<Record<CompareOperator, CompareOperator>>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

/** NOT of an order of strings is the opposite order: of a multi-value row, too, any value may satisfy it. */
function negation(operand: Bound): Filter {
  const opposite = operand.kind === 'compare' && operand.domain === 'VARCHAR' ? OPPOSITES[operand.operator] : undefined;
  return operand.kind === 'compare' && opposite !== undefined
    ? toFilter({ ...operand, operator: opposite })
    : { kind: 'not', filter: toFilter(operand) };
}

type Call = Extract<Bound, { kind: 'call' }>;

/**
 * IS [NOT] TRUE and IS [NOT] FALSE are about rows: as filters they stay so over a multi-value column, where an expression would
 * ask them of each value.
 */
function truthTest({ function: name, arguments: [operand] }: Call): Filter | undefined {
  if (operand === undefined) return undefined;
  switch (name) {
    case 'istrue':
    case 'isnottrue':
      return inverted({ kind: 'isTrue', filter: toFilter(operand) }, name === 'isnottrue');
    case 'isfalse':
    case 'isnotfalse':
      return inverted({ kind: 'isTrue', filter: { kind: 'not', filter: toFilter(operand) } }, name === 'isnotfalse');
    default:
      return undefined;
  }
}

function inverted(filter: Filter, isInverted: boolean): Filter {
  return isInverted ? { kind: 'not', filter } : filter;
}

/** CASE as a condition, by its branches; undefined where no condition of it can be one about a multi-value row, or there are many. */
function choice({ function: name, type, arguments: parts }: Call): Filter | undefined {
  if (name !== 'case_searched' || type !== 'BOOLEAN' || parts.length > BRANCH_PARTS_MAX) return undefined;
  if (!parts.some((part, index) => index % 2 === 0 && index + 1 < parts.length && readsStrings(part))) return undefined;
  let otherwise = toFilter(parts.length % 2 === 1 ? (parts.at(-1) ?? NULL) : NULL);
  for (let index = parts.length - (parts.length % 2) - 2; index >= 0; index -= 2) {
    const when: Filter = { kind: 'isTrue', filter: toFilter(parts[index] ?? NULL) };
    const then = toFilter(parts[index + 1] ?? NULL);
    otherwise = {
      kind: 'or',
      filters: [
        { kind: 'and', filters: [when, then] },
        { kind: 'and', filters: [{ kind: 'not', filter: when }, otherwise] },
      ],
    };
  }
  return otherwise;
}

/** Each condition is written twice. */
const BRANCH_PARTS_MAX = 33;

/** A comparison of a CASE with a constant, as a CASE of comparisons. */
function expanded(condition: Bound): Filter | undefined {
  const operand =
    condition.kind === 'compare' && condition.right.kind === 'literal'
      ? condition.left
      : condition.kind === 'in' || condition.kind === 'like'
        ? condition.operand
        : undefined;
  if (operand?.kind !== 'call' || operand.function !== 'case_searched') return undefined;
  const compared = (value: Bound): Bound =>
    isNullLiteral(value) ? literal('BOOLEAN', null) : mapChildren(condition, (part) => (part === operand ? value : part));
  const isValue = (index: number): boolean => index % 2 === 1 || index === operand.arguments.length - 1;
  return choice({
    ...operand,
    type: 'BOOLEAN',
    arguments: operand.arguments.map((part, index) => (isValue(index) ? compared(part) : part)),
  });
}

function comparison(column: string, operator: CompareOperator, type: ReturnType<typeof nativeType>, right: BoundLiteral): Filter {
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
      return carried(right, 'value', (value): Filter => ({ kind: 'equals', column, type, value }));
    case '<>':
      return { kind: 'not', filter: carried(right, 'value', (value): Filter => ({ kind: 'equals', column, type, value })) };
    case '<':
    case '<=':
      return carried(right, 'value', (upper): Filter => ({ ...range, upper, upperStrict: operator === '<' }));
    case '>':
    case '>=':
      return carried(right, 'value', (lower): Filter => ({ ...range, lower, lowerStrict: operator === '>' }));
  }
}

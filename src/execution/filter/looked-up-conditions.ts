// Conditions over columns that took the place of a lookup, as filters by the ids of these columns.

import { own } from '../../base/names.js';
import { constantOf } from '../../expression/expression-type.js';
import { isArrayValue } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { listOf } from '../../model/value-list.js';

/**
 * A condition with comparisons of columns and constants as filters, which are true, false and unknown for the same rows.
 * @param isLookedUp  whether a name is that of a STRING column whose rows have one value
 */
export function conditionAsFilter(expression: Expression, isLookedUp: (name: string) => boolean): Filter {
  return filterOf(expression, isLookedUp) ?? { kind: 'expression', expression };
}

type IsLookedUp = (name: string) => boolean;

function filterOf(expression: Expression, isLookedUp: IsLookedUp): Filter | undefined {
  if (expression.kind !== 'call') return undefined;
  const { function: name, arguments: inputs } = expression;
  const [left, right] = inputs;
  if (left === undefined) return undefined;
  switch (name) {
    case '&&':
    case '||': {
      const parts = inputs.map((input) => filterOf(input, isLookedUp));
      if (parts.every((part) => part === undefined)) return undefined;
      const filters = parts.map((part, at): Filter => part ?? { kind: 'expression', expression: inputs[at] ?? left });
      return { kind: name === '&&' ? 'and' : 'or', filters };
    }
    case '!':
    case 'istrue':
    case 'isnottrue': {
      const inner = filterOf(left, isLookedUp);
      if (inner === undefined) return undefined;
      if (name === '!') return { kind: 'not', filter: inner };
      return name === 'istrue' ? { kind: 'isTrue', filter: inner } : { kind: 'not', filter: { kind: 'isTrue', filter: inner } };
    }
    case 'isnull':
    case 'notnull': {
      const column = columnOf(left, isLookedUp);
      if (column === undefined) return undefined;
      return name === 'isnull' ? { kind: 'null', column } : { kind: 'not', filter: { kind: 'null', column } };
    }
    case 'like': {
      const column = columnOf(left, isLookedUp);
      const [pattern, escape] = [textOf(right), inputs.length > 2 ? textOf(inputs[2]) : null];
      return column === undefined || pattern === undefined || escape === undefined ? undefined : { kind: 'like', column, pattern, escape };
    }
    case 'scalar_in_array': {
      const column = columnOf(left, isLookedUp);
      const elements = constantOf(right)?.value ?? null;
      if (column === undefined || !isArrayValue(elements)) return undefined;
      const texts = elements.flatMap((each) => (each === null || typeof each === 'string' ? [each] : []));
      return texts.length < elements.length ? undefined : { kind: 'in', column, type: 'STRING', values: listOf(texts) };
    }
    default:
      return comparisonOf(name, left, right, isLookedUp) ?? comparisonOf(own(TURNED, name) ?? '', right, left, isLookedUp);
  }
}

/** Comparisons with their sides exchanged. */
const TURNED: Readonly<Record<string, string>> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function comparisonOf(
  name: string,
  left: Expression | undefined,
  right: Expression | undefined,
  isLookedUp: IsLookedUp,
): Filter | undefined {
  const [column, value] = [columnOf(left, isLookedUp), textOf(right)];
  if (column === undefined || value === undefined) return undefined;
  const range = { kind: 'range', column, type: 'STRING', ordering: 'lexicographic', lower: null, upper: null } as const;
  const isStrict = { lowerStrict: name === '>', upperStrict: name === '<' };
  switch (name) {
    case '==':
      return { kind: 'equals', column, type: 'STRING', value };
    case '!=':
      return { kind: 'not', filter: { kind: 'equals', column, type: 'STRING', value } };
    case '<':
    case '<=':
      return { ...range, ...isStrict, upper: value };
    case '>':
    case '>=':
      return { ...range, ...isStrict, lower: value };
    default:
      return undefined;
  }
}

function columnOf(expression: Expression | undefined, isLookedUp: IsLookedUp): string | undefined {
  return expression?.kind === 'column' && isLookedUp(expression.name) ? expression.name : undefined;
}

/** A constant string that is not null. */
function textOf(expression: Expression | undefined): string | undefined {
  const value = constantOf(expression)?.value;
  return expression?.kind === 'literal' && (expression.type === null || expression.type === 'STRING') && typeof value === 'string'
    ? value
    : undefined;
}

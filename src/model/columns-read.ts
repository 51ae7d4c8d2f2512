// Collects the columns that expressions and filters read.

import type { Expression } from './expression.js';
import type { Filter } from './filter.js';

/** The columns that an expression reads, virtual ones under their own names. */
export function columnsOfExpression(expression: Expression, into = new Set<string>()): Set<string> {
  switch (expression.kind) {
    case 'literal':
      break;
    case 'column':
      into.add(expression.name);
      break;
    case 'call':
      for (const argument of expression.arguments) columnsOfExpression(argument, into);
      break;
    case 'lambda':
      for (const name of columnsOfExpression(expression.body)) if (!expression.parameters.includes(name)) into.add(name);
  }
  return into;
}

const READ = new WeakMap<Expression, ReadonlySet<string>>();

/** The same, found once for an expression, which is bound to every segment of a query anew. */
export function columnsReadBy(expression: Expression): ReadonlySet<string> {
  const known = READ.get(expression);
  if (known !== undefined) return known;
  const columns = columnsOfExpression(expression);
  READ.set(expression, columns);
  return columns;
}

export function columnsOfFilter(filter: Filter, into = new Set<string>()): Set<string> {
  switch (filter.kind) {
    case 'true':
    case 'false':
      break;
    case 'and':
    case 'or':
      for (const part of filter.filters) columnsOfFilter(part, into);
      break;
    case 'not':
    case 'isTrue':
      columnsOfFilter(filter.filter, into);
      break;
    case 'expression':
      columnsOfExpression(filter.expression, into);
      break;
    default:
      into.add(filter.column);
  }
  return into;
}

// Conditions that compare values of one kind as another.

import type { Filter } from '../../model/filter.js';

/**
 * Whether a condition compares a number as a text, or a text as a number, which rows of results do in a way of their own.
 * @param isText  whether a column has texts
 */
export function comparesMixed(filter: Filter, isText: (column: string) => boolean): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.some((each) => comparesMixed(each, isText));
    case 'not':
    case 'isTrue':
      return comparesMixed(filter.filter, isText);
    case 'equals':
    case 'in':
    case 'range':
    case 'like':
      return (filter.kind === 'like' || filter.type === 'STRING') !== isText(filter.column);
    case 'null':
    case 'true':
    case 'false':
    case 'expression':
      return false;
  }
}

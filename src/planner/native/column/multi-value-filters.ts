// Filters on the single values of multi-value dimensions.

import { compileRegularExpression } from '../../../expression/regular-expression.js';
import { call, type Expression, long, text } from '../../../model/expression.js';

/** Conditions on single values, by which values of multi-value rows are kept (`VirtualColumn.keeps`). */

/** Values in a list; without `isAllowList`, those that are not. */
export function keepsListed(column: string, values: readonly (string | null)[], isAllowList: boolean): Expression {
  const listed = call('value_in', { kind: 'column', name: column }, text(JSON.stringify(values)));
  return isAllowList ? listed : call('!', listed);
}

/** Values that match a regular expression as a whole; null never does. */
export function keepsMatching(column: string, pattern: string): Expression {
  compileRegularExpression(pattern);
  return call('istrue', call('regexp_like', { kind: 'column', name: column }, text(`\\A(?:${pattern})\\z`)));
}

/** Values that start with a text; null with none. */
export function keepsPrefixed(column: string, prefix: string): Expression {
  const value: Expression = { kind: 'column', name: column };
  if (prefix === '') return call('istrue', call('regexp_like', value, text('')));
  return call('istrue', call('==', call('substring', value, long(0n), long(BigInt(prefix.length))), text(prefix)));
}

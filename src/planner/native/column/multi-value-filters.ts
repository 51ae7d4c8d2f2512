import { compileRegularExpression } from '../../../expression/regular-expression.js';
import type { Expression } from '../../../model/expression.js';

/** Conditions on single values, by which values of multi-value rows are kept (`VirtualColumn.keeps`). */

/** Values in a list; without `isAllowList`, those that are not. */
export function keepsListed(column: string, values: readonly (string | null)[], isAllowList: boolean): Expression {
  const listed = call('value_in', { kind: 'column', name: column }, text(JSON.stringify(values)));
  return isAllowList ? listed : call('!', listed);
}

/** Values that match a regular expression as a whole; null matches as the empty text does. */
export function keepsMatching(column: string, pattern: string): Expression {
  compileRegularExpression(pattern);
  return call('regexp_like', textOrEmpty(column), text(`\\A(?:${pattern})\\z`));
}

/** Values that start with a text; null only with the empty one. */
export function keepsPrefixed(column: string, prefix: string): Expression {
  const start = call('substring', textOrEmpty(column), literalLong(0n), literalLong(BigInt(prefix.length)));
  return prefix === '' ? literalLong(1n) : call('istrue', call('==', start, text(prefix)));
}

function textOrEmpty(column: string): Expression {
  return call('nvl', { kind: 'column', name: column }, text(''));
}

function call(name: string, ...operands: readonly Expression[]): Expression {
  return { kind: 'call', function: name, arguments: operands };
}

function text(value: string): Expression {
  return { kind: 'literal', type: 'STRING', value };
}

function literalLong(value: bigint): Expression {
  return { kind: 'literal', type: 'LONG', value };
}

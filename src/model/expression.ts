// Expressions of a plan.

import type { LookupTable } from './lookup/lookup-table.js';
import type { ColumnType } from './schema.js';

/**
 * The one expression tree: the native expression language and SQL both end here. Plain data. Operators are calls
 * under the native language's names (`+`, `==`, `&&`, `timestamp_floor`, `case_searched`, ...).
 * LONG literals are bigint, so that 64 bits survive.
 */
export type Expression =
  /** Arrays and JSON are written as the texts that dictionaries keep of them. The entries of a lookup are an argument of functions that look up. */
  | { readonly kind: 'literal'; readonly type: ColumnType | null; readonly value: string | number | bigint | LookupTable | null }
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'call'; readonly function: string; readonly arguments: readonly Expression[] }
  /** The first argument of `map`, `filter`, `fold`, ...: inside of `body` its parameters hide columns of their names. */
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Expression };

export function call(name: string, ...operands: readonly Expression[]): Expression {
  return { kind: 'call', function: name, arguments: operands };
}

export function text(value: string | null): Expression {
  return { kind: 'literal', type: 'STRING', value };
}

export function long(value: bigint | number): Expression {
  return { kind: 'literal', type: 'LONG', value: BigInt(value) };
}

export function double(value: number | null): Expression {
  return { kind: 'literal', type: 'DOUBLE', value };
}

/** Null of no type. */
export const NULL: Expression = { kind: 'literal', type: null, value: null };

/**
 * The expression with others in place of its calls, the outermost first.
 * @param replaced  undefined: the call stays, with its arguments replaced
 * @param parameters  of the lambdas around it: names that are not columns
 */
export function replacedCalls(
  expression: Expression,
  replaced: (call: Extract<Expression, { kind: 'call' }>, parameters: readonly string[]) => Expression | undefined,
  parameters: readonly string[] = [],
): Expression {
  if (expression.kind === 'lambda') {
    const body = replacedCalls(expression.body, replaced, [...parameters, ...expression.parameters]);
    return body === expression.body ? expression : { ...expression, body };
  }
  if (expression.kind !== 'call') return expression;
  const other = replaced(expression, parameters);
  if (other !== undefined) return other;
  let isSame = true;
  const inputs = expression.arguments.map((argument) => {
    const input = replacedCalls(argument, replaced, parameters);
    isSame &&= input === argument;
    return input;
  });
  return isSame ? expression : { ...expression, arguments: inputs };
}

/** The parts of a condition that must all be true for it to be. */
export function conjunctsOf(condition: Expression): readonly Expression[] {
  return condition.kind === 'call' && condition.function === '&&' ? condition.arguments.flatMap(conjunctsOf) : [condition];
}

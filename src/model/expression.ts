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

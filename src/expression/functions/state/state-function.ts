// Helpers for defining functions over aggregate states.

import type { ColumnType } from '../../../model/schema.js';
import type { Constant, ExpressionFunction, MaybeType } from '../../function.js';
import { toLong, type Value } from '../../value.js';

/**
 * A function of aggregators' states, for post-aggregators only: its name begins with a colon, so that no expression
 * anybody writes can name it. A state that is null is that of no rows.
 */
export function stateFunction(
  name: string,
  type: ColumnType | ((constants: readonly (Constant | undefined)[]) => MaybeType),
  apply: (values: readonly Value[]) => Value,
): ExpressionFunction {
  return {
    name: `:${name}`,
    minArguments: 1,
    maxArguments: Infinity,
    type: typeof type === 'string' ? () => type : (_, constants) => type(constants),
    bind: () => apply,
  };
}

export function isText(value: Value | undefined): value is string {
  return typeof value === 'string';
}

export function integer(value: Value | undefined): number {
  return Number(toLong(value ?? null) ?? 0n);
}

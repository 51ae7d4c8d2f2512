import type { ColumnType } from '../model/schema.js';
import type { Value } from './value.js';

/** A known type, or null: what an unknown column or a bare `null` has, which takes the type of its neighbours. */
export type MaybeType = ColumnType | null;

/** An argument that is the same for every row. */
export interface Constant {
  readonly value: Value;
}

/**
 * One function or operator of the expression language.
 *
 * `bind` is called once for an expression, with the arguments that are constants: patterns, zones and formats are
 * compiled there. The function it gives is called once per row, or once per distinct value, with all arguments in
 * order, and may yield a value of a narrower type than `type` says (`if(x, 1, 2.5)` yields a LONG or a DOUBLE):
 * `convert` of `value.ts` brings it to the declared one. It never throws for a value; what has no answer is null.
 */
export interface ExpressionFunction {
  readonly name: string;
  readonly minArguments: number;
  readonly maxArguments: number;
  /** Throws `query_invalid` for arguments the function is not made for. Of the constants only `cast` makes use. */
  type(argumentTypes: readonly MaybeType[], constants: readonly (Constant | undefined)[]): MaybeType;
  /** Throws `query_invalid` for a constant that is no pattern, unit, zone, ... */
  bind(constants: readonly (Constant | undefined)[]): (values: readonly Value[]) => Value;
}

/** Null when any argument is null, else what `apply` makes of them. */
export function nullIfAnyNull(apply: (values: readonly Value[]) => Value): (values: readonly Value[]) => Value {
  return (values) => (values.includes(null) ? null : apply(values));
}

/** A function of a fixed result type without constants worth compiling, null when any argument is. */
export function plainFunction(
  name: string,
  [minArguments, maxArguments]: readonly [number, number],
  type: ColumnType,
  apply: (values: readonly Value[]) => Value,
): ExpressionFunction {
  const bound = nullIfAnyNull(apply);
  return { name, minArguments, maxArguments, type: () => type, bind: () => bound };
}

/** The type that holds values of all of them: STRING above DOUBLE above LONG; null when none is known. */
export function commonType(types: readonly MaybeType[]): MaybeType {
  if (types.includes('STRING')) return 'STRING';
  if (types.includes('DOUBLE') || types.includes('FLOAT')) return 'DOUBLE';
  return types.includes('LONG') ? 'LONG' : null;
}

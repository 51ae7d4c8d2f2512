// Interface of a function of the expression language.

import type { LookupTable } from '../model/lookup/lookup-table.js';
import { arrayOf, type ColumnType, elementType, isArrayType, isNumberType } from '../model/schema.js';
import type { Value } from './value.js';

/** A known type, or null: what an unknown column or a bare `null` has, which takes the type of its neighbours. */
export type MaybeType = ColumnType | null;

/** An argument that is the same for every row. */
export interface Constant {
  readonly value: Value;
  /** Entries of a lookup, which are not a value: `value` is null. */
  readonly table?: LookupTable;
}

/** Gives the value of an operand for the row at hand. */
export type Operand = () => Value;

/**
 * One function or operator of the expression language.
 *
 * `bind` is called once for an expression, with the arguments that are constants: patterns, zones and formats are
 * compiled there. The function it gives is called once per row, or once per distinct value, with all arguments in
 * order, and may yield a value of a narrower type than `type` says (`if(x, 1, 2.5)` yields a LONG or a DOUBLE):
 * `convert` of `value.ts` brings it to the declared one. It keeps neither the list of arguments nor gives it back: the
 * list is used again for the next row. What has no answer is null; it throws only `resource_limit`, for a value beyond
 * what one may hold, and where the language itself makes an error of a value (`parse_json`).
 */
export interface ExpressionFunction {
  readonly name: string;
  readonly minArguments: number;
  readonly maxArguments: number;
  /** Arguments that take arrays: a multi-value column is one array there, elsewhere each of its values. */
  readonly arrays?: 'all' | readonly number[];
  /** Throws `query_invalid` for arguments the function is not made for. Of the constants only `cast` makes use. */
  type(argumentTypes: readonly MaybeType[], constants: readonly (Constant | undefined)[]): MaybeType;
  /** Throws `query_invalid` for a constant that is no pattern, unit, zone, ... Types tell sketches from other texts. */
  bind(constants: readonly (Constant | undefined)[], argumentTypes?: readonly MaybeType[]): (values: readonly Value[]) => Value;
  /** Instead of `bind`, of functions that do not need all of their arguments: those of them that are not asked for are not computed. */
  readonly bindLazy?: (operands: readonly Operand[]) => Operand;
  /** The function on numbers, for functions from one or two DOUBLEs to a DOUBLE that are null exactly where an argument is. */
  readonly ofDoubles?: (x: number, y: number) => number;
}

/**
 * A function whose first argument is a lambda.
 *
 * `run` is called once per row, with the arguments behind the lambda. It writes the lambda's parameters into
 * `lambda.values` before each `lambda.run()`; what may call it without end is stopped there.
 */
export interface ApplyFunction {
  readonly name: string;
  /** The lambda counts. */
  readonly minArguments: number;
  readonly maxArguments: number;
  /** Number of the lambda's parameters among `argumentCount` arguments. */
  parameterCount(argumentCount: number): number;
  /** `bodyType` is what the lambda's body has for parameters of the given types. */
  types(argumentTypes: readonly MaybeType[], bodyType: (parameters: readonly MaybeType[]) => MaybeType): LambdaTypes;
  run(lambda: BoundLambda, values: readonly Value[], result: MaybeType): Value;
}

export interface LambdaTypes {
  readonly parameters: readonly MaybeType[];
  /** Type of the whole call. */
  readonly result: MaybeType;
}

export interface BoundLambda {
  readonly values: Value[];
  run(): Value;
}

/** Whether it is a list whose only element is null: as a single value it is null. */
function isOneNull(value: Value): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === null;
}

/** Null when any argument is null, else what `apply` makes of them. */
export function nullIfAnyNull(apply: (values: readonly Value[]) => Value): (values: readonly Value[]) => Value {
  return (values) => {
    // A loop: for the one to three values there are, `includes` takes longer than most functions.
    for (let index = 0; index < values.length; index++) {
      const value = values[index];
      if (typeof value === 'object' && (value === null || isOneNull(value))) return null;
    }
    return apply(values);
  };
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

/** A function of a fixed result type that is compiled once for the constants among its arguments. */
export function compiledFunction(
  name: string,
  [minArguments, maxArguments]: readonly [number, number],
  type: ColumnType,
  bind: ExpressionFunction['bind'],
): ExpressionFunction {
  return { name, minArguments, maxArguments, type: () => type, bind };
}

/** A function that computes only those of its arguments that it needs. */
export function lazyFunction(
  name: string,
  [minArguments, maxArguments]: readonly [number, number],
  type: ExpressionFunction['type'],
  bindLazy: (operands: readonly Operand[]) => Operand,
): ExpressionFunction {
  const bind = () => (values: readonly Value[]) => bindLazy(values.map((value) => () => value))();
  return { name, minArguments, maxArguments, type, bind, bindLazy };
}

/**
 * The type that holds values of all of them: STRING above DOUBLE above LONG, arrays above what they may have as
 * elements; COMPLEX types only beside themselves, else STRING. Null when none is known.
 */
export function commonType(types: readonly MaybeType[]): MaybeType {
  const known = types.filter((type) => type !== null);
  if (known.some(isArrayType)) {
    const element = commonType(known.map((type) => (isArrayType(type) ? elementType(type) : type)));
    return element === null ? null : arrayOf(element === 'FLOAT' ? 'DOUBLE' : element);
  }
  const [first = null, ...others] = known;
  if (first === null || (!isNumberType(first) && others.every((type) => type === first))) return first;
  if (!known.every(isNumberType)) return 'STRING';
  return known.includes('DOUBLE') || known.includes('FLOAT') ? 'DOUBLE' : 'LONG';
}

// Folds of expressions whose states are lists of one column's values, which kernels keep.

import type { ExpressionFold } from '../../../model/aggregate-state.js';
import type { Expression } from '../../../model/expression.js';
import { elementType, isArrayType } from '../../../model/schema.js';
import { isSetFunction, type ListFold, listFoldOf } from '../growing-list.js';

/** A list of the values of one column, or a set of them. */
export interface ListShape {
  readonly element: 'STRING' | 'LONG' | 'DOUBLE';
  /** Distinct values in their order; else all, in the order of rows. */
  readonly isSet: boolean;
  /** Name of the function that adds a value, for errors. */
  readonly function: string;
  /** Result of the elements: the array, or one string in which a separator stands between them; undefined: something else. */
  readonly result: { readonly kind: 'array' } | { readonly kind: 'joined'; readonly separator: string } | undefined;
}

/** Elements that are the same 64 bits where they are equal; of doubles zeros are not. */
const SET_ELEMENTS: readonly string[] = ['STRING', 'LONG'];

/**
 * Undefined for folds that are anything else.
 * @param union  the fold of results; a list begins empty
 */
export function listShapeOf(state: ExpressionFold, union: ListFold): ListShape | undefined {
  const { fold, accumulator, fields, valueType, resultType, finalize, isNullUnlessAggregated } = state;
  const [field] = fields;
  if (!isArrayType(valueType) || fields.length !== 1 || !isNullUnlessAggregated) return undefined;
  const element = elementType(valueType);
  if (element !== 'STRING' && element !== 'LONG' && element !== 'DOUBLE') return undefined;
  const added = listFoldOf(fold, accumulator, (column) => (column === accumulator ? valueType : element));
  if (added === undefined || added.field !== field || union.element !== element) return undefined;
  if (added.function !== 'array_append' && added.function !== 'array_set_add') return undefined;
  const isSet = isSetFunction(added.function);
  if (isSet !== isSetFunction(union.function) || (isSet && !SET_ELEMENTS.includes(element))) return undefined;
  const shape = { element, isSet, function: added.function } as const;
  if (finalize === null) return { ...shape, result: resultType === valueType ? { kind: 'array' } : undefined };
  const separator = element === 'STRING' && resultType === 'STRING' && !state.foldsNulls ? separatorOf(finalize) : undefined;
  return { ...shape, result: separator === undefined ? undefined : { kind: 'joined', separator } };
}

/** Separator of `array_to_string(o, separator)`, which may be asked for only of a list that is not empty, as those of groups are. */
function separatorOf(finalize: Expression): string | undefined {
  if (finalize.kind !== 'call') return undefined;
  const [first, second, third] = finalize.arguments;
  if (finalize.function === 'if' && third !== undefined) return isLengthZero(first) ? separatorOf(third) : undefined;
  if (finalize.function !== 'array_to_string' || !isList(first)) return undefined;
  return second?.kind === 'literal' && second.type === 'STRING' && typeof second.value === 'string' ? second.value : undefined;
}

function isLengthZero(condition: Expression | undefined): boolean {
  if (condition?.kind !== 'call' || condition.function !== '==') return false;
  const [length, zero] = condition.arguments;
  const isZero = zero?.kind === 'literal' && Number(zero.value ?? 1) === 0;
  return isZero && length?.kind === 'call' && length.function === 'array_length' && isList(length.arguments[0]);
}

function isList(expression: Expression | undefined): boolean {
  return expression?.kind === 'column' && expression.name === 'o';
}

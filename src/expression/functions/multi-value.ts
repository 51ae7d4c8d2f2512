// Functions over the values of multi-value rows (`mv_...`).

import { ServiceError } from '../../base/errors.js';
import { call, type Expression, NULL, text } from '../../model/expression.js';
import { elementType, isArrayType } from '../../model/schema.js';
import type { ExpressionFunction } from '../function.js';
import { isArrayValue, type Value } from '../value.js';
import { arrayTypeOf, asArray } from './array-value.js';

/*
 * Functions that give the values of a multi-value row. To what surrounds them they are STRINGs, of which there are
 * several; before an expression is bound, `eachValueOf` puts arrays in their place.
 */

const VALUE: Expression = { kind: 'column', name: 'each:value' };

const truth = (condition: Expression): Expression => call('istrue', condition);

/** Values for which `condition` holds, of the first argument. */
function kept(values: Expression, condition: Expression): Expression {
  const list = call('filter', { kind: 'lambda', parameters: ['each:value'], body: condition }, call('mv_to_array', values));
  return call(VALUES, list);
}

/** Not of the language: what a row of a multi-value column has of a list, of which a null alone is no value. */
const VALUES = ':values';

const valuesOf: ExpressionFunction = {
  name: VALUES,
  minArguments: 1,
  maxArguments: 1,
  arrays: 'all',
  type: ([type = null]) => type,
  bind:
    () =>
    ([list = null]): Value =>
      list !== null && isArrayValue(list) && list.length === 1 && list[0] === null ? null : list,
};

type Form = (operands: readonly Expression[]) => Expression;

const FORMS: Readonly<Record<string, readonly [argumentCount: number, form: Form]>> = {
  array_to_mv: [1, ([array = NULL]) => call('cast', array, text('ARRAY<STRING>'))],
  string_to_mv: [2, (operands) => call('string_to_array', ...operands)],
  /** (values, array): those of the array only. */
  mv_filter_only: [2, ([values = NULL, list = NULL]) => kept(values, truth(call('scalar_in_array', VALUE, list)))],
  mv_filter_none: [2, ([values = NULL, list = NULL]) => kept(values, call('!', truth(call('scalar_in_array', VALUE, list))))],
  mv_filter_regex: [2, ([values = NULL, pattern = NULL]) => kept(values, truth(call('regexp_like', VALUE, pattern)))],
  mv_filter_prefix: [
    2,
    ([values = NULL, prefix = NULL]) => kept(values, truth(call('==', call('left', VALUE, call('strlen', prefix)), prefix))),
  ],
};

/** The array that stands for a call, of its arguments. */
export const MULTI_VALUE_FORMS: ReadonlyMap<string, Form> = new Map(Object.entries(FORMS).map(([name, [, form]]) => [name, form]));

const givesValues = Object.entries(FORMS).map(
  ([name, [count]]): ExpressionFunction => ({
    name,
    minArguments: count,
    maxArguments: count,
    arrays: 'all',
    type: () => 'STRING',
    bind() {
      throw new ServiceError('internal', `${name} is bound as it stands, not as an array`);
    },
  }),
);

/** Values of a row, as an array. */
const toArray: ExpressionFunction = {
  name: 'mv_to_array',
  minArguments: 1,
  maxArguments: 1,
  arrays: 'all',
  type: () => 'ARRAY<STRING>',
  bind:
    () =>
    ([values = null]) =>
      values,
};

/** Like `mv_to_array`, with one null where there are no values. */
const harmonizeNulls: ExpressionFunction = {
  ...toArray,
  name: 'mv_harmonize_nulls',
  type: ([type = null]) => arrayTypeOf(type) ?? 'ARRAY<STRING>',
  bind:
    () =>
    ([values = null]): Value => {
      const list = asArray(values);
      return list === null || list.length === 0 ? [null] : list;
    },
};

/** Internal function: the only value of a row, for expressions that take one value, such as a number; null for several. */
export const ONLY_VALUE = ':only_value';

const onlyValue: ExpressionFunction = {
  name: ONLY_VALUE,
  minArguments: 1,
  maxArguments: 1,
  arrays: 'all',
  type: ([type = null]) => (type !== null && isArrayType(type) ? elementType(type) : type),
  bind:
    () =>
    ([values = null]): Value => {
      const list = asArray(values);
      return list?.length === 1 ? (list[0] ?? null) : null;
    },
};

export const MULTI_VALUE_FUNCTIONS: readonly ExpressionFunction[] = [...givesValues, toArray, harmonizeNulls, onlyValue, valuesOf];

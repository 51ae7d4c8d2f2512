// Array functions of the expression language.

import { ServiceError } from '../../base/errors.js';
import { arrayOf, elementType, isArrayType } from '../../model/schema.js';
import { type Constant, commonType, compiledFunction, type ExpressionFunction, type MaybeType } from '../function.js';
import { compileRegularExpression } from '../regular-expression.js';
import { convert, fromTruth, isArrayValue, toDouble, toLong, toText, type Value } from '../value.js';
import { areSameElements, arrayTypeOf, asArray, compareElements, membership, refuseLength } from './array-value.js';
import { refuseTextLength } from './text-length.js';

/** A function of an array, its first argument unless `at` says otherwise; null when the array is. */
function ofArray(
  name: string,
  [minArguments, maxArguments]: readonly [number, number],
  type: ExpressionFunction['type'],
  apply: (array: readonly Value[], others: readonly Value[]) => Value,
  { at = 0, arrays = [at] }: { readonly at?: number; readonly arrays?: ExpressionFunction['arrays'] } = {},
): ExpressionFunction {
  return {
    name,
    minArguments,
    maxArguments,
    arrays,
    type,
    bind: () => (values) => {
      const array = asArray(values[at] ?? null);
      return array === null ? null : apply(array, values);
    },
  };
}

const sameArray: ExpressionFunction['type'] = ([type = null]) => arrayTypeOf(type);
const long: ExpressionFunction['type'] = () => 'LONG';

function elementOf(type: MaybeType): MaybeType {
  return type !== null && isArrayType(type) ? elementType(type) : type;
}

/** array(element, ...): of the type that holds them all. */
const array: ExpressionFunction = {
  name: 'array',
  minArguments: 0,
  maxArguments: Infinity,
  type: (types) => arrayOf(doubleForFloat(commonType(types) ?? 'LONG')),
  bind: () => (values) => [...values],
};

function doubleForFloat<Type extends string>(type: Type): Type | 'DOUBLE' {
  return type === 'FLOAT' ? 'DOUBLE' : type;
}

/** A position in an array; undefined for values that are not positions. */
function position(value: Value | undefined, base: 0 | 1): number | undefined {
  const index = toLong(value ?? null);
  return index === null || index < BigInt(base) || index > 0x7fffffffn ? undefined : Number(index) - base;
}

function elementAt(name: string, base: 0 | 1): ExpressionFunction {
  return ofArray(
    name,
    [2, 2],
    ([type = null]) => elementOf(type),
    (elements, [, index]) => {
      const at = position(index, base);
      return at === undefined ? null : (elements[at] ?? null);
    },
  );
}

/** Null when there is none: a number is in no array of texts, nor a text in one of numbers. */
function positionOf(name: string, base: 0 | 1): ExpressionFunction {
  return ofArray(name, [2, 2], long, (elements, [, wanted = null]) => {
    const at = elements.findIndex(
      (element) => (typeof element === 'string') === (typeof wanted === 'string') && areSameElements(element, wanted),
    );
    return at < 0 ? null : BigInt(at + base);
  });
}

/** The test of membership in an array that is the same for many rows. */
function membershipOf(constant: Constant | undefined): (array: readonly Value[]) => (element: Value) => boolean {
  const elements = constant === undefined ? null : asArray(constant.value);
  if (elements === null) return membership;
  const has = membership(elements);
  return () => has;
}

/** array_contains(array, wanted): 1 when the array has the element, or all elements of an array. */
const contains: ExpressionFunction = {
  name: 'array_contains',
  minArguments: 2,
  maxArguments: 2,
  arrays: 'all',
  type: long,
  bind(_, [, wantedType = null] = []) {
    const isList = wantedType !== null && isArrayType(wantedType);
    return ([array = null, wanted = null]) => {
      const elements = asArray(array);
      if (elements === null) return null;
      // An absent list is not in any array, an absent element may be.
      if (wanted === null && isList) return 0n;
      return fromTruth(
        isArrayValue(wanted) ? wanted.every(membership(elements)) : elements.some((element) => areSameElements(element, wanted)),
      );
    };
  },
};

/** array_overlap(array, array): 1 when some element, or null, is in both; null when the first is null, 0 when only the second is. */
const overlap: ExpressionFunction = {
  name: 'array_overlap',
  minArguments: 2,
  maxArguments: 2,
  arrays: 'all',
  type: long,
  bind([, constant]) {
    const testOf = membershipOf(constant);
    return ([a = null, b = null]) => {
      const [left, right] = [asArray(a), asArray(b)];
      return left === null ? null : fromTruth(right !== null && left.some(testOf(right)));
    };
  },
};

/** scalar_in_array(value, array): 1 when it is there; else 0, of null null. */
const scalarInArray: ExpressionFunction = {
  name: 'scalar_in_array',
  minArguments: 2,
  maxArguments: 2,
  arrays: [1],
  type: long,
  bind([, constant]) {
    const testOf = membershipOf(constant);
    return ([value = null, list = null]) => {
      const elements = asArray(list);
      if (elements === null) return null;
      return testOf(elements)(value) ? 1n : value === null ? null : 0n;
    };
  },
};

const append = ofArray('array_append', [2, 2], sameArray, (elements, [, added = null]) => grown('array_append', elements, [added]));

const prepend = ofArray(
  'array_prepend',
  [2, 2],
  ([, type = null]) => arrayTypeOf(type),
  (elements, [added = null]) => grown('array_prepend', [added], elements),
  { at: 1 },
);

function grown(name: string, first: readonly Value[], second: readonly Value[]): Value {
  refuseLength(name, first.length + second.length);
  return [...first, ...second];
}

/** The type that holds the elements of both arrays; an array without elements, written as it is, has no say. */
const bothArrays: ExpressionFunction['type'] = (types, constants) => {
  const isEmpty = (index: number): boolean => {
    const value = constants[index]?.value ?? null;
    return isArrayValue(value) && value.length === 0;
  };
  const telling = types.filter((_, index) => !isEmpty(index));
  return arrayTypeOf(commonType((telling.length === 0 ? types : telling).map((type) => arrayTypeOf(type))));
};

/** array_concat(array, array): null when either is. */
const concat = ofArray(
  'array_concat',
  [2, 2],
  bothArrays,
  (elements, [, others = null]) => {
    const more = asArray(others);
    return more === null ? null : grown('array_concat', elements, more);
  },
  { arrays: 'all' },
);

/** The distinct elements in order, all of the type that the set has: so equal sets are equal arrays. */
function setAdd(
  name: string,
  { arrays, type }: { readonly arrays: NonNullable<ExpressionFunction['arrays']>; readonly type: typeof sameArray },
  added: (value: Value) => readonly Value[] | null,
): ExpressionFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    arrays,
    type,
    bind(constants, argumentTypes = []) {
      const own = elementOf(type(argumentTypes, constants));
      const inOwnType = (element: Value): Value => (own === null ? element : convert(element, own));
      return ([first = null, second = null]) => {
        const elements = asArray(first);
        const more = added(second);
        if (elements === null || more === null) return null;
        refuseLength(name, elements.length + more.length);
        const sorted = [...elements, ...more].map(inOwnType).sort(compareElements);
        return sorted.filter((element, index) => index === 0 || compareElements(sorted[index - 1] ?? null, element) !== 0);
      };
    },
  };
}

/** array_slice(array, start[, end]): as many elements as asked for, filled up with nulls; null for a start outside. */
const slice = ofArray('array_slice', [2, 3], sameArray, (elements, [, from = null, to]) => {
  // A position that is null is the first one.
  const start = position(from ?? 0n, 0);
  const end = to === undefined ? elements.length : position(to ?? 0n, 0);
  if (start === undefined || end === undefined || start > elements.length || start > end) return null;
  refuseLength('array_slice', end - start);
  return Array.from({ length: end - start }, (_, index) => elements[start + index] ?? null);
});

/** array_to_string(array, separator): null elements are written as the word, a null separator not at all; an array of just one null is null. */
const toStringFunction = ofArray(
  'array_to_string',
  [2, 2],
  () => 'STRING',
  (elements, [, separator = null]) => {
    const between = toText(separator) ?? '';
    if (elements.length === 1 && elements[0] === null) return null;
    return joinedTexts(
      elements.map((element) => toText(element) ?? TEXT_OF_NULL),
      between,
    );
  },
);

/** Text of null among other elements in array_to_string. */
export const TEXT_OF_NULL = 'null';

/** The result of array_to_string, of an array whose elements have these texts. */
export function joinedTexts(texts: readonly string[], between: string): string {
  refuseTextLength(
    'array_to_string',
    texts.reduce((length, text) => length + text.length + between.length, 0),
  );
  return texts.join(between);
}

/** string_to_array(text, pattern): split at a regular expression; empty parts at the end are left out. */
const stringToArray = compiledFunction('string_to_array', [2, 2], 'ARRAY<STRING>', ([, constant]) => {
  if (constant === undefined) throw new ServiceError('query_invalid', 'string_to_array: the pattern must be a constant');
  const pattern = compileRegularExpression(toText(constant.value) ?? '');
  return ([value = null]) => {
    const text = toText(value);
    if (text === null) return null;
    const parts = pattern.split(text);
    refuseLength('string_to_array', parts.length);
    return parts;
  };
});

/** array_quantile(array, fraction): of its numbers, with the value between two taken on the line between them. */
const quantile = ofArray(
  'array_quantile',
  [2, 2],
  () => 'DOUBLE',
  (elements, [, fraction = null]) => {
    const rank = toDouble(fraction);
    const numbers = elements.map(toDouble).filter((number) => number !== null);
    if (rank === null || !(rank >= 0 && rank <= 1)) return null;
    if (numbers.length === 0) return Number.NaN;
    const sorted = Float64Array.from(numbers).sort();
    const at = rank * (sorted.length - 1);
    const [below = 0, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
    return below + (above - below) * (at - Math.floor(at));
  },
);

export const ARRAY_FUNCTIONS: readonly ExpressionFunction[] = [
  array,
  ofArray('array_length', [1, 1], long, (elements) => BigInt(elements.length)),
  elementAt('array_offset', 0),
  elementAt('array_ordinal', 1),
  positionOf('array_offset_of', 0),
  positionOf('array_ordinal_of', 1),
  contains,
  { ...contains, name: 'mv_contains' },
  overlap,
  { ...overlap, name: 'mv_overlap' },
  scalarInArray,
  append,
  prepend,
  concat,
  setAdd('array_set_add', { arrays: [0], type: sameArray }, (value) => [value]),
  setAdd('array_set_add_all', { arrays: 'all', type: bothArrays }, asArray),
  slice,
  toStringFunction,
  stringToArray,
  quantile,
];

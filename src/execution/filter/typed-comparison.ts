// Comparisons with arrays and JSON.

import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { STRING_ORDERINGS } from '../../expression/ordering.js';
import { convert, textOfValue, type Value, valueOfText } from '../../expression/value.js';
import type { Filter } from '../../model/filter.js';
import { type ColumnType, isArrayType, isComplexType, isTextType, JSON_TYPE, type TextType, widestType } from '../../model/schema.js';
import { type FilterValue, valuesOf } from '../../model/value-list.js';
import { asTexts } from '../expression/cast-texts.js';
import type { SegmentScope } from '../expression/scope.js';
import { constantPredicate, type Predicate } from './predicate.js';
import { textPredicate } from './text-predicate.js';

type Comparison = Extract<Filter, { readonly kind: 'equals' | 'in' | 'range' | 'like' }>;

/**
 * Plans a comparison with arrays or JSON on either side:
 * - `texts`: one of the texts that the column's dictionary keeps, made by the filter that is given back;
 * - `converted`: one in another type, of the column's values in that type, and the values of the filter too;
 * - undefined: no such comparison.
 * A scalar equals no array. What has no order, and the older filters that compare strings, are refused by name.
 */
export function typedComparison(
  filter: Comparison,
  column: ColumnType,
):
  | undefined
  | { readonly kind: 'texts'; readonly filter: Comparison }
  | { readonly kind: 'converted'; readonly type: TextType; readonly test: (text: string) => boolean }
  | { readonly kind: 'nothing' } {
  const compared = filter.kind === 'like' ? 'STRING' : filter.type;
  if (!isStructured(column) && !isStructured(compared)) return undefined;
  const type = widestType([column, compared]);
  if (filter.kind === 'like' || !isStructured(compared) || (isComplexType(column) && column !== JSON_TYPE)) {
    if (isArrayType(column) && (filter.kind === 'equals' || filter.kind === 'in')) return { kind: 'nothing' };
    throw new ServiceError('unsupported', `the column "${filter.column}" of type ${column} cannot be compared with a ${compared}`);
  }
  if (!isTextType(type)) return undefined;
  if (type === JSON_TYPE) return { kind: 'converted', type, test: jsonTest(filter, compared) };
  if (filter.kind === 'range' && filter.ordering === 'numeric' && type === 'ARRAY<STRING>')
    return { kind: 'converted', type, test: numericTest(filter) };
  if (column === compared) return { kind: 'texts', filter: asStrings(filter, compared, type) };
  return { kind: 'converted', type, test: arrayTest(asStrings(filter, compared, type)) };
}

export function convertedPredicate(
  scope: SegmentScope,
  column: string,
  type: TextType,
  test: (text: string) => boolean,
  matchNull: boolean,
): Predicate {
  const source = scope.source(column);
  return source.kind === 'missing' ? constantPredicate(matchNull) : textPredicate(scope, asTexts(scope, source, type), test, matchNull);
}

function isStructured(type: ColumnType): boolean {
  return isArrayType(type) || isComplexType(type);
}

type TextComparison = Exclude<Comparison, { readonly kind: 'like' }>;

/** The same comparison of texts, whose order is that of the arrays. */
function asStrings(filter: TextComparison, from: ColumnType, to: TextType): TextComparison {
  const text = (value: FilterValue): string | null => (value === null ? null : textOfValue(valueOfText(String(value), from), to));
  switch (filter.kind) {
    case 'equals':
      return { ...filter, type: 'STRING', value: text(filter.value) };
    case 'in':
      return { ...filter, type: 'STRING', values: valuesOf(filter.values).map(text) };
    case 'range':
      return { ...filter, type: 'STRING', ordering: 'lexicographic', lower: text(filter.lower), upper: text(filter.upper) };
  }
}

function arrayTest(filter: TextComparison): (text: string) => boolean {
  if (filter.kind !== 'range') {
    const wanted = new Set(filter.kind === 'equals' ? [filter.value] : valuesOf(filter.values));
    return (text) => wanted.has(text);
  }
  const { lower, upper, lowerStrict, upperStrict } = filter;
  const above = (text: string): boolean => lower === null || (lowerStrict ? text > String(lower) : text >= String(lower));
  const below = (text: string): boolean => upper === null || (upperStrict ? text < String(upper) : text <= String(upper));
  return (text) => above(text) && below(text);
}

/** Bounds of lists of strings that compare as the numbers they may be. */
function numericTest({
  type,
  lower,
  upper,
  lowerStrict,
  upperStrict,
}: Extract<Filter, { readonly kind: 'range' }>): (text: string) => boolean {
  const elementsOf = (text: FilterValue): readonly Value[] => convert(valueOfText(String(text), type), 'ARRAY<STRING>') as readonly Value[];
  const [from, to] = [lower, upper].map((bound) => (bound === null ? undefined : elementsOf(bound)));
  return (text) => {
    const list = valueOfText(text, 'ARRAY<STRING>') as readonly Value[];
    return (
      (from === undefined || compareAsNumbers(list, from) > (lowerStrict ? 0 : -1)) &&
      (to === undefined || compareAsNumbers(list, to) < (upperStrict ? 0 : 1))
    );
  };
}

/** Element by element, null first; a list that goes on comes after one that ends. */
function compareAsNumbers(left: readonly Value[], right: readonly Value[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [a = null, b = null] = [left[at], right[at]];
    const order =
      a === null || b === null ? Number(a !== null) - Number(b !== null) : Math.sign(STRING_ORDERINGS.numeric(String(a), String(b)));
    if (order !== 0) return order;
  }
  return Math.sign(left.length - right.length);
}

/** Equality of JSON, in which the order of an object's members says nothing. */
function jsonTest(filter: TextComparison, from: ColumnType): (text: string) => boolean {
  if (filter.kind === 'range') throw new ServiceError('unsupported', `the column "${filter.column}" holds JSON, which has no order`);
  const values = filter.kind === 'equals' ? [filter.value] : valuesOf(filter.values);
  const wanted = new Set(
    values.flatMap((value) => (value === null ? [] : [canonicalJson(textOfValue(valueOfText(String(value), from), JSON_TYPE) ?? 'null')])),
  );
  return (text) => wanted.has(canonicalJson(text));
}

function canonicalJson(text: string): string {
  return stringifyJson(sorted(parseJson(text)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)]);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

// Binds a filter to a segment: dictionary look-ups and conversions happen once, here.

import { type LikePattern, likePrefix, likeTest, parseLike } from '../../base/like-pattern.js';
import { compareNumbers, parseNumber, STRING_ORDERINGS } from '../../expression/ordering.js';
import type { Filter } from '../../model/filter.js';
import { type FilterValue, hasNull, valuesOf } from '../../model/value-list.js';
import type { StringColumnView } from '../../storage/view.js';
import { takeBits } from '../block/context.js';
import { lowerBoundText } from '../block/dictionary.js';
import { entriesLike } from '../block/like-entries.js';
import { numbersAsText } from '../expression/convert.js';
import { findListed } from '../expression/listed-texts.js';
import type { SegmentScope } from '../expression/scope.js';
import { type NumberVector, storedNumbers } from '../expression/vector.js';
import { bindCondition } from './condition.js';
import { entryPredicate } from './entry-predicate.js';
import { type Bound, numberOf } from './number-bounds.js';
import { inPredicate, nullPredicate, rangePredicate } from './number-predicate.js';
import { andPredicate, constantPredicate, laterPredicate, NONE, notPredicate, orPredicate, type Predicate } from './predicate.js';
import { type IdSet, idsOf, NO_IDS, stringPredicate, takeIdBits } from './string-predicate.js';
import { textPredicate } from './text-predicate.js';
import { convertedPredicate, typedComparison } from './typed-comparison.js';

/**
 * Binds a filter to a segment: dictionary look-ups and conversions happen here, once.
 * @param matchUnknown  whether rows for which the filter is unknown match too; `not` flips it
 */
export function bindFilter(scope: SegmentScope, filter: Filter, matchUnknown: boolean): Predicate {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return constantPredicate(filter.kind === 'true');
    case 'and':
      return bindAll(scope, filter.filters, matchUnknown);
    case 'or':
      return orPredicate(
        scope.context,
        filter.filters.map((part) => bindFilter(scope, part, matchUnknown)),
        takeBits(scope.arena),
      );
    case 'not':
      return notPredicate(scope.context, bindFilter(scope, filter.filter, !matchUnknown), takeBits(scope.arena));
    case 'isTrue':
      return bindFilter(scope, filter.filter, false);
    case 'expression':
      return bindCondition(scope, scope.readingFields(filter.expression), matchUnknown);
    default:
      return bindComparison(scope, filter, matchUnknown);
  }
}

/** Entries of a dictionary above which a pattern is looked for after conditions over numbers have been asked. */
const ENTRIES_MANY = 1 << 12;
/** Cost behind that of conditions over numbers, before those over strings of rows. */
const LATER_COST = 11;

/**
 * Binds filters that must all hold. Patterns over large dictionaries cost as much as many blocks of rows, so that they wait for a
 * block in which rows pass the others.
 * @param bound  predicates that must hold as well
 */
export function bindAll(
  scope: SegmentScope,
  filters: readonly Filter[],
  matchUnknown: boolean,
  bound: readonly Predicate[] = [],
): Predicate {
  const isLater = filters.map((part) => searchesDictionary(scope, part));
  const first = [...bound, ...filters.flatMap((part, at) => (isLater[at] === true ? [] : [bindFilter(scope, part, matchUnknown)]))];
  if (first.some(({ constant }) => constant === NONE)) return constantPredicate(false);
  const waits = first.some(({ constant }) => constant === undefined);
  const later = filters.flatMap((part, at) => {
    if (isLater[at] !== true) return [];
    const bind = (): Predicate => bindFilter(scope, part, matchUnknown);
    return [waits ? laterPredicate(LATER_COST, bind) : bind()];
  });
  return andPredicate(scope.context, [...first, ...later], takeBits(scope.arena));
}

function searchesDictionary(scope: SegmentScope, filter: Filter): boolean {
  if (filter.kind === 'not') return searchesDictionary(scope, filter.filter);
  if (filter.kind !== 'like') return false;
  const source = scope.source(filter.column);
  // A pattern that cannot be read is refused however few rows there are.
  const { isAll } = likePrefix(parseLike(filter.pattern, filter.escape));
  return source.kind === 'string' && !isAll && source.column.dictionary.count > ENTRIES_MANY;
}

type Comparison = Extract<Filter, { readonly column: string }>;

function bindComparison(scope: SegmentScope, filter: Comparison, matchUnknown: boolean): Predicate {
  const type = scope.typeOf(filter.column);
  const typed = filter.kind === 'null' || type === undefined ? undefined : typedComparison(filter, type);
  const matchNull = filter.kind === 'null' || (filter.kind === 'in' && hasNull(filter.values)) || matchUnknown;
  switch (typed?.kind) {
    case undefined:
      return bindPlain(scope, filter, matchNull);
    case 'texts':
      return bindPlain(scope, typed.filter, matchNull);
    case 'converted':
      return convertedPredicate(scope, filter.column, typed.type, typed.test, matchNull);
    case 'nothing':
      return bindPlain(scope, { kind: 'in', column: filter.column, type: 'STRING', values: [] }, matchNull);
  }
}

/** A comparison of numbers, or of the texts that dictionaries hold. */
function bindPlain(scope: SegmentScope, filter: Comparison, matchNull: boolean): Predicate {
  const source = scope.source(filter.column);
  switch (source.kind) {
    case 'missing':
      return constantPredicate(matchNull);
    case 'string':
      return stringPredicate(scope, source.column, idsMatching(scope, source.column, filter), matchNull);
    case 'number':
      return bindNumbers(scope, storedNumbers(scope, source.column), filter, matchNull);
    case 'computed':
      return source.vector.kind === 'number'
        ? bindNumbers(scope, source.vector, filter, matchNull)
        : textPredicate(scope, source.vector, textTest(filter), matchNull);
  }
}

function bindNumbers(scope: SegmentScope, vector: NumberVector, filter: Comparison, matchNull: boolean): Predicate {
  const compare = numberComparison(scope, filter, matchNull);
  if (compare === undefined) return textPredicate(scope, numbersAsText(scope, vector), textTest(filter), matchNull);
  return vector.entries === undefined ? compare(vector) : entryPredicate(scope, vector.entries, compare);
}

/** A comparison as one of numbers; undefined where it is one of their texts. */
function numberComparison(scope: SegmentScope, filter: Comparison, matchNull: boolean): ((numbers: NumberVector) => Predicate) | undefined {
  const isOneOf =
    (values: readonly (bigint | number)[]) =>
    (numbers: NumberVector): Predicate =>
      inPredicate(scope, numbers, values, matchNull);
  switch (filter.kind) {
    case 'null':
      return nullPredicate;
    case 'equals':
      return isOneOf(filter.value === null ? [] : comparable([filter.value], filter.type));
    case 'in':
      return isOneOf(comparable(valuesOf(filter.values), filter.type));
    case 'range': {
      if (comparesText(filter)) return undefined;
      const lower = boundOf(filter.lower, filter.lowerStrict);
      const upper = boundOf(filter.upper, filter.upperStrict);
      if (lower === null || upper === null) return isOneOf([]);
      return (numbers) => rangePredicate(scope, numbers, { lower, upper }, matchNull);
    }
    case 'like':
      return undefined;
  }
}

/** Values that are numbers; a FLOAT comparison rounds them to float. Other values equal no number. */
function comparable(values: readonly FilterValue[], type: string): (bigint | number)[] {
  return values.flatMap((value) => {
    const number = numberOf(value);
    return number === undefined ? [] : [type === 'FLOAT' ? Math.fround(Number(number)) : number];
  });
}

/** Null: a bound that is not a number, which in a comparison of numbers is unlike every number. */
function boundOf(value: FilterValue, strict: boolean): Bound | undefined | null {
  if (value === null) return undefined;
  const number = numberOf(value);
  return number === undefined ? null : { value: number, strict };
}

function comparesText(filter: Extract<Filter, { kind: 'range' }>): boolean {
  return filter.type === 'STRING' && filter.ordering !== 'numeric';
}

/** The dictionary ids (null apart) for which a comparison is true. */
function idsMatching(scope: SegmentScope, column: StringColumnView, filter: Comparison): IdSet {
  const { memory } = scope.context;
  const { dictionary } = column;
  switch (filter.kind) {
    case 'null':
      return NO_IDS;
    case 'equals':
    case 'in': {
      if (filter.type !== 'STRING') break;
      return idsOf(scope, dictionary.count, findListed(scope, column, filter.kind === 'equals' ? [filter.value] : filter.values));
    }
    case 'range': {
      if (filter.type !== 'STRING' || filter.ordering !== 'lexicographic') break;
      const first = dictionary.hasNull ? 1 : 0;
      const lower =
        filter.lower === null ? first : lowerBoundText(memory, dictionary, String(filter.lower) + (filter.lowerStrict ? NEXT : ''));
      const upper =
        filter.upper === null
          ? dictionary.count
          : lowerBoundText(memory, dictionary, String(filter.upper) + (filter.upperStrict ? '' : NEXT));
      return lower < upper ? { kind: 'range', lower, upper: upper - 1 } : NO_IDS;
    }
    case 'like':
      return idsLike(scope, column, parseLike(filter.pattern, filter.escape));
  }
  const test = textTest(filter);
  const ids: number[] = [];
  scope.texts(column).forEach((text, id) => {
    if (text !== null && test(text)) ids.push(id);
  });
  return idsOf(scope, dictionary.count, ids);
}

function idsLike(scope: SegmentScope, { dictionary }: StringColumnView, parts: LikePattern): IdSet {
  const { lower, upper, bits } = entriesLike(scope, dictionary, parts, () => takeIdBits(scope, dictionary.count));
  if (lower >= upper) return NO_IDS;
  return bits === 0 ? { kind: 'range', lower, upper: upper - 1 } : { kind: 'bits', at: bits };
}

/** Appended to a text it gives the very next text in the order of code units. */
const NEXT = '\u0000';

/** A comparison as a test of one text that is not null. */
function textTest(filter: Comparison): (text: string) => boolean {
  switch (filter.kind) {
    case 'null':
      return () => false;
    case 'equals':
    case 'in': {
      const values = filter.kind === 'equals' ? [filter.value] : valuesOf(filter.values);
      if (filter.type === 'STRING') {
        const texts = new Set(values.flatMap((value) => (value === null ? [] : [String(value)])));
        return (text) => texts.has(text);
      }
      const numbers = comparable(values, filter.type);
      return (text) => {
        const number = parseNumber(text);
        return number !== undefined && numbers.some((value) => value == number);
      };
    }
    case 'range':
      return filter.type === 'STRING' ? textRangeTest(filter) : numberRangeTest(filter);
    case 'like':
      return likeTest(parseLike(filter.pattern, filter.escape));
  }
}

function textRangeTest({
  lower,
  upper,
  lowerStrict,
  upperStrict,
  ordering,
}: Extract<Filter, { kind: 'range' }>): (text: string) => boolean {
  const compare = STRING_ORDERINGS[ordering];
  const [from, to] = [lower === null ? null : String(lower), upper === null ? null : String(upper)];
  return (text) =>
    (from === null || compare(text, from) > (lowerStrict ? 0 : -1)) && (to === null || compare(text, to) < (upperStrict ? 0 : 1));
}

function numberRangeTest({ lower, upper, lowerStrict, upperStrict }: Extract<Filter, { kind: 'range' }>): (text: string) => boolean {
  const [first, last] = [boundOf(lower, lowerStrict), boundOf(upper, upperStrict)];
  if (first === null || last === null) return () => false;
  const [from, to] = [first?.value, last?.value];
  const admits = (order: number, strict: boolean): boolean => (strict ? order > 0 : order >= 0);
  return (text) => {
    const number = parseNumber(text);
    return (
      number !== undefined &&
      (from === undefined || admits(compareNumbers(number, from), lowerStrict)) &&
      (to === undefined || admits(compareNumbers(to, number), upperStrict))
    );
  };
}

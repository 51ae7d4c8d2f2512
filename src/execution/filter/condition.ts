// Binds an expression used as a filter.

import { constantOf } from '../../expression/expression-type.js';
import { isArrayValue, toTruth, valueOfText } from '../../expression/value.js';
import { columnsReadBy } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import { listOf } from '../../model/value-list.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import { compileTruth, compileVector } from '../expression/compile.js';
import { hasSmallDictionary, onlyDictionary } from '../expression/dictionary-function.js';
import { findListed } from '../expression/listed-texts.js';
import { formOf, multiValue, type ValueFunction, valueFunction } from '../expression/multi-value.js';
import type { Rooms, TruthNode } from '../expression/number/node.js';
import type { SegmentScope } from '../expression/scope.js';
import { entryPredicate } from './entry-predicate.js';
import { type Bounds, exactly } from './number-bounds.js';
import { rangePredicate } from './number-predicate.js';
import { andPredicate, constantPredicate, type Match, notPredicate, orPredicate, type Predicate } from './predicate.js';
import { idsOf, stringPredicate } from './string-predicate.js';
import { textPredicate } from './text-predicate.js';
import { timeCondition } from './time-condition.js';

/** An expression used as a filter: true, false or, of null, unknown. */
export function bindCondition(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate {
  const values = valueFunction(scope, formOf(scope, expression));
  if (values !== undefined) return bindValues(scope, values, matchUnknown);
  const ofTime = timeCondition(scope, expression, matchUnknown);
  if (ofTime !== undefined) return ofTime;
  // Operands over multi-value columns can be bound separately only when no two of them name the same column.
  if (expression.kind === 'call' && canPart(scope, expression)) {
    const { function: name, arguments: inputs } = expression;
    const [left] = inputs;
    if (name === '&&' || name === '||') {
      const parts = inputs.map((input) => bindCondition(scope, input, matchUnknown));
      return (name === '&&' ? andPredicate : orPredicate)(scope.context, parts, takeBits(scope.arena));
    }
    if (name === '!' && left !== undefined)
      return notPredicate(scope.context, bindCondition(scope, left, !matchUnknown), takeBits(scope.arena));
  }
  return bindTruth(scope, expression, matchUnknown);
}

/** A condition on the values of a multi-value column: a row matches when any of its values does. */
function bindValues(scope: SegmentScope, { column, compute }: ValueFunction, matchUnknown: boolean): Predicate {
  const matches = (text: string | null): boolean => toTruth(compute(text)) ?? matchUnknown;
  const ids: number[] = [];
  scope.texts(column).forEach((text, id) => {
    if (text !== null && matches(text)) ids.push(id);
  });
  return stringPredicate(scope, column, idsOf(scope, column.dictionary.count, ids), matches(null));
}

/** Whether `any value of (a && b)` is the same as `(any value of a) && b`; a negation is of single values as well. */
function canPart(scope: SegmentScope, { function: name, arguments: inputs }: Extract<Expression, { kind: 'call' }>): boolean {
  const named = inputs.map((input) => [...columnsReadBy(input)].filter((column) => multiValue(scope, column) !== undefined));
  const all = named.flat();
  return all.length === 0 || ((name === '&&' || name === '||') && new Set(all).size === all.length);
}

/** Strings that are looked for in a list: those of a column in its dictionary, those that are made of others each different one once. */
function bindMembership(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate | undefined {
  if (expression.kind !== 'call' || expression.function !== 'scalar_in_array') return undefined;
  const [value, list] = expression.arguments;
  const elements = constantOf(list)?.value ?? null;
  if (value === undefined || !isArrayValue(elements) || elements.some((each) => each !== null && typeof each !== 'string'))
    return undefined;
  const listed = new Set(elements);
  const matchNull = listed.has(null) || matchUnknown;
  if (value.kind === 'column') {
    const source = scope.source(value.name);
    if (source.kind !== 'string' || source.column.type !== 'STRING' || source.column.offsets !== 0) return undefined;
    const texts = [...listed].filter((each) => typeof each === 'string');
    const ids = idsOf(scope, source.column.dictionary.count, findListed(scope, source.column, listOf(texts)));
    return stringPredicate(scope, source.column, ids, matchNull);
  }
  if (value.kind !== 'call') return undefined;
  if ([...columnsReadBy(value)].some((column) => multiValue(scope, column) !== undefined)) return undefined;
  const vector = compileVector(scope, value, null);
  if (vector.kind !== 'string' || vector.type !== 'STRING') return undefined;
  return textPredicate(scope, vector, (text) => listed.has(text), matchNull);
}

/** A comparison of two columns of LONGs that their smallest and largest values decide, as far as rows have both. */
function bindBounds(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 2) return undefined;
  const [left, right] = expression.arguments.map((each) => longBounds(scope, each));
  if (left === undefined || right === undefined) return undefined;
  const truth = decided(expression.function, left, right);
  const isForAll = left.mayBeNull || right.mayBeNull ? truth === matchUnknown : true;
  return truth === undefined || !isForAll ? undefined : constantPredicate(truth);
}

interface LongBounds {
  readonly min: bigint;
  readonly max: bigint;
  readonly mayBeNull: boolean;
}

function longBounds(scope: SegmentScope, expression: Expression): LongBounds | undefined {
  const source = expression.kind === 'column' ? scope.source(expression.name) : undefined;
  if (source?.kind !== 'number' || source.column.type !== 'LONG') return undefined;
  const { min, max, nulls } = source.column;
  return typeof min === 'bigint' && typeof max === 'bigint' ? { min, max, mayBeNull: nulls !== 0 } : undefined;
}

/** Answer of a comparison for all values within the bounds; undefined: not the same of all. */
function decided(name: string, a: LongBounds, b: LongBounds): boolean | undefined {
  switch (name) {
    case '<':
      return a.max < b.min ? true : a.min >= b.max ? false : undefined;
    case '<=':
      return a.max <= b.min ? true : a.min > b.max ? false : undefined;
    case '>':
      return decided('<', b, a);
    case '>=':
      return decided('<=', b, a);
    case '==':
      return a.max < b.min || a.min > b.max ? false : undefined;
    case '!=':
      return a.max < b.min || a.min > b.max ? true : undefined;
    default:
      return undefined;
  }
}

/** A comparison of what is made of a dictionary's entries with a number of the same type: the entries are compared. */
function bindEntries(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 2) return undefined;
  const [made, other] = expression.arguments;
  const number = constantOf(other)?.value;
  if ((typeof number !== 'bigint' && typeof number !== 'number') || Number.isNaN(number)) return undefined;
  const bounds = boundsOf(expression.function, number);
  const column = made?.kind === 'call' ? onlyDictionary(scope, made)?.column : undefined;
  if (bounds === undefined || made === undefined || column === undefined || !hasSmallDictionary(scope, column)) return undefined;
  const vector = compileVector(scope, made, null);
  if (vector.kind !== 'number' || vector.entries === undefined || (vector.type === 'LONG') !== (typeof number === 'bigint'))
    return undefined;
  return entryPredicate(scope, vector.entries, (numbers) => rangePredicate(scope, numbers, bounds, matchUnknown));
}

/** Bounds of the numbers of which a comparison with `value` is true; undefined where they are no range. */
function boundsOf(name: string, value: bigint | number): Bounds | undefined {
  switch (name) {
    case '<':
      return { lower: undefined, upper: { value, strict: true } };
    case '<=':
      return { lower: undefined, upper: { value, strict: false } };
    case '>':
      return { lower: { value, strict: true }, upper: undefined };
    case '>=':
      return { lower: { value, strict: false }, upper: undefined };
    case '==':
      return exactly(value);
    default:
      return undefined;
  }
}

/** Prices of conditions over numbers, and over strings that lie anywhere. */
const NUMBERS_COST = 10;
const TEXTS_COST = 40;

/** Numbers are true above 0, texts when they say `true`, arrays when an element is. */
function bindTruth(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate {
  const looked =
    bindMembership(scope, expression, matchUnknown) ??
    bindBounds(scope, expression, matchUnknown) ??
    bindEntries(scope, expression, matchUnknown);
  if (looked !== undefined) return looked;
  const kernels = compileTruth(scope, expression);
  if (kernels !== undefined) {
    const readsTexts = [...columnsReadBy(expression)].some((column) => scope.source(column).kind === 'string');
    return truthPredicate(kernels.rooms, kernels.truth, matchUnknown, readsTexts ? TEXTS_COST : NUMBERS_COST);
  }
  const vector = compileVector(scope, expression, null);
  if (vector.kind === 'string') {
    const matches = (text: string): boolean => toTruth(valueOfText(text, vector.type)) ?? matchUnknown;
    return textPredicate(scope, vector, matches, matchUnknown);
  }
  return rangePredicate(scope, vector, { lower: { value: 0, strict: true }, upper: { value: Infinity, strict: false } }, matchUnknown);
}

/** The rows for which a condition holds, and those for which it is null where that counts as well. */
function truthPredicate(rooms: Rooms, truth: TruthNode, matchUnknown: boolean, cost: number): Predicate {
  const out = rooms.takeBits();
  const test = (block: Block): Match => {
    const { at, nulls } = truth.run(block);
    if (!matchUnknown || nulls === 0) return at;
    rooms.scope.context.kernels.bitsOr(at, nulls, wordsOf(block), out);
    return out;
  };
  return { constant: undefined, cost, test };
}

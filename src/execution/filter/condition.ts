// Binds an expression used as a filter.

import { own } from '../../base/names.js';
import { toTruth, valueOfText } from '../../expression/value.js';
import { columnsOfExpression } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import { takeBits, wordsOf } from '../block/context.js';
import { compileLongPair } from '../expression/arithmetic.js';
import { compileVector } from '../expression/compile.js';
import { formOf, multiValue, type ValueFunction, valueFunction } from '../expression/multi-value.js';
import type { SegmentScope } from '../expression/scope.js';
import { rangePredicate } from './number-predicate.js';
import { andPredicate, type Match, notPredicate, orPredicate, type Predicate } from './predicate.js';
import { idsOf, stringPredicate } from './string-predicate.js';
import { type Compared, compareTexts } from './text-comparison.js';
import { textPredicate } from './text-predicate.js';

/** Comparisons expressed by the kernel's equal (0), less (1) and less-or-equal (2). */
const COMPARISONS: Readonly<Record<string, { readonly operation: 0 | 1 | 2; readonly isSwapped: boolean; readonly isNegated: boolean }>> = {
  '==': { operation: 0, isSwapped: false, isNegated: false },
  '!=': { operation: 0, isSwapped: false, isNegated: true },
  '<': { operation: 1, isSwapped: false, isNegated: false },
  '<=': { operation: 2, isSwapped: false, isNegated: false },
  '>': { operation: 1, isSwapped: true, isNegated: false },
  '>=': { operation: 2, isSwapped: true, isNegated: false },
};

/** An expression used as a filter: true, false or, of null, unknown. */
export function bindCondition(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate {
  const values = valueFunction(scope, formOf(scope, expression));
  if (values !== undefined) return bindValues(scope, values, matchUnknown);
  // Operands over multi-value columns can be bound separately only when no two of them name the same column.
  if (expression.kind === 'call' && canPart(scope, expression)) {
    const { function: name, arguments: inputs } = expression;
    const [left, right] = inputs;
    if (name === '&&' || name === '||') {
      const parts = inputs.map((input) => bindCondition(scope, input, matchUnknown));
      return (name === '&&' ? andPredicate : orPredicate)(scope.context, parts, takeBits(scope.arena));
    }
    if (name === '!' && left !== undefined)
      return notPredicate(scope.context, bindCondition(scope, left, !matchUnknown), takeBits(scope.arena));
    if (left !== undefined && right !== undefined && inputs.length === 2 && Object.hasOwn(COMPARISONS, name)) {
      const compared = compareLongs(scope, { name, left, right }, matchUnknown) ?? compareTexts(scope, { name, left, right }, matchUnknown);
      if (compared !== undefined) return compared;
    }
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
  const named = inputs.map((input) => [...columnsOfExpression(input)].filter((column) => multiValue(scope, column) !== undefined));
  const all = named.flat();
  return all.length === 0 || ((name === '&&' || name === '||') && new Set(all).size === all.length);
}

/** Undefined unless both sides are arithmetic over longs. */
function compareLongs(scope: SegmentScope, { name, left, right }: Compared, matchUnknown: boolean): Predicate | undefined {
  const comparison = own(COMPARISONS, name);
  if (comparison === undefined) return undefined;
  const { operation, isSwapped, isNegated } = comparison;
  const pair = isSwapped ? compileLongPair(scope, right, left) : compileLongPair(scope, left, right);
  if (pair === undefined) return undefined;
  const { kernels } = scope.context;
  const { a, b, nulls: nullsOf } = pair;
  const isScalar = b.scalar === undefined ? 0 : 1;
  const out = takeBits(scope.arena);
  const test: Predicate['test'] = (block): Match => {
    kernels.compareI64(a.values(block), b.values(block), isScalar, block.rows, operation, out);
    if (isNegated) kernels.bitsNot(out, block.rows, out);
    const nulls = nullsOf(block);
    if (nulls === 0) return out;
    if (matchUnknown) kernels.bitsOr(out, nulls, wordsOf(block), out);
    else kernels.bitsAndNot(out, nulls, wordsOf(block), out);
    return out;
  };
  return { constant: undefined, cost: 10, test };
}

/** Numbers are true above 0, texts when they say `true`, arrays when an element is. */
function bindTruth(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate {
  const vector = compileVector(scope, expression, null);
  if (vector.kind === 'string') {
    const matches = (text: string): boolean => toTruth(valueOfText(text, vector.type)) ?? matchUnknown;
    return textPredicate(scope, vector, matches, matchUnknown);
  }
  return rangePredicate(scope, vector, { lower: { value: 0, strict: true }, upper: undefined }, matchUnknown);
}

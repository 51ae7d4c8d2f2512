// Compiles expressions over numbers to trees of loops over batches.

import { constantOf, inferType, type TypeOf } from '../../../expression/expression-type.js';
import { FUNCTIONS, findApplyFunction } from '../../../expression/functions.js';
import { convert } from '../../../expression/value.js';
import { columnsOfExpression } from '../../../model/columns-read.js';
import { call, type Expression } from '../../../model/expression.js';
import { isNumberType } from '../../../model/schema.js';
import { onlyDictionary, rememberedResults } from '../dictionary-function.js';
import { rowFunction } from '../row-function.js';
import type { SegmentScope } from '../scope.js';
import { type NumberVector, type StringPool, storedNumbers } from '../vector.js';
import { chosen, firstKnown, logical, negated, question } from './choice.js';
import { columnBatch, constantBatch, dictionaryBatch, kept, mapped, truthBatch } from './leaf.js';
import type { NumberBatch } from './number-batch.js';
import { compared, computed, extreme } from './operators.js';
import { chosenText, constantText, dictionaryText, firstKnownText, type TextBatch } from './text-batch.js';

/** Each node holds a block of numbers. */
const NODES_MAX = 64;

/** Compiles a condition that is not an operator on numbers into a vector of 1 and 0. */
export type OtherTruth = (expression: Expression) => NumberVector;

type Call = Extract<Expression, { kind: 'call' }>;

/** Functions of the language that give 1 and 0 only. */
const TRUTHS: ReadonlySet<string> = new Set(
  (
    '== != < <= > >= like regexp_like contains_string icontains_string isnull notnull istrue isnottrue isfalse isnotfalse notdistinctfrom ' +
    'isdistinctfrom array_contains array_overlap scalar_in_array any all value_in ipv4_match ipv6_match'
  ).split(' '),
);

/**
 * Expressions over a segment as trees of loops over numbers. Every part of an expression is a node of its own, or a
 * function of one dictionary column, or a condition that is computed in another way.
 */
export class BatchCompiler {
  readonly #scope: SegmentScope;
  readonly #typeOf: TypeOf;
  readonly #otherTruth: OtherTruth;
  #nodes = 0;

  constructor(scope: SegmentScope, typeOf: TypeOf, otherTruth: OtherTruth) {
    this.#scope = scope;
    this.#typeOf = typeOf;
    this.#otherTruth = otherTruth;
  }

  /** Undefined for an expression that does not fit, or is no number. */
  number(expression: Expression): NumberBatch | undefined {
    if (++this.#nodes > NODES_MAX) return undefined;
    if (expression.kind === 'lambda') return undefined;
    const type = inferType(expression, this.#typeOf);
    if (type !== null && !isNumberType(type)) return undefined;
    if (expression.kind === 'literal') return constantBatch(constantOf(expression)?.value ?? null);
    if (expression.kind === 'column') return this.#column(expression.name);
    const dictionary = onlyDictionary(this.#scope, expression);
    if (dictionary !== undefined) {
      const bound = rowFunction(this.#scope, expression, [dictionary.name], this.#typeOf);
      const results = rememberedResults(this.#scope, dictionary.column, bound, expression);
      return dictionaryBatch(this.#scope, dictionary.column, results, type === 'LONG' ? 'LONG' : 'DOUBLE');
    }
    return (
      this.#call(expression) ??
      (this.#nodes > 1 && TRUTHS.has(expression.function) ? truthBatch(this.#scope, this.#otherTruth(expression)) : undefined)
    );
  }

  /** A choice among texts, as ids into `pool`; undefined for what is no choice or chooses among what is no constant and no function of a dictionary. */
  textChoice(expression: Expression, pool: StringPool): TextBatch | undefined {
    if (expression.kind !== 'call' || ++this.#nodes > NODES_MAX) return undefined;
    const { function: name, arguments: operands } = expression;
    if (name === 'nvl' || name === 'coalesce') {
      const texts = this.#texts(operands, pool);
      return texts === undefined ? undefined : firstKnownText(texts);
    }
    const branches = choiceOf(expression);
    if (branches === undefined) return undefined;
    const conditions = this.#all(branches.filter((_, index) => index % 2 === 0 && index + 1 < branches.length));
    const results = this.#texts(
      branches.filter((_, index) => index % 2 === 1),
      pool,
    );
    const last = branches.length % 2 === 1 ? branches.at(-1) : undefined;
    const otherwise = last === undefined ? constantText(0) : this.#text(last, pool);
    return conditions === undefined || results === undefined || otherwise === undefined
      ? undefined
      : chosenText(conditions, results, otherwise);
  }

  #texts(expressions: readonly Expression[], pool: StringPool): readonly TextBatch[] | undefined {
    const texts = expressions.map((each) => this.#text(each, pool));
    return texts.every((each) => each !== undefined) ? texts : undefined;
  }

  #text(expression: Expression, pool: StringPool): TextBatch | undefined {
    if (++this.#nodes > NODES_MAX) return undefined;
    if (expression.kind === 'literal') return constantText(pool.idOf(convert(constantOf(expression)?.value ?? null, 'STRING')));
    const dictionary = onlyDictionary(this.#scope, expression);
    if (dictionary === undefined || inferType(expression, this.#typeOf) !== 'STRING') return this.textChoice(expression, pool);
    const { name, column } = dictionary;
    const results = rememberedResults(this.#scope, column, rowFunction(this.#scope, expression, [name], this.#typeOf), expression);
    return dictionaryText(
      this.#scope,
      column,
      Uint32Array.from(results, (result) => pool.idOf(convert(result, 'STRING'))),
    );
  }

  #column(name: string): NumberBatch | undefined {
    const source = this.#scope.source(name);
    if (source.kind === 'missing') return constantBatch(null);
    if (source.kind === 'number') return columnBatch(this.#scope, storedNumbers(this.#scope, source.column));
    return source.kind === 'computed' && source.vector.kind === 'number' ? columnBatch(this.#scope, source.vector) : undefined;
  }

  #all(expressions: readonly Expression[]): readonly NumberBatch[] | undefined {
    const batches: NumberBatch[] = [];
    for (const expression of expressions) {
      const batch = this.number(expression);
      if (batch === undefined) return undefined;
      batches.push(batch);
    }
    return batches;
  }

  #call(call: Call): NumberBatch | undefined {
    const name = call.function;
    if (findApplyFunction(name) !== undefined || columnsOfExpression(call).size === 0) return undefined;
    const choice = choiceOf(call);
    if (choice !== undefined) return this.#choice(choice);
    if (name === 'cast') return this.#cast(call);
    const operands = this.#all(call.arguments);
    const [a, b] = operands ?? [];
    if (operands === undefined || a === undefined) return undefined;
    if (name === 'nvl' || name === 'coalesce') return firstKnown(operands);
    if (name === 'greatest' || name === 'least') return extreme(operands, name === 'greatest' ? 1 : -1);
    if (b !== undefined && operands.length === 2) return this.#ofTwo(name, a, b);
    return operands.length === 1 ? this.#ofOne(name, a) : undefined;
  }

  #ofTwo(name: string, a: NumberBatch, b: NumberBatch): NumberBatch | undefined {
    if (name === '&&' || name === '||') return logical(a, b, name === '||');
    const apply = FUNCTIONS.get(name)?.ofDoubles;
    return compared(name, a, b) ?? computed(name, a, b) ?? (apply === undefined ? undefined : mapped([a, b], apply));
  }

  #ofOne(name: string, a: NumberBatch): NumberBatch | undefined {
    switch (name) {
      case '!':
        return negated(a);
      case '-':
        return kept(a, { low: -a.range.high, high: -a.range.low }, a.type === 'LONG' ? (x) => 0 - x : (x) => -x);
      case 'abs':
        return kept(a, { low: 0, high: Math.max(Math.abs(a.range.low), Math.abs(a.range.high)) }, Math.abs);
      case 'isnull':
        return question(a, (truth) => truth === null);
      case 'notnull':
        return question(a, (truth) => truth !== null);
      case 'istrue':
        return question(a, (truth) => truth === true);
      case 'isnottrue':
        return question(a, (truth) => truth !== true);
      case 'isfalse':
        return question(a, (truth) => truth === false);
      case 'isnotfalse':
        return question(a, (truth) => truth !== false);
      default: {
        const apply = FUNCTIONS.get(name)?.ofDoubles;
        return apply === undefined ? undefined : mapped([a], (x) => apply(x, 0));
      }
    }
  }

  #choice(operands: readonly Expression[]): NumberBatch | undefined {
    const conditions = this.#all(operands.filter((_, index) => index % 2 === 0 && index + 1 < operands.length));
    const results = this.#all(operands.filter((_, index) => index % 2 === 1));
    const last = operands.length % 2 === 1 ? operands.at(-1) : undefined;
    const otherwise = last === undefined ? undefined : this.number(last);
    if (conditions === undefined || results === undefined || (last !== undefined && otherwise === undefined)) return undefined;
    return chosen(conditions, results, otherwise);
  }

  #cast({ arguments: [operand, to] }: Call): NumberBatch | undefined {
    const type = String(constantOf(to)?.value).toUpperCase();
    const batch = operand === undefined ? undefined : this.number(operand);
    if (batch === undefined || (type !== 'DOUBLE' && type !== batch.type)) return undefined;
    return { ...batch, type };
  }
}

/** Condition, result, ..., [else] of a call that chooses. */
function choiceOf({ function: name, arguments: operands }: Call): readonly Expression[] | undefined {
  if (name === 'if' || name === 'case_searched') return operands;
  const [subject, ...cases] = operands;
  if (name !== 'case_simple' || subject === undefined) return undefined;
  const isCandidate = (index: number): boolean => index % 2 === 0 && index + 1 < cases.length;
  return cases.map((each, index) => (isCandidate(index) ? call('==', subject, each) : each));
}

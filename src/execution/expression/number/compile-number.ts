// Compiles expressions over numbers, and choices among strings, to trees of kernels.

import { compileExpression } from '../../../expression/evaluate.js';
import { constantOf, expressionType, inferType, type TypeOf } from '../../../expression/expression-type.js';
import { FUNCTIONS, findApplyFunction } from '../../../expression/functions.js';
import { convert, type Value } from '../../../expression/value.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import { call, type Expression } from '../../../model/expression.js';
import { isNumberType } from '../../../model/schema.js';
import { ValuePool } from '../../block/value-pool.js';
import { dictionaryFunction, hasFewTexts, hasSmallDictionary, onlyDictionary } from '../dictionary-function.js';
import { rowFunction } from '../row-function.js';
import type { SegmentScope } from '../scope.js';
import { bucketedVector, longColumn } from '../time/bucketed.js';
import { timeCall } from '../time/call.js';
import { timeNumbers } from '../time/function.js';
import { monthsCall } from '../time/months.js';
import type { NumberVector, StringPool, Vector } from '../vector.js';
import { asLong, laneOf, MAP, mappedBy } from './arithmetic.js';
import { chosen } from './choice.js';
import { kernelFunction } from './functions.js';
import { constantNode, mapped, storedNode, vectorNode } from './leaf.js';
import { listCall } from './list.js';
import { inLane, type Node, type NumberNode, Rooms, type TruthNode } from './node.js';
import { numberVector } from './number-vector.js';
import { chosenText, constantText, dictionaryText, firstKnownText, mappedText, numberOfText, type TextNode } from './text-choice.js';
import { asTruth } from './truth.js';

/** Each node may hold a block of numbers. */
const NODES_MAX = 256;

type Call = Extract<Expression, { kind: 'call' }>;

/** Functions that may refuse a value: where only some rows ask for them, they are asked for these alone. */
const REFUSING: ReadonlySet<string> = new Set(['value_of_one_row', 'parse_json', 'json_object', 'json_merge']);

/** Other ways to compile a part of an expression. */
export interface OtherWays {
  /** Any that there is; undefined where no column may be read, as the expression is over the texts that `ofTexts` compiles. */
  readonly otherwise: ((expression: Expression) => Vector) | undefined;
  /** Numbers and conditions made of texts by kernels; undefined where there are none. */
  ofTexts(expression: Expression, rooms: Rooms): Node | undefined;
}

/**
 * Expressions over a segment as trees of kernels: every part is a node, a function of one dictionary column, or a column computed in
 * another way.
 */
export class NumberCompiler {
  readonly rooms: Rooms;
  /** Whether a part is computed row by row: a loop over arrays, or another way that takes longer than kernels. */
  hasLoops = false;
  readonly #scope: SegmentScope;
  readonly #typeOf: TypeOf;
  readonly #ways: OtherWays;
  readonly #readsColumns: boolean;
  readonly #columns = new Map<string, NumberNode>();
  #nodes = 0;

  constructor(scope: SegmentScope, typeOf: TypeOf, ways: OtherWays) {
    this.rooms = new Rooms(scope);
    this.#scope = scope;
    this.#typeOf = typeOf;
    this.#ways = ways;
    this.#readsColumns = ways.otherwise !== undefined;
  }

  /** The expression as a whole; undefined unless it is a number whose outermost function has a kernel or a loop. */
  whole(expression: Expression): Node | undefined {
    return expression.kind === 'call' ? this.#call(expression) : this.#part(expression);
  }

  /** The expression in whichever way there is; undefined where it is not a number. */
  part(expression: Expression): Node | undefined {
    return this.#part(expression);
  }

  /** A choice among strings, as ids into `pool`; undefined unless it chooses among constants and functions of a dictionary. */
  textChoice(expression: Expression, pool: StringPool): TextNode | undefined {
    if (expression.kind !== 'call' || ++this.#nodes > NODES_MAX) return undefined;
    const { function: name, arguments: operands } = expression;
    if (name === 'nvl' || name === 'coalesce') {
      const texts = this.#texts(operands, pool);
      return texts === undefined ? undefined : firstKnownText(this.rooms, texts);
    }
    const branches = choiceOf(expression) ?? this.#extremeOf(expression);
    if (branches === undefined) return undefined;
    const conditions = this.#conditions(branches);
    const results = this.#texts(resultsOf(branches), pool);
    const last = elseOf(branches);
    const otherwise = last === undefined ? constantText(this.rooms, 0) : this.#text(last, pool);
    if (conditions === undefined || results === undefined || otherwise === undefined) return undefined;
    return chosenText(this.rooms, conditions, results, otherwise);
  }

  /** LEAST and GREATEST of two strings as a choice by their order; what is null is not chosen. */
  #extremeOf({ function: name, arguments: [left, right, ...others] }: Call): readonly Expression[] | undefined {
    if ((name !== 'least' && name !== 'greatest') || left === undefined || right === undefined || others.length > 0) return undefined;
    if (inferType(left, this.#typeOf) !== 'STRING' || inferType(right, this.#typeOf) !== 'STRING') return undefined;
    return [call(name === 'least' ? '<=' : '>=', left, right), left, call('isnull', right), left, right];
  }

  /** A function of nothing but one choice among strings: computed once for each of these, as `compute` gives it. */
  #ofChoice(
    expression: Expression,
  ): { readonly node: TextNode; readonly strings: StringPool; readonly compute: (text: string | null) => Value } | undefined {
    if (expression.kind !== 'call' || mayRefuse(expression)) return undefined;
    const [inner, ...others] = expression.arguments.filter((argument) => columnsReadBy(argument).size > 0);
    if (inner?.kind !== 'call' || others.length > 0 || inferType(inner, this.#typeOf) !== 'STRING') return undefined;
    // A function of one dictionary is computed by entry as a whole, without a string in between that is kept.
    if (onlyDictionary(this.#scope, inner) !== undefined) return undefined;
    const strings = new ValuePool<string>();
    const node = this.#text(inner, strings);
    if (node === undefined) return undefined;
    const outer = call(expression.function, ...expression.arguments.map((argument) => (argument === inner ? CHOSEN : argument)));
    const read = compileExpression(
      outer,
      () => 'STRING',
      () => this.#scope.context.check(),
    );
    return { node, strings, compute: (text) => read(() => text) };
  }

  #textOfChoice(expression: Expression, pool: StringPool): TextNode | undefined {
    if (inferType(expression, this.#typeOf) !== 'STRING') return undefined;
    const choice = this.#ofChoice(expression);
    return choice === undefined
      ? undefined
      : mappedText(this.rooms, choice.node, choice.strings, (text) => pool.idOf(convert(choice.compute(text), 'STRING')));
  }

  /** Among few texts a choice is one of ids, and what is made of it one number for each text. */
  #ofTexts(call: Call): Node | undefined {
    if (!this.#readsColumns) return this.#ways.ofTexts(call, this.rooms);
    const byIds = hasFewTexts(this.#scope, call) ? this.#numberOfChoice(call) : undefined;
    return byIds ?? this.#ways.ofTexts(call, this.rooms) ?? this.#numberOfChoice(call);
  }

  #numberOfChoice(expression: Call): NumberNode | undefined {
    const type = inferType(expression, this.#typeOf);
    const choice = type === null || !isNumberType(type) ? undefined : this.#ofChoice(expression);
    if (choice === undefined) return undefined;
    const as = type === 'LONG' ? 'LONG' : 'DOUBLE';
    return numberOfText(
      this.rooms,
      choice.node,
      choice.strings.values.map((text) => convert(choice.compute(text), as)),
      as,
    );
  }

  #texts(expressions: readonly Expression[], pool: StringPool): readonly TextNode[] | undefined {
    return allOf(expressions, (each) => this.#text(each, pool));
  }

  #text(expression: Expression, pool: StringPool): TextNode | undefined {
    if (++this.#nodes > NODES_MAX) return undefined;
    if (expression.kind === 'literal') return constantText(this.rooms, pool.idOf(convert(constantOf(expression)?.value ?? null, 'STRING')));
    const dictionary = onlyDictionary(this.#scope, expression);
    if (dictionary === undefined || inferType(expression, this.#typeOf) !== 'STRING')
      return this.textChoice(expression, pool) ?? this.#textOfChoice(expression, pool);
    const { name, column } = dictionary;
    return dictionaryText(this.rooms, column, rowFunction(this.#scope, expression, [name], this.#typeOf), expression, pool);
  }

  #parts(expressions: readonly Expression[]): readonly Node[] | undefined {
    return allOf(expressions, (each) => this.#part(each));
  }

  /** A string is true when it says so, which is another matter than the number that it is read as. */
  #conditions(branches: readonly Expression[]): readonly TruthNode[] | undefined {
    return allOf(
      branches.filter((_, index) => index % 2 === 0 && index + 1 < branches.length),
      (condition) => {
        const node = inferType(condition, this.#typeOf) === 'STRING' ? undefined : this.#part(condition);
        return node === undefined ? undefined : asTruth(this.rooms, node);
      },
    );
  }

  /** A part of a number or a condition: of a string, the number that it is read as. */
  #part(expression: Expression): Node | undefined {
    if (++this.#nodes > NODES_MAX || expression.kind === 'lambda') return undefined;
    const type = inferType(expression, this.#typeOf);
    const isString = type === 'STRING';
    if (type !== null && !isNumberType(type) && !isString) return undefined;
    if (expression.kind !== 'column' && columnsReadBy(expression).size === 0) return this.#constant(expression, isString);
    if (!this.#readsColumns) return isString || expression.kind !== 'call' ? undefined : this.#call(expression);
    const dictionary = onlyDictionary(this.#scope, expression);
    if (dictionary !== undefined) {
      const kernels = hasSmallDictionary(this.#scope, dictionary.column) || expression.kind !== 'call' ? undefined : this.#call(expression);
      if (kernels !== undefined) return kernels;
      const bound = rowFunction(this.#scope, expression, [dictionary.name], this.#typeOf);
      const as = type === 'LONG' ? 'LONG' : 'DOUBLE';
      return this.#vector(dictionaryFunction(this.#scope, dictionary.column, bound, { type: as, expression }));
    }
    if (isString) return undefined;
    if (expression.kind === 'column') return this.#column(expression.name);
    return expression.kind === 'call' ? (this.#call(expression) ?? this.#other(expression)) : undefined;
  }

  #other(expression: Expression): Node | undefined {
    if (mayRefuse(expression) || this.#ways.otherwise === undefined) return undefined;
    const bucketed = bucketedVector(this.#scope, expression, this.#typeOf, expressionType(expression, this.#typeOf));
    if (bucketed !== undefined) return this.#vector(bucketed);
    this.hasLoops = true;
    return this.#vector(this.#ways.otherwise(expression));
  }

  #constant(expression: Expression, isString: boolean): NumberNode | undefined {
    if (mayRefuse(expression)) return undefined;
    const compute = compileExpression(
      expression,
      () => undefined,
      () => this.#scope.context.check(),
    );
    const value = compute(() => null);
    return constantNode(this.rooms, isString ? convert(value, 'DOUBLE') : value);
  }

  #vector(vector: Vector): NumberNode | undefined {
    return vector.kind === 'number' ? vectorNode(this.rooms, vector) : undefined;
  }

  #column(name: string): NumberNode | undefined {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    const source = this.#scope.source(name);
    if (source.kind === 'missing') return constantNode(this.rooms, null);
    if (source.kind === 'number') return storedNode(this.rooms, source.column);
    const node = source.kind === 'computed' ? this.#vector(source.vector) : undefined;
    if (node !== undefined) this.#columns.set(name, node);
    return node;
  }

  #call(call: Call): Node | undefined {
    const name = call.function;
    if (findApplyFunction(name) !== undefined || columnsReadBy(call).size === 0) return undefined;
    const choice = choiceOf(call);
    if (choice !== undefined) return this.#choice(call, choice);
    if (name === 'cast') return this.#cast(call);
    const isSame = this.#samenessOf(call);
    if (isSame !== undefined) return this.#part(isSame);
    const ofColumns = this.#readsColumns ? this.#ofColumns(call) : undefined;
    if (ofColumns !== undefined) return ofColumns;
    const kernel = kernelFunction(name);
    const apply = FUNCTIONS.get(name)?.ofDoubles;
    if ((kernel === undefined && apply === undefined) || !this.#isOfNumbers(call)) return this.#ofTexts(call);
    const operands = this.#parts(call.arguments);
    if (operands === undefined) return undefined;
    const made = kernel?.(this.rooms, operands) ?? this.#loop(operands, apply);
    return made === undefined ? undefined : this.#typed(call, made);
  }

  /** Functions of instants and of lists. */
  #ofColumns(call: Call): Node | undefined {
    const ofTime = inferType(call, this.#typeOf) === 'LONG' ? timeNumbers(this.#scope, call) : undefined;
    const ofInstants = ofTime ?? timeCall(this.#scope, call, (operand) => this.#longs(operand));
    if (ofInstants !== undefined) return this.#vector(ofInstants);
    return monthsCall(this.rooms, call, (operand) => this.#longPart(operand)) ?? listCall(this.rooms, call);
  }

  /** IS [NOT] DISTINCT FROM of two strings, or two numbers, by equality and nulls; undefined for anything else. */
  #samenessOf({ function: name, arguments: [left, right] }: Call): Expression | undefined {
    if ((name !== 'notdistinctfrom' && name !== 'isdistinctfrom') || left === undefined || right === undefined) return undefined;
    const types = [left, right].map((operand) => inferType(operand, this.#typeOf));
    if (!types.every((type) => type === 'STRING') && !types.every((type) => type !== null && isNumberType(type))) return undefined;
    const isSame = call('||', call('istrue', call('==', left, right)), call('&&', call('isnull', left), call('isnull', right)));
    return name === 'notdistinctfrom' ? isSame : call('!', isSame);
  }

  /** A part of LONGs as a column; undefined for one of another type. */
  #longs(expression: Expression): NumberVector | undefined {
    if (expression.kind === 'column') return longColumn(this.#scope, expression.name);
    const node = this.#longPart(expression);
    return node === undefined ? undefined : numberVector(this.rooms, node, 'LONG');
  }

  #longPart(expression: Expression): NumberNode | undefined {
    const node = inferType(expression, this.#typeOf) === 'LONG' ? this.#part(expression) : undefined;
    return node === undefined || laneOf([node]) === 'F64' ? undefined : inLane(this.rooms, node, 'I64');
  }

  #loop(operands: readonly Node[], apply: ((x: number, y: number) => number) | undefined): NumberNode | undefined {
    if (apply === undefined) return undefined;
    this.hasLoops = true;
    const doubles = operands.map((operand) => inLane(this.rooms, operand, 'F64'));
    return mapped(this.rooms, doubles, apply);
  }

  /** A node in the type that its expression has; undefined for a DOUBLE that was to be a LONG. */
  #typed(call: Call, node: Node): Node | undefined {
    const type = inferType(call, this.#typeOf);
    if (type === 'LONG') return laneOf([node]) === 'I64' ? node : undefined;
    return type === 'DOUBLE' || type === 'FLOAT' ? inLane(this.rooms, node, 'F64') : node;
  }

  /** Two strings are not read as numbers, and neither is one that is compared with null, or asked for its truth. */
  #isOfNumbers({ function: name, arguments: operands }: Call): boolean {
    const types = operands.map((operand) => inferType(operand, this.#typeOf));
    if (!types.includes('STRING')) return types.every((type) => type === null || isNumberType(type));
    return READS_STRINGS.has(name) && types.some((type) => type !== null && isNumberType(type));
  }

  #choice(call: Call, branches: readonly Expression[]): NumberNode | undefined {
    const type = inferType(call, this.#typeOf);
    if (type !== null && !isNumberType(type)) return undefined;
    const last = elseOf(branches);
    const otherwise = last === undefined ? undefined : this.#part(last);
    const conditions = this.#conditions(branches);
    const results = this.#parts(resultsOf(branches));
    if (conditions === undefined || results === undefined || (last !== undefined && otherwise === undefined)) return undefined;
    const lane = type === 'LONG' || type === null ? 'I64' : 'F64';
    if (lane === 'I64' && laneOf(otherwise === undefined ? results : [...results, otherwise]) === 'F64') return undefined;
    return chosen(this.rooms, {
      lane,
      otherwise,
      branches: conditions.flatMap((condition, index) => {
        const result = results[index];
        return result === undefined ? [] : [{ condition, result }];
      }),
    });
  }

  #cast(call: Call): Node | undefined {
    const [operand, to] = call.arguments;
    const type = String(constantOf(to)?.value).toUpperCase();
    if (type !== 'LONG' && type !== 'DOUBLE' && type !== 'FLOAT') return undefined;
    // A part of a string is the double that it is read as, which has not all digits of a LONG.
    if (operand !== undefined && inferType(operand, this.#typeOf) === 'STRING') {
      const read = type === 'FLOAT' ? undefined : this.#ofTexts(call);
      if (read !== undefined || type === 'LONG') return read;
    }
    const node = operand === undefined ? undefined : this.#part(operand);
    if (node === undefined) return undefined;
    if (type === 'LONG') return asLong(this.rooms, node);
    return type === 'DOUBLE' ? inLane(this.rooms, node, 'F64') : mappedBy(this.rooms, node, MAP.float);
  }
}

/** Stands for the chosen string while a function of it is computed. */
const CHOSEN: Expression = { kind: 'column', name: 'chosen' };

/** Functions that read a string beside a number as a number. */
const READS_STRINGS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=']);

function mayRefuse(expression: Expression): boolean {
  if (expression.kind === 'lambda') return mayRefuse(expression.body);
  return expression.kind === 'call' && (REFUSING.has(expression.function) || expression.arguments.some(mayRefuse));
}

function allOf<Item, Made>(items: readonly Item[], make: (item: Item) => Made | undefined): readonly Made[] | undefined {
  const made: Made[] = [];
  for (const item of items) {
    const each = make(item);
    if (each === undefined) return undefined;
    made.push(each);
  }
  return made;
}

/** Condition, result, ..., [else] of a call that chooses. */
function choiceOf({ function: name, arguments: operands }: Call): readonly Expression[] | undefined {
  if (name === 'if' || name === 'case_searched') return operands;
  const [subject, ...cases] = operands;
  if (name !== 'case_simple' || subject === undefined) return undefined;
  const isCandidate = (index: number): boolean => index % 2 === 0 && index + 1 < cases.length;
  return cases.map((each, index) => (isCandidate(index) ? call('==', subject, each) : each));
}

function resultsOf(branches: readonly Expression[]): readonly Expression[] {
  return branches.filter((_, index) => index % 2 === 1);
}

function elseOf(branches: readonly Expression[]): Expression | undefined {
  return branches.length % 2 === 1 ? branches.at(-1) : undefined;
}

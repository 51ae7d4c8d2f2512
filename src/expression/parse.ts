// Parser of the native expression language.

import { ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';
import type { Expression } from '../model/expression.js';
import { arrayOf, type ColumnType, isComplexType, isNumberType, parseColumnType } from '../model/schema.js';
import { constantOf, lambdaOf } from './expression-type.js';
import { commonType } from './function.js';
import { ELEMENTS_MAX } from './functions/array-value.js';
import { findApplyFunction, getFunction, spelledName } from './functions.js';
import { mistake, type Token, tokenize } from './tokens.js';
import { textOfValue, wrapLong } from './value.js';

/**
 * The native expression language, as text: operators by precedence (unary ! -, ^, * / %, + -, comparisons, && ||),
 * calls, numbers, 'strings', names, "quoted names", arrays `[1, 2]` and `<LONG>[]`, lambdas `(x, y) -> x + y` as first
 * arguments of functions that take them. Function names and argument counts are checked here.
 * @throws ServiceError `query_invalid` with the column of the mistake; `unsupported` for functions that are refused
 */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text, tokenize(text));
  const expression = parser.expression(0);
  parser.expectEnd();
  return expression;
}

/** && and || bind alike, as the language defines it. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  '&&': 1,
  '||': 1,
  '<': 2,
  '<=': 2,
  '>': 2,
  '>=': 2,
  '==': 2,
  '!=': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
  '%': 4,
  '^': 5,
};

/** Together they bound how deep a tree can get, and so the stack that walking it takes. */
const NESTING_MAX = 300;
const OPERATORS_MAX = 2000;
/** Lambdas within lambdas. Each takes time to type in proportion to what is in it, several times over. */
const LAMBDAS_MAX = 6;

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #nesting = 0;
  #operators = 0;
  #lambdas = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  /** An expression whose operators all bind at least as tightly as `minimum`. */
  expression(minimum: number): Expression {
    if (++this.#nesting > NESTING_MAX) throw this.#tooDeep();
    let left = this.#unary();
    for (;;) {
      const operator = this.#peek();
      const precedence = operator.kind === 'symbol' ? own(PRECEDENCE, operator.text) : undefined;
      if (precedence === undefined || precedence < minimum) break;
      this.#countOperator();
      this.#next++;
      // ^ groups from the right, all others from the left.
      const right = this.expression(operator.text === '^' ? precedence : precedence + 1);
      left = { kind: 'call', function: operator.text, arguments: [left, right] };
    }
    this.#nesting--;
    return left;
  }

  expectEnd(): void {
    if (this.#peek().kind !== 'end') throw this.#unexpected('an operator or the end');
  }

  #unary(): Expression {
    const signs: string[] = [];
    while (this.#isSymbol('-') || this.#isSymbol('!')) {
      this.#countOperator();
      signs.push(this.#take().text);
    }
    const first = this.#peek();
    // The smallest LONG is beyond the range of LONG without its sign.
    if (signs.at(-1) === '-' && first.kind === 'long' && BigInt(first.text) === 2n ** 63n) {
      signs.pop();
      this.#next++;
      return signed({ kind: 'literal', type: 'LONG', value: -(2n ** 63n) }, signs);
    }
    return signed(this.#primary(), signs);
  }

  #primary(): Expression {
    const token = this.#take();
    switch (token.kind) {
      case 'long': {
        const value = BigInt(token.text);
        if (value >= 2n ** 63n) throw mistake(this.#text, token.at, `${token.text}, which is beyond 64 bits`);
        return { kind: 'literal', type: 'LONG', value };
      }
      case 'double':
        return { kind: 'literal', type: 'DOUBLE', value: Number(token.text) };
      case 'string':
        return { kind: 'literal', type: 'STRING', value: token.text };
      case 'quotedName':
        return this.#column(token.text);
      case 'name':
        if (this.#isSymbol('(')) return this.#call(token);
        if (this.#isArrayType(token)) return this.#array(this.#typeArgument());
        return token.text === 'null' ? { kind: 'literal', type: null, value: null } : this.#column(token.text);
      case 'symbol':
        if (token.text === '(') {
          const inner = this.expression(0);
          this.#expect(')');
          if (this.#isSymbol('->')) throw this.#misplacedLambda();
          return inner;
        }
        if (token.text === '[' || token.text === '<') {
          this.#next--;
          return this.#array(token.text === '<' ? this.#typeArgument() : undefined);
        }
        break;
      case 'end':
        break;
    }
    this.#next--;
    throw this.#unexpected('a name, number, string, array, call or parenthesis');
  }

  #column(name: string): Expression {
    if (this.#isSymbol('->')) throw this.#misplacedLambda();
    return { kind: 'column', name };
  }

  #call(name: Token): Expression {
    this.#expect('(');
    const operands: Expression[] = [];
    const called = spelledName(name.text);
    const apply = findApplyFunction(called);
    if (!this.#isSymbol(')')) {
      do operands.push(apply !== undefined && operands.length === 0 ? this.#lambda(called) : this.expression(0));
      while (this.#accept(','));
    }
    this.#expect(')');
    const call: Expression = { kind: 'call', function: called, arguments: operands };
    this.#located(name, () => (apply === undefined ? getFunction(called, operands.length) : lambdaOf(apply, call)));
    return call;
  }

  /** `x -> ...` or `(x, y) -> ...` */
  #lambda(taker: string): Expression {
    const parameters: string[] = [];
    const isBracketed = this.#accept('(');
    const parameter = (): void => {
      const token = this.#take();
      if (token.kind !== 'name' && token.kind !== 'quotedName') {
        this.#next--;
        throw this.#unexpected(`the lambda that ${taker} takes, (x) -> ...`);
      }
      parameters.push(token.text);
    };
    if (!isBracketed) parameter();
    else if (!this.#isSymbol(')')) {
      do parameter();
      while (this.#accept(','));
    }
    if (isBracketed) this.#expect(')');
    this.#expect('->');
    if (++this.#lambdas > LAMBDAS_MAX)
      throw mistake(this.#text, this.#peek().at, `a lambda within ${LAMBDAS_MAX} others, which are as many as are accepted`);
    const body = this.expression(0);
    this.#lambdas--;
    return { kind: 'lambda', parameters, body };
  }

  /** Whether a name begins `ARRAY<type>[`. */
  #isArrayType(name: Token): boolean {
    const [open, , close, bracket] = this.#tokens.slice(this.#next, this.#next + 4);
    return name.text.toUpperCase() === 'ARRAY' && open?.text === '<' && close?.text === '>' && bracket?.text === '[';
  }

  /** `<LONG>`: of arrays, the type of their elements. */
  #typeArgument(): ColumnType {
    if (++this.#nesting > NESTING_MAX) throw this.#tooDeep();
    this.#expect('<');
    const name = this.#take();
    const text = this.#isSymbol('<') ? `${name.text}<${this.#typeArgument()}>` : name.text;
    const type = parseColumnType(text);
    if (type === undefined || isComplexType(type)) throw mistake(this.#text, name.at, `"${text}"`, 'LONG, DOUBLE, STRING or ARRAY<...>');
    this.#expect('>');
    this.#nesting--;
    return type === 'FLOAT' ? 'DOUBLE' : type;
  }

  /** The elements of an array literal: of a type that is given, or of one that they have in common. */
  #array(given: ColumnType | undefined): Expression {
    if (++this.#nesting > NESTING_MAX) throw this.#tooDeep();
    const start = this.#peek();
    this.#expect('[');
    const elements: Literal[] = [];
    while (!this.#isSymbol(']')) {
      elements.push(this.#element());
      // Commas may be left out.
      if (!this.#accept(',')) continue;
      if (this.#isSymbol(']')) throw this.#unexpected('an element');
    }
    this.#expect(']');
    this.#nesting--;
    if (elements.length > ELEMENTS_MAX) throw mistake(this.#text, start.at, `an array of more than ${ELEMENTS_MAX} elements`);
    const kinds = new Set(elements.map(({ type }) => (isNumberType(type) ? 'a number' : type)).filter((kind) => kind !== null));
    if (given === undefined && kinds.size > 1)
      throw mistake(this.#text, start.at, `an array of ${[...kinds].join(' and ')}`, 'elements of one type, or <STRING>[...]');
    const type = arrayOf(given ?? commonType(elements.map((element) => element.type)) ?? 'STRING');
    const values = elements.map((element) => constantOf(element)?.value ?? null);
    return { kind: 'literal', type, value: textOfValue(values, type) };
  }

  #element(): Literal {
    const literal = this.#unary();
    if (literal.kind === 'literal') return literal;
    this.#next--;
    throw this.#unexpected('a number, a string, null or an array; array(...) takes expressions');
  }

  /** Mistakes of functions, with the place of the call. */
  #located(name: Token, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw new ServiceError(error.code, `${error.message} (at column ${name.at + 1} of the expression)`, error);
    }
  }

  #countOperator(): void {
    if (++this.#operators > OPERATORS_MAX)
      throw new ServiceError('query_invalid', `the expression has more than ${OPERATORS_MAX} operators`);
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] ?? { kind: 'end', text: '', at: this.#text.length };
  }

  #take(): Token {
    const token = this.#peek();
    this.#next++;
    return token;
  }

  #isSymbol(text: string): boolean {
    const token = this.#peek();
    return token.kind === 'symbol' && token.text === text;
  }

  #accept(text: string): boolean {
    if (!this.#isSymbol(text)) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(`"${text}"`);
  }

  #unexpected(expected: string): ServiceError {
    const token = this.#peek();
    return mistake(this.#text, token.at, token.kind === 'end' ? 'the end' : `"${token.text}"`, expected);
  }

  #misplacedLambda(): ServiceError {
    return this.#unexpected('a lambda as the first argument of map, filter, fold, any, all and cartesian_ functions only');
  }

  #tooDeep(): ServiceError {
    return new ServiceError('query_invalid', `the expression is nested deeper than ${NESTING_MAX} levels`);
  }
}

type Literal = Extract<Expression, { kind: 'literal' }>;

/** Signs apply from the inside out; a minus before a number is part of it. */
function signed(expression: Expression, signs: readonly string[]): Expression {
  return signs.reduceRight(applySign, expression);
}

function applySign(operand: Expression, sign: string): Expression {
  if (sign === '-' && operand.kind === 'literal') {
    if (typeof operand.value === 'bigint') return { kind: 'literal', type: 'LONG', value: wrapLong(-operand.value) };
    if (typeof operand.value === 'number') return { kind: 'literal', type: 'DOUBLE', value: -operand.value };
  }
  return { kind: 'call', function: sign, arguments: [operand] };
}

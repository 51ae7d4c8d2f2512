import { ServiceError } from '../base/errors.js';
import type { Expression } from '../model/expression.js';
import { getFunction } from './functions.js';
import { wrapLong } from './value.js';

/**
 * The native expression language, as text: operators by precedence (unary ! -, ^, * / %, + -, comparisons, && ||),
 * calls, numbers, 'strings', names, "quoted names". Function names and argument counts are checked here.
 * @throws ServiceError `query_invalid` with the column of the mistake; `unsupported` for arrays and lambdas
 */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text, tokenize(text));
  const expression = parser.expression(0);
  parser.expectEnd();
  return expression;
}

type TokenKind = 'long' | 'double' | 'string' | 'name' | 'quotedName' | 'symbol' | 'end';

interface Token {
  readonly kind: TokenKind;
  /** Without quotes and escapes. */
  readonly text: string;
  readonly at: number;
}

const SPACE = /\s*/y;
const TOKEN =
  /(?:(?<double>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?<long>\d+)|'(?<string>(?:[^'\\]|\\.)*)'|(?<name>[A-Za-z_$][\w$]*)|"(?<quotedName>(?:[^"\\]|\\.)*)"|(?<symbol>->|&&|\|\||[<>=!]=|[-+*/%^<>!(),[\]{}:;?.@]))/sy;

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (at === text.length) return [...tokens, { kind: 'end', text: '', at }];
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    const found = groups === undefined ? undefined : Object.entries(groups).find(([, part]) => part !== undefined);
    if (found === undefined) throw mistake(text, at, 'what is no name, number, string or operator');
    const [kind, part] = found;
    tokens.push({ kind: kind as TokenKind, text: kind === 'string' || kind === 'quotedName' ? unescape(part) : part, at });
    at = TOKEN.lastIndex;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, character: string) =>
    hex === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function mistake(text: string, at: number, found: string, expected = ''): ServiceError {
  return new ServiceError(
    'query_invalid',
    `expression "${text.length > 200 ? `${text.slice(0, 200)}...` : text}": found ${found} at column ${at + 1}${expected === '' ? '' : `; expected ${expected}`}`,
  );
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

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #nesting = 0;
  #operators = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  /** An expression whose operators all bind at least as tightly as `minimum`. */
  expression(minimum: number): Expression {
    if (++this.#nesting > NESTING_MAX)
      throw new ServiceError('query_invalid', `the expression is nested deeper than ${NESTING_MAX} levels`);
    let left = this.#unary();
    for (;;) {
      const operator = this.#peek();
      const precedence = operator.kind === 'symbol' ? PRECEDENCE[operator.text] : undefined;
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
    // The smallest LONG is no LONG without its sign.
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
        if (this.#isSymbol('[')) throw this.#unsupportedArray();
        return { kind: 'literal', type: 'STRING', value: token.text };
      case 'quotedName':
        return this.#column(token.text);
      case 'name':
        if (this.#isSymbol('(')) return this.#call(token);
        return token.text === 'null' ? { kind: 'literal', type: null, value: null } : this.#column(token.text);
      case 'symbol':
        if (token.text === '(') {
          const inner = this.expression(0);
          this.#expect(')');
          if (this.#isSymbol('->')) throw this.#unsupportedLambda();
          return inner;
        }
        if (token.text === '[' || token.text === '<') throw this.#unsupportedArray();
        break;
      case 'end':
        break;
    }
    this.#next--;
    throw this.#unexpected('a name, number, string, call or parenthesis');
  }

  #column(name: string): Expression {
    if (this.#isSymbol('->')) throw this.#unsupportedLambda();
    return { kind: 'column', name };
  }

  #call(name: Token): Expression {
    this.#expect('(');
    const operands: Expression[] = [];
    if (!this.#isSymbol(')')) {
      do operands.push(this.expression(0));
      while (this.#accept(','));
    }
    this.#expect(')');
    getFunction(name.text, operands.length);
    return { kind: 'call', function: name.text, arguments: operands };
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

  #unsupportedArray(): ServiceError {
    return new ServiceError('unsupported', `array literals are not supported in expressions: "${this.#text}"`);
  }

  #unsupportedLambda(): ServiceError {
    return new ServiceError('unsupported', `lambdas (->) are not supported in expressions: "${this.#text}"`);
  }
}

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

// Tokens of SQL.

import { LIST_MIN, type Literal } from './literal/literal.js';
import { scanLiterals } from './literal/literal-scan.js';
import type { SourceText } from './source-text.js';

/**
 * Words, quoted names, strings, numbers and symbols of a statement. White space and comments lie between tokens.
 * Only what the rewriting in front of the parser needs to see: it does not know the grammar.
 */
export type Token = {
  /** A word in upper case; anything else as written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
} & (
  | { readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol' }
  /** All literals of a long list behind IN, between its parentheses. */
  | { readonly kind: 'list'; readonly items: readonly Literal[] }
);

const SPACE = /[\s\u00a0]+/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;

/** Symbols of two characters, and the first of these. */
const PAIRS: ReadonlySet<string> = new Set(['<>', '!=', '<=', '>=', '||', '=>', '::']);
const BEGIN_PAIRS: ReadonlySet<number> = new Set([...PAIRS].map((pair) => pair.charCodeAt(0)));

const SPACE_CODE = 0x20;
const DOUBLE_QUOTE = 0x22;
const DOLLAR = 0x24;
const AMPERSAND = 0x26;
const QUOTE = 0x27;
const STAR = 0x2a;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const UNDERSCORE = 0x5f;
/** Between a letter and its other case. */
const CASE_BIT = 0x20;
const SMALL_U = 0x75;
/** Characters from here on are of words, or spaces. */
const BEYOND_ASCII = 0x80;

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function beginsWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === UNDERSCORE || code >= BEYOND_ASCII;
}

function isOfWord(code: number): boolean {
  return beginsWord(code) || isDigit(code) || code === DOLLAR;
}

/** Longest word or quoted name. */
const NAME_LENGTH_MAX = 10_000;

/** @throws ServiceError `sql_invalid` for a string, name or comment that does not end, `resource_limit` for a name that is too long */
export function* tokensOf(source: SourceText): Generator<Token> {
  for (const lexer = new Lexer(source); ; ) {
    const token = lexer.next();
    if (token === undefined) return;
    yield token;
  }
}

/** Tokens of the source, like `tokensOf`. */
export function tokenize(source: SourceText): Token[] {
  const tokens: Token[] = [];
  const lexer = new Lexer(source);
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) tokens.push(token);
  return tokens;
}

/** Reads tokens one after the other. */
class Lexer {
  readonly #source: SourceText;
  /** The items of PIVOT are expressions with names: none of them is read as a list. */
  readonly #hasLists: boolean;
  #before: Token | undefined;
  #token: Token | undefined;

  constructor(source: SourceText) {
    this.#source = source;
    this.#hasLists = !/PIVOT/i.test(source.text);
  }

  /** Undefined at the end. */
  next(): Token | undefined {
    const [before, token] = [this.#before, this.#token];
    this.#before = token;
    this.#token = (before !== undefined && token !== undefined && this.#list(before, token)) || tokenAfter(this.#source, token?.end ?? 0);
    return this.#token;
  }

  #list(before: Token, token: Token): Token | undefined {
    const opens = this.#hasLists && token.kind === 'symbol' && token.text === '(' && before.kind === 'word' && before.text === 'IN';
    return opens ? listAfter(this.#source, token.end) : undefined;
  }
}

function listAfter({ text }: SourceText, from: number): Token | undefined {
  const scanned = scanLiterals(text, from);
  const [first] = scanned?.items ?? [];
  if (scanned === undefined || first === undefined || scanned.items.length < LIST_MIN) return undefined;
  return { kind: 'list', text: '', start: first.at, end: scanned.end, items: scanned.items };
}

/** The first token from an offset on, behind white space and comments; `undefined` when there is none. */
export function tokenAfter(source: SourceText, from: number): Token | undefined {
  const { text } = source;
  for (let at = from; at < text.length; ) {
    const gap = gapEnd(source, at);
    if (gap === at) return checked(source, tokenAt(source, at));
    at = gap;
  }
  return undefined;
}

/** End of the white space or comment at an offset, which is the offset when there is none. */
function gapEnd(source: SourceText, at: number): number {
  const { text } = source;
  const code = text.charCodeAt(at);
  if (code === SPACE_CODE) {
    let end = at + 1;
    while (text.charCodeAt(end) === SPACE_CODE) end++;
    return end;
  }
  if (code < SPACE_CODE || code >= BEYOND_ASCII) return matchEnd(SPACE, text, at) ?? at;
  if (code === MINUS && text.charCodeAt(at + 1) === MINUS) {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  return code === SLASH && text.charCodeAt(at + 1) === STAR ? blockCommentEnd(source, at) : at;
}

function tokenAt(source: SourceText, start: number): Token {
  const { text } = source;
  const code = text.charCodeAt(start);
  if (code === DOUBLE_QUOTE) return token('quoted', text, start, quotedEnd(source, start, '"'));
  const isUnicode = (code | CASE_BIT) === SMALL_U && text.charCodeAt(start + 1) === AMPERSAND && text.charCodeAt(start + 2) === QUOTE;
  if (isUnicode || code === QUOTE) return token('string', text, start, quotedEnd(source, isUnicode ? start + 2 : start, "'"));
  if (isDigit(code) || (code === DOT && isDigit(text.charCodeAt(start + 1))))
    return token('number', text, start, matchEnd(NUMBER, text, start) ?? start + 1);
  if (beginsWord(code)) {
    let end = start + 1;
    while (end < text.length && isOfWord(text.charCodeAt(end))) end++;
    return new Word(text, start, end);
  }
  const isPair = BEGIN_PAIRS.has(code) && PAIRS.has(text.slice(start, start + 2));
  return token('symbol', text, start, isPair ? start + 2 : start + 1);
}

/** A word, which is seldom asked for its upper case. */
class Word {
  readonly kind = 'word';
  readonly start: number;
  readonly end: number;
  readonly #text: string;
  #upperCase: string | undefined;

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.start = start;
    this.end = end;
  }

  get text(): string {
    this.#upperCase ??= this.#text.slice(this.start, this.end).toUpperCase();
    return this.#upperCase;
  }
}

function checked(source: SourceText, token: Token): Token {
  if (token.end - token.start <= NAME_LENGTH_MAX || token.kind === 'string') return token;
  const what = token.kind === 'number' ? 'number' : 'name';
  throw source.error('resource_limit', token.start, `this ${what} has more than ${NAME_LENGTH_MAX} characters`);
}

function token(kind: 'quoted' | 'string' | 'number' | 'symbol', source: string, start: number, end: number): Token {
  return { kind, text: source.slice(start, end), start, end };
}

/** A doubled quote stands for itself. Searching, not matching, so that a literal of megabytes costs no stack. */
function quotedEnd(source: SourceText, start: number, quote: string): number {
  let at = start + 1;
  for (;;) {
    const close = source.text.indexOf(quote, at);
    if (close < 0) throw source.error('sql_invalid', start, `this ${quote === '"' ? 'quoted name' : 'string'} has no closing ${quote}`);
    if (source.text[close + 1] !== quote) return close + 1;
    at = close + 2;
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Comments do not nest, unlike in the parser's dialect. A hint is refused: nothing here would act on it. */
function blockCommentEnd(source: SourceText, at: number): number {
  if (source.text.startsWith('/*+', at)) throw source.unsupported(at, 'the hint comment /*+ */');
  const end = source.text.indexOf('*/', at + 2);
  if (end < 0) throw source.error('sql_invalid', at, 'this comment has no closing */');
  return end + 2;
}

// Tokens of the native expression language.

import { ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';

type TokenKind = 'long' | 'double' | 'string' | 'name' | 'quotedName' | 'symbol' | 'end';

/** A word of the native expression language. */
export interface Token {
  readonly kind: TokenKind;
  /** Text without quotes and escapes. */
  readonly text: string;
  readonly at: number;
}

const SPACE = /\s*/y;
const NUMBER = /(?:\d+(\.\d*)?|(\.\d+))([eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_$][\w$]*/y;
const TEXT = /'([^'\\]*(?:\\.[^'\\]*)*)'/sy;
const QUOTED_NAME = /"([^"\\]*(?:\\.[^"\\]*)*)"/sy;
const SYMBOL = /->|&&|\|\||[<>=!]=|[-+*/%^<>!(),[\]{}:;?.@]/y;

/** @throws ServiceError `query_invalid` with the column of text that is not a word; the last token is of kind `end` */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const token = tokenAt(text, at);
    tokens.push(token.word);
    at = skipSpace(text, token.end);
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function tokenAt(text: string, at: number): { readonly word: Token; readonly end: number } {
  const first = text.charAt(at);
  if (first === "'") {
    const [, inside = ''] = match(TEXT, text, at);
    return { word: { kind: 'string', text: unescape(inside), at }, end: TEXT.lastIndex };
  }
  if (first === '"') {
    const [, inside = ''] = match(QUOTED_NAME, text, at);
    return { word: { kind: 'quotedName', text: unescape(inside), at }, end: QUOTED_NAME.lastIndex };
  }
  NUMBER.lastIndex = at;
  const number = NUMBER.exec(text);
  if (number !== null) {
    const [whole, fraction, onlyFraction, exponent] = number;
    const isLong = fraction === undefined && onlyFraction === undefined && exponent === undefined;
    return { word: { kind: isLong ? 'long' : 'double', text: whole, at }, end: NUMBER.lastIndex };
  }
  NAME.lastIndex = at;
  const name = NAME.exec(text);
  if (name !== null) return { word: { kind: 'name', text: name[0], at }, end: NAME.lastIndex };
  const [symbol] = match(SYMBOL, text, at);
  return { word: { kind: 'symbol', text: symbol, at }, end: SYMBOL.lastIndex };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  if (found === null) throw mistake(text, at, 'what is no name, number, string or operator');
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, character: string) =>
    hex === undefined ? (own(ESCAPES, character) ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The error of an expression at an offset: what was found, and what is accepted there. */
export function mistake(text: string, at: number, found: string, expected = ''): ServiceError {
  return new ServiceError(
    'query_invalid',
    `expression "${text.length > 200 ? `${text.slice(0, 200)}...` : text}": found ${found} at column ${at + 1}${expected === '' ? '' : `; expected ${expected}`}`,
  );
}

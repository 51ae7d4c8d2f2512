// The shape of a statement: its tokens, with stand-ins for literals.

import { type Token, tokenize } from '../lexer.js';
import type { SourceText } from '../source-text.js';

/** Statements, or parts of some, with equal keys differ in literals and in the white space between tokens only. */
export interface Shape {
  readonly key: string;
  readonly tokens: readonly Token[];
  /** Tokens of `key` that it does not spell: numbers, strings and lists of literals. */
  readonly literals: readonly number[];
}

/** A shape of which parts are cut. */
export interface WholeShape extends Shape {
  /** Offsets in `key` at which each token begins, and behind it. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const STRING = '\u0001';
const LIST = '\u0002';
/** Characters of keys that are not of tokens, and a word: PIVOT names columns by literals as they are written. */
const SHAPELESS = /[\u0001\u0002]|PIVOT/i;

/**
 * The shape of a statement; undefined where its syntax tree may hang on literals in more than their values, and for text that is
 * not made of tokens. Numbers are told apart by their form: which of them are numbers is the parser's to say.
 */
export function shapeOf(source: SourceText): WholeShape | undefined {
  const { text } = source;
  if (SHAPELESS.test(text)) return undefined;
  const tokens = tokensIn(source);
  if (tokens === undefined) return undefined;
  const literals: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let key = '';
  let end = 0;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as Token;
    // Whether tokens touch can matter, as in E'x'.
    if (index > 0 && token.start > end) key += ' ';
    starts.push(key.length);
    const standIn = standInOf(text, token);
    if (standIn !== undefined) literals.push(index);
    key += standIn ?? text.slice(token.start, token.end);
    ends.push(key.length);
    end = token.end;
  }
  return { key, tokens, literals, starts, ends };
}

/** Undefined for what is not made of tokens: the parser says what is wrong, and where. */
function tokensIn(source: SourceText): readonly Token[] | undefined {
  try {
    return tokenize(source);
  } catch {
    return undefined;
  }
}

/** Stand-in for a literal; undefined for what is spelled out. */
function standInOf(text: string, token: Token): string | undefined {
  if (token.kind === 'number') return formOf(token.text);
  if (token.kind === 'string') return text.startsWith("'", token.start) ? STRING : undefined;
  return token.kind === 'list' ? LIST : undefined;
}

const ONLY_DIGITS = /^\d+$/;

/** `12.5e3` → `0.0e0`. */
function formOf(number: string): string {
  return ONLY_DIGITS.test(number) ? '0' : number.replace(/\d+/g, '0');
}

/** The key of statements that also have these literals in common. */
export function keyWith(shape: Shape, source: SourceText, pinned: ReadonlySet<number>): string {
  if (pinned.size === 0) return shape.key;
  const texts = shape.literals
    .filter((index) => pinned.has(index))
    .map((index) => source.text.slice(shape.tokens[index]?.start, shape.tokens[index]?.end));
  return `${shape.key}${STRING}${JSON.stringify(texts)}`;
}

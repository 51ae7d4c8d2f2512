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
const LINE_COMMENT = /--[^\n]*/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const SYMBOL = /<>|!=|<=|>=|\|\||=>|::|[^\s]/y;

const UNICODE_PREFIX = /[uU]&(?=')/y;

const KINDS = [
  { kind: 'number', pattern: NUMBER },
  { kind: 'word', pattern: WORD },
  { kind: 'symbol', pattern: SYMBOL },
] as const;

/** Longest word or quoted name. */
const NAME_LENGTH_MAX = 10_000;

/** @throws ServiceError `sql_invalid` for a string, name or comment that does not end, `resource_limit` for a name that is too long */
export function* tokensOf(source: SourceText): Generator<Token> {
  // The items of PIVOT are expressions with names: none of them is read as a list.
  const hasLists = !/PIVOT/i.test(source.text);
  let before: Token | undefined;
  for (let token = tokenAfter(source, 0); token !== undefined; token = tokenAfter(source, token.end)) {
    yield token;
    const opensList = hasLists && token.text === '(' && token.kind === 'symbol' && before?.kind === 'word' && before.text === 'IN';
    before = token;
    const list = opensList ? listAfter(source, token.end) : undefined;
    if (list === undefined) continue;
    yield list;
    token = list;
  }
}

function listAfter({ text }: SourceText, from: number): Token | undefined {
  const scanned = scanLiterals(text, from);
  const [first] = scanned?.items ?? [];
  if (scanned === undefined || first === undefined || scanned.items.length < LIST_MIN) return undefined;
  return { kind: 'list', text: '', start: first.at, end: scanned.end, items: scanned.items };
}

/** Tokens of the source, like `tokensOf`. */
export function tokenize(source: SourceText): Token[] {
  return [...tokensOf(source)];
}

/** The first token from an offset on, behind white space and comments; `undefined` when there is none. */
export function tokenAfter(source: SourceText, from: number): Token | undefined {
  const { text } = source;
  let at = from;
  while (at < text.length) {
    const gap = matchEnd(SPACE, text, at) ?? matchEnd(LINE_COMMENT, text, at) ?? blockCommentEnd(source, at);
    if (gap === undefined) return checked(source, tokenAt(source, at));
    at = gap;
  }
  return undefined;
}

function tokenAt(source: SourceText, start: number): Token {
  const { text } = source;
  const first = text[start];
  if (first === '"') return { kind: 'quoted', ...span(text, start, quotedEnd(source, start, '"')) };
  const stringStart = matchEnd(UNICODE_PREFIX, text, start) ?? (first === "'" ? start : undefined);
  if (stringStart !== undefined) return { kind: 'string', ...span(text, start, quotedEnd(source, stringStart, "'")) };
  for (const { kind, pattern } of KINDS) {
    const end = matchEnd(pattern, text, start);
    if (end === undefined) continue;
    const token = span(text, start, end);
    return { kind, ...token, text: kind === 'word' ? token.text.toUpperCase() : token.text };
  }
  return { kind: 'symbol', ...span(text, start, start + 1) };
}

function checked(source: SourceText, token: Token): Token {
  if (token.end - token.start <= NAME_LENGTH_MAX || token.kind === 'string') return token;
  const what = token.kind === 'number' ? 'number' : 'name';
  throw source.error('resource_limit', token.start, `this ${what} has more than ${NAME_LENGTH_MAX} characters`);
}

function span(text: string, start: number, end: number): { readonly text: string; readonly start: number; readonly end: number } {
  return { text: text.slice(start, end), start, end };
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
function blockCommentEnd(source: SourceText, at: number): number | undefined {
  if (!source.text.startsWith('/*', at)) return undefined;
  if (source.text.startsWith('/*+', at)) throw source.unsupported(at, 'the hint comment /*+ */');
  const end = source.text.indexOf('*/', at + 2);
  if (end < 0) throw source.error('sql_invalid', at, 'this comment has no closing */');
  return end + 2;
}

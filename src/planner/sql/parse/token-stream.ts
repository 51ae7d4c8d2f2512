// Tokens of a statement, with edits for the parser.

import { type Token, tokensOf } from './lexer.js';
import type { SourceText } from './source-text.js';

/** Deeper nesting is refused, so that no recursion over the tree can exhaust the stack. */
export const NESTING_MAX = 100;
/** Reading more would hold up other requests for seconds. A list of a million literals is two million. */
const TOKENS_MAX = 3_000_000;
/** The parser is fifty times slower than the reading of literals. */
const PARSER_TOKENS_MAX = 400_000;

/**
 * The tokens of a statement with their parentheses matched, and the edits that turn them into text the parser
 * understands. An edit that is shorter than its token is padded, so that most edits move nothing; the rest is
 * accounted for by `ParserText.sourceOffset`.
 */
export class TokenStream {
  readonly source: SourceText;
  readonly tokens: readonly Token[];
  /** Nesting of each token; a parenthesis has that of what stands around it. */
  readonly #depths: readonly number[];
  readonly #partners: ReadonlyMap<number, number>;
  readonly #openings: ReadonlyMap<number, number>;
  readonly #edits = new Map<number, string>();
  /** First token of a removed range to the one after it. */
  readonly #removed = new Map<number, number>();

  /** @throws ServiceError `sql_invalid` for unbalanced parentheses, `resource_limit` past NESTING_MAX and TOKENS_MAX */
  constructor(source: SourceText) {
    this.source = source;
    const tokens: Token[] = [];
    this.tokens = tokens;
    const depths: number[] = [];
    const partners = new Map<number, number>();
    const openings = new Map<number, number>();
    const open: number[] = [];
    for (const token of tokensOf(source)) {
      const index = tokens.push(token) - 1;
      if (index === TOKENS_MAX)
        throw source.error('resource_limit', token.start, `the statement has more than ${TOKENS_MAX} words and symbols`);
      const symbol = token.kind === 'symbol' ? token.text : '';
      if (symbol === ')' || symbol === ']') {
        const opening = open.pop();
        if (opening === undefined || this.text(opening) !== (symbol === ')' ? '(' : '['))
          throw source.error('sql_invalid', token.start, `this ${symbol} closes nothing`);
        partners.set(opening, index);
        openings.set(index, opening);
      }
      depths.push(open.length);
      if (symbol === '(' || symbol === '[') open.push(index);
      if (open.length > NESTING_MAX) throw source.error('resource_limit', token.start, `parentheses are nested deeper than ${NESTING_MAX}`);
    }
    const unclosed = open.pop();
    if (unclosed !== undefined) throw source.error('sql_invalid', this.start(unclosed), `this ${this.text(unclosed)} is never closed`);
    this.#depths = depths;
    this.#partners = partners;
    this.#openings = openings;
  }

  /** Upper case of a word, a symbol or number as it is; empty for strings, quoted names and past the end. */
  text(index: number): string {
    const token = this.tokens[index];
    return token === undefined || token.kind === 'string' || token.kind === 'quoted' ? '' : token.text;
  }

  is(index: number, ...texts: readonly string[]): boolean {
    return texts.every((text, after) => this.text(index + after) === text);
  }

  isWord(index: number): boolean {
    return this.tokens[index]?.kind === 'word';
  }

  /** Offset of a token; past the end, that of the end of the text. */
  start(index: number): number {
    return this.tokens[index]?.start ?? this.source.text.length;
  }

  depth(index: number): number {
    return this.#depths[index] ?? 0;
  }

  /** The token that closes the parenthesis at `index`. */
  closing(index: number): number {
    return this.#partners.get(index) ?? this.tokens.length;
  }

  /** The parenthesis that the token at `index` closes. */
  opening(index: number): number | undefined {
    return this.#openings.get(index);
  }

  /** First token in [from, to) at the depth of `from` that fits. */
  find(from: number, to: number, fits: (index: number) => boolean): number | undefined {
    const depth = this.depth(from);
    for (let index = from; index < to; index++) if (this.depth(index) === depth && fits(index)) return index;
    return undefined;
  }

  /** The name a word or quoted name spells. */
  name(index: number): string | undefined {
    const token = this.tokens[index];
    if (token?.kind === 'word') return this.source.text.slice(token.start, token.end);
    if (token?.kind === 'quoted') return token.text.slice(1, -1).replaceAll('""', '"');
    return undefined;
  }

  /** The value of a plain string literal. */
  string(index: number): string | undefined {
    const token = this.tokens[index];
    const isPlain = token?.kind === 'string' && token.text.startsWith("'") && token.text.endsWith("'");
    return isPlain ? token.text.slice(1, -1).replaceAll("''", "'") : undefined;
  }

  replace(index: number, text: string): void {
    this.#edits.set(index, text);
  }

  /** The text of a token once edited, for edits that add to earlier ones. */
  edited(index: number): string {
    const token = this.tokens[index];
    return this.#edits.get(index) ?? (token === undefined ? '' : this.source.text.slice(token.start, token.end));
  }

  blank(from: number, to: number): void {
    for (let index = from; index < to; index++) this.#edits.set(index, '');
  }

  /** Unlike `blank` leaves one space, however long the tokens are. */
  remove(from: number, to: number): void {
    this.#removed.set(from, to);
  }

  /** Tokens [from, to) as text for the parser, after `prefix`. */
  parserText(from: number, to: number, prefix: string): ParserText {
    const parts = [prefix];
    let length = prefix.length;
    let cursor = from === 0 ? 0 : this.start(from);
    const shifts: Shift[] = [{ at: length, source: cursor }];
    const emit = (text: string): void => {
      parts.push(text);
      length += text.length;
    };
    let count = 0;
    for (let index = from; index < to; index++) {
      const token = this.tokens[index];
      if (token === undefined) break;
      if (count++ === PARSER_TOKENS_MAX)
        throw this.source.error(
          'resource_limit',
          token.start,
          `the statement has more than ${PARSER_TOKENS_MAX} words and symbols besides lists of literals; send values as parameters`,
        );
      const next = this.#removed.get(index);
      if (next !== undefined) {
        index = next - 1;
        cursor = this.tokens[index]?.end ?? cursor;
        emit(' ');
        shifts.push({ at: length, source: cursor });
        continue;
      }
      if (token.start - cursor <= PADDING_MAX) emit(this.source.text.slice(cursor, token.start).replace(/[^\n]/g, ' '));
      else {
        emit(' ');
        shifts.push({ at: length, source: token.start });
      }
      const width = token.end - token.start;
      const text = this.edited(index).padEnd(Math.min(width, PADDING_MAX));
      emit(text);
      if (text.length !== width) shifts.push({ at: length, source: token.end });
      cursor = token.end;
    }
    return { text: parts.join(''), sourceOffset: (at) => sourceOffset(shifts, at) };
  }
}

/** An edit of a longer token shrinks the text rather than filling it with spaces: inline data may be megabytes. */
const PADDING_MAX = 256;

export interface ParserText {
  readonly text: string;
  /** Source offset of an offset of `text`. */
  sourceOffset(at: number): number;
}

interface Shift {
  readonly at: number;
  readonly source: number;
}

function sourceOffset(shifts: readonly Shift[], at: number): number {
  let low = 0;
  let high = shifts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((shifts[middle]?.at ?? 0) <= at) low = middle;
    else high = middle;
  }
  const shift = shifts[low];
  return shift === undefined ? at : Math.max(0, shift.source + at - shift.at);
}

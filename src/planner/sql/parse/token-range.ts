// Ranges of tokens.

import type { TokenStream } from './token-stream.js';

/** Tokens [from, to). */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** @throws ServiceError `sql_invalid` saying that `what` is missing, where there are no tokens */
export function nonEmpty(stream: TokenStream, from: number, to: number, what: string): TokenRange {
  if (from >= to) throw expected(stream, from, what);
  return { from, to };
}

/** The parts between commas, none of them empty. */
export function commaList(stream: TokenStream, from: number, to: number, what: string): TokenRange[] {
  const items: TokenRange[] = [];
  let start = from;
  for (;;) {
    const comma = stream.find(start, to, (index) => stream.is(index, ','));
    items.push(nonEmpty(stream, start, comma ?? to, what));
    if (comma === undefined) return items;
    start = comma + 1;
  }
}

/** The error for an unexpected token. */
export function expected(stream: TokenStream, index: number, what: string): Error {
  const token = stream.tokens[index];
  const found =
    token === undefined ? 'the end of the statement' : stream.source.text.slice(token.start, Math.min(token.end, token.start + 40));
  return stream.source.error('sql_invalid', stream.start(index), `expected ${what}, found ${found}`);
}

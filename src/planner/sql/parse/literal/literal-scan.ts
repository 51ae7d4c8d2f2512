// Scans a list of literals behind IN.

import { type Literal, numberLiteral } from './literal.js';

/** The list between the parentheses behind IN. */
export interface ScannedList {
  readonly items: readonly Literal[];
  /** Offset behind the last item. */
  readonly end: number;
}

const NUMBER = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?=[\s,)])/y;
const GAP = /\s*/y;
const QUOTE = 39;
const COMMA = 44;
const CLOSE = 41;

/**
 * A list of strings and numbers, straight from the text: a token for each of a million items would cost more than reading it.
 * @param from  offset behind the opening parenthesis
 * @returns     undefined where anything else stands in the list; who reads tokens says what is wrong with it, if it is wrong
 */
export function scanLiterals(text: string, from: number): ScannedList | undefined {
  const items: Literal[] = [];
  for (let at = behind(GAP, text, from); ; at = behind(GAP, text, at)) {
    const end = text.charCodeAt(at) === QUOTE ? scanString(text, at, items) : scanNumber(text, at, items);
    if (end === undefined) return undefined;
    const next = behind(GAP, text, end);
    if (text.charCodeAt(next) === CLOSE) return { items, end };
    if (text.charCodeAt(next) !== COMMA) return undefined;
    at = next + 1;
  }
}

function scanString(text: string, at: number, items: Literal[]): number | undefined {
  let hasQuotes = false;
  let close = text.indexOf("'", at + 1);
  while (close >= 0 && text.charCodeAt(close + 1) === QUOTE) {
    hasQuotes = true;
    close = text.indexOf("'", close + 2);
  }
  if (close < 0) return undefined;
  const written = text.slice(at + 1, close);
  items.push({ kind: 'literal', at, type: 'VARCHAR', value: hasQuotes ? written.replaceAll("''", "'") : written });
  return close + 1;
}

function scanNumber(text: string, at: number, items: Literal[]): number | undefined {
  NUMBER.lastIndex = at;
  if (!NUMBER.test(text)) return undefined;
  const end = NUMBER.lastIndex;
  items.push(numberLiteral(at, text.slice(at, end)));
  return end;
}

function behind(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

// JSON with exact 64-bit integers, and with `__proto__` as an ordinary key: parsing, writing, describing values in messages.

import { createRequire } from 'node:module';
import { ServiceError } from './errors.js';
import { onFirstUse } from './on-first-use.js';

const lossless = onFirstUse(() => createRequire(import.meta.url)('lossless-json') as typeof import('lossless-json'));

/** Pattern of numbers with so many digits that a double may lose some. */
const LONG_DIGITS = /\d{16}/;

/** Objects and arrays within each other. What reads, checks, copies or writes values takes stack for each level of them. */
const JSON_DEPTH_MAX = 1000;

/**
 * JSON text to values; an integer that a double cannot hold becomes a bigint, unless all that is read are strings.
 * @throws ServiceError `query_invalid` naming line and column, also for text that is nested deeper than 1,000 levels
 */
export function parseJson(marked: string, { readsNumbers = true }: { readonly readsNumbers?: boolean } = {}): unknown {
  // A byte order mark may stand before UTF-8; it is no part of the document.
  const text = marked.startsWith('\ufeff') ? marked.slice(1) : marked;
  refuseDeep(text);
  try {
    const value: unknown = JSON.parse(text);
    if (!readsNumbers || !LONG_DIGITS.test(text)) return value;
  } catch (error) {
    throw syntaxError(text, error);
  }
  try {
    return lossless().parse(text, null, parseNumber);
  } catch (error) {
    // It is valid JSON, so only what the slower parser cannot do is left: depth, or two values for one key.
    throw new ServiceError(
      'query_invalid',
      `the body cannot be read: ${error instanceof RangeError ? 'it is nested too deeply' : String(error)}`,
      error,
    );
  }
}

/**
 * JSON to values, all numbers as doubles: for documents of our own and where digits beyond 2^53 do not matter. Like
 * `parseJson` it keeps `__proto__` and `constructor` as keys of the object itself; look names up by `own` of `names.ts`.
 * @throws SyntaxError
 */
export function parseJsonWithDoubles(text: string): unknown {
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each pair differs in one bit. */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Looks at the text, for what is nested too deeply must not be made into values first. Text that is not JSON is for the parser to refuse. */
function refuseDeep(text: string): void {
  if (text.length <= JSON_DEPTH_MAX) return;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if ((code | CASE_BIT) === CLOSE) depth--;
    else if ((code | CASE_BIT) === OPEN && ++depth > JSON_DEPTH_MAX)
      throw new ServiceError(
        'query_invalid',
        `the body is nested deeper than ${JSON_DEPTH_MAX} levels of objects and arrays, at ${placeOf(text, at)}`,
      );
  }
}

/** Offset of the quote that ends the string starting at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return at;
}

function placeOf(text: string, position: number): string {
  const before = text.slice(0, position);
  const line = before.lastIndexOf('\n');
  return `line ${before.split('\n').length}, column ${position - line}`;
}

function parseNumber(text: string): number | bigint {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) return value;
  return BigInt(text);
}

function syntaxError(text: string, error: unknown): ServiceError {
  const message = error instanceof Error ? error.message : String(error);
  const found = /at position (\d+)/.exec(message);
  const position = found === null ? text.length : Number(found[1]);
  const place = placeOf(text, position);
  if (text.trim() === '') return new ServiceError('query_invalid', 'the body is empty; expected JSON');
  const what =
    position >= text.trimEnd().length ? 'the text ends too early' : `unexpected ${JSON.stringify(text.slice(position, position + 12))}`;
  return new ServiceError('query_invalid', `the body is not valid JSON: ${what} at ${place}`, error);
}

/** A JSON object, neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as messages show it: its JSON, cut short; `nothing` when it was left out. */
export function describeValue(value: unknown): string {
  const text = value === undefined ? 'nothing' : stringifyJson(outlineOf(value, 3));
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** The value down to some depth and width: a message must not cost more the larger the mistake is. */
function outlineOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, 100);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '...';
  if (Array.isArray(value)) return value.slice(0, 10).map((element) => outlineOf(element, depth - 1));
  const keys = Object.entries(value).slice(0, 10);
  return Object.fromEntries(keys.map(([key, member]) => [key, outlineOf(member, depth - 1)]));
}

/**
 * Values to JSON text. A bigint prints as its digits; NaN and the infinities, which JSON lacks, as strings; an object's
 * undefined members are left out. `indent` is the number of spaces of one level, 0 for one line.
 */
export function stringifyJson(value: unknown, indent = 0): string {
  return write(value, indent === 0 ? '' : ' '.repeat(indent), '\n');
}

function write(value: unknown, indent: string, lineBreak: string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : `"${value}"`;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : writeNested(value, indent, lineBreak);
    default:
      return 'null';
  }
}

function writeNested(value: object, indent: string, lineBreak: string): string {
  const inner = lineBreak + indent;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const element of value) parts.push(write(element, indent, inner));
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) parts.push(`${JSON.stringify(key)}:${indent === '' ? '' : ' '}${write(member, indent, inner)}`);
    }
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return indent === '' ? open + parts.join(',') + close : open + inner + parts.join(`,${inner}`) + lineBreak + close;
}

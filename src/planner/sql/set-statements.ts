// Reads the SET statements in front of a query.

import { ServiceError } from '../../base/errors.js';
import { readSqlContext } from './context.js';
import { type Token, tokenAfter } from './parse/lexer.js';
import { stringValue } from './parse/literal/string-literal.js';
import { SourceText } from './parse/source-text.js';

/** A statement without the settings it began with. */
export interface SettledStatement {
  /** The query, with blanks in the place of the settings, so that positions in it are those of the text. */
  readonly query: string;
  /** The context with what was set; a setting goes before a key of the request, a later setting before an earlier one. */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * `SET key = literal; SET ...; query`: keys of the context, written in front of the query they are for.
 * @throws ServiceError `sql_invalid` with the position of what is no setting; what `readSqlContext` says of a value, with its position
 */
export function readSettings(text: string, context: Readonly<Record<string, unknown>>): SettledStatement {
  const source = new SourceText(text);
  let first = tokenAfter(source, 0);
  if (first === undefined || !isSet(first)) return { query: text, context };
  const settled = new Map<string, unknown>(Object.entries(context));
  let end = 0;
  while (first !== undefined && isSet(first)) {
    const setting = readSetting(source, first);
    settled.set(setting.key, setting.value);
    end = setting.end;
    for (first = tokenAfter(source, end); first?.text === ';' && first.kind === 'symbol'; first = tokenAfter(source, end)) end = first.end;
  }
  if (first === undefined) throw source.error('sql_invalid', text.length, 'expected a query after SET, found the end of the statement');
  return { query: text.slice(0, end).replace(/[^\n]/g, ' ') + text.slice(end), context: Object.fromEntries(settled) };
}

function isSet(token: Token): boolean {
  return token.kind === 'word' && token.text === 'SET';
}

interface Setting {
  readonly key: string;
  readonly value: unknown;
  /** Offset behind the semicolon. */
  readonly end: number;
}

function readSetting(source: SourceText, set: Token): Setting {
  const name = tokenAfter(source, set.end);
  if (name?.kind !== 'word' && name?.kind !== 'quoted') throw unexpected(source, name, 'a key of the context after SET');
  const key = name.kind === 'quoted' ? name.text.slice(1, -1).replaceAll('""', '"') : source.text.slice(name.start, name.end);
  const equals = tokenAfter(source, name.end);
  if (equals?.text !== '=') throw unexpected(source, equals, `= after SET ${key}`);
  const literal = readLiteral(source, equals.end, key);
  const semicolon = tokenAfter(source, literal.end);
  if (semicolon !== undefined && (semicolon.kind !== 'symbol' || semicolon.text !== ';'))
    throw unexpected(source, semicolon, `; after SET ${key} = ${source.text.slice(equals.end, literal.end).trim().slice(0, 40)}`);
  try {
    readSqlContext({ [key]: literal.value });
  } catch (error) {
    if (error instanceof ServiceError) throw source.error(error.code, literal.start, error.message);
    throw error;
  }
  return { key, value: literal.value, end: semicolon?.end ?? literal.end };
}

/** A number, perhaps with a sign, a string, TRUE, FALSE or NULL. */
function readLiteral(
  source: SourceText,
  from: number,
  key: string,
): { readonly value: unknown; readonly start: number; readonly end: number } {
  const first = tokenAfter(source, from);
  const isSigned = first?.kind === 'symbol' && (first.text === '-' || first.text === '+');
  const token = isSigned ? tokenAfter(source, first.end) : first;
  if (first !== undefined && token !== undefined) {
    const place = { start: first.start, end: token.end };
    if (token.kind === 'number') return { ...place, value: numberOf(`${isSigned && first.text === '-' ? '-' : ''}${token.text}`) };
    if (token.kind === 'string' && !isSigned) return { ...place, value: stringValue(source, token) };
    if (token.kind === 'word' && !isSigned && WORDS.has(token.text)) return { ...place, value: WORDS.get(token.text) };
  }
  throw unexpected(
    source,
    first,
    `a number, a string, TRUE, FALSE or NULL for ${key}; arrays and objects go into the context of the request`,
  );
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['TRUE', true],
  ['FALSE', false],
  ['NULL', null],
]);

/** The number as JSON reads it: whole numbers beyond 2^53 stay exact. */
function numberOf(text: string): number | bigint {
  const value = Number(text);
  return /^-?\d{1,20}$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

function unexpected(source: SourceText, token: Token | undefined, wanted: string): ServiceError {
  const found = token === undefined ? 'the end of the statement' : source.text.slice(token.start, Math.min(token.end, token.start + 40));
  return source.error('sql_invalid', token?.start ?? source.text.length, `expected ${wanted}, found ${found}`);
}

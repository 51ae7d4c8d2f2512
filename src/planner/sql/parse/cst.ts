// The only file that calls sql-parser-cst.

import { createRequire } from 'node:module';
import type { Node, Statement } from 'sql-parser-cst';
import { nearestName } from '../../../base/nearest-name.js';
import { onFirstUse } from '../../../base/on-first-use.js';
import type { SourceText } from './source-text.js';
import type { ParserText } from './token-stream.js';

/** The third-party parser: everything else of the planner sees only these names of it. */
export type { DataType, Expr, FuncCall, Keyword, Node, ParenExpr, Statement } from 'sql-parser-cst';

type Library = typeof import('sql-parser-cst');

/** Six megabytes of JavaScript, a tenth of a second. */
const library = onFirstUse(() => createRequire(import.meta.url)('sql-parser-cst') as Library);

/**
 * @returns the only statement of the text
 * @throws ServiceError `sql_invalid` at the place where the parser stopped
 */
export function parseCst(source: SourceText, text: ParserText): Statement {
  const statements = parsed(source, text).filter((statement) => statement.type !== 'empty');
  const [statement, second] = statements;
  if (statement === undefined) throw source.error('sql_invalid', text.sourceOffset(0), 'the statement is empty');
  if (second !== undefined) throw source.unsupported(text.sourceOffset(second.range?.[0] ?? 0), 'more than one statement in a request');
  return statement;
}

/** Source offset of a node's start. */
export function offsetOf(text: ParserText, node: Node): number {
  return text.sourceOffset(node.range?.[0] ?? 0);
}

type ProgramStatement = ReturnType<Library['parse']>['statements'][number];

function parsed(source: SourceText, text: ParserText): readonly ProgramStatement[] {
  try {
    return library().parse(text.text, { dialect: 'postgresql', paramTypes: ['?'], includeRange: true }).statements;
  } catch (error) {
    if (error instanceof RangeError) throw source.error('resource_limit', 0, 'the statement is nested too deeply');
    if (!(error instanceof Error)) throw error;
    throw syntaxError(source, text, error.message);
  }
}

/** The parser says where it stopped only in its message: `Unexpected "x"`, what it expected, `--> file:line:column`. */
function syntaxError(source: SourceText, text: ParserText, message: string): Error {
  const place = /\n--> [^\n]*:(\d+):(\d+)/.exec(message);
  const stopped = /Unexpected (.*)/.exec(message)?.[1] ?? 'end of input';
  const at = place === null ? text.text.length : lineStart(text.text, Number(place[1])) + Number(place[2]) - 1;
  const words = [...new Set((/expecting to see: (.*)/.exec(message)?.[1] ?? '').match(/"[A-Z]{2,}"|"[(),]"/g) ?? [])]
    .map((word) => word.slice(1, -1))
    .filter((word) => !NOT_OURS.has(word));
  const listed = words.length === 1 ? `; expected ${words[0]}` : `; expected one of ${words.join(' ')}`;
  const expected = words.length === 0 || words.length > 24 ? '' : listed;
  const end = Math.min(at, text.text.length);
  return source.error(
    'sql_invalid',
    text.sourceOffset(end),
    `unexpected ${stopped.slice(0, 100)}${misspelt(text.text, end, words) ?? expected}`,
  );
}

/** Words that the parser's dialect knows and we refuse. */
const NOT_OURS: ReadonlySet<string> = new Set(
  'FOR INTO TABLESAMPLE COLLATE OPERATOR SIMILAR ILIKE NOTNULL ISNULL AT RETURNING WHEN LOCALTIME LOCALTIMESTAMP ONLY JSON JSONB DATETIME KEY NO SHARE UPDATE'.split(
    ' ',
  ),
);
const FIRST_WORDS = ['SELECT', 'WITH', 'VALUES', 'INSERT', 'REPLACE', 'EXPLAIN', 'SET'];

/** The word where the parser stopped, or the one before it, which it may have taken for an alias, when it is nearly one that fits. */
function misspelt(text: string, at: number, expected: readonly string[]): string | undefined {
  const [found = ''] = /^[A-Za-z]+/.exec(text.slice(at, at + 30)) ?? [];
  const [, before = ''] = /([A-Za-z]+)\s+$/.exec(text.slice(Math.max(0, at - 40), at)) ?? [];
  const isFirst = text.slice(0, at).trim() === '';
  const fitting = isFirst ? FIRST_WORDS : expected.filter((word) => word.length > 2);
  for (const word of [found, before]) {
    const nearest = word.length < 3 ? undefined : nearestName(word, fitting);
    if (nearest !== undefined && nearest !== word.toUpperCase()) return `; did you mean ${nearest} instead of ${word}?`;
  }
  return undefined;
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let seen = 1; seen < line; seen++) at = text.indexOf('\n', at) + 1;
  return at;
}

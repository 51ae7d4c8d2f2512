// Rewrites Druid's SQL into what the parser can read.

import { own } from '../../../base/names.js';
import type { SqlType } from '../../../model/statement.js';
import { ConditionLists } from './condition-lists.js';
import { externColumns } from './extern-columns.js';
import { readInList, readRows } from './literal/literal-lists.js';
import { stringValue } from './literal/string-literal.js';
import type { Marks } from './marks.js';
import { sqlTypeOf } from './sql-type.js';
import type { TokenStream } from './token-stream.js';

/** Strings of the source longer than this do not go through the parser, whose speed is about 2 MB/s. */
const LITERAL_MAX = 1024;

const OPERATOR = /^[-+*/%<>=!|?:]/;
const SYMBOLS = new Set('( ) , . ; + - * / % = < > <= >= <> != || ? [ ] => :'.split(' '));
/** Plain names in SQL that the parser's dialect reserves. */
const RESERVED_BY_PARSER = new Set(
  'ANALYSE CONCURRENTLY DEFERRABLE DO FREEZE ILIKE INITIALLY ISNULL NOTNULL PLACING VARIADIC VERBOSE'.split(' '),
);
const STRING_PREFIXES = new Set(['E', 'N', 'X', 'B', '_UTF8', '_UTF16', '_UTF32', '_LATIN1']);
const TRIM_FUNCTIONS: Readonly<Record<string, string>> = { BOTH: 'BTRIM', LEADING: 'LTRIM', TRAILING: 'RTRIM' };

/**
 * Edits the tokens so that the parser, which speaks PostgreSQL, reads what Druid SQL means by them.
 * @param keptLists  parentheses behind IN whose items are read elsewhere
 * @throws ServiceError `sql_invalid` or `unsupported` for text the parser would read as something else
 */
export function rewrite(stream: TokenStream, keptLists: ReadonlySet<number> = new Set()): Marks {
  const marks: Marks = new Map();
  const conditionEnds: number[] = [];
  const conditions = new ConditionLists(stream, marks);
  for (let index = 0; index < stream.tokens.length; index++) {
    const token = stream.tokens[index];
    conditions.readBehind(index);
    if (token?.kind === 'symbol') rewriteSymbol(stream, index);
    else if (token?.kind === 'string') rewriteString(stream, index, marks);
    else if (token?.kind === 'number' && stream.isWord(index + 1) && token.end === stream.start(index + 1))
      stream.replace(index, `${token.text} `);
    else if (token?.kind === 'word') {
      if (stream.is(index + 1, '(')) rewriteCall(stream, index, marks);
      if (token.text === 'IN' && stream.is(index + 1, '(') && !keptLists.has(index + 1)) readInList(stream, index + 1, marks);
      if (token.text === 'VALUES' && stream.is(index + 1, '(')) readRows(stream, index, marks);
      rewriteWord(stream, index, marks);
      const last = token.text === 'QUALIFY' ? rewriteQualify(stream, index) : undefined;
      if (last !== undefined) conditionEnds.push(last);
    }
  }
  for (const last of conditionEnds) stream.replace(last, `${stream.edited(last)}))`);
  return marks;
}

function rewriteSymbol(stream: TokenStream, index: number): void {
  const text = stream.text(index);
  if (!SYMBOLS.has(text)) throw stream.source.error('sql_invalid', stream.start(index), `unexpected ${text}`);
  if (text === '!=') stream.replace(index, '<>');
  // The parser takes any run of operator characters for one operator: `a=-1` would compare by `=-`.
  const next = stream.tokens[index + 1];
  if (OPERATOR.test(text) && next?.kind === 'symbol' && next.start === stream.tokens[index]?.end && OPERATOR.test(next.text))
    stream.replace(index, `${stream.edited(index)} `);
}

function rewriteString(stream: TokenStream, index: number, marks: Marks): void {
  const { source, tokens } = stream;
  const token = tokens[index];
  // The first item of a list that was read whole stands for the list.
  if (token === undefined || marks.has(token.start)) return;
  const before = tokens[index - 1];
  if (before?.kind === 'word' && before.end === token.start && STRING_PREFIXES.has(before.text))
    throw source.unsupported(before.start, `the string prefix ${before.text}`);
  const unicode = !token.text.startsWith("'");
  if (unicode && stream.is(index + 1, 'UESCAPE')) throw source.unsupported(stream.start(index + 1), 'UESCAPE');
  if (!unicode && token.text.length <= LITERAL_MAX) return;
  marks.set(token.start, { kind: 'text', value: stringValue(source, token) });
  stream.replace(index, "'?'");
}

function rewriteWord(stream: TokenStream, index: number, marks: Marks): void {
  const word = stream.text(index);
  if (word === 'INTERVAL' && stream.tokens[index + 1]?.kind === 'string' && stream.isWord(index + 2)) rewriteInterval(stream, index, marks);
  // Column declarations are removed from the words.
  const isArrayType = stream.isWord(index - 1) && !stream.is(index + 1, '[') && !stream.is(index + 1, '(') && stream.edited(index) !== '';
  if (word === 'ARRAY' && isArrayType) stream.replace(index, '[]');
  if (word === 'GROUPS' && isFrameUnit(stream, index)) {
    marks.set(stream.start(index), { kind: 'groups' });
    stream.replace(index, 'ROWS');
  }
  if (word === 'NATURAL') rewriteNatural(stream, index, marks);
  if (RESERVED_BY_PARSER.has(word)) stream.replace(index, `"${stream.name(index)}"`);
}

/** Whether a word is the unit of a frame: inside a window definition, before the bounds of the frame. */
function isFrameUnit(stream: TokenStream, index: number): boolean {
  if (
    !stream.is(index + 1, 'BETWEEN') &&
    !stream.is(index + 2, 'PRECEDING') &&
    !stream.is(index + 2, 'FOLLOWING') &&
    !stream.is(index + 1, 'CURRENT', 'ROW')
  )
    return false;
  const depth = stream.depth(index);
  let open = index - 1;
  while (open >= 0 && stream.depth(open) >= depth) open--;
  const isWindow = stream.is(open - 1, 'OVER') || stream.is(open - 1, 'AS');
  return (
    isWindow && !['SELECT', 'WITH', 'VALUES'].includes(stream.text(open + 1)) && !stream.is(index - 1, 'BY') && !stream.is(index - 1, ',')
  );
}

/** The parser takes no NATURAL JOIN: it becomes a join without a condition, marked at the word after it. */
function rewriteNatural(stream: TokenStream, index: number, marks: Marks): void {
  if (!['JOIN', 'INNER', 'LEFT', 'RIGHT', 'FULL'].includes(stream.text(index + 1))) return;
  marks.set(stream.start(index + 1), { kind: 'natural' });
  stream.replace(index, '');
}

/** The name of the window that stands for the condition of QUALIFY. */
export const QUALIFY_WINDOW = '$qualify';
/** Keywords that may follow QUALIFY. */
const CLAUSES_AFTER_QUALIFY = 'WINDOW ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT PARTITIONED CLUSTERED ;'.split(' ');

/**
 * The parser takes no QUALIFY: its condition becomes what a window of its own is partitioned by, as the WINDOW clause may
 * stand in its place.
 * @returns the last token of the condition, which the definition has to be closed after once that token is rewritten
 */
function rewriteQualify(stream: TokenStream, index: number): number | undefined {
  if (index === 0 || stream.is(index - 1, '.') || stream.is(index - 1, ',') || stream.is(index + 1, ',') || stream.is(index - 1, 'SELECT'))
    return undefined;
  const depth = stream.depth(index);
  let start = index - 1;
  let hasWindows = false;
  for (; start >= 0 && stream.depth(start) >= depth && !(stream.depth(start) === depth && stream.is(start, 'SELECT')); start--)
    hasWindows ||= stream.depth(start) === depth && stream.is(start, 'WINDOW');
  let end = index + 1;
  const isInside = (at: number): boolean =>
    stream.depth(at) > depth || (stream.depth(at) === depth && !CLAUSES_AFTER_QUALIFY.includes(stream.text(at)));
  while (end < stream.tokens.length && isInside(end)) end++;
  if (end === index + 1) throw stream.source.error('sql_invalid', stream.start(end), 'QUALIFY needs a condition');
  stream.replace(index, `${hasWindows ? ',' : 'WINDOW'} "${QUALIFY_WINDOW}" AS (PARTITION BY (`);
  if (stream.is(end, 'WINDOW')) stream.replace(end, ',');
  return end - 1;
}

/** INTERVAL '1' WEEK: the parser does not know all units, and would take an unknown one for an alias. */
function rewriteInterval(stream: TokenStream, index: number, marks: Marks): void {
  // DAY (3): how many digits the number may have.
  const hasPrecision = stream.is(index + 3, '(') && stream.is(index + 5, ')') && stream.tokens[index + 4]?.kind === 'number';
  if (hasPrecision) stream.blank(index + 3, index + 6);
  const ranged = stream.is(index + 3, 'TO') && stream.isWord(index + 4);
  marks.set(stream.start(index), { kind: 'interval', from: stream.text(index + 2), to: ranged ? stream.text(index + 4) : null });
  stream.replace(index + 2, 'DAY');
  if (ranged) stream.blank(index + 3, index + 5);
}

function rewriteCall(stream: TokenStream, index: number, marks: Marks): void {
  const name = stream.text(index);
  const at = stream.start(index);
  const first = index + 2;
  const close = stream.closing(index + 1);
  if (stream.is(close + 1, 'WITHIN') && stream.is(close + 2, 'GROUP') && stream.is(close + 3, '(')) {
    // The order becomes that among the arguments.
    stream.replace(close, '');
    stream.blank(close + 1, close + 4);
  }
  const handlesNulls = stream.is(close + 1, 'IGNORE') || stream.is(close + 1, 'RESPECT');
  if (handlesNulls && stream.is(close + 2, 'NULLS')) {
    if (close === first)
      throw stream.source.error('sql_invalid', stream.start(close + 1), `${name} takes no ${stream.text(close + 1)} NULLS`);
    stream.replace(close, '');
    stream.replace(close + 2, 'NULLS)');
  }
  if (name === 'TRY_CAST') throw stream.source.unsupported(at, `the function ${name}`);
  if (name.startsWith('JSON_')) rewriteJson(stream, index, marks);
  if (name === 'FLOOR' || name === 'CEIL' || name === 'CEILING') {
    if (!stream.is(close - 2, 'TO') || !stream.isWord(close - 1)) return;
    marks.set(at, { kind: 'unit', unit: stream.text(close - 1) });
    stream.replace(close - 2, ',');
  } else if (name === 'EXTRACT') {
    if (!stream.isWord(first) || !stream.is(first + 1, 'FROM')) return;
    marks.set(at, { kind: 'unit', unit: stream.text(first) });
    stream.replace(first, 'SECOND');
  } else if (name === 'TRIM') rewriteTrim(stream, index, marks);
  else if (name === 'SUBSTRING' || name === 'POSITION') {
    for (let inner = first; inner < close; inner++) {
      const separates =
        name === 'POSITION' ? stream.is(inner, 'IN') || stream.is(inner, 'FROM') : stream.is(inner, 'FROM') || stream.is(inner, 'FOR');
      if (stream.depth(inner) === stream.depth(first) && separates) stream.replace(inner, ',');
    }
  } else if (name === 'TABLE') {
    stream.blank(index, first);
    stream.replace(close, '');
    rewriteColumns(stream, first, close + 1, marks);
  } else if (name === 'EXTERN') rewriteColumns(stream, index, close + 1, marks);
}

/** JSON_VALUE(x, path RETURNING type) and JSON_OBJECT(KEY 'a' VALUE b, 'c': d). */
function rewriteJson(stream: TokenStream, index: number, marks: Marks): void {
  const first = index + 2;
  const close = stream.closing(index + 1);
  const depth = stream.depth(first);
  for (let inner = first; inner < close; inner++) {
    if (stream.depth(inner) !== depth) continue;
    // The default of JSON_VALUE.
    if (stream.is(index, 'JSON_VALUE') && (stream.is(inner, 'NULL', 'ON', 'EMPTY') || stream.is(inner, 'NULL', 'ON', 'ERROR'))) {
      stream.blank(inner, inner + 3);
      inner += 2;
      continue;
    }
    if (stream.is(inner, 'ON') && (stream.is(inner + 1, 'EMPTY') || stream.is(inner + 1, 'ERROR') || stream.is(inner + 1, 'NULL')))
      throw stream.source.unsupported(stream.start(inner), `ON ${stream.text(inner + 1)} in ${stream.text(index)}`);
    if (stream.is(index, 'JSON_OBJECT')) {
      const starts = inner === first || stream.is(inner - 1, ',');
      if (starts && stream.is(inner, 'KEY') && !stream.is(inner + 1, ',') && !stream.is(inner + 1, ':')) stream.replace(inner, '');
      else if (stream.is(inner, ':') || stream.is(inner, 'VALUE')) stream.replace(inner, ',');
    } else if (stream.is(inner, 'RETURNING')) {
      let end = close;
      while (stream.is(end - 2, 'ON') && stream.is(end - 3, 'NULL') && (stream.is(end - 1, 'EMPTY') || stream.is(end - 1, 'ERROR')))
        end -= 3;
      marks.set(stream.start(index), { kind: 'returning', type: returnedType(stream, inner + 1, end) });
      stream.blank(inner, close);
      return;
    }
  }
}

function returnedType(stream: TokenStream, from: number, to: number): SqlType {
  const text = stream.source.text.slice(stream.start(from), stream.tokens[to - 1]?.end ?? stream.start(from));
  const type = sqlTypeOf(text.replace(/\s*\([\d\s,]*\)/, '').replace(/\s+/g, ' '));
  if (type === undefined) throw stream.source.unsupported(stream.start(from), `the type ${text}`);
  return type;
}

/** TRIM(BOTH c FROM s), TRIM(LEADING FROM s), TRIM(c FROM s). */
function rewriteTrim(stream: TokenStream, index: number, marks: Marks): void {
  const first = index + 2;
  const side = own(TRIM_FUNCTIONS, stream.text(first));
  const from = stream.find(first, stream.closing(index + 1), (inner) => stream.is(inner, 'FROM'));
  if (from === undefined) return;
  if (side !== undefined) stream.replace(first, '');
  const characters = from > first + (side === undefined ? 0 : 1);
  stream.replace(from, characters ? ',' : '');
  marks.set(stream.start(index), { kind: 'function', name: side ?? 'BTRIM', swapped: characters });
}

/** The columns of EXTERN(...) [EXTEND] (name type, ...) are read here: types are not the parser's. */
function rewriteColumns(stream: TokenStream, extern: number, after: number, marks: Marks): void {
  const open = stream.is(after, 'EXTEND') ? after + 1 : after;
  if (!stream.is(open, '(')) return;
  const close = stream.closing(open);
  marks.set(stream.start(extern), { kind: 'columns', columns: externColumns(stream, open + 1, close) });
  stream.blank(after, close + 1);
}

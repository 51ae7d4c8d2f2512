// Parts of a SELECT that can be parsed on their own.

import type { Token } from '../lexer.js';
import type { SelectItem, SelectQuery, SqlExpression, SqlStatement } from '../syntax.js';
import type { Shape } from './shape.js';

/** A statement as texts of the same length, in which everything stands where it stands in the statement. */
export interface Parts {
  /** The statement with a name in the place of each select item and each condition of WHERE. */
  readonly frame: string;
  /** Each as the only item of a SELECT. */
  readonly items: readonly string[];
  readonly conditions: readonly string[];
}

const STAND_IN = 'f';
const SELECT = 'SELECT ';

/** Words at the depth of the statement that end the select list or WHERE, or leave the statement whole. */
const AFTER_WHERE: ReadonlySet<string> = new Set(['GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'FETCH']);
const WHOLE: ReadonlySet<string> = new Set([
  ...['SELECT', 'UNION', 'INTERSECT', 'EXCEPT', 'WITH', 'VALUES', 'INTO', 'WINDOW', 'QUALIFY', 'PARTITIONED', 'CLUSTERED', ';', '?'],
]);
const OPENING: ReadonlySet<string> = new Set(['(', '[', 'CASE']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', 'END']);

/** Words that mean something of their own behind SELECT: no part begins with one. */
const BEHIND_SELECT: ReadonlySet<string> = new Set(['ALL', 'DISTINCT']);

/** A parser call for each of so many parts takes longer than one for the whole statement. */
const PARTS_MAX = 16;

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Parts of `SELECT items FROM … [WHERE a AND b …] …`: statements that are put together of the same parts in ever new ways have new
 * shapes, but the parts do not. Undefined for any other statement, and where a part might mean something else on its own.
 */
export function partsOf({ tokens }: Shape, text: string): Parts | undefined {
  const first = isWord(tokens[1], 'DISTINCT') || isWord(tokens[1], 'ALL') ? 2 : 1;
  if (!isWord(tokens[0], 'SELECT') || isWord(tokens[first], 'ON')) return undefined;
  const clauses = clausesOf(tokens, first);
  if (clauses === undefined) return undefined;
  const items = rangesBetween(tokens, first, clauses.from, ',');
  const conditions = clauses.where < 0 ? [] : rangesBetween(tokens, clauses.where + 1, clauses.end, 'AND');
  if (items === undefined || conditions === undefined) return undefined;
  const ranges = [...items, ...conditions];
  if (ranges.length > PARTS_MAX) return undefined;
  let frame = '';
  let at = 0;
  for (const { start, end } of ranges) {
    frame += text.slice(at, start) + STAND_IN.padEnd(end - start);
    at = end;
  }
  const alone = ({ start, end }: Range): string => (SELECT + text.slice(start, end)).padStart(end);
  return { frame: frame + text.slice(at), items: items.map(alone), conditions: conditions.map(alone) };
}

interface Clauses {
  readonly from: number;
  /** -1: there is none. */
  readonly where: number;
  /** Token behind WHERE and its condition. */
  readonly end: number;
}

function clausesOf(tokens: readonly Token[], first: number): Clauses | undefined {
  let [from, where, end, depth] = [-1, -1, -1, 0];
  for (let index = first; index < tokens.length; index++) {
    const word = wordOf(tokens[index]);
    if (word === '?') return undefined;
    if (CLOSING.has(word)) depth--;
    if (depth === 0 && WHOLE.has(word)) return undefined;
    // IS DISTINCT FROM.
    if (depth === 0 && word === 'FROM' && isWord(tokens[index - 1], 'DISTINCT')) return undefined;
    if (depth === 0 && word === 'FROM' && from < 0) from = index;
    else if (depth === 0 && word === 'WHERE' && where < 0) where = index;
    else if (depth === 0 && AFTER_WHERE.has(word) && end < 0) end = index;
    if (OPENING.has(word)) depth++;
  }
  const isInOrder = from > first && (where < 0 || where > from) && (end < 0 || end > Math.max(from, where));
  return isInOrder && depth === 0 ? { from, where, end: end < 0 ? tokens.length : end } : undefined;
}

/** Ranges of the text between separators; undefined when one of them touches another word. */
function rangesBetween(tokens: readonly Token[], from: number, to: number, separator: ',' | 'AND'): readonly Range[] | undefined {
  const ranges: Range[] = [];
  let [begin, depth, isBetween] = [from, 0, false];
  for (let index = from; index <= to; index++) {
    const word = index === to ? separator : wordOf(tokens[index]);
    if (CLOSING.has(word)) depth--;
    if (depth === 0 && separator === 'AND' && word === 'OR') return undefined;
    if (depth === 0 && word === 'BETWEEN') isBetween = true;
    if (depth === 0 && word === separator) {
      const isOwn = index === to || !(isBetween && separator === 'AND');
      if (isOwn) {
        const range = rangeOf(tokens, begin, index);
        if (range === undefined) return undefined;
        ranges.push(range);
        begin = index + 1;
      }
      isBetween = false;
    }
    if (OPENING.has(word)) depth++;
  }
  return ranges;
}

function rangeOf(tokens: readonly Token[], from: number, to: number): Range | undefined {
  const [before, first, last, after] = [tokens[from - 1], tokens[from], tokens[to - 1], tokens[to]];
  if (before === undefined || first === undefined || last === undefined || from >= to) return undefined;
  if (BEHIND_SELECT.has(wordOf(first))) return undefined;
  const isApart = before.end < first.start || before.text === ',';
  const endsApart = after === undefined || last.end < after.start || after.text === ',';
  return isApart && endsApart && first.start >= SELECT.length ? { start: first.start, end: last.end } : undefined;
}

/** A word or symbol; empty for strings and quoted names. */
function wordOf(token: Token | undefined): string {
  return token?.kind === 'word' || token?.kind === 'symbol' ? token.text : '';
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text === word;
}

/** The tree of the whole statement; undefined when the trees are not of such parts. */
export function assembled(
  frame: SqlStatement,
  items: readonly SqlStatement[],
  conditions: readonly SqlStatement[],
): SqlStatement | undefined {
  if (frame.kind !== 'select' || frame.query.kind !== 'select') return undefined;
  const { query } = frame;
  const where = conditions.length === 1 || query.where === null ? [query.where] : query.where.kind === 'and' ? query.where.operands : [];
  const standIns = [...query.items.map(({ expression, alias }) => (alias === null ? expression : null)), ...where];
  const places = items.length + Math.max(1, conditions.length);
  if (query.items.length !== items.length || standIns.length !== places) return undefined;
  if (!standIns.every((each, index) => (index === items.length && conditions.length === 0 ? each === null : isStandIn(each))))
    return undefined;
  const selected = items.map(onlyItem);
  const tests = conditions.map(onlyItem);
  const known = selected.filter((item) => item !== undefined);
  const operands = tests.flatMap((test) =>
    test === undefined || test.alias !== null || test.expression.kind === 'star' ? [] : [test.expression],
  );
  if (known.length !== items.length || operands.length !== conditions.length) return undefined;
  const whole = query.where !== null && conditions.length > 1 ? { ...query.where, operands } : (operands[0] ?? null);
  return { ...frame, query: { ...query, items: known, where: whole as SqlExpression | null } };
}

function isStandIn(expression: SqlExpression | null | undefined): boolean {
  return expression?.kind === 'name' && expression.path.length === 1 && expression.path[0] === STAND_IN;
}

/** The item of a SELECT that has nothing else. */
function onlyItem(statement: SqlStatement): SelectItem | undefined {
  if (statement.kind !== 'select' || statement.explained || statement.query.kind !== 'select') return undefined;
  const { items } = statement.query;
  return items.length === 1 && isBare(statement.query) ? items[0] : undefined;
}

function isBare(query: SelectQuery): boolean {
  const { distinct, from, where, groupBy, having, windows, qualify, orderBy, offset, limit } = query;
  const clauses = [from, where, groupBy, having, qualify, offset, limit];
  return !distinct && clauses.every((clause) => clause === null) && windows.size === 0 && orderBy.length === 0;
}

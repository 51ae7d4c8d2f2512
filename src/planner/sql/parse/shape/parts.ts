// Parts of a SELECT that can be parsed on their own.

import type { Token } from '../lexer.js';
import type { SelectItem, SelectQuery, SqlExpression, SqlStatement } from '../syntax.js';
import type { Shape, WholeShape } from './shape.js';

/** A part of a statement, its tokens where they stand in the statement. */
export interface Part {
  readonly shape: Shape;
  /** Text to be parsed, in which everything stands where it stands in the statement. */
  text(): string;
}

export interface Parts {
  /** The statement with a name in the place of its select items, and of the condition of WHERE. */
  readonly frame: Part;
  /** Each as the only item of a SELECT. */
  readonly items: readonly Part[];
  readonly conditions: readonly Part[];
}

const STAND_IN = 'f';
const SELECT = 'SELECT ';

type Role = 'opening' | 'closing' | 'from' | 'where' | 'after where' | 'whole' | 'parameter';

/** Words that begin or end a depth, and at the depth of the statement what divides it, or leaves it whole. */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ...rolesOf('opening', '(', '[', 'CASE'),
  ...rolesOf('closing', ')', ']', 'END'),
  ...rolesOf('from', 'FROM'),
  ...rolesOf('where', 'WHERE'),
  ...rolesOf('after where', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'FETCH'),
  ...rolesOf('whole', 'SELECT', 'UNION', 'INTERSECT', 'EXCEPT', 'WITH', 'VALUES', 'INTO', 'WINDOW', 'QUALIFY'),
  ...rolesOf('whole', 'PARTITIONED', 'CLUSTERED', ';'),
  ...rolesOf('parameter', '?'),
]);

function rolesOf(role: Role, ...words: readonly string[]): readonly (readonly [string, Role])[] {
  return words.map((word) => [word, role] as const);
}

/** Words that mean something of their own behind SELECT: no part begins with one. */
const BEHIND_SELECT: ReadonlySet<string> = new Set(['ALL', 'DISTINCT']);

/** A parser call for each of so many parts takes longer than one for the whole statement. */
const PARTS_MAX = 16;

/** Tokens from the first on, without the last. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Parts of `SELECT items FROM … [WHERE a AND b …] …`: statements that are put together of the same parts in ever new ways have new
 * shapes, but the parts do not. Undefined for any other statement, and where a part might mean something else on its own.
 */
export function partsOf(whole: WholeShape, text: string): Parts | undefined {
  const { tokens } = whole;
  const first = isWord(tokens[1], 'DISTINCT') || isWord(tokens[1], 'ALL') ? 2 : 1;
  if (!isWord(tokens[0], 'SELECT')) return undefined;
  const clauses = clausesOf(tokens, first);
  if (clauses === undefined) return undefined;
  const items = rangesBetween(tokens, first, clauses.from, ',');
  const conditions = clauses.where < 0 ? [] : rangesBetween(tokens, clauses.where + 1, clauses.end, 'AND');
  if (items === undefined || conditions === undefined || items.length + conditions.length > PARTS_MAX) return undefined;
  const holes = [{ from: first, to: clauses.from }];
  if (conditions.length > 0) holes.push({ from: clauses.where + 1, to: clauses.end });
  const alone = (range: Range): Part => itemOf(whole, text, range);
  return { frame: frameOf(whole, text, holes), items: items.map(alone), conditions: conditions.map(alone) };
}

/** A range as the only item of a SELECT. */
function itemOf(whole: WholeShape, text: string, { from, to }: Range): Part {
  const { key, starts, ends } = whole;
  const { start } = whole.tokens[from] as Token;
  const select: Token = { kind: 'word', text: 'SELECT', start: start - SELECT.length, end: start - 1 };
  const tokens = [select, ...whole.tokens.slice(from, to)];
  const literals: number[] = [];
  for (const index of whole.literals) if (index >= from && index < to) literals.push(index - from + 1);
  return {
    shape: { key: key.slice(starts[from], ends[to - 1]), tokens, literals },
    text: () => (SELECT + text.slice(start, whole.tokens[to - 1]?.end)).padStart((whole.tokens[to - 1] as Token).end),
  };
}

/** A statement with a name in the place of each range. */
function frameOf(whole: WholeShape, text: string, holes: readonly Range[]): Part {
  const tokens: Token[] = [];
  const literals: number[] = [];
  let key = '';
  let end = 0;
  const take = (from: number, to: number): void => {
    for (const index of whole.literals) if (index >= from && index < to) literals.push(index - from + tokens.length);
    for (let index = from; index < to; index++) tokens.push(whole.tokens[index] as Token);
  };
  for (const { from, to } of holes) {
    take(end, from);
    const { start } = whole.tokens[from] as Token;
    tokens.push({ kind: 'word', text: STAND_IN.toUpperCase(), start, end: start + STAND_IN.length });
    key += whole.key.slice(whole.starts[end], whole.starts[from]) + STAND_IN;
    end = to;
    // A gap: the words on both sides of the name stand apart.
    if (to < whole.tokens.length) key += ' ';
  }
  take(end, whole.tokens.length);
  key += whole.key.slice(whole.starts[end] ?? whole.key.length);
  return { shape: { key, tokens, literals }, text: () => withHoles(whole, text, holes) };
}

function withHoles({ tokens }: WholeShape, text: string, holes: readonly Range[]): string {
  let frame = '';
  let at = 0;
  for (const { from, to } of holes) {
    const [start, end] = [(tokens[from] as Token).start, (tokens[to - 1] as Token).end];
    frame += text.slice(at, start) + STAND_IN.padEnd(end - start);
    at = end;
  }
  return frame + text.slice(at);
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
    const role = ROLES.get(wordOf(tokens[index]));
    if (role === undefined) continue;
    if (role === 'parameter') return undefined;
    if (role === 'closing') depth--;
    else if (role === 'opening') depth++;
    if (depth !== 0) continue;
    if (role === 'whole') return undefined;
    // IS DISTINCT FROM.
    if (role === 'from' && isWord(tokens[index - 1], 'DISTINCT')) return undefined;
    if (role === 'from' && from < 0) from = index;
    else if (role === 'where' && where < 0) where = index;
    else if (role === 'after where' && end < 0) end = index;
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
    const role = ROLES.get(word);
    if (role === 'closing') depth--;
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
    if (role === 'opening') depth++;
  }
  return ranges;
}

function rangeOf(tokens: readonly Token[], from: number, to: number): Range | undefined {
  const [before, first, last, after] = [tokens[from - 1], tokens[from], tokens[to - 1], tokens[to]];
  if (before === undefined || first === undefined || last === undefined || from >= to) return undefined;
  if (BEHIND_SELECT.has(wordOf(first))) return undefined;
  const isApart = before.end < first.start || before.text === ',';
  const endsApart = after === undefined || last.end < after.start || after.text === ',';
  return isApart && endsApart && first.start >= SELECT.length ? { from, to } : undefined;
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
  items: readonly SelectItem[] | undefined,
  conditions: readonly SelectItem[] | undefined,
): SqlStatement | undefined {
  if (frame.kind !== 'select' || frame.query.kind !== 'select' || items === undefined || conditions === undefined) return undefined;
  const { kind, at, distinct, from, groupBy, having, windows, qualify, orderBy, offset, limit } = frame.query;
  const [only, second] = frame.query.items;
  if (only === undefined || second !== undefined || only.alias !== null || !isStandIn(only.expression)) return undefined;
  if (conditions.length === 0 ? frame.query.where !== null : !isStandIn(frame.query.where)) return undefined;
  const operands: SqlExpression[] = [];
  for (const { expression, alias } of conditions) {
    if (alias !== null || expression.kind === 'star') return undefined;
    operands.push(expression);
  }
  const where: SqlExpression | null =
    operands.length > 1 ? { kind: 'and', at: frame.query.where?.at ?? 0, operands } : (operands[0] ?? null);
  const query: SelectQuery = { kind, at, distinct, items, from, where, groupBy, having, windows, qualify, orderBy, offset, limit };
  return { kind: 'select', explained: frame.explained, parameterCount: frame.parameterCount, query };
}

function isStandIn(expression: SqlExpression | null): boolean {
  return expression?.kind === 'name' && expression.path.length === 1 && expression.path[0] === STAND_IN;
}

/** The item of a SELECT that has nothing else. */
export function onlyItem(statement: SqlStatement): SelectItem | undefined {
  if (statement.kind !== 'select' || statement.explained || statement.query.kind !== 'select') return undefined;
  const { items } = statement.query;
  return items.length === 1 && isBare(statement.query) ? items[0] : undefined;
}

function isBare(query: SelectQuery): boolean {
  const { distinct, from, where, groupBy, having, windows, qualify, orderBy, offset, limit } = query;
  const clauses = [from, where, groupBy, having, qualify, offset, limit];
  return !distinct && clauses.every((clause) => clause === null) && windows.size === 0 && orderBy.length === 0;
}

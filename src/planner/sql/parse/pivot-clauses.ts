// Takes PIVOT and UNPIVOT out of a statement in front of the parser, which does not know them.

import { literals } from './literal/literal-lists.js';
import type { SqlExpression } from './syntax.js';
import { commaList, expected, nonEmpty, type TokenRange } from './token-range.js';
import type { TokenStream } from './token-stream.js';

/** PIVOT or UNPIVOT behind a table, in the tokens it is written in. */
export type PivotClause =
  | {
      readonly kind: 'pivot';
      readonly at: number;
      readonly aggregates: TokenRange;
      readonly axes: TokenRange;
      readonly values: readonly PivotedValue[];
    }
  | {
      readonly kind: 'unpivot';
      readonly at: number;
      readonly includesNulls: boolean;
      readonly measures: TokenRange;
      readonly axes: TokenRange;
      /** `label`: what the axis says of rows made of these columns; null when it is not written. */
      readonly columns: readonly { readonly names: TokenRange; readonly label: TokenRange | null }[];
    };

/** A value of the axis, or one for each of them, and what its columns are called. */
interface PivotedValue {
  readonly expression: TokenRange;
  /** The same where it is nothing but literals: no parser is needed to read it. */
  readonly literals: readonly SqlExpression[] | null;
  readonly name: string;
}

export interface PivotClauses {
  /** Clauses by the source offset where the table, or the parenthesis around it, begins; in the order they apply. */
  readonly byTable: ReadonlyMap<number, readonly PivotClause[]>;
  /** The parentheses of IN that hold no operands of a condition. */
  readonly lists: ReadonlySet<number>;
}

/**
 * Takes `t PIVOT (aggregates FOR axis IN (values))` and `t UNPIVOT (measure FOR axis IN (columns))` out of the statement, since the
 * parser knows neither.
 * @throws ServiceError `sql_invalid` at what is missing
 */
export function takePivots(stream: TokenStream): PivotClauses {
  const byTable = new Map<number, PivotClause[]>();
  const lists = new Set<number>();
  for (let index = 1; index < stream.tokens.length; index++) {
    const word = stream.text(index);
    if (word !== 'PIVOT' && word !== 'UNPIVOT') continue;
    const open = opening(stream, index);
    if (open === undefined) continue;
    const close = stream.closing(open);
    const axis = stream.find(open + 1, close, (inner) => stream.is(inner, 'FOR'));
    // A function, or a table by that name.
    if (axis === undefined || stream.is(index - 1, '.') || stream.is(index - 1, ',')) continue;
    const list = stream.find(axis, close, (inner) => stream.is(inner, 'IN', '('));
    if (list === undefined) throw expected(stream, close, `IN (...) after FOR in ${word}`);
    if (stream.closing(list + 1) !== close - 1) throw expected(stream, stream.closing(list + 1) + 1, `) at the end of ${word}`);
    lists.add(list + 1);
    const ranges = { at: stream.start(index), axes: nonEmpty(stream, axis + 1, list, 'the column behind FOR') };
    const first = nonEmpty(stream, open + 1, axis, word === 'PIVOT' ? 'an aggregate' : 'the name of a column for the values');
    const items = commaList(stream, list + 2, close - 1, 'a value');
    const clause: PivotClause =
      word === 'PIVOT'
        ? { kind: 'pivot', ...ranges, aggregates: first, values: items.map((item) => pivotedValue(stream, item)) }
        : {
            kind: 'unpivot',
            ...ranges,
            includesNulls: stream.text(index + 1).startsWith('INCLUD'),
            measures: first,
            columns: items.map((item) => unpivotedColumns(stream, item)),
          };
    const table = stream.start(tableStart(stream, index));
    const clauses = byTable.get(table) ?? [];
    if (clauses.push(clause) > CLAUSES_MAX)
      throw stream.source.error('resource_limit', clause.at, `more than ${CLAUSES_MAX} PIVOT and UNPIVOT behind one table`);
    byTable.set(table, clauses);
    stream.remove(index, close + 1);
  }
  return { byTable, lists };
}

/** Largest number of clauses of one table. */
const CLAUSES_MAX = 16;

/** The parenthesis behind PIVOT, UNPIVOT, UNPIVOT INCLUDE NULLS. */
function opening(stream: TokenStream, index: number): number | undefined {
  if (stream.is(index + 1, '(')) return index + 1;
  const isAboutNulls = ['INCLUDE', 'INCLUDING', 'EXCLUDE', 'EXCLUDING'].includes(stream.text(index + 1)) && stream.is(index + 2, 'NULLS');
  return stream.is(index, 'UNPIVOT') && isAboutNulls && stream.is(index + 3, '(') ? index + 3 : undefined;
}

/** A value of PIVOT; without an alias its columns are named by the value as it is written. */
function pivotedValue(stream: TokenStream, { from, to }: TokenRange): PivotedValue {
  const isNamed =
    to - from > 1 && stream.name(to - 1) !== undefined && !WORDS_OF_VALUES.has(stream.text(to - 1)) && !stream.is(to - 2, '.');
  if (isNamed) {
    const end = stream.is(to - 2, 'AS') ? to - 2 : to - 1;
    const expression = nonEmpty(stream, from, end, 'a value');
    return { expression, literals: literalsOf(stream, expression), name: stream.name(to - 1) ?? '' };
  }
  const parts = stream.is(from, '(') && stream.closing(from) === to - 1 ? commaList(stream, from + 1, to - 1, 'a value') : [{ from, to }];
  return {
    expression: { from, to },
    literals: literalsOf(stream, { from, to }),
    name: parts.map((part) => written(stream, part)).join('_'),
  };
}

function literalsOf(stream: TokenStream, { from, to }: TokenRange): readonly SqlExpression[] | null {
  const isRow = stream.is(from, '(') && stream.closing(from) === to - 1;
  const found = isRow ? literals(stream, from + 1, to - 1) : literals(stream, from, to);
  return found ?? null;
}

const WORDS_OF_VALUES: ReadonlySet<string> = new Set(['NULL', 'TRUE', 'FALSE']);

function unpivotedColumns(
  stream: TokenStream,
  { from, to }: TokenRange,
): { readonly names: TokenRange; readonly label: TokenRange | null } {
  const as = stream.find(from, to, (index) => stream.is(index, 'AS'));
  if (as === undefined) return { names: { from, to }, label: null };
  return { names: nonEmpty(stream, from, as, 'a column'), label: nonEmpty(stream, as + 1, to, 'a literal behind AS') };
}

function written(stream: TokenStream, { from, to }: TokenRange): string {
  return stream.source.text.slice(stream.start(from), stream.tokens[to - 1]?.end);
}

/**
 * The first token of the table that ends before `index`: a name, perhaps of several parts, a parenthesis, or a table function with
 * the columns behind it.
 */
function tableStart(stream: TokenStream, index: number): number {
  let at = index - 1;
  for (;;) {
    const open = stream.is(at, ')') ? stream.opening(at) : undefined;
    if (open === undefined) break;
    const word = stream.is(open - 1, 'NULLS') ? open - 3 : open - 1;
    if (stream.is(word, 'PIVOT') || stream.is(word, 'UNPIVOT')) at = word - 1;
    else if (stream.is(open - 1, 'EXTEND') || stream.is(open - 1, ')')) at = stream.is(open - 1, ')') ? open - 1 : open - 2;
    // The parser does not see TABLE( and its end.
    else if (stream.is(open - 1, 'TABLE')) return open + 1;
    else if (stream.isWord(open - 1) && !isBeforeTable(stream, open - 1)) return open - 1;
    else if (isBeforeTable(stream, open - 1)) return open;
    else break;
  }
  while (stream.is(at - 1, '.')) at -= 2;
  if (stream.name(at) === undefined || !isBeforeTable(stream, at - 1))
    throw stream.source.error(
      'sql_invalid',
      stream.start(index),
      `${stream.text(index)} stands behind a table or a subquery in FROM; an alias goes behind ${stream.text(index)}`,
    );
  return at;
}

function isBeforeTable(stream: TokenStream, index: number): boolean {
  return stream.is(index, 'FROM') || stream.is(index, 'JOIN') || stream.is(index, ',') || stream.is(index, '(');
}

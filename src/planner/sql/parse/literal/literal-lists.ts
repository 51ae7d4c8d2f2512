// Reads long lists of literals in front of the parser, which would take too long.

import type { Marks } from '../marks.js';
import type { SqlExpression } from '../syntax.js';
import type { TokenStream } from '../token-stream.js';
import { LIST_MIN, type Literal, numberLiteral } from './literal.js';
import { stringValue } from './string-literal.js';

/*
 * Long lists of literals are read here rather than by the parser, which takes 8 to 45 µs for every item. What the parser
 * gets instead is a short stand-in, marked with what it stands for.
 */

/** `(1, 'x', -2.5)` behind IN. */
export function readInList(stream: TokenStream, open: number, marks: Marks): void {
  const list = stream.tokens[open + 1];
  if (list?.kind !== 'list') return;
  marks.set(list.start, { kind: 'items', items: list.items });
  stream.replace(open + 1, '0');
}

/** `(1, 'x'), (2, NULL)` behind VALUES. The first two rows stay: one alone would be read as the call of a function. */
export function readRows(stream: TokenStream, values: number, marks: Marks): void {
  const rows: (readonly SqlExpression[])[] = [];
  let index = values + 1;
  let kept = index;
  for (;;) {
    if (!stream.is(index, '(')) return;
    const close = stream.closing(index);
    const row = literals(stream, index + 1, close);
    if (row === undefined) return;
    index = close + 1;
    if (rows.push(row) === 2) kept = index;
    if (!stream.is(index, ',')) break;
    index++;
  }
  if (rows.length < LIST_MIN) return;
  marks.set(stream.start(values), { kind: 'rows', rows });
  stream.remove(kept, index);
}

/** The literals of tokens [from, to), between commas; undefined where anything else stands there. */
export function literals(stream: TokenStream, from: number, to: number): readonly Literal[] | undefined {
  const items: Literal[] = [];
  for (let index = from; index < to; index++) {
    const at = stream.start(index);
    const negative = stream.is(index, '-');
    const token = stream.tokens[negative ? ++index : index];
    const literal =
      token?.kind === 'number'
        ? numberLiteral(at, (negative ? '-' : '') + token.text)
        : token?.kind === 'string' && !negative && token.text.startsWith("'")
          ? ({ kind: 'literal', at, type: 'VARCHAR', value: stringValue(stream.source, token) } as const)
          : token?.kind === 'word' && !negative
            ? wordLiteral(at, token.text)
            : undefined;
    if (literal === undefined || index >= to) return undefined;
    items.push(literal);
    if (index + 1 < to && (!stream.is(++index, ',') || index + 1 === to)) return undefined;
  }
  return items.length === 0 ? undefined : items;
}

function wordLiteral(at: number, word: string): Literal | undefined {
  if (word === 'NULL') return { kind: 'literal', at, type: 'NULL', value: null };
  if (word === 'TRUE' || word === 'FALSE') return { kind: 'literal', at, type: 'BOOLEAN', value: word === 'TRUE' ? 1n : 0n };
  return undefined;
}

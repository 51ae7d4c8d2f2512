import type { Marks } from './rewrite.js';
import { stringValue } from './string-literal.js';
import type { SqlExpression } from './syntax.js';
import type { TokenStream } from './token-stream.js';

/*
 * Long lists of literals are read here rather than by the parser, which takes 8 to 45 µs for every item. What the parser
 * gets instead is a short stand-in, marked with what it stands for.
 */

/** Lists of fewer items are left to the parser. */
const LIST_MIN = 8;

/** `(1, 'x', -2.5)` behind IN. */
export function readInList(stream: TokenStream, open: number, marks: Marks): void {
  const close = stream.closing(open);
  if (close - open < 2 * LIST_MIN) return;
  const items = literals(stream, open + 1, close);
  if (items === undefined || items.some(({ type }) => type === 'NULL' || type === 'BOOLEAN')) return;
  marks.set(stream.start(open + 1), { kind: 'items', items });
  stream.replace(open + 1, '0');
  stream.remove(open + 2, close);
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

type Literal = Extract<SqlExpression, { kind: 'literal' }>;

function wordLiteral(at: number, word: string): Literal | undefined {
  if (word === 'NULL') return { kind: 'literal', at, type: 'NULL', value: null };
  if (word === 'TRUE' || word === 'FALSE') return { kind: 'literal', at, type: 'BOOLEAN', value: word === 'TRUE' ? 1n : 0n };
  return undefined;
}

const INTEGER_MAX = 2147483647n;
/** Of a 64-bit integer with its sign; converting digits by the million would take minutes. */
const LONG_DIGITS = 20;

/** Exact numbers stay exact: an integer is INTEGER or BIGINT, a plain fraction DECIMAL, one with an exponent DOUBLE. */
export function numberLiteral(at: number, text: string): Literal {
  if (text.length <= LONG_DIGITS && /^-?\d+$/.test(text)) {
    const value = BigInt(text);
    if (value === BigInt.asIntN(64, value))
      return { kind: 'literal', at, type: value <= INTEGER_MAX && value >= -INTEGER_MAX - 1n ? 'INTEGER' : 'BIGINT', value };
  }
  return { kind: 'literal', at, type: /[eE]/.test(text) ? 'DOUBLE' : 'DECIMAL', value: Number(text) };
}

// Reads long chains of comparisons in front of the parser, which would take too long.

import { LIST_MIN } from './literal/literal.js';
import { literals } from './literal/literal-lists.js';
import type { Marks } from './marks.js';
import type { CompareOperator, SqlExpression } from './syntax.js';
import type { TokenStream } from './token-stream.js';

/*
 * Long chains of comparisons with literals, `a = 1 OR b <> 'x' AND …`, are read here rather than by the parser, as long lists of
 * literals are: it takes 100 µs for each. What it gets instead is TRUE, marked with what it stands for.
 */

const OPERATORS: ReadonlyMap<string, CompareOperator> = new Map([
  ['=', '='],
  ['<>', '<>'],
  ['!=', '<>'],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

/** Tokens between which a condition stands alone, with no operator binding it to its neighbours: these before, those behind. */
const BEFORE: ReadonlySet<string> = new Set(['WHERE', 'HAVING', 'ON', 'WHEN', '(']);
const AFTER: ReadonlySet<string> = new Set(
  ') ; THEN GROUP HAVING ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT WINDOW QUALIFY PARTITIONED CLUSTERED'.split(' '),
);

/** Words that are not names of columns unless they are quoted, or that the parser knows by another name. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'ALL ANALYSE ANALYZE AND ANY ARRAY AS ASC ASYMMETRIC BETWEEN BOTH CASE CAST CHECK COLLATE COLUMN CONCURRENTLY CONSTRAINT CREATE ' +
    'CURRENT_CATALOG FREEZE ILIKE ISNULL NOTNULL VERBOSE ' +
    'CURRENT_DATE CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATE DEFAULT DEFERRABLE DESC DISTINCT DO ELSE END ' +
    'EXCEPT EXISTS EXTRACT FALSE FETCH FOR FOREIGN FROM GRANT GROUP HAVING IN INITIALLY INTERSECT INTERVAL INTO IS LATERAL LEADING LIKE LIMIT ' +
    'LOCALTIME LOCALTIMESTAMP NOT NULL OFFSET ON ONLY OR ORDER OVERLAPS PLACING PRIMARY REFERENCES RETURNING ROW SELECT SESSION_USER SIMILAR ' +
    'SOME SYMMETRIC SYSTEM_USER TABLE THEN TIME TIMESTAMP TO TRAILING TRUE UNION UNIQUE USER USING VALUES VARIADIC WHEN WHERE WINDOW WITH'
  ).split(' '),
);

interface Read {
  readonly expression: SqlExpression;
  readonly next: number;
}

/** Reads conditions while a statement is walked from its first token to its last. */
export class ConditionLists {
  readonly #stream: TokenStream;
  readonly #marks: Marks;
  /** A chain that began further out was found not to be one here: what encloses this token cannot be one either. */
  #failedAt = -1;
  #count = 0;

  constructor(stream: TokenStream, marks: Marks) {
    this.#stream = stream;
    this.#marks = marks;
  }

  /** Looks for a chain that begins behind the token. */
  readBehind(index: number): void {
    const stream = this.#stream;
    if (!BEFORE.has(stream.text(index))) return;
    if (stream.is(index, '(') && index < this.#failedAt && stream.closing(index) >= this.#failedAt) return;
    this.#count = 0;
    const from = index + 1;
    const read = this.#alternatives(from);
    const isWhole = read !== undefined && (read.next >= stream.tokens.length || AFTER.has(stream.text(read.next)));
    if (read === undefined || !isWhole || this.#count < LIST_MIN) return;
    this.#marks.set(stream.start(from), { kind: 'condition', expression: read.expression });
    stream.replace(from, 'TRUE');
    stream.remove(from + 1, read.next);
  }

  #alternatives(from: number): Read | undefined {
    return this.#chain(from, 'OR', (at) => this.#chain(at, 'AND', (inner) => this.#operand(inner)));
  }

  #chain(from: number, word: 'AND' | 'OR', readOperand: (at: number) => Read | undefined): Read | undefined {
    const operands: SqlExpression[] = [];
    for (let at = from; ; ) {
      const operand = readOperand(at);
      if (operand === undefined) return undefined;
      operands.push(operand.expression);
      const { next } = operand;
      if (!this.#stream.is(next, word)) {
        const [only] = operands;
        const isOne = operands.length === 1 && only !== undefined;
        const kind = word === 'AND' ? 'and' : 'or';
        return { expression: isOne ? only : { kind, at: this.#stream.start(from), operands }, next };
      }
      at = next + 1;
    }
  }

  /** A comparison, or conditions in parentheses. */
  #operand(from: number): Read | undefined {
    const stream = this.#stream;
    if (!stream.is(from, '(')) return this.#comparison(from);
    const inner = this.#alternatives(from + 1);
    if (inner === undefined) return undefined;
    return stream.is(inner.next, ')') ? { expression: inner.expression, next: inner.next + 1 } : this.#fail(inner.next);
  }

  #comparison(from: number): Read | undefined {
    const stream = this.#stream;
    const path: string[] = [];
    let at = from;
    for (; ; at += 2) {
      const name = stream.name(at);
      const isReserved = stream.isWord(at) && path.length === 0 && RESERVED.has(stream.text(at));
      if (name === undefined || isReserved) return this.#fail(at);
      path.push(name);
      if (!stream.is(at + 1, '.')) break;
    }
    const operator = OPERATORS.get(stream.text(at + 1));
    if (operator === undefined) return this.#fail(at + 1);
    const first = at + 2;
    const next = stream.is(first, '-') ? first + 2 : first + 1;
    const [right] = literals(stream, first, next) ?? [];
    if (right === undefined) return this.#fail(first);
    this.#count++;
    const start = stream.start(from);
    return { expression: { kind: 'compare', at: start, operator, left: { kind: 'name', at: start, path }, right }, next };
  }

  #fail(at: number): undefined {
    this.#failedAt = Math.max(this.#failedAt, at);
    return undefined;
  }
}

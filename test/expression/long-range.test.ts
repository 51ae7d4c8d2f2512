import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluate } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { longRange } from '../../src/expression/long-range.js';
import { parseExpression } from '../../src/expression/parse.js';
import { call, type Expression } from '../../src/model/expression.js';

const ranges = suite('range of longs');

const long = (value: bigint): Expression => ({ kind: 'literal', type: 'LONG', value });
const leaf = fc.oneof(
  fc.constantFrom<Expression>({ kind: 'column', name: 'a' }, { kind: 'column', name: 'b' }, { kind: 'column', name: 'none' }),
  fc.bigInt({ min: -12n, max: 12n }).map(long),
);
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc
      .tuple(
        fc.constantFrom('+', '-', '*', '/', '%', '==', '<', '&&', 'nvl', 'coalesce', 'greatest', 'least', 'max', 'min', 'bitwiseAnd'),
        tie('expression'),
        tie('expression'),
      )
      .map(([name, a, b]) => call(name, a, b)),
    fc.tuple(fc.constantFrom('/', '%'), tie('expression'), fc.bigInt({ min: -5n, max: 5n })).map(([name, a, b]) => call(name, a, long(b))),
    fc.tuple(fc.constantFrom('abs', 'isnull', 'istrue'), tie('expression')).map(([name, a]) => call(name, a)),
    fc
      .tuple(fc.constantFrom('if', 'case_simple', 'case_searched'), tie('expression'), tie('expression'), tie('expression'))
      .map(([name, a, b, c]) => call(name, a, b, c)),
    fc
      .tuple(fc.constantFrom('case_simple', 'case_searched'), tie('expression'), tie('expression'), tie('expression'), tie('expression'))
      .map(([name, a, b, c, d]) => call(name, a, b, c, d)),
  ),
}));

const A = { low: -7n, high: 9n, mayBeNull: true };
const B = { low: 3n, high: 4n, mayBeNull: false };

ranges('every value lies in the range', () => {
  const numbers = (low: bigint, high: bigint) => fc.bigInt({ min: low, max: high });
  fc.assert(
    fc.property(expression, fc.option(numbers(A.low, A.high)), numbers(B.low, B.high), (drawn, a, b) => {
      fc.pre(expressionType(drawn, (name) => (name === 'none' ? undefined : 'LONG')) === 'LONG');
      const range = longRange(drawn, (name) => (name === 'a' ? A : name === 'b' ? B : null));
      const value = evaluate(drawn, (name) => (name === 'a' ? a : name === 'b' ? b : null));
      if (range === undefined) return;
      if (value === null) assert.ok(range === null || range.mayBeNull, 'a value that may not be null');
      else {
        assert.is(typeof value, 'bigint');
        assert.ok(range !== null && Number(value) >= Number(range.low) && Number(value) <= Number(range.high), `${value} is beyond`);
      }
    }),
    { numRuns: 5000 },
  );
});

const cases: readonly [text: string, low: bigint, high: bigint, mayBeNull: boolean][] = [
  ['a + 5', -2n, 14n, true],
  ['b - 10', -7n, -6n, false],
  ['a * b', -28n, 36n, true],
  ['a % 4', -3n, 3n, true],
  ['b % 100', 0n, 4n, false],
  ['b / 2', 1n, 2n, false],
  ['abs(a)', 0n, 9n, true],
  ['abs(b - 10)', 6n, 7n, false],
  ['greatest(a, b)', -7n, 9n, true],
  ["cast(b, 'LONG')", 3n, 4n, false],
  ['bitwiseAnd(a, 6)', 0n, 6n, true],
  ["like(cast(a, 'STRING'), '%1')", 0n, 1n, true],
  ['isnull(a)', 0n, 1n, true],
  // The instants are three and four milliseconds after 1970 began, which is 1969 in the west.
  ["timestamp_extract(b, 'YEAR', 'America/Bogota')", 1969n, 1970n, false],
  ['nvl(a, 100)', -7n, 100n, false],
  ['if(a > 1, b, 8)', 3n, 8n, false],
  ['case_searched(a > 1, b)', 3n, 4n, true],
];
for (const [text, low, high, mayBeNull] of cases)
  ranges(text, () => {
    assert.equal(
      longRange(parseExpression(text), (name) => (name === 'a' ? A : B)),
      { low, high, mayBeNull },
    );
  });

ranges('what may wrap, and what is of no longs, has no range', () => {
  const wide = { low: -(1n << 62n), high: 1n << 62n, mayBeNull: false };
  for (const text of ['a + a', 'a * a', 'a - a'])
    assert.is(
      longRange(parseExpression(text), () => wide),
      undefined,
    );
  for (const text of ['a + 1.5', 'a / b', 'strlen(a)', "'x'"])
    assert.is(
      longRange(parseExpression(text), () => B),
      undefined,
    );
});

ranges.run();

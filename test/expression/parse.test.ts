import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { parseExpression } from '../../src/expression/parse.js';
import { printExpression } from '../../src/expression/print.js';
import type { Expression } from '../../src/model/expression.js';

const parsing = suite('parseExpression');

const trees: readonly { text: string; printed: string }[] = [
  { text: 'a + b * c', printed: '("a" + ("b" * "c"))' },
  { text: 'a - b - c', printed: '(("a" - "b") - "c")' },
  { text: '2 ^ 3 ^ 2', printed: '(2 ^ (3 ^ 2))' },
  { text: '-a ^ 2', printed: '(-("a") ^ 2)' },
  { text: '!a && b || c', printed: '((!("a") && "b") || "c")' },
  { text: 'a || b && c', printed: '(("a" || "b") && "c")' },
  { text: 'a > 1 && b <= 2.5', printed: '(("a" > 1) && ("b" <= 2.5))' },
  { text: '(a + b) * c', printed: '(("a" + "b") * "c")' },
  { text: '"a b" + "say \\"x\\""', printed: '("a b" + "say \\"x\\"")' },
  { text: "concat('it\\'s', name, '\\u00e9')", printed: "concat('it\\'s', \"name\", 'é')" },
  { text: 'nvl(x, -1)', printed: 'nvl("x", -1)' },
  { text: '-9223372036854775808', printed: '-9223372036854775808' },
  { text: '--9223372036854775808', printed: '-9223372036854775808' },
  { text: '1e3 + .5 + 2.', printed: '((1000.0 + 0.5) + 2.0)' },
  { text: 'null', printed: 'null' },
  { text: ' pi( ) ', printed: 'pi()' },
];
for (const { text, printed } of trees) parsing(text, () => assert.is(printExpression(parseExpression(text)), printed));

const refused: readonly { text: string; code: string; message: RegExp }[] = [
  { text: '', code: 'query_invalid', message: /found the end at column 1/ },
  { text: 'a +', code: 'query_invalid', message: /found the end at column 4/ },
  { text: 'a b', code: 'query_invalid', message: /found "b" at column 3/ },
  { text: "'open", code: 'query_invalid', message: /column 1/ },
  { text: '(a', code: 'query_invalid', message: /expected "\)"/ },
  { text: 'a # b', code: 'query_invalid', message: /column 3/ },
  { text: 'nosuch(a)', code: 'query_invalid', message: /unknown expression function "nosuch"; accepted: abs/ },
  { text: 'strlen(a, b)', code: 'query_invalid', message: /strlen takes 1 arguments, found 2/ },
  { text: '9223372036854775808', code: 'query_invalid', message: /beyond 64 bits/ },
  { text: 'hyper_unique(a)', code: 'query_invalid', message: /hyper_unique takes 0 arguments, found 1/ },
  { text: `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, code: 'query_invalid', message: /nested deeper/ },
  { text: `${'-'.repeat(10_000)}1`, code: 'query_invalid', message: /operators/ },
  { text: Array.from({ length: 10_000 }, () => '1').join('+'), code: 'query_invalid', message: /operators/ },
];
for (const { text, code, message } of refused) {
  parsing(`refuses ${text.slice(0, 30)}`, () => {
    assert.throws(
      () => parseExpression(text),
      (error: unknown) => error instanceof ServiceError && error.code === code && message.test(error.message),
    );
  });
}

parsing('printing and parsing are inverse', () => {
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((value): Expression => ({ kind: 'literal', type: 'LONG', value })),
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: 0 })
      .map((value): Expression => ({ kind: 'literal', type: 'DOUBLE', value: value + 0 })),
    fc.string().map((value): Expression => ({ kind: 'literal', type: 'STRING', value })),
    fc.string({ minLength: 1 }).map((name): Expression => ({ kind: 'column', name })),
  );
  const { tree } = fc.letrec<{ tree: Expression }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.record(
        {
          kind: fc.constant('call'),
          function: fc.constantFrom('+', '-', '*', '^', '&&', '==', 'nvl'),
          arguments: fc.tuple(tie('tree'), tie('tree')),
        },
        { noNullPrototype: true },
      ) as fc.Arbitrary<Expression>,
      fc.record(
        { kind: fc.constant('call'), function: fc.constantFrom('!', 'strlen'), arguments: fc.tuple(tie('tree')) },
        { noNullPrototype: true },
      ) as fc.Arbitrary<Expression>,
    ),
  }));
  fc.assert(fc.property(tree, (expression) => assert.equal(parseExpression(printExpression(expression)), expression)));
});

parsing('any text is an expression or a typed error', () => {
  const pieces = fc.constantFrom(
    'a',
    '1',
    '1.5',
    "'x'",
    '"y"',
    '+',
    '-',
    '*',
    '(',
    ')',
    ',',
    '&&',
    '!',
    'nvl(',
    'strlen(',
    '[',
    '->',
    '[1, 2]',
    '<LONG>[',
    'map(x -> ',
    'fold((x, acc) -> ',
    ' ',
    "'",
    '<',
    '==',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      try {
        parseExpression(parts.join(''));
      } catch (error) {
        assert.instance(error, ServiceError);
      }
    }),
    { numRuns: 2000 },
  );
});
parsing.run();

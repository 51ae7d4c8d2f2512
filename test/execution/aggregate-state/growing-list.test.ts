import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GrowingList, listFoldOf } from '../../../src/execution/aggregate-state/growing-list.js';
import { sizeOf } from '../../../src/execution/aggregate-state/value-size.js';
import { compileExpression } from '../../../src/expression/evaluate.js';
import { parseExpression } from '../../../src/expression/parse.js';
import { isArrayValue, type Value } from '../../../src/expression/value.js';

/** A list that grows in place must be what its function gives when it is called for each value. */
const lists = suite('lists that grow');

const FUNCTIONS = ['array_append', 'array_concat', 'array_set_add', 'array_set_add_all'];
const KINDS: readonly fc.Arbitrary<Value>[] = [
  fc.option(fc.constantFrom('a', 'b', 'c', '', 'ä', '10')),
  fc.option(fc.bigInt({ min: -3n, max: 3n })),
  fc.option(fc.constantFrom(-0, 0, 1.5, -2.25, Number.POSITIVE_INFINITY)),
  fc.oneof(fc.constantFrom('a', '1', '2.5'), fc.bigInt({ min: 0n, max: 2n }), fc.constantFrom(1, 2.5)),
];
const values = fc.oneof(
  ...KINDS.map((kind) =>
    fc.array(fc.oneof({ weight: 4, arbitrary: kind }, { weight: 1, arbitrary: fc.array(kind, { maxLength: 4 }) }), { maxLength: 300 }),
  ),
);

for (const name of FUNCTIONS)
  lists(name, () => {
    const once = compileExpression(parseExpression(`${name}(acc, x)`), () => undefined);
    const isAll = name === 'array_concat' || name === 'array_set_add_all';
    fc.assert(
      fc.property(values, fc.nat(300), (added, lookedAt) => {
        const given = added.filter((value) => isAll || !isArrayValue(value));
        const list = new GrowingList(name, []);
        const found: (readonly Value[])[] = [];
        const kept: Value[] = [];
        let expected: Value = [];
        for (const [index, value] of given.entries()) {
          const before: Value = expected;
          const next: Value = once((column) => (column === 'acc' ? before : value));
          assert.is(list.add(value), next !== null);
          expected = next ?? expected;
          if (index !== lookedAt) continue;
          found.push(list.elements());
          kept.push(expected);
        }
        found.push(list.elements());
        kept.push(expected);
        // What was handed out before has not grown with the list.
        assert.equal(found, kept);
        assert.is(list.bytes, sizeOf(expected));
      }),
      { numRuns: 60 },
    );
  });

lists('two hundred thousand values, looked at now and then', () => {
  for (const name of ['array_append', 'array_set_add']) {
    const list = new GrowingList(name, []);
    for (let index = 0; index < 200_000; index++) {
      list.add(BigInt((index * 7919) % 200_003));
      if (index % 50_000 === 0) assert.is(list.elements().length, index + 1);
    }
    assert.is(list.measuredBytes(), 8 + 200_000 * 8);
  }
});

const FOLDS: readonly { readonly fold: string; readonly expected: unknown }[] = [
  { fold: 'array_append(acc, x)', expected: { function: 'array_append', field: 'x' } },
  { fold: 'array_set_add_all(acc, x)', expected: { function: 'array_set_add_all', field: 'x' } },
  { fold: 'array_append(x, acc)', expected: undefined },
  { fold: 'array_append(acc, acc)', expected: undefined },
  { fold: 'array_append(acc, x + 1)', expected: undefined },
  { fold: 'array_prepend(acc, x)', expected: undefined },
  { fold: 'acc + x', expected: undefined },
];
for (const { fold, expected } of FOLDS)
  lists(`is ${fold} one that adds`, () => assert.equal(listFoldOf(parseExpression(fold), 'acc'), expected));

lists.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GrowingList, listFoldOf } from '../../../src/execution/aggregate-state/growing-list.js';
import { sizeOf } from '../../../src/execution/aggregate-state/value-size.js';
import { compileExpression } from '../../../src/expression/evaluate.js';
import { parseExpression } from '../../../src/expression/parse.js';
import type { Value } from '../../../src/expression/value.js';
import { arrayOf, type ColumnType } from '../../../src/model/schema.js';

/** A list that grows in place must be what its function gives when it is called for each value. */
const lists = suite('lists that grow');

const FUNCTIONS = ['array_append', 'array_concat', 'array_set_add', 'array_set_add_all'];
/** Values of a column by its type. */
const SCALARS: Readonly<Record<ElementType, fc.Arbitrary<Value>>> = {
  STRING: fc.option(fc.constantFrom('a', 'b', 'c', '', 'ä', '10', '2.5')),
  LONG: fc.option(fc.bigInt({ min: -3n, max: 3n })),
  DOUBLE: fc.option(fc.constantFrom(-0, 0, 1.5, -2.25, Number.POSITIVE_INFINITY, Number.NaN)),
};
type ElementType = 'STRING' | 'LONG' | 'DOUBLE';
interface Column {
  readonly type: ColumnType;
  readonly values: readonly Value[];
}
const columnsOf = (element: ElementType): fc.Arbitrary<Column> =>
  fc.oneof(
    fc.array(SCALARS[element], { maxLength: 300 }).map((values) => ({ type: element, values })),
    fc.array(fc.option(fc.array(SCALARS[element], { maxLength: 4 })), { maxLength: 300 }).map((values) => ({
      type: arrayOf(element),
      values,
    })),
  );
const elementTypes = fc.constantFrom<ElementType>('STRING', 'LONG', 'DOUBLE');
const columns = elementTypes.chain(columnsOf);

for (const name of FUNCTIONS)
  lists(name, () => {
    const call = parseExpression(`${name}(acc, x)`);
    fc.assert(
      fc.property(elementTypes, columns, fc.nat(300), (element, { type, values }, lookedAt) => {
        const typeOf = (column: string): ColumnType => (column === 'acc' ? arrayOf(element) : type);
        const once = compileExpression(call, typeOf);
        const fold = listFoldOf(call, 'acc', typeOf);
        if (fold === undefined) throw new Error('no fold that adds to a list');
        const list = new GrowingList(fold, []);
        const found: (readonly Value[])[] = [];
        const kept: Value[] = [];
        let expected: Value = [];
        for (const [index, value] of values.entries()) {
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
        // A list handed out before has not grown with the original.
        assert.equal(found, kept);
        assert.is(list.bytes, sizeOf(expected));
      }),
      { numRuns: 200 },
    );
  });

lists('two hundred thousand values, looked at now and then', () => {
  for (const name of ['array_append', 'array_set_add']) {
    const list = new GrowingList({ function: name, element: 'LONG' }, []);
    for (let index = 0; index < 200_000; index++) {
      list.add(BigInt((index * 7919) % 200_003));
      if (index % 50_000 === 0) assert.is(list.elements().length, index + 1);
    }
    assert.is(list.measuredBytes(), 8 + 200_000 * 8);
  }
});

const FOLDS: readonly { readonly fold: string; readonly expected: unknown }[] = [
  { fold: 'array_append(acc, x)', expected: { function: 'array_append', field: 'x', element: 'LONG' } },
  { fold: 'array_set_add_all(acc, x)', expected: { function: 'array_set_add_all', field: 'x', element: 'STRING' } },
  { fold: 'array_append(x, acc)', expected: undefined },
  { fold: 'array_append(acc, acc)', expected: undefined },
  { fold: 'array_append(acc, x + 1)', expected: undefined },
  { fold: 'array_prepend(acc, x)', expected: undefined },
  { fold: 'acc + x', expected: undefined },
];
for (const { fold, expected } of FOLDS)
  lists(`is ${fold} one that adds`, () =>
    assert.equal(
      listFoldOf(parseExpression(fold), 'acc', (name) => (name === 'acc' ? 'ARRAY<LONG>' : 'STRING')),
      expected,
    ),
  );

lists.run();

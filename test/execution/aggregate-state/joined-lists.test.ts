import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stateOperations } from '../../../src/execution/aggregate-state/operations.js';
import { parseExpression } from '../../../src/expression/parse.js';
import type { Value } from '../../../src/expression/value.js';
import type { ExpressionFold } from '../../../src/model/aggregate-state.js';
import { arrayOf } from '../../../src/model/schema.js';
import { caseCount } from '../../case-count.js';

/* Lists and sets of the rows of several segments, joined, against those of all rows by arithmetic. */

type ElementType = 'STRING' | 'LONG' | 'DOUBLE';
const VALUES: Readonly<Record<ElementType, fc.Arbitrary<Value>>> = {
  STRING: fc.option(fc.constantFrom('a', 'B', '', 'ä', '日', '😀', '\uffff', '10', '9', '1234567890123456789', 'x"y', '\ud800')),
  LONG: fc.option(fc.oneof(fc.bigInt({ min: -9n, max: 9n }), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n)))),
  DOUBLE: fc.option(fc.constantFrom(0, 1.5, -2.25, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)),
};

/** @param before  what combining begins with */
function foldOf(element: ElementType, isSet: boolean, before: '' | ', null' = ''): ExpressionFold {
  const valueType = arrayOf(element);
  return {
    type: 'expression',
    name: 'x',
    fields: ['value'],
    accumulator: '__acc',
    fold: parseExpression(isSet ? 'array_set_add(__acc, value)' : 'array_append(__acc, value)'),
    combine: parseExpression(isSet ? 'array_set_add_all(__acc, x)' : 'array_concat(__acc, x)'),
    finalize: null,
    compare: null,
    initial: { kind: 'literal', type: valueType, value: '' },
    initialCombine:
      before === '' ? { kind: 'literal', type: valueType, value: '' } : parseExpression(`array_append(<${element}>[]${before})`),
    valueType,
    resultType: valueType,
    isNullUnlessAggregated: true,
    foldsNulls: true,
    combinesNulls: true,
    maxBytes: 1 << 20,
  };
}

/** In the order of UTF-16, and of numbers; null first. */
function distinct(values: readonly Value[]): Value[] {
  const known = [...new Set(values)].filter((value) => value !== null);
  const sorted: Value[] = known.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return values.includes(null) ? [null, ...sorted] : sorted;
}

const drawn = fc.constantFrom<ElementType>('STRING', 'LONG', 'DOUBLE').chain((element) =>
  fc.record({
    element: fc.constant(element),
    segments: fc.array(fc.array(VALUES[element], { maxLength: 30 }), { maxLength: 6 }),
    /** Whether a segment's state has been on its way as text. */
    sent: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    lookedAt: fc.nat(6),
    isSet: fc.boolean(),
    isReversed: fc.boolean(),
    before: fc.constantFrom('' as const, ', null' as const),
  }),
);

const joined = suite('lists of several segments');

joined('have the values of all rows', () => {
  fc.assert(
    fc.property(drawn, ({ element, segments, sent, lookedAt, isSet, isReversed, before }) => {
      const kind = stateOperations(foldOf(element, isSet, before));
      if (isSet && before === '') assert.is(kind.isOrdered, element === 'DOUBLE');
      const order = kind.isOrdered || !isReversed ? segments : [...segments].reverse();
      const whole = kind.create();
      order.forEach((values, index) => {
        const state = kind.create();
        for (const value of values) kind.addRow?.(state, [value]);
        kind.merge(whole, sent[index] === true ? kind.decode(kind.encode(state)) : state);
        if (index === lookedAt) kind.value(whole);
      });
      const taken = order.filter((values) => values.length > 0);
      const all = [...(taken.length > 1 && before !== '' ? [null] : []), ...taken.flat()];
      assert.equal(kind.value(whole), taken.length === 0 ? null : isSet ? distinct(all) : all);
    }),
    { numRuns: caseCount(600) },
  );
});

joined('are refused beyond their size, which equal values of a set do not add to', () => {
  const texts = (from: number): Value[] => Array.from({ length: 100 }, (_, index) => `text ${from + index}`.padEnd(10, '.'));
  const joinedBytes = (isSet: boolean, maxBytes: number): (() => unknown) => {
    const kind = stateOperations({ ...foldOf('STRING', isSet), maxBytes });
    return () => {
      const states = [texts(0), texts(0), texts(50)].map((values) => {
        const state = kind.create();
        for (const value of values) kind.addRow?.(state, [value]);
        return state;
      });
      const whole = kind.create();
      for (const state of states) kind.merge(whole, state);
      return (kind.value(whole) as Value[]).length;
    };
  };
  assert.is(joinedBytes(true, 8 + 150 * 10)(), 150);
  assert.throws(joinedBytes(true, 8 + 150 * 10 - 1), /grew beyond 1507 bytes/);
  assert.is(joinedBytes(false, 8 + 300 * 10)(), 300);
  assert.throws(joinedBytes(false, 8 + 300 * 10 - 1), /grew beyond 3007 bytes/);
});

joined.run();

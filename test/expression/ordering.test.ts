import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { doubleText, floatText } from '../../src/base/number-text.js';
import { STRING_ORDERINGS } from '../../src/expression/ordering.js';
import { parseDouble, parseLong } from '../../src/expression/value.js';
import type { StringOrdering } from '../../src/model/filter.js';

/** Strings in the order of Apache Druid's comparators: each list ascends; strings of an inner list are equal. */
const orders: readonly [StringOrdering, readonly (string | readonly string[])[]][] = [
  ['lexicographic', ['', '10', '2', 'A', 'a', 'aB', 'b', 'é']],
  ['alphanumeric', ['', '0x', '0', '00', '1', '01', '2', '10', '!', ['a', 'A'], 'a1', 'a02', 'a10', ['ab', 'AB'], 'b', 'é', 'ﬀ', '😀']],
  ['numeric', ['', 'a', 'x1', '-1', ['0', '-0', '0.0'], ['1', '1.0', '+1', '1e0'], '2', '10']],
  ['strlen', ['', 'a', 'b', 'aa', '😀', 'aaa']],
  [
    'version',
    ['1-alpha', '1-beta', '1-rc1', ['1', '1.0', '1.0.0', '1-final', '1.ga', '１'], '1-sp', '1.2', '1.2.3', '1.10', '2', ['٣', '3'], '10'],
  ],
];

const ordering = suite('orderings of strings');
for (const [name, steps] of orders) {
  ordering(name, () => {
    const compare = STRING_ORDERINGS[name];
    const placed = steps.flatMap((step, place) => (typeof step === 'string' ? [step] : step).map((value) => ({ value, place })));
    for (const a of placed)
      for (const b of placed) assert.is(Math.sign(compare(a.value, b.value)), Math.sign(a.place - b.place), `${a.value} | ${b.value}`);
  });
}
ordering.run();

const conversions = suite('strings and numbers');
const longs: readonly [string, bigint | null][] = [
  ['7', 7n],
  ['+7', 7n],
  ['1.9', 1n],
  ['-1e3', -1000n],
  ['true', 1n],
  ['FALSE', 0n],
  ['9223372036854775808', 2n ** 63n - 1n],
  ['-9223372036854775809', -(2n ** 63n)],
  [' 7', null],
  ['0x10', null],
  ['', null],
];
for (const [text, value] of longs) conversions(`LONG of ${JSON.stringify(text)}`, () => assert.is(parseLong(text), value));
conversions('DOUBLE of true', () => assert.is(parseDouble('true'), 1));
for (const [value, text] of [
  [5e-324, '4.9E-324'],
  [2e23, '2.0E23'],
  [1e-7, '1.0E-7'],
  [123_456_789.125, '1.23456789125E8'],
] as const)
  conversions(`string of ${text}`, () => assert.is(doubleText(value), text));
conversions('a FLOAT has the digits that tell it from other FLOATs', () => {
  assert.is(floatText(Math.fround(0.1)), '0.1');
  assert.is(floatText(Math.fround(1.4e-45)), '1.4E-45');
  assert.is(floatText(16_777_216), '1.6777216E7');
});
conversions.run();

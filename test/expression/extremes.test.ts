import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { evaluate } from '../../src/expression/evaluate.js';
import { parseExpression } from '../../src/expression/parse.js';
import type { Value } from '../../src/expression/value.js';

const row: Readonly<Record<string, Value>> = { one: [null], list: ['a', 'b'], min: -(2n ** 63n), max: 2n ** 63n - 1n, s: '$.a' };
const run = (text: string): Value => evaluate(parseExpression(text), (name) => row[name] ?? null);

const extremes = suite('functions at the edges of what they take, as the original answers');

const cases: readonly [text: string, value: Value][] = [
  // nothing to cut off, nothing to fill up
  ["trim('  a ', null)", '  a '],
  ["ltrim('xa', '')", 'xa'],
  ["rtrim('ax', 'x')", 'a'],
  ["trim(null, 'x')", null],
  ["lpad('abc', 0, 'x')", null],
  ["rpad('abc', 0, 'x')", null],
  ["lpad('abc', 5, '')", 'abc'],
  // digits of other scripts
  ["parse_long('\u0663')", 3n],
  ["parse_long('\uff11\uff12')", 12n],
  ["parse_long('\uff26', 16)", 15n],
  ["parse_long('\u00b2')", null],
  // a list of one null is null
  ['upper(one)', null],
  ["concat(one, 'x')", null],
  ['to_json_string(one)', '[null]'],
  ['array_length(one)', 1n],
  ['one == array(null)', 1n],
  // arrays of different types compare as of one that holds both
  ["array('1') == array(1)", 1n],
  ["array('a') == array(1)", 0n],
  ['array(1) == array(1.0)', 1n],
  ["array(1, 2) < array(1, 'a')", 1n],
  // numbers
  ['toDegrees(1)', 57.29577951308232],
  ['toRadians(180)', Math.PI],
  ['toRadians(1.5E-320)', 2.6e-322],
  ["min(1, cast('NaN', 'DOUBLE'))", Number.NaN],
  ["max(cast('NaN', 'DOUBLE'), 1)", Number.NaN],
  ["safe_divide(1, cast('NaN', 'DOUBLE'))", null],
  ['to_json_string(100.0)', '100.0'],
  ['to_json_string(array(1.5, 1E7))', '[1.5,1.0E7]'],
  ['to_json_string(100)', '100'],
  ["format('%5.2f|%.9f|%f', null, null, null)", '   nu|null|null'],
  // times
  ["timestamp_parse('1')", -62135596800000n],
  ["timestamp_parse('2000-W05-3')", BigInt(Date.UTC(2000, 1, 2))],
  ["timestamp_extract('2000-01-01', 'YEAR')", 2000n],
  ["timestamp_extract('x', 'YEAR')", null],
  ["timestamp_shift(max, 'P1D', 5)", null],
  ["timestamp_floor(min, 'P1D')", null],
  ["timestamp_shift(0, 'P1Y', max)", null],
  ['timestamp_format(max)', null],
  // a replacement that is not needed may be none
  ["regexp_replace('b', 'a', s)", 'b'],
];
for (const [text, value] of cases) {
  extremes(text, () => {
    assert.equal(run(text), value);
  });
}

extremes('a replacement that names a group the pattern does not have is refused where it is needed', () => {
  assert.throws(() => run("regexp_replace('a', 'a', s)"), /refers to "\$"/);
  assert.throws(() => run("regexp_replace('b', 'a', '$1')"), /refers to "\$1"/);
  assert.throws(() => run("regexp_replace('a', 'a', '\\\\')"), /ends in a backslash/);
  assert.is(run("regexp_replace('a', 'a', '\\\\\\\\')"), '\\');
});

extremes.run();

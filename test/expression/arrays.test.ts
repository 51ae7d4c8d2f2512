import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { evaluate } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { parseExpression } from '../../src/expression/parse.js';
import { printExpression } from '../../src/expression/print.js';
import { isArrayValue, type Value } from '../../src/expression/value.js';
import type { ColumnType } from '../../src/model/schema.js';

/** The rows of the documentation's page on arrays. */
const row: Readonly<Record<string, Value>> = {
  l: 7n,
  d: 2.5,
  s: 'a',
  n: null,
  s1: ['a', 'b'],
  s2: [null, 'b'],
  s3: [],
  l1: [1n, null, 3n],
  l3: [1n, 2n, 3n],
  d1: [1.1, 2.2, null],
  d2: [999, null, 5.5],
  d3: [null, 2.2, 1.1],
  x: [10n, 20n],
};
const TYPES: Readonly<Record<string, ColumnType>> = {
  l: 'LONG',
  d: 'DOUBLE',
  s: 'STRING',
  f: 'FLOAT',
  as: 'ARRAY<STRING>',
  al: 'ARRAY<LONG>',
  ad: 'ARRAY<DOUBLE>',
};
const run = (text: string): Value => evaluate(parseExpression(text), (name) => row[name] ?? null);

const arrays = suite('arrays');
const cases: readonly [text: string, value: Value][] = [
  // literals
  ['[1, 2]', [1n, 2n]],
  ['[1 2 null]', [1n, 2n, null]],
  ['[-1, 2.5]', [-1, 2.5]],
  ["['a', null, 'it\\'s']", ['a', null, "it's"]],
  ['[]', []],
  ['[null]', [null]],
  ['<LONG>[]', []],
  ["<LONG>[1.9, '2', 'x']", [1n, 2n, null]],
  ['<STRING>[1, 2.5]', ['1', '2.5']],
  ['<DOUBLE>[1]', [1]],
  ['ARRAY<LONG>[1, 2]', [1n, 2n]],
  ['<ARRAY<LONG>>[[1], [2, 3], null]', [[1n], [2n, 3n], null]],
  // building
  ['array(l, 2, null)', [7n, 2n, null]],
  ["array('a', l)", ['a', '7']],
  ['array(1, 2.5)', [1, 2.5]],
  [
    'array(l1, l3)',
    [
      [1n, null, 3n],
      [1n, 2n, 3n],
    ],
  ],
  ['array()', []],
  // length, elements, positions
  ['array_length(d1)', 3n],
  ['array_length(s3)', 0n],
  ['array_length(n)', null],
  ["array_length('one')", 1n],
  ['array_offset(l1, 2)', 3n],
  ['array_offset(s3, 2)', null],
  ['array_offset(l3, -1)', null],
  ['array_offset(n, 2)', null],
  ['array_ordinal(l1, 2)', null],
  ['array_ordinal(l3, 2)', 2n],
  ['array_ordinal(l3, 0)', null],
  ['array_offset_of(l1, 3)', 2n],
  ['array_offset_of(l3, 4)', null],
  ['array_offset_of(l1, null)', 1n],
  ['array_ordinal_of(l1, 3)', 3n],
  ['array_ordinal_of(n, 3)', null],
  // membership
  ['array_contains(l1, 2)', 0n],
  ['array_contains(n, 2)', null],
  ['array_contains(l3, 2)', 1n],
  ["array_contains(l3, '2')", 1n],
  ['array_contains(l3, 2.5)', 0n],
  ['array_contains(l1, [1, 2, 3])', 0n],
  ['array_contains(l3, [1, 2, 3])', 1n],
  ['array_contains(s3, [1])', 0n],
  ['array_contains(l3, [])', 1n],
  ['array_contains(l1, null)', 1n],
  ['array_overlap(s1, d1)', 0n],
  ['array_overlap(s2, d2)', 1n],
  ['array_overlap(s3, d3)', 0n],
  ['array_overlap(n, n)', null],
  ["array_overlap(s1, ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])", 1n],
  ["array_overlap(s1, ['B', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])", 0n],
  ['scalar_in_array(2, l3)', 1n],
  ['scalar_in_array(4, l3)', 0n],
  ['scalar_in_array(n, l3)', null],
  ['scalar_in_array(2, n)', null],
  ['scalar_in_array(n, l1)', 1n],
  ['scalar_in_array(36, [1, 4, 5, 6, 8, 9, 12, 13, 36])', 1n],
  ['scalar_in_array(36.0, [1, 4, 5, 6, 8, 9, 12, 13, 36])', 1n],
  // more elements
  ["array_append(s1, 'c')", ['a', 'b', 'c']],
  ["array_append(s2, 'c')", [null, 'b', 'c']],
  ["array_append(s3, 'c')", ['c']],
  ["array_append(n, 'c')", null],
  ["array_append(l3, 'x')", [1n, 2n, 3n, null]],
  ["array_prepend('c', s1)", ['c', 'a', 'b']],
  ["array_prepend('c', n)", null],
  ['array_concat(l3, d3)', [1, 2, 3, null, 2.2, 1.1]],
  ['array_concat(l3, [])', [1n, 2n, 3n]],
  ['array_concat([], n)', null],
  ['array_concat(n, [1])', null],
  ['array_set_add([3, 1, 3], 2)', [1n, 2n, 3n]],
  ["array_set_add(['a'], null)", [null, 'a']],
  ["array_set_add([1, 2], '2')", [1n, 2n]],
  ['array_set_add_all([1, 2, 3], [3, 4, 5])', [1n, 2n, 3n, 4n, 5n]],
  ['array_set_add_all([1], n)', null],
  ['array_slice(d1, 0, 2)', [1.1, 2.2]],
  ['array_slice([], 0, 2)', [null, null]],
  ['array_slice(l3, 1, 3)', [2n, 3n]],
  ['array_slice(l3, 3, 4)', [null]],
  ['array_slice(l3, 4, 5)', null],
  ['array_slice(l3, -1, 2)', null],
  ['array_slice(l3, 2, 1)', null],
  // and texts
  ["array_to_string(d1, '')", '1.12.2null'],
  ["array_to_string(d2, '')", '999.0null5.5'],
  ["array_to_string(s3, ',')", ''],
  ["array_to_string(n, ',')", null],
  ["array_to_string([1, 2, 3], ' - ')", '1 - 2 - 3'],
  ["string_to_array('123 Rose Lane', '\\\\s+')", ['123', 'Rose', 'Lane']],
  ["string_to_array('a,b,,c,,', ',')", ['a', 'b', '', 'c']],
  ["string_to_array('', ',')", ['']],
  ["string_to_array(',,', ',')", []],
  ["string_to_array('abc', 'x')", ['abc']],
  ["string_to_array(n, ',')", null],
  ['array_quantile([1, 2, 3, 4], 0.5)', 2.5],
  ['array_quantile([4, null, 1], 1)', 4],
  ['array_quantile([], 0.5)', Number.NaN],
  ['array_quantile([1], 2)', null],
  // casts
  ["cast(d1, 'ARRAY<LONG>')", [1n, 2n, null]],
  ["cast(l1, 'ARRAY<STRING>')", ['1', null, '3']],
  ["cast(7, 'ARRAY<DOUBLE>')", [7]],
  ["cast(n, 'ARRAY<LONG>')", null],
  ["cast(['8'], 'LONG')", 8n],
  ["cast([8, 9], 'LONG')", null],
  // lambdas
  ['map((x) -> x + 1, l3)', [2n, 3n, 4n]],
  ['map(x -> x + 1, x)', [11n, 21n]],
  ['map((x) -> x + l, l3)', [8n, 9n, 10n]],
  ['map((x) -> x / 2.0, l1)', [0.5, null, 1.5]],
  ['map((x) -> x, n)', null],
  ['map((x) -> x, [])', []],
  [
    'map((a) -> map((b) -> a * b, [1, 10]), [2, 3])',
    [
      [2n, 20n],
      [3n, 30n],
    ],
  ],
  ['cartesian_map((x, y) -> x + y, [1, 2], [10, 20, 30])', [11n, 21n, 31n, 12n, 22n, 32n]],
  ["cartesian_map((x, y) -> concat(x, y), ['a', 'b'], [])", []],
  ['cartesian_map((x, y) -> x, l3, n)', null],
  ['filter((x) -> x > 1, l3)', [2n, 3n]],
  ['filter((x) -> x > 3, l3)', null],
  ['filter((x) -> 1, n)', null],
  ['fold((x, acc) -> x + acc, l3, 0)', 6n],
  ['fold((x, acc) -> x + acc, d1, 1)', null],
  ['fold((x, acc) -> coalesce(x, 0) + acc, [1.5, null, 2.5], 1)', 5],
  ['fold((x, acc) -> array_append(acc, x * x), l3, <LONG>[])', [1n, 4n, 9n]],
  ['fold((x, acc) -> acc / x, [2, 2], 9)', 2n],
  ['fold((x, acc) -> acc / x, [2.0], 9)', 4.5],
  ['fold((x, acc) -> 1, n, 0)', null],
  ['fold((x, acc) -> 1, [], 5)', 5n],
  ['cartesian_fold((x, y, acc) -> acc + x * y, [1, 2], [3, 4], 0)', 21n],
  ['any((x) -> x > 2, l3)', 1n],
  ['any((x) -> x > 3, l3)', 0n],
  ['any((x) -> 1, n)', 0n],
  ['all((x) -> x > 0, l3)', 1n],
  ['all((x) -> x > 1, l3)', 0n],
  ['all((x) -> x > 1, [])', 1n],
  // what arrays are to other functions
  ['if(l > 1, l1, l3)', [1n, null, 3n]],
  ['l3 == [1, 2, 3]', 1n],
  ['l1 < l3', 1n],
  ["s1 >= ['a', 'b']", 1n],
  ['coalesce(n, l3)', [1n, 2n, 3n]],
  ['isnull(s3)', 0n],
  // multi-value rows
  ['array_to_mv(d2)', ['999.0', null, '5.5']],
  ["concat(array_to_mv(['a', 'b']), '!')", ['a!', 'b!']],
  ["concat(array_to_mv(['a', 'b']), array_to_mv(['x', 'y']))", ['ax', 'ay', 'bx', 'by']],
  ["array_length(upper(array_to_mv(['a', 'b'])))", 2n],
  ["mv_filter_only(['t1', 't2', 't3'], ['t1', 't3'])", ['t1', 't3']],
  ["mv_filter_only(['t5'], ['t1', 't3'])", null],
  ["mv_filter_none(['t3', 't4', 't5'], ['t1', 't3'])", ['t4', 't5']],
  ["mv_filter_none(['t1', null], ['t1'])", null],
  ["mv_filter_regex(['t1', 'x'], '^t.*')", ['t1']],
  ["mv_filter_prefix(['t3', 't31', 't4'], 't3')", ['t3', 't31']],
  ["string_to_mv('123 Rose Lane', '\\\\s+')", ['123', 'Rose', 'Lane']],
  ["mv_to_array(['t1', 't2'])", ['t1', 't2']],
  ['mv_harmonize_nulls(n)', [null]],
  ['mv_harmonize_nulls([])', [null]],
  ['nvl(array_to_mv([]), 1)', ['1']],
  // of a lambda's own parameter they stay a list
  ['map((x) -> array_to_mv(x), [1, 2])', [['1'], ['2']]],
  ["cartesian_map((x, y) -> array_to_mv(y), ['a'], [1, 2])", [['1'], ['2']]],
];
for (const [text, value] of cases) arrays(text, () => assert.equal(run(text), value));

const longest = `[${'1 '.repeat(1500)}]`;
const refused: readonly [text: string, message: RegExp][] = [
  ["[1, 'a']", /found an array of a number and STRING at column 1/],
  ['[1, x]', /found "x" at column 5; expected a number, a string/],
  ['[1,, 2]', /found "," at column 4/],
  ['[1, 2', /found the end at column 6/],
  ['<DATE>[]', /found "DATE" at column 2; expected LONG/],
  ['<COMPLEX<json>>[]', /found "json" at column 10/],
  ['map(() -> 1, l3)', /takes one of 1 parameters, found 0 \(at column 1/],
  ['map((x, y) -> x, l3)', /takes one of 1 parameters, found 2/],
  ['1 + map(l3, l3)', /found "," at column 11; expected "->"/],
  ['map(1, l3)', /found "1" at column 5; expected the lambda that map takes/],
  ['map((x) -> x)', /takes 2 arguments, found 1 \(at column 1/],
  ['1 + (x) -> x', /found "->" at column 9; expected a lambda as the first argument/],
  ['concat(x -> x)', /found "->" at column 10/],
  ['array_length()', /array_length takes 1 arguments, found 0 \(at column 1/],
  ["cast(l, 'ARRAY<DATE>')", /one of LONG/],
  ["cast(l, 'COMPLEX<HLLSketch>')", /one of LONG/],
  ['l3 + 1', /operator \+ takes single values, found ARRAY<LONG>/],
  ['fold((x, acc) -> array(acc), l3, 0)', /another type than the accumulator/],
  [`${'map((x) -> '.repeat(7)}1${', [1])'.repeat(7)}`, /a lambda within 6 others/],
  ["string_to_array(s, '(')", /not an accepted regular expression/],
  ['string_to_array(s, s)', /must be a constant/],
  ["fold((x, acc) -> x, filter((y) -> any((z) -> z == array_to_mv(['a']), y), ['a']), '')", /the lambda of any names a multi-value column/],
];
for (const [text, message] of refused)
  arrays(`refuses ${text.slice(0, 60)}`, () => {
    assert.throws(
      () => run(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });

const unbounded: readonly [text: string, message: RegExp][] = [
  ["repeat('x', 100000000)", /repeat: a string of 100000000 characters; up to 4194304/],
  ["lpad('x', 100000000, 'y')", /lpad/],
  ["fold((x, acc) -> concat(acc, acc), array_slice([], 0, 100), 'xyz')", /concat: a string of/],
  ["fold((x, acc) -> acc + acc, array_slice([], 0, 100), 'xyz')", /\+: a string of/],
  ["replace(repeat('x', 4000000), 'x', 'yy')", /replace: a string of/],
  ['fold((x, acc) -> array_concat(acc, acc), array_slice([], 0, 100), [1])', /array_concat: an array of 2097152 elements/],
  ['array_slice([1], 0, 1000000000)', /array_slice: an array of 1000000000 elements/],
  ["array_length(string_to_array(repeat('a,', 2000000), ','))", /string_to_array: an array of/],
  ['cartesian_map((x, y) -> 1, array_slice([], 0, 9999), array_slice([], 0, 9999))', /cartesian_map: an array of 99980001 elements/],
  ['cartesian_fold((x, y, acc) -> acc + 1, array_slice([], 0, 9999), array_slice([], 0, 9999), 0)', /ran more than 1000000 times/],
  ["array_to_string(map((x) -> repeat('x', 1000000), array_slice([], 0, 100)), '')", /array_to_string: a string of/],
  ["fold((x, acc) -> json_object('a', acc, 'b', acc), array_slice([], 0, 100), parse_json('1'))", /json_object: JSON of more than/],
  ["fold((x, acc) -> json_object('a', acc), array_slice([], 0, 1000), parse_json('1'))", /json_object: JSON nested deeper than 500/],
];
for (const [text, message] of unbounded)
  arrays(`bounds ${text.slice(0, 60)}`, () => {
    assert.throws(
      () => run(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit' && message.test(error.message),
    );
  });

arrays('long literals and many empty combinations are no trouble', () => {
  assert.is(run(`array_length(${longest})`), 1500n);
  assert.equal(run('cartesian_map((x, y, z) -> 1, array_slice([], 0, 99999), array_slice([], 0, 99999), [])'), []);
  assert.is(run('cartesian_fold((x, y, z, acc) -> 1, array_slice([], 0, 99999), array_slice([], 0, 99999), [], 5)'), 5n);
});

const typeCases: readonly [text: string, type: string][] = [
  ['[1, 2]', 'ARRAY<LONG>'],
  ['[1, 2.0]', 'ARRAY<DOUBLE>'],
  ["['a']", 'ARRAY<STRING>'],
  ['[]', 'ARRAY<STRING>'],
  ['<LONG>[]', 'ARRAY<LONG>'],
  ['array(l, d)', 'ARRAY<DOUBLE>'],
  ['array(null)', 'ARRAY<LONG>'],
  ["array(l, 'a')", 'ARRAY<STRING>'],
  ['array(f)', 'ARRAY<DOUBLE>'],
  ['array(al)', 'ARRAY<ARRAY<LONG>>'],
  ['array_offset(ad, 1)', 'DOUBLE'],
  ['array_prepend(s, al)', 'ARRAY<LONG>'],
  ['array_append(s, 1)', 'ARRAY<STRING>'],
  ['map((x) -> x + d, al)', 'ARRAY<DOUBLE>'],
  ['map((x) -> strlen(x), as)', 'ARRAY<LONG>'],
  ['filter((x) -> x, al)', 'ARRAY<LONG>'],
  ['fold((x, acc) -> x + acc, ad, 0)', 'DOUBLE'],
  ['fold((x, acc) -> x + acc, al, 0)', 'LONG'],
  ['any((x) -> x, al)', 'LONG'],
  ['if(l, al, ad)', 'ARRAY<DOUBLE>'],
  ['coalesce(al, s)', 'ARRAY<STRING>'],
  ['array_to_mv(al)', 'STRING'],
  ['mv_to_array(s)', 'ARRAY<STRING>'],
  ["cast(s, 'array<double>')", 'ARRAY<DOUBLE>'],
  ['unknown', 'STRING'],
];
for (const [text, type] of typeCases)
  arrays(`type of ${text}`, () =>
    assert.is(
      expressionType(parseExpression(text), (name) => TYPES[name]),
      type,
    ),
  );

arrays('printing and parsing are inverse', () => {
  for (const [text] of [...cases, ...typeCases.map(([each]) => [each] as const)]) {
    const expression = parseExpression(text);
    assert.equal(parseExpression(printExpression(expression)), expression);
  }
});

arrays('arrays given back are not the list of arguments', () => {
  const value = run('map((x) -> array(x, x), [1, 2])');
  assert.equal(value, [
    [1n, 1n],
    [2n, 2n],
  ]);
  assert.ok(isArrayValue(value) && value[0] !== value[1]);
});

arrays.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { stringifyJson } from '../../src/base/json.js';
import { evaluate } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { parseExpression } from '../../src/expression/parse.js';
import { plainData, Structured, textOfValue, type Value, valueOfText } from '../../src/expression/value.js';

const row: Readonly<Record<string, Value>> = {
  j: new Structured({
    x: 1,
    y: [1, 2, 3],
    name: 'Gus',
    half: 0.5,
    yes: true,
    none: null,
    deep: [{ a: 1 }, { a: 'b', 'c d': 2 }],
    empty: {},
  }),
  event: new Structured({ type: 'PercentClear', percentage: 55 }),
  big: new Structured({ id: 9007199254740993n }),
  n: null,
  s: 'text',
  l: 7n,
};
const run = (text: string): Value => evaluate(parseExpression(text), (name) => row[name] ?? null);
/** JSON that is expected of an expression, as data. */
class Json {
  readonly data: unknown;

  constructor(text: string) {
    this.data = JSON.parse(text);
  }
}
const json = (text: string): Json => new Json(text);

const functions = suite('JSON functions');

const cases: readonly [text: string, value: Value | Json][] = [
  ["json_value(j, '$.x')", '1'],
  ["json_value(j, '$.x', 'LONG')", 1n],
  ["json_value(j, '$.x', 'DOUBLE')", 1],
  ["json_value(j, '$.half', 'LONG')", 0n],
  ["json_value(j, '$.name')", 'Gus'],
  ["json_value(j, '$.name', 'LONG')", null],
  ["json_value(j, '$.yes', 'LONG')", 1n],
  ["json_value(j, '$.none')", null],
  ["json_value(j, '$.nowhere')", null],
  ["json_value(j, '$.deep[1].a')", 'b'],
  ["json_value(j, '$.deep[-1][\\'c d\\']', 'LONG')", 2n],
  ["json_value(j, '$.y')", null],
  ["json_value(j, '$.y[1]')", '2'],
  ["json_value(j, '$.deep')", null],
  ["json_value(j, '$')", null],
  ["json_value(j, '$.y', 'ARRAY<LONG>')", [1n, 2n, 3n]],
  ["json_value(j, '$.y', 'ARRAY<STRING>')", ['1', '2', '3']],
  ["json_value(j, '$.x', 'ARRAY<LONG>')", [1n]],
  ["json_value(j, '$.deep', 'ARRAY<STRING>')", null],
  // A list is of one type before it is cast, as the original's answers are.
  [`json_value(parse_json('{"a":[true,1,0.5,"s",null]}'), '$.a', 'ARRAY<STRING>')`, ['true', '1', '0.5', 's', null]],
  [`json_value(parse_json('{"a":[true,1,0.5,"s",null]}'), '$.a', 'ARRAY<LONG>')`, [1n, 1n, 0n, null, null]],
  [`json_value(parse_json('{"a":[true,false,null]}'), '$.a', 'ARRAY<STRING>')`, ['1', '0', null]],
  [`json_value(parse_json('{"a":[true,0.5,2]}'), '$.a', 'ARRAY<STRING>')`, ['1.0', '0.5', '2.0']],
  [`json_value(parse_json('{"a":[true,0.5,2]}'), '$.a', 'ARRAY<DOUBLE>')`, [1, 0.5, 2]],
  ["json_value(big, '$.id', 'LONG')", 9007199254740993n],
  ["json_value(n, '$.x')", null],
  ["json_value(j, '$.x') + 1", 2],
  ["json_query(j, '$.deep[0]')", json('{"a": 1}')],
  ["json_query(j, '$.y')", json('[1, 2, 3]')],
  ["json_query(event, '$.percentage')", json('55')],
  ["json_query(j, '$.none')", null],
  ["json_query(j, '$.nowhere')", null],
  ["json_query_array(event, '$.percentage')", json('[55]')],
  ["json_query_array(j, '$.deep')", json('[{"a": 1}, {"a": "b", "c d": 2}]')],
  ["json_query_array(j, '$.nowhere')", null],
  ["array_length(json_query_array(j, '$.deep'))", 2n],
  ["map((x) -> json_value(x, '$.a'), json_query_array(j, '$.deep'))", ['1', 'b']],
  ["json_keys(event, '$.')", ['type', 'percentage']],
  ["json_keys(j, '$.deep[1]')", ['a', 'c d']],
  ["json_keys(j, '$.y')", ['0', '1', '2']],
  ["json_keys(j, '$.empty')", []],
  ["json_keys(j, '$.nowhere')", null],
  ['json_paths(j)', ['$.x', '$.y', '$.name', '$.half', '$.yes', '$.none', '$.deep[0].a', '$.deep[1].a', "$.deep[1]['c d']"]],
  ['json_paths(event)', ['$.type', '$.percentage']],
  ['json_paths(n)', ['$']],
  ["json_paths(parse_json('[[1, null], [], [2, [3]], {}]'))", ['$[0]', '$[1]', '$[2][0]', '$[2][1]']],
  ["json_query(j, '$.deep[1234567890].a')", null],
  ["json_query(j, '$.deep[-1234567890].a')", null],
  [
    "json_object('geo_ip', json_query(event, '$.type'), 'l', l, 'd', 2.5, 'none', n)",
    json('{"geo_ip": "PercentClear", "l": 7, "d": 2.5, "none": null}'),
  ],
  ["json_object('list', [1, 2], 'inner', json_object('a', 1))", json('{"list": [1, 2], "inner": {"a": 1}}')],
  ['json_object()', json('{}')],
  ['parse_json(\'{"name":"Gus"}\')', json('{"name": "Gus"}')],
  ["parse_json('5')", json('5')],
  ['parse_json(n)', null],
  ["parse_json('null')", null],
  ['try_parse_json(\'{"name":"Gus",x:x}\')', null],
  ['try_parse_json(\'{"name":"Gus"}\')', json('{"name": "Gus"}')],
  ['try_parse_json(l)', null],
  ['to_json_string(\'{"x":"y"}\')', '"{\\"x\\":\\"y\\"}"'],
  ['to_json_string(parse_json(\'{"x":"y"}\'))', '{"x":"y"}'],
  ['to_json_string([1, null])', '[1,null]'],
  ['to_json_string(big)', '{"id":9007199254740993}'],
  ['to_json_string(n)', null],
  ['json_merge(event, \'{"example_string": 123}\')', json('{"type":"PercentClear","percentage":55,"example_string":123}')],
  ['json_merge(\'{"a": 1, "b": 2}\', \'{"b": 3}\', \'{"c": 4}\')', json('{"a": 1, "b": 3, "c": 4}')],
  ['json_merge(n, event)', null],
  ['json_merge(event, n)', json('{"type":"PercentClear","percentage":55}')],
  ['json_merge(\'{"a": {"b": 1}}\', \'{"a": {"c": 2}}\')', json('{"a": {"b": 1, "c": 2}}')],
  [
    'json_merge(\'{"a": {"b": {"c": 1}}}\', \'{"a": {"b": {"d": 1}}}\', \'{"a": {"b": {"d": 2}}}\')',
    json('{"a": {"b": {"c": 1, "d": 2}}}'),
  ],
  ['json_merge(\'{"a": [1]}\', \'{"a": [2]}\')', json('{"a": [1, 2]}')],
  ['json_merge(\'{"a": {"b": 1}}\', \'{"a": 2}\')', json('{"a": 2}')],
  ['json_merge(\'{"a": 1}\', \'{"a": null}\')', json('{"a": null}')],
  ['json_merge(\'{"a": 1}\', \'{"__proto__": {"b": 1}}\')', json('{"a": 1, "__proto__": {"b": 1}}')],
  ["json_merge('[1]', '[2]')", json('[1, 2]')],
  ["json_merge('[1]', 'null')", json('[1]')],
  ["cast(json_query(j, '$.x'), 'LONG')", 1n],
  ["cast(json_query(j, '$.name'), 'STRING')", 'Gus'],
  ["cast(event, 'STRING')", '{"type":"PercentClear","percentage":55}'],
  ["cast(json_query(j, '$.y'), 'ARRAY<LONG>')", [1n, 2n, 3n]],
  ["complex_decode_base64('thetaSketch', 'AgMDAAAazJM=')", 'AgMDAAAazJM='],
  ["decode_base64_complex('complex<HLLSketch>', n)", null],
];
for (const [text, value] of cases)
  functions(text, () => {
    const found = run(text);
    if (value instanceof Json) assert.equal(JSON.parse(stringifyJson(plainData(found))), value.data);
    else assert.equal(found, value);
  });

const refused: readonly [text: string, message: RegExp][] = [
  ["parse_json('{x}')", /parse_json: '\{x\}' is not JSON; try_parse_json/],
  ['parse_json(l)', /parse_json takes a STRING, found LONG/],
  [`parse_json('${'['.repeat(600)}${']'.repeat(600)}')`, /is not JSON/],
  ["json_value(j, 'x')", /found "x" at column 1; expected "\$"/],
  ["json_value(j, '$.x', 'DATE')", /third argument is a type/],
  ["json_object('a')", /pairs/],
  ["json_object('a', 1, 2, 3)", /the key 2 is a LONG/],
  ["json_object(if(l, null, 'a'), 1)", /the key 1 is null/],
  ["json_merge(event, '[1]')", /takes values of one kind; found an object and a list/],
  ["json_merge(event, '{')", /json_merge: '\{' is not JSON/],
  ['json_merge(event, l)', /found LONG/],
  ["complex_decode_base64('nothing', s)", /one of .*hyperUnique/],
  ["complex_decode_base64('thetaSketch', '***')", /not base64/],
];
for (const [text, message] of refused)
  functions(`refuses ${text.slice(0, 40)}`, () => {
    assert.throws(
      () => run(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });

functions('types', () => {
  const typed: readonly [string, string][] = [
    ["json_value(j, '$.x')", 'STRING'],
    ["json_value(j, '$.x', 'LONG')", 'LONG'],
    ["json_value(j, '$.x', 'array<long>')", 'ARRAY<LONG>'],
    ["json_query(j, '$.x')", 'COMPLEX<json>'],
    ["json_query_array(j, '$.x')", 'ARRAY<COMPLEX<json>>'],
    ['json_paths(j)', 'ARRAY<STRING>'],
    ["map((x) -> json_value(x, '$.a', 'LONG'), json_query_array(j, '$'))", 'ARRAY<LONG>'],
    ["complex_decode_base64('thetaSketch', s)", 'COMPLEX<thetaSketch>'],
  ];
  for (const [text, type] of typed)
    assert.is(
      expressionType(parseExpression(text), (name) => (name === 'j' ? 'COMPLEX<json>' : 'STRING')),
      type,
    );
});

functions('arrays of JSON keep it as texts of dictionaries', () => {
  const value = [new Structured({ a: [1, '\u0001'] }), null, new Structured('x')];
  const text = textOfValue(value, 'ARRAY<COMPLEX<json>>');
  assert.equal(plainData(valueOfText(text, 'ARRAY<COMPLEX<json>>')), [{ a: [1, '\u0001'] }, null, 'x']);
});

functions.run();

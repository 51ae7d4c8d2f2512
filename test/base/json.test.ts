import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { parseJson, stringifyJson } from '../../src/base/json.js';

const json = suite('json');

json('64-bit integers survive reading and writing', () => {
  const text = '{"max":9223372036854775807,"min":-9223372036854775808,"small":1,"double":0.1}';
  assert.equal(parseJson(text), { max: 9223372036854775807n, min: -9223372036854775808n, small: 1, double: 0.1 });
  assert.is(stringifyJson(parseJson(text)), text);
});

json('a byte order mark is no part of the document', () => {
  assert.equal(parseJson('\ufeff{"a":9223372036854775807}'), { a: 9223372036854775807n });
  assert.throws(() => parseJson('\ufeff\ufeff1'), /not valid JSON/);
});

json('long fractions and exponents are numbers', () => {
  assert.equal(
    parseJson('[0.12345678901234567, 1e300, 12345678901234567e3, 1234567890123456]'),
    [0.12345678901234567, 1e300, 12345678901234567e3, 1234567890123456],
  );
});

json('agrees with JSON.parse and JSON.stringify on what those hold', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.is(stringifyJson(JSON.parse(text)), text);
      assert.is(stringifyJson(JSON.parse(text), 2), JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

json('NaN and infinities, which JSON lacks, are strings', () => {
  assert.is(stringifyJson([Number.NaN, Infinity, -Infinity]), '["NaN","Infinity","-Infinity"]');
});

const wrong: readonly { text: string; message: RegExp }[] = [
  { text: '', message: /empty/ },
  { text: '{"a": ', message: /ends too early at line 1/ },
  { text: '{"a": 1,\n  oops}', message: /unexpected "oops}" at line 2, column 3/ },
  { text: 'not json', message: /line 1, column/ },
];
for (const { text, message } of wrong) {
  json(`refuses ${JSON.stringify(text)} with its position`, () => {
    assert.throws(
      () => parseJson(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });
}

json('depth is an answer or a typed error, whatever the digits', () => {
  const deep = (inner: string): string => '['.repeat(100_000) + inner + ']'.repeat(100_000);
  for (const inner of ['1', '12345678901234567890']) {
    try {
      parseJson(deep(inner));
    } catch (error) {
      assert.instance(error, ServiceError);
    }
  }
});

const nested = (depth: number, open: string, inner: string, close: string): string => open.repeat(depth) + inner + close.repeat(depth);
const DEPTHS: readonly { readonly name: string; readonly text: string; readonly refused?: RegExp }[] = [
  { name: '1,000 arrays', text: nested(1000, '[', '', ']') },
  { name: '1,001 arrays', text: nested(1001, '[', '', ']'), refused: /deeper than 1000 levels.* line 1, column 1001$/ },
  { name: '1,000 objects', text: nested(1000, '{"a":', '1', '}') },
  { name: '1,001 objects', text: `\n${nested(1001, '{"a":', '1', '}')}`, refused: /deeper than 1000 levels.* line 2, column 5001$/ },
  { name: 'objects and arrays in turn', text: nested(501, '[{"a":', '1', '}]'), refused: /deeper than 1000 levels/ },
  { name: 'many arrays side by side', text: `[${'[[]],'.repeat(5000)}[]]` },
  { name: 'brackets in a string', text: `["${'['.repeat(5000)}"]` },
  { name: 'brackets in a string behind an escaped quote', text: JSON.stringify(['"[{\\'.repeat(2000), '\\']) },
  { name: 'brackets in a key', text: `{"${'{'.repeat(5000)}":1}` },
  { name: 'text that is not JSON', text: ']'.repeat(5000), refused: /not valid JSON/ },
];
for (const { name, text, refused } of DEPTHS)
  json(`depth: ${name}`, () => {
    if (refused === undefined) return assert.equal(parseJson(text), JSON.parse(text));
    assert.throws(
      () => parseJson(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && refused.test(error.message),
    );
  });

json.run();

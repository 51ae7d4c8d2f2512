import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decimalNumber, parseLong, shortInteger } from '../../src/ingestion/column/number-text.js';
import { timestampParser } from '../../src/ingestion/column/timestamp.js';

const numbers = suite('numbers and times in text');

const inBytes = <Result>(read: (bytes: Uint8Array, start: number, end: number) => Result, text: string): Result => {
  const bytes = Buffer.from(`,${text},`);
  return read(bytes, 1, bytes.length - 1);
};

numbers('doubles are those of Number()', () => {
  const decimals = fc.tuple(fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }), fc.integer({ min: 0, max: 25 })).map(([digits, places]) => {
    const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
    return `${digits < 0n ? '-' : ''}${text.slice(0, text.length - places)}${places === 0 ? '' : `.${text.slice(text.length - places)}`}`;
  });
  fc.assert(
    fc.property(fc.oneof(decimals, fc.double({ noNaN: true }).map(String)), (text) => {
      assert.is(inBytes(decimalNumber, text), Number(text));
    }),
    { numRuns: 2000 },
  );
});

for (const text of ['', '-', '.', '1.2.3', '0x10', '1e', 'abc', '1,5', 'NaN', '--1'])
  numbers(`no double: "${text}"`, () => assert.ok(Number.isNaN(inBytes(decimalNumber, text))));

const longs: readonly (readonly [string, bigint | undefined])[] = [
  ['0', 0n],
  ['-7', -7n],
  ['+7', 7n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['9223372036854775808', undefined],
  ['12.0', 12n],
  ['12.5', undefined],
  [' 5 ', 5n],
  ['1e3', undefined],
  ['', undefined],
  ['five', undefined],
];
for (const [text, value] of longs) numbers(`long "${text}"`, () => assert.is(parseLong(text), value));

numbers('a short integer is the long, or left to parseLong', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (value) => {
      const short = inBytes(shortInteger, String(value));
      assert.ok(Number.isNaN(short) ? String(value).replace('-', '').length > 15 : BigInt(short) === value);
    }),
  );
  for (const text of ['', '-', '1.0', '1 ']) assert.ok(Number.isNaN(inBytes(shortInteger, text)));
});

const at = Date.UTC(2015, 8, 12, 0, 46, 58, 771);
const times: readonly { readonly format: string; readonly value: string | number | bigint; readonly ms: number }[] = [
  { format: 'iso', value: '2015-09-12T00:46:58.771Z', ms: at },
  { format: 'iso', value: '2015-09-12 00:46:58.771', ms: at },
  { format: 'iso', value: '2015-09-12T02:46:58.771+02:00', ms: at },
  { format: 'iso', value: '2015-09-12T00:46:58Z', ms: at - 771 },
  { format: 'iso', value: '2015-09-12', ms: Date.UTC(2015, 8, 12) },
  { format: 'iso', value: '2015', ms: Date.UTC(2015, 0, 1) },
  { format: 'iso', value: '1969-12-31T23:59:59.999Z', ms: -1 },
  { format: 'iso', value: '2016-02-29T00:00:00Z', ms: Date.UTC(2016, 1, 29) },
  { format: 'iso', value: '2015-02-29T00:00:00Z', ms: Number.NaN },
  { format: 'iso', value: '2015-13-01T00:00:00Z', ms: Number.NaN },
  { format: 'iso', value: '2015-09-12T25:00:00Z', ms: Number.NaN },
  { format: 'iso', value: '2015-09-12T0a:00:00Z', ms: Number.NaN },
  { format: 'iso', value: 'yesterday', ms: Number.NaN },
  { format: 'iso', value: at, ms: Number.NaN },
  { format: 'millis', value: at, ms: at },
  { format: 'millis', value: String(at), ms: at },
  { format: 'millis', value: '-1', ms: -1 },
  { format: 'millis', value: 'x', ms: Number.NaN },
  { format: 'posix', value: 1442018818, ms: 1442018818000 },
  { format: 'posix', value: '1442018818', ms: 1442018818000 },
  { format: 'ruby', value: '1442018818.771', ms: at },
  { format: 'micro', value: '1442018818771999', ms: at },
  { format: 'nano', value: '1442018818771999999', ms: at },
  { format: 'nano', value: 1442018818771999999n, ms: at },
  { format: 'nano', value: '-1', ms: -1 },
  { format: 'auto', value: String(at), ms: at },
  { format: 'auto', value: at, ms: at },
  { format: 'auto', value: '2015-09-12T00:46:58.771Z', ms: at },
  { format: 'auto', value: '"2015-09-12"', ms: Date.UTC(2015, 8, 12) },
  { format: 'auto', value: true as unknown as string, ms: Number.NaN },
  { format: 'yyyy/MM/dd HH:mm', value: '2015/09/12 00:46', ms: at - 58_771 },
  { format: 'yyyy/MM/dd HH:mm', value: '2015-09-12 00:46', ms: Number.NaN },
  { format: "dd.MM.yyyy'T'HH:mm:ss.SSSZ", value: '12.09.2015T02:46:58.771+0200', ms: at },
];
for (const { format, value, ms } of times) {
  numbers(`time ${format} of ${typeof value} ${String(value)}`, () => {
    const parser = timestampParser(format, 'timestampSpec.format');
    assert.ok(Object.is(parser.fromValue(value), ms), String(parser.fromValue(value)));
    if (typeof value === 'string')
      assert.ok(
        Object.is(
          inBytes((bytes, start, end) => parser.fromBytes(bytes, start, end), value),
          ms,
        ),
      );
  });
}

numbers('a format that is none is refused by name', () => {
  assert.throws(() => timestampParser('isso', 'timestampSpec.format'), /timestampSpec\.format|pattern/);
});
numbers.run();

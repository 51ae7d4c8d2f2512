import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ArrayElement,
  arrayElements,
  arrayText,
  numberAt,
  numberCount,
  numberTexts,
  placeOfNumber,
} from '../../src/model/array-text.js';
import { type ArrayType, parseColumnType, widestType } from '../../src/model/schema.js';

const test = suite('array text');

const long = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -3n, max: 3n }));
const double = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -1, 1, Infinity, -Infinity));
const text = fc.oneof(fc.string(), fc.constantFrom('', '\u0000', '\u0001', '\u0002', 'a', 'a\u0000', 'ab', '\u0001\u0002'));
const nullable = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null, freq: 4 });
const arrays = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(values, { maxLength: 4 });

const CASES: readonly { readonly type: ArrayType; readonly values: fc.Arbitrary<readonly ArrayElement[]> }[] = [
  { type: 'ARRAY<LONG>', values: arrays(nullable(long)) },
  { type: 'ARRAY<DOUBLE>', values: arrays(nullable(double)) },
  { type: 'ARRAY<STRING>', values: arrays(nullable(text)) },
  { type: 'ARRAY<ARRAY<STRING>>', values: arrays(nullable(arrays(nullable(text)))) },
  { type: 'ARRAY<ARRAY<LONG>>', values: arrays(nullable(arrays(nullable(long)))) },
];

/** Comparison by the definition: element by element, null first; of two with a common beginning the shorter one first. */
function compare(a: ArrayElement, b: ArrayElement): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      const order = compare(a[at] ?? null, b[at] ?? null);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  if (Object.is(a, b)) return 0;
  if (a === 0 && b === 0) return Object.is(a, -0) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

for (const element of ['LONG', 'DOUBLE'] as const)
  test(`ARRAY<${element}>: elements are read from bytes without the texts`, () => {
    const type: ArrayType = `ARRAY<${element}>`;
    const { values } = CASES.find((each) => each.type === type) ?? { values: fc.constant([]) };
    fc.assert(
      fc.property(values, values, (before, array) => {
        const [first, second] = [Buffer.from(arrayText(before, type)), Buffer.from(arrayText(array, type))];
        const joined = Buffer.concat([first, second]);
        const bytes = new DataView(joined.buffer, joined.byteOffset, joined.length);
        assert.is(numberCount(bytes, first.length, joined.length), array.length);
        array.forEach((each, place) => {
          assert.ok(Object.is(numberAt(bytes, first.length, joined.length, place, element), each));
        });
        assert.is(numberAt(bytes, first.length, joined.length, array.length, element), null);
        const textOf = (value: bigint | number): string => (Object.is(value, -0) ? '-0' : String(value));
        const expected = array.map((each) => (each === null ? 'none' : textOf(each as bigint | number)));
        assert.equal(numberTexts(bytes, first.length, joined.length, { element, ofNull: 'none', textOf }), expected);
        for (const wanted of [...before, ...array]) {
          const digits = arrayText([wanted], type).slice(1, -1);
          const place = wanted === null ? -1 : array.findIndex((each) => each !== null && Object.is(each, wanted));
          if (wanted !== null) assert.is(placeOfNumber(bytes, first.length, joined.length, digits), place);
        }
      }),
    );
  });

for (const { type, values } of CASES) {
  test(`${type}: a text reads back as what was written`, () => {
    fc.assert(fc.property(values, (array) => assert.equal(arrayElements(arrayText(array, type), type), array)));
  });

  test(`${type}: texts have the order of the arrays`, () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [left, right] = [arrayText(a, type), arrayText(b, type)];
        assert.is(left < right ? -1 : left > right ? 1 : 0, Math.sign(compare(a, b)));
      }),
    );
  });
}

test('a text that is no array is found', () => {
  assert.throws(() => arrayElements('plain', 'ARRAY<STRING>'), /not an ARRAY<STRING>/);
  assert.throws(() => arrayElements('\u0002abc', 'ARRAY<STRING>'), /not an ARRAY<STRING>/);
});

test('types are read in any case', () => {
  assert.is(parseColumnType('array<long>'), 'ARRAY<LONG>');
  assert.is(parseColumnType('Array<Array<String>>'), 'ARRAY<ARRAY<STRING>>');
  assert.is(parseColumnType('ARRAY<FLOAT>'), 'ARRAY<DOUBLE>');
  assert.is(parseColumnType('complex<json>'), 'COMPLEX<json>');
  assert.is(parseColumnType('double'), 'DOUBLE');
  assert.is(parseColumnType('ARRAY<NOTHING>'), undefined);
  assert.is(parseColumnType('ARRAY'), undefined);
});

test('the widest type', () => {
  assert.is(widestType(['LONG', 'FLOAT']), 'FLOAT');
  assert.is(widestType(['DOUBLE', 'LONG']), 'DOUBLE');
  assert.is(widestType(['ARRAY<LONG>', 'LONG']), 'ARRAY<LONG>');
  assert.is(widestType(['STRING', 'LONG']), 'STRING');
  assert.is(widestType(['ARRAY<LONG>', 'STRING']), 'ARRAY<STRING>');
  assert.is(widestType(['FLOAT', 'ARRAY<LONG>']), 'ARRAY<DOUBLE>');
  assert.is(widestType(['ARRAY<LONG>', 'ARRAY<DOUBLE>']), 'ARRAY<DOUBLE>');
  assert.is(widestType(['ARRAY<ARRAY<LONG>>', 'ARRAY<STRING>']), 'ARRAY<ARRAY<STRING>>');
  assert.is(widestType(['ARRAY<LONG>', 'COMPLEX<json>']), 'COMPLEX<json>');
  assert.is(widestType(['STRING', 'COMPLEX<json>']), 'COMPLEX<json>');
  assert.is(widestType(['COMPLEX<HLLSketch>', 'COMPLEX<json>']), 'STRING');
  assert.is(widestType([]), 'STRING');
});

test.run();

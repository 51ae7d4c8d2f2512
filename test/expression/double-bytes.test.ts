import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { doubleText } from '../../src/base/number-text.js';
import { DOUBLE_BYTES_MAX, DoublePrinter, printInteger } from '../../src/expression/double-bytes.js';
import { caseCount } from '../case-count.js';

const printing = suite('doubles as bytes');

/** Every value by one printer, as for a column, and by one of its own. */
function assertPrinted(values: readonly number[]): void {
  const column = new DoublePrinter();
  for (const value of values)
    for (const printer of [column, new DoublePrinter()]) {
      const bytes = new Uint8Array(DOUBLE_BYTES_MAX + 3);
      const end = printer.print(value, bytes, 3);
      assert.is(new TextDecoder().decode(bytes.subarray(3, end)), doubleText(value));
    }
}

const neighbour = (value: number, steps: number): number => {
  const bits = new BigInt64Array(Float64Array.of(value).buffer);
  bits[0] = (bits[0] ?? 0n) + BigInt(steps);
  return new Float64Array(bits.buffer)[0] ?? 0;
};
/** Values at which the form, the number of digits or the distance to the next double changes. */
const EDGES = [
  ...Array.from({ length: 330 }, (_, at) => Number(`1e${at - 310}`)),
  ...Array.from({ length: 80 }, (_, at) => 2 ** (at - 20)),
  ...[
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    5e-324,
    Number.MAX_VALUE,
    0.1 + 0.2,
    0.3,
    9999999.999999998,
    123456.7890123,
    2 / 3,
    4.35,
    0.000123,
    100 / 3,
  ],
];
printing('edges and their neighbours', () =>
  assertPrinted(
    EDGES.flatMap((value) =>
      [-2, -1, 0, 1, 2].flatMap((steps) => (value === 0 ? [value] : [neighbour(value, steps), -neighbour(value, steps)])),
    ),
  ),
);

/** Decimal fractions, means of them, and any numbers of the sizes that are printed without an exponent. */
const value = fc.oneof(
  fc.tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.nat(12)).map(([digits, places]) => digits / 10 ** places),
  fc.tuple(fc.maxSafeNat(), fc.integer({ min: 6, max: 18 })).map(([digits, places]) => Number(`${digits}e-${places}`)),
  fc
    .tuple(fc.maxSafeNat(), fc.integer({ min: 6, max: 18 }), fc.integer({ min: -3, max: 3 }))
    .map(([digits, places, steps]) => neighbour(Number(`${digits}e-${places}`), steps)),
  fc.tuple(fc.integer({ min: 1, max: 10 ** 8 }), fc.integer({ min: 1, max: 10 ** 5 })).map(([sum, count]) => sum / 1e4 / count),
  fc.tuple(fc.double({ min: 1, max: 2 }), fc.integer({ min: -11, max: 25 })).map(([part, power]) => part * 2 ** power),
  fc.double(),
);
printing('any doubles', () => fc.assert(fc.property(fc.array(value, { maxLength: 200 }), assertPrinted), { numRuns: caseCount(300) }));

printing('integers', () =>
  fc.assert(
    fc.property(
      fc.oneof(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.nat(9).map((power) => 10 ** power),
        fc.nat(8).map((power) => 10 ** (power + 1) - 1),
      ),
      (integer) => {
        const bytes = new Uint8Array(12);
        assert.is(new TextDecoder().decode(bytes.subarray(1, printInteger(integer, bytes, 1))), String(integer));
      },
    ),
    { numRuns: caseCount(500) },
  ),
);
printing.run();

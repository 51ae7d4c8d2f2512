// Conformance checks of functions over numbers.

import { LONGS, perType } from '../signatures.js';
import { wrap } from './aggregate.js';
import { elementwise } from './compute.js';
import { type Lab, MASKS, MAX_I64, MIN_I64, type Value } from './lab.js';

type OfLongs = 'divide' | 'remainder' | 'and' | 'or' | 'xor' | 'shiftLeft' | 'shiftRight';

const EXPECTED: Readonly<Record<OfLongs, (a: bigint, b: bigint) => bigint>> = {
  divide: (a, b) => (b === 0n ? 0n : a / b),
  remainder: (a, b) => (b === 0n ? 0n : a % b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shiftLeft: (a, b) => a << BigInt.asUintN(6, b),
  shiftRight: (a, b) => a >> BigInt.asUintN(6, b),
};

const ofLongs = (name: OfLongs) => (type: 'I64') => (lab: Lab) =>
  elementwise(lab, type, lab.kernels[`${name}${type}`], (a, b) => wrap(EXPECTED[name](BigInt(a), BigInt(b))));

const isOdd = (x: number): boolean => Math.abs(x % 2) === 1;
/** Operations of `mapF64` by number; the last takes every double to f32 and back. */
const MAPS: readonly ((x: number) => number)[] = [
  Math.floor,
  Math.ceil,
  Math.trunc,
  (x) => {
    const [whole, rest] = [Math.trunc(Math.abs(x)), Math.abs(x) % 1];
    return signed(x, rest > 0.5 || (rest === 0.5 && isOdd(whole)) ? whole + 1 : whole);
  },
  (x) => (x > 0 ? 1 : x < 0 ? -1 : x),
  Math.sqrt,
  Math.abs,
  (x) => -x,
  Math.fround,
  Math.log,
];

/** On the digits that a number prints with: `up` of the last unit, doubled, is added before they are cut. 1 rounds half away from zero, 0 cuts. */
function placedDigits(x: number, places: number, up: 0n | 1n): number {
  const [mantissa = '0', written = '0'] = Math.abs(x).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const cut = digits.length - 1 - Number(written) - places;
  if (cut <= 0) return x + 0;
  const unit = 10n ** BigInt(cut);
  const placed = Number(`${(BigInt(digits) + (up * unit) / 2n) / unit}e${-places}`);
  return (x < 0 ? -placed : placed) + 0;
}

/** @param up  as in `placedDigits` */
const toPlaces = (name: 'roundF64' | 'cutF64', up: 0n | 1n) => (lab: Lab) => {
  for (const places of [0, 1, 2, 5, 15, -1, -2, -6, -14])
    lab.each(PLACES, (rows, place) => {
      const [power, unit] = [10 ** Math.max(0, places), 10 ** Math.max(0, -places)];
      const values = lab.values('F64', rows).map((value) => {
        const kind = lab.random(4);
        // Half a unit of the last place that is kept, and decimals of as many places and of one more.
        if (kind < 2)
          return (kind === 0 ? 1 : -1) * Number(`${lab.random(100_000)}${[5, 0, lab.random(10)][lab.random(3)]}e${-places - 1}`);
        return kind === 2 ? (HALVES[lab.random(HALVES.length)] ?? 0) : Number(value);
      });
      const isKnown = (value: number): boolean => Math.floor((Math.abs(value) * power) / unit) * unit < 1e14;
      const { from, out } = placesOf(lab, 'F64', values, place);
      const left = lab.call(() => lab.kernels[name](from, rows, power, unit, out));
      lab.expect(
        'F64',
        out,
        values.map((value) => (isKnown(value) ? placedDigits(value, places, up) : value)),
        `${places} places, value`,
      );
      const expected = values.filter((value) => !isKnown(value)).length;
      if (left !== expected) lab.fail(`${left} values were left, expected ${expected}`);
    });
};

function signed(like: number, magnitude: number): number {
  if (!Number.isFinite(like)) return like;
  const exact = Math.abs(like) >= 2 ** 52 ? Math.abs(like) : magnitude;
  return like < 0 || Object.is(like, -0) ? -exact : exact;
}

const PLACES = ['apart', 'in place'] as const;
/** Halves, and the doubles next to them, beside the usual ones. */
const HALVES = [
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  0.49999999999999994,
  -0.49999999999999994,
  4503599627370495.5,
  2 ** 63,
  -(2 ** 63),
  2 ** 64,
  1e300,
];

const placesOf = (lab: Lab, type: 'I64' | 'F64', values: readonly Value[], place: (typeof PLACES)[number]) => {
  const from = place === 'apart' ? lab.place(type, values) : lab.output(type, values.length, values);
  return { from, out: place === 'apart' ? lab.output(type, values.length) : from };
};

const choose = (bits: 32 | 64) => (lab: Lab) => {
  const type = bits === 32 ? 'U32' : 'I64';
  const shapes = MASKS.flatMap((mask) =>
    ['arrays', 'one a', 'one b', 'both one', 'into a', 'into b'].map((shape) => `${mask}, ${shape}` as const),
  );
  lab.each(shapes, (rows, variant) => {
    const [pattern = 'none', shape = ''] = variant.split(', ');
    const mask = lab.mask(pattern as (typeof MASKS)[number], rows);
    const [oneA, oneB] = [shape === 'one a' || shape === 'both one', shape === 'one b' || shape === 'both one'];
    const [a, b] = [lab.values(type, oneA ? 1 : rows), lab.values(type, oneB ? 1 : rows)];
    const atMask = lab.uploadBits(mask);
    const atA = shape === 'into a' ? lab.output(type, rows, a) : lab.place(type, a);
    const atB = shape === 'into b' ? lab.output(type, rows, b) : lab.place(type, b);
    const out = shape === 'into a' ? atA : shape === 'into b' ? atB : lab.output(type, rows);
    lab.call(() => lab.kernels[`choose${bits}`](atMask, atA, oneA ? 1 : 0, atB, oneB ? 1 : 0, rows, out));
    lab.expect(
      type,
      out,
      mask.map((isA, row) => (isA ? a[oneA ? 0 : row] : b[oneB ? 0 : row]) ?? 0),
    );
  });
};

export const NUMBER_CHECKS = {
  ...perType('divide', LONGS, ofLongs('divide')),
  ...perType('remainder', LONGS, ofLongs('remainder')),
  ...perType('and', LONGS, ofLongs('and')),
  ...perType('or', LONGS, ofLongs('or')),
  ...perType('xor', LONGS, ofLongs('xor')),
  ...perType('shiftLeft', LONGS, ofLongs('shiftLeft')),
  ...perType('shiftRight', LONGS, ofLongs('shiftRight')),
  absI64: (lab: Lab) =>
    lab.each(PLACES, (rows, place) => {
      const values = lab.values('I64', rows).map(BigInt);
      const { from, out } = placesOf(lab, 'I64', values, place);
      lab.call(() => lab.kernels.absI64(from, rows, out));
      lab.expect(
        'I64',
        out,
        values.map((value) => wrap(value < 0n ? -value : value)),
      );
    }),
  mapF64: (lab: Lab) => {
    for (const [operation, map] of MAPS.entries()) {
      lab.each(PLACES, (rows, place) => {
        const values = lab.values('F64', rows).map((value) => (lab.random(4) === 0 ? (HALVES[lab.random(HALVES.length)] ?? 0) : value));
        const { from, out } = placesOf(lab, 'F64', values, place);
        lab.call(() => lab.kernels.mapF64(from, rows, operation, out));
        lab.expect(
          'F64',
          out,
          values.map((value) => map(Number(value))),
          `operation ${operation}, value`,
        );
      });
    }
  },
  roundF64: toPlaces('roundF64', 1n),
  cutF64: toPlaces('cutF64', 0n),
  truncateF64: (lab: Lab) =>
    lab.each(['apart'], (rows) => {
      const values = lab.values('F64', rows).map((value) => Number(lab.random(4) === 0 ? (HALVES[lab.random(HALVES.length)] ?? 0) : value));
      const from = lab.place('F64', values);
      const out = lab.output('I64', rows);
      lab.call(() => lab.kernels.truncateF64(from, rows, out));
      lab.expect(
        'I64',
        out,
        values.map((value) => {
          if (Number.isNaN(value)) return 0n;
          const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : value > 0 ? MAX_I64 : MIN_I64;
          return whole > MAX_I64 ? MAX_I64 : whole < MIN_I64 ? MIN_I64 : whole;
        }),
      );
    }),
  bitsToI64: (lab: Lab) =>
    lab.each(MASKS, (rows, pattern) => {
      const bits = lab.mask(pattern, rows);
      const from = lab.uploadBits(bits);
      const out = lab.output('I64', rows);
      lab.call(() => lab.kernels.bitsToI64(from, rows, out));
      lab.expect(
        'I64',
        out,
        bits.map((bit) => (bit ? 1n : 0n)),
      );
    }),
  sortableF64: (lab: Lab) =>
    lab.each(['all'], (rows) => {
      const values = [Number.NaN, -0, 0, -Infinity, Infinity, ...lab.values('F64', rows).map(Number)].slice(0, rows);
      const from = lab.place('F64', values);
      const out = lab.output('I64', rows);
      lab.call(() => lab.kernels.sortableF64(from, rows, out));
      const found = lab.read('I64', out, rows).map(BigInt);
      const rank = (x: number): number => (Number.isNaN(x) ? 2 : x === Infinity ? 1 : x === -Infinity ? -1 : 0);
      const isBelow = (a: number, b: number): boolean =>
        rank(a) !== rank(b) ? rank(a) < rank(b) : a < b || (Object.is(a, -0) && Object.is(b, 0));
      for (const [i, a] of values.slice(0, 100).entries())
        for (const [j, b] of values.slice(0, 100).entries())
          if (isBelow(a, b) !== (found[i] ?? 0n) < (found[j] ?? 0n)) lab.fail(`${a} and ${b} became ${found[i]} and ${found[j]}`);
      const bits = new BigInt64Array(Float64Array.from(values, (x) => (Number.isNaN(x) ? Number.NaN : x)).buffer);
      lab.expect(
        'I64',
        out,
        [...bits].map((bit, i) => (Number.isNaN(values[i]) ? 0x7ff8n << 48n : bit < 0n ? bit ^ MAX_I64 : bit)),
      );
    }),
  orderF64: (lab: Lab) => {
    const same = (a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));
    const below = (a: number, b: number): boolean => a < b || (!Number.isNaN(a) && Number.isNaN(b));
    const tests = [same, below, (a: number, b: number): boolean => same(a, b) || below(a, b)];
    for (const [operation, test] of tests.entries()) {
      lab.each(['arrays', 'one b'], (rows, shape) => {
        const scalar = shape === 'one b' ? 1 : 0;
        const a = lab.values('F64', rows).map(Number);
        const b = lab
          .values('F64', scalar ? 1 : rows)
          .map((value, row) => (lab.random(3) === 0 ? (a[row] ?? Number(value)) : Number(value)));
        const [atA, atB] = [lab.place('F64', a), lab.place('F64', b)];
        const out = lab.output('I64', Math.ceil(rows / 64));
        lab.call(() => lab.kernels.orderF64(atA, atB, scalar, rows, operation, out));
        lab.expectBits(
          out,
          a.map((value, row) => test(value, b[scalar ? 0 : row] ?? 0)),
        );
      });
    }
  },
  choose32: choose(32),
  choose64: choose(64),
};

// Conformance checks of arithmetic and comparisons.

import { IDS, INTEGERS, NUMBERS, perType, WIDE } from '../signatures.js';
import { wrap } from './aggregate.js';
import { eachSelection } from './group.js';
import type { Lab, Value } from './lab.js';

const SHAPES = ['arrays', 'one b', 'into a', 'into b', 'one b, into it'] as const;
const BASES = [0n, 1442016000000n, -3n, 2n ** 60n] as const;

type Arithmetic = 'add' | 'subtract' | 'multiply';

const LONGS: Readonly<Record<Arithmetic, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => wrap(a + b),
  subtract: (a, b) => wrap(a - b),
  multiply: (a, b) => wrap(a * b),
};
const DOUBLES: Readonly<Record<Arithmetic | 'divide', (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
};

const arithmetic =
  (name: Arithmetic) =>
  (type: (typeof WIDE)[number]) =>
  (lab: Lab): void => {
    const expected = (a: Value, b: Value): Value =>
      type === 'I64' ? LONGS[name](BigInt(a), BigInt(b)) : DOUBLES[name](Number(a), Number(b));
    elementwise(lab, type, lab.kernels[`${name}${type}`], expected);
  };

export const COMPUTE_CHECKS = {
  ...perType('toI64', INTEGERS, (type) => (lab: Lab) => {
    for (const base of BASES) {
      eachSelection(lab, (rows, picked, atRows) => {
        const values = lab.values(type, rows).map(BigInt);
        const at = lab.place(type, values);
        const out = lab.output('I64', rows);
        lab.call(() => lab.kernels[`toI64${type}`](at, atRows, rows, base, out));
        lab.expect(
          'I64',
          out,
          picked.map((row) => wrap((values[row] ?? 0n) + base)),
        );
      });
    }
  }),
  ...perType('toF64', NUMBERS, (type) => (lab: Lab) => {
    for (const base of BASES) {
      eachSelection(lab, (rows, picked, atRows) => {
        const values = lab.values(type, rows);
        const at = lab.place(type, values);
        const out = lab.output('F64', rows);
        lab.call(() => lab.kernels[`toF64${type}`](at, atRows, rows, base, out));
        const isFloat = type === 'F32' || type === 'F64';
        lab.expect(
          'F64',
          out,
          picked.map((row) => (isFloat ? Number(values[row]) : Number(wrap(BigInt(values[row] ?? 0) + base)))),
        );
      });
    }
  }),
  ...perType('decimalsAt', IDS, (type) => (lab: Lab) => {
    for (const [base, scale] of [
      [0n, 100],
      [-3n, 1],
      [2n ** 60n, 1e9],
    ] as const) {
      lab.each(['some', 'none'], (rows, shape) => {
        const values = lab.values(type, rows);
        const at = lab.place(type, values);
        const picked = shape === 'none' ? [] : values.flatMap((_, row) => (row % 3 === 1 ? [row] : []));
        const atRows = lab.place('U32', picked);
        const before = values.map((_, row) => row / 7);
        const out = lab.output('F64', rows, before);
        lab.call(() => lab.kernels[`decimalsAt${type}`](at, atRows, picked.length, base, scale, out));
        const isPicked = new Set(picked);
        lab.expect(
          'F64',
          out,
          values.map((value, row) => (isPicked.has(row) ? Number(wrap(BigInt(value) + base)) / scale : (before[row] ?? 0))),
        );
      });
    }
  }),
  ...perType('add', WIDE, arithmetic('add')),
  ...perType('subtract', WIDE, arithmetic('subtract')),
  ...perType('multiply', WIDE, arithmetic('multiply')),
  divideF64: (lab: Lab) => elementwise(lab, 'F64', lab.kernels.divideF64, (a, b) => DOUBLES.divide(Number(a), Number(b))),
  ...perType('compare', WIDE, (type) => (lab: Lab) => {
    const tests = [(a: Value, b: Value) => a === b, (a: Value, b: Value) => a < b, (a: Value, b: Value) => a <= b];
    for (const [operation, test] of tests.entries()) {
      lab.each(['arrays', 'one b'], (rows, shape) => {
        const scalar = shape === 'one b' ? 1 : 0;
        const a = lab.values(type, rows);
        const b = lab.values(type, scalar ? 1 : rows).map((value, row) => (lab.random(3) === 0 ? (a[row] ?? value) : value));
        const atA = lab.place(type, a);
        const atB = lab.place(type, b);
        const out = lab.output('I64', Math.ceil(rows / 64));
        lab.call(() => lab.kernels[`compare${type}`](atA, atB, scalar, rows, operation, out));
        lab.expectBits(
          out,
          a.map((value, row) => test(value, b[scalar ? 0 : row] ?? 0)),
        );
      });
    }
  }),
};

export function elementwise(
  lab: Lab,
  type: (typeof WIDE)[number],
  kernel: (a: number, b: number, scalar: number, n: number, out: number) => void,
  expected: (a: Value, b: Value) => Value,
): void {
  lab.each(SHAPES, (rows, shape) => {
    const scalar = shape.startsWith('one b') ? 1 : 0;
    const a = lab.values(type, rows);
    const b = lab.values(type, scalar ? 1 : rows);
    const apart = lab.output(type, rows);
    const atA = shape === 'into a' ? lab.output(type, rows, a) : lab.place(type, a);
    const room = shape === 'one b, into it' ? Math.max(1, rows) : b.length;
    const atB = shape.includes('into b') || shape.includes('into it') ? lab.output(type, room, b) : lab.place(type, b);
    const out = shape === 'into a' ? atA : shape === 'into b' || shape === 'one b, into it' ? atB : apart;
    lab.call(() => kernel(atA, atB, scalar, rows, out));
    lab.expect(
      type,
      out,
      a.map((value, row) => expected(value, b[scalar ? 0 : row] ?? 0)),
    );
  });
}

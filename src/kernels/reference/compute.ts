// Reference kernels: arithmetic and comparisons.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS, perType } from '../signatures.js';
import { rowsView, viewOf, writeBits } from './views.js';

export function computeKernels(memory: KernelMemory) {
  const elementwiseI64 = (apply: (a: bigint, b: bigint) => bigint) => (a: Address, b: Address, scalar: number, n: number, out: Address) => {
    const left = memory.i64(a, n);
    const right = memory.i64(b, scalar === 1 ? 1 : n);
    const result = memory.i64(out, n); // stores wrap at 64 bits
    const only = scalar === 1 ? (right[0] ?? 0n) : null;
    for (let i = 0; i < n; i++) result[i] = apply(left[i] ?? 0n, only ?? right[i] ?? 0n);
  };
  const elementwiseF64 = (apply: (a: number, b: number) => number) => (a: Address, b: Address, scalar: number, n: number, out: Address) => {
    const left = memory.f64(a, n);
    const right = memory.f64(b, scalar === 1 ? 1 : n);
    const result = memory.f64(out, n);
    const only = scalar === 1 ? (right[0] ?? 0) : null;
    for (let i = 0; i < n; i++) result[i] = apply(left[i] ?? 0, only ?? right[i] ?? 0);
  };

  return {
    ...perType('toI64', IDS, (type) => (values: Address, rows: Address, n: number, base: bigint, out: Address) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const result = memory.i64(out, n);
      for (let i = 0; i < n; i++) result[i] = base + BigInt(column[picked === null ? i : (picked[i] ?? 0)] ?? 0);
    }),
    toI64I64(values: Address, rows: Address, n: number, base: bigint, out: Address) {
      const column = memory.i64(values);
      const picked = rowsView(memory, rows, n);
      const result = memory.i64(out, n);
      for (let i = 0; i < n; i++) result[i] = base + (column[picked === null ? i : (picked[i] ?? 0)] ?? 0n);
    },
    ...perType('toF64', IDS, (type) => (values: Address, rows: Address, n: number, base: bigint, out: Address) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const result = memory.f64(out, n);
      for (let i = 0; i < n; i++) {
        result[i] = Number(BigInt.asIntN(64, base + BigInt(column[picked === null ? i : (picked[i] ?? 0)] ?? 0)));
      }
    }),
    toF64I64(values: Address, rows: Address, n: number, base: bigint, out: Address) {
      const column = memory.i64(values);
      const picked = rowsView(memory, rows, n);
      const result = memory.f64(out, n);
      for (let i = 0; i < n; i++) result[i] = Number(BigInt.asIntN(64, base + (column[picked === null ? i : (picked[i] ?? 0)] ?? 0n)));
    },
    ...perType('toF64', FLOATS, (type) => (values: Address, rows: Address, n: number, _base: bigint, out: Address) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const result = memory.f64(out, n);
      for (let i = 0; i < n; i++) result[i] = column[picked === null ? i : (picked[i] ?? 0)] ?? 0;
    }),
    ...perType(
      'decimalsAt',
      IDS,
      (type) =>
        (values: Address, rows: Address, n: number, base: bigint, scale: number, out: Address): void => {
          const column = viewOf(memory, type)(values);
          const result = memory.f64(out);
          for (const row of memory.u32(rows, n)) result[row] = Number(BigInt.asIntN(64, base + BigInt(column[row] ?? 0))) / scale;
        },
    ),
    addI64: elementwiseI64((a, b) => a + b),
    addF64: elementwiseF64((a, b) => a + b),
    subtractI64: elementwiseI64((a, b) => a - b),
    subtractF64: elementwiseF64((a, b) => a - b),
    multiplyI64: elementwiseI64((a, b) => a * b),
    multiplyF64: elementwiseF64((a, b) => a * b),
    divideF64: elementwiseF64((a, b) => a / b),
    compareI64(a: Address, b: Address, scalar: number, n: number, operation: number, out: Address) {
      const left = memory.i64(a, n);
      const right = memory.i64(b, scalar === 1 ? 1 : n);
      const test = TESTS[operation] ?? isNever;
      writeBits(memory, out, n, (i) => test(left[i] ?? 0n, right[scalar === 1 ? 0 : i] ?? 0n));
    },
    compareF64(a: Address, b: Address, scalar: number, n: number, operation: number, out: Address) {
      const left = memory.f64(a, n);
      const right = memory.f64(b, scalar === 1 ? 1 : n);
      const test = TESTS[operation] ?? isNever;
      writeBits(memory, out, n, (i) => test(left[i] ?? 0, right[scalar === 1 ? 0 : i] ?? 0));
    },
  };
}

type Test = (a: number | bigint, b: number | bigint) => boolean;
const isNever: Test = () => false;
/** Tests by operation number: eq, lt, le. */
const TESTS: readonly Test[] = [(a, b) => a === b, (a, b) => a < b, (a, b) => a <= b];

// Reference kernels: aggregation over runs.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS, perType } from '../signatures.js';
import { EXACT, hasBit, type NumberArray, viewOf } from './views.js';

type RunKernel = (values: Address, mask: Address, runs: Address, runCount: number, state: Address) => void;
type Span = (group: number, start: number, end: number, isSelected: (row: number) => boolean) => void;

const everyRow = (): boolean => true;

export function aggregateKernels(memory: KernelMemory) {
  const eachRun = (mask: Address, runs: Address, runCount: number, span: Span): void => {
    const triples = memory.u32(runs, runCount * 3);
    const bits = mask === 0 ? null : memory.u32(mask);
    const isSelected = bits === null ? everyRow : (row: number) => hasBit(bits, row);
    for (let at = 0; at < triples.length; at += 3) {
      const start = triples[at + 1] ?? 0;
      const end = triples[at + 2] ?? 0;
      if (start < end) span(triples[at] ?? 0, start, end, isSelected);
    }
  };

  /** Kernels over each type: `bind` makes of a column and the state what happens to a run. */
  const perRun =
    <Type extends (typeof EXACT)[number]>(bind: (column: NumberArray, state: Address, type: Type) => Span) =>
    (type: Type): RunKernel =>
    (values, mask, runs, runCount, state) =>
      eachRun(mask, runs, runCount, bind(viewOf(memory, type)(values), state, type));

  /** The best of each run by `isBetter`, as a number. */
  const extreme = (isBetter: (value: number, best: number) => boolean) =>
    perRun<(typeof EXACT)[number]>((column, state, type) => {
      const best = type === 'F32' || type === 'F64' ? memory.f64(state) : memory.u32(state);
      return (group, start, end, isSelected) => {
        let found = best[group] ?? 0;
        for (let row = start; row < end; row++) {
          const value = column[row] ?? 0;
          if (isBetter(value, found) && isSelected(row)) found = value;
        }
        best[group] = found + 0;
      };
    });
  const extremeI64 =
    (isBetter: (value: bigint, best: bigint) => boolean): RunKernel =>
    (values, mask, runs, runCount, state) => {
      const column = memory.i64(values);
      const best = memory.i64(state);
      eachRun(mask, runs, runCount, (group, start, end, isSelected) => {
        let found = best[group] ?? 0n;
        for (let row = start; row < end; row++) {
          const value = column[row] ?? 0n;
          if (isBetter(value, found) && isSelected(row)) found = value;
        }
        best[group] = found;
      });
    };
  const less = (value: number | bigint, best: number | bigint): boolean => value < best;
  const greater = (value: number | bigint, best: number | bigint): boolean => value > best;

  const idSums = perRun<(typeof IDS)[number]>((column, state) => {
    const sums = memory.i64(state);
    return (group, start, end, isSelected) => {
      let sum = 0; // exact: 2^21 values below 2^32 fit 53 bits
      for (let row = start; row < end; row++) if (isSelected(row)) sum += column[row] ?? 0;
      sums[group] = (sums[group] ?? 0n) + BigInt(sum);
    };
  });
  const floatSums = perRun<(typeof FLOATS)[number]>((column, state) => {
    const sums = memory.f64(state);
    return (group, start, end, isSelected) => {
      const runSum = isSelected === everyRow ? sumOfAll(column, start, end) : sumOfSelected(column, start, end, isSelected);
      sums[group] = (sums[group] ?? 0) + runSum;
    };
  });

  return {
    countRuns(mask: Address, runs: Address, runCount: number, state: Address) {
      const counts = memory.i64(state);
      eachRun(mask, runs, runCount, (group, start, end, isSelected) => {
        let count = 0;
        if (mask === 0) count = end - start;
        else for (let row = start; row < end; row++) if (isSelected(row)) count++;
        counts[group] = (counts[group] ?? 0n) + BigInt(count);
      });
    },
    presentRuns(mask: Address, runs: Address, runCount: number, state: Address) {
      const present = memory.u8(state);
      eachRun(mask, runs, runCount, (group, start, end, isSelected) => {
        let row = start;
        while (row < end && !isSelected(row)) row++;
        if (row < end) present[group] = 1;
      });
    },
    ...perType('sumRuns', IDS, idSums),
    sumRunsI64: ((values, mask, runs, runCount, state) => {
      const halves = memory.u32(values);
      const sums = memory.i64(state);
      eachRun(mask, runs, runCount, (group, start, end, isSelected) => {
        let low = 0;
        let high = 0;
        for (let row = start; row < end; row++) {
          if (!isSelected(row)) continue;
          low += halves[row * 2] ?? 0;
          high += halves[row * 2 + 1] ?? 0;
        }
        sums[group] = BigInt.asIntN(64, (sums[group] ?? 0n) + (BigInt(high) << 32n) + BigInt(low));
      });
    }) satisfies RunKernel,
    ...perType('sumRuns', FLOATS, floatSums),
    ...perType('minRuns', EXACT, extreme(less)),
    minRunsI64: extremeI64(less),
    ...perType('maxRuns', EXACT, extreme(greater)),
    maxRunsI64: extremeI64(greater),
  };
}

type FloatColumn = { readonly [row: number]: number | undefined };

/** The order that `sumRuns` has without a mask. */
function sumOfAll(column: FloatColumn, start: number, end: number): number {
  const quarter = ((end - start) >> 4) * 4;
  const partial = new Float64Array(16);
  let row = start;
  for (let k = 0; k < 4; k++) {
    for (let i = 0; i < quarter; i++, row++) {
      const at = k * 4 + (i & 3);
      partial[at] = (partial[at] ?? 0) + (column[row] ?? 0);
    }
  }
  let rest = 0;
  for (; row < end; row++) rest += column[row] ?? 0;
  const sumOf = (k: number, j: number): number => partial[k * 4 + j] ?? 0;
  const lane = (j: number): number => sumOf(0, j) + sumOf(1, j) + (sumOf(2, j) + sumOf(3, j));
  return lane(0) + lane(2) + (lane(1) + lane(3)) + rest;
}

/** The order that it has with one. */
function sumOfSelected(column: FloatColumn, start: number, end: number, isSelected: (row: number) => boolean): number {
  const partial = new Float64Array(8);
  for (let row = start; row < end; row++) {
    if (isSelected(row)) partial[row & 7] = (partial[row & 7] ?? 0) + (column[row] ?? 0);
  }
  const [s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0] = partial;
  return s0 + s4 + (s2 + s6) + (s1 + s5 + (s3 + s7));
}

// Conformance checks of aggregation over runs.

import { type Num, STRETCH_ROWS } from '../contract.js';
import { FLOATS, INTEGERS, NUMBERS, perType } from '../signatures.js';
import { type Lab, MASKS, MAX_I64, MIN_I64, type Value } from './lab.js';

export interface Run {
  readonly group: number;
  readonly start: number;
  readonly end: number;
}

const GROUPS = 5;
const MASKINGS = ['absent', ...MASKS] as const;
type Masking = (typeof MASKINGS)[number];

interface Trial {
  readonly selected: readonly boolean[];
  readonly runs: readonly Run[];
  readonly mask: number;
  readonly atRuns: number;
}

export const AGGREGATE_CHECKS = {
  countRuns(lab: Lab) {
    eachTrial(lab, (_rows, { selected, runs, mask, atRuns }) => {
      const state = [0n, 5n, -1n, 2n ** 40n, MAX_I64];
      const out = lab.output('I64', GROUPS, state);
      lab.call(() => lab.kernels.countRuns(mask, atRuns, runs.length, out));
      lab.expect(
        'I64',
        out,
        fold(state, runs, selected, (count) => wrap(BigInt(count) + 1n)),
        'count',
      );
    });
  },
  presentRuns(lab: Lab) {
    eachTrial(lab, (_rows, { selected, runs, mask, atRuns }) => {
      const state = [0, 1, 0, 1, 0];
      const out = lab.output('U8', GROUPS, state);
      lab.call(() => lab.kernels.presentRuns(mask, atRuns, runs.length, out));
      lab.expect(
        'U8',
        out,
        fold(state, runs, selected, () => 1),
        'flag',
      );
    });
  },
  ...perType('sumRuns', INTEGERS, (type) => (lab: Lab) => {
    eachTrial(lab, (rows, { selected, runs, mask, atRuns }) => {
      const values = lab.values(type, rows);
      const state = [0n, 5n, -1n, MIN_I64, MAX_I64];
      const at = lab.place(type, values);
      const out = lab.output('I64', GROUPS, state);
      lab.call(() => lab.kernels[`sumRuns${type}`](at, mask, atRuns, runs.length, out));
      lab.expect(
        'I64',
        out,
        fold(state, runs, selected, (sum, row) => wrap(BigInt(sum) + BigInt(values[row] ?? 0))),
        'sum',
      );
    });
  }),
  ...perType('sumRuns', FLOATS, (type) => (lab: Lab) => {
    for (const kind of ['values', 'finite'] as const) {
      eachTrial(lab, (rows, { selected, runs, mask, atRuns }) => {
        const values = lab[kind](type, rows).map(Number);
        const state = [0, 0.1, -0, 1e16, -5];
        const at = lab.place(type, values);
        const out = lab.output('F64', GROUPS, state);
        lab.call(() => lab.kernels[`sumRuns${type}`](at, mask, atRuns, runs.length, out));
        lab.expect('F64', out, floatSums(state, runs, selected, values, mask !== 0), 'sum');
      });
    }
  }),
  ...perType('minRuns', NUMBERS, (type) => (lab: Lab) => extremes(lab, type, 'min')),
  ...perType('maxRuns', NUMBERS, (type) => (lab: Lab) => extremes(lab, type, 'max')),
};

function extremes(lab: Lab, type: Num, want: 'min' | 'max'): void {
  eachTrial(lab, (rows, { selected, runs, mask, atRuns }) => {
    const values = lab.values(type, rows);
    const stateType = stateOf(type);
    const state = new Array<Value>(GROUPS).fill(worstOf(type, want));
    const at = lab.place(type, values);
    const out = lab.output(stateType, GROUPS, state);
    lab.call(() => lab.kernels[`${want}Runs${type}`](at, mask, atRuns, runs.length, out));
    lab.expect(
      stateType,
      out,
      fold(state, runs, selected, (best, row) => betterOf(want, best, values[row] ?? 0)),
      want,
    );
  });
}

export function stateOf(type: Num): Num {
  return type === 'I64' ? 'I64' : type === 'F32' || type === 'F64' ? 'F64' : 'U32';
}

/** Initial value that the host puts into a state. */
export function worstOf(type: Num, want: 'min' | 'max'): Value {
  if (type === 'I64') return want === 'min' ? MAX_I64 : MIN_I64;
  if (type === 'F32' || type === 'F64') return want === 'min' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return want === 'min' ? 4294967295 : 0;
}

export function betterOf(want: 'min' | 'max', best: Value, value: Value): Value {
  const isBetter = want === 'min' ? value < best : value > best; // never for NaN
  const chosen = isBetter ? value : best;
  return Object.is(chosen, -0) ? 0 : chosen;
}

export function wrap(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

/** Applies `step` to the state of each selected row's group. */
function fold<State extends Value>(
  state: readonly State[],
  runs: readonly Run[],
  selected: readonly boolean[],
  step: (state: State, row: number) => State,
): State[] {
  const result = [...state];
  for (const { group, start, end } of runs) {
    for (let row = start; row < end; row++) {
      const before = result[group];
      if (selected[row] && before !== undefined) result[group] = step(before, row);
    }
  }
  return result;
}

/** Literally the orders that the contract prescribes. */
function floatSums(
  state: readonly number[],
  runs: readonly Run[],
  selected: readonly boolean[],
  values: readonly number[],
  isMasked: boolean,
): number[] {
  const result = [...state];
  for (const { group, start, end } of runs) {
    if (start >= end) continue;
    const run = values.slice(start, end);
    const sum = isMasked ? maskedSum(run, start, (row) => selected[row] ?? false) : unmaskedSum(run);
    result[group] = (result[group] ?? 0) + sum;
  }
  return result;
}

function unmaskedSum(run: readonly number[]): number {
  const q = 4 * Math.floor(run.length / 16);
  const s = [0, 1, 2, 3].map((k): [number, number, number, number] => {
    const each = (j: number): number => run.slice(k * q, (k + 1) * q).reduce((sum, value, i) => ((i & 3) === j ? sum + value : sum), 0);
    return [each(0), each(1), each(2), each(3)];
  });
  const c = ([0, 1, 2, 3] as const).map((j) => {
    const [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = s.map((sums) => sums[j]);
    return s0 + s1 + (s2 + s3);
  });
  const [c0 = 0, c1 = 0, c2 = 0, c3 = 0] = c;
  return c0 + c2 + (c1 + c3) + run.slice(4 * q).reduce((sum, value) => sum + value, 0);
}

function maskedSum(run: readonly number[], start: number, isSelected: (row: number) => boolean): number {
  const s: [number, number, number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0, 0, 0];
  run.forEach((value, i) => {
    const p = start + i;
    s[(p & 7) as 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7] += isSelected(p) ? value : 0;
  });
  return s[0] + s[4] + (s[2] + s[6]) + (s[1] + s[5] + (s[3] + s[7]));
}

function eachTrial(lab: Lab, trial: (rows: number, trial: Trial) => void): void {
  const oneTrial = (rows: number, masking: Masking): void => {
    const selected = lab.mask(masking === 'absent' ? 'all' : masking, rows);
    const runs = randomRuns(lab, rows);
    trial(rows, {
      selected,
      runs,
      mask: masking === 'absent' ? 0 : lab.uploadBits(selected),
      atRuns: uploadRuns(lab, runs),
    });
  };
  lab.each(MASKINGS, oneTrial);
  lab.each(['absent'], oneTrial, [STRETCH_ROWS - 1, STRETCH_ROWS]);
}

/** Every other time one run over all rows; else several with gaps, repeated groups and empty ones. */
function randomRuns(lab: Lab, rows: number): Run[] {
  if (lab.random(2) === 0) return [{ group: lab.random(GROUPS), start: 0, end: rows }];
  const runs: Run[] = [];
  for (let start = 0; start < rows; ) {
    const end = Math.min(rows, start + lab.random(rows < 1000 ? 40 : 9000));
    runs.push({ group: lab.random(GROUPS), start, end });
    start = end + lab.random(3);
  }
  return runs;
}

export function uploadRuns(lab: Lab, runs: readonly Run[]): number {
  return lab.place(
    'U32',
    runs.flatMap(({ group, start, end }) => [group, start, end]),
  );
}

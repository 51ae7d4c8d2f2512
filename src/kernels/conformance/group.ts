// Conformance checks of aggregation by group.

import type { Address } from '../../base/layout.js';
import type { Num } from '../contract.js';
import { FLOATS, INTEGERS, NARROWS, NUMBERS, perType } from '../signatures.js';
import { betterOf, stateOf, worstOf, wrap } from './aggregate.js';
import { type Lab, MASKS, MAX_I64, type Value } from './lab.js';

const GROUPS = 9;
const ONE = 2n ** 40n;
/** Counts and sums that carry between the halves of a word. */
const wordsAtFirst = (): bigint[] => Array.from({ length: GROUPS }, (_, group) => ONE * 2n ** 19n * BigInt(group) + 2n ** 32n - 5n);

interface Positions {
  readonly n: number;
  readonly groups: readonly number[];
  readonly atGroups: number;
  /** The row of each position, and its address: 0 when it is the position itself. */
  readonly rows: readonly number[];
  readonly atRows: number;
}

const BIT_FOLDS: readonly ((a: bigint, b: bigint) => bigint)[] = [(a, b) => a & b, (a, b) => a | b, (a, b) => a ^ b];

export const GROUP_CHECKS = {
  countGroups(lab: Lab) {
    eachTrial(lab, (_rows, { n, groups, atGroups }) => {
      const state = new Array<bigint>(GROUPS).fill(2n ** 32n - 2n); // carries out of the low half
      const out = lab.output('I64', GROUPS, state);
      lab.call(() => lab.kernels.countGroups(atGroups, n, out));
      lab.expect(
        'I64',
        out,
        state.map((count, group) => count + BigInt(groups.filter((one) => one === group).length)),
        'count',
      );
    });
  },
  presentGroups(lab: Lab) {
    eachTrial(lab, (_rows, { n, groups, atGroups }) => {
      const out = lab.output('U8', GROUPS, new Array<number>(GROUPS).fill(0));
      lab.call(() => lab.kernels.presentGroups(atGroups, n, out));
      lab.expect(
        'U8',
        out,
        Array.from({ length: GROUPS }, (_, group) => (groups.includes(group) ? 1 : 0)),
        'flag',
      );
    });
  },
  foldBitsGroupsI64(lab: Lab) {
    for (const [operation, fold] of BIT_FOLDS.entries())
      eachTrial(lab, (_rows, { n, groups, atGroups }) => {
        const values = lab.values('I64', n).map(BigInt);
        const state = Array.from({ length: GROUPS }, (_, group) => BigInt(group) * -3n);
        const at = lab.place('I64', values);
        const [out, seen] = [lab.output('I64', GROUPS, state), lab.output('U8', GROUPS, new Array<number>(GROUPS).fill(0))];
        lab.call(() => lab.kernels.foldBitsGroupsI64(at, atGroups, n, operation, out, seen));
        groups.forEach((group, i) => {
          state[group] = fold(state[group] ?? 0n, values[i] ?? 0n);
        });
        lab.expect('I64', out, state, `bits (${operation})`);
        const flags = Array.from({ length: GROUPS }, (_, group) => (groups.includes(group) ? 1 : 0));
        lab.expect('U8', seen, flags, 'flag');
      });
  },
  ...perType('sumGroups', INTEGERS, (type) => (lab: Lab) => {
    eachTrial(lab, (rows, { n, groups, atGroups, rows: picked, atRows }) => {
      const values = lab.values(type, rows);
      const state = Array.from({ length: GROUPS }, (_, group) => BigInt(group) * -3n);
      const at = lab.place(type, values);
      const out = lab.output('I64', GROUPS, state);
      lab.call(() => lab.kernels[`sumGroups${type}`](at, atRows, atGroups, n, out));
      for (const [i, group] of groups.entries()) state[group] = wrap((state[group] ?? 0n) + BigInt(values[picked[i] ?? 0] ?? 0));
      lab.expect('I64', out, state, 'sum');
    });
  }),
  ...perType('countSumGroups', NARROWS, (type) => (lab: Lab) => {
    eachTrial(lab, (rows, { n, groups, atGroups, rows: picked, atRows }) => {
      const values = lab.values(type, rows).map(Number);
      const words = wordsAtFirst();
      const at = lab.place(type, values);
      const out = lab.output('I64', GROUPS, words);
      lab.call(() => lab.kernels[`countSumGroups${type}`](at, atRows, atGroups, n, out));
      for (const [i, group] of groups.entries()) words[group] = (words[group] ?? 0n) + ONE + BigInt(values[picked[i] ?? 0] ?? 0);
      lab.expect('I64', out, words, 'word');
    });
  }),
  foldCountSums(lab: Lab) {
    for (const wanted of ['both', 'counts', 'sums'] as const) {
      eachTrial(lab, (rows, { n, groups, atGroups, rows: picked, atRows }) => {
        const words = Array.from({ length: rows }, () => ONE * BigInt(lab.random(2 ** 23)) + BigInt(lab.random(2 ** 40)));
        const counts = new Array<bigint>(GROUPS).fill(2n ** 32n - 2n);
        const sums = new Array<bigint>(GROUPS).fill(2n ** 32n - 2n);
        const at = lab.place('I64', words);
        const [atCounts, atSums] = [lab.output('I64', GROUPS, counts), lab.output('I64', GROUPS, sums)];
        lab.call(() =>
          lab.kernels.foldCountSums(at, atRows, atGroups, n, wanted === 'sums' ? 0 : atCounts, wanted === 'counts' ? 0 : atSums),
        );
        for (const [i, group] of groups.entries()) {
          const word = words[picked[i] ?? 0] ?? 0n;
          if (wanted !== 'sums') counts[group] = (counts[group] ?? 0n) + word / ONE;
          if (wanted !== 'counts') sums[group] = (sums[group] ?? 0n) + (word % ONE);
        }
        lab.expect('I64', atCounts, counts, 'count');
        lab.expect('I64', atSums, sums, 'sum');
      });
    }
  },
  ...perType('sumGroups', FLOATS, (type) => (lab: Lab) => {
    for (const copies of [1, 4]) {
      eachTrial(lab, (rows, { n, groups, atGroups, rows: picked, atRows }) => {
        const values = lab.values(type, rows).map(Number);
        const state = new Array<number>(GROUPS * copies).fill(0.1);
        const at = lab.place(type, values);
        const out = lab.output('F64', state.length, state);
        lab.call(() => lab.kernels[`sumGroups${type}`](at, atRows, atGroups, n, out, copies));
        for (const [i, group] of groups.entries()) {
          const copy = group * copies + (i & (copies - 1));
          state[copy] = (state[copy] ?? 0) + (values[picked[i] ?? 0] ?? 0);
        }
        lab.expect('F64', out, state, `sum (${copies} copies)`);
      });
    }
  }),
  ...perType('minGroups', NUMBERS, (type) => (lab: Lab) => extremes(lab, type, 'min')),
  ...perType('maxGroups', NUMBERS, (type) => (lab: Lab) => extremes(lab, type, 'max')),
  addMoments(lab: Lab) {
    const check = (n: number, groups: readonly number[], atGroups: Address): void => {
      const values = Array.from({ length: n }, () => lab.random(1000) - 300);
      const at = lab.place('F64', values);
      const out = lab.output('F64', GROUPS * 4, new Array<number>(GROUPS * 4).fill(0));
      lab.call(() => lab.kernels.addMoments(at, atGroups, n, out));
      const found = lab.read('F64', out, GROUPS * 4).map(Number);
      momentsOf(groups, values).forEach((wanted, i) => {
        const given = found[i] ?? Number.NaN;
        if (!(Math.abs(given - wanted) <= 1e-11 * Math.max(1, Math.abs(wanted)))) lab.fail(`moment ${i} is ${given}, expected ${wanted}`);
      });
    };
    eachTrial(lab, (_rows, { n, groups, atGroups }) => check(n, groups, atGroups));
    lab.each(['runs of a group'], (rows) => {
      const groups = Array.from({ length: Math.min(rows, 2000) }, (_, i) => (i >> 7) % 2);
      check(groups.length, groups, lab.place('U32', groups));
    });
  },
  joinMoments(lab: Lab) {
    eachTrial(lab, (_rows, { n, groups, atGroups }) => {
      // The square of the largest is infinite.
      const means = [0.25, 4, 15.75, 1e200];
      const states = Array.from({ length: n }, () => [lab.random(3), lab.random(100), means[lab.random(4)] ?? 0, lab.random(32) / 2]);
      const before = Array.from({ length: GROUPS }, () => [lab.random(2), 7.5, -3.25, 2]);
      const at = lab.place('F64', states.flat());
      const out = lab.output('F64', GROUPS * 4, before.flat());
      lab.call(() => lab.kernels.joinMoments(at, atGroups, n, out));
      for (const [i, group] of groups.entries()) {
        const [[m = 0, t = 0, b = 0, r = 0], [k = 0, s = 0, a = 0, q = 0]] = [states[i] ?? [], before[group] ?? []];
        if (m > 0 && k === 0) before[group] = [m, t, b, r];
        else if (m > 0) before[group] = [k + m, s + t, a + ((b - a) * m) / (k + m), q + (r + (((b - a) * (b - a) * k) / (k + m)) * m)];
      }
      lab.expect('F64', out, before.flat(), 'moments');
    });
  },
  foldSums(lab: Lab) {
    lab.each(['apart', 'in place'], (groups, where) => {
      const sums = lab.values('F64', groups * 4).map(Number);
      const at = where === 'apart' ? lab.place('F64', sums) : lab.output('F64', groups * 4, sums);
      const out = where === 'apart' ? lab.output('F64', groups) : at;
      lab.call(() => lab.kernels.foldSums(at, groups, out));
      const copy = (group: number, index: number): number => sums[group * 4 + index] ?? 0;
      lab.expect(
        'F64',
        out,
        Array.from({ length: groups }, (_, g) => copy(g, 0) + copy(g, 2) + (copy(g, 1) + copy(g, 3))),
        'sum',
      );
    });
  },
  compactMask: (lab: Lab) => compacts(lab, 'compactMask', true),
  compactNotMask: (lab: Lab) => compacts(lab, 'compactNotMask', false),
  compactBestI64(lab: Lab) {
    for (const where of ['apart', 'in place']) {
      eachTrial(lab, (_rows, { n, groups, rows: picked, atRows, atGroups }) => {
        const state = Array.from({ length: GROUPS }, (_, group) => BigInt(group % 3) - (1n << 40n));
        const values = Array.from({ length: n }, () => BigInt(lab.random(3)) - (1n << 40n));
        const [at, atState] = [lab.place('I64', values), lab.place('I64', state)];
        const outRows = where === 'in place' && atRows !== 0 ? lab.output('U32', n, picked) : lab.output('U32', n);
        const outGroups = where === 'in place' ? lab.output('U32', n, groups) : lab.output('U32', n);
        const inRows = where === 'in place' && atRows !== 0 ? outRows : atRows;
        const inGroups = where === 'in place' ? outGroups : atGroups;
        const kept = [...picked.keys()].filter((i) => values[i] === state[groups[i] ?? 0]);
        lab.expectResult(
          lab.call(() => lab.kernels.compactBestI64(at, inRows, inGroups, n, atState, outRows, outGroups)),
          kept.length,
        );
        const keptRows = kept.map((i) => picked[i] ?? 0);
        const keptGroups = kept.map((i) => groups[i] ?? 0);
        lab.expect('U32', outRows, keptRows, `row (${where})`);
        lab.expect('U32', outGroups, keptGroups, `group (${where})`);
      });
    }
  },
  compactUnmarked(lab: Lab) {
    for (const where of ['apart', 'in place'])
      eachTrial(lab, (_rows, { n, groups, rows: picked, atRows, atGroups }) => {
        const [stride, groupCount] = [1 + lab.random(9), GROUPS - lab.random(3)];
        const marks = Array.from({ length: groupCount * stride }, () => (lab.random(5) === 0 ? 1 : 0));
        const ids = Array.from({ length: n }, () => lab.random(stride));
        const [at, atMarks] = [lab.place('U32', ids), lab.output('U8', marks.length, marks)];
        const outRows = where === 'in place' && atRows !== 0 ? lab.output('U32', n, picked) : lab.output('U32', n);
        const outGroups = where === 'in place' ? lab.output('U32', n, groups) : lab.output('U32', n);
        const inRows = where === 'in place' && atRows !== 0 ? outRows : atRows;
        const inGroups = where === 'in place' ? outGroups : atGroups;
        const kept = [...picked.keys()].filter((i) => {
          const [group = 0, id = 0] = [groups[i], ids[i]];
          if (group >= groupCount) return true;
          const isNew = marks[group * stride + id] === 0;
          marks[group * stride + id] = 1;
          return isNew;
        });
        lab.expectResult(
          lab.call(() => lab.kernels.compactUnmarked(at, inRows, inGroups, n, groupCount, stride, atMarks, outRows, outGroups)),
          kept.length,
        );
        lab.expect('U8', atMarks, marks, `mark (${where})`);
        const of = (list: readonly number[]): number[] => kept.map((i) => list[i] ?? 0);
        lab.expect('U32', outRows, of(picked), `row (${where})`);
        lab.expect('U32', outGroups, of(groups), `group (${where})`);
      });
  },
  smallestGroupsI64(lab: Lab) {
    for (const k of [1, 2, 5])
      eachTrial(lab, (_rows, { n, groups, atGroups }) => {
        const keys = lab.values(lab.random(2) === 0 ? 'I64' : 'U8', n).map(BigInt);
        const state = new Array<bigint>(GROUPS * k).fill(MAX_I64);
        const at = lab.place('I64', keys);
        const out = lab.output('I64', GROUPS * k, state);
        lab.call(() => lab.kernels.smallestGroupsI64(at, atGroups, n, k, out));
        const expected = Array.from({ length: GROUPS }, (_, group) =>
          [...keys.filter((_, i) => groups[i] === group), ...state.slice(0, k)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).slice(0, k),
        );
        lab.expect('I64', out, expected.flat(), `key (${k})`);
      });
  },
  smallestDistinctGroupsI64(lab: Lab) {
    for (const k of [1, 2, 5])
      eachTrial(lab, (_rows, { n, groups, atGroups }) => {
        // Small numbers are often alike; those of any size have both extremes among them.
        const keys = lab.random(2) === 0 ? lab.values('I64', n).map(BigInt) : Array.from({ length: n }, () => BigInt(lab.random(7)) - 3n);
        const state = new Array<bigint>(GROUPS * k).fill(MAX_I64);
        const at = lab.place('I64', keys);
        const out = lab.output('I64', GROUPS * k, state);
        lab.call(() => lab.kernels.smallestDistinctGroupsI64(at, atGroups, n, k, out));
        const expected = Array.from({ length: GROUPS }, (_, group) =>
          [...new Set(keys.filter((key, i) => groups[i] === group && key < MAX_I64)), ...state.slice(0, k)]
            .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
            .slice(0, k),
        );
        lab.expect('I64', out, expected.flat(), `key (${k})`);
      });
  },
  compactWithinI64(lab: Lab) {
    for (const [where, stride] of [
      ['apart', 1],
      ['in place', 3],
    ] as const)
      eachTrial(lab, (_rows, { n, groups, rows: picked, atRows, atGroups }) => {
        const bounds = Array.from({ length: GROUPS * stride }, (_, index) => BigInt(index % 4) - (1n << 40n));
        const keys = Array.from({ length: n }, () => BigInt(lab.random(4)) - (1n << 40n));
        const atBounds = lab.place('I64', bounds);
        const outKeys = where === 'in place' ? lab.output('I64', n, keys) : lab.output('I64', n);
        const outRows = where === 'in place' && atRows !== 0 ? lab.output('U32', n, picked) : lab.output('U32', n);
        const outGroups = where === 'in place' ? lab.output('U32', n, groups) : lab.output('U32', n);
        const inKeys = where === 'in place' ? outKeys : lab.place('I64', keys);
        const inRows = where === 'in place' && atRows !== 0 ? outRows : atRows;
        const inGroups = where === 'in place' ? outGroups : atGroups;
        const kept = [...picked.keys()].filter((i) => (keys[i] ?? 0n) <= (bounds[(groups[i] ?? 0) * stride] ?? 0n));
        lab.expectResult(
          lab.call(() => lab.kernels.compactWithinI64(inKeys, inRows, inGroups, n, atBounds, stride, outKeys, outRows, outGroups)),
          kept.length,
        );
        const of = (list: readonly number[]): number[] => kept.map((i) => list[i] ?? 0);
        lab.expect(
          'I64',
          outKeys,
          kept.map((i) => keys[i] ?? 0n),
          `key (${where})`,
        );
        lab.expect('U32', outRows, of(picked), `row (${where})`);
        lab.expect('U32', outGroups, of(groups), `group (${where})`);
      });
  },
  bestAtTimesI64(lab: Lab) {
    for (const largest of [0, 1])
      for (const withNulls of [false, true])
        for (const withTimes of [false, true])
          eachTrial(lab, (rows, { n, groups, rows: picked, atRows, atGroups }) => {
            const keys = lab.values('I64', n).map(BigInt);
            const nulls = withNulls ? lab.mask('random', rows) : [];
            const times = lab.values('I64', GROUPS).map(BigInt);
            // Two of three groups have met their best time before, a third of them with nulls alone.
            const before = times.map((time, group) => (group % 3 === 0 ? time ^ 1n : time));
            const known = times.map((_, group) => group % 3);
            const best = lab.values('I64', GROUPS).map(BigInt);
            const atKeys = lab.place('I64', keys);
            const atNulls = withNulls ? lab.uploadBits(nulls) : 0;
            const atTimes = withTimes ? lab.place('I64', times) : 0;
            const [keyTimes, atBest] = [lab.output('I64', GROUPS, before), lab.output('I64', GROUPS, best)];
            const atKnown = lab.output('U8', GROUPS, known);
            lab.call(() => lab.kernels.bestAtTimesI64(atKeys, atNulls, atRows, atGroups, n, atTimes, largest, keyTimes, atBest, atKnown));
            for (const group of new Set(groups)) {
              if (withTimes && before[group] !== times[group]) [before[group], known[group]] = [times[group] ?? 0n, 0];
              const met = [...groups.keys()].filter((i) => groups[i] === group);
              const present = met.filter((i) => nulls[picked[i] ?? 0] !== true).map((i) => keys[i] ?? 0n);
              const candidates = known[group] === 2 ? [best[group] ?? 0n, ...present] : present;
              if (candidates.length > 0) best[group] = candidates.reduce((a, b) => ((largest === 1 ? b > a : b < a) ? b : a));
              known[group] = candidates.length > 0 ? 2 : 1;
            }
            lab.expect('I64', keyTimes, before, 'time');
            lab.expect('I64', atBest, best, 'key');
            lab.expect('U8', atKnown, known, 'known');
          });
  },
};

function compacts(lab: Lab, kernel: 'compactMask' | 'compactNotMask', keep: boolean): void {
  for (const where of ['apart', 'in place']) {
    for (const pattern of MASKS) {
      eachTrial(lab, (rows, { n, groups, rows: picked, atRows, atGroups }) => {
        const bits = lab.mask(pattern, rows);
        const mask = lab.uploadBits(bits);
        const outRows = where === 'in place' && atRows !== 0 ? lab.output('U32', n, picked) : lab.output('U32', n);
        const outGroups = where === 'in place' ? lab.output('U32', n, groups) : lab.output('U32', n);
        const inRows = where === 'in place' && atRows !== 0 ? outRows : atRows;
        const inGroups = where === 'in place' ? outGroups : atGroups;
        const kept = [...picked.keys()].filter((i) => (bits[picked[i] ?? 0] === true) === keep);
        lab.expectResult(
          lab.call(() => lab.kernels[kernel](mask, inRows, inGroups, n, outRows, outGroups)),
          kept.length,
        );
        lab.expect(
          'U32',
          outRows,
          kept.map((i) => picked[i] ?? 0),
          `row (${pattern}, ${where})`,
        );
        lab.expect(
          'U32',
          outGroups,
          kept.map((i) => groups[i] ?? 0),
          `group (${pattern}, ${where})`,
        );
      });
    }
  }
}

function extremes(lab: Lab, type: Num, want: 'min' | 'max'): void {
  eachTrial(lab, (rows, { n, groups, atGroups, rows: picked, atRows }) => {
    const values = lab.values(type, rows);
    const state = new Array<Value>(GROUPS).fill(worstOf(type, want));
    const at = lab.place(type, values);
    const out = lab.output(stateOf(type), GROUPS, state);
    lab.call(() => lab.kernels[`${want}Groups${type}`](at, atRows, atGroups, n, out));
    for (const [i, group] of groups.entries()) state[group] = betterOf(want, state[group] ?? 0, values[picked[i] ?? 0] ?? 0);
    lab.expect(stateOf(type), out, state, want);
  });
}

function eachTrial(lab: Lab, trial: (rows: number, positions: Positions) => void): void {
  eachSelection(lab, (count, rows, atRows) => trial(count, { rows, atRows, ...assignGroups(lab, count, GROUPS) }));
}

/** One trial for each row count and selection: as many positions as rows; picked rows repeat, as multi-value ones do. */
export function eachSelection(lab: Lab, trial: (count: number, rows: readonly number[], atRows: Address) => void): void {
  lab.each(['all rows', 'some rows'], (count, selection) => {
    if (selection === 'all rows') return trial(count, [...Array(count).keys()], 0);
    const picked = Array.from({ length: count }, () => lab.random(count)).sort((a, b) => a - b);
    trial(count, picked, lab.place('U32', picked));
  });
}

function assignGroups(lab: Lab, n: number, count: number): Pick<Positions, 'n' | 'groups' | 'atGroups'> {
  const groups = Array.from({ length: n }, () => lab.random(count));
  return { n, groups, atGroups: lab.place('U32', groups) };
}

/** Count, sum, mean and squared distances from it of each group; sums of whole numbers are exact. */
function momentsOf(groups: readonly number[], values: readonly number[]): number[] {
  return Array.from({ length: GROUPS }, (_, group) => {
    const own = values.filter((_value, i) => groups[i] === group);
    const [count, sum] = [own.length, own.reduce((total, value) => total + value, 0)];
    if (count === 0) return [0, 0, 0, 0];
    return [count, sum, sum / count, (own.reduce((total, value) => total + value * value, 0) * count - sum * sum) / count];
  }).flat();
}

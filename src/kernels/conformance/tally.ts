// Conformance checks of counting and summing under narrow keys.

import { type Narrow, TALLY_ROWS } from '../contract.js';
import { IDS, NARROWS, perType } from '../signatures.js';
import { wrap } from './aggregate.js';
import type { Lab } from './lab.js';

/** Few, the most that may be kept in copies, more than that, and the most a caller may have. */
const GROUP_COUNTS = [1, 9, 250, 512, 513, 4096] as const;

export const TALLY_CHECKS = {
  ...perType('tally', NARROWS, (type) => (lab: Lab) => {
    eachTrial(lab, type, ({ n, groupCount, ids, atIds, scratch }) => {
      const counts = firstCounts(groupCount);
      const out = lab.output('I64', groupCount, counts);
      lab.call(() => lab.kernels[`tally${type}`](atIds, n, groupCount, scratch, out));
      lab.expect('I64', out, counted(counts, ids), 'count');
      expectEmpty(lab, scratch, groupCount);
    });
  }),
  ...perType('tallyU8', IDS, (type) => (lab: Lab) => sums(lab, 'U8', type)),
  ...perType('tallyU16', IDS, (type) => (lab: Lab) => sums(lab, 'U16', type)),
  ...perType('tallyPair', NARROWS, (type) => (lab: Lab) => pairs(lab, type)),
  tallyU8F64: (lab: Lab) => floats(lab, 'U8'),
  tallyU16F64: (lab: Lab) => floats(lab, 'U16'),
  ...perType('keyNarrow', NARROWS, (type) => (lab: Lab) => {
    lab.each([0, 1], (n, accumulate) => {
      const values = lab.values(type, n).map(Number);
      const before = Array.from({ length: n }, () => lab.random(65536));
      const stride = 1 + lab.random(300);
      const at = lab.place(type, values);
      const out = lab.output('U16', n, before);
      lab.call(() => lab.kernels[`keyNarrow${type}`](at, n, stride, accumulate, out));
      lab.expect(
        'U16',
        out,
        values.map((value, i) => ((accumulate === 0 ? 0 : (before[i] ?? 0)) + value * stride) % 65536),
        'key',
      );
    });
  }),
};

interface Trial {
  readonly n: number;
  readonly groupCount: number;
  readonly ids: readonly number[];
  readonly atIds: number;
  readonly scratch: number;
}

function sums(lab: Lab, keys: Narrow, type: (typeof IDS)[number]): void {
  for (const counting of [true, false]) {
    eachTrial(lab, keys, ({ n, groupCount, ids, atIds, scratch }) => {
      // Every value at its largest in one trial of each size: words may not run over into each other.
      const values = groupCount === 1 ? Array.from({ length: n }, () => LARGEST[type]) : lab.values(type, n).map(Number);
      const at = lab.place(type, values);
      const counts = firstCounts(groupCount);
      const state = Array.from({ length: groupCount }, (_, group) => BigInt(group) * -3n);
      const atCounts = lab.output('I64', groupCount, counts);
      const atSums = lab.output('I64', groupCount, state);
      lab.call(() => lab.kernels[`tally${keys}${type}`](atIds, at, n, groupCount, scratch, counting ? atCounts : 0, atSums));
      for (const [i, id] of ids.entries()) state[id] = wrap((state[id] ?? 0n) + BigInt(values[i] ?? 0));
      lab.expect('I64', atSums, state, 'sum');
      lab.expect('I64', atCounts, counting ? counted(counts, ids) : counts, 'count');
      expectEmpty(lab, scratch, groupCount);
    });
  }
}

function pairs(lab: Lab, keys: Narrow): void {
  // Small values may be handled apart, and large ones come after many of them.
  const small = 2 ** 14 - 1;
  const trials = [
    { counting: true, largest: () => LARGEST.U16 },
    { counting: false, largest: () => LARGEST.U16 },
    { counting: true, largest: () => small },
    { counting: true, largest: (row: number) => (row % 16_384 < 15_360 ? small : LARGEST.U16) },
  ];
  for (const { counting, largest } of trials) {
    eachTrial(lab, keys, ({ n, groupCount, ids, atIds, scratch }) => {
      if (groupCount > 512) return;
      // Under one group the largest sums that there are.
      const plain = (row: number): number => (groupCount === 1 ? LARGEST.U16 : Number(lab.values('U16', 1)[0])) & largest(row);
      const column = (): number[] => Array.from({ length: n }, (_, row) => plain(row));
      const columns = [column(), column()];
      const [atA = 0, atB = 0] = columns.map((values) => lab.place('U16', values));
      const counts = firstCounts(groupCount);
      const states = columns.map((_, index) => Array.from({ length: groupCount }, (__, group) => BigInt(group) * -3n - BigInt(index)));
      const atCounts = lab.output('I64', groupCount, counts);
      const [outA = 0, outB = 0] = states.map((state) => lab.output('I64', groupCount, state));
      lab.call(() => lab.kernels[`tallyPair${keys}`](atIds, atA, atB, n, groupCount, scratch, counting ? atCounts : 0, outA, outB));
      states.forEach((state, index) => {
        for (const [i, id] of ids.entries()) state[id] = wrap((state[id] ?? 0n) + BigInt(columns[index]?.[i] ?? 0));
        lab.expect('I64', index === 0 ? outA : outB, state, `sum ${index}`);
      });
      lab.expect('I64', atCounts, counting ? counted(counts, ids) : counts, 'count');
      expectEmpty(lab, scratch, groupCount);
    });
  }
}

const LARGEST = { U8: 0xff, U16: 0xffff, U32: 0xffffffff } as const;

function floats(lab: Lab, keys: Narrow): void {
  for (const counting of [true, false]) {
    eachTrial(lab, keys, ({ n, groupCount, ids, atIds, scratch }) => {
      const values = lab.values('F64', n).map(Number);
      const at = lab.place('F64', values);
      const counts = firstCounts(groupCount);
      const state = new Array<number>(groupCount * 4).fill(0.1);
      const atCounts = lab.output('I64', groupCount, counts);
      const atSums = lab.output('F64', state.length, state);
      lab.call(() => lab.kernels[`tally${keys}F64`](atIds, at, n, groupCount, scratch, counting ? atCounts : 0, atSums));
      for (const [i, id] of ids.entries()) state[id * 4 + (i & 3)] = (state[id * 4 + (i & 3)] ?? 0) + (values[i] ?? 0);
      lab.expect('F64', atSums, state, 'sum');
      lab.expect('I64', atCounts, counting ? counted(counts, ids) : counts, 'count');
      expectEmpty(lab, scratch, groupCount);
    });
  }
}

function eachTrial(lab: Lab, type: Narrow, trial: (positions: Trial) => void): void {
  const oneTrial = (n: number, groupCount: number): void => {
    // Many groups make long trials: one tail, more than a word, a block.
    if (groupCount > 250 && n % 64 !== 3 && n <= 131) return;
    const ids = Array.from({ length: n }, () => lab.random(groupCount));
    const atIds = lab.place(type, ids);
    const scratch = lab.output('I64', groupCount * 4, new Array<bigint>(groupCount * 4).fill(0n));
    trial({ n, groupCount, ids, atIds, scratch });
  };
  lab.each(
    GROUP_COUNTS.filter((count) => type !== 'U8' || count <= 256),
    oneTrial,
  );
  // The largest sums that one group may come to, at lengths that vectors and their tails divide differently.
  lab.each([1], oneTrial, [TALLY_ROWS, 4_095]);
}

/** Counts that carry out of the low half. */
function firstCounts(groupCount: number): bigint[] {
  return new Array<bigint>(groupCount).fill(2n ** 32n - 2n);
}

function counted(counts: readonly bigint[], ids: readonly number[]): bigint[] {
  const found = [...counts];
  for (const id of ids) found[id] = (found[id] ?? 0n) + 1n;
  return found;
}

function expectEmpty(lab: Lab, scratch: number, groupCount: number): void {
  lab.expect('I64', scratch, new Array<bigint>(groupCount * 4).fill(0n), 'word of scratch');
}

import { type Address, BLOCK_ROWS } from '../../src/base/layout.js';
import type { Bench, BenchCase } from './bench-case.js';

const B = BLOCK_ROWS;
/** Work of arithmetic and random access: fewer rows, or the plain sets would take minutes. */
const WORK_ROWS = 2 * 1024 * 1024;

/** Counts and sums by group: scattered rows, narrow keys, words that counts and sums share. */
export function grouping(bench: Bench): BenchCase[] {
  const rows = bench.rows(WORK_ROWS);
  const ids = bench.u16(rows, () => bench.below(250));
  const many = bench.u32(rows, () => bench.below(64000));
  const few = bench.u32(rows, (i) => bench.memory.u16(ids + i * 2, 1)[0] as number);
  const values = bench.f64(rows, () => bench.random());
  const moments = bench.f64(B * 4, () => bench.random());
  const longs = bench.i64(rows, () => BigInt(bench.below(100000)));
  const narrow = bench.u16(rows, () => bench.below(60000));
  const selected = bench.u32(B, (i) => i - (i % 3));
  const mask = bench.bits(B, 0.5);
  const state = bench.allocate(64000 * 8);
  const counts = bench.allocate(64000 * 8);
  const keys = bench.allocate(B * 4);
  const kept = bench.allocate(B * 4);
  const within = bench.allocate(B * 8);
  const scratch = bench.allocate(250 * 32);
  const { memory } = bench;
  const reset = (): void => {
    memory.u8(state, 64000 * 8).fill(0);
    memory.u8(counts, 64000 * 8).fill(0);
  };
  const grouped = (
    name: string,
    kernels: BenchCase['kernels'],
    bytes: number,
    call: BenchCase['call'],
    groups: number,
    plain?: BenchCase['plain'],
  ): BenchCase => ({
    name,
    kernels,
    rows,
    bytes: rows * bytes,
    blocks: rows / B,
    call,
    reset,
    outputs: [
      { at: state, bytes: groups * 8 },
      { at: counts, bytes: groups * 8 },
    ],
    ...(plain === undefined ? {} : { plain }),
  });
  const sumAndCount = (name: string, groups: Address, groupCount: number): BenchCase => {
    const column = memory.f64(values, rows);
    const of = memory.u32(groups, rows);
    const sums = new Float64Array(groupCount);
    const found = new Float64Array(groupCount);
    return grouped(
      name,
      ['sumGroupsF64', 'countGroups'],
      12,
      (k, block) => {
        k.sumGroupsF64(values + block * B * 8, 0, groups + block * B * 4, B, state, 1);
        k.countGroups(groups + block * B * 4, B, counts);
      },
      groupCount,
      (block) => {
        for (let row = block * B, end = row + B; row < end; row++) {
          const group = of[row] as number;
          sums[group] = (sums[group] as number) + (column[row] as number);
          found[group] = (found[group] as number) + 1;
        }
      },
    );
  };
  return [
    sumAndCount('group by: sum f64 and count, 250 groups', few, 250),
    sumAndCount('group by: sum f64 and count, 64k groups', many, 64000),
    grouped(
      'group by: sum f64 in 4 copies',
      ['sumGroupsF64'],
      12,
      (k, block) => k.sumGroupsF64(values + block * B * 8, 0, few + block * B * 4, B, state, 4),
      1000,
    ),
    grouped(
      'group by: sum u16',
      ['sumGroupsU16'],
      6,
      (k, block) => k.sumGroupsU16(narrow + block * B * 2, 0, few + block * B * 4, B, state),
      250,
    ),
    ...[64_000, 1_000_000].flatMap((groupCount) => {
      const groups = groupCount === 64_000 ? many : bench.u32(rows, () => bench.below(groupCount));
      const words = bench.allocate(groupCount * 8);
      const present = bench.allocate(groupCount);
      const common = { rows, bytes: rows * 6, blocks: rows / B, reset: () => memory.u8(words, groupCount * 8).fill(0) };
      const at = (block: number): [Address, Address, Address, number] => [narrow + block * B * 2, 0, groups + block * B * 4, B];
      return [
        {
          ...common,
          name: `group by: sum u16 and presence, ${groupCount} groups`,
          kernels: ['sumGroupsU16', 'presentGroups'],
          call: (k, block) => {
            k.sumGroupsU16(...at(block), words);
            k.presentGroups(groups + block * B * 4, B, present);
          },
          outputs: [{ at: words, bytes: groupCount * 8 }],
        },
        {
          ...common,
          name: `group by: sum u16 and count in one word, ${groupCount} groups`,
          kernels: ['countSumGroupsU16'],
          call: (k, block) => k.countSumGroupsU16(...at(block), words),
          outputs: [{ at: words, bytes: groupCount * 8 }],
        },
      ] satisfies BenchCase[];
    }),
    grouped(
      'tally: sum u16 and count, 250 groups',
      ['tallyU16U16'],
      4,
      (k, block) => k.tallyU16U16(ids + block * B * 2, narrow + block * B * 2, B, 250, scratch, counts, state),
      250,
    ),
    ...(['one by one', 'together'] as const).map((how) => {
      const other = bench.allocate(250 * 8);
      const two = grouped(
        `tally: two sums u16 and count ${how}, 250 groups`,
        how === 'together' ? ['tallyPairU16'] : ['tallyU16U16'],
        6,
        (k, block) => {
          const [keys, a, b] = [ids + block * B * 2, narrow + block * B * 2, narrow + block * B * 2];
          if (how === 'together') {
            k.tallyPairU16(keys, a, b, B, 250, scratch, counts, state, other);
            return;
          }
          k.tallyU16U16(keys, a, B, 250, scratch, counts, state);
          k.tallyU16U16(keys, b, B, 250, scratch, 0, other);
        },
        250,
      );
      return { ...two, outputs: [...two.outputs, { at: other, bytes: 250 * 8 }] };
    }),
    grouped(
      'tally: sum f64 and count, 250 groups',
      ['tallyU16F64'],
      10,
      (k, block) => k.tallyU16F64(ids + block * B * 2, values + block * B * 8, B, 250, scratch, counts, state),
      1000,
    ),
    grouped(
      'group by: sum u16 of selected rows',
      ['sumGroupsU16'],
      6,
      (k, block) => k.sumGroupsU16(narrow + block * B * 2, selected, few + block * B * 4, B, state),
      250,
    ),
    grouped(
      'group by: sum i64',
      ['sumGroupsI64'],
      12,
      (k, block) => k.sumGroupsI64(longs + block * B * 8, 0, few + block * B * 4, B, state),
      250,
    ),
    grouped(
      'group by: max f64',
      ['maxGroupsF64'],
      12,
      (k, block) => k.maxGroupsF64(values + block * B * 8, 0, few + block * B * 4, B, state),
      250,
    ),
    {
      ...grouped('dense key u16', ['keyDenseU16'], 2, (k, block) => k.keyDenseU16(ids + block * B * 2, 0, B, 1, 0, keys), 1),
      outputs: [{ at: keys, bytes: B * 4 }],
    },
    {
      ...grouped(
        'dense key u16, second column',
        ['keyDenseU16'],
        2,
        (k, block) => {
          k.keyDenseU16(ids + block * B * 2, 0, B, 1, 0, keys);
          k.keyDenseU16(narrow + block * B * 2, 0, B, 250, 1, keys);
        },
        1,
      ),
      outputs: [{ at: keys, bytes: B * 4 }],
    },
    {
      ...grouped(
        'dense key u16 of selected rows',
        ['keyDenseU16'],
        2,
        (k, block) => k.keyDenseU16(ids + block * B * 2, selected, B, 1, 0, keys),
        1,
      ),
      outputs: [{ at: keys, bytes: B * 4 }],
    },
    {
      ...grouped(
        'compact by mask',
        ['compactMask'],
        4,
        (k, block) => void k.compactMask(mask, 0, few + block * B * 4, B, state, counts),
        1,
      ),
      reset,
    },
    grouped(
      'best times of few groups, and the rows that have them',
      ['maxGroupsI64', 'compactBestI64'],
      12,
      (k, block) => {
        k.maxGroupsI64(longs + block * B * 8, 0, few + block * B * 4, B, state);
        k.compactBestI64(longs + block * B * 8, 0, few + block * B * 4, B, state, keys, kept);
      },
      250,
    ),
    grouped(
      'the three smallest of few groups, and rows within them',
      ['smallestGroupsI64', 'compactWithinI64'],
      12,
      (k, block) => {
        k.smallestGroupsI64(longs + block * B * 8, few + block * B * 4, B, 3, state);
        k.compactWithinI64(longs + block * B * 8, 0, few + block * B * 4, B, state + 16, 3, within, keys, kept);
      },
      250,
    ),
    grouped(
      'moments of few groups',
      ['addMoments'],
      12,
      (k, block) => k.addMoments(values + block * B * 8, few + block * B * 4, B, state),
      1000,
    ),
    grouped(
      'moments of many groups, joined',
      ['joinMoments'],
      36,
      (k, block) => k.joinMoments(moments, few + block * B * 4, B, state),
      1000,
    ),
    grouped(
      'greatest of few groups at equal times',
      ['bestAtTimesI64'],
      12,
      (k, block) => k.bestAtTimesI64(longs + block * B * 8, 0, 0, few + block * B * 4, B, 0, 1, 0, state, counts),
      250,
    ),
  ];
}

// Conformance checks of joins by ranges.

import type { Address } from '../../base/layout.js';
import { sortedTexts, uploadTexts } from './join.js';
import type { Lab } from './lab.js';

const MOST = 2n ** 63n - 1n;
const PLACES = 700;

/** Ranks in order, with equal ones and both ends of their type among them. */
function ranksOf(lab: Lab): bigint[] {
  const ranks = [...lab.values('I64', 200), ...Array.from({ length: PLACES - 200 }, () => lab.random(150))].map(BigInt);
  return ranks.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Values that ranks have, that lie near them, and any. */
function valuesNear(lab: Lab, ranks: readonly bigint[], rows: number): bigint[] {
  return lab
    .values('I64', rows)
    .map((value, row) => (row % 3 === 0 ? BigInt(value) : row % 3 === 1 ? (ranks[row % PLACES] ?? 0n) : BigInt(lab.random(160))));
}

/** Stretches of places, some empty, as they lie in memory. */
function stretches(lab: Lab, rows: number): number[] {
  return Array.from({ length: rows }, () => {
    const from = lab.random(4) === 0 ? 0 : lab.random(PLACES);
    return lab.random(6) === 0 ? [from, from] : [from, lab.random(4) === 0 ? PLACES : from + lab.random(PLACES - from + 1)];
  }).flat();
}

const NULLS = ['no nulls', 'some nulls'] as const;

function layNulls(lab: Lab, rows: number, variant: (typeof NULLS)[number]): { readonly nulls: readonly boolean[]; readonly at: Address } {
  const nulls = lab.mask(variant === 'no nulls' ? 'none' : 'random', rows);
  return { nulls, at: variant === 'no nulls' ? 0 : lab.uploadBits(nulls) };
}

export const RANGE_CHECKS = {
  rangeNarrow(lab: Lab) {
    for (const [isAbove, isEnd] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ] as const)
      lab.each(NULLS, (rows, variant) => {
        const ranks = ranksOf(lab);
        const values = valuesNear(lab, ranks, rows);
        const { nulls, at } = layNulls(lab, rows, variant);
        const before = stretches(lab, rows);
        const [atValues, atRanks] = [lab.place('I64', values), lab.place('I64', ranks)];
        const places = lab.output('U32', rows * 2, before);
        lab.call(() => lab.kernels.rangeNarrow(atValues, at, rows, atRanks, isAbove, isEnd, places));
        const expected = values.flatMap((value, row) => {
          const [from = 0, to = 0] = before.slice(row * 2, row * 2 + 2);
          if (nulls[row] === true) return [from, from];
          const found = ranks.slice(from, to).filter((rank) => rank < value || (isAbove === 1 && rank === value)).length;
          return isEnd === 1 ? [from, from + found] : [from + found, to];
        });
        lab.expect('U32', places, expected, 'place');
      });
  },
  rangeLimits(lab: Lab) {
    for (const [isFlipped, isStrict] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ] as const)
      lab.each(NULLS, (rows, variant) => {
        const values = lab.values('I64', rows).map(BigInt);
        const { nulls, at } = layNulls(lab, rows, variant);
        const before = stretches(lab, rows);
        const atValues = lab.place('I64', values);
        const [places, out] = [lab.output('U32', rows * 2, before), lab.output('I64', rows)];
        lab.call(() => lab.kernels.rangeLimits(atValues, at, rows, isFlipped, isStrict, places, out));
        const limits = values.map((value) => (isFlipped === 1 ? -1n - value : value));
        lab.expect(
          'I64',
          out,
          limits.map((limit) => BigInt.asIntN(64, limit + BigInt(isStrict))),
        );
        lab.expect(
          'U32',
          places,
          limits.flatMap((limit, row) => {
            const [from = 0, to = 0] = before.slice(row * 2, row * 2 + 2);
            return [from, nulls[row] === true || (isStrict === 1 && limit === MOST) ? from : to];
          }),
          'place',
        );
      });
  },
  rangeMost(lab: Lab) {
    lab.each(['any'], (rows) => {
      const values = lab.values('I64', rows).map(BigInt);
      const at = lab.place('I64', values);
      const out = lab.output('I64', Math.ceil(rows / 16));
      lab.call(() => lab.kernels.rangeMost(at, rows, out));
      lab.expect('I64', out, mostOf(values));
    });
  },
  rangeTexts(lab: Lab) {
    lab.each([0, 1], (rows, firsts) => {
      const entries = sortedTexts(lab, Math.min(rows, 300));
      const others = sortedTexts(lab, lab.random(80));
      const [one, other] = [uploadTexts(lab, entries), uploadTexts(lab, others)];
      const out = lab.output('U32', entries.length);
      lab.call(() =>
        lab.kernels.rangeTexts(one.bytes, one.offsets, firsts, entries.length, other.bytes, other.offsets, firsts, others.length, out),
      );
      const known = others.slice(firsts);
      lab.expect(
        'U32',
        out,
        entries.map((text, entry) => {
          if (entry < firsts) return 0xffffffff;
          return (firsts + known.filter((each) => each < text).length) * 2 + Number(known.includes(text));
        }),
        'entry',
      );
    });
  },
  rangePairs(lab: Lab) {
    for (const { each, capacity, isMarked } of [
      { each: 0xffffffff, capacity: 100_000, isMarked: false },
      { each: 0xffffffff, capacity: 37, isMarked: false },
      { each: 2, capacity: 1000, isMarked: true },
      { each: 1, capacity: 1, isMarked: false },
    ])
      lab.each(
        ['few', 'many'],
        (rows, kind) => {
          const numbers = Array.from({ length: PLACES }, () => (lab.random(30) === 0 ? MOST : BigInt(lab.random(1000) - 500)));
          const limits = Array.from({ length: rows }, () =>
            kind === 'few' ? BigInt(lab.random(40) + 480) : BigInt(lab.random(1000) - 600),
          );
          const own = Array.from({ length: PLACES }, () => lab.random(100_000));
          const met = Array.from({ length: rows }, () => Number(isMarked && lab.random(3) === 0));
          const bounds = stretches(lab, rows);
          const levels = [numbers];
          for (let top = numbers; top.length > 1; levels.push(top)) top = mostOf(top);
          const atLevels = lab.place(
            'U32',
            levels.map((level) => lab.place('I64', level)),
          );
          const [atLimits, atRows, atMet] = [lab.place('I64', limits), lab.place('U32', own), lab.place('U8', met)];
          const places = lab.output('U32', rows * 2, bounds);
          const cursor = lab.output('U32', 1, [0]);
          const [left, right] = [lab.output('U32', capacity), lab.output('U32', capacity)];
          for (let next = 0, calls = 0; next < rows && calls < 20; calls++) {
            const count = lab.call(() =>
              lab.kernels.rangePairs(
                places,
                atLimits,
                isMarked ? atMet : 0,
                rows,
                atRows,
                atLevels,
                levels.length,
                each,
                cursor,
                capacity,
                left,
                right,
              ),
            );
            const pairs: { readonly row: number; readonly other: number }[] = [];
            for (; next < rows; next++) {
              let [from = 0] = bounds.slice(next * 2);
              const to = bounds[next * 2 + 1] ?? 0;
              if (from >= to || met[next] === 1) continue;
              for (let given = 0; from < to && given < each && pairs.length < capacity; from++) {
                if ((numbers[from] ?? 0n) < (limits[next] ?? 0n)) continue;
                pairs.push({ row: next, other: own[from] ?? 0 });
                given++;
              }
              bounds[next * 2] = from;
              if (pairs.length === capacity) break;
            }
            lab.expectResult(count, pairs.length);
            lab.expect('U32', cursor, [next], 'cursor');
            lab.expect('U32', places, bounds, 'place');
            lab.expect(
              'U32',
              left,
              pairs.map(({ row }) => row),
              'row',
            );
            lab.expect(
              'U32',
              right,
              pairs.map(({ other }) => other),
              'partner',
            );
          }
        },
        [0, 1, 5, 64, 130],
      );
  },
};

function mostOf(numbers: readonly bigint[]): bigint[] {
  const largest: bigint[] = [];
  for (let start = 0; start < numbers.length; start += 16)
    largest.push(numbers.slice(start, start + 16).reduce((most, number) => (number > most ? number : most)));
  return largest;
}

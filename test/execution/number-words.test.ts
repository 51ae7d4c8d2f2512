import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { wordsOfNumbers } from '../../src/execution/post/number-words.js';
import { caseCount } from '../case-count.js';

/* Words of numbers, whose order and equality are those of the numbers: null is where it is asked for, NaN above all, -0 equal to 0. */

const words = suite('words of numbers');

type Cell = number | bigint | null;

/** Lists that values are drawn from, each of which asks for words of another kind. */
const LONGS: Readonly<Record<string, readonly bigint[]>> = {
  near: [0n, 5n, -7n, 2n ** 31n],
  far: [0n, 2n ** 40n, -(2n ** 40n), 2n ** 40n + 1n],
  'at the ends': [2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), -(2n ** 63n) + 1n, 0n],
  'near, beyond doubles': [2n ** 60n, 2n ** 60n + 1n, 2n ** 60n + 2n],
  one: [-(2n ** 33n)],
};
const DOUBLES: Readonly<Record<string, readonly number[]>> = {
  whole: [0, -0, 5, -7, 1e9],
  prices: [0.01, 0.1, 2.3, -4.56, 1e6 + 0.07, 0, -0],
  'decimals of nine places': [1e-9, 2e-9, 1, 1.000000001],
  'no decimals': [1 / 3, Math.PI, -Math.E, 0.5],
  'not numbers': [Number.NaN, Infinity, -Infinity, 0, -0, 1.5],
  'far whole ones': [2 ** 53, 2 ** 53 + 2, 0, -(2 ** 60)],
  tiny: [Number.MIN_VALUE, -Number.MIN_VALUE, 0, -0],
};

function compared(a: Cell, b: Cell, { descending, nullsFirst }: { readonly descending: boolean; readonly nullsFirst: boolean }): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  const order = a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return descending ? -order : order;
}

for (const [kind, lists] of [
  ['long', LONGS],
  ['double', DOUBLES],
] as const)
  for (const [name, list] of Object.entries<readonly (bigint | number)[]>(lists))
    for (let seed = 1; seed <= caseCount(8); seed++)
      words(`${kind}s that are ${name}, seed ${seed}`, () => {
        const random = randomSource(seed);
        const order = { descending: random() < 0.5, nullsFirst: random() < 0.5 };
        const nullPart = random() < 0.3 ? 0 : random() < 0.2 ? 1 : 0.2;
        const cells = Array.from(
          { length: 60 },
          (): Cell => (random() < nullPart ? null : (list[Math.floor(random() * list.length)] ?? null)),
        );
        // Rows often come in the order of their times.
        if (random() < 0.4) cells.sort((a, b) => compared(a, b, { descending: false, nullsFirst: true }));
        const nulls = cells.includes(null) ? Uint8Array.from(cells, (cell) => (cell === null ? 1 : 0)) : null;
        const column =
          kind === 'long'
            ? ({ kind, name, values: BigInt64Array.from(cells, (cell) => (cell as bigint | null) ?? 9n), nulls } as const)
            : ({ kind, name, type: 'DOUBLE', values: Float64Array.from(cells, (cell) => (cell as number | null) ?? 9), nulls } as const);
        const found = wordsOfNumbers(column, order, () => undefined);
        const byWords = (a: number, b: number): number => {
          for (const word of found) if (word[a] !== word[b]) return (word[a] ?? 0) < (word[b] ?? 0) ? -1 : 1;
          return 0;
        };
        for (let a = 0; a < cells.length; a++)
          for (let b = 0; b < cells.length; b++)
            assert.is(
              byWords(a, b),
              compared(cells[a] ?? null, cells[b] ?? null, order) || 0,
              `${String(cells[a])} and ${String(cells[b])}`,
            );
      });

words('numbers that are near each other have one word', () => {
  const values = Float64Array.from([1.25, 3.5, -2.75]);
  assert.is(
    wordsOfNumbers(
      { kind: 'double', name: '', type: 'DOUBLE', values, nulls: null },
      { descending: false, nullsFirst: true },
      () => undefined,
    ).length,
    1,
  );
});

words.run();

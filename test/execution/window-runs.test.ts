import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { rowsByWords } from '../../src/execution/post/radix-order.js';
import { edgesOfRuns, runsByCounts, runsOfWords } from '../../src/execution/post/window/runs.js';

/*
 * Runs of rows in an order, against comparing each row with the one before it.
 */

const runs = suite('runs of rows that are alike');
const check = (): void => undefined;

for (const [count, ends] of [
  [1, [1]],
  [63, [3]],
  [4096, [3, 5]],
  [4097, [4096]],
  [5000, [7, 2, 100]],
  [9000, [2 ** 32]],
] as const)
  runs(`${count} rows of words below ${ends.join(', ')}`, () => {
    const random = randomSource(count);
    // Numbers of a narrow range far from 0 are counted as well.
    const words = ends.map((end) =>
      Uint32Array.from({ length: count }, () => (end === 2 ** 32 ? 0 : 4_000_000_000) + Math.floor(random() * end)),
    );
    const rows = rowsByWords(words, count, check);
    const isFirst = (at: number): boolean => at === 0 || words.some((word) => word[rows[at] ?? 0] !== word[rows[at - 1] ?? 0]);
    const expected = [...Array.from({ length: count }, (_, at) => at).filter(isFirst), count];
    const counted = runsByCounts(words, count, check);
    if (counted !== undefined) assert.equal([...counted], expected);
    assert.is(counted === undefined, ends[0] === 2 ** 32 || 2 ** bitsOf(words) > count);
    assert.equal([...runsOfWords(words, { picked: rows }, count, check)], expected);
  });

function bitsOf(words: readonly Uint32Array[]): number {
  return words.reduce((sum, word) => sum + Math.ceil(Math.log2(Math.max(...word) - Math.min(...word) + 1)), 0);
}

for (const isForward of [true, false])
  runs(`a word that numbers the rows ${isForward ? 'in turn' : 'the other way round'} leaves each row alone`, () => {
    const alike = new Uint32Array(100);
    const word = Uint32Array.from({ length: 100 }, (_, row) => (isForward ? row : 99 - row));
    const found = runsOfWords([alike, word], { picked: rowsByWords([alike, word], 100, check) }, 100, check, Uint32Array.of(0, 40, 100));
    assert.equal(
      [...found],
      Array.from({ length: 101 }, (_, row) => row),
    );
    for (const [edge, behind] of [
      ['start', 0],
      ['end', 1],
    ] as const)
      assert.equal(
        [...edgesOfRuns(found, edge, check)],
        Array.from({ length: 100 }, (_, row) => row + behind),
      );
  });

runs('two rows that are alike are a run, though all others are alone', () => {
  const word = Uint32Array.from([0, 1, 1, 3]);
  assert.equal([...runsOfWords([word], {}, 4, check)], [0, 1, 3, 4]);
  assert.equal([...runsOfWords([new Uint32Array(0)], {}, 0, check, Uint32Array.of(0))], [0]);
});

runs.run();

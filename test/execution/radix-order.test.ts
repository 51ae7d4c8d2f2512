import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rowsByWords } from '../../src/execution/post/radix-order.js';

const orders = suite('rows by words');

/** Number of rows that are divided before they are sorted. */
const DIVIDED_ROWS = 2 ** 18;

/** Numbers in [0, end) that repeat. */
function drawn(count: number, end: number, seed: number): Uint32Array {
  let state = seed;
  return Uint32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  });
}

for (const count of [0, 1, 2, 3, 7, 8, 9, 31, 64, 127, 128, 129, 130, 255, 256, 257, 1000, 70_000, DIVIDED_ROWS])
  for (const ends of [
    [1],
    [3],
    [2 ** 12],
    [2 ** 14],
    [2 ** 18],
    [2 ** 32],
    [2, 2 ** 32],
    [5, 3, 2],
    [2, 2 ** 31, 5, 2 ** 32],
    [100, 2 ** 32, 2 ** 32],
  ] as const)
    orders(`${count} rows of ${ends.length} words below ${ends.join(', ')} are in the order of comparing, equal ones by row`, () => {
      const words = ends.map((end, index) => drawn(count, end, count + index));
      const expected = Array.from({ length: count }, (_, row) => row).sort((a, b) => {
        for (const word of words) {
          const [left = 0, right = 0] = [word[a], word[b]];
          if (left !== right) return left < right ? -1 : 1;
        }
        return a - b;
      });
      assert.equal([...rowsByWords(words, count, () => undefined)], expected);
    });

for (const sortedWords of [1, 2, 3])
  orders(`the last ${sortedWords} of three words ascend already`, () => {
    const count = 1000;
    const words = [5, 3, 2 ** 32].map((end, index) => drawn(count, end, index));
    const ascending = Array.from({ length: count }, (_, row) => row).sort((a, b) => {
      for (const word of words.slice(3 - sortedWords)) if (word[a] !== word[b]) return (word[a] ?? 0) - (word[b] ?? 0);
      return 0;
    });
    for (const [index, word] of words.entries())
      if (index >= 3 - sortedWords) words[index] = Uint32Array.from(ascending, (row) => word[row] ?? 0);
    const expected = Array.from({ length: count }, (_, row) => row).sort((a, b) => {
      for (const word of words) if (word[a] !== word[b]) return (word[a] ?? 0) - (word[b] ?? 0);
      return a - b;
    });
    assert.equal([...rowsByWords(words, count, () => undefined)], expected);
  });

for (const [kind, sign] of [
  ['ascends', 1],
  ['descends', -1],
] as const)
  for (const count of [65, 1000, DIVIDED_ROWS + 100])
    for (const at of [0, 1, 2])
      for (const values of count < DIVIDED_ROWS ? [count, Math.ceil(count / 3), Math.ceil(count / 20), 2] : [Math.ceil(count / 20)])
        orders(`word ${at} of three words of ${count} rows ${kind}, and has ${values} values`, () => {
          const words = [300, 3, 2 ** 32].map((end, index) => drawn(count, end, index + at));
          words[at] = drawn(count, values, 7).sort((a, b) => sign * (a - b));
          const expected = Array.from({ length: count }, (_, row) => row).sort((a, b) => {
            for (const word of words) if (word[a] !== word[b]) return (word[a] ?? 0) - (word[b] ?? 0);
            return a - b;
          });
          assert.equal(Uint32Array.from(rowsByWords(words, count, () => undefined)), Uint32Array.from(expected));
        });

for (const count of [1000, DIVIDED_ROWS + 100])
  for (const constants of [[0], [1], [0, 1], [2]])
    orders(`words ${constants.join(' and ')} of ${count} rows have one value, and another one ascends but for ties`, () => {
      const words = Array.from({ length: 4 }, (_, index): Uint32Array => {
        if (constants.includes(index)) return new Uint32Array(count).fill(7);
        return index === 3 ? drawn(count, 2 ** 32, 5) : drawn(count, Math.ceil(count / 20), index).sort((a, b) => a - b);
      });
      const expected = Array.from({ length: count }, (_, row) => row).sort((a, b) => {
        for (const word of words) if (word[a] !== word[b]) return (word[a] ?? 0) - (word[b] ?? 0);
        return a - b;
      });
      assert.equal(Uint32Array.from(rowsByWords(words, count, () => undefined)), Uint32Array.from(expected));
    });

orders.run();

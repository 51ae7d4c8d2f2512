import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { orderedTexts } from '../../src/execution/post/text-order.js';
import { caseCount } from '../case-count.js';

const orders = suite('order of texts');

const check = (): void => undefined;
const numbersBelow = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, at) => at);

/** The order by its definition: code units one after the other, nulls at an end, equal texts as they come. */
function expectedOrder(texts: readonly (string | null)[], descending: boolean, nullsFirst: boolean): number[] {
  return [...texts.keys()].sort((a, b) => {
    const [left, right] = [texts[a] ?? null, texts[b] ?? null];
    if (left === null || right === null) return left === right ? a - b : (left === null) === nullsFirst ? -1 : 1;
    const order = left < right ? -1 : left > right ? 1 : 0;
    return (descending ? -order : order) || a - b;
  });
}

function agree(texts: readonly (string | null)[]): void {
  for (const descending of [false, true])
    for (const nullsFirst of [false, true]) {
      const found = orderedTexts(numbersBelow(texts.length), (number) => texts[number] ?? null, { descending, nullsFirst }, check);
      assert.equal(
        [...found],
        expectedOrder(texts, descending, nullsFirst),
        JSON.stringify({ texts: texts.slice(0, 40), descending, nullsFirst }),
      );
    }
}

const repeated = (count: number, of: (at: number) => string | null): (string | null)[] => Array.from({ length: count }, (_, at) => of(at));

for (const { name, texts } of [
  { name: 'none', texts: [] },
  { name: 'one', texts: ['a'] },
  { name: 'all null', texts: repeated(100, () => null) },
  { name: 'all the same', texts: repeated(100, () => 'the same long string') },
  { name: 'one that the others begin with', texts: repeated(200, (at) => 'x'.repeat((at * 37) % 50)) },
  {
    name: 'long ones that differ at their ends',
    texts: repeated(300, (at) => `https://www.${at % 3}.example.com/path/${(at * 7919) % 300}`),
  },
  { name: 'characters 0 and ends of texts', texts: repeated(200, (at) => '\u0000'.repeat(at % 20) + (at % 3 === 0 ? 'a' : '')) },
  {
    name: 'the last characters and halves of pairs',
    texts: repeated(200, (at) => `${String.fromCharCode(0xfffd + (at % 3))}${at % 7}\ud83d\ude00`),
  },
  { name: 'characters about the last narrow one', texts: repeated(200, (at) => `${String.fromCharCode(0xfb + (at % 7))}${at % 11}`) },
  {
    name: 'texts of other scripts',
    texts: repeated(200, (at) => `жж${String.fromCharCode(0x430 + ((at * 7) % 32))}${String.fromCharCode(0x4e00 + (at % 19))}`),
  },
  { name: 'texts that are only told apart after many divisions', texts: repeated(400, (at) => 'abcdefghi'.repeat(at % 40) + (at % 11)) },
])
  orders(name, () => agree(texts));

orders('drawn texts', () => {
  const characters = fc.constantFrom('a', 'b', '\u0000', 'ß', '\uffff', '\ufffe', '\ud83d', '\ude00', '-');
  const word = fc.array(characters, { maxLength: 12 }).map((list) => list.join(''));
  const drawn = fc.array(
    fc.option(
      fc.tuple(fc.constantFrom('', 'device-', 'a'.repeat(9)), word).map((pair) => pair.join('')),
      { freq: 9 },
    ),
    {
      maxLength: 150,
      minLength: 30,
    },
  );
  fc.assert(fc.property(drawn, agree), { numRuns: caseCount(200) });
});

orders.run();

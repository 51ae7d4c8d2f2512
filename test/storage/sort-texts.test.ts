import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { packTexts } from '../../src/storage/columns/packed-strings.js';
import { sortTexts } from '../../src/storage/columns/sort-texts.js';

const sort = suite('order of packed strings');

/** Above and below the number from which digits are sorted. */
const COUNTS = [0, 1, 2, 13, 500, 9000, 40_000] as const;

const KINDS: Readonly<Record<string, (random: () => number, at: number) => string>> = {
  'differ at once': (random) => random().toString(36),
  'begin alike': (_, at) => `https://example.com/a/long/way/${(at * 7919) % 10_007}`,
  'often the same': (random) => `v${Math.floor(random() * 40)}`,
  'parts of each other': (random) => 'abcabcabcabcabcabcabc'.slice(0, Math.floor(random() * 20)),
  'of bytes with zeros': (random) => `${'\0'.repeat(Math.floor(random() * 11))}${random() < 0.5 ? 'a' : ''}`,
  'beyond the basic plane': (random) =>
    `${['\u{1f600}', '\uffee', '\ue000', '日', 'é', ''][Math.floor(random() * 6)]}${Math.floor(random() * 90)}`,
  'eight bytes and more': (random) => `12345678${'9'.repeat(Math.floor(random() * 3))}`,
};

for (const [kind, textOf] of Object.entries(KINDS)) {
  for (const count of COUNTS) {
    sort(`${count} strings that are ${kind}`, () => {
      const random = randomSource(count + 1);
      const texts = Array.from({ length: count }, (_, at) => textOf(random, at));
      const order = sortTexts(packTexts(texts));
      assert.equal(
        Array.from(order, (at) => texts[at]),
        [...texts].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      );
      assert.is(new Set(order).size, count);
    });
  }
}

sort.run();

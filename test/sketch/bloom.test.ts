import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Bloom, hash64OfDouble, hash64OfFloat, hash64OfLong, hash64OfText, NULL_HASH } from '../../src/sketch/bloom.js';
import type { Hash64 } from '../../src/sketch/murmur3.js';

const hashes = suite('64-bit MurmurHash3 of Hive');

const long = ({ high, low }: Hash64): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0);

const DICKENS =
  'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, ' +
  'it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness, ' +
  'it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing before us, ' +
  'we were all going direct to Heaven, we were all going direct the other way.';

hashes('of a long text has the published value', () => assert.is(long(hash64OfText(DICKENS)), 305830725663368540n));

// Published bit positions of ORC's filter of 832 bits, which hashes strings the same way: (h1 + i h2) mod 832.
for (const [text, positions] of [
  ['', [656, 807, 480, 151, 304]],
  ['english', [576, 221, 68, 729, 392]],
  ['中国字', [602, 636, 44, 362, 318]],
] as const)
  hashes(`of "${text}" sets the published bits`, () => {
    const { high, low } = hash64OfText(text);
    const bits = [1, 2, 3, 4, 5].map((i) => {
      const combined = (low + Math.imul(i, high)) | 0;
      return (combined < 0 ? ~combined : combined) % 832;
    });
    assert.equal([...bits].sort(), [...positions].sort());
  });

hashes('of numbers is that of their bytes', () => {
  assert.equal(hash64OfLong(0x6162636465666768n), hash64OfText('abcdefgh'));
  // A double of these bits, and a float whose bytes are those of a text.
  assert.equal(hash64OfDouble(2 ** -1000), hash64OfLong(0x0170000000000000n));
  assert.equal(hash64OfFloat(2), hash64OfText('\u0000\u0000\u0000@'));
  assert.is(long(NULL_HASH), 2862933555777941757n);
});

hashes.run();

const filters = suite('Bloom filter');

// bits = entries * 3.1192 * 2 for 5 %; words of 64, a block of 8 more where blocks are full.
for (const [entries, functions, words] of [
  [1, 4, 8],
  [1500, 4, 152],
  [100_000, 4, 9744],
] as const)
  filters(`for ${entries} values has ${functions} functions and ${words} words`, () => {
    const bytes = Bloom.create(entries).encode();
    assert.is(bytes[0], functions);
    assert.is(new DataView(bytes.buffer).getUint32(1), words);
    assert.is(bytes.length, 5 + words * 8);
  });

filters('for 100,000 values begins as the documentation shows', () => {
  assert.ok(Buffer.from(Bloom.create(100_000).encode()).toString('base64').startsWith('BAAAJhAAAA'));
});

filters('sets bits of one block where the layout says', () => {
  const filter = Bloom.create(1);
  filter.add({ high: 1, low: 0 });
  // h1 + (i + 1) h2 = 2, 3, 4, 5: words 2 to 5, bit 0 each.
  const view = new DataView(filter.encode().buffer);
  const words = Array.from({ length: 8 }, (_, word) => view.getBigUint64(5 + word * 8));
  assert.equal(words, [0n, 0n, 1n, 1n, 1n, 1n, 0n, 0n]);
});

filters('finds all that was added, and few others', () => {
  const filter = Bloom.create(2000);
  for (let value = 0; value < 2000; value++) filter.add(hash64OfText(`value ${value}`));
  const read = Bloom.decode(filter.encode());
  let found = 0;
  for (let value = 0; value < 20_000; value++) if (read.has(hash64OfText(`value ${value}`))) found++;
  assert.ok(found >= 2000 && found < 2000 + 18_000 * 0.08, `${found}`);
  for (let value = 0; value < 2000; value++) assert.ok(read.has(hash64OfText(`value ${value}`)));
});

filters('merged finds what either does; of another size it is refused', () => {
  const [a, b] = [Bloom.create(100), Bloom.create(100)];
  a.add(hash64OfLong(1n));
  b.add(NULL_HASH);
  a.merge(b);
  assert.ok(a.has(hash64OfLong(1n)) && a.has(NULL_HASH));
  assert.throws(() => a.merge(Bloom.create(1000)), /maxNumEntries/);
});

filters('refuses bytes that are none', () => {
  for (const hex of ['', '04', '0400000001ffffffffffffffff', '0400000008'])
    assert.throws(() => Bloom.decode(Buffer.from(hex, 'hex')), /Bloom filter/);
});

filters.run();

import { Buffer } from 'node:buffer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { keyedHash, type TextHash } from '../../src/ingestion/column/text-hash.js';

/** Texts that collide under one key, or under every key of the hash before, must not do so under others. */
const hashes = suite('keyed hash of strings');

const hashOf = (hash: TextHash, bytes: Uint8Array): number =>
  hash(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);

function keyOf(seed: number): TextHash {
  const random = randomSource(seed);
  const word = (): number => Math.floor(random() * 2 ** 32) | 0;
  return keyedHash({ seed: word(), multipliers: [word(), word()] });
}

/** Most texts that share the slot of a table of 1,024. */
function mostInSlot(hash: TextHash, texts: readonly Uint8Array[]): number {
  const counts = new Uint32Array(1024);
  for (const text of texts) {
    const slot = hashOf(hash, text) & 1023;
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  return counts.reduce((most, count) => Math.max(most, count), 0);
}

hashes('texts of one slot under a key are spread under others', () => {
  const known = keyOf(1);
  const texts = Array.from({ length: 300_000 }, (_, at) => Buffer.from(`text ${at}`)).filter((text) => (hashOf(known, text) & 1023) === 7);
  assert.is(mostInSlot(known, texts), texts.length);
  assert.ok(texts.length > 200);
  for (let seed = 2; seed < 30; seed++) assert.ok(mostInSlot(keyOf(seed), texts) <= 8, `key ${seed}`);
});

// A difference of the highest bit survives any multiplication; folded down by 15 bits it is the second word.
for (const fold of [13, 15, 16, 17])
  hashes(`differences that cancel out whatever the multiplier, folded by ${fold} bits`, () => {
    const pairs = 10;
    const texts = Array.from({ length: 1 << pairs }, (_, choice) => {
      const words = new Int32Array(pairs * 2);
      for (let pair = 0; pair < pairs; pair++) {
        const differs = ((choice >> pair) & 1) === 1;
        words[pair * 2] = 0x41424344 ^ (differs ? -0x80000000 : 0);
        words[pair * 2 + 1] = 0x45464748 ^ (differs ? -0x80000000 ^ (-0x80000000 >>> fold) : 0);
      }
      return new Uint8Array(words.buffer);
    });
    for (let seed = 1; seed < 30; seed++) {
      const found = new Set(texts.map((text) => hashOf(keyOf(seed), text)));
      assert.ok(found.size > 1000, `key ${seed}: ${found.size} hashes of ${texts.length} texts`);
    }
  });

hashes('texts that differ in their ends only have hashes of their own', () => {
  for (let seed = 1; seed < 30; seed++) {
    const texts = ['', '\0', '\0\0', 'a', 'a\0', '\0a', 'abcd', 'abcd\0', 'abcd\0\0\0\0', 'abcde', 'abcdf', 'dcba'].map((text) =>
      Buffer.from(text),
    );
    assert.is(new Set(texts.map((text) => hashOf(keyOf(seed), text))).size, texts.length);
  }
});

hashes.run();

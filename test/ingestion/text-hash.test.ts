import { Buffer } from 'node:buffer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { TEXT_PADDING, TEXT_SLOT_BYTES, TEXT_TABLE } from '../../src/kernels/text-id-contract.js';

/** Texts that collide under one key, or whatever the multipliers of simpler hashes, must not do so under others. */
const hashes = suite('keyed hash of strings');

const memory = KernelMemory.create({ maximumBytes: 2 ** 28 });
const kernels = instantiateKernels('simd', memory);

/** Hashes of different texts under the key of a number, read from the table that they are put into. */
function hashesOf(texts: readonly Uint8Array[], seed: number): Uint32Array {
  const random = randomSource(seed);
  const capacity = 2 ** Math.ceil(Math.log2(texts.length * 2 + 2));
  const bytes = Buffer.concat([...texts, Buffer.alloc(TEXT_PADDING)]);
  const bounds = new Int32Array(texts.length + 1);
  for (const [at, { length }] of texts.entries()) bounds[at + 1] = (bounds[at] ?? 0) + length;
  const rooms = [TEXT_TABLE.words * 4, capacity * TEXT_SLOT_BYTES, bytes.length + TEXT_PADDING, (texts.length + 2) * 4, bytes.length];
  const [table = 0, slots = 0, arena = 0, offsets = 0, text = 0, starts = 0, ids = 0] = [
    ...rooms,
    bounds.byteLength,
    texts.length * 4 + 4,
  ].map((size) => memory.allocate(size));
  memory.u8(text, bytes.length).set(bytes);
  memory.i32(starts, bounds.length).set(bounds);
  memory.u8(slots, capacity * TEXT_SLOT_BYTES).fill(0);
  const words = memory.u32(table, TEXT_TABLE.words);
  words.set([slots, capacity, arena, bytes.length + TEXT_PADDING, 0, 1, offsets, texts.length + 2]);
  for (let word = TEXT_TABLE.seed; word < TEXT_TABLE.needed; word++) words[word] = Math.floor(random() * 2 ** 32);
  for (const word of [TEXT_TABLE.firstMultiplier, TEXT_TABLE.secondMultiplier]) words[word] = (words[word] ?? 0) | 1;
  assert.is(kernels.textIds(text, starts, starts + 4, 0, 0, texts.length, table, ids), texts.length);
  const found = new Uint32Array(texts.length);
  const slotWords = memory.u32(slots, capacity * 4);
  for (let slot = 0; slot < capacity; slot++) {
    const id = slotWords[slot * 4 + 1] ?? 0;
    if (id > 0) found[id - 1] = slotWords[slot * 4] ?? 0;
  }
  for (const address of [table, slots, arena, offsets, text, starts, ids]) memory.free(address);
  return found;
}

/** Most hashes that share the slot of a table of 1,024. */
function mostInSlot(all: Uint32Array): number {
  const counts = new Uint32Array(1024);
  for (const hash of all) counts[hash & 1023] = (counts[hash & 1023] ?? 0) + 1;
  return counts.reduce((most, count) => Math.max(most, count), 0);
}

hashes('texts of one slot under a key are spread under others', () => {
  const all = Array.from({ length: 300_000 }, (_, at) => Buffer.from(`text ${at}`));
  const known = hashesOf(all, 1);
  const texts = all.filter((_, at) => ((known[at] ?? 0) & 1023) === 7);
  assert.is(mostInSlot(hashesOf(texts, 1)), texts.length);
  assert.ok(texts.length > 200);
  for (let seed = 2; seed < 30; seed++) assert.ok(mostInSlot(hashesOf(texts, seed)) <= 8, `key ${seed}`);
});

// A difference of the highest bit survives any multiplication; folded down it is the second word.
for (const fold of [29, 31, 32, 33])
  hashes(`differences that cancel out whatever the multiplier, folded by ${fold} bits`, () => {
    const pairs = 10;
    const highest = 2n ** 63n;
    const texts = Array.from({ length: 1 << pairs }, (_, choice) => {
      const words = new BigUint64Array(pairs * 2);
      for (let pair = 0; pair < pairs; pair++) {
        const differs = ((choice >> pair) & 1) === 1;
        words[pair * 2] = 0x4142434441424344n ^ (differs ? highest : 0n);
        words[pair * 2 + 1] = 0x4546474845464748n ^ (differs ? highest ^ (highest >> BigInt(fold)) : 0n);
      }
      return new Uint8Array(words.buffer);
    });
    for (let seed = 1; seed < 30; seed++) {
      const found = new Set(hashesOf(texts, seed));
      assert.ok(found.size > 1000, `key ${seed}: ${found.size} hashes of ${texts.length} texts`);
    }
  });

hashes('texts that differ in their ends only have hashes of their own', () => {
  const ends = ['', '\0', '\0\0', 'a', 'a\0', '\0a', 'abcd', 'abcd\0', 'abcd\0\0\0\0', 'abcde', 'abcdf', 'dcba', 'abcdefgh', 'abcdefgh\0'];
  const texts = ends.map((text) => Buffer.from(text));
  for (let seed = 1; seed < 30; seed++) assert.is(new Set(hashesOf(texts, seed)).size, texts.length);
});

hashes.run();

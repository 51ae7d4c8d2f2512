// Conformance checks of hashes for sketches.

import type { Lab, Value } from './lab.js';

const SEEDS = [0, 9001, 0xffffffff] as const;
const ORDERS = ['as they come', 'by their numbers'] as const;
const FRAGMENTS = ['', 'a', 'wiki', '0123456789', 'é', '日本', '😀', 'the quick brown fox'];

export const HASH_CHECKS = {
  murmurTexts: (lab: Lab) => hashesTexts(lab, 'murmurTexts', (text) => text),
  murmurUtf16: (lab: Lab) => hashesTexts(lab, 'murmurUtf16', (text) => Buffer.from(text.toString(), 'utf16le')),
  murmurI64: (lab: Lab) => hashesNumbers(lab, 'I64', BigInt),
  murmurF64: (lab: Lab) => hashesNumbers(lab, 'F64', (value) => bitsOf(Number(value))),
};

function hashesTexts(lab: Lab, kernel: 'murmurTexts' | 'murmurUtf16', hashedBytes: (text: Buffer) => Buffer): void {
  for (const seed of SEEDS) {
    lab.each(ORDERS, (rows, order) => {
      const texts = Array.from({ length: Math.max(1, Math.min(rows, 300)) }, () =>
        Buffer.from(Array.from({ length: lab.random(5) }, () => FRAGMENTS[lab.random(FRAGMENTS.length)]).join('')),
      );
      let end = 0;
      const offsets = lab.place('U32', [0, ...texts.map((text) => (end += text.length))]);
      const bytes = lab.uploadBytes(Buffer.concat(texts));
      const ids = order === 'as they come' ? null : Array.from({ length: Math.min(rows, 1000) }, () => lab.random(texts.length));
      const at = ids === null ? 0 : lab.place('U32', ids);
      const hashed = ids === null ? texts : ids.map((id) => texts[id] ?? Buffer.alloc(0));
      const out = lab.output('I64', hashed.length * 2);
      lab.call(() => lab.kernels[kernel](bytes, offsets, at, hashed.length, seed, out));
      lab.expect(
        'I64',
        out,
        hashed.flatMap((text) => murmur(hashedBytes(text), seed)),
        'word',
      );
    });
  }
}

function hashesNumbers(lab: Lab, type: 'I64' | 'F64', bits: (value: Value) => bigint): void {
  lab.each(SEEDS, (rows, seed) => {
    const values = lab.values(type, Math.min(rows, 2000));
    const at = lab.place(type, values);
    const out = lab.output('I64', values.length * 2);
    const words = values.flatMap((value) => murmur(eightBytes(bits(value)), seed));
    lab.call(() => lab.kernels[`murmur${type}`](at, values.length, seed, out));
    lab.expect('I64', out, words, 'word');
  });
}

function eightBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

/** One zero, one NaN. */
function bitsOf(value: number): bigint {
  if (value === 0) return 0n;
  if (Number.isNaN(value)) return 0x7ff8000000000000n;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.readBigInt64LE();
}

const U64 = (1n << 64n) - 1n;
const C1 = 0x87c37b91114253d5n;
const C2 = 0x4cf5ad432745937fn;

/** The algorithm as it was published, in whole numbers. */
function murmur(bytes: Buffer, seed: number): [bigint, bigint] {
  const rotate = (word: bigint, bits: bigint): bigint => ((word << bits) | (word >> (64n - bits))) & U64;
  const first = (word: bigint): bigint => (rotate((word * C1) & U64, 31n) * C2) & U64;
  const second = (word: bigint): bigint => (rotate((word * C2) & U64, 33n) * C1) & U64;
  const finish = (word: bigint): bigint => {
    const once = ((word ^ (word >> 33n)) * 0xff51afd7ed558ccdn) & U64;
    const twice = ((once ^ (once >> 33n)) * 0xc4ceb9fe1a85ec53n) & U64;
    return twice ^ (twice >> 33n);
  };
  const padded = Buffer.concat([bytes, Buffer.alloc(16)]);
  let [a, b] = [BigInt(seed), BigInt(seed)];
  let at = 0;
  for (; at + 16 <= bytes.length; at += 16) {
    a = ((rotate(a ^ first(padded.readBigUInt64LE(at)), 27n) + b) * 5n + 0x52dce729n) & U64;
    b = ((rotate(b ^ second(padded.readBigUInt64LE(at + 8)), 31n) + a) * 5n + 0x38495ab5n) & U64;
  }
  if (bytes.length > at + 8) b ^= second(padded.readBigUInt64LE(at + 8));
  if (bytes.length > at) a ^= first(padded.readBigUInt64LE(at));
  a ^= BigInt(bytes.length);
  b ^= BigInt(bytes.length);
  a = (a + b) & U64;
  b = (b + a) & U64;
  a = finish(a);
  b = finish(b);
  a = (a + b) & U64;
  b = (b + a) & U64;
  return [BigInt.asIntN(64, a), BigInt.asIntN(64, b)];
}

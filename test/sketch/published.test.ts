import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SKETCH_SEED } from '../../src/sketch/base64-codec.js';
import { Hll } from '../../src/sketch/hll.js';
import { encodeHllBytes } from '../../src/sketch/hll-bytes.js';
import { Kll } from '../../src/sketch/kll.js';
import { Murmur3 } from '../../src/sketch/murmur3.js';
import { Quantiles } from '../../src/sketch/quantiles.js';
import { Theta } from '../../src/sketch/theta.js';
import { decodeThetaBytes, encodeThetaBytes } from '../../src/sketch/theta-bytes.js';

/**
 * Sketches of the LONGs [0, n) as written by the Java, C++ and Go libraries of Apache DataSketches: digests (SHA-256, 16 bytes)
 * of the serialization test data that they check each other against. All three agree on the bytes digested here.
 */
const COUNTS = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

const hash = new Murmur3(SKETCH_SEED);

function eachHash(count: number, put: (hash: Murmur3) => void): void {
  for (let value = 0; value < count; value++) {
    hash.hashLong(BigInt(value));
    put(hash);
  }
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

const hll = suite('published HLL sketches of lgK 12');

const HLL_DIGESTS = {
  4: [
    '0bc11351e49f9b59c0da21d74b622639',
    '207dbcd07951beaeee07b50b625b486e',
    '8aa433067ec22063ba11e148c977c01a',
    '4772f8a9c6f4d2a485f5e71840ef2732',
    '3dc20717c6afa586402652c082e27249',
    '1857662abb4be1693a6919559a092023',
    '66b36c82813f7011aba3592577bb8761',
    '0b033500c64c195418b0141b7c7ec623',
  ],
  6: [
    '5ce991b2072b05bdf0ef60ae66e5ec7e',
    'dcb52c61649afe034e59cf8ab5966044',
    'a7a114849097373b191149fda7ea80f6',
    'ed0c3e22f0bfece74f901543c6091bd9',
    '770a0f56f67a185688c9ee8a6b5976dc',
    '5d6d25bd4665698272c8fd3c8997ae32',
    '76fc08dd7c99f348ec6e392c068e806f',
    '19042ac3bce1a15804f79184369c6375',
  ],
  8: [
    'a7838f0b9a21f59d0a658f772afa8d34',
    'e37b6886cf9a1e11bf2bebb217d8d675',
    '9c307093ab129add1ebb0b7b971a6c67',
    'b314882abe6a360e31bb809de836152e',
    '832700dc2ab790bc695123f0df68bf0b',
    '7f472d7ea41debaa17dc29b16fb3cd0e',
    'f5ba01086705c28d7e3be381a835566e',
    '7eb6a7b39063afc535e6ae7780058bfd',
  ],
} as const;

/** Bytes without the parts that libraries choose freely: coupons in ascending order, no estimate of an unmerged sketch. */
function settled(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  const mode = (copy[7] ?? 0) & 3;
  // Size of the table of exceptions, merged-or-copied flag, and running estimate.
  if (mode === 2) copy.fill(0, 4, 6).fill(0, 8, 16);
  else new Uint32Array(copy.buffer, mode === 0 ? 8 : 12).sort();
  return copy;
}

COUNTS.forEach((count, index) => {
  hll(`of ${count}`, () => {
    const sketch = new Hll(12);
    eachHash(count, ({ firstLow, secondHigh, secondLow }) => sketch.addHash(firstLow, secondHigh, secondLow));
    for (const target of [4, 6, 8] as const)
      assert.is(digest(settled(encodeHllBytes(sketch, target))), HLL_DIGESTS[target][index], `HLL_${target}`);
  });
});

hll.run();

const theta = suite('published theta sketches of size 4096');

const THETA_DIGESTS = [
  '6a69a6cc7473a16302890cd2a9e93e34',
  'bd3033f0d379812be733f8f34aa23b6b',
  'b550f2273dad247a4a77d902266b4f2b',
  'd26127a3b7c2495da7fa77eb4c30034e',
  '0860f26ebc4e8181f244ff0a8aec2661',
  '58acab5879f1eb47a3d945335ce80486',
  '7aa9d43947dc24e150cf0d11fdfd60e2',
  '9310247d3fb23048b33cd1706b4996c8',
];

COUNTS.forEach((count, index) => {
  theta(`of ${count}`, () => {
    const sketch = new Theta(4096);
    eachHash(count, ({ firstHigh, firstLow }) => sketch.addHash(firstHigh, firstLow));
    // Libraries keep up to twice as many hashes for a while: theta and the 4096 smallest.
    const hashes = sketch.hashes();
    const bytes = Buffer.alloc(8 + hashes.length * 8);
    [sketch.theta, ...hashes].forEach((value, at) => {
      bytes.writeBigInt64LE(value, at * 8);
    });
    assert.is(digest(bytes), THETA_DIGESTS[index]);
  });
});

/** Digest of the compressed form of the sketch of [0, 10). */
const PACKED_DIGEST = '16b14f865df62385fe4bdf986bc72193';

/** Distances of ascending hashes in `width` bits each, one after another, the highest bit first. */
function packed(hashes: readonly bigint[], width: number): Buffer {
  const bits = hashes.map((value, at) => (value - (hashes[at - 1] ?? 0n)).toString(2).padStart(width, '0')).join('');
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

theta('other versions and forms are read', () => {
  const ten = new Theta(16);
  eachHash(10, ({ firstHigh, firstLow }) => ten.addHash(firstHigh, firstLow));
  const hashes = Buffer.alloc(80);
  ten.hashes().forEach((value, at) => {
    hashes.writeBigInt64LE(value, at * 8);
  });
  const header = (hex: string): Buffer => Buffer.from(hex, 'hex');
  const all = 'ffffffffffffff7f';
  const version4 = Buffer.concat([header('0104033e011acc930a'), packed([...ten.hashes()], 62)]);
  assert.is(digest(version4), PACKED_DIGEST);
  const table = Buffer.concat([hashes, Buffer.alloc(48)]);
  const forms = {
    'version 4': version4,
    'version 3, p left out': Buffer.concat([header('02030300001acc930a00000000000000'), hashes]),
    'version 2': Buffer.concat([header('02020300001acc930a0000000000803f'), hashes]),
    'version 1': Buffer.concat([header(`03010300001a00000a0000000000803f${all}`), hashes]),
    'being filled': Buffer.concat([header(`c30302040400cc930a0000000000803f${all}`), table]),
  };
  for (const [form, bytes] of Object.entries(forms))
    assert.equal(encodeThetaBytes(decodeThetaBytes(bytes, 16)), encodeThetaBytes(ten), form);
  const empty = ['01030300001e0000', '01030300001ecc93', '01020300001ecc93', `03010300001e00000000000000000000${all}`];
  for (const bytes of empty) assert.is(decodeThetaBytes(header(bytes), 16).estimate(), 0, bytes);
  // One value was seen and thinned out.
  const thinned = decodeThetaBytes(header('03030300001acc9300000000000000000000000014ae4701'), 16);
  assert.equal([thinned.estimate(), thinned.isExact, thinned.fraction.toFixed(4)], [0, false, '0.0100']);
});

theta('refuses what is no sketch of its seed', () => {
  for (const hex of [
    '',
    '0103030000',
    '02030300001acc930a00000000000000',
    '01030300003a0000e56b61eec8804420',
    '0105030000000000',
    '010407000000cc93',
  ])
    assert.throws(() => decodeThetaBytes(Buffer.from(hex, 'hex'), 16), /should hold a theta sketch/, hex);
});

theta.run();

const kll = suite('published KLL sketches of k 200');

/** Bytes of the sketches of 1 to n: how many values are kept does not depend on chance. */
const KLL_SIZES = { DOUBLE: [8, 16, 120, 840, 2640, 4372, 4728, 5000], FLOAT: [8, 12, 72, 432, 1336, 2208, 2392, 2536] } as const;

for (const type of ['DOUBLE', 'FLOAT'] as const)
  COUNTS.forEach((count, index) => {
    kll(`of ${count} ${type}s are as large`, () => {
      const sketch = new Kll(200, type);
      for (let value = 1; value <= count; value++) sketch.add(value);
      assert.is(sketch.encode().length, KLL_SIZES[type][index]);
    });
  });

kll('bytes of few values', () => {
  const sketch = new Kll(200, 'DOUBLE');
  assert.is(Buffer.from(sketch.encode()).toString('hex'), '02010f01c8000800');
  sketch.add(1);
  assert.is(Buffer.from(sketch.encode()).toString('hex'), '02020f04c8000800000000000000f03f');
});

kll.run();

const quantiles = suite('quantiles sketches in other forms');

/** k 4, values 1 to 20: buffer of 4, level 0 of 4 standing for 2 each, level 1 absent; for [1, 8] level 0 alone. */
const BUFFER = [17, 18, 19, 20];
const LEVEL_1 = [2, 6, 10, 14];

function form(version: number, flags: number, values: readonly number[]): Uint8Array {
  const start = version === 1 ? 40 : 32;
  const bytes = new Uint8Array(start + values.length * 8);
  const view = new DataView(bytes.buffer);
  bytes.set([version === 1 ? 5 : 2, version, 8, flags, 4]);
  view.setBigUint64(8, 20n, true);
  view.setFloat64(16, 1, true);
  view.setFloat64(24, 20, true);
  values.forEach((value, at) => {
    view.setFloat64(start + at * 8, value, true);
  });
  return bytes;
}

// 20 = 2 * (2 * 4) + 4: the buffer has 4 of its 8 places, level 0 is free, level 1 stands for 4 each.
const places = [...BUFFER, 0, 0, 0, 0, 0, 0, 0, 0, ...LEVEL_1];
const forms = {
  'version 3, compact': form(3, 8 | 16, [...BUFFER, ...LEVEL_1]),
  'version 3, not compact': form(3, 0, places),
  'version 2': form(2, 0, [...BUFFER, ...LEVEL_1]),
  'version 1': form(1, 0, places),
};
for (const [name, bytes] of Object.entries(forms))
  quantiles(name, () => {
    const sketch = Quantiles.decode(bytes);
    assert.equal([sketch.k, sketch.count, sketch.min, sketch.max], [4, 20, 1, 20]);
    const distribution = sketch.distribution();
    assert.equal(
      [0, 0.1, 0.5, 0.75, 0.85, 1].map((fraction) => distribution.quantile(fraction)),
      [1, 2, 10, 14, 17, 20],
    );
    assert.equal(sketch.encode(), forms['version 3, compact']);
  });

quantiles.run();

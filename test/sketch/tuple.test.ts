import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Murmur3 } from '../../src/sketch/murmur3.js';
import { sampleBounds } from '../../src/sketch/sample-bounds.js';
import { Tuple } from '../../src/sketch/tuple.js';

const murmur = new Murmur3(9001);

function hashOf(key: number): bigint {
  murmur.hashLong(BigInt(key));
  return ((BigInt(murmur.firstHigh >>> 0) << 32n) | BigInt(murmur.firstLow >>> 0)) >> 1n;
}

/** Keys [from, to), each with numbers that are the key plus 0, 1, ... */
function fill(size: number, width: number, from: number, to: number): Tuple {
  const sketch = new Tuple(size, width);
  for (let key = from; key < to; key++)
    sketch.add(
      hashOf(key),
      Float64Array.from({ length: width }, (_, place) => key + place),
    );
  return sketch;
}

const bytes = suite('array-of-doubles sketch: bytes');

// Bytes that the C++ library writes for the LONG keys 0, 1, ..., each with the key itself as its number.
const PUBLISHED: readonly { readonly name: string; readonly keys: number; readonly hex: string }[] = [
  { name: 'no key', keys: 0, hex: '010109031401cc93ffffffffffffff7f' },
  { name: 'one key', keys: 1, hex: '010109031801cc93ffffffffffffff7f0100000000000000e56b61eec88044200000000000000000' },
  {
    name: 'ten keys',
    keys: 10,
    hex:
      '010109031801cc93ffffffffffffff7f0a0000000000000015f97dcbbd86a10540de2ee1c9db3d08698bb991b8685708fe162113fb98bc10bd3273724691cc14' +
      'c397fc1281709d1ee56b61eec88044201ad1300b998c2f22ba40b3c1da06695de0f48bea9983c37c000000000000f03f00000000000010400000000000002040' +
      '00000000000018400000000000001440000000000000004000000000000000000000000000002240' +
      '00000000000008400000000000001c40',
  },
];
for (const { name, keys, hex } of PUBLISHED)
  bytes(`${name}, as other implementations write it`, () => {
    assert.is(Buffer.from(fill(4096, 1, 0, keys).encode()).toString('hex'), hex);
    const read = Tuple.decode(Buffer.from(hex, 'hex'), 4096);
    assert.is(read.entries, keys);
    assert.is(Buffer.from(read.encode()).toString('hex'), hex);
  });

bytes('keys in any order, as the Java library writes them', () => {
  const [low, high] = ['15f97dcbbd86a105', 'e56b61eec8804420'];
  const one = '000000000000f03f';
  const header = '010109030801cc93ffffffffffffff7f0200000000000000';
  const read = Tuple.decode(Buffer.from(`${header}${high}${low}0000000000000000${one}`, 'hex'), 16);
  assert.equal(
    read.sorted().map(([hash, values]) => [hash, ...values]),
    [
      [hashOf(1), 1],
      [hashOf(0), 0],
    ],
  );
});

bytes('without entries but not of nothing', () => {
  const hex = '010109031001cc930000000014ae4701';
  const read = Tuple.decode(Buffer.from(hex, 'hex'), 16);
  assert.is(read.estimate(), 0);
  assert.is(Buffer.from(read.encode()).toString('hex'), hex);
});

for (const [name, hex] of [
  ['too short', '0101'],
  ['another family', '010103031401cc93ffffffffffffff7f'],
  ['another seed', '0101090314010000ffffffffffffff7f'],
  ['big-endian', '010109031501cc93ffffffffffffff7f'],
  ['entries that are not there', '010109031801cc93ffffffffffffff7f0a00000000000000'],
] as const)
  bytes(`refuses what is ${name}`, () => assert.throws(() => Tuple.decode(Buffer.from(hex, 'hex'), 16), /array-of-doubles sketch/));

bytes.run();

const sketches = suite('array-of-doubles sketch');

sketches('sums the numbers of a key', () => {
  const sketch = fill(16, 2, 0, 3);
  sketch.add(hashOf(1), Float64Array.of(10, 20));
  assert.equal(
    sketch.moments().map(({ count, sum }) => [count, sum]),
    [
      [3, 0 + 11 + 2],
      [3, 1 + 22 + 3],
    ],
  );
});

sketches('keeps the same keys whatever the order and the cut', () => {
  const whole = fill(64, 1, 0, 3000);
  const parts = new Tuple(64, 1);
  for (const from of [2000, 0, 1000]) parts.merge(fill(64, 1, from, from + 1000));
  assert.is(whole.entries, 64);
  assert.equal(parts.encode(), whole.encode());
});

sketches('keys in both, and only in the first', () => {
  const [a, b] = [fill(4096, 1, 0, 100), fill(4096, 1, 60, 200)];
  const both = Tuple.intersect(4096, [a, b]);
  assert.is(both.estimate(), 40);
  // Each key from 60 to 99 has its number twice.
  assert.is(both.moments()[0]?.sum, 2 * ((60 + 99) * 20));
  const rest = Tuple.subtract(4096, [a, b]);
  assert.is(rest.estimate(), 60);
  assert.is(rest.moments()[0]?.sum, (0 + 59) * 30);
});

sketches('estimates within three standard errors, for every of ten sets', () => {
  for (let start = 0; start < 10; start++) {
    const sketch = fill(1024, 1, start * 50_000, (start + 1) * 50_000);
    assert.ok(Math.abs(sketch.estimate() / 50_000 - 1) < 3 / Math.sqrt(1023), `set ${start}: ${sketch.estimate()}`);
  }
});

sketches('refuses to combine rows of different width', () => {
  assert.throws(() => fill(16, 1, 0, 1).merge(fill(16, 2, 0, 1)), /1 and 2 numbers/);
  assert.throws(() => Tuple.intersect(16, [fill(16, 1, 0, 1), fill(16, 2, 0, 1)]), /numbers for each key/);
});

sketches.run();

const bounds = suite('bounds of a sample');

bounds('all kept: no doubt', () => assert.equal(sampleBounds(7, 1, 3), { lower: 7, upper: 7 }));

bounds('bounds when nothing of a half was kept', () => {
  // 0.5^n = 0.1586552...
  const { lower, upper } = sampleBounds(0, 0.5, 1);
  assert.is(lower, 0);
  assert.ok(Math.abs(upper - Math.log2(1 / 0.15865525393145707)) < 1e-6, String(upper));
});

bounds('close to the normal distribution where many are kept', () => {
  for (const deviations of [1, 2, 3] as const) {
    const [kept, fraction] = [1_000_000, 0.25];
    const half = (deviations * Math.sqrt(kept * (1 - fraction))) / fraction;
    const { lower, upper } = sampleBounds(kept, fraction, deviations);
    assert.ok(Math.abs((4_000_000 - lower) / half - 1) < 0.01, `${lower}`);
    assert.ok(Math.abs((upper - 4_000_000) / half - 1) < 0.01, `${upper}`);
  }
});

bounds.run();

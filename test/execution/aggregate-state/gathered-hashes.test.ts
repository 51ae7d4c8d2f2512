import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stateOperations } from '../../../src/execution/aggregate-state/operations.js';
import { GatheredHashes, type HashKind } from '../../../src/execution/aggregate-state/sketch/gathered-hashes.js';
import { encodeHll, encodeTheta } from '../../../src/sketch/base64-codec.js';
import { HASH_HALVES } from '../../../src/sketch/hashes.js';
import { Hll } from '../../../src/sketch/hll.js';
import { Theta } from '../../../src/sketch/theta.js';

const test = suite('gathered hashes');

/** 32 bits after `seed`, the same on every run. */
function* words(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield (state ^ (state >>> 15)) >>> 0;
  }
}

const GROUPS = 40;

/** Hashes of groups, of which the first have few and the last many; about a third come several times. */
function* hashesOf(seed: number): Generator<{ readonly group: number; readonly hash: Uint32Array }> {
  const next = words(seed);
  const drawn = (): number => next.next().value ?? 0;
  for (let group = 0; group < GROUPS; group++) {
    const count = Math.floor(1.3 ** group / 10) + (group % 3);
    for (let each = 0; each < count; each++) {
      const hash = Uint32Array.from({ length: HASH_HALVES }, drawn);
      for (let again = 0; again <= drawn() % 2; again++) yield { group, hash };
    }
  }
}

const KINDS = {
  hll: {
    of: { type: 'hll', lgK: 12, target: 4, round: true, stringEncoding: 'utf8' },
    create: () => new Hll(12),
    encode: (sketch: unknown) => encodeHll(sketch as Hll, 8),
  },
  'hll of few registers': {
    of: { type: 'hll', lgK: 4, target: 4, round: true, stringEncoding: 'utf8' },
    create: () => new Hll(4),
    encode: (sketch: unknown) => encodeHll(sketch as Hll, 8),
  },
  theta: { of: { type: 'theta', size: 512 }, create: () => new Theta(512), encode: (sketch: unknown) => encodeTheta(sketch as Theta) },
} as const;

for (const [name, { of, create, encode }] of Object.entries(KINDS)) {
  const kind = stateOperations(of).hashes as HashKind;

  test(`${name}: groups read back as sketches that took each hash in`, () => {
    const gathered = new GatheredHashes(kind);
    const expected = new Map<number, Hll | Theta>();
    for (const { group, hash } of hashesOf(1)) {
      gathered.stateOf(group).addHashes(hash, Uint32Array.of(0), 0, 1);
      const sketch = expected.get(group) ?? create();
      sketch.addHashes(hash, Uint32Array.of(0), 0, 1);
      expected.set(group, sketch);
    }
    const read = gathered.reader();
    for (let group = 0; group < GROUPS + 3; group++) {
      const [found, wanted] = [read(group), expected.get(group)];
      assert.is(found === undefined ? undefined : encode(found), wanted === undefined ? undefined : encode(wanted), `group ${group}`);
    }
  });

  test(`${name}: those of several segments under other numbers, and from another thread, become one`, () => {
    const all = new GatheredHashes(kind);
    const expected = new Map<number, Hll | Theta>();
    for (const seed of [1, 2, 3]) {
      const part = new GatheredHashes(kind);
      const numbers = Uint32Array.from({ length: GROUPS }, (_, group) => (group * 7 + seed) % GROUPS);
      for (const { group, hash } of hashesOf(seed)) {
        part.stateOf(group).addHashes(hash, Uint32Array.of(0), 0, 1);
        const sketch = expected.get(numbers[group] ?? 0) ?? create();
        sketch.addHashes(hash, Uint32Array.of(0), 0, 1);
        expected.set(numbers[group] ?? 0, sketch);
      }
      const sent = new GatheredHashes(kind);
      sent.groups = part.groups.slice(0, part.count);
      sent.kept = part.kept.slice(0, part.count * kind.width);
      sent.count = part.count;
      for (const [group, sketch] of part.sketches) sent.addSketch(group, kind.unpack(structuredClone(kind.pack(sketch))));
      all.addAll(sent, numbers, () => undefined);
    }
    const read = all.reader();
    for (const [group, sketch] of expected) assert.is(encode(read(group)), encode(sketch), `group ${group}`);
    assert.ok(all.sketches.size > 0 && all.count > 0);
  });

  test(`${name}: no group keeps more hashes than a sketch would take room for`, () => {
    const gathered = new GatheredHashes(kind);
    const next = words(9);
    const before = gathered.bytes;
    for (let at = 0; at < 100_000; at++)
      gathered.add(
        0,
        Uint32Array.from({ length: HASH_HALVES }, () => next.next().value ?? 0),
        Uint32Array.of(0),
        0,
        1,
      );
    assert.ok(gathered.count <= kind.most);
    assert.ok(gathered.bytes - before <= 64 * 1024, `${gathered.bytes - before} bytes`);
  });
}

test.run();

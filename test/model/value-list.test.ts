import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cacheKey } from '../../src/cluster/frame-cache.js';
import { type FilterValue, hasNull, isPacked, listOf, valuesOf } from '../../src/model/value-list.js';

const lists = suite('value lists');

const COUNT = 5000;
const MANY: Readonly<Record<string, (index: number) => FilterValue>> = {
  strings: (index) => `v${index}`,
  'strings beyond ASCII, and lone surrogates': (index) => `\u00e4\u4e2d\ud800${index}`,
  'longs of 64 bits': (index) => BigInt.asIntN(64, BigInt(index) * 0x9e3779b97f4a7c15n),
  'doubles, -0 among them': (index) => (index === 7 ? -0 : index / 3),
  'values of all kinds with null': (index) => [`v${index}`, index, BigInt(index), null][index % 4] ?? null,
};

for (const [name, value] of Object.entries(MANY))
  lists(`${name}: as they were once a packed list is opened, on whichever thread`, () => {
    const values = Array.from({ length: COUNT }, (_, index) => value(index));
    const list = listOf(values);
    assert.ok(isPacked(list));
    assert.is(list.length, COUNT);
    assert.is(hasNull(list), values.includes(null));
    for (const each of [list, structuredClone(list)]) assert.ok(valuesOf(each).every((found, index) => Object.is(found, values[index])));
  });

lists('a packed list crosses threads without its bytes being copied', () => {
  const list = listOf(Array.from({ length: COUNT }, String));
  assert.ok(isPacked(list));
  const there = structuredClone(list);
  new Uint8Array(there.packed.buffer)[0] = 0;
  assert.is(list.packed[0], 0);
});

lists('a short list stays as it is', () => {
  const values = ['a', null, 1n];
  assert.is(listOf(values), values);
  assert.is(valuesOf(values), values);
  assert.ok(hasNull(values));
});

lists('keys of caches tell packed lists apart by their values', () => {
  const key = (last: string) => cacheKey({ filter: { kind: 'in', values: listOf([...Array.from({ length: COUNT }, String), last]) } });
  assert.is(key('a'), key('a'));
  assert.is.not(key('a'), key('b'));
});

lists.run();

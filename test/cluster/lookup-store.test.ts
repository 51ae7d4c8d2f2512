import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';

const lookups = suite('lookup store');

const of = (map: unknown) => ({ version: 'v', lookupExtractorFactory: { type: 'map', map } });

lookups('numbers and truth values of a map are their strings, as the original reads them', () => {
  const store = new LookupStore();
  store.replace({ a: of({ s: 'x', n: 1, d: 1.5, b: true, l: 9223372036854775807n }) });
  assert.equal(Object.fromEntries(store.values('a')), { s: 'x', n: '1', d: '1.5', b: 'true', l: '9223372036854775807' });
});

for (const [name, map, says] of [
  ['a null', { k: null }, /a\.lookupExtractorFactory\.map\.k: expected a string, found null/],
  ['a list', { k: ['x'] }, /map\.k: expected a string/],
  ['no map', [], /map: expected an object/],
] as const)
  lookups(`${name} is told where the lookup is used`, () => {
    const store = new LookupStore();
    store.replace({ a: of(map), b: of({ k: 'v' }) });
    assert.throws(() => store.values('a'), says);
    assert.is(store.values('b').get('k'), 'v');
  });

lookups.run();

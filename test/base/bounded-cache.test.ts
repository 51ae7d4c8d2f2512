import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BoundedCache } from '../../src/base/bounded-cache.js';

const caches = suite('bounded cache');

caches('finds what is kept, and counts its size', () => {
  const cache = new BoundedCache<string, number>(10);
  cache.keep('a', 1, 4);
  cache.keep('b', 2, 4);
  assert.equal([cache.find('a'), cache.find('b'), cache.find('c'), cache.size], [1, 2, undefined, 8]);
  cache.keep('a', 3, 5);
  assert.equal([cache.find('a'), cache.size], [3, 9]);
  cache.delete('a');
  cache.delete('a');
  assert.equal([cache.find('a'), cache.find('b'), cache.size], [undefined, 2, 4]);
});

caches('the least recently used make room, as many as it takes, and are given back', () => {
  const cache = new BoundedCache<string, string>(3);
  for (const key of ['a', 'b', 'c']) assert.equal(cache.keep(key, key), []);
  cache.find('a');
  assert.equal(cache.keep('d', 'd', 2), ['b', 'c']);
  assert.equal(
    ['a', 'b', 'c', 'd'].map((key) => cache.find(key)),
    ['a', undefined, undefined, 'd'],
  );
});

caches('keeps nothing larger than its whole bound, and then evicts nothing', () => {
  const cache = new BoundedCache<string, string>(2);
  cache.keep('a', 'a', 2);
  assert.equal(cache.keep('b', 'b', 3), []);
  assert.equal([cache.find('a'), cache.find('b'), cache.size], ['a', undefined, 2]);
  cache.keep('a', 'larger', 3);
  assert.equal([cache.find('a'), cache.size], [undefined, 0]);
});

caches('with keepsLast, keeps something larger alone until the next comes', () => {
  const cache = new BoundedCache<string, string>(2, { keepsLast: true });
  cache.keep('a', 'a', 2);
  assert.equal(cache.keep('b', 'b', 3), ['a']);
  assert.equal([cache.find('b'), cache.size], ['b', 3]);
  assert.equal(cache.keep('c', 'c', 1), ['b']);
  assert.equal([cache.find('c'), cache.size], ['c', 1]);
});

caches.run();

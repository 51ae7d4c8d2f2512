import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BoundedCache } from '../../src/base/bounded-cache.js';

const caches = suite('bounded cache');

caches('what is kept is found until it makes room', () => {
  const cache = new BoundedCache<number>(10);
  cache.keep('a', 1, 4);
  cache.keep('b', 2, 4);
  assert.equal([cache.find('a'), cache.find('b'), cache.find('c'), cache.bytes], [1, 2, undefined, 8]);
  cache.keep('a', 3, 5);
  assert.equal([cache.find('a'), cache.bytes], [3, 9]);
  cache.delete('a');
  cache.delete('a');
  assert.equal([cache.find('a'), cache.find('b'), cache.bytes], [undefined, 2, 4]);
});

caches('what nobody asked for goes first, the oldest of it', () => {
  const cache = new BoundedCache<string>(3);
  for (const key of ['a', 'b', 'c']) cache.keep(key, key, 1);
  cache.find('a');
  cache.keep('d', 'd', 1);
  assert.equal(
    ['a', 'b', 'c', 'd'].map((key) => cache.find(key)),
    ['a', undefined, 'c', 'd'],
  );
});

caches('when all have been asked for, the oldest goes; the newest stays', () => {
  const cache = new BoundedCache<string>(2);
  for (const key of ['a', 'b']) cache.keep(key, key, 1);
  for (const key of ['a', 'b']) cache.find(key);
  cache.keep('c', 'c', 1);
  assert.equal(
    ['a', 'b', 'c'].map((key) => cache.find(key)),
    [undefined, 'b', 'c'],
  );
});

caches('what is larger than all of the budget is not kept, and takes the place of nothing', () => {
  const cache = new BoundedCache<string>(2);
  cache.keep('a', 'a', 2);
  cache.keep('b', 'b', 3);
  assert.equal([cache.find('a'), cache.find('b'), cache.bytes], ['a', undefined, 2]);
  cache.keep('c', 'c', 2);
  assert.equal([cache.find('a'), cache.find('c'), cache.bytes], [undefined, 'c', 2]);
});

caches.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createQueryIds } from '../../src/server/query-id.js';

const ids = suite('query ids');

ids('they are random UUIDs, and no two of many are the same', () => {
  const next = createQueryIds();
  const made = Array.from({ length: 10_000 }, next);
  for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.is(new Set(made).size, made.length);
});

ids('every free digit takes every value', () => {
  const next = createQueryIds();
  const seen = Array.from({ length: 36 }, () => new Set<string>());
  for (let id = 0; id < 2000; id++) [...next()].forEach((digit, place) => seen[place]?.add(digit));
  const values = seen.map((digits) => digits.size);
  assert.equal(values.filter((count) => count === 1).length, 5); // hyphens and the version
  assert.is(values[19], 4); // the variant
  assert.is(values.filter((count) => count === 16).length, 30);
});

ids.run();

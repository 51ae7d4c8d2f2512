import { setFlagsFromString } from 'node:v8';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { extended } from '../../src/base/names.js';

/** Copies with further fields. */
const copies = suite('copies of objects with further fields');

copies('have the fields of both, the further ones where they meet, in the order of an object with a spread', () => {
  const object = { a: 1, b: 'x', c: undefined };
  const fields = { d: [2], b: 'y' };
  assert.equal(extended(object, fields), { a: 1, b: 'y', c: undefined, d: [2] });
  assert.equal(Object.keys(extended(object, fields)), ['a', 'b', 'c', 'd']);
  assert.equal(extended({}, fields), fields);
  assert.equal(object, { a: 1, b: 'x', c: undefined });
});

copies('share a hidden class, whatever their values', () => {
  setFlagsFromString('--allow-natives-syntax');
  const haveOneClass = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (one: object, other: object) => boolean;
  const copy = (at: number): object => extended({ plan: `p${at}`, rows: at }, { stages: at % 2 === 0 ? [] : undefined, upload: at / 2 });
  // The first few tell V8 which values the fields have.
  for (let at = 0; at < 10; at++) copy(at);
  const known = copy(10);
  for (let at = 11; at < 1000; at++) assert.ok(haveOneClass(known, copy(at)), `copy ${at}`);
});

copies.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LoopTurns } from '../../src/base/loop-turns.js';
import { ChangingEntries } from '../../src/model/lookup/changing-entries.js';
import { readerOf } from '../../src/model/lookup/lookup-table.js';
import { caseCount } from '../case-count.js';
import { entriesOf } from '../cluster/lookup-entries.js';

const entries = suite('changing entries of a lookup');

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀', '\0'), maxLength: 3 });
/** A value of null takes the key away; one of undefined makes a table. */
const change = fc.tuple(text, fc.oneof(text, fc.constant(null), fc.constant(undefined)));

entries('are those of a map after the same changes, and equal ones make the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 200 }), async (changes) => {
      const changing = new ChangingEntries(Infinity);
      const expected = new Map<string, string>();
      for (const [key, value] of changes) {
        await changing.makeRoom(1, new LoopTurns());
        if (value === undefined) {
          assert.equal(entriesOf(await changing.table()), Object.fromEntries(expected));
        } else if (value === null) {
          assert.is(changing.remove(key), expected.delete(key));
        } else {
          assert.is(changing.set(key, value), expected.get(key) !== value);
          expected.set(key, value);
        }
      }
      const table = await changing.table();
      assert.equal(entriesOf(table), Object.fromEntries(expected));
      for (const key of ['a', 'ab', ...expected.keys()]) assert.is(readerOf(table).find(key), expected.get(key) ?? null);
      const other = new ChangingEntries(Infinity);
      for (const [key, value] of [...expected].reverse()) other.set(key, value);
      assert.is((await other.table()).digest, table.digest);
    }),
    { numRuns: caseCount(200) },
  );
});

entries('equal hashes do not make the order of keys hang on which came first', async () => {
  // FNV-1a of both is the same.
  const [one, other] = ['costarring', 'liquid'];
  const tables = [];
  for (const keys of [
    [one, other],
    [other, one],
  ]) {
    const changing = new ChangingEntries(Infinity);
    for (const key of keys) changing.set(key, `value of ${key}`);
    tables.push(await changing.table());
  }
  assert.is(tables[0]?.digest, tables[1]?.digest);
});

entries('many of them, most of them gone again', async () => {
  const changing = new ChangingEntries(Infinity);
  const turns = new LoopTurns();
  for (let at = 0; at < 100_000; at++) {
    if (at % 100 === 0) await changing.makeRoom(200, turns);
    changing.set(`key ${at}`, `value ${at % 977}`);
    if (at >= 5000) assert.ok(changing.remove(`key ${at - 5000}`));
  }
  const reader = readerOf(await changing.table());
  assert.is(reader.length, 5000);
  assert.is(reader.valueCount, 977);
  for (let at = 0; at < 100_000; at += 7) assert.is(reader.find(`key ${at}`), at < 95_000 ? null : `value ${at % 977}`);
});

entries('only what is there counts for svc.lookup.maxBytes', async () => {
  const changing = new ChangingEntries(20);
  for (let round = 0; round < 1000; round++) {
    // 5 bytes of keys and 2 of their value.
    for (const key of ['a', 'b', 'c', 'd', 'e']) changing.set(key, `${round % 7}${round % 2}`);
    for (const key of ['a', 'b', 'c', 'd', 'e']) if (round % 3 === 0) changing.remove(key);
  }
  changing.set('x', '12345');
  changing.remove('x');
  assert.throws(() => {
    for (let at = 0; at < 11; at++) changing.set(`${at % 10}${at > 9 ? 'x' : ''}`, `${at}`);
  }, /svc\.lookup\.maxBytes \(20\)/);
});

entries.run();

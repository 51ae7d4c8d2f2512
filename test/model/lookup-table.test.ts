import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LoopTurns } from '../../src/base/loop-turns.js';
import { LookupBuilder, LookupReader, type LookupTable, lookupTableOf, readerOf } from '../../src/model/lookup/lookup-table.js';
import { caseCount } from '../case-count.js';
import { entriesOf } from '../cluster/lookup-entries.js';

const tables = suite('lookup tables');

/** Lone surrogates have no UTF-8. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '€', '😀', '\0', '"') });

tables('what was added last counts, whatever the keys and values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 400 }), async (entries) => {
      const table = await lookupTableOf(entries);
      const expected = new Map(entries);
      assert.is(table.length, expected.size);
      assert.equal(entriesOf(table), Object.fromEntries(expected));
      for (const key of ['a', 'ab', 'zz', ...expected.keys()]) assert.is(readerOf(table).find(key), expected.get(key) ?? null);
    }),
    { numRuns: caseCount(200) },
  );
});

tables('many entries', async () => {
  const entries = Array.from({ length: 50_000 }, (_, at): [string, string] => [`key ${at}`, `value ${at % 97}`]);
  const reader = readerOf(await lookupTableOf(entries));
  assert.is(reader.length, 50_000);
  assert.is(reader.valueCount, 97);
  for (const [key, value] of entries) assert.is(reader.find(key), value);
  assert.is(reader.find('key 50000'), null);
});

tables('are the same bytes whether or not room was made before there was none', async () => {
  // Slots double above three quarters of 512, 1024 and 2048.
  for (const count of [383, 384, 385, 767, 768, 769, 1535, 1536, 1537]) {
    const entries = Array.from({ length: count }, (_, at): [string, string] => [`key ${at}`, `value ${at}`]);
    const builders = [0, 1, 128, 1000].map(async (more) => {
      const builder = new LookupBuilder(Infinity);
      for (const [key, value] of entries) {
        if (more > 0) await builder.makeRoom(more, new LoopTurns());
        builder.add(key, value);
      }
      return (await builder.finish()).packed;
    });
    const [first, ...others] = await Promise.all(builders);
    for (const packed of others) assert.ok(Buffer.from(packed).equals(Buffer.from(first ?? [])), `${count} entries`);
  }
});

tables('digests tell entries apart, and equal ones not', async () => {
  const digest = async (...entries: [string, string][]) => (await lookupTableOf(entries)).digest;
  assert.is(await digest(['a', 'x'], ['b', 'y']), await digest(['a', 'x'], ['b', 'y']));
  const different = [
    digest(),
    digest(['a', 'x']),
    digest(['ax', '']),
    digest(['', 'ax']),
    digest(['a', 'x'], ['b', 'x']),
    digest(['ab', 'x']),
  ];
  assert.is(new Set(await Promise.all(different)).size, different.length);
});

tables('a table that was sent to another process reads the same', async () => {
  const table = await lookupTableOf([
    ['a', 'x'],
    ['b', 'y'],
  ]);
  const sent = deserialize(serialize(table)) as LookupTable;
  const shifted = new Uint8Array(sent.packed.length + 1);
  shifted.set(sent.packed, 1);
  for (const packed of [sent.packed, shifted.subarray(1)]) assert.is(new LookupReader({ ...sent, packed }).find('b'), 'y');
});

tables('a lookup larger than its limit is refused by its name', () => {
  const builder = new LookupBuilder(10);
  builder.add('12345', '12345');
  assert.throws(() => builder.add('', '1'), /svc\.lookup\.maxBytes \(10\)/);
});

tables.run();

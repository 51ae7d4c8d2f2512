import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { extremesOf, type SortedDictionary, sortDictionary, sortPacked } from '../../src/storage/columns/dictionary.js';
import { PackedEntriesBuilder, plainFrame } from '../../src/storage/columns/packed-column.js';
import { textAt } from '../../src/storage/columns/packed-strings.js';

const test = suite('sorted dictionaries');

function valuesOf(dictionary: SortedDictionary): (string | null)[] {
  return Array.from({ length: dictionary.count }, (_, id) => (id === 0 && dictionary.hasNull ? null : textAt(dictionary, id)));
}

const everyId = (entries: readonly unknown[]): Uint32Array => Uint32Array.from(entries.keys());

/** Long common parts, and characters on both sides of where UTF-8 and UTF-16 disagree. */
const part = fc.constantFrom(
  '',
  'a',
  'ab',
  'same beginning ',
  '\u0000',
  '\u007f',
  '\u0080',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{1f319}',
  '\u{10ffff}',
);
const value = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));

test('values come sorted as JS compares strings, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.option(value, { freq: 10 }), { maxLength: 120 }), (entries) => {
      const { dictionary, remap } = sortDictionary(everyId(entries), entries, false);
      const distinct = [...new Set(entries)];
      const texts = distinct.filter((entry) => entry !== null).sort();
      const expected = distinct.includes(null) ? [null, ...texts] : texts;
      assert.equal(valuesOf(dictionary), expected);
      assert.equal(
        entries.map((_, id) => valuesOf(dictionary)[remap[id] ?? 0]),
        entries,
      );
      assert.equal(extremesOf(dictionary), { min: texts[0] ?? null, max: texts.at(-1) ?? null });
    }),
    { numRuns: 300 },
  );
});

test('packed entries are sorted as their strings are', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), fc.boolean(), fc.boolean(), (texts, isSorted, hasNull) => {
      const given = isSorted ? [...new Set(texts)].sort() : texts;
      const builder = new PackedEntriesBuilder();
      const places = given.map((text) => builder.add(Buffer.from(text), 0, Buffer.byteLength(text)));
      const ids = Uint32Array.from(hasNull ? [0, ...places] : places);
      const entries = builder.entries(isSorted);
      const { dictionary, remap } = sortPacked(ids, entries, false);
      const distinct = [...new Set(given)].sort();
      assert.equal(valuesOf(dictionary), hasNull ? [null, ...distinct] : distinct);
      const values = valuesOf(dictionary);
      assert.equal(
        [...ids].map((id) => values[remap === null ? id : (remap[id] ?? 0)]),
        hasNull ? [null, ...given] : given,
      );
      const [column] = plainFrame({
        rowCount: ids.length,
        columns: [{ kind: 'packed', name: 'a', type: 'STRING', ids, offsets: null, dictionary: entries }],
      }).columns;
      assert.equal(column?.kind === 'string' && [...column.ids].map((id) => column.dictionary[id]), hasNull ? [null, ...given] : given);
    }),
    { numRuns: 300 },
  );
});

test('null is added to packed entries when it is needed', () => {
  const builder = new PackedEntriesBuilder();
  builder.add(Buffer.from('a'), 0, 1);
  const { dictionary, remap } = sortPacked(Uint32Array.of(1, 1), builder.entries(true), true);
  assert.equal(valuesOf(dictionary), [null, 'a']);
  assert.is(remap, null);
});

test('entries that no row has are left out; null is added when it is needed', () => {
  const entries = ['b', 'unused', null, 'a', 'b'];
  assert.equal(valuesOf(sortDictionary(Uint32Array.of(0, 3, 4), entries, false).dictionary), ['a', 'b']);
  assert.equal(valuesOf(sortDictionary(Uint32Array.of(0, 3, 2), entries, false).dictionary), [null, 'a', 'b']);
  assert.equal(valuesOf(sortDictionary(Uint32Array.of(3), entries, true).dictionary), [null, 'a']);
  assert.equal(valuesOf(sortDictionary(Uint32Array.of(), entries, true).dictionary), [null]);
});

test('halves of a surrogate pair in neighbouring entries stay apart', () => {
  const { dictionary, remap } = sortDictionary(Uint32Array.of(0, 1, 2), ['x\ud83d', '\udf19y', '\ufffdy'], false);
  assert.equal(valuesOf(dictionary), ['x\ufffd', '\ufffdy']);
  assert.equal([...remap], [0, 1, 1]);
});

test('100,000 values, many of a kind', () => {
  const entries = Array.from({ length: 100_000 }, (_, at) => `user-${((at * 7919) % 50_000).toString(36).padStart(at % 9, 'x')}`);
  assert.equal(valuesOf(sortDictionary(everyId(entries), entries, false).dictionary), [...new Set(entries)].sort());
});

test.run();

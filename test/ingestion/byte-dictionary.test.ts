import { Buffer } from 'node:buffer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { ByteDictionary, type Fields, NULL_ID } from '../../src/ingestion/column/byte-dictionary.js';
import { inputBench } from '../../src/ingestion/column/input-bench.js';
import { TEXT_PADDING } from '../../src/kernels/text-id-contract.js';

/** Fields of some rows, in kernel memory or not. */
function fieldsOf(
  texts: readonly (string | null)[],
  rows: readonly number[],
  isInKernelMemory: boolean,
): { readonly bytes: Buffer; readonly fields: Fields } {
  const { memory } = inputBench();
  const encoded = texts.map((text) => Buffer.from(text ?? ''));
  const all = Buffer.concat([...encoded, Buffer.alloc(TEXT_PADDING)]);
  const room = (size: number): number => memory.allocate(size);
  const at = isInKernelMemory ? room(all.length) : 0;
  const bytes = isInKernelMemory ? Buffer.from(memory.u8(at, all.length).buffer, at, all.length) : Buffer.alloc(all.length);
  bytes.set(all);
  const words = (): Int32Array => (isInKernelMemory ? memory.i32(room(texts.length * 4 + 4), texts.length) : new Int32Array(texts.length));
  const [starts, ends] = [words(), words()];
  let end = 0;
  for (const [row, { length }] of encoded.entries()) {
    starts[row] = end;
    end += length;
    ends[row] = texts[row] === null ? -1 : end;
  }
  return { bytes, fields: { starts, ends, rows: Int32Array.from(rows), count: rows.length, memory: isInKernelMemory ? memory : null } };
}

const dictionary = suite('dictionary of bytes');

for (const isInKernelMemory of [true, false])
  for (const share of [1, 0.5])
    dictionary(`ids are those of arrival, ${share} of the rows, ${isInKernelMemory ? 'where they lie' : 'from elsewhere'}`, () => {
      const random = randomSource(7);
      const words = new ByteDictionary();
      const known = new Map<string, number>();
      for (let block = 0; block < 30; block++) {
        const texts = Array.from({ length: 500 }, () => {
          const number = Math.floor(random() * 9000);
          return random() < 0.1 ? null : `${'é'.repeat(number % 23)}${number}`;
        });
        const rows = texts.flatMap((_, row) => (random() < share ? [row] : []));
        const { bytes, fields } = fieldsOf(texts, rows, isInKernelMemory);
        const ids = new Uint32Array(rows.length + 3);
        words.idsOf(bytes, fields, ids, 3);
        const expected = rows.map((row) => {
          const text = texts[row] ?? null;
          if (text === null) return NULL_ID;
          const id = known.get(text) ?? known.size + 1;
          known.set(text, id);
          return id;
        });
        assert.equal([...ids], [0, 0, 0, ...expected]);
      }
      assert.is(words.count, known.size + 1);
      for (const [text, id] of known) assert.is(words.textOf(id), text);
      assert.is(words.textOf(NULL_ID), null);
      const { bytes, offsets } = words.contents();
      assert.is(bytes.toString(), [...known.keys()].join(''));
      assert.is(offsets.at(-1), bytes.length);
    });

dictionary('single strings and bytes have the ids of fields', () => {
  const words = new ByteDictionary();
  const { bytes, fields } = fieldsOf(['a', 'bc', '', 'a'], [0, 1, 2, 3], false);
  const ids = new Uint32Array(4);
  words.idsOf(bytes, fields, ids, 0);
  assert.equal([...ids], [1, 2, 3, 1]);
  const long = 'é'.repeat(70_000);
  assert.equal([words.idOfText('bc'), words.idOfText(''), words.idOfText(long), words.idOfText('new')], [2, 3, 4, 5]);
  assert.equal([words.idOf(Buffer.from('xnewx'), 1, 4), words.idOf(Buffer.from(long), 0, 140_000)], [5, 4]);
  assert.is(words.textOf(4), long);
});

dictionary('a lone surrogate is U+FFFD', () => {
  const words = new ByteDictionary();
  assert.is(words.textOf(words.idOfText('a\ud800b')), 'a\ufffdb');
});

dictionary('one that is released is empty, and its memory is given back', () => {
  const { memory } = inputBench();
  const words = new ByteDictionary();
  words.idOfText('a');
  const held = memory.allocatedBytes;
  for (let number = 0; number < 10_000; number++) words.idOfText(`text ${number}`);
  assert.ok(memory.allocatedBytes > held + 10_000 * 16);
  words.release();
  assert.ok(memory.allocatedBytes < held);
  assert.is(words.count, 1);
  assert.is(words.idOfText('b'), 1);
  assert.is(words.textOf(1), 'b');
});

dictionary.run();

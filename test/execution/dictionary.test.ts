import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findText, lowerBoundText, textAt } from '../../src/execution/block/dictionary.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 26 });

/** Texts around the places where the orders of UTF-8 and UTF-16 part. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}', '\u0000'), maxLength: 4 });

const dictionaries = suite('dictionary look-ups');

dictionaries('find the place of any text in the order of JS strings', () => {
  fc.assert(
    fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 30 }), fc.array(text), fc.boolean(), (entries, wanted, hasNull) => {
      const dictionary = hasNull ? [...entries, null] : entries;
      const frame = {
        rowCount: dictionary.length,
        columns: [{ kind: 'string', name: 'x', ids: Uint32Array.from(dictionary.keys()), dictionary }],
      } as const;
      const { view, release } = uploadFrame(frame, memory);
      const column = view.columns['x'];
      assert.ok(column?.kind === 'string');
      const sorted = [...(hasNull ? [null] : []), ...entries.sort()];
      assert.equal(
        sorted.map((_, id) => textAt(memory, column.dictionary, id)),
        sorted,
      );
      for (const each of [...wanted, ...entries]) {
        const place = sorted.findIndex((entry) => entry !== null && entry >= each);
        assert.is(lowerBoundText(memory, column.dictionary, each), place < 0 ? sorted.length : place);
        assert.is(findText(memory, column.dictionary, each), sorted.includes(each) ? sorted.indexOf(each) : undefined);
      }
      release();
    }),
    { includeErrorInReport: true },
  );
});

dictionaries.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { referredColumn } from '../../../src/execution/aggregate-state/referred-column.js';
import { layTexts } from '../../../src/execution/block/text-references.js';
import { KernelMemory } from '../../../src/kernels/memory.js';

/* Texts of groups, many of which may be the same: whatever the ids are, each group has its own text, and the packed bytes have all of them. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const long = (number: number): string => `${'long '.repeat(9)}${number}`;

const CASES: Readonly<Record<string, { readonly texts: readonly (string | null)[]; readonly idsMax: number }>> = {
  'few texts, with none, the empty one and such that are not ASCII': {
    texts: Array.from({ length: 5000 }, (_, group) => ['a', '', null, 'é', 'ab', 'b', '😀 hub', 'a'][group % 8] ?? null),
    // Null is one of the seven values.
    idsMax: 7,
  },
  'as many as groups': { texts: Array.from({ length: 20_000 }, (_, group) => `text ${group}`), idsMax: 20_000 },
  'more than are remembered, met again and again': {
    texts: Array.from({ length: 60_000 }, (_, group) => (group < 16_500 ? `few ${group % 4000}` : `more ${group % 3000}`)),
    idsMax: 60_000,
  },
  'long ones': { texts: Array.from({ length: 3000 }, (_, group) => (group % 5 === 0 ? 'short' : long(group % 7))), idsMax: 2402 },
};

const referred = suite('texts that groups refer to');

for (const [name, { texts, idsMax }] of Object.entries(CASES))
  referred(name, () => {
    const arena = memory.arena();
    try {
      const references = layTexts(memory, arena, texts);
      // Every other group, the last one first, and one that has no state.
      const groups = Uint32Array.from([...texts.keys()].filter((group) => group % 2 === 0 || texts.length < 10_000).reverse());
      const listed = Uint32Array.from([...groups, texts.length + 3]);
      const { ids, text, packed } = referredColumn(memory, { references, count: texts.length }, listed);
      const expected = [...groups].map((group) => texts[group] ?? null);
      assert.equal(Array.from(ids, text), [...expected, null]);
      assert.ok(new Set(ids).size <= idsMax, `${new Set(ids).size} ids`);
      const used = [...new Set(ids)].filter((id) => id !== packed?.nullId);
      const { bytes, ends } = packed?.pack(Uint32Array.from(used), () => {}) ?? assert.unreachable();
      const read = used.map((_, at) => Buffer.from(bytes.subarray(ends[at], ends[at + 1])).toString());
      assert.equal(
        read,
        used.map((id) => text(id)),
      );
      assert.equal(new Set(read), new Set(expected.filter((each) => each !== null)));
    } finally {
      arena.release();
    }
  });

referred.after(() => assert.is(memory.allocatedBytes, 0));
referred.run();

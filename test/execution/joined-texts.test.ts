import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { joinTexts } from '../../src/execution/block/joined-texts.js';
import { OwnMemory } from '../../src/execution/join/own-memory.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { allTexts } from '../../src/storage/columns/read-dictionary.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { StringColumnView } from '../../src/storage/view.js';

/* String columns with dictionaries of their own, joined into one: every row keeps its string, and the dictionary is sorted. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const test = suite('string columns of several dictionaries');

type Text = string | null;

function upload(texts: readonly Text[]) {
  const dictionary = [null, ...new Set(texts)];
  const ids = Uint32Array.from(texts, (each) => dictionary.lastIndexOf(each));
  const { view, release } = uploadFrame({ rowCount: texts.length, columns: [{ kind: 'string', name: 's', ids, dictionary }] }, memory);
  return { column: view.columns['s'] as StringColumnView, release };
}

function textsOf({ ids, physical, dictionary }: StringColumnView, rows: number): Text[] {
  const entries = allTexts(memory, dictionary);
  const stored = physical === 'U8' ? memory.u8(ids, rows) : physical === 'U16' ? memory.u16(ids, rows) : memory.u32(ids, rows);
  return Array.from(stored, (id) => entries[id] ?? null);
}

/** Joins so many rows of each. */
async function joined(parts: readonly (readonly Text[])[], rowsOf: (texts: readonly Text[]) => number) {
  const kernels = instantiateKernels('simd', memory);
  const uploaded = parts.map((texts) => ({ ...upload(texts), rowCount: rowsOf(texts) }));
  const into = new OwnMemory(memory);
  try {
    const context = { memory, kernels, check: () => undefined } as unknown as Parameters<typeof joinTexts>[0];
    const column = joinTexts(context, into, uploaded);
    const rows = uploaded.reduce((sum, { rowCount }) => sum + rowCount, 0);
    return { texts: textsOf(column, rows), entries: allTexts(memory, column.dictionary) };
  } finally {
    into.free();
    for (const { release } of uploaded) release();
  }
}

const text = fc.option(fc.constantFrom('', 'a', 'ab', 'B', 'é', '\u{1f600}', '\uffee', 'x'.repeat(300)), { nil: null });

test('give every row its string', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 4 }), async (parts) => {
      const { texts, entries } = await joined(parts, ({ length }) => length);
      assert.equal(texts, parts.flat());
      const sorted = [...new Set(parts.flat())].sort((a, b) => (a === null ? -1 : b === null ? 1 : a < b ? -1 : 1));
      assert.equal(entries, sorted);
    }),
    { numRuns: 100 },
  );
});

test('take of a large dictionary what a few rows have', async () => {
  const many = (first: number): Text[] =>
    Array.from({ length: 6000 }, (_, at) => (at % 7 === 3 ? null : `text ${(at * 7919 + first) % 5003}`));
  const parts = [many(0), many(2), ['text 1', null]];
  const rowsOf = (texts: readonly Text[]): number => Math.min(texts.length, 50);
  const { texts, entries } = await joined(parts, rowsOf);
  const expected = parts.flatMap((each) => each.slice(0, rowsOf(each)));
  assert.equal(texts, expected);
  assert.equal(entries.length, new Set(expected).size);
});

test.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { joinTables } from '../../src/execution/block/join-tables.js';
import { packStacked } from '../../src/execution/block/packed-texts.js';
import { type ResultColumn, type ResultTable, textColumn, valueAt } from '../../src/execution/block/result-table.js';
import { packedRanks } from '../../src/execution/post/packed-ranks.js';
import { textNumbers } from '../../src/execution/scan/text-numbers.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

/* Strings that stay ids of dictionaries in kernel memory: their ranks, their texts, and tables of them. */

const memory = KernelMemory.create({ maximumBytes: 1 << 26 });
const check = (): void => undefined;
const ids = suite('strings as ids');

const TEXT = fc.option(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom('', 'a', 'ab', '\u{ffff}', '\u{1f600}', 'long enough to be copied by a call, which is more than 48 bytes'),
  ),
  { nil: null },
);

/** A view for each list of texts, with what gives their memory back. */
function viewsOf(lists: readonly (readonly (string | null)[])[]) {
  const placed = lists.map((dictionary) =>
    uploadFrame(
      { rowCount: dictionary.length, columns: [{ kind: 'string', name: 'text', ids: Uint32Array.from(dictionary.keys()), dictionary }] },
      memory,
    ),
  );
  const views = placed.map(({ view }, at) => ({ ...view, id: `segment_${at}` }));
  return { views, release: () => placed.map(({ release }) => release()) };
}

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

ids('texts of several segments keep what they are, and their ranks are those of a sort', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(TEXT, { maxLength: 12 }), { maxLength: 4 }),
      fc.boolean(),
      fc.boolean(),
      (lists, descending, nullsFirst) => {
        const { views, release } = viewsOf(lists);
        try {
          const numbers = textNumbers(memory, { views, dictionaries: {} }, 'text', 'STRING');
          assert.ok(numbers);
          const texts = lists.flat();
          const found = new Uint32Array(texts.length);
          let at = 0;
          for (const view of views) {
            numbers.write(
              view,
              Uint32Array.from({ length: view.rowCount }, (_, row) => row),
              found,
              at,
            );
            at += view.rowCount;
          }
          assert.equal(
            Array.from(found, (id) => numbers.text(id)),
            texts,
          );
          assert.equal(
            Array.from(found, (id) => id === numbers.packed.nullId),
            texts.map((text) => text === null),
          );
          const distinct = [...new Set(texts)].sort((a, b) => {
            if (a === null || b === null) return (Number(b === null) - Number(a === null)) * (nullsFirst ? 1 : -1);
            return compared(a, b) * (descending ? -1 : 1);
          });
          const ranks = packedRanks(found, numbers.packed, { descending, nullsFirst }, check);
          assert.equal(
            [...ranks],
            texts.map((text) => distinct.indexOf(text)),
          );
        } finally {
          release();
        }
      },
    ),
  );
});

ids('a segment that keeps lists, or none, has no numbers or nulls alone', () => {
  const lists = { kind: 'multi', name: 'text', offsets: Uint32Array.of(0, 2), ids: Uint32Array.of(0, 1), dictionary: ['a', 'b'] } as const;
  const placed = uploadFrame({ rowCount: 1, columns: [lists] }, memory);
  assert.is(textNumbers(memory, { views: [placed.view], dictionaries: {} }, 'text', 'STRING'), undefined);
  const missing = textNumbers(memory, { views: [placed.view], dictionaries: {} }, 'other', 'STRING');
  const into = Uint32Array.of(0);
  missing?.write(placed.view, Uint32Array.of(0), into, 0);
  assert.is(missing?.text(into[0] ?? 1), null);
  placed.release();
});

ids('tables are joined whatever their columns are of', () => {
  const { views, release } = viewsOf([['b', null, 'a'], ['c']]);
  const numbers = textNumbers(memory, { views, dictionaries: {} }, 'text', 'STRING');
  const kept = (list: readonly number[]): ResultColumn => ({
    kind: 'string',
    name: 'x',
    ids: Uint32Array.from(list),
    text: (id) => numbers?.text(id) ?? null,
    packed: numbers?.packed,
  });
  const long = (values: readonly bigint[], nulls: readonly number[] | null): ResultColumn => ({
    kind: 'long',
    name: 'x',
    values: BigInt64Array.from(values),
    nulls: nulls && Uint8Array.from(nulls),
  });
  const double: ResultColumn = { kind: 'double', name: 'x', type: 'DOUBLE', values: Float64Array.of(1.5), nulls: null };
  const table = (column: ResultColumn, rowCount: number): ResultTable => ({ rowCount, columns: [column], keys: [] });
  const cases: [ResultTable[], readonly unknown[]][] = [
    [
      [table(kept([3, 0]), 2), table(kept([]), 0), table(kept([4]), 1)],
      ['b', null, 'c'],
    ],
    [
      [table(kept([2]), 1), table(textColumn('x', 'STRING', ['d', null]), 2)],
      ['a', 'd', null],
    ],
    [
      [table(long([1n], null), 1), table(long([0n, 2n], [1, 0]), 2)],
      [1n, null, 2n],
    ],
    [
      [table(long([1n], null), 1), table(double, 1)],
      [1, 1.5],
    ],
    [
      [table(double, 1), table(double, 1)],
      [1.5, 1.5],
    ],
    [
      [table(long([1n], null), 1), table(kept([4]), 1)],
      ['1', 'c'],
    ],
    [[table(kept([]), 0)], []],
  ];
  for (const [tables, expected] of cases) {
    const joined = joinTables(tables, check);
    assert.is(joined.rowCount, expected.length);
    const [column] = joined.columns;
    assert.equal(
      Array.from(expected, (_, row) => (column === undefined ? undefined : valueAt(column, row))),
      expected,
    );
  }
  release();
});

ids('entries of dictionaries that are stacked are packed by their own', () => {
  const { views, release } = viewsOf([
    ['b', 'a'],
    ['', 'z'],
  ]);
  const dictionaries = views.flatMap(({ columns: { text } }) => (text?.kind === 'string' ? [text.dictionary] : []));
  const bases = Uint32Array.of(1, 3, 5);
  const { bytes, ends } = packStacked(memory, dictionaries, bases, (id) => (id < 3 ? 0 : 1))(Uint32Array.of(4, 1, 3, 2), check);
  assert.is(Buffer.from(bytes).toString(), 'zab');
  assert.equal([...ends], [0, 1, 2, 2, 3]);
  release();
});

ids('strings of frames that kernels sort are those that are sorted here', () => {
  const kernels = instantiateKernels('simd', memory);
  const random = randomSource(7);
  const below = (count: number): number => Math.floor(random() * count);
  for (let turn = 0; turn < 20; turn++) {
    const beginning = ['', 'all of them begin alike ', '\u{1f600}'][below(3)] ?? '';
    const dictionary = Array.from({ length: 400 + below(900) }, () =>
      below(30) === 0 ? null : `${beginning}${['', 'é', '\u{ffff}', '\u{1f600}', 'zz'][below(5)]}${below(turn % 2 === 0 ? 2000 : 100)}`,
    );
    const column = { kind: 'string', name: 'text', ids: Uint32Array.from(dictionary.keys()).reverse(), dictionary } as const;
    const [one, other] = [undefined, kernels].map((each) => {
      const { view, release } = uploadFrame({ rowCount: dictionary.length, columns: [column] }, memory, each);
      const { text } = view.columns;
      assert.ok(text?.kind === 'string');
      const { count, hasNull, offsets, bytes } = text.dictionary;
      const bounds = memory.u32(offsets, count + 1).slice();
      const texts = Buffer.from(memory.u8(bytes, bounds[count] ?? 0)).toString();
      const found = { count, hasNull, bounds, texts, ids: memory.u16(text.ids, dictionary.length).slice() };
      release();
      return found;
    });
    assert.equal(other, one);
  }
});

ids.run();

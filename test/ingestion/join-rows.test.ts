import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { joinRows } from '../../src/ingestion/builder/join-rows.js';
import { columnPlan } from '../../src/ingestion/builder/run-buffer.js';
import { cellAt, type FrameColumn } from '../../src/model/frame.js';
import { TIME_COLUMN } from '../../src/model/schema.js';
import { type PackedColumn, plainFrame, type SegmentFrame } from '../../src/storage/columns/packed-column.js';
import { packTexts } from '../../src/storage/columns/packed-strings.js';

type Column = FrameColumn | PackedColumn;

const packed = (name: string, entries: readonly string[], ids: readonly number[], offsets?: readonly number[]): PackedColumn => ({
  kind: 'packed',
  name,
  type: 'STRING',
  ids: Uint32Array.from(ids),
  offsets: offsets === undefined ? null : Uint32Array.from(offsets),
  dictionary: { ...packTexts(['', ...entries]), isSorted: false },
});
const plain = (name: string, dictionary: readonly (string | null)[], ids: readonly number[]): FrameColumn => ({
  kind: 'string',
  name,
  ids: Uint32Array.from(ids),
  dictionary,
});
const longs = (name: string, ...values: readonly bigint[]): FrameColumn => ({
  kind: 'long',
  name,
  values: BigInt64Array.from(values),
  nulls: null,
});
const frame = (start: bigint, rowCount: number, ...columns: readonly Column[]): SegmentFrame => ({
  rowCount,
  columns: [longs(TIME_COLUMN, ...Array.from({ length: rowCount }, (_, row) => start + BigInt(row))), ...columns],
});

interface Case {
  readonly declared?: readonly ReturnType<typeof columnPlan>[];
  readonly frames: readonly SegmentFrame[];
  /** Values of each column, in order. */
  readonly rows: Readonly<Record<string, readonly unknown[]>>;
}

/** Rows of several parts as those of one, from what each part holds. */
const CASES: Readonly<Record<string, Case>> = {
  'packed strings, nulls among them, whose entries repeat and do not ascend': {
    declared: [columnPlan('s', 'STRING')],
    frames: [frame(0n, 3, packed('s', ['z', 'a'], [1, 0, 2])), frame(3n, 3, packed('s', ['m', 'z', 'm'], [3, 2, 1]))],
    rows: { [TIME_COLUMN]: [0n, 1n, 2n, 3n, 4n, 5n], s: ['z', null, 'a', 'm', 'z', 'm'] },
  },
  'packed strings beside those of a frame': {
    frames: [frame(0n, 2, packed('s', ['ü'], [1, 1])), frame(2n, 2, plain('s', [null, 'ü', '\u{1f600}'], [2, 1]))],
    rows: { s: ['ü', 'ü', '\u{1f600}', 'ü'] },
  },
  'lists of several values stay in their order': {
    frames: [frame(0n, 2, packed('s', ['b', 'a'], [1, 2], [0, 2, 2])), frame(2n, 1, packed('s', ['b'], [1]))],
    rows: { s: [['b', 'a'], null, 'b'] },
  },
  'columns that some parts lack': {
    frames: [frame(0n, 1, packed('s', ['a'], [1])), frame(1n, 2, longs('n', 7n, 8n))],
    rows: { s: ['a', null, null], n: [null, 7n, 8n] },
  },
  'numbers in one part and strings in another are strings': {
    frames: [frame(0n, 2, longs('x', 1n, 2n)), frame(2n, 2, packed('x', ['one'], [1, 0]))],
    rows: { x: ['1', '2', 'one', null] },
  },
  'a column whose values decide, of nulls in the first part': {
    declared: [columnPlan('x', 'AUTO')],
    frames: [frame(0n, 2, packed('x', [], [0, 0])), frame(2n, 1, longs('x', 5n))],
    rows: { x: [null, null, 5n] },
  },
};

const joins = suite('rows that are joined');

for (const [name, { declared = [], frames, rows }] of Object.entries(CASES))
  joins(name, async () => {
    const joined = await joinRows(frames, {
      dataSource: 'ds',
      dimensions: declared,
      metrics: [],
      rollup: false,
      engine: () => assert.unreachable('nothing is rolled up') as never,
      kernels: 'reference',
    });
    const found = plainFrame(joined.frame);
    for (const [column, expected] of Object.entries(rows)) {
      const of = found.columns.find((each) => each.name === column);
      assert.equal(
        expected.map((_, row) => (of === undefined ? undefined : cellAt(of, row))),
        expected,
        column,
      );
    }
    assert.is(found.rowCount, Math.max(...Object.values(rows).map(({ length }) => length)));
    for (const column of joined.frame.columns)
      if (column.kind === 'packed') {
        const entries = plainFrame({ rowCount: 0, columns: [column] }).columns[0];
        const texts = entries?.kind === 'string' || entries?.kind === 'multi' ? entries.dictionary.slice(1) : [];
        assert.ok(column.dictionary.isSorted, 'entries that nobody needs to sort again');
        assert.equal(texts, [...new Set(texts)].sort());
      }
  });

joins.run();
